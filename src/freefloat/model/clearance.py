"""Clearance: the pairs of bodies whose distances are watched, and how close they may come."""

from __future__ import annotations

from typing import Any

from freefloat.model.part_kinds import Part
from freefloat.values import record, static
from freefloat.values.arrays import Numeric
from freefloat.values.checks import require_number
from freefloat.values.errors import ModelError

Pairs = tuple[tuple[str, str], ...]


@record
class Clearance(Part):
    """Distances between pairs of bodies, by their shapes, in the channel `clearance`.

    Pairs name bodies, in a world of several spacecraft as `client.base`. Without pairs they are chosen: all bodies with
    shapes, except pairs on one joint, pairs that do not move against each other, pairs that touch at the start, and
    pairs in `ignore`. With a `limit`, coming that close is an event and, with `stop`, the end of the run.
    Boxes, balls, capsules and cylinders (as capsules that contain them) are exact in every step. Other solids are
    measured by `coal`, in the record only, or, with `simple`, not at all.
    """

    pairs: Pairs = static(default=())
    ignore: Pairs = static(default=())
    limit: Numeric | float | None = None  # [m]
    stop: bool = static(default=False)
    simple: bool = static(default=False)  # leave out solids that only coal can measure: views, horns, meshes

    def __post_init__(self) -> None:
        for field in ("pairs", "ignore"):
            object.__setattr__(self, field, _require_pairs(f"Clearance.{field}", getattr(self, field)))
        if self.limit is not None:
            require_number("Clearance.limit", self.limit, "m", least=0.0)
        for field in ("stop", "simple"):
            if not isinstance(getattr(self, field), bool):
                raise ModelError(f"Clearance.{field} must be True or False, got {getattr(self, field)!r}.")
        if self.stop and self.limit is None:
            raise ModelError("Clearance: it stops at a limit, and none is given. Say limit=0.0 [m] for touching.")
        if self.pairs and self.ignore:
            raise ModelError("Clearance: `ignore` takes pairs out of those that are chosen. Leave it out with `pairs`.")

    @property
    def channel(self) -> str:
        """Name of the channel of distances."""
        return self.channel_name("clearance")


def _require_pairs(what: str, pairs: Any) -> Pairs:
    example = f"{what} is pairs of bodies, such as (('hand', 'base'),)"
    if isinstance(pairs, str) or not all(isinstance(pair, (tuple, list)) for pair in pairs):
        raise ModelError(f"{example}, got {pairs!r}.")
    for pair in pairs:
        if len(pair) != 2 or not all(isinstance(name, str) for name in pair):
            raise ModelError(f"{example}, got {pair!r}.")
        if pair[0] == pair[1]:
            raise ModelError(f"{example}, got '{pair[0]}' with itself.")
    return tuple((a, b) for a, b in pairs)
