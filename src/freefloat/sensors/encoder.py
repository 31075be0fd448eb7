"""Encoders with offset, noise and quantisation: at the joints, or on the motor shafts of joints with flexible gears."""

from __future__ import annotations

from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np

from freefloat.model import Spacecraft
from freefloat.model.part_kinds import Clock, Truth
from freefloat.sensors.imperfection import ImperfectSensor, quantise
from freefloat.values import ModelError, record
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.checks import require_bounds


@record
class JointEncoder(ImperfectSensor):
    """Encoders on all joints, all of one kind; they measure `joints.position` and, with `rate_noise`, `joints.rate`.

    Rates are those of a tachometer on the same shaft. Counts that are differentiated would be late by half a sample,
    and need the sample before: software that wants that has both positions.
    """

    offset: Vector | float = 0.0  # [rad, m]
    noise: Numeric | float = 0.0  # one sigma [rad, m]
    step: Numeric | float = 0.0  # resolution [rad, m]
    rate_noise: Numeric | float | None = None  # of the rates, one sigma [rad/s, m/s]; None: no rates are measured

    def __post_init__(self) -> None:
        super().__post_init__()
        require_bounds(self, {"offset": "rad, m"})
        require_bounds(self, {"noise": "rad, m", "step": "rad, m"}, least=0.0)
        require_bounds(self, {} if self.rate_noise is None else {"rate_noise": "rad/s, m/s"}, least=0.0)

    def check(self, craft: Spacecraft) -> None:
        """Reject a spacecraft without a moving joint."""
        if not craft.layout.moving_joints:
            raise ModelError(f"{self.title}: spacecraft '{craft.name}' has no joint that moves. Leave the encoder out.")

    def measure(self, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Measured joint positions [rad, m] and, if they are, rates [rad/s, m/s]."""
        places = np.array(truth.craft.layout.joint_positions, dtype=int)
        positions, n = jnp.asarray(truth.state.q)[places], len(places)
        draws = self.draw(truth, number, n if self.rate_noise is None else 2 * n)
        measured = {"joints.position": quantise(positions + self.offset + self.noise * draws[:n], self.step)}
        if self.rate_noise is None:
            return measured
        rates = jnp.asarray(truth.state.v)[np.array(truth.craft.layout.joint_velocities, dtype=int)]
        return {**measured, "joints.rate": rates + self.rate_noise * draws[n:]}


@record
class MotorEncoder(JointEncoder):
    """Encoders on all motors, all of the same kind; they measure `joints.position` and `joints.rate` at the motors.

    Values are those at the joint side: rotor angle over gear ratio. With a stiff gear motor and joint agree.
    """

    rate_noise: Numeric | float = 0.0  # one sigma [rad/s, m/s]

    def measure(self, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Measured motor positions [rad, m] and rates [rad/s, m/s], under the names of the joints' measurements."""
        layout = truth.craft.layout
        motors = layout.motor_coordinates(layout.moving_joints)
        at = np.array([layout.position(name).start for name in motors], dtype=int)
        draws = self.draw(truth, number, 2 * len(motors))
        positions = jnp.asarray(truth.state.q)[at] + self.offset + self.noise * draws[: len(motors)]
        rates = jnp.asarray(truth.state.v)[np.array(layout.indices(motors), dtype=int)]
        return {
            "joints.position": quantise(positions, self.step),
            "joints.rate": rates + self.rate_noise * draws[len(motors) :],
        }
