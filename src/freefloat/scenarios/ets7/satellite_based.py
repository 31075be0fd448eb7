"""ETS-VII, experiment 2: the same 200 mm in satellite axes, the wheels holding the attitude as well as they can."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from freefloat.scenarios.ets7.gjm import HandLine
from freefloat.scenarios.ets7.parts import (
    START_DEG,
    TORQUE_LEVEL_DT,
    WHEEL_PERIOD,
    Joints,
    Seconds,
    Servo,
    WheelTorque,
    spacecraft,
    with_servo,
)
from freefloat.scenarios.scenario import Scenario
from freefloat.sim.record.description import Figure
from freefloat.values.claims import Claim, Source

if TYPE_CHECKING:
    from freefloat.sim import Experiment, Run

_PAPER = "Yoshida 2003, section 4.1"
_SPEC = Source("prototype", _PAPER)
_GJM = "ets7-gjm/sampled-4hz"  # the run that this one is compared with
_RECOVERED = 0.05  # hand orientation error at which the attitude counts as recovered [deg]
_DIGIT = 0.002  # tolerance of experiments 2 and 3 [deg]

# Variant: peak of the hand's pitch error [deg] and recovery time [s] with the unit of its last digit.
_REFERENCES: dict[str, tuple[float, tuple[float, float] | None]] = {
    "nominal": (0.361, (67.0, 1.0)),
    "no-wheels": (0.517, None),
    "torque-0.1": (0.236, (31.8, 0.1)),
    "feed-forward-0.05": (0.357, None),
    "feed-forward-0.1": (0.222, None),
}


@dataclass(frozen=True)
class Ets7SatelliteBased(Scenario):
    """Satellite-based motion of the hand with attitude control by wheels of little torque."""

    name = "ets7-satellite-based"
    title = "ETS-VII: the same line, satellite-based with reaction wheels"
    source = _PAPER
    figures = (
        Figure("hand.rotation_error", title="Hand orientation error"),
        Figure("base.roll_pitch_yaw", title="Base rotation (roll, pitch, yaw)"),
        Figure("wheels.torque", title="Wheel torque"),
        Figure("arm.momentum", title="Angular momentum of the arm"),
    )

    joints_deg: Joints = START_DEG
    path: HandLine = field(default_factory=HandLine)
    wheel_torque: WheelTorque = 0.05
    feed_forward: bool = False  # of the arm's momentum
    duration: Seconds = 100.0
    dt: Seconds = 0.05
    servo: Servo | None = None  # None: rate level
    craft: Mapping[str, Any] = field(default_factory=dict)  # changes to the spacecraft by dotted path

    @classmethod
    def variants(cls) -> dict[str, Self]:
        """Variants: wheels of several torques, with and without feed-forward; with motors at the joints."""
        nominal = cls()
        return {
            "nominal": nominal,
            "no-wheels": replace(nominal, wheel_torque=0.0),
            "torque-0.1": replace(nominal, wheel_torque=0.1),
            "feed-forward-0.05": replace(nominal, feed_forward=True),
            "feed-forward-0.1": replace(nominal, wheel_torque=0.1, feed_forward=True),
            "feed-forward-1.0": replace(nominal, wheel_torque=1.0, feed_forward=True),
            "torque-level": replace(nominal, servo=Servo(), dt=TORQUE_LEVEL_DT),
        }

    def build(self) -> Experiment:
        """Experiment: the arm moves in satellite axes, the wheels compensate its reaction."""
        from freefloat.control import AttitudeHold, Line, SatelliteBasedMotion
        from freefloat.sim import Experiment

        craft = spacecraft(self.wheel_torque, self.craft, self.servo)
        line = Line(direction=(1.0, 0.0, 0.0), length=self.path.length, speed=self.path.speed, ramp=self.path.ramp)
        arm = SatelliteBasedMotion(craft=craft, frame="hand", path=line)
        return Experiment.of(
            craft,
            *with_servo(arm, craft, self.servo, None),
            AttitudeHold(craft=craft, feed_forward=arm if self.feed_forward else None, period=WHEEL_PERIOD),
            duration=self.duration,
            dt=self.dt,
            record_dt=WHEEL_PERIOD,
            joints_deg=self.joints_deg,
        )

    @classmethod
    def needed_runs(cls, variant: str) -> tuple[str, ...]:
        """Run with the generalised Jacobian, commanded at 4 Hz."""
        return (_GJM,) if variant == "nominal" else ()

    def claims(self, variant: str, run: Run, others: Mapping[str, Run]) -> list[Claim]:
        """Claims of peak error, recovery and momentum of the arm, and of the ratio to the generalised Jacobian."""
        from freefloat.scenarios.measures import attitude_disturbance_deg, largest_norm, recovery_time

        error = attitude_disturbance_deg(run)
        peak, recovered = float(error.max()), recovery_time(run, error, _RECOVERED)
        if variant == "feed-forward-1.0":
            return [Claim("peak hand orientation error", "below", 1.2e-6, peak, "deg", _SPEC)]
        if variant == "torque-level":
            return [
                Claim("peak hand orientation error, torque level", "within", 0.361, peak, "deg", _SPEC, 0.02),
                Claim("recovery to 0.05 deg, torque level", "within", 67.0, recovered, "s", _SPEC, 0.02),
            ]
        if variant not in _REFERENCES:
            return []
        degrees, recovery = _REFERENCES[variant]
        found = [Claim("peak hand orientation error", "about", degrees, peak, "deg", _SPEC, _DIGIT)]
        if recovery is not None:
            seconds, digit = recovery
            found.append(Claim("recovery to 0.05 deg", "about", seconds, recovered, "s", _SPEC, digit))
        if variant == "no-wheels":
            found.append(Claim("recovery to 0.05 deg: never", "above", self.duration, recovered, "s", _SPEC))
        if variant == "nominal":
            momentum = largest_norm(run, "arm.momentum")
            found.append(Claim("largest momentum of the arm", "about", 1.861, momentum, "N m s", _SPEC, 1e-3))
            ratio = peak / largest_norm(others[_GJM], "hand.rotation_error", degrees=True)
            found.append(Claim("error against generalised Jacobian at 4 Hz", "within", 877.0, ratio, "1", _SPEC, 0.05))
            found.append(Claim("error against generalised Jacobian at 4 Hz", "above", 800.0, ratio, "1", _SPEC))
        return found
