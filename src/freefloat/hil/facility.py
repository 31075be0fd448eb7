"""What a rehearsal needs of a facility, virtual or real: motion commands in, readings out, once a cycle.

F is the floor of the facility. A robot *carries* a frame M: the spacecraft's base frame, placed relative to the flange
where the mock-up stands for it; it may lie outside the mock-up (the centre of mass of a satellite of which only the
grasp ring was built). W is the wrist sensor, fixed to M. It may carry a gripper, which closes on what another carries.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from freefloat.model.shapes import Shape
from freefloat.spatial.poses import Pose


@dataclass(frozen=True)
class ArmCommand:
    """For an arm that the robot carries, such as a servicer's: where it shall be, and what it needs to be there."""

    position: np.ndarray  # (n,) [rad]
    velocity: np.ndarray  # (n,) [rad/s]
    torque: np.ndarray  # (n,) [N m], feed-forward: of the law, of gravity and of the moving base


@dataclass(frozen=True)
class MotionCommand:
    """Where the carried frame shall be at the end of the cycle."""

    position: np.ndarray  # p_FM (3,) [m]
    quaternion: np.ndarray  # quat_FM (4,), scalar first
    twist: np.ndarray  # V_FM (6,) [m/s, rad/s], in M axes
    arm: ArmCommand | None = None
    gripper: bool | None = None  # whether the gripper shall be closed; None: nobody asks


@dataclass(frozen=True)
class RobotReading:
    """What the sensors of one robot said in a cycle."""

    position: np.ndarray  # p_FM (3,) [m], from the joints' encoders
    quaternion: np.ndarray  # quat_FM (4,)
    twist: np.ndarray  # V_FM (6,) [m/s, rad/s], in M axes
    wrench: np.ndarray  # (6,) [N, N m] that acts on what is carried, at W in W axes; the tool's weight is taken off
    joints: np.ndarray  # (n,) [rad] of the robot
    joint_rates: np.ndarray  # (n,) [rad/s]
    arm_position: np.ndarray = field(default_factory=lambda: np.zeros(0))  # [rad]
    arm_velocity: np.ndarray = field(default_factory=lambda: np.zeros(0))  # [rad/s]
    holds: bool = False  # whether the gripper has closed on something


@dataclass(frozen=True)
class FacilityReading:
    """What the facility said in a cycle."""

    cycle: int  # which cycle it belongs to; a lost or repeated answer shows here
    time: float  # [s] of the facility's clock
    robots: Mapping[str, RobotReading]
    stopped: str = ""  # why the facility stopped by itself: a limit, a protective stop; empty while it runs


@dataclass(frozen=True)
class RobotDescription:
    """What must be known of a robot before it moves."""

    name: str
    joint_names: tuple[str, ...]
    lower: np.ndarray  # (n,) [rad]
    upper: np.ndarray  # (n,) [rad]
    rate_limit: np.ndarray  # (n,) [rad/s]
    acceleration_limit: np.ndarray  # (n,) [rad/s2]
    X_MW: Pose  # the wrist sensor in the carried frame
    arm_joints: tuple[str, ...] = ()  # of the arm it carries
    gripper: bool = False  # whether it carries one


@dataclass(frozen=True)
class CellPart:
    """A shape on a body of the facility."""

    name: str  # such as `client.a3`
    body: str
    shape: Shape


class Facility(ABC):
    """A cell of robots. The loop owns it between `start` and `stop`; whatever goes wrong, `stop` is called."""

    name: str
    cycle: float  # [s]
    robots: tuple[RobotDescription, ...]
    delay: float = 0.0  # [s] from a command to the motion, as far as it is known beforehand
    bandwidth: float = np.inf  # [Hz] of the robots' servos, as far as it is known beforehand
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)  # [m/s2] on the floor axes F; what arms are told to bear

    @abstractmethod
    def start(self, commands: Mapping[str, MotionCommand]) -> FacilityReading:
        """Go to the first commanded motion, slowly, and wait there at rest; a pose out of reach is refused by name."""

    @abstractmethod
    def exchange(self, commands: Mapping[str, MotionCommand]) -> FacilityReading:
        """One cycle: hand over the commands, get the readings."""

    @abstractmethod
    def stop(self, reason: str) -> None:
        """Bring all robots to rest within their limits and hold them there. May be called at any moment, also twice.

        Grippers stay as they are: what is held when the facility stops goes on being held.
        """

    def close(self) -> None:
        """Let go of connections and memory."""
        return

    # ---- for pages: what it looks like, where it can say so

    def parts(self) -> Sequence[CellPart]:
        """Everything that can be drawn, each on a body."""
        return ()

    def poses(self) -> Mapping[str, tuple[np.ndarray, np.ndarray]]:
        """Position [m] and quaternion of every body on the floor, now."""
        return {}

    def description(self) -> Mapping[str, Any]:
        """Its settings as plain data, which a verdict signs."""
        return {}
