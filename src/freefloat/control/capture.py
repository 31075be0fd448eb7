"""Autonomous two-phase capture of a drifting target (Yoshida 2003, section 5), with two strategies in one.

Case 1: reactionless coarse approach with the wheels on, then the generalised Jacobian with the wheels off.
Case 2: conventional joint spline, a wait until the attitude has recovered, then satellite-based motion, wheels on.
"""

from __future__ import annotations

from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np

from freefloat.control.joint_spline import JointSpline
from freefloat.control.measured import Motion, clock_at, measured_motion, measured_pose, own_frame_pose
from freefloat.control.profiles import Quintic
from freefloat.control.rate_software import RateSoftware
from freefloat.control.reactionless_turn import nearest_reactionless_rates
from freefloat.control.resolved_motion import assemble_floating_jacobian, pose_error, require_six_joints
from freefloat.dynamics import FreeFloating, frame_pose, free_floating, inertial_frame_pose, joint_jacobian, spd_solve
from freefloat.dynamics.least_squares import SINGULAR_BELOW, damped_least_squares
from freefloat.model import Clock, Measurements, Spacecraft, Truth
from freefloat.sensors.ideal import true_value
from freefloat.spatial import Pose, angular, linear, six
from freefloat.spatial.rotations import quaternion_conjugate, quaternion_log, quaternion_multiply
from freefloat.values import SoftwareError, record, static
from freefloat.values.arrays import Flag, Matrix, Numeric, Quaternion, Scalar, Vec3, Vec6, Vector
from freefloat.values.channels import Channel, flag, vector
from freefloat.values.checks import require_all, require_bounds
from freefloat.values.tracing import cond

COARSE, WAITING, FINE, CAPTURED = 0, 1, 2, 3
_SATELLITE_DAMPING = 1e-6  # of joint rates against hand twist in the satellite-based approach [m2]
_FADE = 0.5  # time constant with which the arm comes to rest after the capture [s]


class UnreachableError(ValueError):
    """Error for a place that the hand cannot reach; the message says how far it can come."""


@record
class ApproachLimits:
    """Gains and limits of the approach."""

    gain: Numeric | float = 0.3  # [1/s]
    coarse_speed: Numeric | float = 0.04  # of closing in [m/s]
    fine_speed: Numeric | float = 0.02  # of closing in [m/s]
    turn_rate: Numeric | float = 0.02  # [rad/s]
    start_ramp: Numeric | float = 2.0  # in which the reactionless approach reaches its speed [s]
    joint_rate: Numeric | float = np.deg2rad(3.0)  # of every joint, in every phase [rad/s]
    switch_distance: Numeric | float = 0.1  # from coarse to fine [m]
    capture_distance: Numeric | float = 0.005  # [m]
    capture_angle: Numeric | float = np.deg2rad(0.5)  # [rad]
    capture_time: Numeric | float = 1.0  # for which both must hold [s]
    settled_angle: Numeric | float = np.deg2rad(0.1)  # attitude at which waiting ends [rad]
    settled_rate: Numeric | float = np.deg2rad(0.005)  # [rad/s]

    def __post_init__(self) -> None:
        speeds = {"gain": "1/s", "coarse_speed": "m/s", "fine_speed": "m/s", "turn_rate": "rad/s"}
        near = {"switch_distance": "m", "capture_distance": "m", "capture_angle": "rad"}
        require_all(
            lambda: require_bounds(self, speeds, above=0.0),
            lambda: require_bounds(self, {"joint_rate": "rad/s"}, above=0.0, allow_infinite=True),
            lambda: require_bounds(self, near, above=0.0),
            lambda: require_bounds(self, {"start_ramp": "s", "capture_time": "s"}, least=0.0),
            lambda: require_bounds(self, {"settled_angle": "rad", "settled_rate": "rad/s"}, above=0.0),
        )


@record
class CaptureMemory:
    """Memory of the approach."""

    mode: Numeric  # int32: COARSE, WAITING, FINE, CAPTURED
    inside_since: Scalar  # when the fine approach came within capture tolerance [s]; infinite while it is outside
    switched_at: Scalar  # when the fine approach began [s]; infinite before
    captured_at: Scalar  # [s]; infinite before
    reference: Quaternion  # quat_NB at the start, to come back to


@record
class _ApproachState:
    """What every phase of the approach needs to know at an instant."""

    motion: Motion
    error: Vec6  # from the hand to the target, N axes
    velocity: Vec3  # of the target, N axes [m/s]
    body: FreeFloating  # base axes
    J_m: Matrix  # of the hand, N axes


@record
class CaptureApproach(RateSoftware):
    """Moves the hand to the target. With a `spline` it is case 2, without one case 1.

    It reads the velocity of the target, so it must be sampled or followed by a servo. It reports to other software
    `capture.distance` [m], infinite while the target is lost, `capture.to_go`, which is infinite once it is captured
    too, and `capture.mode`.
    """

    craft: Spacecraft
    frame: str = static()
    target: str = static()  # the measured frame to go to, such as "target.grip"
    limits: ApproachLimits = ApproachLimits()
    spline: JointSpline | None = None
    singular_below: Numeric | float = SINGULAR_BELOW  # of J_g, where case 1 damps its rates [m, rad]

    def __post_init__(self) -> None:
        require_all(
            lambda: require_six_joints("CaptureApproach", self.craft, self.frame),
            self._require_target,
            self._require_spline,
            lambda: require_bounds(self, {"singular_below": "m, rad"}, least=0.0),
        )

    def _require_target(self) -> None:
        if self.target.rpartition(".")[2] == "base":
            raise SoftwareError(
                f"CaptureApproach.target '{self.target}' is a base: name a frame on it (with_frame adds one)."
            )
        if not self.target:
            raise SoftwareError(
                "CaptureApproach.target is empty: name the measured frame to go to, such as 'target.grip'."
            )

    def _require_spline(self) -> None:
        moving = self.craft.layout.moving_joints
        if self.spline is not None and tuple(self.spline.joints) != moving:
            raise SoftwareError(
                f"CaptureApproach.spline must move every joint in order, {', '.join(moving)}, got "
                f"{', '.join(self.spline.joints)}. Make it by spline_to, or JointSpline.through(craft, ...)."
            )

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of all moving joints, which this software moves."""
        return self.craft.layout.moving_joints

    @property
    def fastest_rate(self) -> Numeric | float:
        """Rate of the loop that closes the distance [rad/s]."""
        return self.limits.gain

    # ---- memory

    def begin(self, y: Measurements) -> CaptureMemory:
        """Memory at the start: coarse approach, nothing captured."""
        never = jnp.asarray(jnp.inf)
        return CaptureMemory(jnp.zeros((), jnp.int32), never, never, never, jnp.asarray(y["base.attitude"]))

    def remember(self, memory: CaptureMemory, y: Measurements, clock: Clock) -> CaptureMemory:
        """Memory after this tick, with a new mode where it is time for one."""
        limits, t, error = self.limits, clock.t, self._pose_error(y)
        distance, angle = _length(linear(error)), _length(angular(error))
        mode, seen = self._next_mode(memory, distance, y, clock), self._is_target_visible(y)
        done = (mode == FINE) & (t - memory.inside_since >= limits.capture_time - 1e-9)
        inside = (distance < limits.capture_distance) & (angle < limits.capture_angle) & seen
        since = jnp.where(inside & (mode == FINE), jnp.minimum(memory.inside_since, t), jnp.inf)
        mode = jnp.where(done, CAPTURED, mode)
        return CaptureMemory(
            mode=mode,
            inside_since=since,
            switched_at=jnp.where((mode == FINE) & (memory.mode != FINE), t, memory.switched_at),
            captured_at=jnp.where(done, t, memory.captured_at),
            reference=memory.reference,
        )

    def _next_mode(self, memory: CaptureMemory, distance: Scalar, y: Measurements, clock: Clock) -> Numeric:
        """Mode, changed from coarse to fine near the target or, after the spline, once the attitude has recovered."""
        mode = memory.mode
        if self.spline is None:
            near = (distance < self.limits.switch_distance) & self._is_target_visible(y)
            return jnp.where((mode == COARSE) & near, FINE, mode)
        mode = jnp.where((mode == COARSE) & (clock.t >= self.spline.duration), WAITING, mode)
        return jnp.where((mode == WAITING) & self._is_settled(memory.reference, y), FINE, mode)

    def _is_settled(self, reference: Quaternion, y: Measurements) -> Flag:
        turned = quaternion_multiply(quaternion_conjugate(reference), jnp.asarray(y["base.attitude"]))
        calm = _length(y["base.rate"]) < self.limits.settled_rate
        return (_length(quaternion_log(turned)) < self.limits.settled_angle) & calm

    # ---- measurements of the target

    def _pose_error(self, y: Measurements) -> Vec6:
        """Pose error from the hand to the target, N axes."""
        return pose_error(measured_pose(y, self.target), own_frame_pose(self.craft, y, self.frame))

    def _is_target_visible(self, y: Measurements) -> Flag:
        return y.valid(f"{self.target}.position")

    # ---- commands

    def rates(self, memory: CaptureMemory, y: Measurements, clock: Clock) -> Vector:
        """Joint rates of the present mode; they fade after the capture, and are zero while the target is lost."""
        here = _ApproachState(
            motion=(motion := measured_motion(self.craft, y)),
            error=self._pose_error(y),
            velocity=y[f"{self.target}.velocity"],
            body=free_floating(self.craft, motion.q),
            J_m=joint_jacobian(self.craft, motion.q, self.frame, motion.X_NB.R),
        )
        # A branch, so that only the approach that is flown is computed.
        rates = cond(
            memory.mode == COARSE,
            lambda: self._coarse_rates(here, clock.t),
            lambda: self._fine_rates(here, memory, clock.t),
        )
        blind = jnp.logical_not(self._is_target_visible(y)) & ((memory.mode >= FINE) | (self.spline is None))
        # A joint that is too fast slows all alike, so that the hand keeps its direction.
        return jnp.where(blind, 0.0, rates / jnp.sqrt(jnp.maximum(self._rate_load(rates), 1.0)))

    def _coarse_rates(self, here: _ApproachState, t: Scalar) -> Vector:
        """Joint rates of the coarse approach: along the spline, or without reaction on the base."""
        if self.spline is not None:
            return self.spline.rates_at(t)
        twist = self._desired_twist(here, self.limits.coarse_speed)
        ramped = six(self._start_factor(t) * linear(twist), angular(twist))
        return nearest_reactionless_rates(here.body, here.J_m, ramped)

    def _fine_rates(self, here: _ApproachState, memory: CaptureMemory, t: Scalar) -> Vector:
        """Joint rates of the fine approach; zero while waiting, and fading after the capture."""
        twist = self._desired_twist(here, self.limits.fine_speed)
        if self.spline is not None:
            rates = _satellite_based_rates(here.J_m, twist)
        else:
            J_g, drift = assemble_floating_jacobian(self.craft, here.motion, self.frame, here.body, here.J_m)
            rates = damped_least_squares(J_g, twist - drift, self.singular_below).x
        # After the capture the arm comes to rest softly.
        since = t - jnp.where(jnp.isfinite(memory.captured_at), memory.captured_at, t)
        rates = rates * jnp.where(memory.mode == CAPTURED, jnp.exp(-since / _FADE), 1.0)
        return jnp.where(memory.mode == WAITING, 0.0, rates)

    def _desired_twist(self, here: _ApproachState, speed: Numeric | float) -> Vec6:
        """Desired twist of the hand: velocity of the target plus a limited share of the error, N axes."""
        gain = self.limits.gain
        turn = _limit_length(gain * angular(here.error), self.limits.turn_rate)
        return six(here.velocity + _limit_length(gain * linear(here.error), speed), turn)

    def _start_factor(self, t: Scalar) -> Scalar:
        """Factor from 0 to 1 over the start ramp."""
        ramp = jnp.asarray(self.limits.start_ramp)
        return jnp.where(t < ramp, t / jnp.where(ramp > 0.0, ramp, 1.0), 1.0)

    def _rate_load(self, rates: Vector) -> Scalar:
        """Square of the fastest joint's rate over that of its limit."""
        return jnp.max(rates**2) / self.limits.joint_rate**2

    # ---- messages and channels

    def tell(self, memory: CaptureMemory, y: Measurements, clock: Clock) -> Mapping[str, Numeric]:
        """Measured distance of the hand to the target, the distance still to go, and the mode."""
        distance = jnp.where(self._is_target_visible(y), _length(linear(self._pose_error(y))), jnp.inf)
        return {
            "capture.distance": distance,
            "capture.to_go": jnp.where(memory.mode == CAPTURED, jnp.inf, distance),
            "capture.mode": 1.0 * memory.mode,
        }

    def channels(self) -> tuple[Channel, ...]:
        """Channels for errors, mode and times of the capture."""
        return (
            vector(f"{self.frame}.position_error", f"{self.frame}: target minus position", "m", "N"),
            vector(f"{self.frame}.rotation_error", f"{self.frame}: rotation to the target", "rad", "N"),
            Channel("capture.mode", "0 coarse, 1 waiting, 2 fine, 3 captured", "1"),
            Channel("capture.switch_time", "Start of the fine approach", "s"),
            Channel("capture.time", "Time of capture", "s"),
            flag("capture.condition", "Capture", ("approaching", "target lost", "joint rate limit")),
        )

    def observe(self, memory: CaptureMemory, y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """Values of the channels: true error, mode and times; -1 s stands for not yet."""
        position, attitude = (true_value(truth, f"{self.target}.{kind}") for kind in ("position", "attitude"))
        hand = inertial_frame_pose(truth.craft, truth.state, self.frame)
        error = pose_error(Pose.from_quaternion(attitude, position), hand)
        load = self._rate_load(self.rates(memory, y, clock_at(clock, clock.t)))
        limited = jnp.where(load > 1.0 - 1e-9, 2.0, 0.0)
        condition = jnp.where(memory.mode == CAPTURED, 0.0, jnp.where(self._is_target_visible(y), limited, 1.0))
        times = (jnp.where(jnp.isfinite(x), x, -1.0) for x in (memory.switched_at, memory.captured_at))
        return linear(error), angular(error), 1.0 * memory.mode, *times, condition


def _satellite_based_rates(J_m: Matrix, twist: Vec6) -> Vector:
    """Joint rates argmin |J_m qdot - twist|^2 + d |qdot|^2."""
    return J_m.T @ spd_solve(J_m @ J_m.T + _SATELLITE_DAMPING * np.eye(6), twist)


def spline_to(craft: Spacecraft, frame: str, goal: Pose, q: Numeric, limits: ApproachLimits) -> JointSpline:
    """Conventional approach: a quintic in joint space to `switch_distance` short of the target's pose at the start.

    Its duration would keep a hand on a straight line to `coarse_speed`: 14.1 s for 300 mm. Where a joint needs
    more than its rate limit the approach slows all joints alike, and the arm stops that much short of the end. The base
    is at rest in N at the start. An error says so where the arm cannot reach.
    """
    from freefloat.dynamics.inverse_kinematics import inverse_kinematics

    start = frame_pose(craft, q, frame).p
    way = np.asarray(goal.p) - np.asarray(start)
    length = float(np.linalg.norm(way)) - float(limits.switch_distance)
    short = np.asarray(start) + way * (length / float(np.linalg.norm(way)))
    q = np.asarray(q, dtype=float)
    found = inverse_kinematics(craft, frame, Pose(position=short, rotation=np.asarray(goal.R)), q)
    if not found.reached:
        standoff = 1e3 * float(limits.switch_distance)
        raise UnreachableError(f"The spline cannot end {standoff:g} mm from the target: {found.status}.")
    where = np.array(craft.layout.joint_positions, dtype=int)
    duration = float(Quintic.within(length, float(limits.coarse_speed)).duration)
    return JointSpline(
        joints=craft.layout.moving_joints, points=np.stack([q[where], found.q[where]]), durations=np.array([duration])
    )


def _length(x: Vec3) -> Scalar:
    return jnp.sqrt(x @ x)


def _limit_length(x: Vec3, limit: Numeric | float) -> Vec3:
    """The vector, shortened to a largest length."""
    squared = x @ x
    length = jnp.sqrt(jnp.where(squared > limit**2, squared, limit**2))
    return x * (limit / length)
