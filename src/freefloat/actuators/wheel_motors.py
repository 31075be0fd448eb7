"""Motors of reaction wheels: limits on the torques that software commands."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.model import Actuator, Clock, CommandPort, PortCommands, Spacecraft, State, Truth
from freefloat.values import record
from freefloat.values.arrays import Numeric, Vector, is_traced
from freefloat.values.channels import Channel, flag
from freefloat.values.errors import unknown_name

TORQUES = "wheels.torque"
TORQUE_LIMIT, MOMENTUM_LIMIT = 1.0, 2.0
_LIMITED = 1e-9  # relative distance from a wheel's largest torque at which it counts as reached
_FULL = 1e-10  # relative distance from its largest momentum at which that counts as reached


@record
class WheelMotors(Actuator):
    """Motors of all reaction wheels; they accept torques on the wheels."""

    def accepts(self, craft: Spacecraft) -> tuple[CommandPort, ...]:
        """The port of the torques."""
        wheels = craft.layout.wheels
        return (CommandPort(TORQUES, "N m", wheels, drives=wheels, noun="wheel"),)

    def limited_commands(self, truth: Truth, memory: Any, u: PortCommands, clock: Clock) -> PortCommands:
        """Torques within each wheel's limits."""
        return u.with_numbers(TORQUES, limited_port_torques(truth, u, TORQUES)[0])

    def pushed_frames(self, craft: Spacecraft, parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """No frame: motors act between two bodies."""
        return ()

    def force(self, truth: Truth, memory: Any, u: PortCommands, clock: Clock) -> Vector:
        """Generalised force of the motors."""
        layout = truth.craft.layout
        places = np.array(layout.indices(u.commanded_parts(TORQUES)), dtype=int)
        return jnp.zeros(layout.nv).at[places].set(u.commanded_numbers(TORQUES))

    def channel_values(
        self, truth: Truth, memory: Any, u: PortCommands, clock: Clock
    ) -> tuple[tuple[Channel, Numeric], ...]:
        """The limit that each commanded wheel has met."""
        asked, met = u.commanded_parts(TORQUES), limited_port_torques(truth, u, TORQUES)[1]
        wheels = tuple(name for name in truth.craft.wheel_names if name in asked)
        order = np.array([asked.index(name) for name in wheels], dtype=int)
        return ((wheel_channel(truth.craft, wheels), met[order]),)


def limited_port_torques(truth: Truth, u: PortCommands, name: str) -> tuple[Vector, Vector]:
    """Commanded torques of a port that drives wheels, within their limits; and the limit that each has met.

    For any actuator that drives wheels: it knows when a wheel becomes full within a step.
    """
    port = u.port(name)
    wheels = tuple(port.drives[port.parts.index(part)] for part in u.commanded_parts(name))
    return limit_torques_now(truth, wheels, u.commanded_numbers(name))


def limit_torques_now(truth: Truth, wheels: tuple[str, ...], torques: Vector) -> tuple[Vector, Vector]:
    """Torques within the limits of wheels, and the limit that each has met; `truth` knows which wheels are full."""
    if not wheels:
        return torques, jnp.zeros(0)
    full = truth.full_wheels(wheels) if truth.full_wheels is not None else None
    return limit_wheel_torques(truth.craft, truth.state, wheels, torques, full)


def limit_wheel_torques(
    craft: Spacecraft, state: State, wheels: tuple[str, ...], torques: Vector, full: Vector | None = None
) -> tuple[Vector, Vector]:
    """Torques within each wheel's `max_torque`, zero beyond its `max_momentum`; and the limit that each has reached.

    `full`: which wheels are full, +1 or -1 with the sense of the spin, else 0, where that is held over a segment of a
    step; by default it is as the state has it. A full wheel can only be slowed down.
    """
    limit = _wheel_values(craft, wheels, "max_torque")
    limited = jnp.clip(torques, -limit, limit) if may_be_finite(limit) else torques
    spinning_up = (full_wheels(craft, state, wheels) if full is None else full) * limited > 0.0
    at_limit = jnp.abs(torques) > limit * (1.0 + _LIMITED)
    condition = jnp.where(spinning_up, MOMENTUM_LIMIT, jnp.where(at_limit, TORQUE_LIMIT, 0.0))
    return jnp.where(spinning_up, 0.0, limited), condition


def full_wheels(craft: Spacecraft, state: State, wheels: tuple[str, ...]) -> Vector:
    """Wheels that spin with their largest momentum: +1 or -1 with the sense of the spin, else 0."""
    capacity = _wheel_values(craft, wheels, "max_momentum")
    if not may_be_finite(capacity):
        return jnp.zeros(len(wheels))
    spin = spin_momentum(craft, state, wheels)
    return jnp.where(jnp.abs(spin) >= capacity * (1.0 - _FULL), jnp.sign(spin), 0.0)


def spin_momentum(craft: Spacecraft, state: State, wheels: tuple[str, ...]) -> Vector:
    """Momentum of each wheel's spin relative to the body that carries it [N m s]."""
    speeds = jnp.asarray(state.v)[np.array(craft.layout.indices(wheels), dtype=int)]
    return _wheel_values(craft, wheels, "inertia") * speeds


def momentum_capacity(craft: Spacecraft, wheels: tuple[str, ...]) -> Vector:
    """Largest momentum of each wheel's spin [N m s]."""
    return jnp.asarray(_wheel_values(craft, wheels, "max_momentum"))


def may_be_finite(limits: Numeric) -> bool:
    """Whether any limit is finite, or is traced and may become finite."""
    return is_traced(limits) or bool(np.any(np.isfinite(limits)))


def wheel_channel(craft: Spacecraft, wheels: tuple[str, ...]) -> Channel:
    """Channel with the condition of each driven wheel; unknown wheels are rejected."""
    _wheel_indices(craft, wheels)
    meanings = ("within limits", "torque limit", "momentum limit")
    return flag("wheels.condition", "Reaction wheels", meanings, "driven_wheel", wheels)


def _wheel_values(craft: Spacecraft, wheels: tuple[str, ...], field: str) -> Numeric:
    """One field of each wheel; an array of NumPy where none is traced."""
    found = [getattr(craft.wheels[k], field) for k in _wheel_indices(craft, wheels)]
    stack = jnp.stack if is_traced(*found) else np.stack
    return stack([jnp.asarray(x, float) if is_traced(x) else np.asarray(x, float) for x in found])


def _wheel_indices(craft: Spacecraft, wheels: tuple[str, ...]) -> list[int]:
    for name in wheels:
        if name not in craft.wheel_names:
            raise unknown_name(craft.name, "wheel", name, craft.wheel_names)
    return [craft.wheel_names.index(name) for name in wheels]
