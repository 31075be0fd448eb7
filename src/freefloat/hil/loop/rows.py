"""One cycle of a rehearsal as a row of numbers: the fields of readings, commands and wrenches, and their places."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from freefloat.hil.facility import RobotDescription

# Fields of every cycle.
_OWN = (
    ("cycle", 1),
    ("time", 1),  # [s] of the facility's clock
    ("lateness", 1),  # [s] by which the cycle began late; zero in lockstep
    ("effort", 1),  # [s] that the loop itself needed
    ("energy", 1),  # [J] that the delay has absorbed
)

CYCLE, TIME, LATENESS, EFFORT, ENERGY = range(len(_OWN))
# Fields of every robot; codes for widths: its joints, joints of its arm, its grippers, coordinates of its spacecraft.
_JOINTS, _ARM_JOINTS, _GRIPPERS, _COORDINATES = -1, -2, -3, -4
_COMMANDED = (("commanded.position", 3), ("commanded.quaternion", 4), ("commanded.twist", 6))
_MEASURED = (
    ("measured.position", 3),
    ("measured.quaternion", 4),
    ("measured.twist", 6),
    ("wrench", 6),  # at W, as measured
    ("joints", _JOINTS),
    ("joint_rates", _JOINTS),
    ("arm.measured", _ARM_JOINTS),
    ("arm.rates", _ARM_JOINTS),
)
_FELT = (("felt", 6),)  # at the port, as it acts on the spacecraft
_SEEN = (("seen", _COORDINATES),)  # measured motion, as a difference from the simulated state
_ARMS_AND_GRIPPERS = (("arm.commanded", _ARM_JOINTS), ("gripper.commanded", _GRIPPERS), ("gripper.holds", _GRIPPERS))


@dataclass(frozen=True)
class RowLayout:
    """Names and widths of the fields of a row, in order."""

    fields: tuple[tuple[str, int], ...]

    @staticmethod
    def of(
        robots: tuple[RobotDescription, ...], coordinates: tuple[int, ...], software: tuple[tuple[str, int], ...] = ()
    ) -> RowLayout:
        """Layout for these robots: all commands, then all measurements, wrenches, measured motions, arms and grippers.

        At the end are the fields of external software.
        """
        fields = list(_OWN)
        for part in (_COMMANDED, _MEASURED, _FELT, _SEEN, _ARMS_AND_GRIPPERS):
            for robot, size in zip(robots, coordinates, strict=True):
                own = {_JOINTS: len(robot.joint_names), _ARM_JOINTS: len(robot.arm_joints)}
                own |= {_GRIPPERS: int(robot.gripper), _COORDINATES: size}
                fields += [(f"{robot.name}.{what}", own.get(width, width)) for what, width in part]
        return RowLayout((*fields, *software))

    @cached_property
    def width(self) -> int:
        """Number of values in a row."""
        return sum(width for _, width in self.fields)

    @cached_property
    def places(self) -> dict[str, slice]:
        """Place of each field in a row, by name."""
        ends = np.cumsum([width for _, width in self.fields])
        return {name: slice(end - width, end) for (name, width), end in zip(self.fields, ends.tolist(), strict=True)}

    def column(self, rows: np.ndarray, name: str) -> np.ndarray:
        """Values of a field in many rows (cycles, width)."""
        return rows[..., self.places[name]]
