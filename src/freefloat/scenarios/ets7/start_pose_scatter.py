"""Base pitch of experiment 1 for many start poses: the figure of `ets7-gjm`, from its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freefloat.scenarios.scatters import Axis, Scatter
from freefloat.sim.record.description import Mark

if TYPE_CHECKING:
    from freefloat.sim import Run
    from freefloat.values.labelled import LabelledArrays

TABLE = "ets7_start_poses.csv"
_FLIGHT_DEG = -22.8  # hand pitch at the start, in flight


def _pitch_sentence(data: LabelledArrays) -> str:
    pitch, facts = data["pitch"].values, data.attrs
    share = np.mean((pitch > -0.8) & (pitch < -0.4))
    return (
        f"Of {facts['poses']:.0f} start poses in the arm's plane whose hand points as in flight (joint 2 from -100 to "
        f"70, joint 3 from -150 to 150 deg in steps of {facts['step_deg']:g} deg) {facts['low']:.0f} are too low and "
        f"{facts['fast']:.0f} ask a joint for more than {facts['most_deg_s']:g} deg/s. From the other {pitch.size} the "
        f"base pitches by {pitch.min():.3f} to {pitch.max():.3f} deg, median {np.median(pitch):.3f} deg, "
        f"{100 * share:.0f} % of them between -0.8 and -0.4 deg."
    )


def _marks(run: Run, data: LabelledArrays) -> list[Mark]:
    """Mark of this run, if its arm starts in the plane and its hand points as in flight."""
    from freefloat.scenarios.measures import position_in_base, roll_pitch_yaw_deg

    joints = run.scenario.get("joints_deg", ())
    if not run.completed or len(joints) != 6 or any(joints[k] for k in (0, 4, 5)):
        return []
    if abs(sum(joints) - _FLIGHT_DEG) > 1e-6:
        return []
    return [Mark("this run", float(lever(position_in_base(run, "hand"), _FLIGHT_DEG)), roll_pitch_yaw_deg(run)[1])]


def lever(hand: np.ndarray, hand_pitch_deg: float) -> np.ndarray:
    """Distance of the hand's line from the base's centre of mass, in the arm's plane [m]; `hand` in base axes."""
    angle = np.deg2rad(hand_pitch_deg)
    return hand[..., 2] * np.cos(angle) + hand[..., 0] * np.sin(angle)


SCATTERS = (
    Scatter(
        title="Base pitch from other start poses",
        table=TABLE,
        x=Axis("lever", "distance of the line from the base's centre of mass"),
        y=Axis("pitch", "base pitch at the end"),
        group="way",
        sentence=_pitch_sentence,
        marks=_marks,
    ),
)
