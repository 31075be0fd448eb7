"""How far a run is off because of its step: the short list, events, and every channel folded away."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from freefloat.report.markup import Markup, element, joined, table
from freefloat.report.sections import Sheet, named, named_heading
from freefloat.sim.audit.accuracy import worst_shifts

if TYPE_CHECKING:
    from freefloat.sim.audit.accuracy import ChannelError

_HEADINGS = ("quantity", "accurate to", "worst at", "where")


def accuracy(sheets: Sequence[Sheet]) -> Markup:
    """What the channels are accurate to, as far as the step goes."""
    short = [[*named(sheets, sheet), *row] for sheet in sheets for row in _short(sheet)]
    every = [
        [*named(sheets, sheet), *_row(name, error)]
        for sheet in sheets
        for name, error in sheet.run.accuracy.channels.items()
    ]
    headings, numbers = [*named_heading(sheets), *_HEADINGS], tuple(len(named_heading(sheets)) + k for k in (1, 2))
    parts = [table(headings, short, numbers=numbers)] if short else []
    said = dict.fromkeys(words for s in sheets for words in (*s.run.accuracy.remarks, s.run.accuracy.reason))
    parts += [element("p", words, class_="note") for words in said]
    if every:
        folded = table(headings, every, numbers=numbers)
        parts.append(element("details", element("summary", "Every channel"), folded))
    return joined(parts)


def _short(sheet: Sheet) -> list[list[object]]:
    found = sheet.run.accuracy
    rows = [_row(label, found.channels[name]) for label, name in found.headline.items() if name in found.channels]
    return rows + [[event.label, *_split(str(event)), "instant"] for event in worst_shifts(found.events)]


def _split(event: str) -> tuple[str, str]:
    """`... at 3.2 s to 0.1 ms` as the accuracy and the time."""
    time, shift = event.rsplit(" at ", 1)[1].split(" to ")
    return shift, time


def _row(label: str, error: ChannelError) -> list[object]:
    return [label, error.size, f"{error.at:g} s", error.component]
