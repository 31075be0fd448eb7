"""How the base pitch of experiment 1 depends on the start pose: the figure of `ets7-gjm`, counted from its table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from freefloat.scenarios.scatters import Axis, Scatter
from freefloat.sim.description import Mark

if TYPE_CHECKING:
    import xarray

    from freefloat.sim import Run

TABLE = "ets7_start_poses.csv"
_FLIGHT_DEG = -22.8  # hand pitch at the start, in flight
_ALIKE_DEG = 30.0  # lines that point so nearly as in flight are compared with it


def _pitches(data: xarray.Dataset) -> str:
    import numpy as np

    pitch = data["pitch"].values
    alike = pitch[np.abs(data["hand_pitch"].values - _FLIGHT_DEG) <= _ALIKE_DEG]
    facts = data.attrs
    return (
        f"Of {facts['poses']:.0f} start poses in the arm's plane (joints 2, 3 and 4 from {-facts['most_deg']:g} to "
        f"{facts['most_deg']:g} deg in steps of {facts['step_deg']:g} deg) {pitch.size} lead to the end of the line, "
        f"with a base pitch of {pitch.min():.2f} to {pitch.max():.2f} deg, by the direction of the line. In the "
        f"{alike.size} whose line points as in flight, within {_ALIKE_DEG:g} deg, it is {alike.min():.2f} to "
        f"{alike.max():.2f} deg, median {np.median(alike):.2f} deg."
    )


def _marks(run: Run, data: xarray.Dataset) -> list[Mark]:
    """This run, if its arm starts in the plane too."""
    from freefloat.scenarios.ets7.start_poses import wrapped
    from freefloat.scenarios.measures import roll_pitch_yaw_deg

    joints = run.scenario.get("joints_deg", ())
    if not run.completed or len(joints) != 6 or any(joints[k] for k in (0, 4, 5)):
        return []
    return [Mark("this run", wrapped(sum(joints)), roll_pitch_yaw_deg(run)[1])]


SCATTERS = (
    Scatter(
        title="Base pitch from other start poses",
        table=TABLE,
        x=Axis("hand_pitch", "direction of the line: hand pitch at the start"),
        y=Axis("pitch", "base pitch at the end"),
        group="way",
        sentence=_pitches,
        marks=_marks,
    ),
)
