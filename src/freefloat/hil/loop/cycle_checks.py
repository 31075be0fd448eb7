"""Checks of every cycle before anything is commanded: each value as a share of its limit; above 1 it fails.

All reasons for which a rehearsal stops: a value beyond its limit, which is checked here; a gripper or software at fault
(`cycle`); an answer that is lost, late or wrong, a clock that jumps, a log that cannot be written, a stop that is asked
for (`rehearsal_loop`). Each is raised as a `Fault`, upon which `rehearsal_loop` stops the facility.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.nominal_motion import FrameMotion
from freefloat.hil.facility import RobotDescription
from freefloat.hil.limits import Limits
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import quaternion_conjugate, quaternion_log, quaternion_multiply
from freefloat.values import record
from freefloat.values.arrays import Numeric, Scalar, Vector

_UNIT = 1e-3  # by which the length of a measured quaternion may differ from one
_NOT_FINITE = 2.0  # share that stands for a value that is not finite


@record
class Bounds:
    """Numbers of `Limits` and of one robot, as arrays for compiled code."""

    middle: Vector  # of its joints [rad]
    reach: Vector  # to either side, less the margin [rad]
    rates: Vector  # [rad/s]
    box_middle: Vector  # [m]
    box_reach: Vector  # [m]
    tracking: Scalar  # [m]
    tracking_angle: Scalar  # [rad]
    force: Scalar  # [N]
    torque: Scalar  # [N m]
    stuck: Scalar
    speed: Scalar  # [m/s]
    turn_rate: Scalar  # [rad/s]
    acceleration: Scalar  # [m/s2]
    turn_acceleration: Scalar  # [rad/s2]

    @staticmethod
    def of(limits: Limits, robot: RobotDescription) -> Bounds:
        """Bounds of one robot, from the limits of the rehearsal and the robot's own."""
        lower, upper = np.asarray(limits.lower), np.asarray(limits.upper)
        reach = 0.5 * (np.asarray(robot.upper) - np.asarray(robot.lower)) - limits.joint_margin
        names = ("tracking", "tracking_angle", "force", "torque", "stuck")
        names += ("speed", "turn_rate", "acceleration", "turn_acceleration")
        return Bounds(
            middle=0.5 * (np.asarray(robot.upper) + np.asarray(robot.lower)),
            reach=np.maximum(reach, 1e-9),
            rates=np.asarray(robot.rate_limit, float),
            box_middle=0.5 * (lower + upper),
            box_reach=0.5 * (upper - lower),
            **{name: np.asarray(float(getattr(limits, name))) for name in names},
        )


@dataclass(frozen=True)
class Check:
    """A check: the text of its failure, with places for the value and its limit."""

    words: str  # "the force was {value:.4g} N, beyond {limit:g} N"
    limit: str = ""  # field of Bounds; empty: the text has the share itself

    def explain(self, share: float, bounds: Bounds) -> str:
        """Text of the failure at a share of the limit."""
        limit = float(np.max(getattr(bounds, self.limit))) if self.limit else 1.0
        return self.words.format(value=share * limit, limit=limit, share=100.0 * share)


READING_CHECKS = (
    Check("a measurement is not a finite number"),
    Check("the measured attitude is no unit quaternion"),
    Check("the force is {value:.4g} N, out of the sensor's range of {limit:g} N", "force"),
    Check("the torque is {value:.4g} N m, out of the sensor's range of {limit:g} N m", "torque"),
    Check("the force sensor is stuck: {value:.0f} readings are the same to the last bit", "stuck"),
    Check("it is {value:.4g} m from where it was commanded, {limit:g} m are permitted", "tracking"),
    Check("it is {value:.4g} rad from where it was commanded, {limit:g} rad are permitted", "tracking_angle"),
    Check("a joint will be at {share:.4g} % of its range in the next cycle"),
    Check("a joint moves at {share:.4g} % of its greatest rate"),
)
COMMAND_CHECKS = (
    Check("the command is not a finite number: the simulated motion has diverged"),
    Check("the command leaves the workspace ({share:.4g} % of the way to its edge)"),
    Check("the commanded speed is {value:.4g} m/s, {limit:g} m/s are permitted", "speed"),
    Check("the commanded rate is {value:.4g} rad/s, {limit:g} rad/s are permitted", "turn_rate"),
    Check("the commanded acceleration is {value:.4g} m/s2, {limit:g} m/s2 are permitted", "acceleration"),
    Check("the commanded acceleration is {value:.4g} rad/s2, {limit:g} rad/s2 are permitted", "turn_acceleration"),
    Check("the command jumps at {value:.4g} m/s, {limit:g} m/s are permitted", "speed"),
    Check("the command jumps at {value:.4g} rad/s, {limit:g} rad/s are permitted", "turn_rate"),
)


@record
class RobotMeasurement:
    """Measurements of one robot, as arrays for compiled code."""

    position: Vector
    quaternion: Vector
    twist: Vector
    wrench: Vector
    joints: Vector
    joint_rates: Vector
    arm: Vector
    arm_rates: Vector

    @property
    def motion(self) -> FrameMotion:
        """Measured motion of the carried frame."""
        return FrameMotion(self.position, self.quaternion, self.twist)


def check_reading(
    bounds: Bounds, read: RobotMeasurement, command: FrameMotion, repeats: Scalar, cycle: Scalar | float
) -> Vector:
    """Values of a reading as shares of their limits, in the order of READING_CHECKS."""
    everything = [read.position, read.quaternion, read.twist, read.wrench, read.joints, read.joint_rates]
    everything += [read.arm, read.arm_rates]
    turn = quaternion_log(quaternion_multiply(quaternion_conjugate(command.quaternion), read.quaternion))
    ahead = read.joints + read.joint_rates * cycle
    return jnp.stack(
        [
            _finite(everything),
            jnp.abs(_length(read.quaternion) - 1.0) / _UNIT,
            _length(linear(read.wrench)) / bounds.force,
            _length(angular(read.wrench)) / bounds.torque,
            repeats / bounds.stuck,
            _length(read.position - command.position) / bounds.tracking,
            _length(turn) / bounds.tracking_angle,
            _largest(jnp.abs(ahead - bounds.middle) / bounds.reach),
            _largest(jnp.abs(read.joint_rates) / bounds.rates),
        ]
    )


def check_command(
    bounds: Bounds, command: FrameMotion, last: FrameMotion, arm: tuple[Vector, ...], cycle: Scalar | float
) -> Vector:
    """Values of a command as shares of their limits, in the order of COMMAND_CHECKS; `arm`: commands of an arm."""
    change = (command.twist - last.twist) / cycle
    turn = quaternion_log(quaternion_multiply(quaternion_conjugate(last.quaternion), command.quaternion))
    return jnp.stack(
        [
            _finite([command.position, command.quaternion, command.twist, *arm]),
            _largest(jnp.abs(command.position - bounds.box_middle) / bounds.box_reach),
            _length(linear(command.twist)) / bounds.speed,
            _length(angular(command.twist)) / bounds.turn_rate,
            _length(linear(change)) / bounds.acceleration,
            _length(angular(change)) / bounds.turn_acceleration,
            _length(command.position - last.position) / cycle / bounds.speed,
            _length(turn) / cycle / bounds.turn_rate,
        ]
    )


def explain_failure(
    checks: Sequence[Check], shares: np.ndarray, bounds: Sequence[Bounds], robots: Sequence[str]
) -> str:
    """Text of the first check that fails, with the name of the robot; shares (robots, checks)."""
    for number, robot in enumerate(robots):
        for check, share in zip(checks, shares[number], strict=True):
            if not share <= 1.0:
                return f"robot '{robot}': {check.explain(float(share), bounds[number])}"
    return ""


def _finite(parts: list[Numeric]) -> Scalar:
    whole = jnp.concatenate([jnp.asarray(part) for part in parts])
    return jnp.where(jnp.all(jnp.isfinite(whole)), 0.0, _NOT_FINITE)


def _length(x: Numeric) -> Scalar:
    return jnp.sqrt(jnp.sum(jnp.asarray(x) ** 2))


def _largest(x: Numeric) -> Scalar:
    return jnp.max(x) if x.shape[0] else jnp.zeros(())
