"""Single pieces of software against identities: what they promise holds exactly at any state."""

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.control import (
    ApproachLimits,
    AttitudeHold,
    HoldJoints,
    JointSpline,
    Line,
    Quintic,
    RateSoftware,
    ReactionlessTurn,
    ResolvedAcceleration,
    ResolvedMotion,
    SatelliteBasedMotion,
    Turn,
    UnreachableError,
    measured_motion,
    measured_state,
    spline_to,
)
from freefloat.control.attitude import arm_momentum, arm_reaction
from freefloat.control.measured import ReplacedMeasurements
from freefloat.control.reactionless_turn import approach_rates
from freefloat.control.resolved_motion import pose_error
from freefloat.dynamics import (
    component_rates,
    forward_dynamics,
    frame_pose,
    free_floating,
    impose_rates,
    inertial_frame_twist,
    inverse_kinematics,
    joint_jacobian,
    state_rate,
)
from freefloat.library import ets7
from freefloat.model import JointRates, State
from freefloat.sensors.ideal import IdealMeasurements
from freefloat.spatial import Pose
from freefloat.spatial.rotations import quaternion_exp, quaternion_multiply, rotation_exp
from freefloat.values import ModelError
from support.compiling import compiled
from support.ports import clock_at

CRAFT = ets7(wheels=True)
JOINTS = CRAFT.layout.moving_joints
LINE = Line(direction=(1.0, 0.0, 0.0), length=0.2, speed=0.01)
TURN = Turn(axis=(0, 1, 0), profile=Quintic(length=0.7, duration=40.0))
SPLINE = JointSpline.through(CRAFT, [(5, -20, 40, 30, 20, 10), (8, -10, 50, 20, 10, 0)], [10.0])


def _state(rng: np.random.Generator) -> State:
    return State(
        p_NB=rng.normal(size=3),
        quat_NB=np.asarray(quaternion_exp(jnp.asarray(rng.normal(size=3)))),
        q=np.deg2rad([5.0, -20.0, 40.0, 30.0, 20.0, 10.0]) + rng.uniform(-0.2, 0.2, 6),
        v=np.concatenate([0.02 * rng.normal(size=6), 3.0 * rng.normal(size=3), 0.05 * rng.normal(size=6)]),
    )


def _measured(state: State) -> IdealMeasurements:
    return IdealMeasurements.of(CRAFT, state)


def test_resolved_motion_gives_the_hand_its_twist_with_momentum_and_spinning_wheels(rng) -> None:
    software = ResolvedMotion(craft=CRAFT, frame="hand", path=LINE)

    def error(state: State):
        y = _measured(state)
        start = software.begin(y)
        asked = software.command(start, y, clock_at(5.0))
        moving = dataclasses.replace(state, v=impose_rates(CRAFT, state.q, state.v, asked.joints, asked.rates))
        return inertial_frame_twist(CRAFT, moving, "hand") - software.desired_twist(start, jnp.asarray(5.0), 0.0)

    for _ in range(3):
        np.testing.assert_allclose(compiled(error)(_state(rng)), 0.0, atol=1e-13)


def test_reactionless_rates_have_no_momentum_and_turn_the_hand(rng) -> None:
    software = ReactionlessTurn(craft=CRAFT, frame="hand", path=TURN)

    @compiled
    def check(state: State):
        y = _measured(state)
        rates = software.rates(software.begin(y), y, clock_at(20.0))
        return free_floating(CRAFT, state.q).angular_coupling @ rates, (joint_jacobian(CRAFT, state.q, "hand") @ rates)[
            3:
        ]

    momentum, spin = check(_state(rng))
    np.testing.assert_allclose(momentum, 0.0, atol=1e-13)
    np.testing.assert_allclose(spin, [0.0, 1.875 * 0.7 / 40.0, 0.0], atol=1e-12)


class _Still(IdealMeasurements):
    """Measurements without any velocity."""

    def __getitem__(self, name: str) -> Any:
        if name.rpartition(".")[2] in ("velocity", "rate", "speed", "modal_rates"):
            raise AssertionError(f"{name} was read")
        return super().__getitem__(name)


@pytest.mark.parametrize(
    "software",
    [
        ResolvedMotion(craft=CRAFT, frame="hand", path=LINE, gain=0.5),
        SatelliteBasedMotion(craft=CRAFT, frame="hand", path=LINE),
        ReactionlessTurn(craft=CRAFT, frame="hand", path=TURN),
        SPLINE,
        HoldJoints(JOINTS[:2]),
    ],
    ids=lambda software: type(software).__name__,
)
def test_software_that_may_be_continuous_reads_no_velocity(software: RateSoftware, rng) -> None:
    state = _state(rng)
    y = _Still(IdealMeasurements.of(CRAFT, state)._truth)
    asked = jax.eval_shape(lambda: software.command(software.begin(y), y, clock_at(1.0)))
    assert isinstance(asked, JointRates)
    assert asked.rates.shape == (len(software.joints),)
    assert software.channels() == () or len(software.channels()) == len(
        jax.eval_shape(lambda: software.observe(software.begin(y), y, clock_at(1.0), y._truth))
    )


def test_resolved_acceleration_gives_the_hand_its_acceleration(rng) -> None:
    software = ResolvedAcceleration(ResolvedMotion(craft=CRAFT, frame="hand", path=LINE))

    def error(before: State, state: State):
        y, start = _measured(state), software.begin(_measured(before))
        asked = software.command(start, y, clock_at(5.0))
        force = jnp.zeros(15).at[np.array(CRAFT.layout.indices(asked.joints))].set(asked.torques)
        vdot = forward_dynamics(CRAFT, state.q, state.v, force)
        along = component_rates(state, state_rate(CRAFT, state, vdot))
        _, found = jax.jvp(lambda s: inertial_frame_twist(CRAFT, s, "hand"), (state,), (along,))
        return found - software.desired_acceleration(start, measured_state(CRAFT, y), jnp.asarray(5.0))

    state = _state(rng)
    before = dataclasses.replace(state, p_NB=state.p_NB + 0.01, q=state.q + 0.01)
    np.testing.assert_allclose(compiled(error)(before, state), 0.0, atol=1e-10)


def test_coarse_approach_is_the_constrained_least_squares_optimum(rng) -> None:
    state = dataclasses.replace(_state(rng), v=np.zeros(15))
    twist = 0.02 * rng.normal(size=6)
    coarse = compiled(lambda s, w: approach_rates(CRAFT, measured_motion(CRAFT, _measured(s)), "hand", w))
    rates = np.asarray(coarse(state, twist))
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


def test_attitude_torque_pushes_back_and_brakes() -> None:
    software = AttitudeHold(craft=CRAFT)
    still = CRAFT.at_rest(np.zeros(6))
    memory = software.begin(_measured(still))
    tilted = dataclasses.replace(still, quat_NB=np.asarray(quaternion_exp(jnp.array([0.0, 0.002, 0.0]))))
    torque = np.asarray(software.torque(memory.reference, tilted.quat_NB, np.array([1e-4, 0.0, 0.0])))
    np.testing.assert_allclose(torque, [-0.04, -0.02, 0.0], atol=1e-12)
    asked = software.command(memory, _measured(tilted), clock_at(0.0))
    assert asked.wheels == CRAFT.wheel_names
    np.testing.assert_allclose(asked.torques, [0.0, 0.02, 0.0], atol=1e-12)  # motors push the other way
    # A reference that is given is held instead of the attitude of the start.
    given = dataclasses.replace(software, reference=np.asarray(tilted.quat_NB))
    asked = given.command(given.begin(_measured(still)), _measured(still), clock_at(0.0))
    np.testing.assert_allclose(asked.torques, [0.0, -0.02, 0.0], atol=1e-12)


def test_the_error_of_a_pose_is_in_the_axes_that_both_are_given_in(rng) -> None:
    """Wanted: turned on from where it is by phi, and moved by d, both in N axes."""
    actual = Pose(position=rng.normal(size=3), rotation=np.asarray(rotation_exp(jnp.asarray(rng.normal(size=3)))))
    phi, d = 0.3 * rng.normal(size=3), rng.normal(size=3)
    wanted = Pose(position=actual.p + d, rotation=np.asarray(rotation_exp(jnp.asarray(phi))) @ actual.R)
    np.testing.assert_allclose(pose_error(wanted, actual), [*d, *phi], atol=1e-13)


def test_attitude_torque_turns_back_in_base_axes_from_any_reference(rng) -> None:
    """Turned by phi from a reference that is itself turned, phi in the axes of both: the torque is -K phi there."""
    hold = AttitudeHold(craft=ets7(wheels=True), stiffness=10.0, damping=0.0)
    reference, phi = quaternion_exp(jnp.asarray(rng.normal(size=3))), 0.1 * rng.normal(size=3)
    turned = quaternion_multiply(reference, quaternion_exp(jnp.asarray(phi)))
    np.testing.assert_allclose(hold.torque(reference, turned, jnp.zeros(3)), -10.0 * phi, atol=1e-13)


@pytest.mark.parametrize(("distance", "share"), [(0.09, 0.0), (0.11, 1.0), (np.inf, 1.0)])
def test_attitude_torque_is_off_while_a_message_is_low(distance: float, share: float, rng) -> None:
    software = AttitudeHold(craft=CRAFT, off_message="capture.distance", off_below=0.1)
    y = _measured(_state(rng))
    told = ReplacedMeasurements(y, {"capture.distance": jnp.asarray(distance)})
    always = dataclasses.replace(software, off_message="")
    wanted = always.command(always.begin(y), y, clock_at(0.0)).torques
    assert np.max(np.abs(wanted)) > 1.0
    np.testing.assert_array_equal(software.command(software.begin(y), told, clock_at(0.0)).torques, share * wanted)


def test_attitude_control_without_enough_wheels_is_refused() -> None:
    with pytest.raises(ModelError, match="do not span three directions"):
        AttitudeHold(craft=ets7())


def test_feed_forward_is_the_rate_of_the_arms_momentum() -> None:
    arm = SatelliteBasedMotion(craft=CRAFT, frame="hand", path=LINE)
    h = 1e-5

    @compiled
    def three_ways(state: State, t):
        y = _measured(state)
        start = arm.begin(y)
        rates = arm.rates(start, y, clock_at(t))
        ahead, behind = (
            arm_momentum(
                CRAFT,
                arm,
                start,
                ReplacedMeasurements(y, {"joints.position": state.q + s * h * rates}),
                clock_at(t + s * h),
            )
            for s in (1, -1)
        )
        now, mean = (arm_reaction(CRAFT, arm, start, y, clock_at(t, hold)) for hold in (0.0, 1e-3))
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
    goal = Pose(position=np.array([5.0, 0.0, 5.0]))
    with pytest.raises(UnreachableError, match="out of reach"):
        spline_to(CRAFT, "hand", goal, np.deg2rad([0, -82.7, -19.8, 115.5, 0, 0]), ApproachLimits())
