"""Parts shared by the ETS-VII scenarios: the spacecraft with its wheels, and joints driven by rates or by motors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from freefloat.scenarios.settings import NotNegative, Positive, Unit

if TYPE_CHECKING:
    from freefloat.control import RateSoftware
    from freefloat.model import Part, Spacecraft

WheelTorque = Annotated[NotNegative, Unit("N m")]  # largest, of each wheel
Joints = tuple[float, float, float, float, float, float]
START_DEG: Joints = (0.0, 0.0, 10.0, -32.8, 0.0, 0.0)  # start of the flight experiments: hand pitch -22.8 deg
TORQUE_LEVEL_DT = 0.005  # [s]; resolves the servo
WHEEL_PERIOD = 0.05  # [s] for which the wheels hold their torque (docs/theory-free-floating.md)


@dataclass(frozen=True)
class Servo:
    """Motors instead of prescribed rates: torque level."""

    bandwidth: Annotated[Positive, Unit("rad/s")] = 60.0  # natural frequency of the position loop
    coulomb: Annotated[NotNegative, Unit("N m")] = 0.0  # friction of every joint
    viscous: Annotated[NotNegative, Unit("N m s/rad")] = 0.0
    compensation: Annotated[float, Field(ge=0.0, le=1.0)] = 0.0  # share of the friction that the motors compensate
    motor_inertia: Annotated[NotNegative, Unit("kg m2")] = 0.0  # of every rotor, referred to its joint


def spacecraft(max_torque: float | None, changes: Mapping[str, Any], servo: Servo | None = None) -> Spacecraft:
    """ETS-VII, with wheels if their largest torque [N m] is given, with rotors of a servo, and the user's changes."""
    from freefloat.library import ets7

    craft = ets7(wheels=max_torque is not None)
    for letter in "xyz" if max_torque is not None else "":
        craft = craft.with_value(f"wheel.{letter}.max_torque", max_torque)
    rotor = 0.0 if servo is None else servo.motor_inertia
    for joint in craft.layout.moving_joints if rotor else ():
        craft = craft.with_value(f"{joint}.rotor_inertia", rotor)
    for path, value in changes.items():
        craft = craft.with_value(path, value)
    return craft


def with_servo(
    arm: RateSoftware, craft: Spacecraft, servo: Servo | None, sample_rate_hz: float | None
) -> tuple[Part, ...]:
    """Parts that move the arm: software at rate level, or with joint servo and friction; sampled if a rate is given."""
    from freefloat.control import JointServo
    from freefloat.effects import Friction, JointFriction

    arm = replace(arm, period=None if sample_rate_hz is None else 1.0 / sample_rate_hz)
    if servo is None:
        return (arm,)
    friction = Friction(coulomb=servo.coulomb, viscous=servo.viscous)
    motors = JointServo(
        craft=craft,
        arm=replace(arm, on=""),
        bandwidth=servo.bandwidth,
        friction=friction,
        compensation=servo.compensation,
        on=arm.on,
    )
    rubs = servo.coulomb > 0.0 or servo.viscous > 0.0
    return (motors, JointFriction(friction=friction, on=arm.on)) if rubs else (motors,)
