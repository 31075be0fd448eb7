"""A claim: a published or exact number, ours beside it, and whether it holds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

Relation = Literal["about", "below", "above", "within", "not reproduced"]


@dataclass(frozen=True)
class Claim:
    """One number to reach.

    about: |ours - published| <= tolerance; below, above: ours against published, tolerance unused;
    within: tolerance is relative to published; not reproduced: shown beside ours, neither holds nor fails.
    `reason` says why a number is not reproduced, or by which reading of the source one holds.
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
            return self.with_unit(f"{self.published:g}")
        if self.relation in ("below", "above"):
            return self.with_unit(f"{'<' if self.relation == 'below' else '>'} {self.published:g}")
        if self.relation == "within":
            return f"{self.with_unit(f'{self.published:g}')} +- {100 * (self.tolerance or 0):g} %"
        return self.with_unit(f"{self.published:g} +- {self.tolerance:g}")

    def with_unit(self, number: str) -> str:
        """`0.361 deg`; a ratio stands alone."""
        return number if self.unit == "1" else f"{number} {self.unit}"

    @staticmethod
    def from_dict(row: Mapping[str, Any]) -> Claim:
        """Back from plain data; a KeyError if it is not complete."""
        fields = ("claim", "source", "relation", "published", "ours", "unit", "tolerance")
        return Claim(**{name: row[name] for name in fields}, reason=str(row.get("reason", "")))

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


def tally(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many of these claims, as plain data, hold: `112 claims hold, 0 fail, 11 are not reproduced`."""
    verdicts = [row["holds"] for row in rows]
    other = verdicts.count(None)
    words = f"{verdicts.count(True)} claims hold, {verdicts.count(False)} fail"
    return words + (f", {other} {'is' if other == 1 else 'are'} not reproduced" if other else "")
