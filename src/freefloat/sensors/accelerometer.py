"""Accelerometer: specific force at a frame, what an instrument that falls with everything around it does not feel."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.inner_motion import without_drift
from freefloat.dynamics.kinematics import frame_pose, frame_twist_rate, inertial_frame_twist
from freefloat.model import Spacecraft
from freefloat.model.part_kinds import Clock, Truth
from freefloat.model.quantity import Quantity
from freefloat.sensors.imperfection import ImperfectSensor, quantise
from freefloat.spatial import angular, linear, six
from freefloat.spatial.rotations import cross
from freefloat.values import record, static
from freefloat.values.arrays import ArrayLike, Numeric, Vec3
from freefloat.values.channels import Channel, vector
from freefloat.values.checks import require_array, require_bounds, set_fields


def specific_force(truth: Truth, frame: str) -> Vec3:
    """Acceleration of a frame's origin in N, less gravity there, in the frame's axes [m/s2].

    Gravity is what the fields of the world (`ff.Field`, such as GravityGradient) give a small mass at that point; all
    other effects, actuators, connections and contacts are felt. It is that of just before the tick.
    """
    craft, (state, vdot) = truth.craft, truth.forces.motion(truth.own)
    omega = angular(state.V_NB)
    # The drift changes no acceleration, but it costs digits: base axes turn under it.
    still, rate = without_drift(state.v), vdot + _base_only(cross(omega, linear(state.V_NB)), len(vdot))
    twist, twist_rate = frame_twist_rate(craft, jnp.asarray(state.q), still, rate, frame)
    acceleration = linear(twist_rate) + cross(angular(twist), linear(twist))
    X_NF = state.X_NB @ frame_pose(craft, state.q, frame)
    pulled = truth.forces.gravity(X_NF.p, linear(inertial_frame_twist(craft, state, frame)))
    return acceleration - X_NF.R.T @ pulled


def _base_only(acceleration: Vec3, size: int) -> Numeric:
    return jnp.zeros(size).at[:6].set(six(acceleration, np.zeros(3)))


def specific_force_channel(frame: str) -> Channel:
    """Channel of the specific force at a frame."""
    return vector(f"{frame}.specific_force", f"{frame}: acceleration without gravity", "m/s2", frame)


@record
class SpecificForce(Quantity):
    """True specific force at a frame, `imu.specific_force`, as a channel of a run and for software."""

    frame: str = static()

    def check(self, craft: Spacecraft) -> None:
        """Reject a frame that the spacecraft does not have."""
        self.require_known(craft, "frame", (self.frame,), craft.frame_names)

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """The specific force in the frame's axes."""
        return (specific_force_channel(self.frame),)

    def value(self, truth: Truth, name: str) -> Numeric:
        """Specific force [m/s2]."""
        return specific_force(truth, self.frame)


@record
class Accelerometer(ImperfectSensor):
    """Accelerometer with three axes along those of its frame; it measures `imu.specific_force` at the frame `imu`.

    What falls freely measures zero; at a distance r from the centre of mass the difference of gravity is left. A burn
    measures F/m + alpha x r + omega x (omega x r). In a rehearsal it measures the simulated motion, not the robot's.
    """

    frame: str = static()
    bias: ArrayLike = dataclasses.field(default_factory=lambda: np.zeros(3))  # (3,) frame axes [m/s2]
    noise: Numeric | float = 0.0  # one sigma of a sample [m/s2]
    scale_error: Numeric | float = 0.0  # relative
    step: Numeric | float = 0.0  # quantisation [m/s2]

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, bias=require_array("Accelerometer.bias", self.bias, "m/s2", (3,), "three numbers"))
        require_bounds(self, {"scale_error": ""}, above=-1.0)
        require_bounds(self, {"noise": "m/s2", "step": "m/s2"}, least=0.0)

    def check(self, craft: Spacecraft) -> None:
        """Reject a frame that the spacecraft does not have."""
        self.require_known(craft, "frame", (self.frame,), craft.frame_names)

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Unit and axes of the measurement."""
        return (specific_force_channel(self.frame),)

    def measure(self, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Measured specific force, frame axes [m/s2]."""
        felt = (1.0 + self.scale_error) * specific_force(truth, self.frame)
        noisy = felt + self.bias + self.noise * self.draw(truth, number, 3)
        return {f"{self.frame}.specific_force": quantise(noisy, self.step)}
