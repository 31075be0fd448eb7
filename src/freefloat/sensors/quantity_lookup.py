"""Quantities by name: those of the library and those that a user has added."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from freefloat.model.part_kinds import Measurements
from freefloat.model.quantity import Quantity
from freefloat.model.world import World
from freefloat.sensors.quantities import QUANTITIES, ROWS
from freefloat.sensors.quantity_row import QuantityRow
from freefloat.values import ModelError
from freefloat.values.arrays import Numeric
from freefloat.values.channels import Channel


@dataclass(frozen=True)
class NamedQuantity:
    """A quantity that has a name, and on which spacecraft."""

    quantity: Quantity
    channel: Channel
    number: int  # of the spacecraft; that of the part that asks, for what belongs to the whole world


def find_quantity(world: World, added: Iterable[Quantity], name: str, own: int = 0) -> NamedQuantity | None:
    """The quantity of a name as a part on spacecraft `own` uses it, of the library or added; None if there is none."""
    number, rest = world.locate(name, own)
    craft = world.crafts[number]
    for quantity in (*QUANTITIES, *(other for other in added if acts_on(other, world, number))):
        if quantity.has(craft, rest):
            return NamedQuantity(quantity, quantity.channel(craft, rest), number)
    for quantity in (*QUANTITIES, *added):
        for channel in quantity.world_channels(world):
            if channel.name == name:
                return NamedQuantity(quantity, channel, own)
    return None


def acts_on(quantity: Quantity, world: World, number: int) -> bool:
    """Whether an added quantity is one of spacecraft `number`."""
    return not quantity.is_of_world and world.index(quantity.on) == number


def row_called(name: str) -> QuantityRow | None:
    """The row of the library's table that a name belongs to by its last words; for software, which has no world."""
    return next((row for row in ROWS if row.is_called(name)), None)


def measured_rate(y: Measurements, name: str) -> Numeric | None:
    """Rate of a measured quantity along the motion, from measured velocities; None where that is not known."""
    row = row_called(name)
    return None if row is None else row.rate(y, name)


def require_new_names(world: World, added: Sequence[Quantity]) -> None:
    """Raise an error for added quantities with a name that is taken."""
    for place, quantity in enumerate(added):
        number = 0 if quantity.is_of_world else world.index(quantity.on)
        own = () if quantity.is_of_world else quantity.channels(world.crafts[number])
        for channel in (*own, *quantity.world_channels(world)):
            taken = find_quantity(world, added[:place], channel.name, number)
            if taken is not None:
                raise ModelError(
                    f"{quantity.title}: '{channel.name}' is measured already, by {taken.quantity.title}. Give the "
                    "quantity a name of its own."
                )
