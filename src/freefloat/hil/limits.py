"""Limits of a rehearsal: numbers that the commands and readings of every cycle are checked against."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from freefloat.values.checks import require_array, require_bounds, require_number, set_fields
from freefloat.values.errors import ModelError


@dataclass(frozen=True)
class Limits:
    """Limits of every robot; a reading or a command beyond one of them stops the facility in the same cycle."""

    lower: Any = (-10.0, -10.0, -10.0)  # [m], the corner of a box on the floor axes F that carried frames stay in
    upper: Any = (10.0, 10.0, 10.0)  # [m]
    speed: float = 2.0  # [m/s] of a carried frame, as commanded
    turn_rate: float = 2.0  # [rad/s]
    acceleration: float = 10.0  # [m/s2]
    turn_acceleration: float = 10.0  # [rad/s2]
    tracking: float = 0.1  # [m] between commanded and measured
    tracking_angle: float = 0.1  # [rad]
    force: float = 2000.0  # [N], range of a wrist sensor
    torque: float = 1000.0  # [N m]
    joint_margin: float = 0.0  # [rad] that the robots' joints keep from their ends
    clock: float = 0.5  # share of a cycle by which the facility's clock may be off from one reading to the next
    stuck: int = 20  # readings of one non-zero wrench, the same to the last bit, after which the sensor is stuck
    lateness: float = 0.05  # [s] by which a cycle may begin late, in real time
    reply: float = 60.0  # [s] that the facility may take to answer; in real time the limit of lateness acts earlier

    def __post_init__(self) -> None:
        lower = require_array("Limits.lower", self.lower, "m", (3,), "x, y, z in metres")
        upper = require_array("Limits.upper", self.upper, "m", (3,), "x, y, z in metres")
        if np.any(lower >= upper):
            raise ModelError(f"Limits.lower must be below Limits.upper, got {lower.tolist()} and {upper.tolist()} m.")
        set_fields(self, lower=tuple(lower.tolist()), upper=tuple(upper.tolist()))
        units = {"speed": "m/s", "turn_rate": "rad/s", "acceleration": "m/s2", "turn_acceleration": "rad/s2"}
        units |= {
            "tracking": "m",
            "tracking_angle": "rad",
            "force": "N",
            "torque": "N m",
            "lateness": "s",
            "reply": "s",
        }
        require_bounds(self, units, above=0.0)
        require_bounds(self, {"joint_margin": "rad"}, least=0.0)
        require_number("Limits.clock", self.clock, "", above=0.0)
        if not isinstance(self.stuck, int) or self.stuck < 2:
            raise ModelError(f"Limits.stuck must be a whole number of readings, two or more, got {self.stuck!r}.")
