"""The delay between a command and the motion: how it is found, and how commands are predicted to compensate it.

A command is the pose that the spacecraft will have one delay later, found from its twist and its acceleration now. The
prediction is exact for steady acceleration; a contact of frequency w leaves a share (w T)^3 / 6 of the force out of
phase, with the sign of damping, instead of w T with the sign of its opposite. It also sends the noise of a wrist sensor
on to the robots, by T^2 / 2 of the acceleration that it makes.
A force that is held for a cycle acts half a cycle late: commands are made ahead of that too, which is the same as
stepping the velocity first and the position with the new velocity.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.nominal_motion import FrameMotion
from freefloat.hil.facility import Facility, FacilityReading, MotionCommand
from freefloat.spatial import Pose, angular
from freefloat.spatial.rotations import quaternion_exp, quaternion_multiply
from freefloat.values.arrays import Scalar, Vec6
from freefloat.values.checks import require_number
from freefloat.values.errors import ModelError


@dataclass(frozen=True)
class DelayCompensation:
    """Settings of the delay compensation: how far ahead of the motion commands are predicted."""

    delay: float | None = None  # [s]; None: the delay that the facility declares
    measured: bool = False  # find it by a small motion of the robots before the run
    hold: bool = True  # also half a cycle, by which a force that is held for a cycle is late

    def __post_init__(self) -> None:
        if self.delay is not None:
            require_number("DelayCompensation.delay", self.delay, "s", least=0.0)
        if self.measured and self.delay is not None:
            raise ModelError("DelayCompensation takes a delay or measures it, not both. Leave one of them out.")


def predict_motion(motion: FrameMotion, acceleration: Vec6, delay: Scalar | float, hold: Scalar | float) -> FrameMotion:
    """The motion delay + hold [s] later, at constant acceleration in body axes; its twist is that after the delay."""
    V = jnp.asarray(motion.twist)
    step = (delay + hold) * V + (0.5 * delay + hold) * delay * acceleration
    return FrameMotion(
        position=motion.position + motion.pose.R @ Pose.exp(step).p,
        quaternion=quaternion_multiply(jnp.asarray(motion.quaternion), quaternion_exp(angular(step))),
        twist=V + delay * acceleration,
    )


# ---- finding it

_LONGEST = 0.5  # [s]; longer delays are not searched for
_LEAST_MOTION = 1e-9  # [m]


def estimate_delay(times: np.ndarray, commanded: np.ndarray, measured: np.ndarray) -> float:
    """The delay [s], parts of a cycle included, by which a measured motion follows the commanded one best.

    Least squares of measured(t) - commanded(t - T) over T, along all axes (time, axis); nan where nothing moved.
    """
    t, delay = np.asarray(times, float), 0.0
    commanded, measured = (np.asarray(x, float).reshape(len(t), -1) for x in (commanded, measured))
    if len(t) < 3 or np.max(np.ptp(commanded, axis=0), initial=0.0) < _LEAST_MOTION:
        return float("nan")
    for _ in range(50):
        late = np.stack([np.interp(t - delay, t, column) for column in commanded.T], axis=1)
        known = t >= t[0] + delay
        rate = np.gradient(late, t, axis=0)[known]
        step = -float(np.sum(rate * (measured - late)[known]) / max(np.sum(rate**2), np.finfo(float).tiny))
        delay = float(np.clip(delay + step, 0.0, min(_LONGEST, 0.5 * (t[-1] - t[0]))))
        if abs(step) < 1e-9:
            break
    return delay


def measure_delay(
    facility: Facility, commands: Mapping[str, MotionCommand], amplitude: float = 5e-3, period: float = 1.0
) -> dict[str, float]:
    """Delays [s] by robot, from one smooth motion to and fro of `amplitude` [m] along x of every carried frame.

    The facility must have been started at these commands; at the end it is there again, at rest.
    """
    require_number("The amplitude of the test motion", amplitude, "m", above=0.0)
    count = max(8, round(2.0 * period / facility.cycle))
    times = facility.cycle * np.arange(count)
    moved = np.where(times < period, 0.5 * amplitude * (1.0 - np.cos(2.0 * np.pi * times / period)), 0.0)
    rates = np.where(times < period, np.pi * amplitude / period * np.sin(2.0 * np.pi * times / period), 0.0)
    axes = {
        name: np.asarray(Pose.from_quaternion(command.quaternion, np.zeros(3)).R)[:, 0]
        for name, command in commands.items()
    }
    readings: list[FacilityReading] = []
    for along, rate in zip(moved, rates, strict=True):
        twist = np.array([rate, 0.0, 0.0, 0.0, 0.0, 0.0])
        readings.append(
            facility.exchange(
                {
                    name: replace(command, position=command.position + along * axes[name], twist=twist)
                    for name, command in commands.items()
                }
            )
        )
        if readings[-1].stopped:
            raise ModelError(f"The facility '{facility.name}' stopped in the test motion: {readings[-1].stopped}.")
    return {
        name: estimate_delay(
            times, moved, np.array([(r.robots[name].position - command.position) @ axes[name] for r in readings])
        )
        for name, command in commands.items()
    }
