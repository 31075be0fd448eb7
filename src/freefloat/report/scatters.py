"""Scatter plots of a run: is it typical among many others?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.report.markup import Markup, element, headed_section
from freefloat.report.payload import ArrayStore
from freefloat.sim.record.description import Mark, ScatterAxis, ScatterPlot

if TYPE_CHECKING:
    from freefloat.report.sections import Sheet

_MARGIN = 0.05  # of the range, beside the outermost points


@dataclass(frozen=True)
class PlotAxis:
    """One axis of a scatter plot: the value of every point, the label and the limits."""

    axis: ScatterAxis
    values: np.ndarray  # infinite if the event never happened
    limits: tuple[float, float]

    @property
    def label(self) -> str:
        """Label with unit, such as `capture, case 1 [s]`."""
        return f"{self.axis.label} [{self.axis.unit}]" if self.axis.unit else self.axis.label

    @property
    def places(self) -> np.ndarray:
        """Positions at which the points are drawn."""
        return self.axis_positions(self.values)

    def axis_positions(self, values: np.ndarray) -> np.ndarray:
        """Positions at which values are drawn: infinite ones at their own place, those beyond a limit at the limit."""
        values = np.where(np.isposinf(values), np.nan if self.axis.never is None else self.axis.never, values)
        return np.clip(values, *self.limits)

    @property
    def beyond(self) -> np.ndarray:
        """Which points are drawn at an end of the axis because they lie beyond its limits."""
        return np.isfinite(self.values) & (self.places != self.values)


def plot_axis(axis: ScatterAxis) -> PlotAxis:
    """An axis of a scatter with its numbers."""
    values = np.asarray(axis.values, dtype=float)
    return PlotAxis(axis, values, axis.limits or _limits(values, axis))


def _limits(values: np.ndarray, axis: ScatterAxis) -> tuple[float, float]:
    """Limits of an axis: the smallest and the largest value with a margin, and the place of infinite values."""
    good = np.append(values[np.isfinite(values)], [] if axis.never is None else axis.never)
    good = np.log10(good[good > 0.0]) if axis.logarithmic else good
    low, high = (float(good.min()), float(good.max())) if good.size else (0.0, 1.0)
    margin = _MARGIN * (high - low) or 1.0
    low, high = low - margin, high + margin
    return (10.0**low, 10.0**high) if axis.logarithmic else (low, high)


def beyond_sentence(x: PlotAxis, y: PlotAxis) -> str:
    """Sentence on the number of points beyond the axes; empty if there are none."""
    count = int(np.sum(x.beyond | y.beyond))
    if not count:
        return ""
    return f"{count} of {x.values.size} points lie beyond the axes and are drawn at their ends."


def scatters_of(sheets: Sequence[Sheet]) -> list[ScatterPlot]:
    """All different scatters of the runs, with marks for all runs of the page."""
    marks_of: dict[ScatterPlot, list[Mark]] = {}
    for sheet in sheets:
        for scatter in sheet.run.description.scatters:
            marks = marks_of.setdefault(replace(scatter, marks=()), [])
            marks += [replace(m, label=m.label.replace("this run", sheet.name or "this run")) for m in scatter.marks]
    return [replace(scatter, marks=tuple(dict.fromkeys(marks))) for scatter, marks in marks_of.items()]


def section(sheets: Sequence[Sheet]) -> Markup:
    """Section with a card for each scatter; empty if there is none. The script of the page draws the points."""
    scatters = scatters_of(sheets)
    if not scatters:
        return Markup("")
    descriptions = [sheet.run.description for sheet in sheets]
    notes = dict.fromkeys(note for description in descriptions if description.scatters for note in description.notes)
    cards = [_card(number, scatter) for number, scatter in enumerate(scatters)]
    about = (element("p", note, class_="about") for note in notes)
    return headed_section("scatters", "Is this run typical?", *about, element("div", *cards, class_="scatters"))


def _card(number: int, scatter: ScatterPlot) -> Markup:
    remarks = [beyond_sentence(plot_axis(scatter.x), plot_axis(scatter.y)), f"Made by: {scatter.made_by}"]
    return element(
        "article",
        element("h3", scatter.title),
        element("div", class_="stage"),
        element("ul"),
        element("p", "Point at a run to read its numbers.", class_="reading"),
        element("p", scatter.sentence),
        element("p", " ".join(filter(None, remarks)), class_="note"),
        class_="card scatter",
        data_scatter=str(number),
    )


def scatter_contents(sheets: Sequence[Sheet], store: ArrayStore) -> list[dict[str, Any]]:
    """Data of each scatter for the script: its points by groups, and marks for the runs of the page."""
    return [_contents(scatter, store) for scatter in scatters_of(sheets)]


def _contents(scatter: ScatterPlot, store: ArrayStore) -> dict[str, Any]:
    x, y = plot_axis(scatter.x), plot_axis(scatter.y)
    words = np.array(scatter.groups)
    groups = []
    for word in dict.fromkeys(scatter.groups):
        own = words == word
        numbers = {name: store.add_array(s.values[own], "f8") for name, s in (("x", x), ("y", y))}
        places = {f"{name}Place": store.add_array(s.places[own], "f8") for name, s in (("x", x), ("y", y))}
        groups.append({"name": word, "count": int(own.sum()), **numbers, **places})
    groups.sort(key=lambda group: -group["count"])  # small groups are drawn over large ones
    return {
        "x": _axis(x),
        "y": _axis(y),
        "groups": groups,
        "guides": [{"slope": guide.slope, "label": guide.label} for guide in scatter.guides],
        "marks": [_mark(mark, x, y) for mark in scatter.marks if _drawable(mark, x, y)],
    }


def _axis(s: PlotAxis) -> dict[str, Any]:
    return {
        "label": s.label,
        "unit": s.axis.unit,
        "logarithmic": s.axis.logarithmic,
        "limits": list(s.limits),
        "never": s.axis.never,
    }


def _drawable(mark: Mark, x: PlotAxis, y: PlotAxis) -> bool:
    places = [s.axis_positions(np.array(value)) for value, s in ((mark.x, x), (mark.y, y)) if value is not None]
    return bool(places) and bool(np.all(np.isfinite(places)))


def _mark(mark: Mark, x: PlotAxis, y: PlotAxis) -> dict[str, Any]:
    """Data of a mark: its position, and a label with its numbers."""
    words = [_words(value, s.axis.unit) for value, s in ((mark.x, x), (mark.y, y)) if value is not None]
    places = [None if v is None else float(s.axis_positions(np.array(v))) for v, s in ((mark.x, x), (mark.y, y))]
    return {"label": f"{mark.label}: {', '.join(words)}", "x": places[0], "y": places[1]}


def _words(value: float, unit: str) -> str:
    return f"{value:.4g} {unit}".strip() if math.isfinite(value) else "never"
