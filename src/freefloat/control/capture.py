"""Autonomous two-phase capture of a drifting target (Yoshida 2003, section 5): two strategies, one bookkeeping.

Case 1: reactionless coarse approach with the wheels on, then the generalised Jacobian with the wheels off.
Case 2: conventional joint spline, a wait until the attitude has recovered, then satellite-based motion, wheels on.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.control.joint_spline import JointSpline
from freefloat.control.laws import Motion, motion_of
from freefloat.control.profiles import Quintic
from freefloat.control.reactionless_turn import approach_rates
from freefloat.control.resolved_motion import pose_error, require_six_joints, resolve_floating
from freefloat.control.target import DriftingTarget
from freefloat.dynamics import frame_pose, inertial_frame_pose, joint_jacobian, spd_solve
from freefloat.dynamics.least_squares import SINGULAR_BELOW
from freefloat.model import Spacecraft, State
from freefloat.spatial import Pose, angular, linear, six
from freefloat.spatial.rotations import quaternion_conjugate, quaternion_log, quaternion_multiply
from freefloat.values import record, static
from freefloat.values.arrays import Flag, Numeric, Quaternion, Scalar, Vec3, Vec6, Vector
from freefloat.values.channels import Channel, flag, vector
from freefloat.values.checks import require_bounds

COARSE, WAITING, FINE, CAPTURED = 0, 1, 2, 3
_SATELLITE_DAMPING = 1e-6  # of joint rates against hand twist in the satellite-based approach [m2]
_FADE = 0.5  # time constant with which the arm comes to rest after the capture [s]


class UnreachableError(ValueError):
    """A place where the hand cannot be; the message says how far it can come."""


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
        require_bounds(
            self, {"gain": "1/s", "coarse_speed": "m/s", "fine_speed": "m/s", "turn_rate": "rad/s"}, above=0.0
        )
        require_bounds(self, {"joint_rate": "rad/s"}, above=0.0, allow_infinite=True)
        require_bounds(self, {"switch_distance": "m", "capture_distance": "m", "capture_angle": "rad"}, above=0.0)
        require_bounds(self, {"start_ramp": "s", "capture_time": "s"}, least=0.0)
        require_bounds(self, {"settled_angle": "rad", "settled_rate": "rad/s"}, above=0.0)


@record
class CaptureMemory:
    """What the approach remembers."""

    mode: Numeric  # int32: COARSE, WAITING, FINE, CAPTURED
    inside_since: Scalar  # when the fine approach came within capture tolerance [s]; infinite while it is outside
    switched_at: Scalar  # when the fine approach began [s]; infinite before
    captured_at: Scalar  # [s]; infinite before
    eye: Any


@record
class CaptureApproach:
    """Moves the hand to the target. With a `spline` it is case 2, without one case 1."""

    craft: Spacecraft
    frame: str = static()
    eye: Any  # how it knows the target
    limits: ApproachLimits = ApproachLimits()
    spline: JointSpline | None = None
    singular_below: Numeric | float = SINGULAR_BELOW  # of J_g, where case 1 damps its rates [m, rad]
    reference: Quaternion = dataclasses.field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))
    now: CaptureMemory | None = None  # set by `recall`

    def __post_init__(self) -> None:
        require_six_joints("CaptureApproach", self.craft, self.frame)

    @property
    def joints(self) -> tuple[str, ...]:
        """Every moving joint."""
        return self.craft.layout.moving_joints

    @property
    def fastest_rate(self) -> Numeric | float:
        """Of the closing loop [rad/s]."""
        return self.limits.gain

    def begin(self, state: State) -> CaptureApproach:
        """Remember the attitude to come back to."""
        begun = dataclasses.replace(self, reference=state.quat_NB, eye=self.eye.begin(state))
        return dataclasses.replace(begun, now=begun.memory())

    # ---- memory

    def memory(self) -> CaptureMemory:
        """Coarse approach, nothing captured."""
        never = np.asarray(np.inf)
        return CaptureMemory(np.zeros((), np.int32), never, never, never, self.eye.memory())

    def remember(self, memory: CaptureMemory, state: State, t: Scalar, hold: float) -> CaptureMemory:
        """Look, and change the mode where it is time."""
        limits, eye = self.limits, self.eye.look(memory.eye, self.craft, state, t)
        estimate = self.eye.estimate(eye, t)
        error = pose_error(estimate.pose, inertial_frame_pose(self.craft, state, self.frame))
        distance, angle = _length(linear(error)), _length(angular(error))
        mode = memory.mode
        if self.spline is None:
            near = (distance < limits.switch_distance) & ~estimate.lost
            mode = jnp.where((mode == COARSE) & near, FINE, mode)
        else:
            mode = jnp.where((mode == COARSE) & (t >= self.spline.duration), WAITING, mode)
            mode = jnp.where((mode == WAITING) & self._is_settled(state), FINE, mode)
        done = (mode == FINE) & (t - memory.inside_since >= limits.capture_time - 1e-9)
        inside = (distance < limits.capture_distance) & (angle < limits.capture_angle) & ~estimate.lost
        since = jnp.where(inside & (mode == FINE), jnp.minimum(memory.inside_since, t), jnp.inf)
        mode = jnp.where(done, CAPTURED, mode)
        return CaptureMemory(
            mode=mode,
            inside_since=since,
            switched_at=jnp.where((mode == FINE) & (memory.mode != FINE), t, memory.switched_at),
            captured_at=jnp.where(done, t, memory.captured_at),
            eye=eye,
        )

    def recall(self, memory: CaptureMemory) -> CaptureApproach:
        """The approach in this mode."""
        return dataclasses.replace(self, now=memory)

    def _is_settled(self, state: State) -> Flag:
        turned = quaternion_multiply(quaternion_conjugate(jnp.asarray(self.reference)), jnp.asarray(state.quat_NB))
        calm = _length(angular(state.V_NB)) < self.limits.settled_rate
        return (_length(quaternion_log(turned)) < self.limits.settled_angle) & calm

    # ---- acting

    def rates(self, motion: Motion, t: Scalar, hold: float) -> Vector:
        """Joint rates of the present mode; they fade once captured, and are none while the target is lost."""
        memory = self.now if self.now is not None else self.memory()
        estimate = self.eye.estimate(memory.eye, t)
        error = pose_error(estimate.pose, motion.X_NB @ frame_pose(self.craft, motion.q, self.frame))
        fine = self._twist(error, estimate.velocity, self.limits.fine_speed)
        if self.spline is None:
            coarse = self._twist(error, estimate.velocity, self.limits.coarse_speed)
            ramped = six(self._ramp(t) * linear(coarse), angular(coarse))
            first = approach_rates(self.craft, motion, self.frame, ramped)
            second = resolve_floating(self.craft, motion, self.frame, fine, self.singular_below).x
        else:
            first = self.spline.rates(motion, t, 0.0)  # as in every other phase: what is right now
            second = self._satellite_based(motion, fine)
        # After the capture the arm comes to rest softly.
        since = t - jnp.where(jnp.isfinite(memory.captured_at), memory.captured_at, t)
        second = second * jnp.where(memory.mode == CAPTURED, jnp.exp(-since / _FADE), 1.0)
        rates = jnp.where(memory.mode == COARSE, first, jnp.where(memory.mode == WAITING, 0.0, second))
        blind = estimate.lost & ((memory.mode >= FINE) | (self.spline is None))
        # A joint that is too fast slows all alike, so that the hand keeps its direction.
        return jnp.where(blind, 0.0, rates / jnp.sqrt(jnp.maximum(self._load(rates), 1.0)))

    def _twist(self, error: Vec6, velocity: Vec3, speed: Numeric | float) -> Vec6:
        """Velocity of the target plus a limited share of the error, N axes."""
        gain = self.limits.gain
        turn = _saturate(gain * angular(error), self.limits.turn_rate)
        return six(velocity + _saturate(gain * linear(error), speed), turn)

    def _ramp(self, t: Scalar) -> Scalar:
        """From 0 to 1 over the start ramp."""
        ramp = jnp.asarray(self.limits.start_ramp)
        return jnp.where(t < ramp, t / jnp.where(ramp > 0.0, ramp, 1.0), 1.0)

    def _satellite_based(self, motion: Motion, twist: Vec6) -> Vector:
        """qdot = argmin |J_m qdot - twist|^2 + d |qdot|^2."""
        J_m = joint_jacobian(self.craft, motion.q, self.frame, motion.X_NB.R)
        return J_m.T @ spd_solve(J_m @ J_m.T + _SATELLITE_DAMPING * np.eye(6), twist)

    def _load(self, rates: Vector) -> Scalar:
        """Square of the fastest joint's rate over that of its limit."""
        return jnp.max(rates**2) / self.limits.joint_rate**2

    # ---- telling

    def channels(self) -> tuple[Channel, ...]:
        """What this law adds to a run."""
        return (
            vector(f"{self.frame}.position_error", f"{self.frame}: target minus position", "m", "N"),
            vector(f"{self.frame}.rotation_error", f"{self.frame}: rotation to the target", "rad", "N"),
            Channel("capture.mode", "0 coarse, 1 waiting, 2 fine, 3 captured", "1"),
            Channel("capture.switch_time", "Start of the fine approach", "s"),
            Channel("capture.time", "Time of capture", "s"),
            flag("capture.condition", "Capture", ("approaching", "target lost", "joint rate limit")),
        )

    def observe(self, craft: Spacecraft, state: State, t: Scalar) -> tuple[Numeric, ...]:
        """True error, mode and times; -1 s stands for not yet."""
        memory = self.now if self.now is not None else self.memory()
        estimate = self.eye.estimate(memory.eye, t)
        error = pose_error(self.eye.target.pose(t), inertial_frame_pose(craft, state, self.frame))
        limited = jnp.where(self._load(self.rates(motion_of(craft, state), t, 0.0)) > 1.0 - 1e-9, 2.0, 0.0)
        condition = jnp.where(memory.mode == CAPTURED, 0.0, jnp.where(estimate.lost, 1.0, limited))
        times = (jnp.where(jnp.isfinite(x), x, -1.0) for x in (memory.switched_at, memory.captured_at))
        return linear(error), angular(error), 1.0 * memory.mode, *times, condition


@record
class Proximity:
    """A switch that is on while a frame is farther from a drifting target than a distance."""

    craft: Spacecraft
    frame: str = static()
    target: DriftingTarget
    distance: Numeric | float  # [m]

    def __call__(self, state: State, t: Scalar) -> Scalar:
        """1 outside, 0 inside."""
        gap = self.target.pose(t).p - inertial_frame_pose(self.craft, state, self.frame).p
        return jnp.where(_length(gap) < self.distance, 0.0, 1.0)


def spline_to(craft: Spacecraft, frame: str, target: DriftingTarget, q: Numeric, limits: ApproachLimits) -> JointSpline:
    """The conventional approach: a quintic in joint space to `switch_distance` short of the target seen at the start.

    Its duration would keep a hand on a straight line to `coarse_speed`: 14.1 s for 300 mm. Where a joint is asked for
    more than its rate limit the approach slows all joints alike, and the arm stops that much short of the end. The base
    is at rest in N at the start. An error says so where the arm cannot reach.
    """
    from freefloat.dynamics.inverse_kinematics import inverse_kinematics

    goal, start = target.pose(np.zeros(())), frame_pose(craft, q, frame).p
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
        joints=craft.layout.moving_joints,
        points=np.stack([q[where], found.q[where]]),
        durations=np.array([duration]),
    )


def _length(x: Vec3) -> Scalar:
    return jnp.sqrt(x @ x)


def _saturate(x: Vec3, limit: Numeric | float) -> Vec3:
    """The vector, shortened to a largest length."""
    squared = x @ x
    length = jnp.sqrt(jnp.where(squared > limit**2, squared, limit**2))
    return x * (limit / length)
