"""Interface of a facility, virtual or real, for a rehearsal: motion commands in, readings out, once a cycle.

F is the floor of the facility. A robot *carries* a frame M: the spacecraft's base frame, placed relative to the flange
where the mock-up represents it; it may lie outside the mock-up (the centre of mass of a satellite of which only the
grasp ring was built). W is the wrist sensor, fixed to M. A robot may carry a gripper, which closes
on what another robot carries.
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
    """Command for an arm that the robot carries, such as a servicer's: joint positions, rates and torques."""

    position: np.ndarray  # (n,) [rad]
    velocity: np.ndarray  # (n,) [rad/s]
    torque: np.ndarray  # (n,) [N m], feed-forward: of the software, against gravity, and for the moving base


@dataclass(frozen=True)
class MotionCommand:
    """Pose and twist that the carried frame shall have at the end of the cycle."""

    position: np.ndarray  # p_FM (3,) [m]
    quaternion: np.ndarray  # quat_FM (4,), scalar first
    twist: np.ndarray  # V_FM (6,) [m/s, rad/s], in M axes
    arm: ArmCommand | None = None
    gripper: bool | None = None  # whether the gripper shall be closed; None: no command


@dataclass(frozen=True)
class RobotReading:
    """Measurements of one robot in a cycle."""

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
    """Measurements of the whole facility in a cycle."""

    cycle: int  # number of its cycle; shows a lost or repeated answer
    time: float  # [s] of the facility's clock
    robots: Mapping[str, RobotReading]
    stopped: str = ""  # why the facility stopped by itself: a limit, a protective stop; empty while it runs


@dataclass(frozen=True)
class RobotDescription:
    """Data of a robot that must be known before it moves."""

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


# What the description of a facility of hardware must have, for a signature that covers it.
SIGNED = ("driver", "calibration", "firmware")


class Facility(ABC):
    """A cell of robots. The rehearsal owns it between `start` and `stop`; after any failure `stop` is called."""

    name: str
    cycle: float  # [s]
    robots: tuple[RobotDescription, ...]
    delay: float = 0.0  # [s] from a command to the motion, as far as it is known beforehand
    bandwidth: float = np.inf  # [Hz] of the robots' servos, as far as it is known beforehand
    hardware: bool = False  # real robots: a go then needs its calibration and firmware signed (`SIGNED`)
    gravity: tuple[float, float, float] = (
        0.0,
        0.0,
        -9.81,
    )  # [m/s2] on the floor axes F; commands of arms hold against it

    @abstractmethod
    def start(self, commands: Mapping[str, MotionCommand]) -> FacilityReading:
        """Move slowly to the first commanded poses and wait there at rest; a pose out of reach raises an error."""

    @abstractmethod
    def exchange(self, commands: Mapping[str, MotionCommand]) -> FacilityReading:
        """Run one cycle: pass the commands to the robots, return the readings."""

    @abstractmethod
    def stop(self, reason: str) -> None:
        """Bring all robots to rest within their limits and hold them there. May be called at any moment, also twice.

        Grippers stay as they are: a part that is held when the facility stops stays held.
        """

    def close(self) -> None:
        """Release connections and memory."""
        return

    # ---- for the check of its wrist sensors before a run, where the facility has what it needs

    def tool_weight(self, robot: str) -> np.ndarray | None:
        """Known weight of a robot's tool as it is now (6,) [N, N m], at W in W axes; None where it is not known.

        It is the wrench that readings have taken off.
        """
        return None

    def push(self, robot: str, wrench: np.ndarray) -> bool:
        """Push on a robot's tool with a known wrench at W in W axes (6,) [N, N m] until the next call; zero ends it.

        Returns False where the facility cannot. A person may hang up a weight meanwhile: block until it hangs still.
        """
        return False

    # ---- for pages: shapes and poses, where the facility has them

    def parts(self) -> Sequence[CellPart]:
        """All shapes that can be drawn, each on a body."""
        return ()

    def poses(self) -> Mapping[str, tuple[np.ndarray, np.ndarray]]:
        """Present position [m] and quaternion of every body on the floor axes F."""
        return {}

    def description(self) -> Mapping[str, Any]:
        """Settings of the facility as plain data; the signature of a verdict includes them.

        Hardware also describes its `driver` (the hash of its source is taken where nothing is given), its `calibration`
        (frames, tools, sensors, with their dates) and the `firmware` of its controllers.
        """
        return {}
