"""Reductions of a quantity over a run to one number: its largest value, its last, the time of its first occurrence.

A reduction keeps a few numbers that are updated inside compiled code, so that no history needs to leave it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import jax.numpy as jnp
import numpy as np

ReductionState = dict[str, Any]  # the few numbers that a reduction keeps


@dataclass(frozen=True)
class Sample:
    """One sample: the quantity, whether it counts, and the time [s]."""

    value: Any
    counts: Any
    time: Any


class Reduction(ABC):
    """Reduces samples to one number. `begin` gets the first sample's value for its shape; it does not count yet."""

    name: ClassVar[str]
    takes_vectors: ClassVar[bool] = False
    needs_level: ClassVar[bool] = False

    @abstractmethod
    def begin(self, value: Any) -> ReductionState:
        """Numbers before the first sample."""

    @abstractmethod
    def update(self, kept: ReductionState, sample: Sample) -> ReductionState:
        """Numbers after one more sample, which may not count."""

    def result(self, kept: ReductionState) -> np.ndarray:
        """Result of every run: the number that is kept as `result`."""
        return kept["result"]


@dataclass(frozen=True)
class Extreme(Reduction):
    """The largest or the smallest value; minus or plus infinity if no sample counts."""

    name: str  # pyright: ignore[reportIncompatibleVariableOverride]
    better: Callable[[Any, Any], Any]
    none: float

    def begin(self, value: Any) -> ReductionState:
        """The value if no sample counts."""
        return {"result": jnp.asarray(self.none)}

    def update(self, kept: ReductionState, sample: Sample) -> ReductionState:
        """The better of the two values; once it is not a number it stays so."""
        return {"result": jnp.where(sample.counts, self.better(kept["result"], sample.value), kept["result"])}


class Final(Reduction):
    """The last value that counts; not a number if none does."""

    name = "final"

    def begin(self, value: Any) -> ReductionState:
        """Not a number, before any sample."""
        return {"result": jnp.asarray(jnp.nan)}

    def update(self, kept: ReductionState, sample: Sample) -> ReductionState:
        """The newest value that counts."""
        return {"result": jnp.where(sample.counts, sample.value, kept["result"])}


class First(Reduction):
    """The first value that counts, as at an event; infinite if there is none."""

    name = "first"

    def begin(self, value: Any) -> ReductionState:
        """No value yet: infinite."""
        return {"result": jnp.asarray(jnp.inf), "came": jnp.asarray(0, jnp.int32)}

    def update(self, kept: ReductionState, sample: Sample) -> ReductionState:
        """Keep the first value that counts."""
        takes = sample.counts & (kept["came"] == 0)
        value = jnp.where(takes, sample.value, kept["result"])
        return {"result": value, "came": jnp.where(takes, 1, kept["came"]).astype(jnp.int32)}


@dataclass(frozen=True)
class Average(Reduction):
    """Mean, or root of the mean square, over the samples that count; not a number if none does."""

    name: str  # pyright: ignore[reportIncompatibleVariableOverride]
    squared: bool

    def begin(self, value: Any) -> ReductionState:
        """Sum and count of zero."""
        return {"sum": jnp.zeros(()), "count": jnp.zeros(())}

    def update(self, kept: ReductionState, sample: Sample) -> ReductionState:
        """Sum and count with one more sample."""
        value = sample.value * sample.value if self.squared else sample.value
        total = jnp.where(sample.counts, kept["sum"] + value, kept["sum"])
        return {"sum": total, "count": kept["count"] + jnp.where(sample.counts, 1.0, 0.0)}

    def result(self, kept: ReductionState) -> np.ndarray:
        """Sum divided by count, or its root."""
        with np.errstate(invalid="ignore", divide="ignore"):
            mean = kept["sum"] / kept["count"]
        return np.sqrt(mean) if self.squared else mean


@dataclass(frozen=True)
class Crossing(Reduction):
    """Time of the first crossing of a level [s], linear between two samples; infinite if there is none."""

    name: ClassVar[str] = "crossing"
    needs_level: ClassVar[bool] = True
    level: float = 0.0

    def begin(self, value: Any) -> ReductionState:
        """No previous sample, and no crossing."""
        none = jnp.asarray(jnp.nan)
        return {"before": none, "since": none, "result": jnp.asarray(jnp.inf)}

    def update(self, kept: ReductionState, sample: Sample) -> ReductionState:
        """Check whether the level lies between the last two samples."""
        above, was = sample.value - self.level, kept["before"] - self.level
        crosses = sample.counts & (jnp.sign(above) != jnp.sign(was)) & ~jnp.isnan(was) & ~jnp.isnan(above)
        apart = jnp.where(above == was, 1.0, above - was)
        at = kept["since"] + (sample.time - kept["since"]) * (-was / apart)
        return {
            "before": jnp.where(sample.counts, sample.value, kept["before"]),
            "since": jnp.where(sample.counts, sample.time, kept["since"]),
            "result": jnp.where(crosses & jnp.isinf(kept["result"]), at, kept["result"]),
        }


class Drift(Reduction):
    """Largest distance of the quantity, a number or a vector, from its first value."""

    name = "drift"
    takes_vectors = True

    def begin(self, value: Any) -> ReductionState:
        """No first value, and a distance of zero."""
        return {"first": jnp.full(jnp.shape(value), jnp.nan), "result": jnp.zeros(())}

    def update(self, kept: ReductionState, sample: Sample) -> ReductionState:
        """The first value and the largest distance so far."""
        first = jnp.where(sample.counts & jnp.isnan(kept["first"]), sample.value, kept["first"])
        away = jnp.sqrt(jnp.sum(jnp.square(sample.value - first)))
        return {"first": first, "result": jnp.where(sample.counts, jnp.maximum(kept["result"], away), kept["result"])}


REDUCTIONS: Mapping[str, Reduction] = {
    reduction.name: reduction
    for reduction in (
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
