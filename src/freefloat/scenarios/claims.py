"""A claim: a published or exact number, ours beside it, and whether it holds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

Relation = Literal["about", "below", "above", "within", "not reproduced"]


@dataclass(frozen=True)
class Claim:
    """One number to reach.

    about: |ours - published| <= tolerance; below, above: ours against published, tolerance unused;
    within: tolerance is relative to published; not reproduced: shown beside ours, neither holds nor fails, and
    `reason` says why nobody can reach it.
    """

    claim: str
    source: str
    relation: Relation
    published: float
    ours: float
    unit: str
    tolerance: float | None = None
    reason: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether our number does what the claim says; a NaN never does. None where there is nothing to hold."""
        if self.relation == "not reproduced":
            return None
        if self.relation == "below":
            return self.ours < self.published
        if self.relation == "above":
            return self.ours > self.published
        if self.tolerance is None:
            raise ValueError(f"Claim '{self.claim}' compares by '{self.relation}' and needs a tolerance.")
        permitted = self.tolerance * (abs(self.published) if self.relation == "within" else 1.0)
        return math.isfinite(self.ours) and abs(self.ours - self.published) <= permitted

    @property
    def statement(self) -> str:
        """The published side in words: `-0.60145 +- 0.0001 deg`."""
        if self.relation == "not reproduced":
            return f"{self.published:g} {self.unit}"
        if self.relation in ("below", "above"):
            return f"{'<' if self.relation == 'below' else '>'} {self.published:g} {self.unit}"
        margin = f"{self.tolerance:g}" if self.relation == "about" else f"{100 * (self.tolerance or 0):g} %"
        return f"{self.published:g} +- {margin} {self.unit}"

    def as_dict(self, scenario: str, variant: str) -> dict[str, Any]:
        """Plain data for machines."""
        return {
            "scenario": scenario,
            "variant": variant,
            "claim": self.claim,
            "source": self.source,
            "relation": self.relation,
            "published": self.published,
            "ours": self.ours,
            "unit": self.unit,
            "tolerance": self.tolerance,
            "holds": self.holds,
            "reason": self.reason,
        }
