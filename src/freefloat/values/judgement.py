"""A judgement: a value against its limit, as claims, criteria, entries of an audit and margins of a plan are."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Literal

Relation = Literal["at most", "at least", "below", "above", "about", "within", "not reproduced"]

_COMPARE = {"at most": operator.le, "at least": operator.ge, "below": operator.lt, "above": operator.gt}


@dataclass(frozen=True)
class Judgement:
    """A value and its limit, both in one unit. A value that is not a number never holds."""

    name: str
    relation: Relation  # of the value to the limit
    limit: float
    value: float | None  # None: there was nothing to judge
    unit: str  # "1" for a bare number

    @property
    def holds(self) -> bool | None:
        """Whether the value keeps to the limit; None where there is no value."""
        return None if self.value is None else bool(_COMPARE[self.relation](self.value, self.limit))

    @property
    def margin(self) -> float:
        """What is left to the limit, in its unit; negative beyond it, NaN without a value."""
        if self.value is None:
            return math.nan
        return self.limit - self.value if self.relation in ("at most", "below") else self.value - self.limit

    @property
    def statement(self) -> str:
        """The limit in words: `at most 5 mm`."""
        return f"{self.relation} {self.with_unit(f'{self.limit:.4g}')}"

    def with_unit(self, number: str) -> str:
        """A number in words with its unit: `0.361 deg`; a bare number where the unit is 1."""
        return number if self.unit == "1" else f"{number} {self.unit}"
