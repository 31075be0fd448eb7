"""What is kept of each run: numbers made of its channels, computed inside compiled code."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from freefloat.campaign.errors import CampaignError
from freefloat.campaign.expressions import TIME, Expression, Values
from freefloat.campaign.reductions import REDUCTIONS, Crossing, Kept, Reduction, Sample
from freefloat.sim import Experiment
from freefloat.values.channels import Channel

Quantity = str | Callable[[Values], Any]


@dataclass(frozen=True)
class Metric:
    """One number of every run: a quantity of the channels, reduced over the samples at which `when` holds.

    `of` and `when` are texts (`campaign.expressions`), or functions of the channels' values by name in JAX. `reduce` is
    max, min, final, first, mean, rms, crossing (of `level`), drift, or a `Reduction` of your own. With `first` a metric
    is a value at an event: `of="time", when="chaser.capture.mode == 3"`.
    """

    name: str
    of: Quantity
    reduce: str | Reduction = "final"
    when: Quantity | None = None
    level: float | None = None
    unit: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.reduce, str) and self.reduce not in REDUCTIONS:
            raise CampaignError(
                f"Metric '{self.name}': no reduction '{self.reduce}'. Reductions: {', '.join(REDUCTIONS)}."
            )
        if self.reduction.needs_level != (self.level is not None) and isinstance(self.reduce, str):
            raise CampaignError(f"Metric '{self.name}': level belongs to crossing, and crossing needs one.")

    @property
    def reduction(self) -> Reduction:
        """What is made of the samples."""
        found = REDUCTIONS[self.reduce] if isinstance(self.reduce, str) else self.reduce
        return Crossing(self.level) if isinstance(found, Crossing) and self.level is not None else found

    def as_dict(self) -> dict[str, Any]:
        """As a file has it; functions are called by their names only."""
        return {
            "of": _said(self.of),
            "reduce": self.reduce if isinstance(self.reduce, str) else type(self.reduce).__name__,
            "unit": self.unit,
            **({} if self.when is None else {"when": _said(self.when)}),
            **({} if self.level is None else {"level": self.level}),
        }

    @staticmethod
    def from_dict(name: str, given: Mapping[str, Any]) -> Metric:
        """From a file."""
        known = [field.name for field in dataclasses.fields(Metric) if field.name != "name"]
        if unknown := [key for key in given if key not in known]:
            raise CampaignError(f"Metric '{name}' has no '{unknown[0]}'. It has: {', '.join(known)}.")
        if not isinstance(given.get("of"), str):
            raise CampaignError(f"Metric '{name}' needs of: the quantity, such as of = \"norm(hand.position_error)\".")
        return Metric(name, **given)


def _said(quantity: Quantity) -> str:
    return quantity if isinstance(quantity, str) else getattr(quantity, "__name__", "function")


class Meters:
    """The metrics of an experiment, ready to be carried along."""

    def __init__(self, metrics: Sequence[Metric], channels: tuple[Channel, ...]) -> None:
        self.metrics = tuple(metrics)
        names = [metric.name for metric in metrics]
        if twice := [name for name in names if names.count(name) > 1]:
            raise CampaignError(f"Two metrics are called '{twice[0]}'. Give one of them another name.")
        known = (TIME, *channels)
        self._quantities = [_bound(metric.of, known) for metric in metrics]
        self._conditions = [None if metric.when is None else _bound(metric.when, known) for metric in metrics]

    def begin(self, values: Values) -> tuple[Kept, ...]:
        """Of a run whose first sample has these channels; the sample counts already."""
        found = []
        for metric, quantity in zip(self.metrics, self._quantities, strict=True):
            value = jnp.asarray(quantity(values), float)
            if value.shape != () and not metric.reduction.takes_vectors:
                raise CampaignError(
                    f"Metric '{metric.name}': '{_said(metric.of)}' is {value.size} numbers, its reduction takes one. "
                    "Write norm(...), max(...) or one component in brackets."
                )
            found.append(metric.reduction.begin(value))
        return self.update(tuple(found), values)

    def update(self, kept: tuple[Kept, ...], values: Values) -> tuple[Kept, ...]:
        """After one more sample."""
        found = []
        for metric, quantity, condition, one in zip(
            self.metrics, self._quantities, self._conditions, kept, strict=True
        ):
            counts = jnp.asarray(True) if condition is None else jnp.asarray(condition(values)) != 0
            sample = Sample(jnp.asarray(quantity(values), float), counts, values["time"])
            found.append(metric.reduction.update(one, sample))
        return tuple(found)

    def results(self, kept: tuple[Kept, ...]) -> list[Any]:
        """The number of every metric, for all runs."""
        return [metric.reduction.result(one) for metric, one in zip(self.metrics, kept, strict=True)]


def _bound(quantity: Quantity, channels: tuple[Channel, ...]) -> Callable[[Values], Any]:
    return Expression(quantity, channels) if isinstance(quantity, str) else quantity


def balance_metrics(experiment: Experiment) -> tuple[Metric, ...]:
    """How far momentum departs from what came in: zero but for rounding and the integrator's own loss."""
    whole = "" if experiment.world.single else "world."
    return tuple(
        Metric(f"balance.{kind}_momentum", f"{whole}momentum.{kind} - {whole}impulse.{kind}", "drift", unit=unit)
        for kind, unit in (("linear", "N s"), ("angular", "N m s"))
    )
