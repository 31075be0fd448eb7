"""The books of a run: what must stay the same, by how much it did not, and how large the motion is that it belongs to.

A spacecraft whose inner motion has the kinetic energy T can hold at most sqrt(2 T m) of linear and sqrt(2 T tr I) of
angular momentum in it. Imbalances are judged against that, so a run with zero total momentum is judged too, and neither
drift nor spinning wheels make anything look small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray


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


def open_ends(data: xarray.Dataset, start: xarray.Dataset | None = None) -> dict[str, np.ndarray]:
    """What each book is off by at every record, from that of the first record, or of a start for each record."""

    def change(values: np.ndarray, first: np.ndarray | None) -> np.ndarray:
        return values - (values[:1] if first is None else first)

    found, begun = _balances(data), None if start is None else _balances(start)
    return {name: change(values, None if begun is None else begun[name]) for name, values in found.items()}


def _balances(data: xarray.Dataset) -> dict[str, np.ndarray]:
    """What would be constant in each book if all were well."""
    return {
        "linear": data["momentum.linear"].values - data["impulse.linear"].values,
        "angular": data["momentum.angular_com"].values - data["impulse.angular_com"].values,
        "energy": data["energy.inner"].values
        + data["energy.elastic"].values
        - data["energy.inner_work"].values
        + data["energy.dissipated"].values,
    }


@dataclass(frozen=True)
class Sizes:
    """How large the motion is in the terms of each book, and what else is rounded in it without being part of it."""

    size: dict[str, float]
    rounded: dict[str, float]
    at_instants: dict[str, np.ndarray]  # of the terms that cancel in the laws of motion, at every record


def sizes(data: xarray.Dataset, mass: float) -> Sizes:
    """Of a run; `mass` is the whole spacecraft's [kg]."""

    def top(name: str) -> float:
        values = np.abs(data[name].values)
        return float(np.max(values if values.ndim == 1 else np.linalg.norm(values, axis=-1), initial=0.0))

    inner, inertia = np.abs(data["energy.inner"].values), data["com.inertia_trace"].values
    energy, agility = float(np.max(inner)), data["energy.agility"].values
    stored = float(np.max(data["energy.inner"].values + data["energy.elastic"].values))
    spins = data["wheels.absolute_momentum"].values if "wheels.absolute_momentum" in data else np.zeros((1, 1))
    return Sizes(
        size={
            "linear": np.sqrt(2.0 * energy * mass) + top("impulse.linear"),
            "angular": np.sqrt(2.0 * energy * top("com.inertia_trace")) + top("impulse.angular_com"),
            "energy": stored + top("energy.inner_work"),
        },
        rounded={
            "linear": top("momentum.linear"),
            "angular": float(np.max(np.sum(np.abs(spins), axis=-1))) + top("com.from_base") * top("impulse.linear"),
            "energy": 0.0,
        },
        at_instants={
            "open.force": np.sqrt(2.0 * agility * mass) + data["turnover.force"].values,
            "open.torque": np.sqrt(2.0 * agility * inertia) + 2.0 * inner + data["turnover.torque"].values,
            "open.power": 2.0 * np.sqrt(agility * inner) + data["turnover.power"].values,
        },
    )
