"""The station recovers from a turned and bent start: ideal regulator, limits, sensors and a filter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from freefloat.scenarios.scenario import Scenario
from freefloat.scenarios.settings import NotNegative, Positive, Seconds, Unit
from freefloat.scenarios.station.model import PAPER, StationModel, station_model
from freefloat.sim.record.description import Figure
from freefloat.values.claims import Claim

if TYPE_CHECKING:
    from freefloat.control.lqr import StateSpace
    from freefloat.model import Spacecraft
    from freefloat.sim import Experiment, Run

_PERIOD = 0.05  # of the filter [s]
_WHEEL_BOX = 20.0  # a box with three wheels [kg]; the regulator's model does not have it


@dataclass(frozen=True)
class StationRecovery(Scenario):
    """From 5 deg on all axes and 10 mm on all tips back to rest, by torques and forces at the tips."""

    name = "station-recovery"
    title = "Station: recovery of attitude and shape"
    source = f"{PAPER}, controlled by LQR"
    note = (
        "Nonlinear, 34 coordinates, with the gains of its own linear model. Claims on 132 states are of the paper's "
        "linear model."
    )
    figures = (
        Figure("orbit.rotation", "deg", title="Rotation from the attitude in orbit: yaw, roll, pitch"),
        Figure("controller.command", title="Commands of the controller [N, N m]"),
        Figure("array.1.corner.displacement", "mm", title="Corner of array 1"),
        Figure("joints.position", title="Travel [m] and joint angles [rad]"),
    )

    control: Literal["state", "filter"] = "state"  # on the whole state, or on sensors through a filter
    start_deg: float = 5.0  # on all axes
    tips_mm: float = 10.0  # deflection of every component's tip
    wheel_torque: Annotated[NotNegative, Unit("N m")] = 0.0  # of wheels on three axes; 0: an ideal torque [N m]
    tip_force: Annotated[NotNegative, Unit("N")] = 0.0  # largest force at a tip; 0: no limit [N]
    known_modes: Annotated[int, Field(ge=6, le=34)] = 34  # that the filter's model has
    bold: Positive = 1.0  # weights of the filter's design, times those of the careful one
    late: Annotated[int, Field(ge=0, le=200)] = 0  # samples by which commands come late
    sensor_noise: bool = False
    duration: Seconds = 600.0
    dt: Seconds = 0.001

    @classmethod
    def variants(cls) -> Mapping[str, StationRecovery]:
        """Variants: the paper's loop; limits; sensors and filter; a delay below and above the margin; too few modes."""
        small: dict[str, Any] = {"control": "filter", "start_deg": 0.01, "tips_mm": 0.0, "dt": 0.002}
        return {
            "nominal": cls(),
            "limited": cls(wheel_torque=60.0, tip_force=40.0),
            "filter": cls(control="filter", start_deg=1.0, sensor_noise=True, dt=0.002, duration=1000.0),
            "late-below": cls(late=54, duration=300.0, **small),
            "late-above": cls(late=58, duration=300.0, **small),
            "few-modes": cls(known_modes=10, bold=20.0, duration=200.0, **{**small, "start_deg": 1e-4}),
        }

    def station(self) -> StationModel:
        """Station model about its equilibrium; with damping if a filter is used."""
        damping = 0.005 if self.control == "filter" else 0.0
        return station_model(reduction="craig-bampton", gradient="exact", trimmed=True, damping_ratio=damping)

    def compensator(self) -> StateSpace:
        """Filter and regulator designed with the known modes."""
        from freefloat.scenarios.station.loop import compensator, sensed_structure

        structure = sensed_structure(self.station())
        if self.known_modes < len(structure.M):
            structure = structure.keep_modes(range(self.known_modes))
        return compensator(structure, _PERIOD, bold=self.bold)

    def build(self) -> Experiment:
        """Experiment with gravity gradient, sensors and software."""
        import numpy as np

        from freefloat.effects import GravityGradient
        from freefloat.scenarios.station.model import TIPS, bent_coordinates
        from freefloat.sim import Experiment

        station = self.station()
        start = station.start(
            np.full(3, np.deg2rad(self.start_deg)),
            bent_coordinates(station.craft, dict.fromkeys(TIPS, 1e-3 * self.tips_mm)),
        )
        craft = self._craft(station)
        parts = GravityGradient(station.orbit), *self._sensors(station), *self._software(station, craft)
        common: dict[str, Any] = {"duration": self.duration, "dt": self.dt, "record_dt": 50 * self.dt}
        return Experiment.of(craft, *parts, state=_with_resting_wheels(craft, start), **common)

    def _craft(self, station: StationModel) -> Spacecraft:
        """Station, with a box of wheels in the middle of its bus if wheels are used."""
        import numpy as np

        from freefloat.model import Spacecraft

        if not self.wheel_torque:
            return station.craft
        box = Spacecraft.from_base("wheels", mass=_WHEEL_BOX, inertia=(5.0, 5.0, 5.0))  # [kg], [kg m2]
        for axis, direction in zip("xyz", np.eye(3), strict=True):
            box = box.with_wheel(axis, axis=direction, inertia=2.0, max_torque=self.wheel_torque)  # [kg m2]
        return station.craft.mount(box, name="wheels", to="base.middle")

    def _sensors(self, station: StationModel) -> tuple[Any, ...]:
        from freefloat.scenarios.station.loop import TIP_FRAMES
        from freefloat.sensors import Deflection, Gyro, Ideal, JointEncoder, StarTracker

        if self.control == "state":
            return ()
        at: dict[str, Any] = {"period": _PERIOD}
        if not self.sensor_noise:
            ideal = Ideal(("base.attitude", "base.rate", "joints.position"))
            return Deflection(TIP_FRAMES, station.reference.q, **at), ideal
        return (
            StarTracker(cross_noise=1e-5, roll_noise=1e-5, **at),  # [rad]
            Gyro(noise=1e-6, **at),  # [rad/s]
            JointEncoder(noise=1e-5, **at),  # [rad, m]
            Deflection(TIP_FRAMES, station.reference.q, noise=1e-4, **at),  # [m]
        )

    def _software(self, station: StationModel, craft: Spacecraft) -> tuple[Any, ...]:
        import dataclasses

        import numpy as np

        from freefloat.scenarios.station.loop import filter_feedback, state_feedback

        if self.control == "filter":
            attitude, software = filter_feedback(station, self.compensator())
            return attitude, dataclasses.replace(software, late=self.late)
        force = self.tip_force or np.inf
        largest = np.array([force if "tip" in name else np.inf for name in station.structure.inputs])
        wheels = craft if self.wheel_torque else None
        return state_feedback(station, station.regulator, self.dt, wheels_of=wheels, largest=largest)

    def claims(self, variant: str, run: Run, others: Mapping[str, Run]) -> list[Claim]:
        """Claims of each variant."""
        from freefloat.scenarios.station import recovery_claims as claims

        if variant == "nominal":
            return claims.nominal_claims(self, run)
        if variant in ("limited", "filter"):
            return claims.settling_claims(run, 0.3 if variant == "limited" else 0.01)
        if variant == "late-above":
            return claims.delay_margin_claims(self, run, others["late-below"])
        return claims.spillover_claims(self, run) if variant == "few-modes" else []

    @classmethod
    def needed_runs(cls, variant: str) -> tuple[str, ...]:
        """Run on the other side of the delay margin."""
        return ("late-below",) if variant == "late-above" else ()


def _with_resting_wheels(craft: Spacecraft, start: Any) -> Any:
    """Start state of the station, extended by wheels at rest if it has wheels."""
    import dataclasses

    import numpy as np

    if not craft.wheel_names:
        return start
    v = np.zeros(craft.layout.nv)
    v[[k for k in range(craft.layout.nv) if k not in craft.layout.wheel_velocities]] = start.v
    return dataclasses.replace(start, v=v)
