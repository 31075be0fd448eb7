"""Rigid and flexible bodies in one tree: against brute-force sums over mass points, and by what must be conserved."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import dynamics
from freefloat.flex import beam
from freefloat.model import Spacecraft, State
from freefloat.sim import simulate
from freefloat.spatial import Pose, cross_force
from support.clouds import Cloud, random_cloud
from support.compiling import compiled

MODES = 3


def hub() -> Spacecraft:
    return Spacecraft.from_base("hub", mass=20.0, inertia=(3.0, 4.0, 5.0), com=(0.1, 0.2, -0.1))


def link(mass: float = 3.0) -> Spacecraft:
    return Spacecraft.from_base("link", mass=mass, inertia=(0.3, 0.4, 0.5), com=(0.3, 0.1, 0.2))


ROOT = Pose.from_rpy_deg((10.0, 20.0, 30.0), (0.5, 0.3, 0.1))
ELBOW = Pose.from_rpy_deg((5.0, -40.0, 7.0), (0.1, 0.2, 0.3))
ELBOW_AXIS = np.array([1.0, 0.5, 0.2]) / np.linalg.norm([1.0, 0.5, 0.2])


def chain(first: Cloud, second: Cloud) -> Spacecraft:
    """Hub, flexible body, revolute joint at its tip, a second flexible body on that joint."""
    craft = hub().mount(first.body(), name="panel", at=ROOT)
    return craft.mount(second.body(), name="boom", to="panel.tip", at=ELBOW, joint="revolute", axis=ELBOW_AXIS)


def mixed_tree(first: Cloud, second: Cloud) -> Spacecraft:
    """Wheel, panel, link on its tip, sliding boom, link on the boom's tip, second panel on the hub."""
    craft = hub().with_wheel("wheel", axis=(1.0, 2.0, 3.0), inertia=0.2).mount(first.body(), name="panel", at=ROOT)
    craft = craft.mount(link(), name="link", to="panel.tip", at=ELBOW, joint="revolute", axis=ELBOW_AXIS)
    craft = craft.mount(second.body(), name="boom", to="link", at=ROOT, joint="prismatic", axis=(0.0, 1.0, 1.0))
    craft = craft.mount(link(1.0), name="last", to="boom.tip", at=ELBOW, joint="revolute", axis=(0.0, 1.0, 0.0))
    return craft.mount(second.body(), name="other", to="base", at=ELBOW)


def random_state(rng: np.random.Generator, craft: Spacecraft, size: float = 0.2) -> State:
    quat = rng.normal(size=4)
    return State(
        p_NB=rng.normal(size=3),
        quat_NB=quat / np.linalg.norm(quat),
        q=size * rng.normal(size=craft.layout.nq),
        v=size * rng.normal(size=craft.layout.nv),
    )


def acceleration(craft: Spacecraft, q, v) -> np.ndarray:
    """Free motion, with the spacecraft's numbers as constants: general flexible bodies as inputs make long code."""
    return compiled(lambda q, v: dynamics.forward_dynamics(craft, q, v, dynamics.elastic_force(craft, q)))(q, v)


# ---- brute force: positions of all mass points in the base frame as plain functions of the coordinates


def small_turn(angles):
    """Rz Ry Rx, written out."""
    (cx, cy, cz), (sx, sy, sz) = jnp.cos(angles), jnp.sin(angles)
    Rx = jnp.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    Ry = jnp.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    Rz = jnp.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    return Rz @ Ry @ Rx


def turn_about(axis, angle):
    K = jnp.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return jnp.eye(3) + jnp.sin(angle) * K + (1 - jnp.cos(angle)) * (K @ K)


def chain_points(first: Cloud, second: Cloud, q):
    """Mass points of both clouds in the base frame; q = (panel modes, joint, boom modes)."""
    b1, angle, b2 = q[:MODES], q[MODES], q[MODES + 1 :]
    panel = (first.x + first.phi @ b1) @ ROOT.R.T + ROOT.p
    R_tip, p_tip = small_turn(first.rotation[0] @ b1), first.x[0] + first.phi[0] @ b1
    R_joint = R_tip @ ELBOW.R @ turn_about(ELBOW_AXIS, angle)
    local = p_tip + (second.x + second.phi @ b2) @ R_joint.T + R_tip @ ELBOW.p
    return jnp.concatenate([panel, local @ ROOT.R.T + ROOT.p])


def brute_force_energy(craft: Spacecraft, first: Cloud, second: Cloud, q, v):
    """Kinetic energy of hub and points."""
    points, rates = jax.jvp(lambda q: chain_points(first, second, q), (q,), (v[6:],))
    velocities = v[:3] + jnp.cross(v[3:6], points) + rates
    mass = np.concatenate([first.mass, second.mass])
    hub_inertia = craft.bodies[0].spatial_inertia().matrix()
    return 0.5 * jnp.sum(mass * jnp.sum(velocities**2, axis=1)) + 0.5 * v[:6] @ hub_inertia @ v[:6]


def test_mass_matrix_and_bias_equal_a_sum_over_points(rng):
    first, second = random_cloud(rng, MODES), random_cloud(rng, MODES)
    craft = chain(first, second)
    state = random_state(rng, craft, 0.4)
    q, v = jnp.asarray(state.q), jnp.asarray(state.v)

    def energy(q, v):
        return brute_force_energy(craft, first, second, q, v)

    def by_points(q, v):
        h, rate = jax.jvp(lambda q: jax.grad(energy, 1)(q, v), (q,), (v[6:],))
        bias = rate.at[:6].add(cross_force(v[:6], h[:6])).at[6:].add(-jax.grad(energy, 0)(q, v))
        return jax.hessian(energy, 1)(q, v), bias

    def by_tree(q, v):
        return dynamics.mass_matrix(craft, q), dynamics.bias(craft, q, v)

    # Sums of some hundred terms of order one: rounding is 1e-14, 1e-11 is asked for.
    for ours, expected in zip(compiled(by_tree)(q, v), compiled(by_points)(q, v), strict=True):
        np.testing.assert_allclose(ours, expected, atol=1e-11)


@pytest.mark.parametrize("stiffening", [False, True])
def test_power_momentum_and_inverse_agree(rng, stiffening):
    craft = mixed_tree(*(random_cloud(rng, MODES, stiffening=stiffening) for _ in range(2)))
    state, force = random_state(rng, craft), rng.normal(size=craft.layout.nv)
    coordinates = np.array(craft.layout.coordinates)

    def check(q, v, force):
        vdot = dynamics.forward_dynamics(craft, q, v, force)
        qdot = v[coordinates]
        _, power = jax.jvp(lambda q, v: dynamics.kinetic_energy(craft, q, v), (q, v), (qdot, vdot))
        h, rate = jax.jvp(lambda q, v: dynamics.momentum_about_base(craft, q, v), (q, v), (qdot, vdot))
        M = dynamics.mass_matrix(craft, q)
        return (
            power - force @ v,
            rate + cross_force(v[:6], h) - force[:6],
            dynamics.inverse_dynamics(craft, q, v, vdot) - force,
            M - M.T,
            dynamics.kinetic_energy(craft, q, v) - 0.5 * v @ M @ v,
            h - (M @ v)[:6],
        )

    for residual in compiled(check)(state.q, state.v, force):
        np.testing.assert_allclose(residual, 0.0, atol=1e-11)  # rounding of forces of order one over 20 dofs


@pytest.mark.parametrize("stiffening", [False, True])
def test_free_flight_keeps_momentum_and_energy(rng, stiffening):
    craft = mixed_tree(*(random_cloud(rng, MODES, stiffening=stiffening) for _ in range(2)))
    run = simulate(craft, state=random_state(rng, craft), duration=3.0, dt=0.5, integrator="adaptive", tolerance=1e-12)
    P, L = run["momentum.linear"].values, run["momentum.angular"].values
    E = run["energy.kinetic"].values + run["energy.elastic"].values
    assert np.max(np.abs(P - P[0])) < 1e-10 * np.linalg.norm(P[0])
    assert np.max(np.abs(L - L[0])) < 1e-10 * np.linalg.norm(L[0])
    assert np.max(np.abs(E - E[0])) < 1e-10 * E[0]


def test_a_frozen_second_order_term_is_caught(rng):
    """Negative control: dropping the pair integrals from the bias only would break the balance; here from all of it."""
    cloud = random_cloud(rng, MODES)
    craft = chain(cloud, cloud)
    body = craft.body("panel")
    wrong = dataclasses.replace(body, pair_moment=np.zeros_like(body.pair_moment))
    other = dataclasses.replace(craft, bodies=(craft.bodies[0], wrong, *craft.bodies[2:]))
    state = random_state(rng, craft, 0.4)
    difference = dynamics.mass_matrix(craft, jnp.asarray(state.q)) - dynamics.mass_matrix(other, jnp.asarray(state.q))
    assert np.max(np.abs(difference)) > 1e-3


def test_mode_normalisation_does_not_matter(rng):
    cloud = random_cloud(rng, MODES, stiffening=True)
    T = rng.normal(size=(MODES, MODES)) + 2.0 * np.eye(MODES)
    other = dataclasses.replace(
        cloud,
        phi=cloud.phi @ T,
        rotation=cloud.rotation @ T,
        chi=np.einsum("kija,im,jn->kmna", cloud.chi, T, T),
        stiffness=T.T @ cloud.stiffness @ T,
        damping=T.T @ cloud.damping @ T,
    )
    here, there = (
        hub().mount(c.body(), name="panel", at=ROOT).mount(link(), name="link", to="panel.tip") for c in (cloud, other)
    )
    state = random_state(rng, here)
    b, rates = np.linalg.solve(T, state.q), np.linalg.solve(T, state.v[6:])
    ours = acceleration(here, state.q, state.v)
    theirs = acceleration(there, b, np.concatenate([state.v[:6], rates]))
    np.testing.assert_allclose(theirs[:6], ours[:6], rtol=1e-9, atol=1e-11)  # conditioning of T costs two digits
    np.testing.assert_allclose(T @ theirs[6:], ours[6:], rtol=1e-9, atol=1e-11)


def test_body_order_does_not_matter(rng):
    first, second = (random_cloud(rng, MODES) for _ in range(2))
    one = hub().mount(first.body(), name="a", at=ROOT).mount(second.body(), name="b", at=ELBOW)
    two = hub().mount(second.body(), name="b", at=ELBOW).mount(first.body(), name="a", at=ROOT)
    state = random_state(rng, one)
    swap = np.concatenate([np.arange(6), 6 + MODES + np.arange(MODES), 6 + np.arange(MODES)])
    ours = acceleration(one, state.q, state.v)
    theirs = acceleration(two, state.q[swap[6:] - 6], state.v[swap])
    np.testing.assert_allclose(theirs, ours[swap], atol=1e-12)  # rounding in another order


def test_reference_frame_of_the_hub_does_not_matter(rng):
    """Describe hub and mounting in another frame, placed and turned by X: the same accelerations, seen from there."""
    cloud = random_cloud(rng, MODES)
    X = Pose.from_rpy_deg((30.0, -20.0, 50.0), (0.4, -0.3, 0.2))  # the new base frame in the old
    back = X.inverse()
    old = hub().mount(cloud.body(), name="panel", at=ROOT)
    base = old.bodies[0]
    moved = Spacecraft.from_base(
        "hub", mass=base.mass, com=back.R @ base.com + back.p, inertia=back.R @ base.inertia @ back.R.T
    ).mount(cloud.body(), name="panel", at=back @ ROOT)
    state = random_state(rng, old)
    v = np.concatenate([np.asarray(X.twist_to_B(state.v[:6])), state.v[6:]])
    ours, theirs = acceleration(old, state.q, state.v), acceleration(moved, state.q, v)
    np.testing.assert_allclose(theirs[:6], X.twist_to_B(ours[:6]), atol=1e-11)  # two chains of rounded transports
    np.testing.assert_allclose(theirs[6:], ours[6:], atol=1e-11)


def test_no_modal_rates_give_the_rigid_generalised_jacobian(rng):
    """With the modes at rest and not moving, a flexible servicer's generalised Jacobian is the rigid one's."""
    cloud = random_cloud(rng, MODES)
    flexible = hub().mount(cloud.body(), name="panel", at=ROOT).mount(link(), name="arm", at=ELBOW, joint="revolute")
    flexible = flexible.with_frame("hand", body="arm", at=ROOT)
    body = cloud.body()
    rigid = Spacecraft.from_base("p", mass=body.mass, com=body.com, inertia=body.inertia)
    stiff = hub().mount(rigid, name="panel", at=ROOT).mount(link(), name="arm", at=ELBOW, joint="revolute")
    stiff = stiff.with_frame("hand", body="arm", at=ROOT)
    angle = np.array([0.7])
    q = np.concatenate([np.zeros(MODES), angle])
    ours = compiled(lambda q: dynamics.generalized_jacobian(flexible, q, "hand"))(q)
    expected = compiled(lambda q: dynamics.generalized_jacobian(stiff, q, "hand"))(angle)
    np.testing.assert_allclose(ours, expected, atol=1e-12)  # rounding only


def test_a_node_of_a_body_without_modes_is_where_it_is():
    """A beam of no modes is a rod: what hangs on its tip, and a frame there, are at the tip and not at the root."""
    rod = beam(length=2.0, mass=1.0, bending_stiffness=1.0, modes=0)
    craft = hub().mount(rod, name="rod", at=ROOT).mount(link(), name="link", to="rod.tip", joint="revolute")
    craft = craft.with_frame("eye", body="rod", node="tip")
    expected = ROOT.apply(np.array([2.0, 0.0, 0.0]))
    for frame in ("link", "eye", "rod.tip"):
        np.testing.assert_allclose(dynamics.frame_pose(craft, np.zeros(1), frame).p, expected, atol=1e-14)
