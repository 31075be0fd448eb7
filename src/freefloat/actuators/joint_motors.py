"""Motors of joints: torques within their limits, or prescribed rates whatever torque they need."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.model import Actuator, Clock, Command, CommandPort, PortCommands, Spacecraft, Truth
from freefloat.values import ModelError, record
from freefloat.values.arrays import Numeric, Vector, is_traced
from freefloat.values.channels import Channel, flag
from freefloat.values.errors import unknown_name

TORQUE_LIMIT = 1.0
TORQUES, RATES = "joints.torque", "joints.rate"


@record
class JointMotors(Actuator):
    """Motors of all joints that move; they accept torques at the joint."""

    def accepts(self, craft: Spacecraft) -> tuple[CommandPort, ...]:
        """The port of the torques."""
        joints = craft.layout.moving_joints
        return (CommandPort(TORQUES, "N m, N", joints, drives=joints, noun="joint"),)

    def check_command(self, craft: Spacecraft, port: CommandPort, command: Command) -> None:
        """Raise an error for joints that cannot be moved."""
        require_driven_joints(craft, command.parts)

    def limited_commands(self, truth: Truth, memory: Any, u: PortCommands, clock: Clock) -> PortCommands:
        """Torques within each joint's `limits.effort`."""
        joints = u.commanded_parts(TORQUES)
        return u.with_numbers(TORQUES, limit_joint_torques(truth.craft, joints, u.commanded_numbers(TORQUES))[0])

    def pushed_frames(self, craft: Spacecraft, parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """No frame: motors act between two bodies."""
        return ()

    def force(self, truth: Truth, memory: Any, u: PortCommands, clock: Clock) -> Vector:
        """Generalised force of the motors."""
        layout = truth.craft.layout
        places = np.array(layout.indices(layout.motor_coordinates(u.commanded_parts(TORQUES))), dtype=int)
        return jnp.zeros(layout.nv).at[places].set(u.commanded_numbers(TORQUES))

    def channel_values(
        self, truth: Truth, memory: Any, u: PortCommands, clock: Clock
    ) -> tuple[tuple[Channel, Numeric], ...]:
        """Torques of the commanded motors, and the limit that each has met."""
        asked, craft = u.commanded_parts(TORQUES), truth.craft
        torques, met = limit_joint_torques(craft, asked, u.commanded_numbers(TORQUES))
        joints = tuple(name for name in craft.layout.moving_joints if name in asked)
        order = np.array([asked.index(name) for name in joints], dtype=int)
        return tuple(zip(joint_motor_channels(craft, joints), (torques[order], met[order]), strict=True))


@record
class RateDrives(Actuator):
    """Drives of all joints that move: a commanded joint takes its rate at once, whatever torque that needs."""

    def accepts(self, craft: Spacecraft) -> tuple[CommandPort, ...]:
        """The port of the rates."""
        joints = craft.layout.moving_joints
        return (CommandPort(RATES, "rad/s, m/s", joints, drives=joints, noun="joint"),)

    def check_command(self, craft: Spacecraft, port: CommandPort, command: Command) -> None:
        """Raise an error for joints that cannot be moved."""
        require_driven_joints(craft, command.parts)

    def prescribes(self, craft: Spacecraft, parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """The joints; of flexible ones their motors."""
        return craft.layout.motor_coordinates(parts[RATES])

    def rates(self, craft: Spacecraft, memory: Any, u: PortCommands, clock: Clock) -> Vector:
        """The commanded rates."""
        return u.commanded_numbers(RATES)


def require_driven_joints(craft: Spacecraft, joints: Iterable[str]) -> None:
    """Raise an error for a joint that the spacecraft does not have, or that has no motion of its own."""
    for joint in joints:
        if joint not in craft.joint_names:
            raise unknown_name(craft.name, "joint", joint, craft.joint_names)
        if not craft.joint(joint).dofs:
            follows = craft.joint(joint).follows
            why = "is fixed" if follows is None else f"follows '{follows.leader}'. Move that one"
            raise ModelError(f"Joint '{joint}' of spacecraft '{craft.name}' cannot be moved: it {why}.")


def limit_joint_torques(craft: Spacecraft, joints: tuple[str, ...], torques: Vector) -> tuple[Vector, Vector]:
    """Torques within each joint's `limits.effort`, and the limit that each has reached."""
    efforts = [craft.joint(name).limits.effort for name in joints]
    if not is_traced(*efforts) and not np.isfinite(np.array(efforts, float)).any():
        return torques, jnp.zeros(len(joints))
    effort = jnp.stack([jnp.asarray(limit, dtype=float) for limit in efforts])
    condition = jnp.where(jnp.abs(torques) > effort, TORQUE_LIMIT, 0.0)
    return jnp.clip(torques, -effort, effort), condition


def joint_motor_channels(craft: Spacecraft, joints: tuple[str, ...]) -> tuple[Channel, Channel]:
    """Channels for torque and condition of each driven joint; joints that do not move are rejected."""
    craft.layout.require_moving(joints)
    return (
        Channel("joints.motor_torque", "Motor torque at the joint", "N m", "", "driven_joint", joints),
        flag("joints.condition", "Joint motors", ("within limits", "torque limit"), "driven_joint", joints),
    )
