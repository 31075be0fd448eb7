"""A plan: the motion that was found, its margins to all limits, and how it was found."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import numpy as np

from freefloat.model import State
from freefloat.planning.charts import PoseChart, RobotChart, relative_motion
from freefloat.planning.curves import Curve
from freefloat.planning.margins import Margin
from freefloat.spatial import Pose
from freefloat.values.errors import ModelError
from freefloat.values.files import write_atomically

_FORMAT = "freefloat plan 1"


@dataclass(frozen=True, repr=False)
class Plan:
    """A motion of base and arm to the grasp. `plan.kept` is true if every limit also holds between the instants."""

    kind: str  # optimised, or straight
    curve: Curve  # of the chart's numbers and the joints
    chart: PoseChart | RobotChart
    start: State  # of the servicer, in orbit
    client_start: State
    margins: tuple[Margin, ...]
    status: str  # in words
    solved: bool  # as the solver reports
    in_the_way: tuple[str, ...] = ()  # without any one of these limits there is a motion
    effort: float = float("nan")  # mean square of forces as shares of their limits
    iterations: int = 0
    rounds: int = 0  # of solving, each at more instants
    seconds: float = 0.0  # of a processor, all rounds

    @property
    def duration(self) -> float:
        """Time from start to grasp [s]."""
        return float(self.curve.duration)

    @property
    def keeps_limits(self) -> bool:
        """True if all limits hold on the fine grid of samples."""
        return self.solved and not self.broken_limits

    @property
    def broken_limits(self) -> tuple[Margin, ...]:
        """Margins of the limits that do not hold."""
        return tuple(margin for margin in self.margins if not margin.holds)

    def margin(self, kind: str) -> Margin:
        """The tightest margin of a kind, such as `joint rate`."""
        same = [margin for margin in self.margins if margin.name == kind]
        if not same:
            known = ", ".join(dict.fromkeys(margin.name for margin in self.margins))
            raise ModelError(f"The plan has no limit '{kind}'. Limits: {known}.")
        return min(same, key=lambda margin: margin.margin)

    def relative_poses(self, times: np.ndarray) -> tuple[list[Pose], np.ndarray]:
        """Poses X_TB of the base in the client's frame, and the joints [rad], at given times [s]."""
        k = self.chart.count
        values = self.curve.table(np.asarray(times, dtype=float))
        seen = jax.jit(jax.vmap(lambda a, b, c: relative_motion(self.chart, a, b, c)[0]))(*(x[:, :k] for x in values))
        poses = [Pose(np.asarray(p), np.asarray(R)) for p, R in zip(seen.position, seen.rotation, strict=True)]
        return poses, values[0][:, k:]

    def __str__(self) -> str:
        way = f"; in the way: {'; '.join(self.in_the_way)}" if self.in_the_way else ""
        head = f"{self.kind} motion of {self.duration:g} s: {self.status}{way}"
        return "\n".join([head, *(f"  {margin}" for margin in self.margins)])

    __repr__ = __str__

    # ---- files

    def save(self, path: str | Path) -> Path:
        """Write the plan to a JSON file, with all digits; returns the path."""
        text = json.dumps(self._data(), indent=1)
        return write_atomically(Path(path), lambda file: file.write_text(text))

    def _data(self) -> dict[str, Any]:
        plain = {name: getattr(self, name) for name in _PLAIN}
        return {
            "format": _FORMAT,
            **plain,
            "in_the_way": list(self.in_the_way),
            "margins": [_margin_data(margin) for margin in self.margins],
            "duration": self.duration,
            "coefficients": np.asarray(self.curve.coefficients).tolist(),
            "chart": _chart_data(self.chart),
            "start": _state_data(self.start),
            "client_start": _state_data(self.client_start),
        }

    @staticmethod
    def load(path: str | Path) -> Plan:
        """Read a plan from a file that `save` wrote."""
        try:
            data = json.loads(Path(path).read_text())
            if data["format"] != _FORMAT:
                raise KeyError(data["format"])
            return Plan(
                **{name: data[name] for name in _PLAIN},
                curve=Curve(np.array(data["coefficients"]), float(data["duration"])),
                chart=_chart_of(data["chart"]),
                start=_state_of(data["start"]),
                client_start=_state_of(data["client_start"]),
                margins=tuple(map(_margin_of, data["margins"])),
                in_the_way=tuple(data["in_the_way"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ModelError(f"'{path}' is not a plan that this version reads ({error}). Plan it again.") from error


_PLAIN = ("kind", "status", "solved", "effort", "iterations", "rounds", "seconds")


def _margin_data(margin: Margin) -> dict[str, Any]:
    names = ("where", "unit", "limit", "value", "margin", "time")
    return {"kind": margin.name, **{name: getattr(margin, name) for name in names}}


def _margin_of(data: dict[str, Any]) -> Margin:
    limit, value = data["limit"], data["value"]
    relation = "at most" if data["margin"] == limit - value else "at least"
    return Margin(data["kind"], relation, limit, value, data["unit"], data["where"], data["time"])


def _state_data(state: State) -> dict[str, list[float]]:
    return {name: np.asarray(getattr(state, name)).tolist() for name in ("p_NB", "quat_NB", "q", "v")}


def _state_of(data: dict[str, list[float]]) -> State:
    return State(**{name: np.array(value, dtype=float) for name, value in data.items()})


def _chart_data(chart: PoseChart | RobotChart) -> dict[str, Any]:
    if isinstance(chart, PoseChart):
        return {"attitude": np.asarray(chart.attitude).tolist()}
    places = {
        name: [np.asarray(X.p).tolist(), np.asarray(X.R).tolist()]
        for name, X in (("X_TR", chart.X_TR), ("X_LB", chart.X_LB))
    }
    return {"offsets": chart.offsets.tolist(), "axes": chart.axes.tolist(), **places, "names": list(chart.names)}


def _chart_of(data: dict[str, Any]) -> PoseChart | RobotChart:
    if "attitude" in data:
        return PoseChart(np.array(data["attitude"]))
    return RobotChart(
        offsets=np.array(data["offsets"]),
        axes=np.array(data["axes"]),
        X_TR=Pose(*map(np.array, data["X_TR"])),
        X_LB=Pose(*map(np.array, data["X_LB"])),
        names=tuple(data["names"]),
    )
