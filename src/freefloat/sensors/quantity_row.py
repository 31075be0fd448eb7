"""A row of the library's table of quantities: see `quantities`."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from freefloat.model import Spacecraft, State
from freefloat.model.part_kinds import Measurements, Truth
from freefloat.model.quantity import Quantity
from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.channels import Channel

ValueOf = Callable[[Spacecraft, State, str], Numeric]
RateAlongMotion = Callable[[Measurements, str], Numeric]
RateFromForces = Callable[[Spacecraft, State, Vector], Numeric]


@record
class QuantityRow(Quantity):
    """A row of the table: one quantity of a spacecraft or, with `owners`, one of each frame or flexible body."""

    word: str = static()  # its name, or the last word of it after that of the owner
    unit: str = static()  # in contracts, which do not depend on what kinds of joints a spacecraft has
    channel_of: Callable[[Spacecraft, str], Channel] = static()  # by name
    value_of: ValueOf = static()  # by owner
    owners: Callable[[Spacecraft], Iterable[str]] | None = static(default=None)
    along: RateAlongMotion | None = static(default=None)  # by name
    by_forces: RateFromForces | None = static(default=None)

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Channel of the row, or of each owner."""
        names = [self.word] if self.owners is None else [f"{owner}.{self.word}" for owner in self.owners(craft)]
        return tuple(self.channel_of(craft, name) for name in names)

    def has(self, craft: Spacecraft, name: str) -> bool:
        """Whether a spacecraft has a quantity of that name."""
        if self.owners is None:
            return name == self.word
        owner, _, word = name.rpartition(".")
        return word == self.word and owner in self.owners(craft)

    def is_called(self, name: str) -> bool:
        """Whether a name is of this row by its last words, whatever spacecraft or frame it begins with."""
        return name == self.word or name.endswith(f".{self.word}")

    def channel(self, craft: Spacecraft, name: str) -> Channel:
        """The channel of that name."""
        return self.channel_of(craft, name)

    def contract_unit(self, craft: Spacecraft, name: str) -> str:
        """Unit in a contract: that of joints of both kinds, for any joints."""
        return self.unit

    def value(self, truth: Truth, name: str) -> Numeric:
        """True value under a name."""
        return self.value_of(truth.craft, truth.state, name.rpartition(".")[0])

    def rate(self, y: Measurements, name: str) -> Numeric | None:
        """Rate along the motion."""
        return None if self.along is None else self.along(y, name)

    def rate_from_forces(self, truth: Truth, force: Vector, name: str) -> Numeric | None:
        """Rate of a conserved quantity."""
        return None if self.by_forces is None else self.by_forces(truth.craft, truth.state, force)

    def has_rate(self, name: str) -> bool:
        """Whether its rate is known from measurements."""
        return self.along is not None

    def is_conserved(self, name: str) -> bool:
        """Whether only forces from outside change it."""
        return self.by_forces is not None
