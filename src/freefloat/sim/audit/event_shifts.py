"""Events of two runs of one experiment: differences of their instants, and events that only one of them has."""

from __future__ import annotations

from collections import Counter

import numpy as np

from freefloat.sim.audit.accuracy import EventShift
from freefloat.sim.events.run_events import Event


def _key(event: Event) -> tuple[str, str] | None:
    """Name and kind of an event that happens at an instant; None for a remark."""
    if "energy_lost" not in event and "limit" not in event:
        return None
    return str(event.get("name", "")), str(event.get("kind", ""))


def _pairs(first: tuple[Event, ...], second: tuple[Event, ...]) -> list[tuple[Event, Event]]:
    """Pairs of events of both runs: the first of a kind with the first, the second with the second."""
    found, waiting = [], {}
    for event in second:
        waiting.setdefault(_key(event), []).append(event)
    for event in first:
        key = _key(event)
        if key is not None and waiting.get(key):
            found.append((event, waiting[key].pop(0)))
    return found


def event_shifts(
    first: tuple[Event, ...], second: tuple[Event, ...], factor: float
) -> tuple[tuple[EventShift, ...], tuple[str, ...]]:
    """Shifts of events, `factor` times the difference [s], and a sentence for each kind whose counts differ."""
    shifts = tuple(
        EventShift(": ".join(filter(None, _key(a) or ())), a["time"], factor * abs(a["time"] - b["time"]))
        for a, b in _pairs(first, second)
    )
    counts = [Counter(filter(None, map(_key, some))) for some in (first, second)]
    remarks = tuple(
        f"{': '.join(filter(None, key))} {counts[0][key]} times, and {counts[1][key]} times with half the step."
        for key in sorted(counts[0] | counts[1])
        if counts[0][key] != counts[1][key]
    )
    return shifts, remarks


def between_events(time: np.ndarray, first: tuple[Event, ...], second: tuple[Event, ...]) -> np.ndarray:
    """Flags of the records at which an event has happened in one run only."""
    found = np.zeros(len(time), bool)
    for a, b in _pairs(first, second):
        start, end = sorted((a["time"], b["time"]))
        if end > start:
            found |= (time >= start) & (time <= end)
    return found
