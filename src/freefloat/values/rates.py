"""A rate found in repeated trials, with exact bounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from freefloat.values.errors import ModelError

CONFIDENCE = 0.95  # of the bounds of a rate


@dataclass(frozen=True)
class Rate:
    """Successes among independent trials of one kind."""

    successes: int
    trials: int

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.trials or self.trials < 1:
            raise ModelError(f"A rate needs 0 to n successes in n trials, got {self.successes} in {self.trials}.")

    @staticmethod
    def of(outcomes: Iterable[bool]) -> Rate:
        """Rate of what is true among outcomes."""
        found = [bool(outcome) for outcome in outcomes]
        return Rate(sum(found), len(found))

    @property
    def share(self) -> float:
        """Share of successes that was found."""
        return self.successes / self.trials

    def bounds(self, confidence: float = CONFIDENCE) -> tuple[float, float]:
        """Exact bounds of the rate (Clopper and Pearson): outside, what was found has less than half of the rest.

        They are quantiles of beta distributions: B(k, n - k + 1) below and B(k + 1, n - k) above.
        """
        from scipy.stats import beta

        k, n, tail = self.successes, self.trials, 0.5 * (1.0 - confidence)
        lower = float(beta.ppf(tail, k, n - k + 1)) if k else 0.0
        upper = float(beta.ppf(1.0 - tail, k + 1, n - k)) if k < n else 1.0
        return lower, upper

    def __str__(self) -> str:
        lower, upper = self.bounds()
        return f"{self.successes} of {self.trials} ({100.0 * lower:.3g} to {100.0 * upper:.3g} %)"
