"""Numbers read off a run, as the papers quote them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from freefloat.sim import Run


def largest_norm(run: Run, channel: str, degrees: bool = False, by_component: bool = False) -> float:
    """Largest length of a vector channel over the run, or its largest component."""
    values = run[channel].values
    sizes = np.abs(values) if by_component else np.linalg.norm(values, axis=-1)
    largest = float(np.max(sizes))
    return float(np.rad2deg(largest)) if degrees else largest


def roll_pitch_yaw_deg(run: Run) -> tuple[float, float, float]:
    """Rotation of the base at the end relative to its start, Z-Y-X Euler angles [deg]."""
    roll, pitch, yaw = np.rad2deg(run["base.roll_pitch_yaw"].values[-1])
    return float(roll), float(pitch), float(yaw)
