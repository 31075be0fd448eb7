"""Impacts and contacts: books, prescribed joints, singular and contradictory rows, friction, several at once."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import dynamics
from freefloat.dynamics import (
    GRASP,
    FrameRows,
    contact,
    contact_impact,
    inertial_frame_pose,
    kinetic_energy,
    normal,
    row_impact,
)
from freefloat.model import Spacecraft
from freefloat.spatial import Pose
from support.impacting_arms import draw_meeting
from support.trees import draw_state, draw_tree

GRASPED = (FrameRows((0, "grip"), (1, "hand")),)


def energy(craft, state):
    return kinetic_energy(craft, state.q, state.v)


def total(function, crafts, states, speeds):
    moved = [dataclasses.replace(s, v=v) for s, v in zip(states, speeds, strict=True)]
    return sum(np.asarray(function(c, s)) for c, s in zip(crafts, moved, strict=True))


def test_no_energy_is_formed_from_differences(rng):
    """At 7500 m/s the kinetic energy has no digits left for what an impact loses; the ledger has them all."""
    crafts, states = draw_meeting(rng)
    drift = np.array([7500.0, -3.0, 5.0])
    fast = tuple(dataclasses.replace(s, v=np.asarray(jnp.asarray(s.v).at[:3].add(s.X_NB.R.T @ drift))) for s in states)
    slow_one, fast_one = (row_impact(crafts, s, GRASPED, 0.2) for s in (states, fast))
    np.testing.assert_allclose(fast_one.energy_lost, slow_one.energy_lost, rtol=1e-8)
    np.testing.assert_allclose(fast_one.impulse, slow_one.impulse, atol=1e-8 * np.max(np.abs(slow_one.impulse)))
    difference = total(energy, crafts, fast, fast_one.speeds) - total(energy, crafts, fast, [s.v for s in fast])
    assert abs(difference + fast_one.energy_lost) > 1e-8 * fast_one.energy_lost  # negative control


def test_prescribed_joints_keep_their_rates(rng):
    crafts, states = draw_meeting(rng)
    names, rows = ("part0", "part4"), GRASPED
    found = row_impact(crafts, states, rows, 0.3, prescribed=((), names))
    at = np.array(crafts[1].layout.indices(names))
    np.testing.assert_array_equal(found.speeds[1][at], states[1].v[at])
    np.testing.assert_allclose(found.after, -0.3 * found.before, atol=1e-12)
    # The books close: what the energy changes by is what the rows lose less the work of the motors.
    change = total(energy, crafts, states, found.speeds) - total(energy, crafts, states, [s.v for s in states])
    np.testing.assert_allclose(change, found.work_of_prescribed - found.energy_lost, rtol=1e-9)
    free = row_impact(crafts, states, rows, 0.3)
    assert np.max(np.abs(free.speeds[1][at] - states[1].v[at])) > 1e-3  # negative control


def test_nothing_moves_without_relative_velocity(rng):
    crafts, states = draw_meeting(rng)
    once = row_impact(crafts, states, GRASPED)
    latched = tuple(dataclasses.replace(s, v=np.asarray(v)) for s, v in zip(states, once.speeds, strict=True))
    again = row_impact(crafts, latched, GRASPED)
    for a, b in zip(again.speeds, once.speeds, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)
    assert again.energy_lost < 1e-20


def test_a_singular_posture_is_no_trouble():
    """A stretched arm of parallel joints on a held base cannot give way along itself: that row has no mobility."""
    arm = Spacecraft.from_base("arm", mass=10.0, inertia=(1.0, 1.0, 1.0))
    for k in range(2):
        arm = arm.with_link(
            f"link{k}", parent=f"link{k - 1}" if k else "base", joint="revolute", at=(1.0, 0.0, 0.0),
            mass=1.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1),
        )  # fmt: skip
    arm = arm.with_frame("hand", body="link1", at=(1.0, 0.0, 0.0))
    state = arm.at_rest()
    state.v[6:] = (0.3, -0.2)
    rows = (FrameRows(dynamics.INERTIAL, (0, "hand")),)
    found = row_impact((arm,), (state,), rows, prescribed=(("base",),))
    assert found.rank == 2  # across it, and the turn about z
    np.testing.assert_allclose(found.after, 0.0, atol=1e-14)
    assert np.all(np.isfinite(found.impulse))
    # The same at an attitude that leaves rounding where zeros were: it is no mobility.
    turned = dataclasses.replace(state, quat_NB=np.array([0.1, 0.7, -0.5, np.sqrt(0.25)]))
    turned = dataclasses.replace(turned, quat_NB=turned.quat_NB / np.linalg.norm(turned.quat_NB))
    for axes in (rows, (FrameRows((0, "hand"), dynamics.INERTIAL),)):
        again = row_impact((arm,), (turned,), axes, prescribed=(("base",),))
        assert np.max(np.abs(again.impulse)) < 10.0
        np.testing.assert_allclose(again.after, 0.0, atol=1e-13)
    assert again.rank == 2
    floating = row_impact((arm,), (state,), rows)
    assert floating.rank == 6
    np.testing.assert_allclose(floating.after, 0.0, atol=1e-13)


def test_contradictory_rows_leave_something():
    """A joint that is driven cannot be latched to space as well: what contradicts stays in `after`."""
    rod = Spacecraft.from_base("rod", mass=3.0, inertia=(1.0, 1.0, 1.0))
    state = dataclasses.replace(rod.at_rest(), v=np.array([0.1, 0.0, 0.0, 0.0, 0.0, 0.0]))
    found = row_impact((rod,), (state,), (FrameRows(dynamics.INERTIAL, (0, "base")),), prescribed=(("base",),))
    assert found.rank == 0
    np.testing.assert_allclose(found.after, found.before)


# ---- contacts that push and rub


@pytest.fixture(scope="module")
def rubbing():
    rng = np.random.default_rng(11)
    crafts = (draw_tree(rng, "chain of 2"), draw_tree(rng, "free body"))
    rows = (FrameRows((0, "hand"), (1, "camera"), contact((0.2, 1.0, -0.4))),)
    return crafts, rows, lambda states, e, mu: contact_impact(crafts, states, rows, e, mu)


def together(rng, crafts):
    """The second spacecraft's camera at the first one's hand."""
    first, second = (draw_state(rng, c) for c in crafts)
    X = inertial_frame_pose(crafts[0], first, "hand") @ crafts[1].frame("camera").X_BF.inverse()
    return first, dataclasses.replace(second, p_NB=np.asarray(X.p), quat_NB=np.asarray(X.quaternion))


def test_coulomb(rng, rubbing):
    """The cone is kept, slip is against friction, stick is at rest, nothing pulls, energy is never gained."""
    crafts, _, program = rubbing
    seen = {"open": 0, "stick": 0, "slip": 0}
    for _ in range(300):
        states, mu = together(rng, crafts), float(rng.uniform(0.0, 4.0))
        found = program(states, 0.0, mu)
        push, rub, slip = found.impulse[0], found.impulse[1:], found.after[1:]
        scale = np.max(np.abs(found.before))
        assert push >= 0.0
        assert found.energy_lost >= -1e-14 * scale
        if found.before[0] >= 0.0:
            seen["open"] += 1
            np.testing.assert_array_equal(found.impulse, 0.0)
            continue
        assert abs(found.after[0]) < 1e-12 * scale  # plastic: no rebound
        if np.linalg.norm(rub) < mu * push * (1.0 - 1e-9):
            seen["stick"] += 1
            np.testing.assert_allclose(slip, 0.0, atol=1e-12 * scale)
        else:
            seen["slip"] += 1
            np.testing.assert_allclose(rub, -mu * push * slip / np.linalg.norm(slip), atol=1e-9 * push)
    print(seen)  # noqa: T201
    assert min(seen.values()) > 10


def test_restitution_with_friction_never_gains_energy(rng, rubbing):
    crafts, _, program = rubbing
    for _ in range(300):
        states, e, mu = together(rng, crafts), float(rng.uniform(0.0, 1.0)), float(rng.uniform(0.0, 2.0))
        found = program(states, e, mu)
        scale = np.max(np.abs(found.before))
        assert found.energy_lost >= -1e-13 * scale**2
        assert found.impulse[0] >= 0.0
        assert np.linalg.norm(found.impulse[1:]) <= mu * found.impulse[0] * (1.0 + 1e-12)
        assert found.after[0] >= -1e-11 * scale
        if mu == 0.0:
            np.testing.assert_allclose(found.after[0], -e * found.before[0])


def test_without_friction_it_is_the_normal_impact(rng, rubbing):
    crafts, rows, program = rubbing
    only = (dataclasses.replace(rows[0], directions=normal((0.2, 1.0, -0.4))),)
    for _ in range(5):
        states = together(rng, crafts)
        found, expected = program(states, 0.7, 0.0), row_impact(crafts, states, only, 0.7)
        if expected.before[0] < 0.0:
            np.testing.assert_allclose(found.impulse[0], expected.impulse[0], rtol=1e-12)
            np.testing.assert_allclose(found.energy_lost, expected.energy_lost, rtol=1e-9)


def test_much_friction_sticks(rng, rubbing):
    crafts, rows, program = rubbing
    point = (dataclasses.replace(rows[0], directions=rows[0].directions),)
    tried = 0
    while tried < 5:
        states = together(rng, crafts)
        expected = row_impact(crafts, states, point)
        if expected.before[0] < 0.0 and expected.impulse[0] > 0.0:
            tried += 1
            found = program(states, 0.0, 1e6)
            np.testing.assert_allclose(found.impulse, expected.impulse, rtol=1e-9)


def plank(count=4):
    """A plank that lies on corners: contacts of space (first) with frames under it."""
    craft = Spacecraft.from_base("plank", mass=6.0, inertia=(0.5, 2.0, 2.5))
    for k, (x, y) in enumerate(((1, 0.5), (1, -0.5), (-1, 0.5), (-1, -0.5))):
        craft = craft.with_frame(f"foot{k}", body="base", at=(float(x), float(y), -0.1))
    return craft, tuple(FrameRows(dynamics.INERTIAL, (0, f"foot{k}"), contact((0, 0, 1))) for k in range(count))


@pytest.mark.parametrize("mu", [0.0, 0.3, 5.0])
def test_several_contacts_at_once(rng, mu):
    """Four feet on the ground, more rows than freedoms: complementarity, cones and energy, whatever the velocity."""
    craft, rows = plank()
    for e in (0.0, 0.6):
        for _ in range(20):
            v = rng.normal(size=6)
            found = contact_impact((craft,), (dataclasses.replace(craft.at_rest(), v=v),), rows, e, mu)
            push, rub = found.impulse[::3], np.linalg.norm(found.impulse.reshape(4, 3)[:, 1:], axis=1)
            assert np.all(push >= 0.0)
            assert np.all(rub <= mu * push * (1.0 + 1e-12) + 1e-15)
            assert np.all(found.after[::3] >= -1e-9)
            assert found.energy_lost >= -1e-12
            if e == 0.0:
                assert np.max(np.abs(push * found.after[::3])) < 1e-8


def test_contacts_of_different_restitution_do_not_gain_energy():
    """A rod lies on one end, e = 0, and strikes with the other, e = 1. At 1 m/s compression takes m/6 J. Giving back
    all of the striking end's impulse, m/3, at its mobility 4/m would return 2 m/9 J. So only a share s is given back,
    2 s^2/9 = 1/6. That drives the end that lay into the ground at 2 s/3 m/s, which a last plastic impact ends."""
    rod = Spacecraft.from_base("rod", mass=3.0, inertia=(0.01, 1.0, 1.0))  # m L^2 / 12 with L = 2 m
    rod = rod.with_frame("left", body="base", at=(-1.0, 0.0, 0.0)).with_frame("right", body="base", at=(1.0, 0.0, 0.0))
    rows = tuple(FrameRows(dynamics.INERTIAL, (0, end), normal((0, 0, 1))) for end in ("left", "right"))
    state = dataclasses.replace(rod.at_rest(), v=np.array([0.0, 0.0, -0.5, 0.0, -0.5, 0.0]))
    found = contact_impact((rod,), (state,), rows, np.array([1.0, 0.0]))
    np.testing.assert_allclose(found.before, [-1.0, 0.0], atol=1e-15)
    share = np.sqrt(0.75)
    np.testing.assert_allclose(found.after, [share * (4.0 - 1.0) / 3.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(found.energy_lost, 0.5 * 3.0 / 4.0 * (2.0 * share / 3.0) ** 2, rtol=1e-12)
    plastic = contact_impact((rod,), (state,), rows)
    np.testing.assert_allclose(plastic.energy_lost, 3.0 / 6.0, rtol=1e-12)


def test_a_flat_landing_is_shared():
    """Straight down on four feet: no turn, and the whole momentum is given back."""
    craft, rows = plank()
    state = dataclasses.replace(craft.at_rest(), v=np.array([0.0, 0.0, -2.0, 0.0, 0.0, 0.0]))
    found = contact_impact((craft,), (state,), rows, 0.5, 0.3)
    np.testing.assert_allclose(found.speeds[0], [0, 0, 1.0, 0, 0, 0], atol=1e-12)
    np.testing.assert_allclose(np.sum(found.impulse[::3]), 18.0, rtol=1e-12)
    np.testing.assert_allclose(found.energy_lost, 9.0, rtol=1e-12)
    assert found.rank == 6


def test_held_rows_stay_held_and_contacts_that_are_off_do_nothing():
    """Two bodies that are latched meet the ground with one of them: they bounce as one."""
    craft, rows = plank(1)
    box = Spacecraft.from_base("box", mass=2.0, inertia=(0.1, 0.2, 0.3))
    crafts = (craft, box)
    grip = FrameRows((0, "base"), (1, "base"), held=Pose(position=(0.0, 0.0, 0.4)))
    fall = np.array([0.1, 0.0, -2.0, 0.0, 0.0, 0.0])
    up = dataclasses.replace(box.at_rest(), p_NB=np.array([0.0, 0.0, 0.4]), v=fall)
    states = (dataclasses.replace(craft.at_rest(), v=fall), up)
    found = contact_impact(crafts, states, rows, 0.4, 0.2, held=(grip,))
    one = craft.mount(box, name="box", at=(0.0, 0.0, 0.4))
    alone = contact_impact((one,), (states[0],), rows, 0.4, 0.2)
    np.testing.assert_allclose(found.speeds[0], alone.speeds[0], atol=1e-12)
    np.testing.assert_allclose(found.impulse[6:], alone.impulse, atol=1e-12)
    np.testing.assert_allclose(found.energy_lost, alone.energy_lost, rtol=1e-11)
    np.testing.assert_allclose(found.after[:6], 0.0, atol=1e-13)
    off = contact_impact(crafts, states, rows, 0.4, 0.2, held=(grip,), active=np.array([False]))
    np.testing.assert_allclose(off.impulse, 0.0, atol=1e-13)


def test_what_is_refused(rubbing):
    crafts, rows, _ = rubbing
    states = together(np.random.default_rng(0), crafts)
    with pytest.raises(ValueError, match="restitution must be at most 1"):
        contact_impact(crafts, states, rows, 1.2)
    with pytest.raises(ValueError, match="friction must be at least 0"):
        contact_impact(crafts, states, rows, 0.0, -0.1)
    with pytest.raises(ValueError, match=r"normal\(n\) or contact\(n\)"):
        contact_impact(crafts, states, (dataclasses.replace(rows[0], directions=GRASP),))
    with pytest.raises(ValueError, match="at least one contact"):
        contact_impact(crafts, states, ())
    with pytest.raises(ValueError, match="a flag for each of the 1 contacts"):
        contact_impact(crafts, states, rows, active=np.array([True, False]))
