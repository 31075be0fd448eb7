"""Software that brings an arm to rest from encoders: damping without reaction is an identity of a rigid arm."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.control import JointHold, ReactionlessDamping
from freefloat.control.joint_damping import JointMemory, floating_joint_inertia, null_space_inertia
from freefloat.dynamics import forward_dynamics, free_floating
from freefloat.library import srms, srms_payload
from freefloat.values import SoftwareError


def held_payload(planar: bool) -> ff.Spacecraft:
    return srms(modes=0, planar=planar).grasp(srms_payload(planar=planar), name="payload", hand="hand", grip="grip")


def memory_of(q: np.ndarray, rates: np.ndarray) -> JointMemory:
    return JointMemory(jnp.asarray(q), jnp.asarray(q), jnp.asarray(rates))


@pytest.mark.parametrize("planar", [True, False])
def test_damping_without_reaction_does_not_turn_the_base(planar: bool) -> None:
    craft, rng = held_payload(planar), np.random.default_rng(5)
    n, software = len(craft.layout.moving_joints), ReactionlessDamping(held_payload(planar), rate=0.3, period=0.01)
    for _ in range(5):
        q, rates = rng.uniform(-1.0, 1.0, n), rng.normal(size=n)
        D = np.asarray(null_space_inertia(craft, q))
        np.testing.assert_allclose(D, D.T, atol=1e-9 * np.abs(D).max())
        assert np.linalg.eigvalsh(D).min() > -1e-9 * np.abs(D).max()  # it takes energy out, never in
        assert np.linalg.matrix_rank(D, tol=1e-6 * np.abs(D).max()) == n - (1 if planar else 3)
        turns = {}
        for name, torques in (
            ("damped", software.torques(memory_of(q, rates))),
            ("as they move", -0.3 * floating_joint_inertia(craft, q) @ rates),  # negative control
        ):
            force = np.zeros(craft.layout.nv)
            force[list(craft.layout.joint_velocities)] = torques
            vdot = np.asarray(forward_dynamics(craft, q, np.zeros(craft.layout.nv), force))
            turns[name] = np.abs(vdot[3:6]).max()
        assert turns["damped"] < 1e-8 * turns["as they move"]


def test_what_carries_no_momentum_decays_at_the_rate() -> None:
    craft = held_payload(planar=True)
    q = np.deg2rad([60.0, -90.0, 30.0])
    H = np.asarray(free_floating(craft, q).angular_coupling)[2]
    M = np.asarray(floating_joint_inertia(craft, q))
    rates = np.linalg.svd(H[None])[2][1]  # one motion without reaction
    software = ReactionlessDamping(craft, rate=0.3, period=0.01)
    found = np.linalg.solve(M, np.asarray(software.torques(memory_of(q, rates))))
    np.testing.assert_allclose(found, -0.3 * rates, rtol=1e-7, atol=1e-9)


def test_rates_come_from_encoders() -> None:
    """A joint that turns steadily: the estimate comes to its rate, without reading it."""
    rod = ff.Spacecraft.from_base("hub", mass=10.0, inertia=(1.0, 1.0, 1.0)).with_link(
        "rod", parent="base", joint="revolute", mass=1.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.1, 0.1)
    )
    software = JointHold(rod, stiffness=0.0, damping=2.0, smoothing=0.05, period=0.01)
    start = dataclasses.replace(rod.at_rest(), v=np.zeros(rod.layout.nv))
    start.v[rod.layout.velocity("rod")] = 0.1
    run = ff.simulate(rod, ff.sensors.JointEncoder(period=0.01), software, state=start, duration=8.0)
    assert abs(run["joints.rate"].values[-1, 0]) < 1e-4


def test_software_that_cannot_be() -> None:
    with pytest.raises(SoftwareError, match="give it a period"):
        JointHold(held_payload(planar=True))
    with pytest.raises(SoftwareError, match="plans with a rigid model"):
        ReactionlessDamping(srms(modes=1, planar=True), period=0.01)
