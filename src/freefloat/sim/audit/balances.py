"""The balances of a run: what must be conserved, the imbalances, and the size of the motion to judge them by.

A spacecraft whose inner motion has the kinetic energy T can hold at most sqrt(2 T m) of linear and sqrt(2 T tr I) of
angular momentum in it. Imbalances are judged against that, so a run with zero total momentum is judged too, and neither
drift nor spinning wheels make anything look small.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from freefloat.values.labelled import LabelledArrays

_EPS = float(np.finfo(float).eps)
_DIGITS = 32.0  # half of what the audit permits: energy goes with the square


@dataclass(frozen=True)
class BalancedQuantity:
    """A quantity that must balance: its name for a reader, and its unit."""

    quantity: str
    unit: str

    @property
    def short(self) -> str:
        """Its name without the rule by which it balances."""
        return self.quantity.removesuffix(": change = work - dissipation")


# Over the run: change since the start = what came in - what went out.
CRAFT_BALANCES = {
    "linear": BalancedQuantity("linear momentum", "N s"),
    "angular": BalancedQuantity("angular momentum about the centre of mass", "N m s"),
    "energy": BalancedQuantity("inner energy: change = work - dissipation", "J"),
}
# At every recorded instant, by its channel: the accelerations that are integrated obey the laws of motion.
AT_EVERY_INSTANT = {
    "open.force": BalancedQuantity("force = rate of linear momentum", "N"),
    "open.torque": BalancedQuantity("torque = rate of angular momentum", "N m"),
    "open.power": BalancedQuantity("power = rate of inner energy", "W"),
}


WORLD_PREFIX = "world."  # prefix of the balances of all spacecraft together
# Connections and contacts, over all spacecraft, only hand momentum over, and lose energy at events.
CONNECTION_BALANCES = {
    "connections.linear": BalancedQuantity("connections: action = reaction, linear", "N s"),
    "connections.angular": BalancedQuantity("connections: action = reaction, about the origin", "N m s"),
    "connections.energy": BalancedQuantity("connections: work = energy lost at events", "J"),
}
INTERACTION_PREFIX = "interactions."  # prefix of the channels of all interactions together
# Steps that contact was too stiff for.
UNFINISHED, COVERED = f"{INTERACTION_PREFIX}unfinished", f"{INTERACTION_PREFIX}covered"
# How much energy they turn over; what begins and ends between two records is in the first.
TURNED_OVER = ("turnover", "stored", "dissipated")
# Interactions between bodies: energy that they take is stored or lost, and their forces cancel.
INTERACTION_BALANCES = {
    "interactions.energy": BalancedQuantity("interactions: work = - stored - dissipated", "J"),
    "interactions.linear": BalancedQuantity("interactions: action = reaction, linear", "N s"),
    "interactions.angular": BalancedQuantity("interactions: action = reaction, angular", "N m s"),
}
LOST = "connections.energy_lost"  # the channel of all spacecraft together


def balanced_quantity(key: str) -> BalancedQuantity:
    """The balanced quantity of a key such as `linear` or `client.energy`, named for a reader."""
    if key in CONNECTION_BALANCES or key in INTERACTION_BALANCES:
        return (CONNECTION_BALANCES | INTERACTION_BALANCES)[key]
    owner, _, name = key.rpartition(".")
    balance = CRAFT_BALANCES[name]
    if key == f"{WORLD_PREFIX}angular":
        balance = BalancedQuantity("angular momentum about the origin", balance.unit)
    return BalancedQuantity(f"{owner}: {balance.quantity}", balance.unit) if owner else balance


def imbalances(
    data: LabelledArrays, prefixes: tuple[str, ...] = ("",), start: LabelledArrays | None = None
) -> dict[str, np.ndarray]:
    """Imbalance of each quantity at every record, relative to the first record, or to a `start` for each record.

    There is one set of balances for each spacecraft, and for several also one of all together.
    """

    def changes(totals_of: Callable[..., dict[str, np.ndarray]]) -> dict[str, np.ndarray]:
        now = totals_of(data, prefixes)
        then = {name: x[:1] for name, x in now.items()} if start is None else totals_of(start, prefixes)
        return {name: x - then[name] for name, x in now.items()}

    found: dict[str, Any] = changes(_conserved_quantities)
    if len(prefixes) > 1:
        found |= {
            WORLD_PREFIX + name: sum(found[prefix + name] for prefix in prefixes) for name in ("linear", "energy")
        }
        found[f"{WORLD_PREFIX}angular"] = sum(changes(_momenta_about_origin).values())
    if LOST in data:
        found |= changes(_connection_totals)
    if f"{INTERACTION_PREFIX}work" in data:
        found |= changes(_interaction_totals)
    return found


def _interaction_totals(data: LabelledArrays, prefixes: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Quantities that are constant if interactions only store, lose and hand on energy and momentum."""
    parts = [data[f"{INTERACTION_PREFIX}{name}"].values for name in ("work", "stored", "dissipated")]
    return {
        "interactions.energy": np.sum(parts, axis=0),
        "interactions.linear": data[f"{INTERACTION_PREFIX}impulse.linear"].values,
        "interactions.angular": data[f"{INTERACTION_PREFIX}impulse.angular"].values,
    }


def _connection_totals(data: LabelledArrays, prefixes: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Quantities that are constant over all spacecraft if connections only hand over energy and momentum."""
    totals = {
        name: np.sum([data[f"{prefix}connections.{name}"].values for prefix in prefixes], axis=0)
        for name in ("impulse.linear", "impulse.angular", "work")
    }
    return {
        "connections.linear": totals["impulse.linear"],
        "connections.angular": totals["impulse.angular"],
        "connections.energy": totals["work"] + data[LOST].values,
    }


def _momenta_about_origin(data: LabelledArrays, prefixes: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Angular momentum less impulse about the inertial origin, which is the same point for all spacecraft [N m s]."""
    return {p: data[f"{p}momentum.angular"].values - data[f"{p}impulse.angular"].values for p in prefixes}


def _conserved_quantities(data: LabelledArrays, prefixes: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Quantities of each spacecraft that are constant if its momentum and energy balance."""
    found = {}
    for p in prefixes:
        found[f"{p}linear"] = data[f"{p}momentum.linear"].values - data[f"{p}impulse.linear"].values
        found[f"{p}angular"] = data[f"{p}momentum.angular_com"].values - data[f"{p}impulse.angular_com"].values
        stored = data[f"{p}energy.inner"].values + data[f"{p}energy.elastic"].values
        found[f"{p}energy"] = stored - data[f"{p}energy.inner_work"].values + data[f"{p}energy.dissipated"].values
    return found


@dataclass(frozen=True)
class Sizes:
    """Size of the motion in each balance, and of the other terms that are rounded in it."""

    size: dict[str, float]
    rounded: dict[str, float]
    at_instants: dict[str, np.ndarray]  # of the terms that cancel in the laws of motion, at every record
    # What the error permitted in a piece of a step with contact makes of momenta and energy; empty without contact.
    of_pieces: dict[str, float] = field(default_factory=dict)


def motion_sizes(data: LabelledArrays, masses: Mapping[str, float]) -> Sizes:
    """Sizes of a run's motion; `masses`: of its spacecraft [kg], by the prefix of their channels."""
    parts = {prefix: _sizes(data, prefix, mass) for prefix, mass in masses.items()}
    kinds = {
        kind: {prefix + name: value for prefix, part in parts.items() for name, value in getattr(part, kind).items()}
        for kind in ("size", "rounded", "at_instants", "of_pieces")
    }
    if len(parts) > 1:
        for kind in ("size", "rounded"):
            kinds[kind] |= {
                WORLD_PREFIX + name: sum(kinds[kind][prefix + name] for prefix in parts) for name in CRAFT_BALANCES
            }
        kinds["size"][f"{WORLD_PREFIX}angular"] += sum(_levers(data, prefix, kinds["size"]) for prefix in parts)
        kinds["rounded"][f"{WORLD_PREFIX}angular"] += sum(_levers(data, prefix, kinds["rounded"]) for prefix in parts)
    if LOST in data:
        kinds["size"] |= _connected_sizes(data, tuple(parts), kinds["size"])
        kinds["rounded"] |= dict.fromkeys(CONNECTION_BALANCES, 0.0) | {
            "connections.angular": sum(_handed_levers(data, prefix) for prefix in parts)
        }
    if f"{INTERACTION_PREFIX}work" in data:
        kinds["size"] |= _interacting_sizes(data, tuple(parts), kinds["size"])
        kinds["rounded"] |= dict.fromkeys(INTERACTION_BALANCES, 0.0)
    return Sizes(**kinds)


def _connected_sizes(data: LabelledArrays, prefixes: tuple[str, ...], size: Mapping[str, float]) -> dict[str, float]:
    """Size of the motion that the balances of connections are compared with."""
    moved = {name: sum(size[prefix + name] for prefix in prefixes) for name in CRAFT_BALANCES}
    handed = {
        name: sum(float(np.max(np.abs(data[f"{prefix}connections.{name}"].values))) for prefix in prefixes)
        for name in ("impulse.angular", "work")
    }
    return {
        "connections.linear": moved["linear"],
        "connections.angular": moved["angular"] + handed["impulse.angular"],
        "connections.energy": moved["energy"] + handed["work"],
    }


def _handed_levers(data: LabelledArrays, prefix: str) -> float:
    """Largest moment of the impulses of connections about the origin, at the farthest point of a spacecraft [N m s].

    Along a line through the origin they cancel: what is left is their rounding.
    """
    handed = np.linalg.norm(data[f"{prefix}connections.impulse.linear"].values, axis=-1)
    away = np.linalg.norm(data[f"{prefix}com.position"].values, axis=-1)
    return float(np.max(handed) * np.max(away + np.linalg.norm(data[f"{prefix}com.from_base"].values, axis=-1)))


def _interacting_sizes(data: LabelledArrays, prefixes: tuple[str, ...], size: Mapping[str, float]) -> dict[str, float]:
    """Sizes of the motion and the energies that the balances of interactions are compared with."""
    handed = sum(float(np.max(np.abs(data[f"{INTERACTION_PREFIX}{name}"].values))) for name in TURNED_OVER)
    moved = {name: sum(size[prefix + name] for prefix in prefixes) for name in CRAFT_BALANCES}
    apart = [data[f"{prefix}com.position"].values - data[f"{prefixes[0]}com.position"].values for prefix in prefixes]
    lever = max(float(np.max(np.linalg.norm(way, axis=-1))) for way in apart)
    lever += max(float(np.max(np.linalg.norm(data[f"{p}com.from_base"].values, axis=-1))) for p in prefixes)
    return {
        "interactions.energy": moved["energy"] + handed,
        "interactions.linear": moved["linear"],
        "interactions.angular": moved["angular"] + lever * moved["linear"],
    }


def _levers(data: LabelledArrays, prefix: str, linear: Mapping[str, float]) -> float:
    """Moment of linear momentum about the origin, at the largest distance of a spacecraft from it [N m s]."""
    farthest = float(np.max(np.linalg.norm(data[f"{prefix}com.position"].values, axis=-1)))
    return farthest * linear[f"{prefix}linear"]


def _sizes(data: LabelledArrays, prefix: str, mass: float) -> Sizes:
    def of(name: str) -> np.ndarray:
        return data[prefix + name].values

    def top(name: str) -> float:
        values = np.abs(of(name))
        return float(np.max(values if values.ndim == 1 else np.linalg.norm(values, axis=-1), initial=0.0))

    inner, inertia = np.abs(of("energy.inner")), of("com.inertia_trace")
    energy, agility = float(np.max(inner)), of("energy.agility")
    stored = float(np.max(of("energy.inner") + of("energy.elastic")))
    connected, between = f"{prefix}connections.work" in data, f"{INTERACTION_PREFIX}work" in data
    handed = (
        [np.max(np.abs(data[f"{INTERACTION_PREFIX}{name}"].values)) for name in TURNED_OVER[:2]] if between else [0.0]
    )
    # Forces of contacts and connections may cancel: what is rounded is each of them, at its lever, and its work.
    lever = float(np.sqrt(np.max(inertia) / mass)) if connected or between else 0.0
    spins = of("wheels.absolute_momentum") if f"{prefix}wheels.absolute_momentum" in data else np.zeros((1, 1))
    least = _least_motion(mass, top("com.inertia_trace"), data["time"].values)
    return Sizes(
        size={
            "linear": np.sqrt(2.0 * energy * mass) + top("impulse.linear"),
            "angular": np.sqrt(2.0 * energy * top("com.inertia_trace")) + top("impulse.angular_com"),
            "energy": stored + top("energy.inner_work"),
        },
        rounded={
            "linear": top("momentum.linear") + least["linear"],
            "angular": float(np.max(np.sum(np.abs(spins), axis=-1)))
            + (top("com.from_base") + lever) * top("impulse.linear")
            + least["angular"],
            "energy": (top("connections.work") if connected else 0.0) + float(sum(handed)) + least["energy"],
        },
        at_instants={
            "open.force": np.sqrt(2.0 * agility * mass) + of("turnover.force"),
            "open.torque": np.sqrt(2.0 * agility * inertia) + 2.0 * inner + of("turnover.torque"),
            "open.power": 2.0 * np.sqrt(agility * inner) + of("turnover.power"),
        },
        of_pieces=_piece_errors(mass, top("com.inertia_trace"), stored) if between else {},
    )


def _piece_errors(mass: float, inertia: float, energy: float) -> dict[str, float]:
    """Momenta and energy that the error permitted in one piece of a step makes, by balance."""
    from freefloat.sim.events.piecewise_steps import PIECE_TOLERANCE  # loads JAX, which a run has loaded

    return {
        "linear": mass * PIECE_TOLERANCE,
        "angular": inertia * PIECE_TOLERANCE,
        "energy": np.sqrt(2.0 * energy * mass) * PIECE_TOLERANCE,
    }


def _least_motion(mass: float, inertia: float, time: np.ndarray) -> dict[str, float]:
    """Size of the rounding in a spacecraft that does not move.

    A turn of one unit in the last place of a radian in the whole run is no motion: a ball in orbit, whose gravity
    torques cancel, turns by far less. Momenta and energy of such a turn, over the rounding of one operation.
    """
    span = float(time[-1] - time[0])
    if span == 0.0:
        return dict.fromkeys(CRAFT_BALANCES, 0.0)
    return {
        "linear": np.sqrt(mass * inertia) / span,
        "angular": inertia / span,
        "energy": _DIGITS * _EPS * inertia / span**2,
    }
