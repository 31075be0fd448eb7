"""Metrics: the numbers stored of each run, computed from its channels inside compiled code."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp

from freefloat.campaign.errors import CampaignError, require_known
from freefloat.campaign.expressions import TIME, Expression, Values
from freefloat.campaign.reductions import REDUCTIONS, Crossing, Reduction, ReductionState, Sample
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
        """The reduction that turns the samples into one number."""
        reduction = REDUCTIONS[self.reduce] if isinstance(self.reduce, str) else self.reduce
        return Crossing(self.level) if isinstance(reduction, Crossing) and self.level is not None else reduction

    def as_dict(self) -> dict[str, Any]:
        """The metric as plain data, as a campaign file contains it; of functions only the names."""
        return {
            "of": _quantity_text(self.of),
            "reduce": self.reduce if isinstance(self.reduce, str) else type(self.reduce).__name__,
            "unit": self.unit,
            **({} if self.when is None else {"when": _quantity_text(self.when)}),
            **({} if self.level is None else {"level": self.level}),
        }

    @staticmethod
    def from_dict(name: str, given: Mapping[str, Any]) -> Metric:
        """Read a metric from a file."""
        known = [field.name for field in dataclasses.fields(Metric) if field.name != "name"]
        require_known(f"Metric '{name}'", given, known)
        if not isinstance(given.get("of"), str):
            raise CampaignError(f"Metric '{name}' needs of: the quantity, such as of = \"norm(hand.position_error)\".")
        return Metric(name, **given)


def _quantity_text(quantity: Quantity) -> str:
    return quantity if isinstance(quantity, str) else getattr(quantity, "__name__", "function")


class Meters:
    """The metrics of an experiment, updated sample by sample."""

    def __init__(self, metrics: Sequence[Metric], channels: tuple[Channel, ...]) -> None:
        self.metrics = tuple(metrics)
        names = [metric.name for metric in metrics]
        if twice := [name for name in names if names.count(name) > 1]:
            raise CampaignError(f"Two metrics are called '{twice[0]}'. Give one of them another name.")
        known = (TIME, *channels)
        self._quantities = [_quantity_function(metric.of, known) for metric in metrics]
        self._conditions = [
            None if metric.when is None else _quantity_function(metric.when, known) for metric in metrics
        ]

    def begin(self, values: Values) -> tuple[ReductionState, ...]:
        """Start the metrics of a run with the channels of its first sample, which already counts."""
        states = []
        for metric, quantity in zip(self.metrics, self._quantities, strict=True):
            value = jnp.asarray(quantity(values), float)
            if value.shape != () and not metric.reduction.takes_vectors:
                raise CampaignError(
                    f"Metric '{metric.name}': '{_quantity_text(metric.of)}' is {value.size} numbers, its reduction "
                    "takes one. Write norm(...), max(...) or one component in brackets."
                )
            states.append(metric.reduction.begin(value))
        return self.update(tuple(states), values)

    def update(self, kept: tuple[ReductionState, ...], values: Values) -> tuple[ReductionState, ...]:
        """Metrics after one more sample."""
        states = []
        for metric, quantity, condition, state in zip(
            self.metrics, self._quantities, self._conditions, kept, strict=True
        ):
            counts = jnp.asarray(True) if condition is None else jnp.asarray(condition(values)) != 0
            sample = Sample(jnp.asarray(quantity(values), float), counts, values["time"])
            states.append(metric.reduction.update(state, sample))
        return tuple(states)

    def results(self, kept: tuple[ReductionState, ...]) -> list[Any]:
        """Results of every metric, for all runs."""
        return [metric.reduction.result(state) for metric, state in zip(self.metrics, kept, strict=True)]


def _quantity_function(quantity: Quantity, channels: tuple[Channel, ...]) -> Callable[[Values], Any]:
    return Expression(quantity, channels) if isinstance(quantity, str) else quantity


def balance_metrics(experiment: Experiment) -> tuple[Metric, ...]:
    """Metrics of the momentum balances: momentum minus impulse, zero but for rounding and integration error."""
    whole = "" if experiment.world.single else "world."
    return tuple(
        Metric(f"balance.{kind}_momentum", f"{whole}momentum.{kind} - {whole}impulse.{kind}", "drift", unit=unit)
        for kind, unit in (("linear", "N s"), ("angular", "N m s"))
    )
