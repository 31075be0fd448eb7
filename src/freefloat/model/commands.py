"""Commands: what on-board software may ask of its spacecraft. Names are static, numbers are traced."""

from __future__ import annotations

from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Vec6, Vector


@record
class JointRates:
    """Joints that move at prescribed rates, whatever torque that takes: rate-level experiments."""

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
    """Share of the time that each thruster is to burn, 0 to 1; valves make pulses of it."""

    duty: Vector
    thrusters: str = static(default="")  # name of the set; empty: the only one


@record
class Latch:
    """A connection of the world is to latch now, if its frames are within reach; one that is on stays on."""

    connection: str = static()
    now: Numeric | bool = True  # whether it is asked for


@record
class Release:
    """A connection of the world is to let go now."""

    connection: str = static()
    now: Numeric | bool = True


@record
class Brake:
    """Brakes of joints: 1 holds, 0 lets go. A brake keeps what it was told last."""

    joints: tuple[str, ...] = static()
    on: Vector  # 0 or 1, one for each joint


SWITCHES = (Latch, Release, Brake)  # what takes effect at a tick, and pushes nothing by itself
Command = JointRates | JointTorques | WheelTorques | BaseWrench | FrameForces | ThrusterDuty | Latch | Release | Brake


def numbers(command: Command) -> Numeric:
    """The numbers of a command, whatever its kind."""
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
