"""One cycle of a rehearsal as a row of numbers: what was read, commanded and felt, where each of it stands."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from freefloat.hil.facility import RobotDescription

# Of every cycle.
_OWN = (
    ("cycle", 1),
    ("time", 1),  # [s] of the facility's clock
    ("lateness", 1),  # [s] by which it began late; zero in lockstep
    ("effort", 1),  # [s] that the loop itself needed
    ("energy", 1),  # [J] that the delay has absorbed
)


@dataclass(frozen=True)
class RowLayout:
    """Names and widths of what stands in a row, in order."""

    fields: tuple[tuple[str, int], ...]

    @staticmethod
    def of(robots: tuple[RobotDescription, ...]) -> RowLayout:
        """Of the cycles with these robots."""
        fields = list(_OWN)
        for robot in robots:
            joints, arm = len(robot.joint_names), len(robot.arm_joints)
            fields += [(f"{robot.name}.{what}", width) for what, width in _of_robot(joints, arm)]
        return RowLayout(tuple(fields))

    @cached_property
    def width(self) -> int:
        """Numbers in a row."""
        return sum(width for _, width in self.fields)

    @cached_property
    def places(self) -> dict[str, slice]:
        """Where each field stands."""
        ends = np.cumsum([width for _, width in self.fields])
        return {name: slice(end - width, end) for (name, width), end in zip(self.fields, ends.tolist(), strict=True)}

    def column(self, rows: np.ndarray, name: str) -> np.ndarray:
        """A field of many rows (cycles, width)."""
        return rows[..., self.places[name]]


def _of_robot(joints: int, arm: int) -> tuple[tuple[str, int], ...]:
    return (
        ("commanded.position", 3),
        ("commanded.quaternion", 4),
        ("commanded.twist", 6),
        ("measured.position", 3),
        ("measured.quaternion", 4),
        ("measured.twist", 6),
        ("wrench", 6),  # at W, as the sensor says
        ("felt", 6),  # at the port, as it acts on the spacecraft
        ("joints", joints),
        ("joint_rates", joints),
        ("arm.commanded", arm),
        ("arm.measured", arm),
    )
