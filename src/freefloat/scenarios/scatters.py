"""Which tables of many runs a scenario is compared with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from freefloat.sim.record.description import Guide, Mark, ScatterAxis, ScatterPlot

if TYPE_CHECKING:
    from freefloat.sim import Run
    from freefloat.values.labelled import LabelledArrays


@dataclass(frozen=True)
class Axis:
    """One axis of a scatter: a column of its table."""

    column: str
    label: str  # its unit comes from the table
    limits: tuple[float, float] | None = None  # None: what the points need
    logarithmic: bool = False
    never: float | None = None  # where an infinite value is drawn, called `never`

    def of(self, data: LabelledArrays) -> ScatterAxis:
        """The axis with its numbers."""
        column = data[self.column]
        unit, values = str(column.attrs.get("units", "")), tuple(map(float, column.values))
        return ScatterAxis(self.label, unit, values, self.limits, self.logarithmic, self.never)


@dataclass(frozen=True)
class Scatter:
    """Many runs as points: what a run is compared with when somebody asks whether it is typical.

    The table is a file of `scenarios/ets7/data`, made by the command that its first line names.
    """

    title: str
    table: str
    x: Axis
    y: Axis
    group: str  # column of words; points of one word have one colour
    sentence: Callable[[LabelledArrays], str]  # what the table says, counted
    guides: tuple[Guide, ...] = ()
    marks: Callable[[Run, LabelledArrays], list[Mark]] | None = None  # where a run stands

    def data(self) -> LabelledArrays:
        """The table."""
        from freefloat.scenarios.tables import load

        return load(self.table)

    def words(self) -> str:
        """What the table says, counted from it now."""
        return self.sentence(self.data())

    def plot(self, run: Run | None = None) -> ScatterPlot:
        """The points as plain data, with the place of a run among them."""
        data = self.data()
        return ScatterPlot(
            title=self.title,
            x=self.x.of(data),
            y=self.y.of(data),
            groups=tuple(map(str, data[self.group].values)),
            sentence=self.words(),
            made_by=str(data.attrs["made by"]),
            guides=self.guides,
            marks=tuple(self.marks(run, data)) if self.marks and run is not None else (),
        )
