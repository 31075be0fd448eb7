"""ETS-VII, experiment 4: drift of the uncontrolled satellite under the gravity gradient."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from freefloat.scenarios.ets7.parts import START_DEG, Joints, Positive, Seconds, Servo, spacecraft, with_servo
from freefloat.scenarios.scenario import Scenario
from freefloat.sim.record.description import Figure
from freefloat.values.claims import Claim, Source

if TYPE_CHECKING:
    from freefloat.sim import Experiment, Run

_PAPER = "Yoshida 2003, section 4.3"
_PRINTED = Source("printed", _PAPER)
_SPEC = Source("prototype", _PAPER)
_PITCH_DEG = {120.0: 0.0652, 300.0: 0.4081, 480.0: 1.0493, 600.0: 1.6459, 900.0: 3.7526}


@dataclass(frozen=True)
class Ets7GravityGradient(Scenario):
    """The arm is locked, the satellite starts aligned with the orbital frame and turning with it."""

    name = "ets7-gravity-gradient"
    title = "ETS-VII: attitude drift under the gravity gradient"
    source = _PAPER
    figures = (
        Figure("orbit.roll_pitch_yaw", title="Attitude in the orbital frame"),
        Figure("orbit.torque", title="Gravity-gradient torque"),
    )

    joints_deg: Joints = START_DEG
    altitude_km: Positive = 550.0
    gravity_gradient: bool = True
    duration: Seconds = 900.0
    dt: Seconds = 0.5
    servo: Servo | None = None  # None: joints locked
    craft: Mapping[str, Any] = field(default_factory=dict)  # changes to the spacecraft by dotted path

    @classmethod
    def variants(cls) -> dict[str, Self]:
        """Variants: with and without the torque; in geostationary orbit; with joints held by motors."""
        nominal = cls()
        return {
            "nominal": nominal,
            "without": replace(nominal, gravity_gradient=False),
            "geostationary": replace(nominal, altitude_km=35786.0),
            "torque-level": replace(nominal, servo=Servo(bandwidth=5.0), dt=0.05),
        }

    def build(self) -> Experiment:
        """Experiment with held joints and gravity gradient."""
        import numpy as np

        from freefloat.control import HoldJoints
        from freefloat.effects import CircularOrbit, GravityGradient, co_rotating_state
        from freefloat.sim import Experiment

        craft = spacecraft(None, self.craft, self.servo)
        orbit = CircularOrbit(altitude=1e3 * self.altitude_km)
        tide = GravityGradient(orbit=orbit, factor=1.0 if self.gravity_gradient else 0.0)
        return Experiment.of(
            craft,
            *with_servo(HoldJoints(craft.layout.moving_joints), craft, self.servo, None),
            tide,
            duration=self.duration,
            dt=self.dt,
            record_dt=max(0.5, self.dt),
            state=co_rotating_state(craft, orbit, np.deg2rad(self.joints_deg)),
        )

    def claims(self, variant: str, run: Run, others: Mapping[str, Run]) -> list[Claim]:
        """Claims of the pitch in the orbital frame at the times of the reference."""
        import numpy as np

        from freefloat.scenarios.measures import crossing_time, value_at

        pitch = np.rad2deg(run.values("orbit.roll_pitch_yaw")[:, 1])
        at_ten_minutes = value_at(run, pitch, 600.0) if self.duration >= 600.0 else float("nan")
        one_degree = crossing_time(run, pitch, 1.0)
        if variant == "nominal":
            x, y, z = (float(value) for value in run.values("orbit.torque")[0])
            return [
                Claim("torque about x at the start", "about", -5.1e-5, x, "N m", _SPEC, 1e-6),
                Claim("torque about y at the start", "about", 6.47e-4, y, "N m", _SPEC, 1e-6),
                Claim("torque about z at the start", "about", 0.0, z, "N m", _SPEC, 1e-12),
                *(
                    Claim(f"pitch after {t:g} s", "about", reference, value_at(run, pitch, t), "deg", _SPEC, 1e-4)
                    for t, reference in _PITCH_DEG.items()
                ),
                Claim("1 deg of drift after", "about", 468.7, one_degree, "s", _SPEC, 0.1),
                Claim("1 deg of drift, as printed: several minutes", "below", 600.0, one_degree, "s", _PRINTED),
                Claim(
                    "0.5 N/I t^2 after 480 s", "about", 1.0414, self._analytic_pitch_deg(y, 480.0), "deg", _SPEC, 1e-4
                ),
            ]
        if variant == "without":
            return [Claim("pitch after 600 s", "about", 1.2e-4, at_ten_minutes, "deg", _SPEC, 1e-5)]
        if variant == "geostationary":
            return [Claim("pitch after 600 s", "about", 0.0072, at_ten_minutes, "deg", _SPEC, 1e-4)]
        if variant == "torque-level":
            return [
                Claim("pitch after 600 s, torque level", "within", 1.6459, at_ten_minutes, "deg", _SPEC, 0.02),
                Claim("1 deg of drift after, torque level", "within", 468.7, one_degree, "s", _SPEC, 0.02),
            ]
        return []

    def _analytic_pitch_deg(self, torque: float, t: float) -> float:
        """Pitch angle by a constant torque on the locked spacecraft [deg]."""
        import numpy as np

        from freefloat.dynamics import composite_inertia

        inertia = composite_inertia(spacecraft(None, self.craft), np.deg2rad(self.joints_deg)).about_com()
        return float(np.rad2deg(0.5 * torque / inertia[1, 1] * t**2))
