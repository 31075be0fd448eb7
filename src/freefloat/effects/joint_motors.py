"""Motors of joints: limits on the torques that software commands."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.model import Spacecraft
from freefloat.values.arrays import Vector, is_traced
from freefloat.values.channels import Channel, flag

TORQUE_LIMIT = 1.0


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
