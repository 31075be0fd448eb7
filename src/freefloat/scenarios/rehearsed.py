"""A scenario whose contact and motion pass through a facility: rehearsed instead of simulated."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from freefloat.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from freefloat.hil import Facility, Rehearsal
    from freefloat.sim import Experiment


@dataclass(frozen=True)
class RehearsedScenario(Scenario):
    """`build` gives the experiment with the ports of the facility; these two say how and where it is rehearsed."""

    @abstractmethod
    def rehearsal(self, experiment: Experiment) -> Rehearsal:
        """Which robot carries which spacecraft of the experiment."""

    @abstractmethod
    def facility(self) -> Facility:
        """The facility that it is rehearsed in unless another one is given."""
