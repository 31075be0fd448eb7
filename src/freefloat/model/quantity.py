"""Quantities: what can be measured and recorded. A new one is a class in one file, also in a user's.

A quantity names its channels, with units and axes, and gives their values. Ideal sensors, the channels of a run, the
contracts of software outside and rates along the motion read that one record.
"""

from __future__ import annotations

from freefloat.model.part_kinds import Measurements, Part, Truth
from freefloat.model.spacecraft import Spacecraft
from freefloat.model.world import World
from freefloat.values import record
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.channels import Channel


@record
class Quantity(Part):
    """Something that can be measured. Subclasses write `channels` and `value`, for one name or for a family of names.

    Given to a run as a part it is a channel of the run, and software reads it by its name. With `rate` software that
    prescribes joint rates continuously may read it, too; so it may with `rate_from_forces`, unless the base is held.
    """

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """What can be measured on a spacecraft; names are without that of the spacecraft."""
        return ()

    def world_channels(self, world: World) -> tuple[Channel, ...]:
        """What can be measured in a world and belongs to no single spacecraft, such as whether a connection holds."""
        return ()

    def value(self, truth: Truth, name: str) -> Numeric:
        """Value under one of its names, on the spacecraft `truth.craft`."""
        raise NotImplementedError

    def rate(self, y: Measurements, name: str) -> Numeric | None:
        """Rate of the value along the motion, from measurements on the same spacecraft."""
        return None

    def rate_from_forces(self, truth: Truth, force: Vector, name: str) -> Numeric | None:
        """Rate of a conserved value under the generalised force (nv) on its spacecraft."""
        return None

    # ---- what is asked about it

    def has(self, craft: Spacecraft, name: str) -> bool:
        """Whether a spacecraft has a quantity of that name."""
        return any(channel.name == name for channel in self.channels(craft))

    def channel(self, craft: Spacecraft, name: str) -> Channel:
        """The channel of that name, which the spacecraft has."""
        return next(channel for channel in self.channels(craft) if channel.name == name)

    def contract_unit(self, craft: Spacecraft, name: str) -> str:
        """Unit in the contract of software outside."""
        return self.channel(craft, name).unit

    @property
    def is_of_world(self) -> bool:
        """Whether it belongs to the whole world, not to one spacecraft."""
        return type(self).world_channels is not Quantity.world_channels

    def has_rate(self, name: str) -> bool:
        """Whether `rate` knows the rate under that name."""
        return type(self).rate is not Quantity.rate

    def is_conserved(self, name: str) -> bool:
        """Whether `rate_from_forces` knows the rate under that name."""
        return type(self).rate_from_forces is not Quantity.rate_from_forces
