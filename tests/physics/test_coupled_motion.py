"""Joints that share a coordinate, in all that is built on the mass matrix: the tree without couplings, projected.

With v_free = G v, whatever is a force projects by G^T and whatever is a velocity maps by G. Tolerance 1e-10 of the
largest entry, as in tests/reference/test_against_pinocchio.py; 1e-9 where a mass matrix of condition 1e5 is solved.
"""

import dataclasses

import jax
import numpy as np
import pytest

import freefloat as ff
from freefloat import dynamics, engine
from freefloat.dynamics import FrameRows, JointRows, held_motion, held_motion_by_rows, row_forces, row_impact
from freefloat.dynamics.relative_rows import relative_pose
from freefloat.effects import Friction, JointFriction, JointSpring
from freefloat.model import Follow, RigidBody, Spacecraft
from support import trees
from support.clouds import random_cloud
from support.compiling import compiled
from support.ports import clock_at

TOLERANCE, SOLVED = 1e-10, 1e-9
NOW = clock_at(0.0)
# A follower outboard of its leader, one on another branch that slides, and one right behind its leader.
COUPLED = {
    "joint3": Follow("joint1", -0.5, 0.3),
    "joint4": Follow("joint2", 0.2, -0.1),
    "joint7": Follow("joint6", 1.5),
}


def couple(craft: Spacecraft, couplings=COUPLED) -> Spacecraft:
    joints = (dataclasses.replace(joint, follows=couplings.get(joint.name)) for joint in craft.joints)
    return dataclasses.replace(craft, joints=tuple(joints))


def lift(free: Spacecraft, coupled: Spacecraft, q) -> tuple[np.ndarray, np.ndarray]:
    """q of the tree without couplings, and the matrix G with v_free = G v; modes and wheels are the same in both."""
    full, G = np.zeros(free.layout.nq), np.zeros((free.layout.nv, coupled.layout.nv))
    for name, at in coupled.layout.velocities.items():
        G[free.layout.velocities[name], at] = np.eye(at.stop - at.start) if at.stop > at.start else 0.0
    for name, at in coupled.layout.positions.items():
        full[free.layout.positions[name]] = q[at] if at.stop > at.start else 0.0
    for joint in coupled.joints:
        if joint.follows is not None:
            leader = joint.follows.leader
            at = coupled.layout.position(leader).start
            full[free.layout.position(joint.name)] = joint.follows.ratio * q[at] + joint.follows.offset
            G[free.layout.velocity(joint.name), coupled.layout.velocity(leader)] = joint.follows.ratio
    return full, G


@pytest.fixture
def pair(rng):
    """A tree, the same with couplings, a configuration and speeds of the coupled one; rotors on all joints."""
    free = trees.with_joint_rotors(rng, trees.draw_tree(rng, "branched 7"))
    craft = couple(free)
    return free, craft, trees.draw_configuration(rng, craft), trees.draw_speeds(rng, craft)


def close(mine, expected, tolerance=TOLERANCE) -> None:
    assert trees.relative_error(mine, expected) < tolerance


# ---- the same on every target


@pytest.mark.parametrize(
    ("prepare", "topology", "couplings"),
    [
        (compiled, "branched 7", COUPLED),
        # With wheels, and a joint that turns with one that slides: small, because XLA takes long for large trees.
        (compiled, "small", {"joint4": Follow("joint2", 1.5, 0.1)}),
        pytest.param(jax.jit, "small", {"joint4": Follow("joint2", 1.5, 0.1)}, marks=pytest.mark.slow),
    ],
    ids=["native", "native, wheels", "jax, wheels"],
)
def test_mass_matrix_bias_and_acceleration_are_the_free_ones_projected(rng, prepare, topology, couplings):
    free = trees.with_joint_rotors(rng, trees.draw_tree(rng, topology))
    craft = couple(free, couplings)
    q, v = trees.draw_configuration(rng, craft), trees.draw_speeds(rng, craft)
    full, G = lift(free, craft, q)
    force = rng.normal(size=v.size)
    M = G.T @ trees.mass_matrix(free, full) @ G
    h = G.T @ trees.bias(free, full, G @ v)
    close(prepare(dynamics.mass_matrix)(craft, q), M)
    close(prepare(dynamics.bias)(craft, q, v), h)
    vdot = prepare(dynamics.forward_dynamics)(craft, q, v, force)
    close(vdot, np.linalg.solve(M, force - h), SOLVED)
    close(trees.inverse_dynamics(craft, q, v, np.asarray(vdot)), M @ vdot + h)


def test_a_wrong_sign_of_the_ratio_is_seen(pair):
    """Negative control: the identity tells the couplings from those with one sign changed."""
    free, craft, q, v = pair
    full, G = lift(free, craft, q)
    wrong = craft.with_value("joint3.follows.ratio", 0.5)
    M, h = G.T @ trees.mass_matrix(free, full) @ G, G.T @ trees.bias(free, full, G @ v)
    assert trees.relative_error(trees.mass_matrix(wrong, q), M) > 1e-3
    assert trees.relative_error(trees.bias(wrong, q, v), h) > 1e-3


# ---- free-floating quantities


def test_momentum_and_generalised_jacobian(pair):
    free, craft, q, v = pair
    full, G = lift(free, craft, q)
    close(trees.momentum_about_base(craft, q, v), trees.momentum_about_base(free, full, G @ v))
    close(trees.centre_of_mass(craft, q), trees.centre_of_mass(free, full))
    close(trees.kinetic_energy(craft, q, v), trees.kinetic_energy(free, full, G @ v))
    J_g = trees.at_frame(dynamics.generalized_jacobian, "hand")
    close(J_g(craft, q), J_g(free, full) @ G[6:, 6:])
    N, H = dynamics.reaction_null_space(craft, q), trees.free_floating(craft, q).angular_coupling
    assert np.max(np.abs(H @ N)) < 1e-12 * np.max(np.abs(H))
    assert np.trace(N) == pytest.approx(1.0)  # four coordinates, three directions of turning


# ---- prescribed, held and hit


def test_prescribed_leaders_take_their_followers_along(pair, rng):
    free, craft, q, v = pair
    full, G = lift(free, craft, q)
    force, given = rng.normal(size=v.size), craft.layout.velocity("joint1")
    vdot, found = dynamics.hybrid_dynamics(craft, q, v, force, ("joint1",), np.array([0.7]))
    assert vdot[given] == pytest.approx(0.7)
    close(np.delete(found, given.start), np.delete(force, given.start))
    close(G.T @ trees.inverse_dynamics(free, full, G @ v, G @ vdot), found, SOLVED)


def test_a_grasp_of_coupled_trees_is_solved_alike_as_tree_and_as_rows(rng):
    """The names of leaders get prefixes in the joined tree; the payload has couplings of its own."""
    crafts = couple(trees.draw_tree(rng, "branched 7")), couple(trees.draw_tree(rng, "branched 7"))
    states = tuple(trees.draw_state(rng, craft) for craft in crafts)
    at = relative_pose(crafts, states, (0, "hand"), (1, "camera"))
    rows = (FrameRows((0, "hand"), (1, "camera"), held=at), JointRows((0, "joint6"), held=states[0].q[3]))
    hit = compiled(lambda a, b, x, y: row_impact((a, b), (x, y), rows))(*crafts, *states)
    states = tuple(dataclasses.replace(state, v=v) for state, v in zip(states, hit.speeds, strict=True))
    forces = tuple(rng.normal(size=craft.layout.nv) for craft in crafts)
    one, other = (
        compiled(_held(solve, rows))(*crafts, *states, *forces) for solve in (held_motion, held_motion_by_rows)
    )
    assert one.rank == other.rank == 7
    close(one.multipliers, other.multipliers, 1e-8)  # J M^-1 J^T has the square of the condition
    for mine, theirs in zip(one.vdots, other.vdots, strict=True):
        close(mine, theirs, 1e-8)
    # The accelerations keep the couplings: what is left over pushes no coordinate.
    pushes = row_forces(crafts, states, rows, one.multipliers)
    for craft, state, vdot, force, push in zip(crafts, states, one.vdots, forces, pushes, strict=True):
        close(trees.inverse_dynamics(craft, state.q, state.v, vdot), force + push, 1e-8)


def _held(solve, rows):
    return lambda a, b, x, y, f, g: solve((a, b), (x, y), (f, g), rows)


def test_an_impact_on_a_follower_is_felt_by_its_leader(pair, rng):
    """Plastic: the hand sticks; impulse and change of speed obey the free tree's inertia, projected."""
    _, craft, _, _ = pair
    free, state = pair[0], trees.draw_state(rng, craft)
    rows = (FrameRows((-1, ""), (0, "hand"), dynamics.POINT),)
    hit = compiled(lambda craft, state: row_impact((craft,), (state,), rows))(craft, state)
    assert np.max(np.abs(hit.after)) < SOLVED * np.max(np.abs(hit.before))
    full, G = lift(free, craft, state.q)
    R = np.asarray(dynamics.inertial_frame_pose(craft, state, "hand").R)
    push = dynamics.frame_jacobian(free, full, "hand")[:3].T @ (R.T @ hit.impulse)
    close(G.T @ (trees.mass_matrix(free, full) @ (G @ (hit.speeds[0] - state.v))), G.T @ push, SOLVED)


# ---- flexible bodies


def test_a_follower_on_a_flexible_body(rng):
    """At a node that moves and turns with the modes, its leader before the flexible body."""
    link = {"mass": 3.0, "inertia": (0.3, 0.4, 0.5), "com": (0.3, 0.1, 0.2), "axis": (1.0, 0.5, 0.2)}
    craft = Spacecraft.from_base("hub", mass=20.0, inertia=(3.0, 4.0, 5.0)).with_link(
        "drive", parent="base", joint="revolute", at=(0.2, 0.1, 0.3), **link
    )
    craft = craft.mount(random_cloud(rng, 2, stiffening=True).body(), name="panel", to="drive")
    tip = RigidBody("tip", mass=1.0, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.25))
    free = craft.mount(tip, name="tip", to="panel.tip", joint="revolute", axis=(0.0, 1.0, 0.3))
    craft = couple(free, {"tip": Follow("drive", -1.3, 0.2)})
    q, v = 0.2 * rng.normal(size=craft.layout.nq), rng.normal(size=craft.layout.nv)
    full, G = lift(free, craft, q)
    # Numbers of flexible bodies as constants: as inputs they make long code.
    M, h = engine.compile(lambda q, v: (dynamics.mass_matrix(free, q), dynamics.bias(free, q, v)), full, G @ v)(
        full, G @ v
    )
    M, h = G.T @ M @ G, G.T @ h

    def coupled(q, v):
        still = np.zeros(v.size)
        return dynamics.mass_matrix(craft, q), dynamics.bias(craft, q, v), dynamics.forward_dynamics(craft, q, v, still)

    mine, bias, vdot = engine.compile(coupled, q, v)(q, v)
    close(mine, M)
    close(bias, h)
    close(vdot, np.linalg.solve(M, -h), SOLVED)
    rates = dynamics.natural_frequencies(craft, q)
    assert rates.size == 2
    K = G.T @ _stiffness(free) @ G
    expected = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)[-2:]
    np.testing.assert_allclose(rates**2, expected, rtol=1e-8)


def _stiffness(craft: Spacecraft) -> np.ndarray:
    K, at = np.zeros((craft.layout.nv, craft.layout.nv)), craft.layout.velocity("panel.modes")
    K[at, at] = craft.body("panel").stiffness
    return K


# ---- forces in joints


def test_springs_and_friction_of_a_follower_act_on_its_leader(pair, rng):
    free, craft, _, _ = pair
    state = trees.draw_state(rng, craft)
    full, G = lift(free, craft, state.q)
    lifted = dataclasses.replace(state, q=full, v=G @ state.v)
    friction = Friction(coulomb=0.4, viscous=0.2, smoothing=0.5)
    for part in (
        JointSpring("joint3", stiffness=7.0, rest=0.2),
        JointFriction(friction, ("joint1", "joint3", "joint7")),
    ):
        part.check(craft)
        close(part.force(craft, state, NOW), G.T @ part.force(free, lifted, NOW))
        for mine, expected in zip(part.observe(craft, state, NOW), part.observe(free, lifted, NOW), strict=True):
            close(mine, expected)


# ---- motion


def test_free_motion_keeps_momentum_and_energy(rng):
    """Ten seconds in steps so short that rounding is what is left."""
    craft = couple(trees.draw_tree(rng, "branched 7"))
    start = dataclasses.replace(trees.draw_state(rng, craft), p_NB=np.zeros(3))
    start = dataclasses.replace(start, v=0.1 * start.v)
    run = ff.simulate(craft, state=start, duration=10.0, dt=2e-3, record_dt=0.5)
    assert run.audit.holds
    for name in ("momentum.linear", "momentum.angular", "energy.kinetic"):
        values = run[name].values
        trees.report(name, np.max(np.abs(values - values[0])) / np.max(np.abs(values[0])))
        assert np.max(np.abs(values - values[0])) < TOLERANCE * np.max(np.abs(values[0])), name
    assert np.ptp(run["joints.position"].values, axis=0).min() > 0.01  # it did move


def test_a_spring_in_a_follower_swings_its_leader(rng):
    """Energy goes to and fro between spring and motion; the audit closes with the work of the spring."""
    craft = couple(trees.draw_tree(rng, "chain of 6"), {"joint4": Follow("joint1", 2.0, 0.1)})
    run = ff.simulate(craft, JointSpring("joint4", stiffness=20.0), duration=3.0, dt=2e-3, record_dt=0.1)
    assert run.audit.holds
    energy = run["energy.kinetic"].values + run["joint4.spring_energy"].values
    np.testing.assert_allclose(energy, energy[0], rtol=1e-9)
    assert np.max(run["energy.kinetic"].values) > 0.1 * energy[0]


@pytest.mark.slow
def test_a_grasp_in_a_run_moves_as_the_composed_tree(rng):
    """The connection joins trees by itself, `grasp` beforehand: both keep the coupling."""
    craft = couple(trees.draw_tree(rng, "chain of 2"), {"joint2": Follow("joint1", -1.7, 0.2)})
    start = dataclasses.replace(trees.draw_state(rng, craft), p_NB=np.zeros(3))
    start = dataclasses.replace(start, v=0.1 * start.v)
    payload = Spacecraft.from_base("payload", **trees.draw_body(rng, (20.0, 60.0)))
    X_NE = dynamics.inertial_frame_pose(craft, start, "hand")
    there = dataclasses.replace(payload.at_rest(), p_NB=np.asarray(X_NE.p), quat_NB=np.asarray(X_NE.quaternion))
    world = ff.World(chaser=craft, client=payload).connection("grasp", "chaser.hand", "client.base", on=True)
    pair = ff.simulate(world, state={"chaser": start, "client": there}, duration=1.0)
    whole = craft.grasp(payload, name="client", hand="hand")
    first = dataclasses.replace(start, **{name: pair[f"chaser.state.{name}"].values[0] for name in "qv"})
    one = ff.simulate(whole, state=first, duration=1.0)
    assert pair.audit.holds
    assert one.audit.holds
    for name in ("base.position", "base.attitude", "joints.position"):
        np.testing.assert_allclose(pair[f"chaser.{name}"].values, one[name].values, atol=TOLERANCE, rtol=0)
    assert np.ptp(one["joints.position"].values) > 1e-3
