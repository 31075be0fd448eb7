"""Kinds of failure: wheels, joints, thrusters, motors, sensors. On-board software has to detect them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.actuators.thrusters import Thrusters, ValveState
from freefloat.model import Actuator, Clock, Failure, Part, PortCommands, Sensor, Spacecraft, Truth
from freefloat.spatial.rotations import quaternion_exp, quaternion_multiply
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import ArrayLike, Numeric, is_traced
from freefloat.values.checks import require_bounds, require_numbers, set_fields


@record
class DeadWheel(Failure):
    """A wheel whose motor gives no torque; it goes on spinning."""

    wheel: str = static()

    def check(self, craft: Spacecraft) -> None:
        """Reject a wheel that the spacecraft does not have."""
        self.require_known(craft, "wheel", (self.wheel,), craft.wheel_names)

    def concerns(self, part: Part, craft: Spacecraft) -> bool:
        """Whether an actuator drives the wheel."""
        return isinstance(part, Actuator) and any(self.wheel in port.drives for port in part.accepts(craft))

    def failed_commands(self, u: PortCommands, clock: Clock) -> PortCommands:
        """Commands without a torque of this wheel."""
        for port in u.ports:
            dead = {part for part, wheel in zip(port.parts, port.drives, strict=False) if wheel == self.wheel}
            u = u.with_changes(
                port.name, lambda part, number, dead=dead: jnp.zeros_like(number) if part in dead else number
            )
        return u


@record
class StuckJoint(Failure):
    """A joint that stops at once and stays where it is: it may not recover."""

    joint: str = static()

    def check(self, craft: Spacecraft) -> None:
        """Reject a joint that the spacecraft does not have or that cannot move."""
        self.require_moving(craft, (self.joint,))
        if not is_traced(self.until) and np.isfinite(self.until):
            raise ModelError(f"StuckJoint '{self.joint}' may not recover: leave out until.")

    def stuck_joints(self) -> tuple[str, ...]:
        """The joint."""
        return (self.joint,)


@record
class OpenThruster(Failure):
    """A thruster that stays open."""

    thruster: str = static()

    def concerns(self, part: Part, craft: Spacecraft) -> bool:
        """Whether the thruster is one of a set."""
        return isinstance(part, Thrusters) and self.thruster in [nozzle.name for nozzle in part.nozzles]

    def missing_text(self, parts: tuple[Part, ...], craft: Spacecraft) -> str:
        """Sentence with the names of all thrusters."""
        names = [nozzle.name for part in parts if isinstance(part, Thrusters) for nozzle in part.nozzles]
        return f"OpenThruster: no thruster '{self.thruster}'. Thrusters: {', '.join(names) or 'none'}."

    def failed_memory(self, part: Any, before: ValveState, after: ValveState, clock: Clock) -> ValveState:
        """Valves with this one open over the whole hold."""
        mine = np.array([nozzle.name == self.thruster for nozzle in part.nozzles])
        longer = jnp.where(mine, (1.0 - after.burning) * clock.hold, 0.0)  # [s] than the sound valve burns
        return dataclasses.replace(
            after,
            debt=jnp.where(mine, 0.0, after.debt),
            burning=jnp.where(mine, 1.0, after.burning),
            closes_at=jnp.where(mine, clock.t + clock.hold, after.closes_at),
            propellant=after.propellant + part.propellant_mass(longer),
        )


@record
class WeakActuator(Failure):
    """An actuator that follows only a share of each command: torque, rate, duty."""

    actuator: str = static()  # name of the actuator, or its class: `JointMotors`
    share: Numeric | float = 0.5

    def __post_init__(self) -> None:
        require_bounds(self, {"share": ""}, least=0.0)

    def concerns(self, part: Part, craft: Spacecraft) -> bool:
        """Whether an actuator is called so."""
        return isinstance(part, Actuator) and self.actuator in (part.name, type(part).__name__)

    def failed_commands(self, u: PortCommands, clock: Clock) -> PortCommands:
        """The share of all commands."""
        for port in u.ports:
            u = u.with_changes(port.name, lambda part, number: self.share * number)
        return u


# ---- sensors


@record
class _SensorFailure(Failure):
    """A failure of a sensor, called by its name or by its class: `Gyro`."""

    sensor: str = static()

    def concerns(self, part: Part, craft: Spacecraft) -> bool:
        """Whether a sensor is called so."""
        return isinstance(part, Sensor) and self.sensor in (part.name, type(part).__name__)

    def missing_text(self, parts: tuple[Part, ...], craft: Spacecraft) -> str:
        """Sentence with the names of all sensors."""
        known = ", ".join(part.name or type(part).__name__ for part in parts if isinstance(part, Sensor))
        return f"{type(self).__name__}: no sensor '{self.sensor}'. Sensors: {known or 'none; ideal ones do not fail'}."


@record
class BlindSensor(_SensorFailure):
    """A sensor that measures nothing new; its last value stays valid, with the time at which it was measured."""

    def measures_still(self) -> bool:
        """Whether it takes samples: no."""
        return False


@record
class FrozenSensor(_SensorFailure):
    """A sensor that goes on reporting, with new times, the value that it had when it failed."""

    def failed_values(
        self, values: Mapping[str, Numeric], last: Mapping[str, Numeric], truth: Truth, clock: Clock
    ) -> Mapping[str, Numeric]:
        """The values of the sample before."""
        return last


@record
class DriftingSensor(_SensorFailure):
    """A sensor whose error grows in proportion to the time since it failed."""

    rate: ArrayLike = 0.0  # of the error: a number, or one for each entry [unit of the measurement per s]
    measurement: str = static(default="")  # name without that of the sensor, such as `base.rate`; empty: all

    def __post_init__(self) -> None:
        set_fields(self, rate=require_numbers("DriftingSensor.rate", self.rate, "1/s"))

    def failed_values(
        self, values: Mapping[str, Numeric], last: Mapping[str, Numeric], truth: Truth, clock: Clock
    ) -> Mapping[str, Numeric]:
        """Values with their drift; an attitude turns about its own axes [rad/s]."""
        if self.measurement and self.measurement not in values:
            known = ", ".join(values)
            raise ModelError(
                f"DriftingSensor: '{self.sensor}' measures no '{self.measurement}'. Measurements: {known}."
            )
        error = jnp.asarray(self.rate) * (clock.t - self.at)
        chosen = {name for name in values if self.measurement in ("", name)}
        return {name: _with_error(name, value, error) if name in chosen else value for name, value in values.items()}


def _with_error(name: str, value: Numeric, error: Numeric) -> Numeric:
    """A measured value with an error; a quaternion turned by a rotation vector."""
    if name.rpartition(".")[2] != "attitude":
        return value + error
    return quaternion_multiply(jnp.asarray(value), quaternion_exp(error * jnp.ones(3)))
