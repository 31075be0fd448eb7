"""Requirements on a metric of the runs, and which runs meet them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from freefloat.campaign.errors import CampaignError, require_known


@dataclass(frozen=True)
class Requirement:
    """Limit on a metric that at least the share `probability` of all runs must meet, shown with a confidence.

    A run that diverged, or whose metric is not a number, does not meet it.
    """

    name: str
    metric: str
    below: float | None = None
    above: float | None = None
    probability: float = 0.95
    confidence: float = 0.9

    def __post_init__(self) -> None:
        if self.below is None and self.above is None:
            raise CampaignError(f"Requirement '{self.name}' needs below or above, or both.")
        for name in ("probability", "confidence"):
            if not 0.0 < getattr(self, name) < 1.0:
                raise CampaignError(f"Requirement '{self.name}': {name} must lie between 0 and 1.")

    def is_met(self, values: np.ndarray) -> np.ndarray:
        """Whether the metric of each run meets the requirement."""
        low = -np.inf if self.above is None else self.above
        high = np.inf if self.below is None else self.below
        return (values <= high) & (values >= low) & np.isfinite(values)

    @property
    def words(self) -> str:
        """The requirement as text, such as `rate at most 0.1`."""
        above = [] if self.above is None else [f"at least {self.above:g}"]
        below = [] if self.below is None else [f"at most {self.below:g}"]
        return f"{self.metric} {' and '.join(above + below)}"

    def as_dict(self) -> dict[str, Any]:
        """The requirement as plain data, as a campaign file contains it."""
        return {k: v for k, v in dataclasses.asdict(self).items() if v is not None and k != "name"}

    @staticmethod
    def from_dict(name: str, given: Mapping[str, Any]) -> Requirement:
        """Read a requirement from a file."""
        known = [field.name for field in dataclasses.fields(Requirement) if field.name != "name"]
        require_known(f"Requirement '{name}'", given, known)
        if "metric" not in given:
            raise CampaignError(f"Requirement '{name}' needs metric: the name of one.")
        return Requirement(name, **given)
