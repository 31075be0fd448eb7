"""Held connections: as rows, as one tree, and as the composed spacecraft; prescribed joints, redundant rows, drift."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import dynamics
from freefloat.dynamics import (
    INERTIAL,
    POINT,
    FrameRows,
    JointRows,
    held_motion,
    held_motion_by_rows,
    hinge,
    hybrid_dynamics,
    return_by_rows,
    return_to_rows,
    row_bias,
    row_error,
    row_forces,
    row_jacobian,
    row_velocity,
)
from freefloat.dynamics.kinematics import frame_twist_rate
from freefloat.dynamics.state_rate import StateRate, retract
from freefloat.flex import beam
from freefloat.library import ets7
from freefloat.model import Spacecraft, State
from support.trees import draw_pose, draw_state, draw_tree


def target(rng) -> Spacecraft:
    """A client with a wheel and a flexible panel, gripped by a frame of its base."""
    craft = Spacecraft.from_base("client", mass=410.0, inertia=(100.0, 120.0, 90.0), com=(0.1, 0.0, 0.2))
    craft = craft.with_wheel("wheel", axis=(1.0, 2.0, 3.0), inertia=0.2)
    panel = beam(length=2.0, mass=6.0, bending_stiffness=50.0, modes=1)
    craft = craft.mount(panel, name="panel", joint="revolute", at=draw_pose(rng))
    return craft.with_frame("grip", body="base", at=draw_pose(rng)).with_frame("eye", body="panel", node="tip")


@pytest.fixture
def latched(rng):
    """ETS-VII holding a client, as two spacecraft and as one; the states agree."""
    servicer, client = ets7(wheels=True), target(rng)
    whole = servicer.grasp(client, name="client", hand="hand", grip="grip")
    both = draw_state(rng, whole)
    both = dataclasses.replace(
        both, q=np.concatenate([rng.uniform(-1, 1, 6), 0.2 * rng.normal(size=whole.layout.nq - 6)])
    )
    nv = servicer.layout.nv
    X = dynamics.inertial_frame_pose(whole, both, "client")
    twist = np.asarray(dynamics.frame_twist(whole, both.q, both.v, "client"))
    states = (
        State(p_NB=both.p_NB, quat_NB=both.quat_NB, q=both.q[:6], v=both.v[:nv]),
        State(
            p_NB=np.asarray(X.p),
            quat_NB=np.asarray(X.quaternion),
            q=both.q[6:],
            v=np.concatenate([twist, both.v[nv:]]),
        ),
    )
    return (servicer, client), states, whole, both


def forces_on(rng, crafts):
    return tuple(10.0 * rng.normal(size=c.layout.nv) for c in crafts)


def composed_acceleration(latched, forces):
    """Accelerations of both spacecraft out of the composed tree."""
    (servicer, _), _, whole, both = latched
    nv = servicer.layout.nv
    force = np.concatenate([forces[0], forces[1][6:]])
    force = force + np.asarray(dynamics.generalized_force(whole, both.q, "client", jnp.asarray(forces[1][:6])))
    vdot = dynamics.forward_dynamics_by_mass_matrix(whole, both.q, both.v, force)
    _, rate = frame_twist_rate(whole, both.q, both.v, vdot, "client")
    return vdot[:nv], jnp.concatenate([rate, vdot[nv:]])


BOTH_WAYS = {
    "hand first": FrameRows((0, "hand"), (1, "grip")),
    "grip first": FrameRows((1, "grip"), (0, "hand")),
}


@pytest.mark.parametrize("rows", BOTH_WAYS.values(), ids=BOTH_WAYS.keys())
def test_a_latched_pair_accelerates_like_the_composed_tree(rng, latched, rows):
    crafts, states, *_ = latched
    forces = forces_on(rng, crafts)
    expected = composed_acceleration(latched, forces)
    for solve in (held_motion, held_motion_by_rows):
        found = solve(crafts, states, forces, (rows,))
        assert found.rank == 6
        for ours, theirs in zip(found.vdots, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, atol=1e-10 * np.max(np.abs(theirs)))
    # The multipliers are the wrench: each spacecraft alone, pushed by it, does the same.
    pushed = row_forces(crafts, states, (rows,), found.multipliers)
    for craft, state, force, push, theirs in zip(crafts, states, forces, pushed, expected, strict=True):
        alone = dynamics.forward_dynamics(craft, state.q, state.v, jnp.asarray(force + push))
        np.testing.assert_allclose(alone, theirs, atol=1e-9 * np.max(np.abs(theirs)))


@pytest.mark.parametrize("first", ["hand", "base"])
def test_both_ways_give_the_same_multipliers(rng, latched, first):
    """Held by its base, the client is some way from the hand: the wrench has a lever, seen from either side."""
    crafts, states, *_ = latched
    X_BG = crafts[1].frame("grip").X_BF
    rows = (FrameRows((0, "hand"), (1, "base"), held=X_BG.inverse()),)
    if first == "base":
        rows = (FrameRows((1, "base"), (0, "hand"), held=X_BG),)
    forces = forces_on(rng, crafts)
    a, b = (solve(crafts, states, forces, rows) for solve in (held_motion, held_motion_by_rows))
    np.testing.assert_allclose(a.multipliers, b.multipliers, atol=1e-9 * np.max(np.abs(b.multipliers)))


ROWS = {
    "grasp and closed chain": (BOTH_WAYS["hand first"], FrameRows((0, "arm.3"), (1, "eye"), POINT)),
    "hinge": (FrameRows((0, "hand"), (1, "grip"), hinge((0.0, 1.0, 0.0))),),
    "point and brake": (FrameRows((0, "hand"), (1, "eye"), POINT), JointRows((0, "arm.2"))),
    "to space": (FrameRows(INERTIAL, (1, "grip")),),
    "any directions": (
        FrameRows((1, "eye"), (0, "arm.4"), tuple(map(tuple, np.random.default_rng(3).normal(size=(4, 6))))),
    ),
}


PRESCRIBED = {"free": ((), ()), "joints": (("arm.1", "arm.5"), ("panel",)), "base": (("base",), ())}
BOTH = [(what, rows) for what in PRESCRIBED for rows in ROWS if what == "free" or rows in ("hinge", "point and brake")]


@pytest.mark.parametrize(("what", "which"), BOTH)
def test_no_row_accelerates_and_the_rest_obeys_its_equations(rng, latched, what, which):
    """J vdot + J' v = 0, prescribed accelerations as given, and M vdot + h = f + J^T lambda for all that is free."""
    prescribed, rows = PRESCRIBED[what], ROWS[which]
    crafts, states, *_ = latched
    forces = forces_on(rng, crafts)
    given = tuple(np.array(c.layout.indices(names), dtype=int) for c, names in zip(crafts, prescribed, strict=True))
    accelerations = tuple(rng.normal(size=g.size) for g in given)
    found = held_motion(crafts, states, forces, rows, prescribed=prescribed, accelerations=accelerations)
    scale = max(float(np.max(np.abs(v))) for v in found.vdots)
    np.testing.assert_allclose(row_bias(crafts, states, rows, found.vdots), 0.0, atol=1e-10 * scale)
    pushes = row_forces(crafts, states, rows, found.multipliers)
    for c, craft in enumerate(crafts):
        np.testing.assert_allclose(found.vdots[c][given[c]], accelerations[c], atol=1e-12)
        needed = dynamics.inverse_dynamics(craft, states[c].q, states[c].v, found.vdots[c])
        size = np.max(np.abs(needed))
        np.testing.assert_allclose(found.forces[c] + pushes[c], needed, atol=1e-10 * size)
        free = np.setdiff1d(np.arange(craft.layout.nv), given[c])
        np.testing.assert_array_equal(found.forces[c][free], forces[c][free])


def test_without_rows_it_is_forward_dynamics(rng, latched):
    crafts, states, *_ = latched
    forces = forces_on(rng, crafts)
    found = held_motion(crafts, states, forces, ())
    for craft, state, force, vdot in zip(crafts, states, forces, found.vdots, strict=True):
        expected = dynamics.forward_dynamics(craft, state.q, state.v, jnp.asarray(force))
        np.testing.assert_allclose(vdot, expected, atol=1e-10 * np.max(np.abs(expected)))


def test_prescribed_joints_of_one_tree_are_hybrid_dynamics(rng):
    craft = ets7()
    state, force = draw_state(rng, craft), rng.normal(size=12)
    a = rng.normal(size=2)
    found = held_motion((craft,), (state,), (force,), (), prescribed=(("arm.2", "arm.6"),), accelerations=(a,))
    vdot, needed = hybrid_dynamics(craft, state.q, state.v, force, ("arm.2", "arm.6"), a)
    np.testing.assert_allclose(found.vdots[0], vdot, atol=1e-10 * np.max(np.abs(vdot)))
    np.testing.assert_allclose(found.forces[0], needed, atol=1e-10 * np.max(np.abs(needed)))


def test_rows_that_are_off_hold_nothing(rng, latched):
    crafts, states, *_ = latched
    forces, rows = forces_on(rng, crafts), (BOTH_WAYS["hand first"], JointRows((0, "arm.2")))
    for on, kept in ((np.array([False] * 6 + [True]), rows[1:]), (np.array([True] * 6 + [False]), rows[:1])):
        found = held_motion(crafts, states, forces, rows, active=on)
        expected = held_motion(crafts, states, forces, kept)
        for a, b in zip(found.vdots, expected.vdots, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-10 * np.max(np.abs(b)))
        np.testing.assert_array_equal(found.multipliers[~on], 0.0)
        assert found.rank == expected.rank == np.sum(on)


def test_redundant_rows_are_left_out_and_counted(rng, latched):
    """The same grasp twice: once is enough, the motion is the same, and the rank says so."""
    crafts, states, *_ = latched
    forces, rows = forces_on(rng, crafts), BOTH_WAYS["hand first"]
    once = held_motion_by_rows(crafts, states, forces, (rows,))
    twice = held_motion_by_rows(crafts, states, forces, (rows, BOTH_WAYS["grip first"]))
    assert (once.rank, twice.rank) == (6, 6)
    for a, b in zip(twice.vdots, once.vdots, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9 * np.max(np.abs(b)))
    np.testing.assert_array_equal(twice.multipliers[6:], 0.0)
    mixed = held_motion(crafts, states, forces, (rows, BOTH_WAYS["grip first"]))  # one becomes a joint, one is empty
    assert mixed.rank == 6


def test_nothing_depends_on_the_drift(rng, latched):
    """7500 m/s more: the same accelerations, but for body axes that turn under it. Negative control: J' v itself."""
    crafts, states, *_ = latched
    forces, drift = forces_on(rng, crafts), np.array([7500.0, 10.0, -20.0])
    fast = tuple(dataclasses.replace(s, v=np.asarray(jnp.asarray(s.v).at[:3].add(s.X_NB.R.T @ drift))) for s in states)
    for rows in (BOTH_WAYS["hand first"], ROWS["hinge"][0]):
        slow_motion, fast_motion = (held_motion(crafts, s, forces, (rows,)) for s in (states, fast))
        np.testing.assert_allclose(
            fast_motion.multipliers, slow_motion.multipliers, atol=1e-8 * np.max(np.abs(slow_motion.multipliers))
        )
        for a, b, s, f in zip(fast_motion.vdots, slow_motion.vdots, states, fast, strict=True):
            turning = np.cross(f.v[3:6], f.v[:3] - s.v[:3])
            np.testing.assert_allclose(a[:3] + turning, b[:3], atol=1e-10 * 7500.0)
            np.testing.assert_allclose(a[3:], b[3:], atol=1e-8 * np.max(np.abs(b)))


def shifted(rng, state, size):
    turn, way, q, v = (size * rng.normal(size=n) for n in (3, 3, state.q.size, state.v.size))
    return retract(state, StateRate(velocity=way, turn=turn, q=q, v=v))


RETURNS = {
    "as one tree": (BOTH_WAYS["hand first"],),
    "grip first": (BOTH_WAYS["grip first"],),
    **{name: rows for name, rows in ROWS.items() if name in ("point and brake", "hinge")},
}


@pytest.mark.parametrize("rows", RETURNS.values(), ids=RETURNS.keys())
def test_the_way_back_onto_the_rows(rng, latched, rows):
    """Errors become their squares; momentum stays; speeds lose just what the rows took, which is the least possible."""
    crafts, states, *_ = latched
    rows = tuple(
        dataclasses.replace(one, held=dynamics.relative_pose(crafts, states, one.first, one.second))
        if isinstance(one, FrameRows)
        else dataclasses.replace(one, held=states[0].q[1])
        for one in rows
    )
    off = tuple(shifted(rng, s, 1e-5) for s in states)
    back = return_to_rows(crafts, off, rows)
    before, after = row_error(crafts, off, rows), row_error(crafts, back.states, rows)
    print("error", np.max(np.abs(before)), "->", np.max(np.abs(after)))  # noqa: T201
    assert np.max(np.abs(after)) < 1e-3 * np.max(np.abs(before))
    again = back.states
    for _ in range(2):
        again = return_to_rows(crafts, again, rows).states
    assert np.max(np.abs(row_error(crafts, again, rows))) < 1e-13
    assert np.max(np.abs(row_velocity(crafts, again, rows))) < 1e-11  # of a wheel at hundreds of rad/s
    # The impulse is the plastic impact's, and the energy it takes is what the speeds lose.
    found = dynamics.row_impact(crafts, off, rows)
    np.testing.assert_allclose(back.impulse, found.impulse, atol=1e-4 * np.max(np.abs(found.impulse)))
    np.testing.assert_allclose(back.energy_lost, found.energy_lost, rtol=1e-3)


def test_the_way_back_moves_the_least(rng, latched):
    """Mass-weighted: any other way onto the rows, here another admissible motion added, costs more energy."""
    crafts, states, *_ = latched
    rows = (BOTH_WAYS["hand first"],)
    off = tuple(shifted(rng, s, 1e-7) for s in states)
    found = return_by_rows(crafts, off, rows)
    J = np.hstack(row_jacobian(crafts, off, rows))
    change = np.concatenate([np.asarray(a.v - b.v) for a, b in zip(found.states, off, strict=True)])
    M = np.zeros((change.size, change.size))
    n = crafts[0].layout.nv
    for c, at in enumerate((slice(0, n), slice(n, None))):
        M[at, at] = dynamics.mass_matrix(crafts[c], off[c].q)
    null = np.linalg.svd(J)[2][J.shape[0] :]
    np.testing.assert_allclose(
        null @ M @ change, 0.0, atol=1e-8 * np.max(np.abs(M @ change))
    )  # rounding of speeds, of a small change


def test_prescribed_joints_stay_on_the_way_back(rng, latched):
    crafts, states, *_ = latched
    off = tuple(shifted(rng, s, 1e-6) for s in states)
    for rows in (RETURNS["as one tree"], ROWS["hinge"]):
        back = return_to_rows(crafts, off, rows, prescribed=(("arm.1", "arm.5"), ()))
        np.testing.assert_array_equal(back.states[0].q[np.array([0, 4])], off[0].q[np.array([0, 4])])
        dofs = np.array(crafts[0].layout.indices(("arm.1", "arm.5")))
        np.testing.assert_array_equal(back.states[0].v[dofs], off[0].v[dofs])
        assert np.max(np.abs(row_error(crafts, back.states, RETURNS["as one tree"]))) < 1e-9 or rows is ROWS["hinge"]


@pytest.mark.slow
def test_three_spacecraft_in_a_row(rng):
    """A holds B by its base, B's arm holds C by its base: one tree of three, and the same as rows."""
    a, b = draw_tree(rng, "chain of 2"), draw_tree(rng, "branched 7")
    c = Spacecraft.from_base("c", mass=5.0, inertia=(0.3, 0.4, 0.5)).with_frame("grip", body="base", at=draw_pose(rng))
    whole = a.grasp(b, name="b", hand="hand", grip="camera").grasp(c, name="c", hand="b.hand", grip="grip")
    both, crafts = draw_state(rng, whole), (c, a, b)
    q, v = both.q, both.v
    states = [None, State(p_NB=both.p_NB, quat_NB=both.quat_NB, q=q[:2], v=v[:8])]
    for name, own_q, own_v in (("b", q[2:], v[8:]), ("c", q[:0], v[:0])):
        X = dynamics.inertial_frame_pose(whole, both, name)
        twist = np.asarray(dynamics.frame_twist(whole, q, v, name))
        made = State(p_NB=np.asarray(X.p), quat_NB=np.asarray(X.quaternion), q=own_q, v=np.concatenate([twist, own_v]))
        states = [made, *states[1:]] if name == "c" else [*states, made]
    states = tuple(states)
    rows = (FrameRows((0, "grip"), (2, "hand")), FrameRows((1, "hand"), (2, "camera")))
    np.testing.assert_allclose(row_error(crafts, states, rows), 0.0, atol=1e-13)
    forces = forces_on(rng, crafts)
    one, two = (solve(crafts, states, forces, rows) for solve in (held_motion, held_motion_by_rows))
    for x, y in zip(one.vdots, two.vdots, strict=True):
        np.testing.assert_allclose(x, y, atol=1e-10 * np.max(np.abs(y)))
    np.testing.assert_allclose(one.multipliers, two.multipliers, atol=1e-9 * np.max(np.abs(two.multipliers)))
    off = tuple(shifted(rng, s, 1e-7) for s in states)
    one, two = (back(crafts, off, rows) for back in (return_to_rows, return_by_rows))
    for x, y in zip(one.states, two.states, strict=True):
        np.testing.assert_allclose(x.q, y.q, atol=1e-11)
        np.testing.assert_allclose(x.p_NB, y.p_NB, atol=1e-11)
    faster = tuple(dataclasses.replace(s, v=o.v) for s, o in zip(states, off, strict=True))
    one, two = (back(crafts, faster, rows) for back in (return_to_rows, return_by_rows))
    np.testing.assert_allclose(one.impulse, two.impulse, atol=1e-6 * np.max(np.abs(two.impulse)))
