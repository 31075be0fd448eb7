"""Section on the accuracy of a run, as far as its step limits it: short list, events, and every channel (folded)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from freefloat.report.markup import Markup, element, join_markup
from freefloat.report.sections import Sheet, runs_table
from freefloat.sim.audit.accuracy import worst_shifts

if TYPE_CHECKING:
    from freefloat.sim.audit.accuracy import ChannelError

_HEADINGS = ("quantity", "accurate to", "worst at", "where")


def accuracy(sheets: Sequence[Sheet]) -> Markup:
    """Tables of the accuracy of the channels, as far as the step limits it."""
    short = [(sheet, row) for sheet in sheets for row in _headline_rows(sheet)]
    every = [(sheet, _row(*channel)) for sheet in sheets for channel in sheet.run.accuracy.channels.items()]
    parts = [runs_table(sheets, _HEADINGS, short, numbers=(1, 2))] if short else []
    remarks = dict.fromkeys(words for s in sheets for words in (*s.run.accuracy.remarks, s.run.accuracy.reason))
    parts += [element("p", words, class_="note") for words in remarks]
    if every:
        folded = runs_table(sheets, _HEADINGS, every, numbers=(1, 2))
        parts.append(element("details", element("summary", "Every channel"), folded))
    return join_markup(parts)


def _headline_rows(sheet: Sheet) -> list[list[object]]:
    measured = sheet.run.accuracy
    channels = measured.channels
    rows = [_row(label, channels[name]) for label, name in measured.headline.items() if name in channels]
    return rows + [[event.label, *_accuracy_and_time(str(event)), "instant"] for event in worst_shifts(measured.events)]


def _accuracy_and_time(event: str) -> tuple[str, str]:
    """Accuracy and time of a text such as `... at 3.2 s to 0.1 ms`."""
    time, shift = event.rsplit(" at ", 1)[1].split(" to ")
    return shift, time


def _row(label: str, error: ChannelError) -> list[object]:
    return [label, error.size, f"{error.at:g} s", error.component]
