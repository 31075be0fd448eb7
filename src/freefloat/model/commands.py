"""Commands of on-board software: numbers for a port of an actuator. Names are static, numbers are traced.

`PortCommand` is the general one. The others are shorter ways to write commands of the standard actuators.
"""

from __future__ import annotations

from typing import ClassVar

from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Vec6, Vector


class Command:
    """Numbers for a port of an actuator, or for some of its parts: joints, wheels, nozzles.

    A subclass names its port and its unit, and the fields that hold the parts and the numbers.
    """

    port: str
    unit: str  # of the numbers; empty: that of the port
    _fields: ClassVar[tuple[str, str]]  # with the parts, with the numbers

    def __init_subclass__(cls, port: str = "", unit: str = "", parts: str = "", numbers: str = "") -> None:
        cls._fields = parts, numbers
        if port:
            cls.port, cls.unit = port, unit

    @property
    def parts(self) -> tuple[str, ...]:
        """Parts that the numbers are for, in order; empty: all that the port has."""
        return getattr(self, self._fields[0]) if self._fields[0] else ()

    @property
    def numbers(self) -> Numeric:
        """The numbers of the command."""
        return getattr(self, self._fields[1])


@record
class PortCommand(Command, parts="names", numbers="values"):
    """Numbers for any port of any actuator: `PortCommand("torquers.dipole", m, unit="A m2")`."""

    port: str = static()
    values: Numeric
    names: tuple[str, ...] = static(default=())  # of the parts that the numbers are for; empty: all
    unit: str = static(default="")  # if given, it must be that of the port


@record
class JointRates(Command, port="joints.rate", unit="rad/s, m/s", parts="joints", numbers="rates"):
    """Prescribed rates of joints, whatever torque they need: for rate-level experiments."""

    joints: tuple[str, ...] = static()
    rates: Vector  # [rad/s, m/s]


@record
class JointTorques(Command, port="joints.torque", unit="N m, N", parts="joints", numbers="torques"):
    """Torques of joint motors, within the joints' `limits.effort`."""

    joints: tuple[str, ...] = static()
    torques: Vector  # [N m, N]


@record
class WheelTorques(Command, port="wheels.torque", unit="N m", parts="wheels", numbers="torques"):
    """Torques of wheel motors, within the wheels' limits; a positive one turns the carrier the other way."""

    wheels: tuple[str, ...] = static()
    torques: Vector  # [N m]


@record
class BaseWrench(Command, port="base.wrench", unit="N, N m", numbers="wrench"):
    """A wrench on the base at its origin, in base axes: an idealisation of thrusters."""

    wrench: Vec6  # [N, N m]


@record
class FrameForces(Command, port="frames.force", unit="N", numbers="forces"):
    """Forces of actuators at frames, each along one axis of its frame: small thrusters on the tips of a structure."""

    frames: tuple[str, ...] = static()
    forces: Vector  # [N]
    axes: str = static(default="z")  # of all frames, or one letter for each

    @property
    def parts(self) -> tuple[str, ...]:
        """Frames with their axes, such as `tip/z`."""
        axes = self.axes * (len(self.frames) if len(self.axes) == 1 else 1)
        return tuple(f"{frame}/{axis}" for frame, axis in zip(self.frames, axes, strict=True))


@record
class ThrusterDuty(Command, port="thrusters.duty", unit="1", numbers="duty"):
    """Share of the time that each thruster shall burn, 0 to 1; valves turn it into pulses."""

    duty: Vector
    thrusters: str = static(default="")  # name of the set; empty: the only one

    @property
    def port(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Port of the set; that of all sets without a name."""
        return f"{self.thrusters or 'thrusters'}.duty"


@record
class Latch(Command, port="latch", unit="1", numbers="now"):
    """Latch a connection of the world now, if its frames are within reach; a connection that is on stays on."""

    connection: str = static()
    now: Numeric | bool = True  # False: no command

    @property
    def parts(self) -> tuple[str, ...]:
        """The connection."""
        return (self.connection,)


@record
class Release(Command, port="release", unit="1", numbers="now"):
    """Release a connection of the world now."""

    connection: str = static()
    now: Numeric | bool = True

    @property
    def parts(self) -> tuple[str, ...]:
        """The connection."""
        return (self.connection,)


@record
class Brake(Command, port="brake", unit="1", parts="joints", numbers="on"):
    """Brakes of joints: 1 holds, 0 releases. A brake keeps its last command."""

    joints: tuple[str, ...] = static()
    on: Vector  # 0 or 1, one for each joint
