"""Force and torque through a joint: what a sensor at the wrist of an arm measures."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import body_poses, carried_wrenches
from freefloat.dynamics.inner_motion import without_drift
from freefloat.model import Spacecraft
from freefloat.model.part_kinds import Clock, Truth
from freefloat.model.quantity import Quantity
from freefloat.sensors.imperfection import ImperfectSensor, quantise
from freefloat.spatial import angular, linear, six
from freefloat.spatial.rotations import cross
from freefloat.values import record, static
from freefloat.values.arrays import ArrayLike, Numeric, Vec6
from freefloat.values.channels import Channel, vector
from freefloat.values.checks import require_array, require_bounds, set_fields


def bodies_beyond(craft: Spacecraft, joint: str) -> tuple[str, ...]:
    """The body that a joint carries, and all that this body carries, in tree order."""
    first, found = craft.joint_names.index(joint) + 1, []
    for index in range(first, len(craft.bodies)):
        if index == first or craft.parents[index] in found:
            found.append(index)
    return tuple(craft.body_names[index] for index in found)


def joint_wrench(truth: Truth, joint: str) -> Vec6:
    """Force and torque that the inboard side of a joint exerts on the outboard side [N, N m].

    About the origin of the body that the joint carries, in that body's axes; just before the tick. By Newton and Euler:
    rate of the outboard momentum less what pushes the outboard bodies from outside.
    """
    craft, (state, vdot) = truth.craft, truth.forces.motion(truth.own)
    bodies, index = bodies_beyond(craft, joint), craft.joint_names.index(joint) + 1
    turning = six(cross(angular(state.V_NB), linear(state.V_NB)), np.zeros(3))
    rate = jnp.asarray(vdot).at[:6].add(turning)  # without the drift, which changes no force
    needed = carried_wrenches(craft, jnp.asarray(state.q), without_drift(state.v), rate)[index]
    outside = truth.forces.outside_wrench(truth.own, bodies)
    return needed - body_poses(craft, state.q)[index].wrench_to_B(outside)


def joint_wrench_channels(craft: Spacecraft, joint: str) -> tuple[Channel, Channel]:
    """Channels of the force and of the torque through a joint."""
    body = craft.body_names[craft.joint_names.index(joint) + 1]
    return (
        vector(f"{joint}.force", f"{joint}: force on the outboard side", "N", body),
        vector(f"{joint}.torque", f"{joint}: torque on the outboard side", "N m", body),
    )


@record
class JointWrench(Quantity):
    """True force and torque through a joint, `wrist.force` and `wrist.torque`, as channels of a run and for software.

    They are what the inboard side exerts on the outboard side, at the joint, in axes of the body that it carries.
    """

    joint: str = static()

    def check(self, craft: Spacecraft) -> None:
        """Reject a joint that the spacecraft does not have."""
        self.require_known(craft, "joint", (self.joint,), craft.joint_names)

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """The force and the torque."""
        return joint_wrench_channels(craft, self.joint)

    def value(self, truth: Truth, name: str) -> Numeric:
        """Force [N] or torque [N m]."""
        half = linear if name.endswith(".force") else angular
        return half(joint_wrench(truth, self.joint))


@record
class ForceTorqueSensor(ImperfectSensor):
    """Six-axis sensor in a joint, fixed or moving: `wrist.force` and `wrist.torque` of the joint `wrist`.

    They are what the inboard side exerts on the outboard side, in axes of the body that the joint carries. Forces from
    outside on the outboard bodies are taken off: fields, wrenches at frames, connections, contacts and wrenches at
    input ports. An error names what it cannot divide: an effect or an actuator that does not say its
    `pushed_frames` or has some on both sides, interactions beyond the joint and before it, and fields where a body
    before the joint is flexible.
    """

    joint: str = static()
    bias: ArrayLike = dataclasses.field(default_factory=lambda: np.zeros(6))  # (6,) [N, N m]
    force_noise: Numeric | float = 0.0  # one sigma of a sample [N]
    torque_noise: Numeric | float = 0.0  # one sigma of a sample [N m]
    scale_error: Numeric | float = 0.0  # relative
    force_step: Numeric | float = 0.0  # quantisation [N]
    torque_step: Numeric | float = 0.0  # quantisation [N m]

    def __post_init__(self) -> None:
        super().__post_init__()
        bias = require_array("ForceTorqueSensor.bias", self.bias, "N, N m", (6,), "force and torque, six numbers")
        set_fields(self, bias=bias)
        require_bounds(self, {"scale_error": ""}, above=-1.0)
        require_bounds(self, {"force_noise": "N", "torque_noise": "N m"}, least=0.0)
        require_bounds(self, {"force_step": "N", "torque_step": "N m"}, least=0.0)

    def check(self, craft: Spacecraft) -> None:
        """Reject a joint that the spacecraft does not have."""
        self.require_known(craft, "joint", (self.joint,), craft.joint_names)

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Units and axes of the measurements."""
        return joint_wrench_channels(craft, self.joint)

    def measure(self, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Measured force [N] and torque [N m]."""
        noise = self.draw(truth, number, 6)
        felt = (1.0 + self.scale_error) * joint_wrench(truth, self.joint) + self.bias
        return {
            f"{self.joint}.force": quantise(linear(felt) + self.force_noise * noise[:3], self.force_step),
            f"{self.joint}.torque": quantise(angular(felt) + self.torque_noise * noise[3:], self.torque_step),
        }
