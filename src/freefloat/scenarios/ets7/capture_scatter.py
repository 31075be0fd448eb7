"""How the two capture cases compare for random geometries: the figures of `ets7-capture`, counted from their table."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freefloat.scenarios.scatters import Axis, Scatter
from freefloat.sim.record.description import Guide, Mark

if TYPE_CHECKING:
    import xarray

    from freefloat.sim import Run
    from freefloat.values.labelled import LabelledArrays

TABLE = "ets7_capture.csv"
CALM_BELOW = 0.5  # attitude disturbance of case 1 in the paper [deg]
# Place in the plot of runs without a capture, and limits of the axis [s]; case 1 has less time.
_NEVER_1, _SECONDS_1 = 55.0, (0.0, 60.0)
_NEVER_2, _SECONDS_2 = 220.0, (0.0, 230.0)
_DEGREES = (0.01, 10.0)  # an arm stuck in the reaction null space disturbs less, which has no meaning here


def calm_captures(captured: np.ndarray, attitude: np.ndarray) -> np.ndarray:
    """Mask of the runs in which case 1 captures with as little disturbance as in the paper."""
    return np.isfinite(captured) & (attitude <= CALM_BELOW)


def contrast_counts(data: xarray.Dataset | LabelledArrays) -> dict[str, float]:
    """Number of geometries for which the paper's contrast holds, and the median ratio of the attitude disturbances."""
    first, second = data["case1.captured"].values, data["case2.captured"].values
    a, b = data["case1.attitude"].values, data["case2.attitude"].values
    good = calm_captures(first, a)
    return {
        "geometries": float(len(first)),
        "case 1 captures below 0.5 deg": float(good.sum()),
        "of these, case 2 slower or never": float((good & (second > first)).sum()),
        "of these, case 2 more than twice as long or never": float((good & (second > 2.0 * first)).sum()),
        "of these, case 2 never": float((good & ~np.isfinite(second)).sum()),
        "of these, case 2 disturbs the attitude more": float((good & (b > a)).sum()),
        "median attitude ratio": float(np.median(b[good] / a[good])) if good.any() else float("nan"),
    }


def _times_sentence(data: LabelledArrays) -> str:
    count = contrast_counts(data)
    return (
        f"Of {count['geometries']:.0f} random geometries with wheels of {data.attrs['wheel_torque']:g} N m, case 1 "
        f"captured below 0.5 deg in {count['case 1 captures below 0.5 deg']:.0f}; there case 2 was slower, or did not "
        f"capture, in {count['of these, case 2 slower or never']:.0f}, and took more than twice as long, or did not "
        f"capture, in {count['of these, case 2 more than twice as long or never']:.0f} "
        f"({count['of these, case 2 never']:.0f} never captured)."
    )


def _attitudes_sentence(data: LabelledArrays) -> str:
    count = contrast_counts(data)
    return (
        f"Of the {count['case 1 captures below 0.5 deg']:.0f} geometries in which case 1 captured below 0.5 deg, case "
        f"2 disturbed the attitude more in {count['of these, case 2 disturbs the attitude more']:.0f}; the median "
        f"ratio is {count['median attitude ratio']:.2f}."
    )


def _marks(run: Run, data: LabelledArrays, quantity: str) -> list[Mark]:
    """Marks of the scenario's geometry in the conditions of the table, and of this run, which is one of the cases."""
    from freefloat.scenarios.ets7.capture import outcome

    facts = [data.attrs.get(f"scenario.case{case}.{quantity}") for case in (1, 2)]
    marks = [Mark("the scenario's geometry", *facts)] if None not in facts else []
    if not run.completed or "chaser.capture.time" not in run.recorded:
        return marks
    value, case = getattr(outcome(run), quantity), run.scenario.get("case", 1)
    return [*marks, Mark(f"this run, case {case}", value if case == 1 else None, value if case == 2 else None)]


SCATTERS = (
    Scatter(
        title="Time to capture",
        table=TABLE,
        x=Axis("case1.captured", "capture, case 1", _SECONDS_1, never=_NEVER_1),
        y=Axis("case2.captured", "capture, case 2", _SECONDS_2, never=_NEVER_2),
        group="contrast",
        sentence=_times_sentence,
        guides=(Guide(1.0, "as long"), Guide(2.0, "twice as long")),
        marks=lambda run, data: _marks(run, data, "captured"),
    ),
    Scatter(
        title="Largest attitude disturbance",
        table=TABLE,
        x=Axis("case1.attitude", "attitude, case 1", _DEGREES, logarithmic=True),
        y=Axis("case2.attitude", "attitude, case 2", _DEGREES, logarithmic=True),
        group="contrast",
        sentence=_attitudes_sentence,
        guides=(Guide(1.0, "as much"),),
        marks=lambda run, data: _marks(run, data, "attitude"),
    ),
)
