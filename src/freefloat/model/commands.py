"""Commands of on-board software to its spacecraft. Names are static, numbers are traced."""

from __future__ import annotations

from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Vec6, Vector


@record
class JointRates:
    """Prescribed rates of joints, whatever torque they need: for rate-level experiments."""

    joints: tuple[str, ...] = static()
    rates: Vector  # [rad/s, m/s]


@record
class JointTorques:
    """Torques of joint motors, within the joints' `limits.effort`."""

    joints: tuple[str, ...] = static()
    torques: Vector  # [N m, N]


@record
class WheelTorques:
    """Torques of wheel motors, within the wheels' limits; a positive one turns the carrier the other way."""

    wheels: tuple[str, ...] = static()
    torques: Vector  # [N m]


@record
class BaseWrench:
    """A wrench on the base at its origin, in base axes: an idealisation of thrusters."""

    wrench: Vec6  # [N, N m]


@record
class FrameForces:
    """Forces of actuators at frames, each along one axis of its frame: small thrusters on the tips of a structure."""

    frames: tuple[str, ...] = static()
    forces: Vector  # [N]
    axes: str = static(default="z")  # of all frames, or one letter for each


@record
class ThrusterDuty:
    """Share of the time that each thruster shall burn, 0 to 1; valves turn it into pulses."""

    duty: Vector
    thrusters: str = static(default="")  # name of the set; empty: the only one


@record
class Latch:
    """Latch a connection of the world now, if its frames are within reach; a connection that is on stays on."""

    connection: str = static()
    now: Numeric | bool = True  # False: no command


@record
class Release:
    """Release a connection of the world now."""

    connection: str = static()
    now: Numeric | bool = True


@record
class Brake:
    """Brakes of joints: 1 holds, 0 releases. A brake keeps its last command."""

    joints: tuple[str, ...] = static()
    on: Vector  # 0 or 1, one for each joint


SWITCHES = (Latch, Release, Brake)  # commands that take effect at a tick and apply no force
Command = JointRates | JointTorques | WheelTorques | BaseWrench | FrameForces | ThrusterDuty | Latch | Release | Brake


def numbers(command: Command) -> Numeric:
    """Numbers of a command of any kind."""
    if isinstance(command, JointRates):
        return command.rates
    if isinstance(command, (JointTorques, WheelTorques)):
        return command.torques
    if isinstance(command, FrameForces):
        return command.forces
    if isinstance(command, (Latch, Release)):
        return command.now
    if isinstance(command, Brake):
        return command.on
    return command.wrench if isinstance(command, BaseWrench) else command.duty
