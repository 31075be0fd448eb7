"""Scenarios that can also be rehearsed in a facility."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

from freefloat.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from freefloat.hil import Facility, Rehearsal


@dataclass(frozen=True)
class RehearsedScenario(Scenario):
    """A scenario that says which robot carries what, and in which virtual cell."""

    @abstractmethod
    def rehearsal(self) -> Rehearsal:
        """The same experiment with its motion in a facility."""

    @abstractmethod
    def facility(self) -> Facility:
        """The virtual cell that it is rehearsed in where no other facility is given; needs MuJoCo."""
