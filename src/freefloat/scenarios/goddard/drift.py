"""The hub drifts: its beams are let go and the hub is struck at the same instant.

This is the prediction that the paper lays beside its cell: its percentages are errors over this drift. The strike is
not published; it is chosen so that a hub of 50 kg drifts at 10 mm/s and one of 250 kg turns at 1/3 deg/s.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from freefloat.scenarios.goddard.release import PAPER, TIPS, GoddardHub
from freefloat.scenarios.settings import Unit
from freefloat.sim.claims import Claim, Source
from freefloat.sim.description import Figure

if TYPE_CHECKING:
    import numpy as np

    from freefloat.sim import Experiment, Run

_EXACT = Source("exact", "momentum: the strike over the whole mass, once the vibration has died out")
_CHOSEN = Source("prototype", "second implementation of the same hub and strike")
STRIKE = 0.5166  # [N s]: 10 mm/s with 50 kg
TURN_STRIKE = 0.2437  # [N m s]: 1/3 deg/s with 250 kg


@dataclass(frozen=True)
class GoddardStruck(GoddardHub):
    """What prediction and cell share: a strike on the hub, along y or about z."""

    motion: Literal["symmetric", "asymmetric"] = "symmetric"
    impulse: Annotated[float, Field(ge=0.0)] = STRIKE  # [N s], or [N m s] where the hub turns
    duration: Annotated[float, Field(gt=0.0), Unit("s")] = 20.0  # [s]
    dt: Annotated[float, Field(gt=0.0), Unit("s")] = 0.004  # [s]

    @property
    def turns(self) -> bool:
        """Whether the hub turns instead of moving along."""
        return self.motion == "asymmetric"

    @property
    def component(self) -> int:
        """Of a twist or wrench of the hub."""
        return 5 if self.turns else 1

    @property
    def hub_inertia(self) -> float:
        """Mass of the hub [kg], or its moment of inertia [kg m2] where it turns."""
        return self.hub_mass * self.edge**2 / 6.0 if self.turns else self.hub_mass


def struck_hubs() -> dict[str, dict[str, object]]:
    """The hubs of the paper's cell: settings by variant."""
    along = ((50.0, 91.3), (25.0, 91.3), (100.0, 98.4))
    hubs: dict[str, dict[str, object]] = {f"{m:g}-kg": {"hub_mass": m, "tip_mm": q} for m, q in along}
    turning = {"motion": "asymmetric", "impulse": TURN_STRIKE, "duration": 10.0}
    return {**hubs, "250-kg": {"hub_mass": 250.0, "tip_mm": 38.1, **turning}}


@dataclass(frozen=True)
class GoddardDrift(GoddardStruck):
    """The hub with its beams in free flight, by modes."""

    name = "goddard-drift"
    title = "Goddard: the hub drifts, its beams vibrate (prediction)"
    source = f"{PAPER}, section on the cell"
    figures = (
        Figure("base.position", "mm", title="Hub position"),
        Figure("base.roll_pitch_yaw", title="Hub rotation"),
        *TIPS,
    )

    @classmethod
    def variants(cls) -> Mapping[str, GoddardDrift]:
        """The hubs of the paper's cell."""
        return {name: dataclasses.replace(cls(), **settings) for name, settings in struck_hubs().items()}

    def build(self) -> Experiment:
        """Strike the hub and let go of the beams."""
        import numpy as np

        from freefloat.dynamics import mass_matrix
        from freefloat.sim import Experiment

        craft = self.spacecraft()
        start = self.bent(craft, 1.0 if self.turns else -1.0)
        M = np.asarray(mass_matrix(craft, start.q))
        start = dataclasses.replace(start, v=np.linalg.solve(M, self.impulse * np.eye(len(M))[self.component]))
        return Experiment.of(craft, duration=self.duration, dt=self.dt, record_dt=self.dt, state=start)

    def claims(self, variant: str, run: Run, others: Mapping[str, Run]) -> list[Claim]:
        """Its momentum, and the drift over which errors of the cell are told."""
        unit, scale = ("deg", 180.0 / 3.141592653589793) if self.turns else ("mm", 1e3)
        drift = scale * hub_way(run, self.turns)
        published = {"25-kg": 389.5, "50-kg": 201.5, "100-kg": 102.5, "250-kg": 3.35}[variant]
        which = "angular" if self.turns else "linear"
        momentum = float(run.values(f"momentum.{which}")[-1][self.component % 3])
        return [
            Claim("drift", _CHOSEN, "about", published, float(drift[-1]), unit, 0.05 if not self.turns else 0.005),
            Claim("momentum", _EXACT, "within", self.impulse, momentum, "N m s" if self.turns else "N s", 1e-9),
        ]


def hub_way(run: Run, turns: bool, channel: str = "base") -> np.ndarray:
    """Way of the hub along y [m], or about z [rad], over the run."""
    import numpy as np

    if not turns:
        return run.values(f"{channel}.position")[:, 1] - run.values(f"{channel}.position")[0, 1]
    quat = run.values(f"{channel}.attitude")
    angle = np.unwrap(2.0 * np.arctan2(quat[:, 3], quat[:, 0]), period=2.0 * np.pi)
    return angle - angle[0]
