"""Single laws against identities: what they promise holds exactly at any state."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from compiling import compiled
from freefloat.control import (
    AttitudeHold,
    Line,
    Quintic,
    ReactionlessTurn,
    ResolvedMotion,
    SatelliteBasedMotion,
    Turn,
    motion_of,
)
from freefloat.control.attitude import arm_momentum, arm_reaction, wheel_force
from freefloat.control.capture import COARSE, FINE, ApproachLimits, CaptureApproach, UnreachableError, spline_to
from freefloat.control.reactionless_turn import approach_rates
from freefloat.control.target import DriftingTarget, PerfectEye
from freefloat.dynamics import (
    frame_pose,
    free_floating,
    impose_rates,
    inertial_frame_twist,
    inverse_kinematics,
    joint_jacobian,
)
from freefloat.library import ets7
from freefloat.model import State
from freefloat.spatial import Pose
from freefloat.spatial.rotations import quaternion_exp
from freefloat.values import ModelError

CRAFT = ets7(wheels=True)
JOINTS = CRAFT.layout.moving_joints
LINE = Line(direction=(1.0, 0.0, 0.0), length=0.2, speed=0.01)


def _state(rng: np.random.Generator) -> State:
    return State(
        p_NB=rng.normal(size=3),
        quat_NB=np.asarray(quaternion_exp(jnp.asarray(rng.normal(size=3)))),
        q=np.deg2rad([5.0, -20.0, 40.0, 30.0, 20.0, 10.0]) + rng.uniform(-0.2, 0.2, 6),
        v=np.concatenate([0.02 * rng.normal(size=6), 3.0 * rng.normal(size=3), 0.05 * rng.normal(size=6)]),
    )


def test_resolved_motion_gives_the_hand_its_twist_with_momentum_and_spinning_wheels(rng) -> None:
    law = ResolvedMotion(craft=CRAFT, frame="hand", path=LINE)

    def error(state: State):
        begun = law.begin(state)
        rates = begun.rates(motion_of(CRAFT, state), jnp.asarray(5.0), 0.0)
        moving = dataclasses.replace(state, v=impose_rates(CRAFT, state.q, state.v, JOINTS, rates))
        return inertial_frame_twist(CRAFT, moving, "hand") - begun.desired_twist(jnp.asarray(5.0), 0.0)

    for _ in range(3):
        np.testing.assert_allclose(compiled(error)(_state(rng)), 0.0, atol=1e-13)


def test_reactionless_rates_have_no_momentum_and_turn_the_hand(rng) -> None:
    law = ReactionlessTurn(
        craft=CRAFT, frame="hand", path=Turn(axis=(0, 1, 0), profile=Quintic(length=0.7, duration=40.0))
    )

    @compiled
    def check(state: State):
        rates = law.begin(state).rates(motion_of(CRAFT, state), jnp.asarray(20.0), 0.0)
        return free_floating(CRAFT, state.q).angular_coupling @ rates, (joint_jacobian(CRAFT, state.q, "hand") @ rates)[
            3:
        ]

    momentum, spin = check(_state(rng))
    np.testing.assert_allclose(momentum, 0.0, atol=1e-13)
    np.testing.assert_allclose(spin, [0.0, 1.875 * 0.7 / 40.0, 0.0], atol=1e-12)


def test_coarse_approach_is_the_constrained_least_squares_optimum(rng) -> None:
    state = dataclasses.replace(_state(rng), v=np.zeros(15))
    twist = 0.02 * rng.normal(size=6)
    rates = np.asarray(compiled(lambda s, w: approach_rates(CRAFT, motion_of(CRAFT, s), "hand", w))(state, twist))
    H, J = compiled(
        lambda s: (
            free_floating(CRAFT, s.q).angular_coupling,
            joint_jacobian(CRAFT, s.q, "hand", s.X_NB.R),
        )
    )(state)
    np.testing.assert_allclose(H @ rates, 0.0, atol=1e-12)
    W = np.diag([1.0, 1.0, 1.0, 0.3, 0.3, 0.3])
    _, _, Vt = np.linalg.svd(H)
    N = Vt[3:].T
    best = N @ np.linalg.lstsq(W @ J @ N, W @ twist, rcond=None)[0]
    np.testing.assert_allclose(rates, best, atol=1e-6)  # a damping of 1e-8 m2 is all that sets them apart


def test_attitude_torque_pushes_back_and_brakes(rng) -> None:
    law = AttitudeHold(craft=CRAFT)
    still = CRAFT.at_rest(np.zeros(6))
    begun = law.begin(still)
    tilted = dataclasses.replace(still, quat_NB=np.asarray(quaternion_exp(jnp.array([0.0, 0.002, 0.0]))))
    torque = np.asarray(begun.torque(tilted.quat_NB, np.array([1e-4, 0.0, 0.0])))
    np.testing.assert_allclose(torque, [-0.04, -0.02, 0.0], atol=1e-12)
    force = np.asarray(begun.force(tilted, np.zeros(()), 0.0))
    # Motors push the other way; in tree order the wheels come right after the base.
    np.testing.assert_allclose(force, [0, 0, 0, 0, 0, 0, 0, 0.02, 0, 0, 0, 0, 0, 0, 0], atol=1e-12)


def test_wheels_keep_to_torque_and_momentum_limits() -> None:
    craft = CRAFT.with_value("wheel.y.max_torque", 0.05).with_value("wheel.z.max_momentum", 1.0)
    state = craft.at_rest(np.zeros(6))
    spinning = dataclasses.replace(state, v=np.asarray(state.v) + 11.0 * np.eye(15)[8])  # wheel.z: 1.1 N m s
    force, condition = wheel_force(craft, spinning, np.array([0.2, -0.2, -0.2]))
    np.testing.assert_allclose(np.asarray(force)[6:9], [-0.2, 0.05, 0.0], atol=1e-15)
    np.testing.assert_array_equal(condition, [0.0, 1.0, 2.0])
    slowing, condition = wheel_force(craft, spinning, np.array([0.0, 0.0, 0.2]))
    np.testing.assert_allclose(np.asarray(slowing)[8], -0.2)
    np.testing.assert_array_equal(condition, [0.0, 0.0, 0.0])


def test_attitude_control_without_enough_wheels_is_refused() -> None:
    with pytest.raises(ModelError, match="do not span three directions"):
        AttitudeHold(craft=ets7())


def test_feed_forward_is_the_rate_of_the_arms_momentum() -> None:
    arm = SatelliteBasedMotion(craft=CRAFT, frame="hand", path=LINE)
    h = 1e-5

    @compiled
    def three_ways(state: State, t):
        begun, motion = arm.begin(state), motion_of(CRAFT, state)
        rates = begun.rates(motion, t, 0.0)
        ahead, behind = (
            arm_momentum(CRAFT, begun, dataclasses.replace(motion, q=state.q + s * h * rates), t + s * h, 0.0)
            for s in (1, -1)
        )
        now, mean = (arm_reaction(CRAFT, begun, state, t, hold) for hold in (0.0, 1e-3))
        return now, mean, (ahead - behind) / (2 * h)

    now, mean, difference = three_ways(CRAFT.at_rest(np.deg2rad([0, 0, 10, -32.8, 0, 0])), np.asarray(1.0))
    np.testing.assert_allclose(now, difference, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(mean, now, rtol=1e-2, atol=1e-5)  # over a millisecond they differ by that much


def test_inverse_kinematics_finds_the_pose_or_says_how_far_it_is(rng) -> None:
    q = np.deg2rad([5.0, -20.0, 40.0, 30.0, 20.0, 10.0])
    there = q + rng.uniform(-0.2, 0.2, 6)
    found = inverse_kinematics(CRAFT, "hand", jax.tree.map(np.asarray, frame_pose(CRAFT, there, "hand")), q)
    assert found.reached
    assert found.status == "reached"
    far = inverse_kinematics(CRAFT, "hand", Pose(position=(9.0, 0.0, 0.0)), q)
    assert not far.reached
    assert "out of reach" in far.status
    assert np.all(np.isfinite(far.q))


def test_a_spline_to_a_target_out_of_reach_is_refused() -> None:
    target = DriftingTarget(start=Pose(position=np.array([5.0, 0.0, 5.0])))
    with pytest.raises(UnreachableError, match="out of reach"):
        spline_to(CRAFT, "hand", target, np.deg2rad([0, -82.7, -19.8, 115.5, 0, 0]), ApproachLimits())


@pytest.mark.parametrize("case", [1, 2])
def test_the_limit_of_the_joints_holds_in_every_phase_of_a_capture(case: int) -> None:
    start = np.deg2rad([0.0, -82.7, -19.8, 115.5, 0.0, 0.0])
    hand = frame_pose(CRAFT, start, "hand")
    goal = Pose(position=np.asarray(hand.p) + np.array([0.13, 0.01, -0.38]), rotation=np.asarray(hand.R))
    target = DriftingTarget(start=goal, velocity=np.array([0.0, 0.0, -0.01]))
    limits = ApproachLimits(joint_rate=np.deg2rad(0.5))
    spline = spline_to(CRAFT, "hand", target, start, limits) if case == 2 else None
    law = CaptureApproach(craft=CRAFT, frame="hand", eye=PerfectEye(target), limits=limits, spline=spline)

    def rates(law: CaptureApproach, state: State, t: jax.Array, mode: jax.Array) -> jax.Array:
        memory = dataclasses.replace(law.memory(), mode=mode)
        return law.recall(memory).rates(motion_of(CRAFT, state), t, 0.0)

    asked = compiled(rates)
    for mode in (COARSE, FINE):
        found = asked(law, CRAFT.at_rest(start), jnp.asarray(7.0), jnp.asarray(mode, jnp.int32))
        fastest = np.max(np.abs(found)) / limits.joint_rate
        assert fastest == pytest.approx(1.0, abs=1e-12)  # as fast as it may, and no faster


def test_limits_of_a_capture_must_be_positive() -> None:
    with pytest.raises(ModelError, match=r"ApproachLimits\.fine_speed must be positive, got -1 m/s"):
        ApproachLimits(fine_speed=-1.0)
