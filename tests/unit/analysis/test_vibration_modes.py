"""Natural modes: orthogonal shapes, names that tell what moves, a base that is free or held.

Tolerance 1e-10 of the largest entry: eigenvalues spread over four decades, and their solution takes a few digits.
"""

import numpy as np
import pytest
import scipy.linalg

from freefloat.analysis import vibration_modes
from freefloat.dynamics import mass_matrix, natural_frequencies
from freefloat.dynamics.vibration import stiffness_matrix
from freefloat.flex import beam
from freefloat.library import ets7
from freefloat.model import Spacecraft
from freefloat.spatial import Pose

TOLERANCE = 1e-10
Q = {"arm": 0.7}  # [rad]


def craft_with_all() -> Spacecraft:
    """A wheel, a panel, a boom of other stiffness, an arm on the boom's tip whose motor has a rotor."""
    panel = beam(length=3.0, mass=8.0, bending_stiffness=200.0, modes=2)
    boom = beam(length=2.0, mass=3.0, bending_stiffness=(900.0, 700.0), modes={"y": 2, "z": 1})
    arm = Spacecraft.from_base("arm", mass=4.0, inertia=(0.1, 0.5, 0.5), com=(0.5, 0.0, 0.0))
    craft = Spacecraft.from_base("hub", mass=60.0, inertia=(9.0, 10.0, 11.0), com=(0.05, 0.0, 0.1))
    craft = craft.with_wheel("wheel", axis=(0.0, 0.0, 1.0), inertia=0.2)
    craft = craft.mount(panel, name="panel", at=Pose(position=(0.5, 0.0, 0.0)))
    craft = craft.mount(boom, name="boom", at=Pose.from_rpy_deg((0.0, 0.0, 120.0), (-0.5, 0.0, 0.0)))
    craft = craft.mount(arm, name="arm", to="boom.tip", joint="revolute")
    return craft.with_value("arm.rotor_inertia", 0.8)


CRAFT = craft_with_all()
BENT = CRAFT.at_rest(joints=Q).q


@pytest.mark.parametrize("held", [False, True])
def test_shapes_are_orthonormal_in_mass_and_stiffness(held):
    modes = vibration_modes(CRAFT, BENT, held)
    M, K = np.asarray(mass_matrix(CRAFT, BENT)), stiffness_matrix(CRAFT)
    X, squared = modes.shapes, modes.frequencies**2
    assert X.shape == (CRAFT.layout.nv, 7)
    np.testing.assert_allclose(X.T @ M @ X, np.eye(7), atol=TOLERANCE)
    np.testing.assert_allclose(X.T @ K @ X, np.diag(squared), atol=TOLERANCE * squared[-1])
    # The equations of motion themselves: in every row but those of a base that is held, where the stand pushes.
    moving = slice(6 if held else 0, None)
    assert np.max(np.abs(K @ X - M @ X * squared)[moving]) < TOLERANCE * np.max(np.abs(K @ X))
    assert np.all(np.diff(modes.frequencies) >= 0.0)
    assert np.any(modes.shapes[:6]) != held


def test_frequencies_are_those_of_the_whole_system():
    """All rows at once, rigid motion and free joints among them: as many zero frequencies, then ours."""
    M, K = np.asarray(mass_matrix(CRAFT, BENT)), stiffness_matrix(CRAFT)
    squared = scipy.linalg.eigh(K, M, eigvals_only=True)
    modes = vibration_modes(CRAFT, BENT)
    np.testing.assert_allclose(modes.frequencies, np.sqrt(squared[8:]), rtol=1e-9)  # zeros are 1e-12 of the largest
    np.testing.assert_array_equal(modes.frequencies, natural_frequencies(CRAFT, BENT))
    np.testing.assert_allclose(modes.hz * 2.0 * np.pi, modes.frequencies)


def test_every_row_has_a_name():
    modes = vibration_modes(CRAFT)
    panel = [f"panel.modes {number}" for number in (1, 2, 3, 4)]
    boom = [f"boom.modes {number}" for number in (1, 2, 3)]
    base = [f"base.{axis}" for axis in ("x", "y", "z", "rx", "ry", "rz")]
    assert modes.labels == (*base, "wheel", *panel, *boom, "arm")
    assert modes.labels.index("arm") == CRAFT.layout.velocity("arm").start


def test_the_body_that_bends_is_named():
    modes = vibration_modes(CRAFT, held=True)  # held: every body vibrates alone
    np.testing.assert_allclose(np.sum(modes.energy_shares, axis=0), 1.0)
    alone = CRAFT.body("panel").frequencies()
    for frequency, body, row in zip(modes.frequencies, modes.bodies, modes.main_rows, strict=True):
        assert (body == "panel") == bool(np.any(np.isclose(frequency, alone, rtol=1e-9)))
        assert row.startswith(f"{body}.modes ")


def test_a_held_base_leaves_the_clamped_frequencies():
    panel = beam(length=3.0, mass=8.0, bending_stiffness=200.0, modes=3)
    craft = Spacecraft.from_base("hub", mass=60.0, inertia=(9.0, 10.0, 11.0)).mount(panel, name="panel")
    held, free = vibration_modes(craft, held=True), vibration_modes(craft)
    np.testing.assert_allclose(held.frequencies, panel.frequencies(), rtol=TOLERANCE)
    assert np.all(free.frequencies > held.frequencies * (1.0 - 1e-12))


def test_a_large_rotor_clamps_its_joint():
    """A beam on a free hinge is pinned there; the rotor's inertia goes up, and it comes down to the clamped one."""
    panel = beam(length=3.0, mass=8.0, bending_stiffness=200.0, modes=3, planes="y")
    hub = Spacecraft.from_base("hub", mass=60.0, inertia=(9.0, 10.0, 11.0))
    hinged = hub.mount(panel, name="panel", joint="revolute")
    rotors = (0.0, 1.0, 100.0, 1e12)  # [kg m2]
    first = [vibration_modes(hinged.with_value("panel.rotor_inertia", I), held=True).frequencies[0] for I in rotors]
    assert np.all(np.diff(first) < 0.0)
    assert first[-1] == pytest.approx(panel.frequencies()[0], rel=1e-10)


def test_signs_are_the_same_every_time():
    """The largest modal coordinate of a shape is positive, the first of equal ones."""
    modes = vibration_modes(CRAFT, BENT)
    own = modes.shapes[list(CRAFT.layout.modal_velocities)]
    assert np.all(own[np.argmax(np.abs(own), axis=0), np.arange(own.shape[1])] > 0.0)


def test_the_table_can_be_read():
    panel = beam(length=6.0, mass=40.0, bending_stiffness=900.0, modes=1, planes="z")  # [m], [kg], [N m2]
    craft = Spacecraft.from_base("satellite", mass=900.0, inertia=(420.0, 380.0, 500.0))
    for name, side in (("right", 1.0), ("left", -1.0)):
        at = Pose.from_rpy_deg((0.0, 0.0, 90.0 * side), (0.0, 0.8 * side, 0.0))
        craft = craft.mount(panel, name=name, at=at)
    assert str(vibration_modes(craft)).splitlines() == [
        "Natural modes, base free: 2",
        "mode          Hz       rad/s  elastic energy         base moves  mostly in",
        "   1      0.1853       1.164  right 50 %, left 50 %  z           right.modes 1",
        "   2      0.3408       2.141  right 50 %, left 50 %  rx          right.modes 1",
    ]
    assert "base held" in str(vibration_modes(craft, held=True))


def test_a_rigid_spacecraft_has_none():
    modes = vibration_modes(ets7())
    assert modes.shapes.shape == (12, 0)
    assert modes.bodies == ()
    assert str(modes) == "Natural modes, base free: none"
    assert natural_frequencies(ets7()).shape == (0,)
