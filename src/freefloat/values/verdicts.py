"""A verdict: criteria with limit, value and margin, go or no-go, and a signature so that it can be repeated."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from freefloat.values.judgement import Judgement

Decision = Literal["go", "no-go", "not judged"]

GO, NO_GO, NOT_JUDGED = "go", "no-go", "not judged"
COVERAGE = 2.0  # standard deviations by which a value must keep to its limit, where its uncertainty is known
UNCHOSEN = "nobody (default)"  # who set a limit
CODE = "code"  # what the hash of the package's own source is called


@dataclass(frozen=True)
class Criterion(Judgement):
    """One question about a rehearsal. Without a value it is not judged; where it is required, that is a no-go.

    `reason`: what was found and where; for a no-go also what can be done about it.
    """

    meaning: str  # the question, in a sentence
    reason: str
    required: bool = True
    limit_from: str = ""  # who set the limit
    uncertainty: float | None = None  # standard deviation of the value, in its unit; None: not known
    simulation_only: bool = False  # it tests the simulated part alone, whatever the facility does

    @property
    def holds(self) -> bool | None:
        """Whether the value keeps to the limit also when it is off by two standard deviations; None without a value."""
        if self.value is None or not self.uncertainty:
            return super().holds
        upwards = 1.0 if self.relation in ("at most", "below") else -1.0
        return dataclasses.replace(
            self, value=self.value + upwards * COVERAGE * self.uncertainty, uncertainty=None
        ).holds

    @property
    def decision(self) -> Decision:
        """Go or no-go, by whether the value is within its limit; not judged without a value."""
        holds = self.holds
        return NOT_JUDGED if holds is None else GO if holds else NO_GO

    @property
    def stops(self) -> bool:
        """Whether this criterion alone makes the verdict a no-go."""
        return self.decision == NO_GO or (self.decision == NOT_JUDGED and self.required)

    @property
    def margin_share(self) -> float | None:
        """The margin as a share of the limit; None without a value, or where the limit is 0 or not finite."""
        if self.value is None or self.limit == 0.0 or not math.isfinite(self.limit):
            return None
        return self.margin / abs(self.limit)

    @property
    def margin_text(self) -> str:
        """The margin as people read it: `60 % left`, `20 % beyond`, `163 times the limit`, `1.5 mm short`."""
        if self.value is None or not math.isfinite(self.value):
            return "–" if self.value is None else "no number"
        share = self.margin_share
        if self.relation in ("at least", "above"):
            unit = {"%": "percentage points", "1": ""}.get(self.unit, self.unit)
            return f"{abs(self.margin):.3g} {unit}".rstrip() + (" to spare" if self.margin >= 0.0 else " short")
        if share is None:
            return "met" if self.margin == 0.0 else f"{self.with_unit(f'{abs(self.margin):.3g}')} beyond"
        if share >= -1.0:
            return f"{100.0 * abs(share):.3g} % {'left' if share >= 0.0 else 'beyond'}"
        return f"{self.value / self.limit:.3g} times the limit"

    @property
    def unchosen(self) -> bool:
        """Whether its limit is a default that nobody chose."""
        return self.limit_from == UNCHOSEN and self.value is not None

    @property
    def value_text(self) -> str:
        """The value in words, with two standard deviations where they are known; a dash where there is none."""
        if self.value is None:
            return "–"
        known = f" ± {COVERAGE * self.uncertainty:.2g}" if self.uncertainty else ""
        return self.with_unit(f"{self.value:.4g}{known}")


@dataclass(frozen=True)
class Signature:
    """What a verdict depends on: versions, SHA-256 of everything that was judged, and how to repeat it."""

    versions: Mapping[str, str] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)  # by what it is of: `run.nc`, `cycles.log`, `code`, ...
    command: str = ""  # that rehearses it again

    def changed_inputs(self, other: Signature) -> tuple[str, ...]:
        """Names of the files, settings and limits that were judged and are different now."""
        return tuple(name for name in _differing_names(self.hashes, other.hashes) if name != CODE)

    def changed_programs(self, other: Signature) -> tuple[str, ...]:
        """Names of the programs that are different now, which need not change a result."""
        code = [name for name in _differing_names(self.hashes, other.hashes) if name == CODE]
        return (*_differing_names(self.versions, other.versions), *code)


def _differing_names(a: Mapping[str, str], b: Mapping[str, str]) -> list[str]:
    return [name for name in dict.fromkeys((*a, *b)) if a.get(name) != b.get(name)]


@dataclass(frozen=True)
class Verdict:
    """All criteria of a rehearsal, causes before their consequences."""

    title: str
    criteria: tuple[Criterion, ...]
    signature: Signature = field(default_factory=Signature)

    @property
    def go(self) -> bool:
        """Whether no criterion stops it; False for a verdict without criteria."""
        return bool(self.criteria) and not self.against

    @property
    def against(self) -> tuple[Criterion, ...]:
        """The criteria that stop it, in their order: the first is nearest to the cause."""
        return tuple(criterion for criterion in self.criteria if criterion.stops)

    @property
    def by_margin(self) -> tuple[Criterion, ...]:
        """Criteria as reported: those that stop it, by margin, without margin, of the simulation alone, not judged."""

        def place(criterion: Criterion) -> tuple[int, float]:
            if criterion.stops:
                return 0, 0.0
            if criterion.decision == NOT_JUDGED:
                return 4, 0.0
            if criterion.simulation_only:
                return 3, 0.0
            return (2, 0.0) if criterion.margin_share is None else (1, criterion.margin_share)

        return tuple(sorted(self.criteria, key=place))

    @property
    def headline(self) -> str:
        """GO with the smallest margin, or NO-GO and how many stand against it; and how many are not judged."""
        if not self.go:
            return (
                f"NO-GO: {len(self.against)} of {len(self.criteria)} criteria stand against it{self._not_judged_text}."
            )
        least = next((criterion for criterion in self.by_margin if criterion.margin_share is not None), None)
        nearest = f" Nearest to its limit: {least.name}, {least.margin_text}." if least else ""
        met = sum(criterion.decision == GO for criterion in self.criteria if not criterion.simulation_only)
        apart = sum(criterion.decision == GO for criterion in self.criteria if criterion.simulation_only)
        also = f" {apart} that test the simulation alone hold too." if apart else ""
        return f"GO: all {met} criteria that could be judged are met{self._not_judged_text}.{also}{nearest}"

    @property
    def _not_judged_text(self) -> str:
        open_questions = sum(criterion.decision == NOT_JUDGED for criterion in self.criteria)
        return f", {open_questions} {'was' if open_questions == 1 else 'were'} not judged" if open_questions else ""

    @property
    def unchosen_limits(self) -> tuple[str, ...]:
        """Names of the criteria whose limit is a default that nobody chose."""
        return tuple(criterion.name for criterion in self.criteria if criterion.unchosen)

    def reasons(self, most: int = 3) -> list[str]:
        """Reasons of a no-go: the first ones, and how many more there are."""
        lines = [f"{criterion.name}: {criterion.reason}" for criterion in self.against[:most]]
        more = len(self.against) - len(lines)
        return [*lines, f"and {more} more"] if more else lines

    # ---- plain data

    def as_dict(self) -> dict[str, Any]:
        """The verdict as plain data for files; a number that is not finite becomes a word."""
        rows = [
            {**asdict(criterion), "decision": criterion.decision, "margin": criterion.margin_share}
            for criterion in self.criteria
        ]
        return plain_data({"go": self.go, "title": self.title, "criteria": rows, "signature": asdict(self.signature)})

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Verdict:
        """The verdict from plain data; a KeyError or TypeError if the data is not complete."""
        return Verdict(
            str(data["title"]), tuple(map(_criterion_from_dict, data["criteria"])), Signature(**data["signature"])
        )


def plain_data(value: Any) -> Any:
    """Tables and lists of plain values, as JSON has them: a number that is not finite becomes a word."""
    if isinstance(value, Mapping):
        return {str(key): plain_data(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain_data(entry) for entry in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def digest_of(data: Any) -> str:
    """SHA-256 of plain data, whatever the order of its names."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, default=str).encode()).hexdigest()


def _criterion_from_dict(row: Mapping[str, Any]) -> Criterion:
    own = {name: row[name] for name in ("name", "meaning", "relation", "unit", "reason", "required", "limit_from")}
    value, uncertainty = (None if row.get(name) is None else float(row[name]) for name in ("value", "uncertainty"))
    apart = bool(row.get("simulation_only", False))
    return Criterion(**own, limit=float(row["limit"]), value=value, uncertainty=uncertainty, simulation_only=apart)
