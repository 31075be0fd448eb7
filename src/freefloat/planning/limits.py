"""Limits of a planned motion: of joints and base, and of the approach to the client."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from freefloat.model import Spacecraft
from freefloat.values.checks import require_number, require_quantity, set_fields
from freefloat.values.errors import ModelError

PerJoint = tuple[float, ...] | float
# Public values of the light-weight robot that the library's servicer carries.
_RANGE_DEG = (170.0, 120.0, 170.0, 120.0, 170.0, 120.0, 170.0)
_RATE_DEG_S = (110.0, 110.0, 128.0, 128.0, 204.0, 184.0, 184.0)
_TORQUE = (176.0, 176.0, 100.0, 100.0, 100.0, 38.0, 38.0)  # [N m]
_UNITS = {"lower": "rad", "upper": "rad", "rate": "rad/s", "acceleration": "rad/s2", "torque": "N m"}


@dataclass(frozen=True)
class MotionLimits:
    """Limits of the arm's joints (one number for all or one for each), of the base, and of the approach."""

    lower: PerJoint  # [rad]
    upper: PerJoint  # [rad]
    rate: PerJoint  # [rad/s]
    acceleration: PerJoint  # [rad/s2]
    torque: PerJoint  # [N m]
    base_force: float = 60.0  # of the thrusters, along each base axis [N]
    base_torque: float = 40.0  # about each base axis [N m]
    clearance: float = 0.05  # of all bodies from the client and from each other [m]
    approach_share: float = 0.2  # of the time, at its end, in which the tool stays in the cone before the ring
    cone_deg: float = 20.0  # half its angle
    cone_width: float = 0.02  # radius at the ring [m]
    tilt_deg: float = 30.0  # of the tool's axis from the ring's, in the cone
    hand_length: float = 0.15  # bodies this near to the tool may touch the client in the cone [m]

    def __post_init__(self) -> None:
        for name, unit in _UNITS.items():
            above = None if name in ("lower", "upper") else 0.0
            words = f"MotionLimits.{name}"
            value = require_quantity(words, getattr(self, name), unit, above=above, allow_infinite=True)
            set_fields(self, **{name: tuple(map(float, value)) if np.ndim(value) else float(value)})
        for name, unit in (("base_force", "N"), ("base_torque", "N m"), ("tilt_deg", "deg"), ("cone_deg", "deg")):
            require_number(f"MotionLimits.{name}", getattr(self, name), unit, above=0.0)
        for name in ("clearance", "cone_width", "hand_length"):
            require_number(f"MotionLimits.{name}", getattr(self, name), "m", least=0.0)
        require_number("MotionLimits.approach_share", self.approach_share, "", least=0.0, most=1.0)
        require_number("MotionLimits.cone_deg", self.cone_deg, "deg", most=89.0)

    @staticmethod
    def of(craft: Spacecraft, **changes: float) -> MotionLimits:
        """Limits of a spacecraft's joints; for an arm of seven joints without limits those of a light-weight robot."""
        joints = [craft.joint(name) for name in craft.layout.moving_joints]
        lower, upper, rate, torque = (
            np.array([float(getattr(joint.limits, kind)) for joint in joints])
            for kind in ("lower", "upper", "rate", "effort")
        )
        if len(joints) == len(_TORQUE):
            lower = np.where(np.isfinite(lower), lower, -np.deg2rad(_RANGE_DEG))
            upper = np.where(np.isfinite(upper), upper, np.deg2rad(_RANGE_DEG))
            rate = np.where(np.isfinite(rate), rate, np.deg2rad(_RATE_DEG_S))
            torque = np.where(np.isfinite(torque), torque, _TORQUE)
        known = {"lower": tuple(lower), "upper": tuple(upper), "rate": tuple(rate), "torque": tuple(torque)}
        return MotionLimits(**{**known, "acceleration": tuple(rate / 0.5), **changes})  # full rate in half a second

    def joint(self, name: str, count: int) -> np.ndarray:
        """One limit for every joint (count), by the name of the field."""
        value = np.asarray(getattr(self, name), dtype=float)
        if value.ndim and len(value) != count:
            raise ModelError(f"MotionLimits.{name} has {len(value)} numbers, the arm has {count} joints.")
        return np.broadcast_to(value, (count,))

    def force(self, count: int) -> np.ndarray:
        """Largest forces of the base and torques of the joints (6 + count) [N, N m]."""
        return np.concatenate([[self.base_force] * 3, [self.base_torque] * 3, self.joint("torque", count)])
