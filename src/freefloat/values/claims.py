"""A claim: a reference number, its source, our number beside it, and whether the claim holds."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from freefloat.values.judgement import Judgement

Kind = Literal["printed", "exact", "prototype", "bound", "own run"]

# Kinds of sources in words for one claim; the keys are used in counts: `1 printed, 4 prototype, 2 bounds`.
KINDS: Mapping[str, str] = {
    "printed": "printed in the paper",
    "exact": "exact solution",
    "prototype": "our independent prototype",
    "bound": "our own bound",
    "own run": "our own other run",
}
_PLURAL = {"bound": "bounds", "own run": "own runs"}


@dataclass(frozen=True)
class Source:
    """Where a reference number comes from."""

    kind: Kind
    text: str = ""


OWN_BOUND = Source("bound")


@dataclass(frozen=True)
class Claim(Judgement):
    """A reference number, the limit, that our value is compared with.

    about: |value - limit| <= tolerance; below, above: value against limit, tolerance unused;
    within: tolerance is relative to the limit; not reproduced: shown beside our value, neither holds nor fails.
    `reason`: why a number is not reproduced, or by which reading of the source a claim holds.
    """

    value: float
    source: Source
    tolerance: float | None = None
    reason: str = ""

    @property
    def holds(self) -> bool | None:
        """Whether our number meets the claim; a NaN never does. None for a number that is not reproduced."""
        if self.relation == "not reproduced":
            return None
        if self.relation not in ("about", "within"):
            return super().holds
        if self.tolerance is None:
            raise ValueError(f"Claim '{self.name}' compares by '{self.relation}' and needs a tolerance.")
        permitted = self.tolerance * (abs(self.limit) if self.relation == "within" else 1.0)
        return math.isfinite(self.value) and bool(abs(self.value - self.limit) <= permitted)

    @property
    def statement(self) -> str:
        """The reference and its tolerance in words: `-0.60145 +- 0.0001 deg`."""
        if self.relation == "not reproduced":
            return self.with_unit(f"{self.limit:g}")
        if self.relation in ("below", "above"):
            return self.with_unit(f"{'<' if self.relation == 'below' else '>'} {self.limit:g}")
        if self.relation == "within":
            return f"{self.with_unit(f'{self.limit:g}')} +- {100 * (self.tolerance or 0):g} %"
        return self.with_unit(f"{self.limit:g} +- {self.tolerance:g}")

    @staticmethod
    def from_dict(row: Mapping[str, Any]) -> Claim:
        """The claim from plain data; a KeyError if the data is not complete."""
        return Claim(
            row["claim"],
            row["relation"],
            row["reference"],
            row["ours"],
            row["unit"],
            Source(row["kind"], row["source"]),
            row["tolerance"],
            str(row.get("reason", "")),
        )

    def as_dict(self, scenario: str, variant: str) -> dict[str, Any]:
        """The claim as plain data for files."""
        return {
            "scenario": scenario,
            "variant": variant,
            "claim": self.name,
            "kind": self.source.kind,
            "source": self.source.text,
            "relation": self.relation,
            "reference": self.limit,
            "ours": float(self.value),
            "unit": self.unit,
            "tolerance": self.tolerance,
            "holds": self.holds,
            "reason": self.reason,
        }


def count_kinds(rows: Iterable[Mapping[str, Any]]) -> dict[str, int]:
    """How many claims, as plain data, have each kind of reference, in the order of `KINDS`."""
    counted = Counter(str(row.get("kind", "")) for row in rows)
    return {kind: counted[kind] for kind in (*KINDS, *(set(counted) - set(KINDS))) if counted[kind]}


def kinds_in_words(rows: Iterable[Mapping[str, Any]]) -> str:
    """Counts by kind: `1 printed, 4 prototype, 2 bounds`; a claim of an old file without a kind is `unstated`."""
    counts = count_kinds(rows).items()
    return ", ".join(f"{n} {(_PLURAL.get(kind, kind) if n > 1 else kind) or 'unstated'}" for kind, n in counts)


def tally(rows: Sequence[Mapping[str, Any]]) -> str:
    """How many claims, as plain data, hold, by kind of reference: `5 hold, 0 fail (1 printed, 4 prototype)`."""
    judged = [row for row in rows if row["holds"] is not None]
    held = sum(row["holds"] for row in judged)
    words = f"{held} claims hold, {len(judged) - held} fail ({kinds_in_words(judged)})" if judged else "0 claims hold"
    other = [row for row in rows if row["holds"] is None]
    is_are = "is" if len(other) == 1 else "are"
    return words + (f", {len(other)} {is_are} not reproduced ({kinds_in_words(other)})" if other else "")
