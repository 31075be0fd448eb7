"""Which figures a scenario is judged by: the plots that a reader of the paper would look for first."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import xarray

    from freefloat.sim import Run


@dataclass(frozen=True)
class Figure:
    """One plot of one channel, over time."""

    channel: str
    unit: str = ""  # to show it in, where it is not the usual one: "mm" for a small error
    title: str = ""  # where it is not the channel's own label


@dataclass(frozen=True)
class Axis:
    """One axis of a scatter: a column of its table."""

    column: str
    label: str  # its unit comes from the table
    limits: tuple[float, float] | None = None  # None: what the points need
    logarithmic: bool = False
    never: float | None = None  # where an infinite value is drawn, called `never`


@dataclass(frozen=True)
class Guide:
    """A straight line through the origin that helps to read a scatter: y = slope x."""

    slope: float
    label: str


@dataclass(frozen=True)
class Mark:
    """A single place on a scatter; a line where one of the two numbers does not belong to it."""

    label: str
    x: float | None
    y: float | None


@dataclass(frozen=True)
class Scatter:
    """Many runs as points: what a run is compared with when somebody asks whether it is typical.

    The table is a file of `scenarios/data`, made by the command that its first line names.
    """

    title: str
    table: str
    x: Axis
    y: Axis
    group: str  # column of words; points of one word have one colour
    sentence: Callable[[xarray.Dataset], str]  # what the table says, counted
    guides: tuple[Guide, ...] = ()
    marks: Callable[[Run, xarray.Dataset], list[Mark]] | None = None  # where this run stands

    def data(self) -> xarray.Dataset:
        """The table."""
        from freefloat.scenarios.tables import load

        return load(self.table)

    def words(self) -> str:
        """What the table says, counted from it now."""
        return self.sentence(self.data())
