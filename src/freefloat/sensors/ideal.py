"""The ideal sensor: reports true values, without delay and without error, under the names of the run's channels."""

from __future__ import annotations

from collections.abc import Iterable

import jax.numpy as jnp

from freefloat.dynamics.elastic import flexible_bodies
from freefloat.model import Spacecraft, State
from freefloat.model.part_kinds import Part, Truth
from freefloat.model.quantity import Quantity
from freefloat.model.world import World
from freefloat.sensors.quantities import QUANTITIES, ROWS
from freefloat.sensors.quantity_lookup import acts_on, find_quantity
from freefloat.values import SoftwareError, record, static
from freefloat.values.arrays import Flag, Numeric, Scalar


@record
class Ideal(Part):
    """True values in place of sensors: for every name that no other sensor measures, or for some names only."""

    names: tuple[str, ...] = static(default=())  # none: every name


def true_value(truth: Truth, name: str) -> Numeric:
    """True value under a name, as a part on its own spacecraft uses it: `base.rate`, `client.ring.position`."""
    found = find_quantity(truth.world, truth.quantities, name, truth.own)
    if found is None:
        number, _ = truth.world.locate(name, truth.own)
        listed = measurable_text(truth.world, number, truth.quantities)
        raise SoftwareError(f"'{name}' is nothing that can be measured. {listed}")
    return found.quantity.value(truth.on_craft(found.number), found.channel.name)


def measurable_text(world: World, number: int = 0, added: Iterable[Quantity] = ()) -> str:
    """Sentence that lists what can be measured on a spacecraft of a world, with the quantities added there."""
    craft, added = world.crafts[number], tuple(added)
    names = [row.word for row in ROWS if row.owners is None]
    names += [f"{body.name}.{kind}" for body in flexible_bodies(craft) for kind in ("modes", "modal_rates")]
    names += [channel.name for quantity in (*QUANTITIES, *added) for channel in quantity.world_channels(world)]
    here = [quantity for quantity in added if acts_on(quantity, world, number)]
    names += [channel.name for quantity in here for channel in quantity.channels(craft)]
    return (
        f"Measurements of spacecraft '{craft.name}': {', '.join(names)}; and position, attitude, "
        f"velocity and rate of each frame, such as '{craft.frame_names[-1]}.position' "
        f"(frames: {', '.join(craft.frame_names)})."
    )


class IdealMeasurements:
    """Every quantity that can be measured, as it truly is: input of software where no other sensors are given."""

    def __init__(self, truth: Truth, t: Scalar | float = 0.0) -> None:
        self._truth, self._t = truth, t

    @staticmethod
    def of(craft: Spacecraft, state: State, t: Scalar | float = 0.0) -> IdealMeasurements:
        """Measurements of one spacecraft, to try software on a state: `pilot.command(pilot.begin(y), y, clock)`."""
        return IdealMeasurements(Truth(World.of(craft), (state,)), t)

    def __getitem__(self, name: str) -> Numeric:
        return true_value(self._truth, name)

    def valid(self, name: str) -> Flag:
        """Whether the name has a value: always true here."""
        return jnp.asarray(True)

    def taken(self, name: str) -> Scalar:
        """Time of measurement [s]: always now."""
        return jnp.asarray(self._t)
