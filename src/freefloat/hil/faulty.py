"""A facility in which something fails on purpose, to test that a rehearsal stops safely before hardware moves."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from freefloat.hil.facility import Facility, FacilityReading, MotionCommand, RobotReading
from freefloat.sim.experiment import require_choice

_LATE = 0.3  # [s] that a late answer takes
_STUCK = (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)  # [N, N m] off, so that it differs from the zero of a sensor without load
_BEYOND = 1e6  # [N, N m], out of the range of any sensor

Change = Callable[[FacilityReading, FacilityReading], Any]  # (this answer, the last one) -> the answer that is returned


class FaultyFacility(Facility):
    """Wraps a facility and makes one fault of `FAULTS` from a cycle on; `stops` has the reasons of the stops."""

    def __init__(self, facility: Facility, fault: str, cycle: int) -> None:
        require_choice("fault", fault, tuple(FAULTS))
        self.facility, self.fault, self.at = facility, fault, cycle
        self.name, self.cycle, self.robots = facility.name, facility.cycle, facility.robots
        self.delay, self.bandwidth, self.gravity = facility.delay, facility.bandwidth, facility.gravity
        self.exchanges = 0
        self.stops: list[str] = []
        self.commands: list[Mapping[str, MotionCommand]] = []
        self._last: FacilityReading | None = None

    def start(self, commands: Mapping[str, MotionCommand]) -> FacilityReading:
        """Start the wrapped facility."""
        self._last = self.facility.start(commands)
        self.commands.append(commands)
        return self._last

    def exchange(self, commands: Mapping[str, MotionCommand]) -> FacilityReading:
        """Exchange with the wrapped facility; from the given cycle on, the reading is changed by the fault."""
        self.exchanges += 1
        self.commands.append(commands)
        reading, last = self.facility.exchange(commands), self._last
        assert last is not None
        if self.exchanges >= self.at:
            reading = FAULTS[self.fault](reading, last)
        self._last = reading if self.fault != "stuck force" or self.exchanges < self.at else last
        return reading

    def stop(self, reason: str) -> None:
        """Record the reason, and stop the wrapped facility."""
        self.stops.append(reason)
        self.facility.stop(reason)

    def close(self) -> None:
        """Close the wrapped facility."""
        self.facility.close()


def _field_change(**values: Callable[[RobotReading], Any]) -> Change:
    """A change of fields in the reading of the first robot."""

    def change(reading: FacilityReading, last: FacilityReading) -> FacilityReading:
        name = next(iter(reading.robots))
        robot = reading.robots[name]
        other = replace(robot, **{field: value_of(robot) for field, value_of in values.items()})
        return replace(reading, robots={**reading.robots, name: other})

    return change


def _error_change(error: Exception) -> Change:
    def change(reading: FacilityReading, last: FacilityReading) -> FacilityReading:
        raise error

    return change


def _late_answer(reading: FacilityReading, last: FacilityReading) -> FacilityReading:
    time.sleep(_LATE)
    return reading


def _without_first(reading: FacilityReading, last: FacilityReading) -> FacilityReading:
    return replace(reading, robots=dict(list(reading.robots.items())[1:]))


def _stuck_wrench(reading: FacilityReading, last: FacilityReading) -> FacilityReading:
    name = next(iter(reading.robots))
    stuck = replace(reading.robots[name], wrench=np.add(last.robots[name].wrench, _STUCK))
    return replace(reading, robots={**reading.robots, name: stuck})


def _number_setter(number: int, value: float, field: str) -> Callable[[RobotReading], np.ndarray]:
    """A function of a reading: the values of a field with one number replaced."""

    def changed_values(robot: RobotReading) -> np.ndarray:
        values = np.array(getattr(robot, field), float)
        values[number] = value
        return values

    return changed_values


FAULTS: dict[str, Change] = {
    "sensor dropout": _without_first,
    "stuck force": _stuck_wrench,
    "force not a number": _field_change(wrench=_number_setter(0, np.nan, "wrench")),
    "force infinite": _field_change(wrench=_number_setter(2, np.inf, "wrench")),
    "force out of range": _field_change(wrench=lambda robot: np.array([_BEYOND, 0.0, 0.0, 0.0, 0.0, 0.0])),
    "torque out of range": _field_change(wrench=lambda robot: np.array([0.0, 0.0, 0.0, 0.0, -_BEYOND, 0.0])),
    "position not a number": _field_change(position=_number_setter(1, np.nan, "position")),
    "position jumps": _field_change(position=lambda robot: robot.position + 1.0),
    "attitude jumps": _field_change(quaternion=lambda robot: np.roll(robot.quaternion, 1)),
    "attitude no rotation": _field_change(quaternion=lambda robot: 1.1 * robot.quaternion),
    "twist infinite": _field_change(twist=_number_setter(5, -np.inf, "twist")),
    "reading of a wrong size": _field_change(wrench=lambda robot: np.zeros(5)),
    "reading garbled": _field_change(wrench=lambda robot: "\x00\xff?"),
    "answer of a wrong kind": lambda reading, last: None,
    "gripper lets go": _field_change(holds=lambda robot: False),
    "late answer": _late_answer,
    "lost answer": _error_change(TimeoutError("no telegram within 12 ms")),
    "answer left out": lambda reading, last: replace(reading, cycle=reading.cycle + 1),
    "repeated answer": lambda reading, last: last,
    "answer out of order": lambda reading, last: replace(last, cycle=max(0, last.cycle - 1)),
    "wrong count of cycles": lambda reading, last: replace(reading, cycle=-7),
    "robot at a limit": lambda reading, last: replace(reading, stopped="joint A2 has reached its end"),
    "protective stop": lambda reading, last: replace(reading, stopped="protective stop: the light barrier is broken"),
    "clock jumps ahead": lambda reading, last: replace(reading, time=reading.time + 1.0),
    "clock jumps back": lambda reading, last: replace(reading, time=reading.time - 1.0),
    "clock stands still": lambda reading, last: replace(reading, time=last.time),
    "clock not a number": lambda reading, last: replace(reading, time=float("nan")),
    "driver fails": _error_change(RuntimeError("checksum of the telegram is wrong")),
    "connection closes": _error_change(ConnectionResetError("the robot has closed the connection")),
    "driver divides by zero": _error_change(ZeroDivisionError("division by zero")),
}
