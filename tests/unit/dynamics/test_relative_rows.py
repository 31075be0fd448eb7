"""Rows of relative velocity: against derivatives of poses, and what is refused."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.dynamics import GRASP, INERTIAL, POINT, FrameRows, JointRows, hinge, normal
from freefloat.dynamics.relative_rows import relative_pose, row_bias, row_error, row_jacobian, row_velocity
from freefloat.dynamics.state_rate import component_rates, state_rate
from freefloat.flex import beam
from freefloat.model import Spacecraft
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_about
from freefloat.values import ModelError
from support.trees import draw_pose, draw_state, draw_tree


def flexible(rng) -> Spacecraft:
    """A hub with a joint, a beam on it, and a link at the beam's tip."""
    craft = Spacecraft.from_base("flexible", mass=30.0, inertia=(3.0, 4.0, 5.0), com=(0.1, 0.0, 0.2))
    craft = craft.mount(
        beam(length=2.0, mass=3.0, bending_stiffness=50.0, modes=1), name="beam", joint="revolute", at=draw_pose(rng)
    )
    craft = craft.mount(
        Spacecraft.from_base("link", mass=2.0, inertia=(0.1, 0.2, 0.2)), name="link", to="beam.tip", joint="revolute"
    )
    return craft.with_frame("hand", body="link", at=draw_pose(rng)).with_frame("eye", body="beam", node="tip")


@pytest.fixture
def pair(rng):
    crafts = (draw_tree(rng, "branched 7"), flexible(rng))
    first, second = draw_state(rng, crafts[0]), draw_state(rng, crafts[1])
    bent = dataclasses.replace(second, q=0.3 * rng.normal(size=crafts[1].layout.nq))
    return crafts, (first, bent)


ROWS = (
    FrameRows((0, "hand"), (1, "eye")),
    FrameRows((1, "hand"), (0, "camera"), POINT),
    FrameRows((0, "hand"), (0, "camera"), hinge((1.0, 2.0, 0.5))),
    FrameRows(INERTIAL, (1, "hand"), normal((0.0, 1.0, 1.0))),
    FrameRows((1, "beam.tip"), INERTIAL, GRASP[2:5]),
    JointRows((0, "joint3")),
)


def along(crafts, states, function, vdots=None):
    """Value and rate of a function of the states along their motion."""
    rates = []
    for craft, state, vdot in zip(crafts, states, vdots or (np.zeros(c.layout.nv) for c in crafts), strict=True):
        rates.append(component_rates(state, state_rate(craft, state, jnp.asarray(vdot))))
    return jax.jvp(function, (jax.tree.map(jnp.asarray, states),), (tuple(rates),))


def test_the_jacobian_gives_the_velocity(pair):
    crafts, states = pair
    expected = sum(J @ s.v for J, s in zip(row_jacobian(crafts, states, ROWS), states, strict=True))
    np.testing.assert_allclose(row_velocity(crafts, states, ROWS), expected, atol=1e-12)


def test_the_velocity_is_the_rate_of_the_relative_pose(pair):
    crafts, states = pair
    for one in ROWS[:5]:
        six = FrameRows(one.first, one.second)
        pose, rate = along(crafts, states, lambda s, one=one: relative_pose(crafts, s, one.first, one.second))
        turning = np.asarray(rate.R) @ np.asarray(pose.R).T  # skew, in the axes of the first frame
        spin = np.array([turning[2, 1], turning[0, 2], turning[1, 0]])
        expected = np.array(one.directions) @ np.concatenate([rate.p, spin])
        np.testing.assert_allclose(row_velocity(crafts, states, [one]), expected, atol=1e-12)
        chosen = np.array(one.directions) @ row_velocity(crafts, states, [six])
        np.testing.assert_allclose(chosen, row_velocity(crafts, states, [one]), atol=1e-14)


def test_the_bias_is_the_rate_of_the_velocity(pair, rng):
    crafts, states = pair
    vdots = tuple(rng.normal(size=c.layout.nv) for c in crafts)
    for accelerations in (None, vdots):
        _, rate = along(crafts, states, lambda s: row_velocity(crafts, s, ROWS), accelerations)
        np.testing.assert_allclose(row_bias(crafts, states, ROWS, accelerations), rate, atol=1e-11)


def test_the_error_changes_by_the_velocity_where_it_is_held(pair):
    """At zero error its rate is J v, and the pose that is held may be any; a hinge may have turned by any angle."""
    crafts, states = pair
    for one in ROWS[:5]:
        held = relative_pose(crafts, states, one.first, one.second)
        if one is ROWS[2]:  # the second frame has turned about the hinge since
            axis = np.array([1.0, 2.0, 0.5]) / np.linalg.norm([1.0, 2.0, 0.5])
            held = Pose(position=held.p, rotation=rotation_about(axis, np.array(-2.9)) @ held.R)
        rows = dataclasses.replace(one, held=held)
        error, rate = along(crafts, states, lambda s, rows=rows: row_error(crafts, s, [rows]))
        np.testing.assert_allclose(error, 0.0, atol=1e-14)
        np.testing.assert_allclose(rate, row_velocity(crafts, states, [rows]), atol=1e-12)


def test_a_joint_is_held_at_its_position(pair):
    crafts, states = pair
    at = crafts[0].layout.position("joint3")
    rows = [JointRows((0, "joint3"), held=states[0].q[at.start] - 0.1)]
    np.testing.assert_allclose(row_error(crafts, states, rows), 0.1)


def test_far_from_the_origin_nothing_is_lost(rng):
    """Two frames of one tree do not care where the base is; two bases that are close are subtracted first."""
    craft = draw_tree(rng, "chain of 2")
    near, rows = draw_state(rng, craft), [FrameRows((0, "hand"), (0, "camera"))]
    far = dataclasses.replace(near, p_NB=near.p_NB + 7.0e6, v=near.v + 7500.0 * np.eye(len(near.v))[0])
    np.testing.assert_allclose(row_error((craft,), (far,), rows), row_error((craft,), (near,), rows), atol=1e-15)
    np.testing.assert_allclose(row_velocity((craft,), (far,), rows), row_velocity((craft,), (near,), rows), atol=1e-11)


def test_what_is_refused(pair):
    crafts, states = pair
    with pytest.raises(ModelError, match=r"no frame 'hnd'. Frames: base"):
        row_velocity(crafts, states, [FrameRows((0, "hnd"), (1, "hand"))])
    with pytest.raises(ModelError, match="spacecraft number 2, but there are 2"):
        row_velocity(crafts, states, [FrameRows((0, "hand"), (2, "hand"))])
    with pytest.raises(ModelError, match=r"rows of six numbers .* GRASP, POINT, hinge"):
        FrameRows((0, "hand"), (1, "hand"), ((1.0, 0.0, 0.0),))
    with pytest.raises(ModelError, match="hinge needs a direction"):
        hinge((0.0, 0.0, 0.0))
    with pytest.raises(ModelError, match="has no joint 'elbow'"):
        row_velocity(crafts, states, [JointRows((0, "elbow"))])
    rigid = draw_tree(np.random.default_rng(0), "small")
    with pytest.raises(ModelError, match="has no coordinate to be held"):
        row_velocity((rigid,), (rigid.at_rest(),), [JointRows((0, "joint3"))])
