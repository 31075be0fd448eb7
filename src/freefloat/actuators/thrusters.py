"""Thrusters: their places, the allocation of a commanded wrench to them, and their pulses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.model import Actuator, Clock, CommandPort, PortCommands, Spacecraft, Truth
from freefloat.model.physical_checks import unit_axis
from freefloat.spatial.rotations import cross
from freefloat.values import record, static
from freefloat.values.arrays import ArrayLike, Matrix, Numeric, Scalar, Vec6, Vector
from freefloat.values.channels import Channel
from freefloat.values.checks import require_array, require_bounds, require_quantity, set_fields
from freefloat.values.errors import require_name

DUTY = "thrusters.duty"  # port of any set of thrusters
STANDARD_GRAVITY = 9.80665  # [m/s2]
_NEVER = -1e9  # [s], before any run
_ROUNDING = 1e-9  # relative, and [s]: a hold is a rounded sum of ticks


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
        """Wrench on the base while the thruster burns, about the base origin, base axes [N, N m]."""
        force = self.thrust * jnp.asarray(self.direction)
        return jnp.concatenate([force, cross(jnp.asarray(self.position), force)])


@record
class ValveState:
    """State of the valves between ticks."""

    debt: Vector  # impulse commanded and not yet given, of each thruster [N s]
    burning: Vector  # share of the hold in which each burns, from its beginning on; 1: still open at its end
    opened_at: Vector  # [s]
    closes_at: Vector  # end of the burn in the present hold [s]
    propellant: Numeric  # used by the end of the hold [kg]

    def open_at(self, t: Scalar) -> Vector:
        """Flag of each thruster: 1 where it burns at a time of the hold, else 0."""
        return jnp.where((self.burning >= 1.0) | (t < self.closes_at), 1.0, 0.0)

    def closing_instants(self) -> Vector:
        """Time at which each valve closes inside the hold [s]; a time long past for the others."""
        return jnp.where(self.burning < 1.0, self.closes_at, _NEVER)


@record
class Thrusters(Actuator):
    """On-off thrusters with pulse-width modulation: each opens once the impulse owed is worth a shortest pulse."""

    nozzles: tuple[Thruster, ...]
    mixing: Matrix  # (thrusters, 12): burn for each unit of +wrench, then of -wrench; never negative
    specific_impulse: Numeric | float = 220.0  # [s]
    name: str = static(default="thrusters", kw_only=True)  # what commands and channels call the set

    def __post_init__(self) -> None:
        require_name("Thrusters", self.name)
        require_bounds(self, {"specific_impulse": "s"}, above=0.0)
        require_bounds(self, {} if self.period is None else {"period": "s"}, above=0.0)

    @staticmethod
    def from_nozzles(nozzles: Sequence[Thruster], specific_impulse: float = 220.0, **fields: Any) -> Thrusters:
        """Thrusters whose mixing makes each of the twelve unit wrenches best; an error names those that are impossible.

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
        """Thrust of each thruster [N]."""
        return jnp.stack([jnp.asarray(n.thrust, dtype=float) for n in self.nozzles])

    def allocate(self, wrench: Vec6) -> Vector:
        """Share of the time that each thruster has to burn for a mean wrench on the base; at most all of it."""
        wanted = jnp.concatenate([jnp.maximum(wrench, 0.0), jnp.maximum(-wrench, 0.0)])
        duty = self.mixing @ wanted
        return duty / jnp.maximum(jnp.max(duty), 1.0)

    # ---- as an actuator

    @property
    def port(self) -> str:
        """Name of the port that takes the duties."""
        return f"{self.name}.duty"

    def accepts(self, craft: Spacecraft) -> tuple[CommandPort, ...]:
        """The port of the duties: the share of the time that each thruster shall burn."""
        nozzles = tuple(nozzle.name for nozzle in self.nozzles)
        return (CommandPort(self.port, "1", nozzles, noun="thruster", kind=DUTY),)

    def begin(self, craft: Spacecraft) -> ValveState:
        """State with all valves closed."""
        n = len(self.nozzles)
        return ValveState(np.zeros(n), np.zeros(n), np.full(n, _NEVER), np.full(n, _NEVER), np.zeros(()))

    def actuate(self, truth: Truth, memory: ValveState, u: PortCommands, clock: Clock) -> ValveState:
        """Valves after a tick."""
        return self.move_valves(memory, u[self.port], clock, jnp.zeros(len(self.nozzles)))

    def pushed_frames(self, craft: Spacecraft, parts: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
        """The base."""
        return ("base",)

    def force(self, truth: Truth, memory: ValveState, u: PortCommands, clock: Clock) -> Vector:
        """Generalised force of the thrusters that are open."""
        return jnp.zeros(truth.craft.layout.nv).at[:6].set(self.wrench(memory.open_at(clock.t)))

    def instants(self, memory: ValveState) -> tuple[Numeric, ...]:
        """Times at which valves close."""
        return (memory.closing_instants(),)

    # ---- valves

    def move_valves(self, pulses: ValveState, duty: Vector, clock: Clock, open_anyway: Vector) -> ValveState:
        """Open valves now, set when each closes within the hold, and add up the propellant.

        A valve opens once a shortest pulse is owed, and stays open while its shortest pulse is not over, or a shortest
        pulse or a whole hold is owed. It then burns for as long as what is owed takes, to the end of the hold at most.
        A thruster with `open_anyway` 1 is stuck open: it burns whatever is commanded. When no thruster is commanded,
        impulses that are still owed are dropped.
        """
        t, hold, stuck = clock.t, clock.hold, open_anyway > 0.0
        duty = jnp.clip(duty, 0.0, 1.0)
        shortest = jnp.stack([jnp.asarray(n.shortest_pulse, dtype=float) for n in self.nozzles])
        debt = pulses.debt + duty * self.thrust * hold
        owed, was_open = debt / self.thrust * (1.0 + _ROUNDING), pulses.burning >= 1.0
        opens = ~was_open & (owed >= shortest) & (debt > 0.0)
        opened_at = jnp.where(opens, t, pulses.opened_at)
        unfinished = opened_at + shortest - t  # of the shortest pulse
        stays = was_open & ((unfinished > _ROUNDING) | (owed >= jnp.minimum(shortest, hold)))
        burn = jnp.clip(jnp.maximum(debt / self.thrust, unfinished), 0.0, hold)
        burn = jnp.where(stuck | (burn >= hold * (1.0 - _ROUNDING)), hold, burn)
        burn = jnp.where(stays | opens | stuck, burn, 0.0)
        left = jnp.where(stuck | ~jnp.any(duty > 0.0), 0.0, debt - self.thrust * burn)
        closes_at = jnp.where(burn > 0.0, t + burn, _NEVER)
        return ValveState(left, burn / hold, opened_at, closes_at, pulses.propellant + self.propellant_mass(burn))

    def propellant_mass(self, burn: Vector) -> Scalar:
        """Propellant for burns of these lengths [kg]."""
        return jnp.sum(self.thrust * burn) / (self.specific_impulse * STANDARD_GRAVITY)

    def wrench(self, burning: Vector) -> Vec6:
        """Wrench of the open thrusters on the base, base axes [N, N m]."""
        return jnp.stack([n.wrench() for n in self.nozzles], axis=1) @ burning

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Channels for the valves and the propellant."""
        nozzles = tuple(n.name for n in self.nozzles)
        return (
            Channel(
                self.channel_name("burning"),
                "Share of the time in which thrusters burn",
                "1",
                "",
                self.channel_name("nozzle"),
                nozzles,
            ),
            Channel(self.channel_name("propellant"), "Propellant used", "kg"),
        )

    def observe(self, truth: Truth, memory: ValveState, u: PortCommands, clock: Clock) -> tuple[Numeric, ...]:
        """Values of the channels: the valves, and the propellant used by a time of the hold [kg]."""
        ahead = memory.closes_at - clock.t
        return memory.burning, memory.propellant - self.propellant_mass(jnp.where(ahead > _ROUNDING, ahead, 0.0))


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
