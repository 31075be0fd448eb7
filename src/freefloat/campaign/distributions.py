"""Probability distributions of a number, given by their quantile functions."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from freefloat.campaign.errors import CampaignError, require_known


@dataclass(frozen=True)
class Distribution(ABC):
    """Distribution of a random number; `value` is its quantile function, so that every design can be used with it."""

    kind: ClassVar[str]

    @abstractmethod
    def value(self, share: np.ndarray) -> np.ndarray:
        """Quantile: the number below which this share of all cases lies."""

    def _require(self, holds: bool, why: str) -> None:
        if not holds:
            raise CampaignError(f"A {self.kind} distribution needs {why}, got {_parameter_text(self)}.")

    def _require_finite(self, *names: str) -> None:
        for name in names:
            value = getattr(self, name)
            number = isinstance(value, (int, float, np.floating, np.integer)) and not isinstance(value, bool)
            self._require(number and bool(np.isfinite(value)), f"{name} to be a finite number")


@dataclass(frozen=True)
class Normal(Distribution):
    """Gaussian distribution, truncated to `low` and `high` if they are given."""

    kind = "normal"
    mean: float
    sigma: float
    low: float = -np.inf
    high: float = np.inf

    def __post_init__(self) -> None:
        self._require_finite("mean", "sigma")
        self._require(self.sigma > 0.0, "sigma above 0")
        self._require(self.low < self.high, "low below high")
        self._require(bool(np.ptp(self._ends()) > 0.0), "low and high within reach: nothing lies between them")

    def _ends(self) -> np.ndarray:
        from scipy.special import ndtr

        return ndtr((np.array([self.low, self.high]) - self.mean) / self.sigma)

    def value(self, share: np.ndarray) -> np.ndarray:
        """Quantile of the truncated Gaussian, by the inverse of the error function."""
        from scipy.special import ndtri

        low, high = self._ends()
        return np.clip(self.mean + self.sigma * ndtri(low + share * (high - low)), self.low, self.high)


@dataclass(frozen=True)
class Uniform(Distribution):
    """Uniform distribution between `low` and `high`."""

    kind = "uniform"
    low: float
    high: float

    def __post_init__(self) -> None:
        self._require_finite("low", "high")
        self._require(self.low < self.high, "low below high")

    def value(self, share: np.ndarray) -> np.ndarray:
        """Quantile of the uniform distribution: linear in the share."""
        return self.low + share * (self.high - self.low)


@dataclass(frozen=True)
class LogNormal(Distribution):
    """Log-normal distribution: `median`, and `sigma` of the logarithm."""

    kind = "log-normal"
    median: float
    sigma: float
    low: float = 0.0
    high: float = np.inf

    def __post_init__(self) -> None:
        self._require_finite("median", "sigma", "low")
        self._require(self.median > 0.0 and self.sigma > 0.0, "median and sigma above 0")
        self._require(0.0 <= self.low < self.high, "0 <= low < high")
        self._logarithm()

    def _logarithm(self) -> Normal:
        with np.errstate(divide="ignore"):
            low, high = np.log([self.low, self.high])
        return Normal(float(np.log(self.median)), self.sigma, float(low), float(high))

    def value(self, share: np.ndarray) -> np.ndarray:
        """Quantile of the log-normal distribution: the exponential of that of its Gaussian logarithm."""
        return np.clip(np.exp(self._logarithm().value(share)), self.low, self.high)


@dataclass(frozen=True)
class Discrete(Distribution):
    """One of several values; `weights` are their relative frequencies, equal by default."""

    kind = "discrete"
    values: tuple[float, ...]
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        values, weights = np.asarray(self.values, float), np.asarray(self.weights, float)
        self._require(values.ndim == 1 and values.size > 0 and bool(np.all(np.isfinite(values))), "some finite values")
        self._require(weights.size in (0, values.size), "one weight for each value, or none")
        self._require(weights.size == 0 or bool(np.all(weights >= 0.0) and weights.sum() > 0.0), "weights of 0 or more")
        object.__setattr__(self, "values", tuple(map(float, values)))
        object.__setattr__(self, "weights", tuple(map(float, weights)))

    def value(self, share: np.ndarray) -> np.ndarray:
        """Quantile of the discrete distribution: a step function of the share."""
        weights = np.asarray(self.weights or np.ones(len(self.values)))
        steps = np.cumsum(weights) / weights.sum()
        return np.asarray(self.values)[np.searchsorted(steps[:-1], share, side="right")]


DISTRIBUTIONS: Mapping[str, type[Distribution]] = {
    distribution.kind: distribution for distribution in (Normal, Uniform, LogNormal, Discrete)
}


def distribution_of(kind: Any, given: Mapping[str, Any]) -> Distribution:
    """Read a distribution from a file: its kind and its numbers."""
    if kind not in DISTRIBUTIONS:
        raise CampaignError(f"There is no distribution '{kind}'. Distributions: {', '.join(DISTRIBUTIONS)}.")
    fields = dataclasses.fields(DISTRIBUTIONS[kind])
    known, needed = [f.name for f in fields], [f.name for f in fields if f.default is dataclasses.MISSING]
    require_known(f"A {kind} distribution", given, known)
    if missing := [name for name in needed if name not in given]:
        raise CampaignError(f"A {kind} distribution needs {' and '.join(missing)}. It has: {', '.join(known)}.")
    return DISTRIBUTIONS[kind](**{n: tuple(v) if isinstance(v, list) else v for n, v in given.items()})


def _parameter_text(distribution: Distribution) -> str:
    return ", ".join(f"{name} = {value!r}" for name, value in dataclasses.asdict(distribution).items())
