"""The books of a run: what must stay the same, by how much it did not, and how large the motion is that it belongs to.

A spacecraft whose inner motion has the kinetic energy T can hold at most sqrt(2 T m) of linear and sqrt(2 T tr I) of
angular momentum in it. Imbalances are judged against that, so a run with zero total momentum is judged too, and neither
drift nor spinning wheels make anything look small.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from freefloat.values.labelled import LabelledArrays

_EPS = float(np.finfo(float).eps)
_DIGITS = 32.0  # half of what the audit permits: energy goes with the square


@dataclass(frozen=True)
class Book:
    """A quantity that must balance, as a reader knows it."""

    quantity: str
    unit: str


# Over the run: change since the start = what came in - what went out.
BOOKS = {
    "linear": Book("linear momentum", "N s"),
    "angular": Book("angular momentum about the centre of mass", "N m s"),
    "energy": Book("inner energy: change = work - dissipation", "J"),
}
# At every recorded instant, by its channel: the accelerations that are integrated obey the laws of motion.
AT_EVERY_INSTANT = {
    "open.force": Book("force = rate of linear momentum", "N"),
    "open.torque": Book("torque = rate of angular momentum", "N m"),
    "open.power": Book("power = rate of inner energy", "W"),
}


WHOLE = "world."  # what the books of all spacecraft together begin with
# What connections and contacts do, over all spacecraft: nothing but hand momentum over, and lose energy at events.
CONNECTED = {
    "connections.linear": Book("connections: action = reaction, linear", "N s"),
    "connections.angular": Book("connections: action = reaction, about the origin", "N m s"),
    "connections.energy": Book("connections: work = energy lost at events", "J"),
}
BETWEEN = "interactions."  # what the channels of all interactions together begin with
UNFINISHED, COVERED = f"{BETWEEN}unfinished", f"{BETWEEN}covered"  # steps that contact was too stiff for
# How much energy they turn over; what begins and ends between two records is in the first.
TURNED_OVER = ("turnover", "stored", "dissipated")
# What interactions between bodies do: energy that they take is stored or lost, and their forces cancel.
INTERACTING = {
    "interactions.energy": Book("interactions: work = - stored - dissipated", "J"),
    "interactions.linear": Book("interactions: action = reaction, linear", "N s"),
    "interactions.angular": Book("interactions: action = reaction, angular", "N m s"),
}
LOST = "connections.energy_lost"  # the channel of all spacecraft together


def book_of(key: str) -> Book:
    """The book behind a key such as `linear` or `client.energy`, named for a reader."""
    if key in CONNECTED or key in INTERACTING:
        return (CONNECTED | INTERACTING)[key]
    owner, _, name = key.rpartition(".")
    book = BOOKS[name]
    if key == f"{WHOLE}angular":
        book = Book("angular momentum about the origin", book.unit)
    return Book(f"{owner}: {book.quantity}", book.unit) if owner else book


def open_ends(
    data: LabelledArrays, prefixes: tuple[str, ...] = ("",), start: LabelledArrays | None = None
) -> dict[str, np.ndarray]:
    """What each book is off by at every record, from that of the first record, or of a start for each record.

    One set of books for each spacecraft; for several also those of all together.
    """
    found = {}
    for prefix in prefixes:
        balances, begun = _balances(data, prefix), None if start is None else _balances(start, prefix)
        for name, values in balances.items():
            found[prefix + name] = values - (values[:1] if begun is None else begun[name])
    if len(prefixes) > 1:
        found |= {WHOLE + name: sum(found[prefix + name] for prefix in prefixes) for name in ("linear", "energy")}
        about_origin = [_about_origin(data, prefix) for prefix in prefixes]
        begun = (
            [values[:1] for values in about_origin] if start is None else [_about_origin(start, p) for p in prefixes]
        )
        found[f"{WHOLE}angular"] = sum(values - first for values, first in zip(about_origin, begun, strict=True))
    if LOST in data:
        now, then = _connected(data, prefixes), None if start is None else _connected(start, prefixes)
        found |= {name: x - (x[:1] if then is None else then[name]) for name, x in now.items()}
    if f"{BETWEEN}work" in data:
        now, then = _interacting(data), None if start is None else _interacting(start)
        found |= {name: x - (x[:1] if then is None else then[name]) for name, x in now.items()}
    return found


def _interacting(data: LabelledArrays) -> dict[str, np.ndarray]:
    """What would be constant if interactions only stored, lost and handed on what they take."""
    parts = [data[f"{BETWEEN}{name}"].values for name in ("work", "stored", "dissipated")]
    return {
        "interactions.energy": np.sum(parts, axis=0),
        "interactions.linear": data[f"{BETWEEN}impulse.linear"].values,
        "interactions.angular": data[f"{BETWEEN}impulse.angular"].values,
    }


def _connected(data: LabelledArrays, prefixes: tuple[str, ...]) -> dict[str, np.ndarray]:
    """What would be constant over all spacecraft if connections only handed over what they take."""
    totals = {
        name: np.sum([data[f"{prefix}connections.{name}"].values for prefix in prefixes], axis=0)
        for name in ("impulse.linear", "impulse.angular", "work")
    }
    return {
        "connections.linear": totals["impulse.linear"],
        "connections.angular": totals["impulse.angular"],
        "connections.energy": totals["work"] + data[LOST].values,
    }


def _about_origin(data: LabelledArrays, prefix: str) -> np.ndarray:
    """Angular momentum less impulse about the inertial origin, which is the same point for all."""
    return data[f"{prefix}momentum.angular"].values - data[f"{prefix}impulse.angular"].values


def _balances(data: LabelledArrays, prefix: str) -> dict[str, np.ndarray]:
    """What would be constant in each book if all were well."""
    return {
        "linear": data[f"{prefix}momentum.linear"].values - data[f"{prefix}impulse.linear"].values,
        "angular": data[f"{prefix}momentum.angular_com"].values - data[f"{prefix}impulse.angular_com"].values,
        "energy": data[f"{prefix}energy.inner"].values
        + data[f"{prefix}energy.elastic"].values
        - data[f"{prefix}energy.inner_work"].values
        + data[f"{prefix}energy.dissipated"].values,
    }


@dataclass(frozen=True)
class Sizes:
    """How large the motion is in the terms of each book, and what else is rounded in it without being part of it."""

    size: dict[str, float]
    rounded: dict[str, float]
    at_instants: dict[str, np.ndarray]  # of the terms that cancel in the laws of motion, at every record


def sizes(data: LabelledArrays, masses: Mapping[str, float]) -> Sizes:
    """Of a run; the masses [kg] of its spacecraft by the prefix of their channels."""
    parts = {prefix: _sizes(data, prefix, mass) for prefix, mass in masses.items()}
    kinds = {
        kind: {prefix + name: value for prefix, part in parts.items() for name, value in getattr(part, kind).items()}
        for kind in ("size", "rounded", "at_instants")
    }
    if len(parts) > 1:
        for kind in ("size", "rounded"):
            kinds[kind] |= {WHOLE + name: sum(kinds[kind][prefix + name] for prefix in parts) for name in BOOKS}
        kinds["size"][f"{WHOLE}angular"] += sum(_levers(data, prefix, kinds["size"]) for prefix in parts)
        kinds["rounded"][f"{WHOLE}angular"] += sum(_levers(data, prefix, kinds["rounded"]) for prefix in parts)
    if LOST in data:
        kinds["size"] |= _connected_sizes(data, tuple(parts), kinds["size"])
        kinds["rounded"] |= dict.fromkeys(CONNECTED, 0.0) | {
            "connections.angular": sum(_handed_levers(data, prefix) for prefix in parts)
        }
    if f"{BETWEEN}work" in data:
        kinds["size"] |= _interacting_sizes(data, tuple(parts), kinds["size"])
        kinds["rounded"] |= dict.fromkeys(INTERACTING, 0.0)
    return Sizes(**kinds)


def _connected_sizes(data: LabelledArrays, prefixes: tuple[str, ...], size: Mapping[str, float]) -> dict[str, float]:
    """How large the motion is against which connections are judged."""
    moved = {name: sum(size[prefix + name] for prefix in prefixes) for name in BOOKS}
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
    """What the impulses of connections make about the origin, each at the farthest point of a spacecraft [N m s].

    Along a line through the origin they cancel: what is left is their rounding.
    """
    handed = np.linalg.norm(data[f"{prefix}connections.impulse.linear"].values, axis=-1)
    away = np.linalg.norm(data[f"{prefix}com.position"].values, axis=-1)
    return float(np.max(handed) * np.max(away + np.linalg.norm(data[f"{prefix}com.from_base"].values, axis=-1)))


def _interacting_sizes(data: LabelledArrays, prefixes: tuple[str, ...], size: Mapping[str, float]) -> dict[str, float]:
    """How large the motion and the energies are against which interactions are judged."""
    handed = sum(float(np.max(np.abs(data[f"{BETWEEN}{name}"].values))) for name in TURNED_OVER)
    moved = {name: sum(size[prefix + name] for prefix in prefixes) for name in BOOKS}
    apart = [data[f"{prefix}com.position"].values - data[f"{prefixes[0]}com.position"].values for prefix in prefixes]
    lever = max(float(np.max(np.linalg.norm(way, axis=-1))) for way in apart)
    lever += max(float(np.max(np.linalg.norm(data[f"{p}com.from_base"].values, axis=-1))) for p in prefixes)
    return {
        "interactions.energy": moved["energy"] + handed,
        "interactions.linear": moved["linear"],
        "interactions.angular": moved["angular"] + lever * moved["linear"],
    }


def _levers(data: LabelledArrays, prefix: str, linear: Mapping[str, float]) -> float:
    """What linear momentum makes about the origin, at the farthest that a spacecraft is from it [N m s]."""
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
    connected, between = f"{prefix}connections.work" in data, f"{BETWEEN}work" in data
    handed = [np.max(np.abs(data[f"{BETWEEN}{name}"].values)) for name in TURNED_OVER[:2]] if between else [0.0]
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
    )


def _least_motion(mass: float, inertia: float, time: np.ndarray) -> dict[str, float]:
    """What is rounded even in a spacecraft that does not move.

    A turn of one unit in the last place of a radian in the whole run is no motion: a ball in orbit, whose gravity
    torques cancel, turns by far less. Momenta and energy of such a turn, over the rounding of one operation.
    """
    span = float(time[-1] - time[0])
    if span == 0.0:
        return dict.fromkeys(BOOKS, 0.0)
    return {
        "linear": np.sqrt(mass * inertia) / span,
        "angular": inertia / span,
        "energy": _DIGITS * _EPS * inertia / span**2,
    }
