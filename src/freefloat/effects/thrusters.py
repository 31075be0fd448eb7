"""Thrusters: where they sit, how a wanted wrench is shared among them, and how they burn in pulses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.model import Spacecraft
from freefloat.model.physical_checks import unit_axis
from freefloat.model.ports import Clock, Part
from freefloat.spatial.rotations import cross
from freefloat.values import record, static
from freefloat.values.arrays import ArrayLike, Matrix, Numeric, Vec6, Vector
from freefloat.values.channels import Channel
from freefloat.values.checks import require_array, require_bounds, require_quantity, set_fields
from freefloat.values.errors import require_name

STANDARD_GRAVITY = 9.80665  # [m/s2]


@record
class Thruster:
    """One nozzle on the base."""

    name: str = static()
    position: ArrayLike  # (3,) in base axes [m]
    direction: ArrayLike  # (3,) of the force on the base, base axes; it becomes a unit vector
    thrust: Numeric | float  # [N]
    shortest_pulse: Numeric | float = 0.02  # [s]

    def __post_init__(self) -> None:
        owner = f"Thruster '{self.name}'"
        set_fields(
            self,
            position=require_array(f"{owner}: position", self.position, "m", (3,), "x, y, z"),
            direction=unit_axis(f"{owner}: direction", self.direction),
            thrust=require_quantity(f"{owner}: thrust", self.thrust, "N", above=0.0),
            shortest_pulse=require_quantity(f"{owner}: shortest_pulse", self.shortest_pulse, "s", least=0.0),
        )

    def wrench(self) -> Vec6:
        """On the base when it burns, about the base origin, base axes."""
        force = self.thrust * jnp.asarray(self.direction)
        return jnp.concatenate([force, cross(jnp.asarray(self.position), force)])


@record
class Pulses:
    """What the valves remember."""

    debt: Vector  # impulse asked for and not yet given, of each thruster [N s]
    burning: Vector  # 1 while open
    opened_at: Vector  # [s]
    propellant: Numeric  # used so far [kg]


@record
class Thrusters(Part):
    """A set of on-off thrusters with pulse modulation: each opens once its debt is worth a shortest pulse."""

    nozzles: tuple[Thruster, ...]
    mixing: Matrix  # (thrusters, 12): burn for each unit of +wrench, then of -wrench; never negative
    specific_impulse: Numeric | float = 220.0  # [s]
    name: str = static(default="thrusters", kw_only=True)  # what commands and channels call the set
    period: float | None = static(default=None, kw_only=True)  # between two ticks of the valves [s]; None: every tick

    def __post_init__(self) -> None:
        require_name("Thrusters", self.name)
        require_bounds(self, {"specific_impulse": "s"}, above=0.0)
        require_bounds(self, {} if self.period is None else {"period": "s"}, above=0.0)

    @staticmethod
    def from_nozzles(nozzles: Sequence[Thruster], specific_impulse: float = 220.0, **fields: Any) -> Thrusters:
        """Find how each of the twelve unit wrenches is made best; an error names those that cannot be made.

        More fields of the set, such as `name` and `period`, may follow.
        """
        from scipy.optimize import nnls

        if not nozzles:
            raise ValueError("Thrusters.from_nozzles needs at least one thruster; torque_pairs makes twelve.")
        B = np.stack([np.asarray(n.wrench()) for n in nozzles], axis=1)
        columns, missing = [], []
        for k in range(12):
            unit = np.eye(6)[k % 6] * (1.0 if k < 6 else -1.0)
            burn, left = nnls(B, unit)
            if left > 1e-9:
                burn = np.zeros(len(nozzles))
                missing.append(f"{'+-'[k // 6]}{('Fx', 'Fy', 'Fz', 'Tx', 'Ty', 'Tz')[k % 6]}")
            columns.append(burn)
        if any("T" in name for name in missing):
            raise ValueError(
                f"These thrusters cannot make the torque {', '.join(n for n in missing if 'T' in n)} without a force. "
                "Place pairs that push in opposite directions on opposite sides."
            )
        return Thrusters(tuple(nozzles), np.stack(columns, axis=1), specific_impulse, **fields)

    @property
    def thrust(self) -> Vector:
        """Of each [N]."""
        return jnp.stack([jnp.asarray(n.thrust, dtype=float) for n in self.nozzles])

    def allocate(self, wrench: Vec6) -> Vector:
        """Share of the time that each thruster has to burn for a mean wrench on the base; at most all of it."""
        wanted = jnp.concatenate([jnp.maximum(wrench, 0.0), jnp.maximum(-wrench, 0.0)])
        duty = self.mixing @ wanted
        return duty / jnp.maximum(jnp.max(duty), 1.0)

    # ---- valves

    def begin(self) -> Pulses:
        """All valves closed."""
        n = len(self.nozzles)
        return Pulses(np.zeros(n), np.zeros(n), np.full(n, -1e9), np.zeros(()))

    def actuate(self, pulses: Pulses, duty: Vector, clock: Clock, open_anyway: Vector) -> Pulses:
        """Open and close valves now, for the time that they are held; counts the propellant of that time.

        A thruster with `open_anyway` 1 is stuck: it burns whatever is asked. When nothing is asked of any thruster,
        the work is over, and debts that are left are forgotten.
        """
        t, hold, stuck = clock.t, clock.hold, open_anyway > 0.0
        duty = jnp.clip(duty, 0.0, 1.0)
        shortest = jnp.stack([jnp.asarray(n.shortest_pulse, dtype=float) for n in self.nozzles])
        debt = pulses.debt + duty * self.thrust * hold
        may_close = t - pulses.opened_at >= shortest - 1e-9
        least = self.thrust * jnp.maximum(shortest, hold)
        stays = (pulses.burning > 0.0) & (~may_close | (debt >= self.thrust * hold * (1.0 - 1e-9)))
        opens = (pulses.burning == 0.0) & (debt >= least * (1.0 - 1e-9))
        burning = jnp.where(stays | opens | stuck, 1.0, 0.0)
        given = burning * self.thrust * hold
        used = jnp.sum(given) / (self.specific_impulse * STANDARD_GRAVITY)
        left = jnp.where(stuck | ~jnp.any(duty > 0.0), 0.0, debt - given)
        return Pulses(left, burning, jnp.where(opens, t, pulses.opened_at), pulses.propellant + used)

    def force(self, craft: Spacecraft, pulses: Pulses) -> Vector:
        """Generalised force of the open thrusters."""
        return jnp.zeros(craft.layout.nv).at[:6].set(self.wrench(pulses.burning))

    def wrench(self, burning: Vector) -> Vec6:
        """Of the open thrusters on the base, base axes."""
        return jnp.stack([n.wrench() for n in self.nozzles], axis=1) @ burning

    def channels(self) -> tuple[Channel, ...]:
        """Valves and propellant."""
        nozzles = tuple(n.name for n in self.nozzles)
        return (
            Channel(self.tells("burning"), "Thrusters that burn", "1", "", self.tells("nozzle"), nozzles),
            Channel(self.tells("propellant"), "Propellant used", "kg"),
        )

    def observe(self, pulses: Pulses) -> tuple[Numeric, ...]:
        """Valves and propellant."""
        return pulses.burning, pulses.propellant


def torque_pairs(arm: float, thrust: float, shortest_pulse: float = 0.02) -> tuple[Thruster, ...]:
    """Twelve thrusters in six pairs, one pair for each direction of torque, each `arm` from the axis [m]."""
    found = []
    for axis in range(3):
        across, push = np.eye(3)[(axis + 1) % 3], np.eye(3)[(axis + 2) % 3]
        for sign in (1.0, -1.0):
            for side in (1.0, -1.0):
                name = f"{'xyz'[axis]}{'+' if sign > 0 else '-'}{'ab'[side < 0]}"
                found.append(
                    Thruster(
                        name=name,
                        position=side * arm * across,
                        direction=side * sign * push,
                        thrust=thrust,
                        shortest_pulse=shortest_pulse,
                    )
                )
    return tuple(found)
