"""Scenarios that can also be rehearsed in a facility."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

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
    """A scenario that says which robot carries what, and in which virtual cell."""

    @abstractmethod
    def rehearsal(self) -> Rehearsal:
        """The same experiment with its motion in a facility."""

    @abstractmethod
    def facility(self) -> Facility:
        """The virtual cell that it is rehearsed in where no other facility is given; needs MuJoCo."""

    # ---- what a verdict needs

    def declared(self) -> World:
        """The spacecraft as the mission declares them, against which the motion in the loop is judged."""
        return self.build().world

    def acceptance(self) -> Acceptance:
        """The limits of a go."""
        from freefloat.hil.judging import Acceptance

        return Acceptance()

    def mission_claims(self, run: Run) -> list[Claim]:
        """Numbers that the mission must reach in a rehearsal, besides what every rehearsal is judged by."""
        return []


def compared_with_simulation(rehearsed: Run, simulated: Run) -> FactTable:
    """How far the spacecraft of a rehearsal came from those of the simulation, as long as both last."""
    rows = []
    own, other = (np.round(run.values("time"), 9) for run in (rehearsed, simulated))
    _, a, b = np.intersect1d(own, other, return_indices=True)
    for name in rehearsed.channels:
        if not name.endswith("base.position") or name.startswith("cell."):
            continue
        craft = name.removesuffix("base.position")
        away = np.linalg.norm(rehearsed.values(name)[a] - simulated.values(name)[b], axis=1)
        quat = [run.values(f"{craft}base.attitude")[k] for run, k in ((rehearsed, a), (simulated, b))]
        chord = np.minimum(*(np.linalg.norm(quat[0] - sign * quat[1], axis=1) for sign in (1.0, -1.0)))
        turned = 4.0 * np.arcsin(0.5 * np.clip(chord, 0.0, 2.0))
        rows.append((craft.removesuffix(".") or "base", f"{1e3 * away.max():.4g} mm", f"{turned.max():.3g} rad"))
    note = "The simulation is the scenario without a facility; a difference is what the measured wrenches made."
    return FactTable("Rehearsal against simulation", ("spacecraft", "position", "attitude"), tuple(rows), note)
