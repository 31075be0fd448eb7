"""Libration of the station in the gravity gradient, without control, joints held."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from freefloat.scenarios.scenario import Scenario
from freefloat.scenarios.settings import Unit
from freefloat.scenarios.station.model import PAPER, orbit_state, station_model
from freefloat.sim.record.description import Figure
from freefloat.values.claims import Claim, Source

if TYPE_CHECKING:
    import numpy as np

    from freefloat.effects import CircularOrbit
    from freefloat.model import Spacecraft
    from freefloat.sim import Experiment, Run

Positive = Annotated[float, Field(gt=0.0)]
_PLANAR = Source("exact", "pitch of a rigid body in a circular orbit: an elliptic integral")
_SMALL = Source("exact", "librations of a rigid body, small angles")
_LINEAR = Source("own run", "linear model of the same spacecraft")


@dataclass(frozen=True)
class StationLibration(Scenario):
    """The station turned from the vertical and left alone: yaw, roll and pitch swing in the gravity gradient."""

    name = "station-libration"
    title = "Station: libration in the gravity gradient"
    source = f"{PAPER}, simulated without control"
    note = (
        "Nonlinear, with bending arrays on a rigid bus whose joints are held: librations are far slower than the bus "
        "bends, and the tide would pull a free carriage off. Other claims are of the 132-state linear model."
    )
    figures = (
        Figure("orbit.rotation", "deg", title="Rotation from the vertical: yaw, roll, pitch"),
        Figure("orbit.torque", title="Gravity-gradient torque"),
        Figure("array.1.tip.displacement", "mm", title="Tip of array 1"),
        Figure("energy.total", title="Energy"),
    )

    yaw_deg: float = 5.0
    roll_deg: float = 5.0
    pitch_deg: float = 5.0
    duration: Annotated[Positive, Unit("s")] = 11110.0  # two orbits [s]
    dt: Annotated[Positive, Unit("s")] = 0.2  # [s]

    @classmethod
    def variants(cls) -> Mapping[str, StationLibration]:
        """Variants: all axes by 5 deg and by 0.01 deg, and pitch alone by 40 deg, far beyond a linear model."""
        return {
            "nominal": cls(),
            "small": cls(yaw_deg=0.01, roll_deg=0.01, pitch_deg=0.01, duration=16665.0),
            "pitch-40-deg": cls(yaw_deg=0.0, roll_deg=0.0, pitch_deg=40.0),
        }

    def build(self) -> Experiment:
        """Experiment with gravity gradient alone."""
        import numpy as np

        from freefloat.control import OrbitAttitude
        from freefloat.effects import GravityGradient
        from freefloat.sim import Experiment

        craft, orbit, q, attitude = slow_station()
        start = orbit_state(craft, orbit, q, attitude, np.deg2rad([self.yaw_deg, self.roll_deg, self.pitch_deg]))
        parts = GravityGradient(orbit), OrbitAttitude(orbit, attitude)
        common: dict[str, Any] = {"duration": self.duration, "dt": self.dt, "record_dt": 25 * self.dt}
        return Experiment.of(craft, *parts, state=start, **common)

    def claims(self, variant: str, run: Run, others: Mapping[str, Run]) -> list[Claim]:
        """Claims of the linear reference numbers (nominal variant) and of exact periods (other variants)."""
        import numpy as np
        from scipy.special import ellipk

        from freefloat.control.lqr import mean_period
        from freefloat.scenarios.station.linear_claims import libration_claims, rest_claims

        t, angles = run["time"].values, run["orbit.rotation"].values
        model = station_model().model
        J, n = model.inertia, model.rate
        slow = 2.0 * np.pi / (n * np.sqrt(3.0 * (J[1, 1] - J[0, 0]) / J[2, 2]))
        period = mean_period(t, angles[:, 2])
        if variant == "pitch-40-deg":
            exact = slow * 2.0 / np.pi * ellipk(np.sin(np.deg2rad(self.pitch_deg)) ** 2)
            aside = float(np.rad2deg(np.max(np.abs(angles[:, :2]))))
            return [
                Claim("period of pitch", "within", float(exact), period, "s", _PLANAR, 2e-5),
                Claim("yaw and roll stay out of it", "below", 2e-2, aside, "deg", _PLANAR),
            ]
        if variant == "small":
            found = [Claim("period of pitch", "within", slow, period, "s", _SMALL, 1e-5)]
            linear = linear_motion(self.duration)
            for k, axis in enumerate(("yaw", "roll", "pitch")):
                reference, ours = (float(np.max(np.abs(x[:, k])) / x[0, k]) for x in (linear, angles))
                words = f"largest {axis}, over that at the start"
                found.append(Claim(words, "within", reference, ours, "1", _LINEAR, 2e-3))
            return found
        return [
            *rest_claims(),
            *libration_claims(),
            Claim("nonlinear: period of pitch", "within", slow, period, "s", _SMALL, 5e-3),
        ]


@lru_cache(maxsize=1)
def slow_station() -> tuple[Spacecraft, CircularOrbit, np.ndarray, np.ndarray]:
    """Station with a rigid bus and arm of the same inertia, its orbit, and q and R_OB of its equilibrium."""
    import numpy as np

    from freefloat.analysis import trim_in_orbit
    from freefloat.library import STATION_ATTITUDE, station
    from freefloat.model import Joint, Spacecraft
    from freefloat.spatial import Pose

    whole = station_model().model
    arrays = [station(columns=(2, 2, 4), damping_ratio=0.005).body(f"array.{k}") for k in (1, 2)]
    seats = [np.array([-50.0, side * 2.5, 0.0]) for side in (1.0, -1.0)]  # [m]
    mass = whole.mass - sum(float(a.mass) for a in arrays)
    centres = [seat + np.asarray(a.com) for seat, a in zip(seats, arrays, strict=True)]
    com = (whole.mass * whole.com - sum(float(a.mass) * c for a, c in zip(arrays, centres, strict=True))) / mass
    inertia = whole.inertia - _off_centre(mass, com - whole.com)
    for array, centre in zip(arrays, centres, strict=True):
        inertia = inertia - np.asarray(array.inertia) - _off_centre(float(array.mass), centre - whole.com)
    craft = Spacecraft.from_base("station", mass=mass, com=com, inertia=inertia)
    for array, seat in zip(arrays, seats, strict=True):
        craft = craft.with_body(array, Joint(array.name, "fixed", "base", Pose(position=seat), axis=(0, 0, 1)))
    orbit = station_model().orbit
    return craft, orbit, *trim_in_orbit(craft, orbit, attitude=STATION_ATTITUDE)


def linear_motion(duration: float) -> np.ndarray:
    """Rotations (samples, 3) of the linear model of the slow station from equal angles."""
    import numpy as np

    from freefloat.analysis import linearise_in_orbit
    from freefloat.control.lqr import simulate_linear

    craft, orbit, q, attitude = slow_station()
    structure = linearise_in_orbit(craft, orbit, q, attitude=attitude).structure
    start = np.concatenate([np.ones(3), np.zeros(2 * len(structure.M) - 3)])
    return simulate_linear(
        structure.state_space.submodel(outputs=structure.coordinates[:3]), start, 5.0, duration
    ).values


def _off_centre(mass: float, arm: np.ndarray) -> np.ndarray:
    """Inertia of a mass [kg] at a distance from the centre of mass (parallel-axis theorem) [kg m2]."""
    import numpy as np

    return mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
