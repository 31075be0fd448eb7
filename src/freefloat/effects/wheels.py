"""Motors of reaction wheels: what is left of the torques that software asks for."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import wheel_momentum
from freefloat.model import Spacecraft, State
from freefloat.values.arrays import Vector
from freefloat.values.channels import Channel, flag
from freefloat.values.errors import unknown_name

TORQUE_LIMIT, MOMENTUM_LIMIT = 1.0, 2.0
_LIMITED = 1e-9  # relative distance from a wheel's limit at which it counts as reached


def limit_wheel_torques(
    craft: Spacecraft, state: State, wheels: tuple[str, ...], torques: Vector
) -> tuple[Vector, Vector]:
    """Torques within each wheel's `max_torque`, none beyond its `max_momentum`; and which limit each has reached."""
    numbers = _numbers(craft, wheels)
    limit = jnp.stack([jnp.asarray(craft.wheels[k].max_torque, dtype=float) for k in numbers])
    capacity = jnp.stack([jnp.asarray(craft.wheels[k].max_momentum, dtype=float) for k in numbers])
    spin = wheel_momentum(craft, state.q, state.v)[np.array(numbers)]
    limited = jnp.clip(torques, -limit, limit)
    # A full wheel can only be slowed down.
    full = (jnp.abs(spin) >= capacity) & (spin * limited > 0.0)
    at_limit = jnp.abs(torques) > limit * (1.0 + _LIMITED)
    condition = jnp.where(full, MOMENTUM_LIMIT, jnp.where(at_limit, TORQUE_LIMIT, 0.0))
    return jnp.where(full, 0.0, limited), condition


def wheel_channel(craft: Spacecraft, wheels: tuple[str, ...]) -> Channel:
    """Condition of each driven wheel; unknown wheels are refused."""
    _numbers(craft, wheels)
    meanings = ("within limits", "torque limit", "momentum limit")
    return flag("wheels.condition", "Reaction wheels", meanings, "driven_wheel", wheels)


def _numbers(craft: Spacecraft, wheels: tuple[str, ...]) -> list[int]:
    for name in wheels:
        if name not in craft.wheel_names:
            raise unknown_name(craft.name, "wheel", name, craft.wheel_names)
    return [craft.wheel_names.index(name) for name in wheels]
