"""The accuracy of a run: errors of its channels because its steps are not infinitely short."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

import numpy as np

Verdict = Literal["measured", "rounding", "not converged"]
_LENGTHS = ((1.0, 1.0, "m"), (1e-5, 1e3, "mm"), (1e-8, 1e6, "um"), (0.0, 1e9, "nm"))  # from so many metres on
_TIMES = ((1.0, 1.0, "s"), (1e-5, 1e3, "ms"), (0.0, 1e6, "us"))
_SHOWN = 4  # in one line
_SAME = 1e-13  # of the time: instants that differ by less are one


@dataclass(frozen=True)
class ChannelError:
    """Largest error of a channel over the run."""

    error: float  # largest over the run, in `unit`; infinite where half the step did not stay finite
    unit: str
    at: float  # [s]
    component: str = ""  # that is worst
    verdict: Verdict = "measured"
    switched: int = 0  # records at which only one of both runs had switched; they are not counted in the error

    def __str__(self) -> str:
        """The error as text: `0.03 deg at 18 s (shoulder)`."""
        where = f" at {self.at:g} s" + (f" ({self.component})" if self.component else "")
        return f"{self.size}{where}" if self.verdict != "rounding" else self.size

    @property
    def size(self) -> str:
        """The error as text, in a unit that suits it."""
        if self.verdict == "rounding":
            return "rounding"
        words = quantity(self.error, self.unit)
        return words if self.verdict == "measured" else f"not converged (off by some {words})"


@dataclass(frozen=True)
class EventShift:
    """Change of the instant of an event with a finer step."""

    label: str  # `grasp: latched`
    time: float  # [s]
    shift: float  # [s]

    def __str__(self) -> str:
        """The shift as text: `grasp: latched at 3.2 s to 0.1 ms`."""
        shift = quantity(self.shift, "s") if self.shift > _SAME * max(self.time, 1.0) else "rounding"
        return f"{self.label} at {self.time:.6g} s to {shift}"


@dataclass(frozen=True)
class RunAccuracy:
    """Accuracy of a run's channels, as far as the step limits it; `accuracy["hand.position"]` is one of them."""

    reason: str = "This run has no accuracy: it was made by an older version."  # how it was measured, or why not
    channels: Mapping[str, ChannelError] = field(default_factory=dict)
    headline: Mapping[str, str] = field(default_factory=dict)  # short list: what people call it, and its channel
    events: tuple[EventShift, ...] = ()
    remarks: tuple[str, ...] = ()  # events that only one run has, growth of errors
    order: float = 0.0  # of the error in the step
    growth: float = 0.0  # of small differences [1/s], in a run that is not converged because they grow exponentially

    @property
    def measured(self) -> bool:
        """True if the accuracy was measured."""
        return bool(self.channels)

    @property
    def chaotic(self) -> bool:
        """True if the run is not converged because small differences were measured to grow exponentially."""
        return self.growth > 0.0

    @property
    def converged(self) -> bool:
        """True if the accuracy was measured, and every channel of the short list has converged."""
        return self.measured and all(self.channels[name].verdict != "not converged" for name in self.headline.values())

    def __getitem__(self, channel: str) -> ChannelError:
        if channel not in self.channels:
            known = f"Channels: {', '.join(self.channels)}." if self.measured else self.reason
            raise KeyError(f"There is no accuracy of '{channel}'. {known}")
        return self.channels[channel]

    def __repr__(self) -> str:
        return f"<RunAccuracy: {self.in_short() or self.reason}>"

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def lines(self) -> Iterator[str]:
        """Lines of text: the short list, events, remarks, and how the accuracy was measured."""
        for label, name in self.headline.items():
            error = self.channels[name]
            yield f"{label}: {error}" if error.verdict == "not converged" else f"{label} to {error}"
        yield from map(str, worst_shifts(self.events))
        yield from self.remarks
        yield self.reason

    def in_short(self) -> str:
        """The accuracy in one line: `attitude to 0.03 deg, hand to 0.2 mm`."""
        if not self.measured:
            return ""
        if not self.converged:
            worst = next(n for n in self.headline.values() if self.channels[n].verdict == "not converged")
            off = quantity(self.channels[worst].error, self.channels[worst].unit)
            return f"NOT CONVERGED ({worst} is off by some {off}): halve dt"
        if all(self.channels[name].verdict == "rounding" for name in self.headline.values()):
            return "accurate to rounding"
        entries = [f"{label} to {self.channels[name].size}" for label, name in self.headline.items()]
        return ", ".join(entries[:_SHOWN])

    def table(self) -> str:
        """Table of every channel: its error, unit, and when it is largest."""
        wide = max(map(len, self.channels), default=0)
        rows = [f"{name:<{wide}}  {e.error:9.2e} {e.unit:<8} {e}" for name, e in self.channels.items()]
        return "\n".join(rows) if rows else self.reason

    def as_dict(self) -> dict[str, Any]:
        """The accuracy as plain data for files; numbers that are not finite become None."""
        data = asdict(self)
        for entry in data["channels"].values():
            entry["error"] = entry["error"] if np.isfinite(entry["error"]) else None
        return data

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> RunAccuracy:
        """The accuracy from plain data, as `as_dict` makes it."""
        channels = {
            name: ChannelError(**{**entry, "error": np.inf if entry["error"] is None else entry["error"]})
            for name, entry in data["channels"].items()
        }
        events = tuple(EventShift(**entry) for entry in data["events"])
        return RunAccuracy(**{**data, "channels": channels, "events": events, "remarks": tuple(data["remarks"])})


def worst_shifts(events: tuple[EventShift, ...]) -> list[EventShift]:
    """The event with the largest shift for each label."""
    worst: dict[str, EventShift] = {}
    for event in events:
        if event.label not in worst or event.shift > worst[event.label].shift:
            worst[event.label] = event
    return list(worst.values())


def quantity(value: float, unit: str) -> str:
    """A number to two digits in a unit that suits its size: degrees, millimetres, milliseconds."""
    if unit in ("rad", "rad/s"):
        return f"{np.rad2deg(value):.2g} deg{unit[3:]}"
    for plain, scales in (("m", _LENGTHS), ("s", _TIMES)):
        if unit == plain:
            _, factor, word = next((s for s in scales if value >= s[0]), scales[-1])
            return f"{factor * value:.2g} {word}"
    return f"{value:.2g} {unit}".removesuffix(" 1")
