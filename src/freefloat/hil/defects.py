"""Defects of a facility that nothing in a reading shows: a sensor that is false, a robot that is not where it says.

A rehearsal that has one must be a no-go; `FaultyFacility` is for faults that stop the loop in their cycle.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from freefloat.hil.cell.rotations import matrix_of, multiply, quaternion_exp
from freefloat.hil.facility import Facility, FacilityReading, MotionCommand, RobotReading
from freefloat.spatial import Pose, angular, linear
from freefloat.values.checks import require_array, require_number
from freefloat.values.errors import ModelError


@dataclass(frozen=True)
class Defects:
    """Defects of one robot. Those of the sensor come after its tare, so that a bias is not tared away."""

    robot: str = ""  # empty: the first of the facility
    gain: float = 1.0  # of the wrist sensor
    turn: Any = (0.0, 0.0, 0.0)  # [rad] of the sensor's axes, a rotation vector
    force_bias: Any = (0.0, 0.0, 0.0)  # [N]
    torque_bias: Any = (0.0, 0.0, 0.0)  # [N m]
    late: int = 0  # cycles by which the measured wrench is late
    lost: int = 0  # of this number of wrenches every last one repeats the one before; 0: none
    late_pose: int = 0  # cycles by which the motion of the robot is late
    pose: Pose = field(default_factory=Pose)  # of the carried frame where it is, in the frame where it is said to be

    def __post_init__(self) -> None:
        require_number("Defects.gain", self.gain, "", above=0.0)
        for name, unit in (("turn", "rad"), ("force_bias", "N"), ("torque_bias", "N m")):
            require_array(f"Defects.{name}", getattr(self, name), unit, (3,), "x, y, z")
        if min(self.late, self.late_pose, self.lost) < 0:
            raise ModelError("Defects.late, late_pose and lost are numbers of cycles, zero or more.")


class DefectiveFacility(Facility):
    """A facility with defects between what happens in it and what it reports."""

    def __init__(self, facility: Facility, defects: Defects) -> None:
        self._inner, self.defects = facility, defects
        self.name, self.cycle, self.robots = facility.name, facility.cycle, facility.robots
        self.delay, self.bandwidth, self.gravity = facility.delay, facility.bandwidth, facility.gravity
        self.hardware = facility.hardware
        self._robot = defects.robot or facility.robots[0].name
        self._turn = matrix_of(quaternion_exp(np.asarray(defects.turn, float)))
        self._offset = np.asarray(defects.pose.p), np.asarray(defects.pose.quaternion)
        self._queue: deque[np.ndarray] = deque()
        self._motions: deque[RobotReading] = deque()
        self._count, self._last = 0, np.zeros(6)
        self._tare = np.zeros(6)

    def start(self, commands: Mapping[str, MotionCommand]) -> FacilityReading:
        """Start the facility; its sensors are tared before the defects act."""
        self._queue.clear()
        self._motions.clear()
        self._count, self._last = 0, np.zeros(6)
        reading = self._inner.start(commands)
        self._tare = self._weights()
        return self._with_defects(reading)

    def exchange(self, commands: Mapping[str, MotionCommand]) -> FacilityReading:
        """Run one cycle, and report it with the defects."""
        return self._with_defects(self._inner.exchange(commands))

    def stop(self, reason: str) -> None:
        """Stop the facility."""
        self._inner.stop(reason)

    def close(self) -> None:
        """Close the facility."""
        self._inner.close()

    def description(self) -> Mapping[str, Any]:
        """Description of the facility itself: nobody knows of its defects."""
        return self._inner.description()

    def tool_weight(self, robot: str) -> np.ndarray | None:
        """Weight of a robot's tool as the facility knows it."""
        return self._inner.tool_weight(robot)

    def push(self, robot: str, wrench: np.ndarray) -> bool:
        """Push on a robot's tool."""
        return self._inner.push(robot, wrench)

    def _weights(self) -> np.ndarray:
        known = self._inner.tool_weight(self._robot)
        return np.zeros(6) if known is None else np.asarray(known)

    def _with_defects(self, reading: FacilityReading) -> FacilityReading:
        own = reading.robots[self._robot]
        return replace(reading, robots={**reading.robots, self._robot: self._false_reading(own)})

    def _false_reading(self, own: RobotReading) -> RobotReading:
        # What the sensor bears changes since its tare by the weight too, which the facility takes off as it is.
        weight = self._weights() - self._tare
        force, torque = (self._turn @ np.asarray(part(own.wrench + weight)) for part in (linear, angular))
        bias = np.concatenate([np.asarray(x, float) for x in (self.defects.force_bias, self.defects.torque_bias)])
        wrench = self.defects.gain * np.concatenate([force, torque]) - weight + bias
        self._queue.append(wrench)
        while len(self._queue) > self.defects.late + 1:
            self._queue.popleft()
        wrench = self._queue[0]
        self._count += 1
        if self.defects.lost and self._count % self.defects.lost == 0:
            wrench = self._last
        self._last = wrench
        own = self._late_motion(own)
        position = own.position + matrix_of(own.quaternion) @ self._offset[0]
        return replace(own, wrench=wrench, position=position, quaternion=multiply(own.quaternion, self._offset[1]))

    def _late_motion(self, own: RobotReading) -> RobotReading:
        """The reading with the motion of some cycles ago."""
        self._motions.append(own)
        while len(self._motions) > self.defects.late_pose + 1:
            self._motions.popleft()
        then = self._motions[0]
        return replace(own, position=then.position, quaternion=then.quaternion, twist=then.twist)
