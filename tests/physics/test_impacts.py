"""Impacts of random spatial arms with flexible booms: identities that hold for any posture, payload and velocity.

Relative to: |g| before, |P|, |H|, the kinetic energy before, the largest entry of G.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from compiling import compiled
from freefloat import dynamics
from freefloat.dynamics import (
    GRASP,
    POINT,
    FrameRows,
    contact,
    contact_impact,
    frame_jacobian,
    inertial_frame_pose,
    kinetic_energy,
    mass_matrix,
    momentum_about_origin,
    normal,
    row_impact,
)
from freefloat.flex import beam
from freefloat.model import Spacecraft, State
from freefloat.spatial import Pose
from trees import draw_body, draw_rotation, draw_state, draw_tree

ARMS = 4


def draw_arm(rng) -> Spacecraft:
    """Six joints, two booms that bend in both planes, 16 dofs, of about the Shuttle arm's size."""
    craft = Spacecraft.from_base("arm", mass=rng.uniform(2e4, 1e5), inertia=rng.uniform(0.8, 1.2, 3) * 1e6)
    axes = (np.eye(3)[2], -np.eye(3)[1], -np.eye(3)[1], -np.eye(3)[1], np.eye(3)[2], np.eye(3)[0])
    parent = "base"
    for k, axis in enumerate(axes):
        place = Pose(
            position=rng.uniform(-1, 1, 3) if k else rng.uniform(-5, 5, 3),
            rotation=draw_rotation(rng) if k == 3 else np.eye(3),
        )
        if k in (1, 2):
            part = beam(
                length=rng.uniform(5, 8), mass=rng.uniform(60, 150), bending_stiffness=rng.uniform(2e6, 5e6), modes=1
            )
        else:
            part = Spacecraft.from_base("part", **draw_body(rng, (10.0, 60.0)))
        craft = craft.mount(part, name=f"part{k}", to=parent, at=place, joint="revolute", axis=axis)
        parent = f"part{k}.tip" if k in (1, 2) else f"part{k}"
    return craft.with_frame("hand", body="part5", at=Pose(position=(0.7, 0.1, 0.0), rotation=draw_rotation(rng)))


def draw_meeting(rng):
    """Payload (0) and arm (1), contact points together, both moving, booms bent and bending."""
    arm = draw_arm(rng)
    inertia = draw_rotation(rng)
    inertia = inertia @ np.diag(rng.uniform(0.5, 0.9, 3) * 1e4) @ inertia.T
    payload = Spacecraft.from_base("payload", mass=rng.uniform(2e3, 1e4), inertia=(inertia + inertia.T) / 2)
    payload = payload.with_frame("grip", body="base", at=rng.uniform(-1, 1, 3))
    quat = rng.normal(size=4)
    state = State(
        p_NB=rng.normal(size=3),
        quat_NB=quat / np.linalg.norm(quat),
        q=rng.uniform(-1, 1, arm.layout.nq),
        v=0.05 * rng.normal(size=arm.layout.nv),
    )
    modes = np.array(
        [i for name in arm.layout.modes for i in range(*arm.layout.positions[name].indices(arm.layout.nq))]
    )
    state.q[modes] *= 0.02
    X = inertial_frame_pose(arm, state, "hand") @ payload.frame("grip").X_BF.inverse()
    other = State(p_NB=np.asarray(X.p), quat_NB=np.asarray(X.quaternion), q=np.zeros(0), v=0.1 * rng.normal(size=6))
    return (payload, arm), (other, state)


DIRECTIONS = {"normal": normal((0.3, -0.5, 0.8)), "point": POINT, "grasp": GRASP}
_programs = {}


def meet(kind, crafts, states, e):
    """row_impact as one program for all draws."""
    if kind not in _programs:
        rows = (FrameRows((0, "grip"), (1, "hand"), DIRECTIONS[kind]),)
        _programs[kind] = jax.jit(lambda c, s, e: row_impact(c, s, rows, e))
    return _programs[kind](crafts, states, e)


def total(function, crafts, states, speeds):
    moved = [dataclasses.replace(s, v=v) for s, v in zip(states, speeds, strict=True)]
    return sum(np.asarray(function(c, s)) for c, s in zip(crafts, moved, strict=True))


@pytest.mark.parametrize("kind", DIRECTIONS)
def test_identities(rng, kind):
    """g+ = -e g-; momentum about any point stays; dT = -(1 - e^2)/2 g Lambda g; impulses are linear in g."""
    energy = jax.jit(lambda c, s: kinetic_energy(c, s.q, s.v))
    momentum = jax.jit(momentum_about_origin)
    worst = np.zeros(4)
    for _ in range(ARMS):
        crafts, states = draw_meeting(rng)
        before = [s.v for s in states]
        T, H = (total(f, crafts, states, before) for f in (energy, momentum))
        plastic = meet(kind, crafts, states, 0.0)
        for e in (0.0, 0.5, 1.0):
            found = meet(kind, crafts, states, e)
            g = np.asarray(found.before)
            lost = 0.5 * (1.0 - e**2) * g @ np.asarray(found.effective_mass) @ g
            change = total(energy, crafts, states, found.speeds) - T
            gained = total(momentum, crafts, states, found.speeds) - H
            worst = np.maximum(
                worst,
                [
                    np.max(np.abs(np.asarray(found.after) + e * g)) / np.max(np.abs(g)),
                    max(
                        np.max(np.abs(gained[:3])) / np.max(np.abs(H[:3])),
                        np.max(np.abs(gained[3:])) / np.max(np.abs(H[3:])),
                    ),
                    abs(change + lost) / T,
                    abs(float(found.energy_lost) - lost) / T,
                ],
            )
            np.testing.assert_allclose(found.impulse, (1.0 + e) * np.asarray(plastic.impulse), rtol=1e-12)
            assert found.rank == len(DIRECTIONS[kind])
    print("worst (rebound, momentum, energy, energy lost):", worst)  # noqa: T201
    assert np.all(worst < 1e-12)


def test_equation_37_and_the_captured_mass_matrix(rng):
    """G psi' = H of the paper gives the plastic grasp, and G is the mass matrix of the arm with the payload on it."""
    worst = np.zeros(3)
    for _ in range(ARMS):
        (payload, arm), (other, state) = draw_meeting(rng)
        found = meet("grasp", (payload, arm), (other, state), 0.0)
        # All in the axes of the hand, which are those of the grip; A carries a wrench from the contact to the centre.
        J, M = np.asarray(frame_jacobian(arm, state.q, "hand")), np.asarray(mass_matrix(arm, state.q))
        grip = payload.frame("grip").X_BF
        to_centre = np.asarray(jax.vmap(grip.wrench_to_A, in_axes=1, out_axes=1)(jnp.eye(6)))  # A
        M_p = np.asarray(mass_matrix(payload, np.zeros(0)))
        Jt = np.linalg.inv(to_centre).T @ J
        G = J.T @ np.linalg.inv(to_centre) @ M_p @ Jt + M
        H = J.T @ np.linalg.inv(to_centre) @ M_p @ other.v + M @ state.v
        after = np.linalg.solve(G, H)
        captured = arm.grasp(payload, name="payload", hand="hand", grip="grip")
        worst = np.maximum(
            worst,
            [
                np.max(np.abs(G - G.T)) / np.max(G),
                np.max(np.abs(G - mass_matrix(captured, state.q))) / np.max(G),
                np.max(np.abs(after - found.speeds[1])) / np.max(np.abs(after)),
            ],
        )
        assert np.all(np.linalg.eigvalsh((G + G.T) / 2) > 0.0)
    print("worst (symmetry, captured, speeds):", worst)  # noqa: T201
    assert np.all(worst < [1e-12, 1e-12, 1e-10])


def test_no_energy_is_formed_from_differences(rng):
    """At 7500 m/s the kinetic energy has no digits left for what an impact loses; the ledger has them all."""
    crafts, states = draw_meeting(rng)
    drift = np.array([7500.0, -3.0, 5.0])
    fast = tuple(dataclasses.replace(s, v=np.asarray(jnp.asarray(s.v).at[:3].add(s.X_NB.R.T @ drift))) for s in states)
    slow_one, fast_one = (meet("grasp", crafts, s, 0.2) for s in (states, fast))
    np.testing.assert_allclose(fast_one.energy_lost, slow_one.energy_lost, rtol=1e-8)
    np.testing.assert_allclose(fast_one.impulse, slow_one.impulse, atol=1e-8 * np.max(np.abs(slow_one.impulse)))
    difference = total(lambda c, s: kinetic_energy(c, s.q, s.v), crafts, fast, fast_one.speeds) - total(
        lambda c, s: kinetic_energy(c, s.q, s.v), crafts, fast, [s.v for s in fast]
    )
    assert abs(difference + fast_one.energy_lost) > 1e-8 * fast_one.energy_lost  # negative control


def test_prescribed_joints_keep_their_rates(rng):
    crafts, states = draw_meeting(rng)
    names, rows = ("part0", "part3"), (FrameRows((0, "grip"), (1, "hand")),)
    found = row_impact(crafts, states, rows, 0.3, prescribed=((), names))
    at = np.array(crafts[1].layout.indices(names))
    np.testing.assert_array_equal(found.speeds[1][at], states[1].v[at])
    np.testing.assert_allclose(found.after, -0.3 * found.before, atol=1e-12)
    # The books close: what the energy changes by is what the rows lose less the work of the motors.
    change = total(lambda c, s: kinetic_energy(c, s.q, s.v), crafts, states, found.speeds) - total(
        lambda c, s: kinetic_energy(c, s.q, s.v), crafts, states, [s.v for s in states]
    )
    np.testing.assert_allclose(change, found.work_of_prescribed - found.energy_lost, rtol=1e-9)
    free = row_impact(crafts, states, rows, 0.3)
    assert np.max(np.abs(free.speeds[1][at] - states[1].v[at])) > 1e-3  # negative control


def test_nothing_moves_without_relative_velocity(rng):
    crafts, states = draw_meeting(rng)
    rows = (FrameRows((0, "grip"), (1, "hand")),)
    once = row_impact(crafts, states, rows)
    latched = tuple(dataclasses.replace(s, v=np.asarray(v)) for s, v in zip(states, once.speeds, strict=True))
    again = row_impact(crafts, latched, rows)
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
    return crafts, rows, compiled(lambda s, e, mu: contact_impact(crafts, s, rows, e, mu))


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
    program = compiled(lambda v, e: contact_impact((craft,), (dataclasses.replace(craft.at_rest(), v=v),), rows, e, mu))
    for e in (0.0, 0.6):
        for _ in range(20):
            v = rng.normal(size=6)
            found = program(v, e)
            push, rub = found.impulse[::3], np.linalg.norm(found.impulse.reshape(4, 3)[:, 1:], axis=1)
            assert np.all(push >= 0.0)
            assert np.all(rub <= mu * push * (1.0 + 1e-12) + 1e-15)
            assert np.all(found.after[::3] >= -1e-9)
            assert found.energy_lost >= -1e-12
            if e == 0.0:
                assert np.max(np.abs(push * found.after[::3])) < 1e-8


def test_a_flat_landing_is_shared():
    """Straight down on four feet: no turn, and the whole momentum is given back."""
    craft, rows = plank()
    state = dataclasses.replace(craft.at_rest(), v=np.array([0.0, 0.0, -2.0, 0.0, 0.0, 0.0]))
    found = compiled(lambda state: contact_impact((craft,), (state,), rows, 0.5, 0.3))(state)
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
