"""What becomes of a quantity over a run: its largest, its last, when it first happened. Carried from sample to sample.

A reduction keeps a few numbers that are updated inside compiled code, so that no history needs to leave it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

Kept = dict[str, Any]  # the few numbers


@dataclass(frozen=True)
class Sample:
    """One instant: the quantity, whether it counts, and the time [s]."""

    value: Any
    counts: Any
    time: Any


class Reduction(ABC):
    """From samples to one number. `begin` is given the first sample's value for its shape; nothing is counted yet."""

    name: ClassVar[str]
    takes_vectors: ClassVar[bool] = False
    needs_level: ClassVar[bool] = False

    @abstractmethod
    def begin(self, value: Any) -> Kept:
        """Before the first sample."""

    @abstractmethod
    def update(self, kept: Kept, sample: Sample) -> Kept:
        """After a sample that counts, or does not."""

    @abstractmethod
    def result(self, kept: Kept) -> np.ndarray:
        """The number of every run."""


@dataclass(frozen=True)
class Extreme(Reduction):
    """The largest or the smallest; minus or plus infinity where nothing counts."""

    name: str  # pyright: ignore[reportIncompatibleVariableOverride]
    better: Callable[[Any, Any], Any]
    none: float

    def begin(self, value: Any) -> Kept:
        """Nothing seen."""
        return {"best": jnp.asarray(self.none)}

    def update(self, kept: Kept, sample: Sample) -> Kept:
        """The better of both; a number that is not finite stays."""
        return {"best": jnp.where(sample.counts, self.better(kept["best"], sample.value), kept["best"])}

    def result(self, kept: Kept) -> np.ndarray:
        """As it is."""
        return kept["best"]


class Final(Reduction):
    """The last value that counts; not a number where none does."""

    name = "final"

    def begin(self, value: Any) -> Kept:
        """Nothing seen."""
        return {"last": jnp.asarray(jnp.nan)}

    def update(self, kept: Kept, sample: Sample) -> Kept:
        """The newest."""
        return {"last": jnp.where(sample.counts, sample.value, kept["last"])}

    def result(self, kept: Kept) -> np.ndarray:
        """As it is."""
        return kept["last"]


class First(Reduction):
    """The first value that counts, as at an event; infinite where it never comes."""

    name = "first"

    def begin(self, value: Any) -> Kept:
        """Not yet."""
        return {"value": jnp.asarray(jnp.inf), "came": jnp.asarray(0, jnp.int32)}

    def update(self, kept: Kept, sample: Sample) -> Kept:
        """Taken once."""
        takes = sample.counts & (kept["came"] == 0)
        value = jnp.where(takes, sample.value, kept["value"])
        return {"value": value, "came": jnp.where(takes, 1, kept["came"]).astype(jnp.int32)}

    def result(self, kept: Kept) -> np.ndarray:
        """As it is."""
        return kept["value"]


@dataclass(frozen=True)
class Average(Reduction):
    """Mean, or root of the mean square, over the samples that count; not a number where none does."""

    name: str  # pyright: ignore[reportIncompatibleVariableOverride]
    squared: bool

    def begin(self, value: Any) -> Kept:
        """Nothing seen."""
        return {"sum": jnp.zeros(()), "count": jnp.zeros(())}

    def update(self, kept: Kept, sample: Sample) -> Kept:
        """One more."""
        value = sample.value * sample.value if self.squared else sample.value
        total = jnp.where(sample.counts, kept["sum"] + value, kept["sum"])
        return {"sum": total, "count": kept["count"] + jnp.where(sample.counts, 1.0, 0.0)}

    def result(self, kept: Kept) -> np.ndarray:
        """Sum by count."""
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = kept["sum"] / kept["count"]
        return np.sqrt(mean) if self.squared else mean


@dataclass(frozen=True)
class Crossing(Reduction):
    """When the quantity first crosses a level [s], on a straight line between two samples; infinite if never."""

    name: ClassVar[str] = "crossing"
    needs_level: ClassVar[bool] = True
    level: float = 0.0

    def begin(self, value: Any) -> Kept:
        """No sample before."""
        none = jnp.asarray(jnp.nan)
        return {"before": none, "since": none, "at": jnp.asarray(jnp.inf)}

    def update(self, kept: Kept, sample: Sample) -> Kept:
        """Whether the level lies between the last two."""
        above, was = sample.value - self.level, kept["before"] - self.level
        crosses = sample.counts & (jnp.sign(above) != jnp.sign(was)) & ~jnp.isnan(was) & ~jnp.isnan(above)
        apart = jnp.where(above == was, 1.0, above - was)
        at = kept["since"] + (sample.time - kept["since"]) * (-was / apart)
        return {
            "before": jnp.where(sample.counts, sample.value, kept["before"]),
            "since": jnp.where(sample.counts, sample.time, kept["since"]),
            "at": jnp.where(crosses & jnp.isinf(kept["at"]), at, kept["at"]),
        }

    def result(self, kept: Kept) -> np.ndarray:
        """As it is."""
        return kept["at"]


class Drift(Reduction):
    """How far the quantity, a number or a vector, goes from where it first was."""

    name = "drift"
    takes_vectors = True

    def begin(self, value: Any) -> Kept:
        """No sample before."""
        return {"first": jnp.full(jnp.shape(value), jnp.nan), "most": jnp.zeros(())}

    def update(self, kept: Kept, sample: Sample) -> Kept:
        """The farthest so far."""
        first = jnp.where(sample.counts & jnp.isnan(kept["first"]), sample.value, kept["first"])
        away = jnp.sqrt(jnp.sum(jnp.square(sample.value - first)))
        return {"first": first, "most": jnp.where(sample.counts, jnp.maximum(kept["most"], away), kept["most"])}

    def result(self, kept: Kept) -> np.ndarray:
        """As it is."""
        return kept["most"]


REDUCTIONS: Mapping[str, Reduction] = {
    one.name: one
    for one in (
        Extreme("max", jnp.maximum, -jnp.inf),
        Extreme("min", jnp.minimum, jnp.inf),
        Final(),
        First(),
        Average("mean", False),
        Average("rms", True),
        Crossing(),
        Drift(),
    )
}
