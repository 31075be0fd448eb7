"""Description of a run for its readers: it is stored in the run, so that a page needs nothing else."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(frozen=True)
class Figure:
    """One plot of one channel, over time."""

    channel: str
    unit: str = ""  # to show it in, where it is not the usual one: "mm" for a small error
    title: str = ""  # where it is not the channel's own label


@dataclass(frozen=True)
class Guide:
    """A straight line through the origin that helps to read a scatter: y = slope x."""

    slope: float
    label: str


@dataclass(frozen=True)
class Mark:
    """A single point on a scatter plot; a line if one of the two numbers is None."""

    label: str
    x: float | None
    y: float | None


@dataclass(frozen=True)
class ScatterAxis:
    """One number of each of many runs, along an axis of a scatter plot."""

    label: str
    unit: str
    values: tuple[float, ...]  # infinite where it never happened
    limits: tuple[float, float] | None = None  # None: what the points need
    logarithmic: bool = False
    never: float | None = None  # where an infinite value is drawn, called `never`


@dataclass(frozen=True)
class ScatterPlot:
    """Many runs as points, with this run among them, to show whether it is typical."""

    title: str
    x: ScatterAxis
    y: ScatterAxis
    groups: tuple[str, ...]  # a word for each point; points of one word have one colour
    sentence: str  # what the points say, counted
    made_by: str  # command
    guides: tuple[Guide, ...] = ()
    marks: tuple[Mark, ...] = ()


@dataclass(frozen=True)
class FactTable:
    """A table that a driver adds to the page of a run: what a facility did, for example."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Description:
    """Texts, figures and settings of a run as plain data."""

    title: str = ""
    summary: str = ""  # what the experiment is
    source: str = ""  # where it was published
    notes: tuple[str, ...] = ()  # what a reader of the result must know
    outcome: str = ""  # what it came to; nothing where its numbers say it all
    figures: tuple[Figure, ...] = ()  # the plots that a page opens first; none: the usual ones
    scatters: tuple[ScatterPlot, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)  # of the settings, by dotted path
    parts: tuple[Mapping[str, Any], ...] = ()  # each part with its settings: `sim.part_description`
    start: Mapping[str, Any] = field(default_factory=dict)
    limits: Mapping[str, Any] = field(default_factory=dict)  # of joints and wheels
    tables: tuple[FactTable, ...] = ()  # that a driver adds

    def as_dict(self) -> dict[str, Any]:
        """The description as plain data for files; a number that is not finite becomes text, as JSON cannot hold it."""
        return _json_ready(asdict(self))

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Description:
        """The description from plain data; a KeyError or TypeError if it is not complete."""
        data = {**data, "parts": data["parts"] if "parts" in data else map(_part_of_today, data["laws"])}
        data.pop("laws", None)
        return Description(
            **{
                **data,
                "notes": tuple(data["notes"]),
                "figures": tuple(Figure(**figure) for figure in data["figures"]),
                "scatters": tuple(map(_scatter, data["scatters"])),
                "tables": tuple(map(_table, data.get("tables", ()))),
                "parts": tuple(data["parts"]),
            }
        )


def _part_of_today(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A part from an entry of format 2, in which all parts were called laws."""
    return {"part": entry["law"], "kind": "law", **{name: value for name, value in entry.items() if name != "law"}}


def _json_ready(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _json_ready(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [_json_ready(entry) for entry in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _scatter(data: Mapping[str, Any]) -> ScatterPlot:
    return ScatterPlot(
        **{
            **data,
            "x": _axis(data["x"]),
            "y": _axis(data["y"]),
            "groups": tuple(data["groups"]),
            "guides": tuple(Guide(**guide) for guide in data["guides"]),
            "marks": tuple(Mark(mark["label"], _number(mark["x"]), _number(mark["y"])) for mark in data["marks"]),
        }
    )


def _table(data: Mapping[str, Any]) -> FactTable:
    rows = tuple(tuple(map(str, row)) for row in data["rows"])
    return FactTable(str(data["title"]), tuple(map(str, data["headings"])), rows, str(data.get("note", "")))


def _axis(data: Mapping[str, Any]) -> ScatterAxis:
    values, limits = tuple(map(float, data["values"])), data["limits"]
    return ScatterAxis(**{**data, "values": values, "limits": None if limits is None else tuple(limits)})


def _number(value: Any) -> float | None:
    return None if value is None else float(value)
