"""Scatter plots: tables of many runs with which a run of a scenario is compared."""

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
    limits: tuple[float, float] | None = None  # None: chosen to show all points
    logarithmic: bool = False
    never: float | None = None  # where an infinite value is drawn, called `never`

    def of(self, data: LabelledArrays) -> ScatterAxis:
        """Axis of a plot with the values of its column."""
        column = data[self.column]
        unit, values = str(column.attrs.get("units", "")), tuple(map(float, column.values))
        return ScatterAxis(self.label, unit, values, self.limits, self.logarithmic, self.never)


@dataclass(frozen=True)
class Scatter:
    """Many runs as points of a plot, which shows whether a run is typical.

    The table is a file of `scenarios/ets7/data`, made by the command that its first line names.
    """

    title: str
    table: str
    x: Axis
    y: Axis
    group: str  # column of group names; points of one group have one colour
    sentence: Callable[[LabelledArrays], str]  # makes a sentence with the counts of the table
    guides: tuple[Guide, ...] = ()
    marks: Callable[[Run, LabelledArrays], list[Mark]] | None = None  # place of a run in the plot

    def data(self) -> LabelledArrays:
        """Table of the runs."""
        from freefloat.scenarios.tables import load_table

        return load_table(self.table)

    def words(self) -> str:
        """Sentence with the counts of the table."""
        return self.sentence(self.data())

    def plot(self, run: Run | None = None) -> ScatterPlot:
        """Plot as plain data, with the place of a run among the points."""
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
