"""Scenarios that can also be rehearsed in a facility."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from freefloat.scenarios.measures import angles_between
from freefloat.scenarios.scenario import Scenario
from freefloat.sim.record.description import FactTable

if TYPE_CHECKING:
    from freefloat.hil import Facility, Rehearsal
    from freefloat.hil.judging import Acceptance
    from freefloat.model import World
    from freefloat.sim import Run
    from freefloat.values.claims import Claim


@dataclass(frozen=True)
class RehearsedScenario(Scenario):
    """A scenario that also defines its rehearsal: which robot carries which spacecraft, and the virtual cell."""

    @abstractmethod
    def rehearsal(self) -> Rehearsal:
        """Rehearsal of the same experiment, whose motion is made in a facility."""

    @abstractmethod
    def facility(self) -> Facility:
        """Virtual cell in which it is rehearsed if no other facility is given; needs MuJoCo."""

    # ---- what a verdict needs

    def declared_world(self) -> World:
        """World with the spacecraft as the mission declares them; the motion in the loop is judged against it."""
        return self.build().world

    def acceptance(self) -> Acceptance:
        """Limits of the go decision."""
        from freefloat.hil.judging import Acceptance

        return Acceptance()

    def mission_claims(self, run: Run, simulated: Run) -> list[Claim]:
        """Claims of the mission in a rehearsal and against its simulation, in addition to the usual criteria."""
        return []


def rehearse_in_lockstep(scenario: RehearsedScenario, facility: Facility) -> Run:
    """Whole rehearsal in a facility, in lockstep; where a signal stops it, that is a KeyboardInterrupt."""
    from freefloat.hil.rehearse import rehearse, was_interrupted

    run = rehearse(scenario.rehearsal(), facility)
    if was_interrupted(run):
        raise KeyboardInterrupt(run.status)
    return run


def compared_with_simulation(rehearsed: Run, simulated: Run) -> FactTable:
    """Table of the largest distance and angle between rehearsal and simulation, for each spacecraft."""
    rows = []
    own, other = (np.round(run.values("time"), 9) for run in (rehearsed, simulated))
    _, a, b = np.intersect1d(own, other, return_indices=True)
    for name in rehearsed.channels:
        if not name.endswith("base.position") or name.startswith("cell."):
            continue
        craft = name.removesuffix("base.position")
        away = np.linalg.norm(rehearsed.values(name)[a] - simulated.values(name)[b], axis=1)
        attitude = f"{craft}base.attitude"
        turned = angles_between(rehearsed.values(attitude)[a], simulated.values(attitude)[b])
        rows.append((craft.removesuffix(".") or "base", f"{1e3 * away.max():.4g} mm", f"{turned.max():.3g} rad"))
    note = "The simulation is the scenario without a facility; a difference is what the measured wrenches made."
    return FactTable("Rehearsal against simulation", ("spacecraft", "position", "attitude"), tuple(rows), note)
