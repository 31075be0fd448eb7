"""Commands of on-board software: numbers for a port of an actuator. Names are static, numbers are traced.

`PortCommand` is the general one. The others are shorter ways to write commands of the standard actuators.
"""

from __future__ import annotations

from typing import ClassVar

import jax.numpy as jnp
import numpy as np

from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Vec6, Vector


class Command:
    """Numbers for a port of an actuator, or for some of its parts: joints, wheels, nozzles.

    A subclass names its port and its unit, and the fields that hold the parts and the numbers.
    """

    port: str
    unit: str  # of the numbers; empty: that of the port
    kinds: ClassVar[list[type[Command]]] = []  # all subclasses
    kind: ClassVar[str] = ""  # what the port is called in general
    size: ClassVar[int | None] = None  # of the numbers, where no parts say it
    _fields: ClassVar[tuple[str, str]]  # with the parts, with the numbers

    def __init_subclass__(
        cls, port: str = "", unit: str = "", parts: str = "", numbers: str = "", size: int | None = None
    ) -> None:
        cls._fields, cls.size = (parts, numbers), size
        if port:
            cls.kind, cls.unit = port, unit
            if "port" not in cls.__dict__:
                cls.port = port
        if not cls.__name__.startswith("_"):
            Command.kinds.append(cls)

    @property
    def parts(self) -> tuple[str, ...]:
        """Parts that the numbers are for, in order; empty: all that the port has."""
        return getattr(self, self._fields[0]) if self._fields[0] else ()

    @property
    def numbers(self) -> Numeric:
        """The numbers of the command."""
        return getattr(self, self._fields[1])

    def fault(self) -> str:
        """Sentence that says what is wrong with the command, whatever the spacecraft; empty if nothing is."""
        field = self._fields[0]
        names = getattr(self, field) if field else ()
        if isinstance(names, tuple) and all(isinstance(name, str) for name in names):
            return ""
        return f"{field} of {type(self).__name__} must be a tuple of names, got {names!r}."


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
class BaseWrench(Command, port="base.wrench", unit="N, N m", numbers="wrench", size=6):
    """A wrench on the base at its origin, in base axes: an idealisation of thrusters."""

    wrench: Vec6  # [N, N m]


@record
class FrameForces(Command, port="frames.force", unit="N", parts="frames", numbers="forces"):
    """Forces of actuators at frames, each along one axis of its frame: small thrusters on the tips of a structure."""

    frames: tuple[str, ...] = static()
    forces: Vector  # [N]
    axes: str = static(default="z")  # of all frames, or one letter for each

    @property
    def parts(self) -> tuple[str, ...]:
        """Frames with their axes, such as `tip/z`."""
        axes = self.axes * (len(self.frames) if len(self.axes) == 1 else 1)
        return tuple(f"{frame}/{axis}" for frame, axis in zip(self.frames, axes, strict=True))

    def fault(self) -> str:
        """Sentence that says what is wrong with the command; empty if nothing is."""
        if (wrong := super().fault()) or (len(self.axes) in (1, len(self.frames)) and not set(self.axes) - set("xyz")):
            return wrong
        return (
            "axes of FrameForces must be x, y or z, one letter for all or one for each of "
            f"{len(self.frames)} frames, got '{self.axes}'."
        )


@record
class ThrusterDuty(Command, port="thrusters.duty", unit="1", numbers="duty"):
    """Share of the time that each thruster shall burn, 0 to 1; valves turn it into pulses."""

    duty: Vector
    thrusters: str = static(default="")  # name of the set; empty: the only one

    @property
    def port(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Port of the set; that of all sets without a name."""
        return f"{self.thrusters or 'thrusters'}.duty"


class _Switch(Command):
    """A flag for a connection of the world."""

    connection: str
    now: Numeric | bool

    @property
    def parts(self) -> tuple[str, ...]:
        """The connection."""
        return (self.connection,)

    @property
    def numbers(self) -> Numeric:
        """The flag."""
        return jnp.reshape(jnp.asarray(self.now), (1,))

    def fault(self) -> str:
        """Sentence that says what is wrong with the command; empty if nothing is."""
        one = self.now is not None and np.shape(self.now) == ()
        return "" if one else f"{type(self).__name__} takes one flag, got {self.now!r}."


@record
class Latch(_Switch, port="latch", unit="1"):
    """Latch a connection of the world now, if its frames are within reach; a connection that is on stays on."""

    connection: str = static()
    now: Numeric | bool = True  # False: no command


@record
class Release(_Switch, port="release", unit="1"):
    """Release a connection of the world now."""

    connection: str = static()
    now: Numeric | bool = True


@record
class Brake(Command, port="brake", unit="1", parts="joints", numbers="on"):
    """Brakes of joints: 1 holds, 0 releases. A brake keeps its last command."""

    joints: tuple[str, ...] = static()
    on: Vector  # 0 or 1, one for each joint


@record
class PortCommand(Command, parts="names", numbers="values"):
    """Numbers for any port of any actuator: `PortCommand("torquers.dipole", m, unit="A m2")`."""

    port: str = static()
    values: Numeric
    names: tuple[str, ...] = static(default=())  # of the parts that the numbers are for; empty: all
    unit: str = static(default="")  # if given, it must be that of the port
