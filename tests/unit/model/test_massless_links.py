"""Links without mass, for two joints at one place: allowed where they carry mass, refused by name elsewhere."""

import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics import forward_dynamics, mass_matrix
from freefloat.model import Joint, RigidBody
from freefloat.model.drawing import drawing
from freefloat.spatial import Pose

HUB = ff.Spacecraft.from_base("hub", mass=10.0, inertia=(1.0, 1.0, 1.0))
ARM = RigidBody("arm", mass=2.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.2, 0.2))


def universal(between: RigidBody) -> ff.Spacecraft:
    """Two hinges at one place, a link between them."""
    craft = HUB.with_body(between, Joint("first", "revolute", "base", Pose(), axis=(0, 0, 1)))
    return craft.with_body(ARM, Joint("second", "revolute", between.name, Pose(), axis=(0, 1, 0)))


def test_a_massless_link_is_the_limit_of_light_ones():
    q = np.array([0.3, -0.7])
    none = mass_matrix(universal(RigidBody.without_mass("cross")).check(), q)
    light = mass_matrix(universal(RigidBody("cross", 1e-9, np.zeros(3), np.full(3, 1e-9))), q)
    np.testing.assert_allclose(none, light, atol=1e-8)
    assert np.linalg.eigvalsh(none)[0] > 0.01


def test_it_is_moved_link_by_link_too_and_drawn():
    craft = universal(RigidBody.without_mass("cross"))
    q, force = np.array([0.3, -0.7]), np.arange(8.0)
    expected = np.linalg.solve(mass_matrix(craft, q), force)
    np.testing.assert_allclose(forward_dynamics(craft, q, np.zeros(8), force), expected, rtol=1e-10)
    assert drawing(craft)["bodies"][1]["shapes"] == []


def test_a_massless_link_that_carries_nothing_is_refused():
    bare = HUB.with_body(RigidBody.without_mass("cross"), Joint("first", "revolute", "base", Pose(), axis=(0, 0, 1)))
    with pytest.raises(ff.ModelError, match=r"'cross' is massless and carries no mass. Give it some, or hang a body"):
        bare.check()


def test_a_massless_link_has_no_inertia_and_no_mass():
    with pytest.raises(ff.ModelError, match="is massless but has an inertia"):
        RigidBody("cross", 0.0, np.zeros(3), np.ones(3), massless=True)
    with pytest.raises(ff.ModelError, match="mass must be at most 0"):
        RigidBody("cross", 1.0, np.zeros(3), np.zeros(3), massless=True)
    with pytest.raises(ff.ModelError, match="mass must be positive"):
        RigidBody("cross", 0.0, np.zeros(3), np.zeros(3))


def test_a_point_mass_may_slide_but_not_turn_alone():
    point = RigidBody("point", 1.0, np.zeros(3), np.zeros(3))
    HUB.with_body(point, Joint("slide", "prismatic", "base", Pose(), axis=(1, 0, 0))).check()
    with pytest.raises(ff.ModelError, match="positive definite"):
        HUB.with_body(point, Joint("turn", "revolute", "base", Pose(), axis=(1, 0, 0))).check()
