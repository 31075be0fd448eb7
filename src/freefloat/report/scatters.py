"""Is this run typical? The scatters that it brings along, with the run among the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.report.markup import Markup, element
from freefloat.report.payload import Bytes
from freefloat.sim.record.description import Mark, ScatterAxis, ScatterPlot

if TYPE_CHECKING:
    from freefloat.report.sections import Sheet

_MARGIN = 0.05  # of the range, beside the outermost points


@dataclass(frozen=True)
class Side:
    """One axis as it is drawn: the place of every point, what is written there, and from where to where it goes."""

    axis: ScatterAxis
    values: np.ndarray  # infinite where it never happened
    limits: tuple[float, float]

    @property
    def label(self) -> str:
        """`capture, case 1 [s]`."""
        return f"{self.axis.label} [{self.axis.unit}]" if self.axis.unit else self.axis.label

    @property
    def places(self) -> np.ndarray:
        """Where the points are drawn."""
        return self.placed(self.values)

    def placed(self, values: np.ndarray) -> np.ndarray:
        """Infinite values stand at their own place, what is beyond the axis at its end."""
        values = np.where(np.isposinf(values), np.nan if self.axis.never is None else self.axis.never, values)
        return np.clip(values, *self.limits)

    @property
    def beyond(self) -> np.ndarray:
        """Which points are drawn at an end because the axis does not reach them."""
        return np.isfinite(self.values) & (self.places != self.values)


def side(axis: ScatterAxis) -> Side:
    """An axis of a scatter with its numbers."""
    values = np.asarray(axis.values, dtype=float)
    return Side(axis, values, axis.limits or _limits(values, axis))


def _limits(values: np.ndarray, axis: ScatterAxis) -> tuple[float, float]:
    """From the smallest to the largest value and a little beyond, with the place of what never happened."""
    good = np.append(values[np.isfinite(values)], [] if axis.never is None else axis.never)
    good = np.log10(good[good > 0.0]) if axis.logarithmic else good
    low, high = (float(good.min()), float(good.max())) if good.size else (0.0, 1.0)
    margin = _MARGIN * (high - low) or 1.0
    low, high = low - margin, high + margin
    return (10.0**low, 10.0**high) if axis.logarithmic else (low, high)


def beyond(x: Side, y: Side) -> str:
    """How many points do not stand where they belong, in words; nothing where all do."""
    count = int(np.sum(x.beyond | y.beyond))
    if not count:
        return ""
    return f"{count} of {x.values.size} points lie beyond the axes and are drawn at their ends."


def scatters_of(sheets: Sequence[Sheet]) -> list[ScatterPlot]:
    """Every scatter that a run brings along, once, with the places of all runs of the page."""
    found: dict[ScatterPlot, list[Mark]] = {}
    for sheet in sheets:
        for scatter in sheet.run.description.scatters:
            marks = found.setdefault(replace(scatter, marks=()), [])
            marks += [replace(m, label=m.label.replace("this run", sheet.name or "this run")) for m in scatter.marks]
    return [replace(scatter, marks=tuple(dict.fromkeys(marks))) for scatter, marks in found.items()]


def section(sheets: Sequence[Sheet]) -> Markup:
    """A card for each scatter with its sentence; nothing where there is none. The script draws the points."""
    found = scatters_of(sheets)
    if not found:
        return Markup("")
    told = [sheet.run.description for sheet in sheets]
    notes = dict.fromkeys(note for one in told if one.scatters for note in one.notes)
    cards = [_card(number, scatter) for number, scatter in enumerate(found)]
    return element(
        "section",
        element("h2", "Is this run typical?"),
        *(element("p", note, class_="about") for note in notes),
        element("div", *cards, class_="scatters"),
        id="scatters",
    )


def _card(number: int, scatter: ScatterPlot) -> Markup:
    remarks = [beyond(side(scatter.x), side(scatter.y)), f"Made by: {scatter.made_by}"]
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


def scatter_contents(sheets: Sequence[Sheet], store: Bytes) -> list[dict[str, Any]]:
    """The points of each scatter by groups, and where the runs of the page stand among them."""
    return [_contents(scatter, store) for scatter in scatters_of(sheets)]


def _contents(scatter: ScatterPlot, store: Bytes) -> dict[str, Any]:
    x, y = side(scatter.x), side(scatter.y)
    words = np.array(scatter.groups)
    groups = []
    for word in dict.fromkeys(scatter.groups):
        own = words == word
        numbers = {name: store.put(s.values[own], "f8") for name, s in (("x", x), ("y", y))}
        places = {f"{name}Place": store.put(s.places[own], "f8") for name, s in (("x", x), ("y", y))}
        groups.append({"name": word, "count": int(own.sum()), **numbers, **places})
    groups.sort(key=lambda group: -group["count"])  # the few are drawn over the many
    return {
        "x": _axis(x),
        "y": _axis(y),
        "groups": groups,
        "guides": [{"slope": guide.slope, "label": guide.label} for guide in scatter.guides],
        "marks": [_mark(mark, x, y) for mark in scatter.marks if _drawable(mark, x, y)],
    }


def _axis(s: Side) -> dict[str, Any]:
    return {
        "label": s.label,
        "unit": s.axis.unit,
        "logarithmic": s.axis.logarithmic,
        "limits": list(s.limits),
        "never": s.axis.never,
    }


def _drawable(mark: Mark, x: Side, y: Side) -> bool:
    places = [s.placed(np.array(value)) for value, s in ((mark.x, x), (mark.y, y)) if value is not None]
    return bool(places) and bool(np.all(np.isfinite(places)))


def _mark(mark: Mark, x: Side, y: Side) -> dict[str, Any]:
    """A mark where it is drawn, and its numbers in words."""
    words = [_words(value, s.axis.unit) for value, s in ((mark.x, x), (mark.y, y)) if value is not None]
    places = [None if v is None else float(s.placed(np.array(v))) for v, s in ((mark.x, x), (mark.y, y))]
    return {"label": f"{mark.label}: {', '.join(words)}", "x": places[0], "y": places[1]}


def _words(value: float, unit: str) -> str:
    return f"{value:.4g} {unit}".strip() if math.isfinite(value) else "never"
