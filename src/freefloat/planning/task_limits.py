"""The limits of a task, as its nonlinear programme takes them."""

from __future__ import annotations

import numpy as np

from freefloat.planning.charts import RobotChart
from freefloat.planning.node_rows import PlanningScene, row_names
from freefloat.planning.programme import FREE, PlanningLimits
from freefloat.planning.programs import RowScales
from freefloat.planning.task import CaptureTask
from freefloat.spatial import Pose

_POSE = ("x", "y", "z", "rotation x", "rotation y", "rotation z")
_CONE_RESERVE = 0.1  # [m]: of which the reserve of the cone is a share
_POSE_RATE, _POSE_ACCELERATION = 0.5, 0.5  # scales of the motion of a free pose in the effort [m/s, rad/s], per second


def planning_limits(
    task: CaptureTask, scene: PlanningScene, instants: int, reserve: float, ignored: tuple[str, ...] = ()
) -> PlanningLimits:
    """Limits of a task at a number of instants; `reserve` is the share that is kept free for the motion in between.

    Rows and numbers whose names begin with one of `ignored` are not limited.
    """
    names, numbers = row_names(scene), number_names(scene)
    low, high = _row_limits(task, names, instants, reserve)
    for column, name in enumerate(names):
        if name.startswith(ignored):
            low[:, column], high[:, column] = -FREE, FREE
    spans, rate, acceleration = number_limits(task, scene)
    for column, name in enumerate(numbers):
        for kind, limit in (("rate", rate), ("acceleration", acceleration)):
            if number_title(kind, name).startswith(ignored):
                limit[column] = np.inf
        if number_title("range", name).startswith(ignored):
            spans[:, column] = -np.inf, np.inf
    return PlanningLimits(
        names=names,
        low=low,
        high=high,
        range=spans,
        rate=rate,
        acceleration=acceleration,
        start=start_numbers(task, scene),
        nominal=task.client_twists(instants),
        measures=row_scales(task, scene),
    )


def number_names(scene: PlanningScene) -> tuple[str, ...]:
    """Names of the numbers of a curve, each with its group in front."""
    base = (
        [f"cell {name}" for name in scene.chart.names] if in_robot_joints(scene) else [f"pose {axis}" for axis in _POSE]
    )
    return (*base, *(f"joint {name}" for name in scene.craft.layout.moving_joints))


def number_title(kind: str, name: str) -> str:
    """Title of a limit of a number: `joint rate arm.1`, `cell range a3`."""
    group, _, rest = name.partition(" ")
    return f"{group} {kind} {rest}"


def in_robot_joints(scene: PlanningScene) -> bool:
    """True if poses are given by joints of a robot."""
    return isinstance(scene.chart, RobotChart)


def number_limits(task: CaptureTask, scene: PlanningScene) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Range (2, numbers), rate and acceleration of every number; those of a free pose are not limited."""
    limits, joints = task.bounds, task.servicer.layout.nq
    of_base = np.stack([np.full(6, -np.inf), np.full(6, np.inf), np.full(6, np.inf), np.full(6, np.inf)])
    if task.cell and in_robot_joints(scene):
        arm = task.cell.arm
        of_base = np.stack([arm.lower, arm.upper, arm.rate_limit, arm.acceleration_limit])
    of_joints = np.stack([limits.joint(kind, joints) for kind in ("lower", "upper", "rate", "acceleration")])
    both = np.concatenate([of_base, of_joints], axis=1)
    return both[:2], both[2], both[3]


def row_scales(task: CaptureTask, scene: PlanningScene) -> RowScales:
    """Numbers that scale the rows and the effort."""
    _, rate, acceleration = number_limits(task, scene)
    limits = task.bounds
    return RowScales(
        force=limits.force(task.servicer.layout.nq),
        rate=np.where(np.isfinite(rate), rate, _POSE_RATE),
        acceleration=np.where(np.isfinite(acceleration), acceleration, _POSE_ACCELERATION),
        cone=np.array([np.tan(np.deg2rad(limits.cone_deg)), limits.cone_width]),
    )


def start_numbers(task: CaptureTask, scene: PlanningScene) -> np.ndarray:
    """Values and rates of the curve at the start (2, numbers)."""
    state = task.relative_start
    X_TB, V_TB = Pose(np.asarray(state.p_NB), np.asarray(state.X_NB.R)), np.asarray(state.V_NB)
    if task.cell and in_robot_joints(scene):
        base = task.cell.joints(X_TB)
        rates = task.cell.rates(base, X_TB, V_TB)
    else:
        base = scene.chart.numbers(X_TB)
        rates = scene.chart.rates(base, V_TB)
    return np.stack([np.concatenate([base, state.q]), np.concatenate([rates, state.v[6:]])])


def goal_numbers(task: CaptureTask, scene: PlanningScene, start: np.ndarray) -> np.ndarray:
    """Values of the curve at the grasp with the arm in the task's posture (numbers)."""
    if task.cell and in_robot_joints(scene):
        base = task.cell.joints(task.goal, near=start[0, : scene.chart.count])
    else:
        base = scene.chart.numbers(task.goal)
    return np.concatenate([base, np.array(task.posture, dtype=float)])


def _row_limits(
    task: CaptureTask, names: tuple[str, ...], instants: int, reserve: float
) -> tuple[np.ndarray, np.ndarray]:
    """Lower and upper limit of every row at every instant.

    At the first instant only forces can be chosen. In the cone the hand may touch, before it the cone does not count;
    both are limited for one instant longer, so that nothing is missed in between.
    """
    limits = task.bounds
    low, high = np.full((instants, len(names)), -FREE), np.full((instants, len(names)), FREE)
    before = np.linspace(0.0, 1.0, instants) - (1.0 - limits.approach_share)  # negative before the cone
    step = 1.0 / (instants - 1)
    late, hand_free, later = before > -step, before > step, np.arange(instants) > 0
    touching = tuple(f"clearance {name} - client" for name in task.hand_bodies)
    for column, name in enumerate(names):
        if name.startswith(("base ", "joint ")):
            low[:, column], high[:, column] = reserve - 1.0, 1.0 - reserve
        elif name == "approach cone":
            high[late & later, column] = -reserve * _CONE_RESERVE
        elif name == "approach angle":
            low[late & later, column] = np.cos(np.deg2rad((1.0 - reserve) * limits.tilt_deg))
        else:
            limited = later & ~hand_free if name in touching else later
            low[limited, column] = limits.clearance * (1.0 + reserve)
    return low, high
