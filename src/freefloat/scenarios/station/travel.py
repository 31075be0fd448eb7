"""The station's arm travels along the bus, without and with control, with light and heavy arms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from freefloat.scenarios.scenario import Scenario
from freefloat.scenarios.settings import Unit
from freefloat.scenarios.station.model import PAPER, StationModel, station_model
from freefloat.sim.record.description import Figure
from freefloat.values.claims import OWN_BOUND, Claim, Source

if TYPE_CHECKING:
    from freefloat.sim import Experiment, Run

Positive = Annotated[float, Field(gt=0.0)]
NotNegative = Annotated[float, Field(ge=0.0)]
_TIDE = Source("exact", "a light carriage on a vertical rail in orbit: speed sinh(sqrt(3) n t) / (sqrt(3) n)")
_LINEAR = Source("prototype", "linear model, frozen where the arm begins")


@dataclass(frozen=True)
class StationTravel(Scenario):
    """The arm's base moves along the bus at 0.1 m/s for a minute; with control the regulator stops it."""

    name = "station-rms"
    title = "Station: the arm travels along the bus"
    source = f"{PAPER}, one minute of translation"
    note = (
        "Nonlinear: the carriage travels along the rail of a bus that bends, and the inertia changes with it. Motors "
        "of the joints hold against the tide at the start. Claims that begin with 'no control', 'control' or 'from "
        "rest' are of the 132-state linear model; 'nonlinear' is this run."
    )
    figures = (
        Figure("orbit.rotation", "mdeg", title="Rotation from the attitude in orbit: yaw, roll, pitch"),
        Figure("joints.position", title="Travel [m] and joint angles [rad]"),
        Figure("base.right.tip.displacement", "mm", title="Tip of the bus"),
        Figure("array.1.corner.displacement", "mm", title="Corner of array 1"),
    )

    controlled: bool = False
    speed: Annotated[float, Unit("m/s")] = 0.1  # of the arm's base at the start [m/s]
    start_deg: float = 0.05  # on all axes
    tips_mm: float = 1.0  # deflection of bus and arrays at the start
    base_mass: Annotated[NotNegative, Unit("kg")] = 0.0  # [kg]
    payload_mass: Annotated[NotNegative, Unit("kg")] = 0.0  # [kg]
    from_rest: bool = False  # the carriage was set in motion slowly: zero momentum, no vibration
    duration: Annotated[Positive, Unit("s")] = 60.0  # [s]
    dt: Annotated[Positive, Unit("s")] = 0.001  # [s]

    @classmethod
    def variants(cls) -> Mapping[str, StationTravel]:
        """Variants: free, controlled, and a light and a heavy arm set in motion from rest."""
        calm: dict[str, Any] = {"start_deg": 0.0, "from_rest": True}
        return {
            "nominal": cls(),
            "controlled": cls(controlled=True, duration=240.0),
            "light-from-rest": cls(**calm),
            "heavy-from-rest": cls(base_mass=200.0, payload_mass=1000.0, **calm),
        }

    def station(self) -> StationModel:
        """Station model by Craig-Bampton, 34 coordinates, about its equilibrium."""
        return station_model(
            reduction="craig-bampton",
            gradient="exact",
            trimmed=True,
            base_mass=self.base_mass,
            payload_mass=self.payload_mass,
        )

    def build(self) -> Experiment:
        """Experiment with gravity gradient and motors, which are constant or follow the regulator."""
        import numpy as np

        from freefloat.effects import GravityGradient
        from freefloat.scenarios.station.loop import state_feedback
        from freefloat.scenarios.station.model import TIPS, bent_coordinates
        from freefloat.sim import Experiment

        station = self.station()
        attitude, law = state_feedback(station, station.regulator, self.dt, off=not self.controlled)
        tips = {name: 1e-3 * self.tips_mm for name in TIPS if not name.startswith("arm")}
        rates = np.zeros(3 + station.craft.layout.nq)
        rates[3 + station.craft.layout.position("rail").start] = self.speed
        if self.from_rest:
            rates = station.gentle_rates(self.speed)
        start = station.start(np.full(3, np.deg2rad(self.start_deg)), bent_coordinates(station.craft, tips), rates)
        return Experiment.of(
            station.craft,
            *(GravityGradient(station.orbit), attitude, law),
            state=start,
            duration=self.duration,
            dt=self.dt,
            record_dt=0.05,
        )

    def claims(self, variant: str, run: Run, others: Mapping[str, Run]) -> list[Claim]:
        """Claims of the linear reference numbers, of the nonlinear run, and of the rotation caused by a heavy arm."""
        import numpy as np

        from freefloat.scenarios.station.linear_claims import AXES, travel_claims

        rail = run["joints.position"].values[:, 0]
        travel, turned = rail - rail[0], np.rad2deg(run["orbit.rotation"].values)
        if variant == "heavy-from-rest":
            light = np.max(np.abs(np.rad2deg(others["light-from-rest"]["orbit.rotation"].values)))
            worst = float(np.max(np.abs(turned)))
            return [
                Claim("largest rotation in a minute", "above", 0.1, worst, "deg", OWN_BOUND),
                Claim("against the light arm, times", "above", 100.0, worst / float(light), "1", OWN_BOUND),
            ]
        if variant == "light-from-rest":
            worst = float(np.max(np.abs(turned)))
            return [Claim("largest rotation in a minute", "below", 2e-3, worst, "deg", OWN_BOUND)]
        if variant == "controlled":
            largest = float(np.max(np.abs(travel)))
            found = [Claim("nonlinear: largest travel", "within", 0.0430, largest, "m", _LINEAR, 0.05)]
            at = int(np.argmin(np.abs(run["time"].values - 60.0)))
            for axis, reference, ours in zip(AXES, (-0.0094, -0.0534, -0.0176), turned[at] - turned[0], strict=True):
                found.append(
                    Claim(
                        f"nonlinear: change of {axis} in a minute",
                        "about",
                        reference,
                        float(ours),
                        "deg",
                        _LINEAR,
                        1e-3,
                    )
                )
            return found
        growth = np.sqrt(3.0) * self.station().model.rate  # the tide pulls the carriage along the vertical [1/s]
        exact = self.speed * np.sinh(growth * self.duration) / growth
        found = [Claim("nonlinear: travel in a minute", "within", float(exact), float(travel[-1]), "m", _TIDE, 1e-4)]
        return [*travel_claims(), *found]

    @classmethod
    def needed_runs(cls, variant: str) -> tuple[str, ...]:
        """Run of the light arm, for the heavy one."""
        return ("light-from-rest",) if variant == "heavy-from-rest" else ()
