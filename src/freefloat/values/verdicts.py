"""A verdict: criteria with limit, value and margin, go or no-go, and a signature so that it can be repeated."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

Relation = Literal["at most", "at least"]
Decision = Literal["go", "no-go", "not judged"]

GO, NO_GO, NOT_JUDGED = "go", "no-go", "not judged"
CODE = "code"  # what the hash of the package's own source is called


@dataclass(frozen=True)
class Criterion:
    """One question to a rehearsal. Without a value it is not judged; where it is required, that is a no-go.

    `reason` says what was found and where; of a no-go also what can be done about it.
    """

    name: str
    meaning: str  # what is asked, in a sentence
    relation: Relation
    limit: float
    unit: str
    value: float | None  # None: it could not be judged; a NaN is never within a limit
    reason: str
    required: bool = True
    limit_from: str = ""  # who set the limit

    @property
    def decision(self) -> Decision:
        """Whether the value is within its limit."""
        if self.value is None:
            return NOT_JUDGED
        within = self.value <= self.limit if self.relation == "at most" else self.value >= self.limit
        return GO if within else NO_GO

    @property
    def stops(self) -> bool:
        """Whether it alone makes the verdict a no-go."""
        return self.decision == NO_GO or (self.decision == NOT_JUDGED and self.required)

    @property
    def margin(self) -> float | None:
        """What is left to the limit, as a share of it; None where there is no number to share."""
        if self.value is None or self.limit == 0.0 or not math.isfinite(self.limit):
            return None
        left = (self.limit - self.value) / abs(self.limit)
        return left if self.relation == "at most" else -left

    @property
    def statement(self) -> str:
        """The limit in words: `at most 5 mm`."""
        return f"{self.relation} {self.with_unit(self.limit)}"

    @property
    def found(self) -> str:
        """The value in words."""
        return "–" if self.value is None else self.with_unit(self.value)

    def with_unit(self, number: float) -> str:
        """`4.2 mm`; a bare number where the unit is 1."""
        return f"{number:.4g}" if self.unit == "1" else f"{number:.4g} {self.unit}"


@dataclass(frozen=True)
class Signature:
    """What a verdict depends on: versions, SHA-256 of everything that was judged, and how to repeat it."""

    versions: Mapping[str, str] = field(default_factory=dict)
    hashes: Mapping[str, str] = field(default_factory=dict)  # by what it is of: `run.nc`, `cycles.log`, `code`, ...
    command: str = ""  # that rehearses it again

    def changed(self, other: Signature) -> tuple[str, ...]:
        """What was judged and is another now, by name: files, settings, limits."""
        return tuple(name for name in _unlike(self.hashes, other.hashes) if name != CODE)

    def made_otherwise(self, other: Signature) -> tuple[str, ...]:
        """Programs that are others now, which need not change a result: by name."""
        code = [name for name in _unlike(self.hashes, other.hashes) if name == CODE]
        return (*_unlike(self.versions, other.versions), *code)


def _unlike(a: Mapping[str, str], b: Mapping[str, str]) -> list[str]:
    return [name for name in dict.fromkeys((*a, *b)) if a.get(name) != b.get(name)]


@dataclass(frozen=True)
class Verdict:
    """All criteria of a rehearsal, causes before what follows from them."""

    title: str
    criteria: tuple[Criterion, ...]
    signature: Signature = field(default_factory=Signature)

    @property
    def go(self) -> bool:
        """Whether no criterion stops it; a verdict without criteria is none."""
        return bool(self.criteria) and not self.against

    @property
    def against(self) -> tuple[Criterion, ...]:
        """The criteria that stop it, in their order: the first is nearest to the cause."""
        return tuple(one for one in self.criteria if one.stops)

    @property
    def by_margin(self) -> tuple[Criterion, ...]:
        """As a reader wants them: what stops it first, then by what is left, and last what has no margin."""

        def place(one: Criterion) -> tuple[int, float]:
            if one.stops:
                return 0, 0.0
            if one.decision == NOT_JUDGED:
                return 3, 0.0
            return (2, 0.0) if one.margin is None else (1, one.margin)

        return tuple(sorted(self.criteria, key=place))

    @property
    def headline(self) -> str:
        """GO or NO-GO, and by how much."""
        judged = sum(one.decision != NOT_JUDGED for one in self.criteria)
        if not self.go:
            return f"NO-GO: {len(self.against)} of {len(self.criteria)} criteria stand against it."
        least = next((one for one in self.by_margin if one.margin is not None), None)
        nearest = f" Nearest to its limit: {least.name}, {100.0 * (least.margin or 0.0):.3g} % left." if least else ""
        return f"GO: all {judged} criteria that could be judged are met.{nearest}"

    def reasons(self, most: int = 3) -> list[str]:
        """Why it is a no-go: the first reasons, and how many there are more."""
        told = [f"{one.name}: {one.reason}" for one in self.against[:most]]
        more = len(self.against) - len(told)
        return [*told, f"and {more} more"] if more else told

    # ---- plain data

    def as_dict(self) -> dict[str, Any]:
        """For files; a number that is not finite becomes a word."""
        rows = [{**asdict(one), "decision": one.decision, "margin": one.margin} for one in self.criteria]
        return plain_data({"go": self.go, "title": self.title, "criteria": rows, "signature": asdict(self.signature)})

    @staticmethod
    def from_dict(data: Mapping[str, Any]) -> Verdict:
        """Back from plain data; a KeyError or TypeError if it is not complete."""
        return Verdict(str(data["title"]), tuple(map(_criterion, data["criteria"])), Signature(**data["signature"]))


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


def _criterion(row: Mapping[str, Any]) -> Criterion:
    own = {name: row[name] for name in ("name", "meaning", "relation", "unit", "reason", "required", "limit_from")}
    value = row["value"]
    return Criterion(**own, limit=float(row["limit"]), value=None if value is None else float(value))
