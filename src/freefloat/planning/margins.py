"""Margins of a motion to all its limits, at many more instants than it was planned with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from freefloat import engine
from freefloat.dynamics.kinematics import body_poses, frame_pose
from freefloat.hil.cell.inverse_kinematics import NEAR_SINGULAR
from freefloat.model import State, World
from freefloat.planning.charts import relative_motion
from freefloat.planning.covers import balls_of, obstacles_of, with_boxed_drums
from freefloat.planning.curves import Curve
from freefloat.planning.node_rows import PlanningScene, row_names
from freefloat.planning.programs import Programs
from freefloat.planning.task import CaptureTask
from freefloat.planning.task_limits import in_robot_joints, number_limits, number_names, row_scales
from freefloat.sim.events.clearance_pairs import Pair, WatchedBody, pair_distances
from freefloat.spatial import Pose
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.judgement import Judgement

ROUNDING = 1e-6  # of a limit, or in its unit: a smaller excess does not count as broken
GRASP = 1e-4  # [m, rad]: how well the tool must meet the ring


@dataclass(frozen=True)
class Margin(Judgement):
    """The smallest margin to one kind of limit, such as `joint rate`: the value is that of the tightest place."""

    value: float
    where: str  # which joint, axis or pair
    time: float  # [s]

    @property
    def holds(self) -> bool:
        """True if the limit holds, except for rounding."""
        return self.margin >= -ROUNDING * max(1.0, abs(self.limit))

    def __str__(self) -> str:
        word = "kept" if self.holds else "BROKEN"
        return (
            f"{self.name} {self.where}: {self.value:.4g} {self.unit}, limit {self.limit:.4g} {self.unit}, "
            f"margin {self.margin:.3g} at {self.time:.2f} s, {word}"
        )


@dataclass(frozen=True)
class SampledMotion:
    """A motion at many instants."""

    times: np.ndarray
    y: np.ndarray  # (samples, 3 numbers)
    rows: np.ndarray
    poses: list[Pose]  # X_TB
    twists: np.ndarray  # V_TB
    distances: np.ndarray  # (samples, pairs) [m], exact


def motion_margins(
    task: CaptureTask, scene: PlanningScene, programs: Programs, curve: Curve, samples: int
) -> tuple[Margin, ...]:
    """Margins to every kind of limit along a motion."""
    motion = sample_motion(task, scene, programs, curve, samples)
    margins = [
        *_force_margins(task, scene, motion),
        *_number_margins(task, scene, motion),
        *_clearance_margins(task, scene, motion),
    ]
    margins += [*_approach_margins(task, scene, motion), *_grasp_margins(task, motion, scene)]
    if task.cell and not in_robot_joints(scene):
        margins += _cell_margins(task, motion)
    return tuple(margins)


def sample_motion(
    task: CaptureTask, scene: PlanningScene, programs: Programs, curve: Curve, samples: int
) -> SampledMotion:
    """Values of a motion at equally spaced instants."""
    times = np.linspace(0.0, task.duration, samples)
    y = np.concatenate(curve.table(times), axis=1)
    numbers = row_scales(task, scene).as_vector
    rows = programs.rows.batch(y, task.client_twists(samples), numbers, in_axes=(0, 0, None))
    pairs = _watched_pairs(scene)
    compiled = engine.compile(partial(_sample_at, scene, _world(task), pairs), y[0])
    position, rotation, twists, distances = compiled.batch(y)
    return SampledMotion(
        times, y, rows, [Pose(p, R) for p, R in zip(position, rotation, strict=True)], twists, distances
    )


def _sample_at(
    scene: PlanningScene, world: World, pairs: tuple[Pair, ...], y: Vector
) -> tuple[Numeric, Numeric, Vector, Vector]:
    base, joints = scene.split(y)
    X_TB, V_TB, _ = relative_motion(scene.chart, *base)
    servicer = State(X_TB.p, X_TB.quaternion, joints[0], np.zeros(scene.craft.layout.nv))
    still = State(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(0), np.zeros(6))
    return X_TB.p, X_TB.R, V_TB, pair_distances(world, pairs, (servicer, still))


def _world(task: CaptureTask) -> World:
    return World(servicer=task.servicer, client=with_boxed_drums(task.client))


def _watched_pairs(scene: PlanningScene) -> tuple[Pair, ...]:
    """Pairs of every body with the client, and of every outer body of the arm with the base and the inner bodies."""
    client = tuple((WatchedBody(0, balls.body), WatchedBody(1, "base")) for balls in scene.balls)
    own = tuple(
        (WatchedBody(0, name), WatchedBody(0, other))
        for name, inner in scene.arm
        for other in (scene.craft.body_names[0], *inner)
    )
    return client + own


# ---- kinds


def _tightest_margin(
    kind: str, unit: str, names: tuple[str, ...], values: np.ndarray, limits: np.ndarray, times: np.ndarray
) -> Margin:
    """Margin of the magnitude (samples, names) that uses most of its upper limit (names)."""
    left = limits - values
    share = np.where(np.isfinite(limits), left / np.where(np.isfinite(limits), np.maximum(limits, 1e-12), 1.0), np.inf)
    k, i = np.unravel_index(int(np.argmin(share)), share.shape)
    return Margin(kind, "at most", float(limits[i]), float(values[k, i]), unit, names[i], float(times[k]))


def _force_margins(task: CaptureTask, scene: PlanningScene, motion: SampledMotion) -> Iterator[Margin]:
    limits = task.bounds.force(task.servicer.layout.nq)
    names, forces = row_names(scene), np.abs(motion.rows[:, : limits.size]) * limits
    for kind, unit, part in (
        ("base force", "N", slice(0, 3)),
        ("base torque", "N m", slice(3, 6)),
        ("joint torque", "N m", slice(6, limits.size)),
    ):
        words = tuple(name.removeprefix(f"{kind} ") for name in names[part])
        yield _tightest_margin(kind, unit, words, forces[:, part], limits[part], motion.times)


def _number_margins(task: CaptureTask, scene: PlanningScene, motion: SampledMotion) -> Iterator[Margin]:
    spans, rate, acceleration = number_limits(task, scene)
    n, titles = scene.numbers, number_names(scene)
    groups = dict.fromkeys(name.partition(" ")[0] for name in titles)
    for group in groups:
        here = np.array([name.startswith(f"{group} ") for name in titles])
        words = tuple(name.partition(" ")[2] for name in titles if name.startswith(f"{group} "))
        if not np.isfinite(rate[here]).all():
            continue
        middle, half = spans[:, here].mean(axis=0), 0.5 * np.ptp(spans[:, here], axis=0)
        yield _tightest_margin(
            f"{group} range", "rad", words, np.abs(motion.y[:, :n][:, here] - middle), half, motion.times
        )
        yield _tightest_margin(
            f"{group} rate", "rad/s", words, np.abs(motion.y[:, n : 2 * n][:, here]), rate[here], motion.times
        )
        yield _tightest_margin(
            f"{group} acceleration",
            "rad/s2",
            words,
            np.abs(motion.y[:, 2 * n :][:, here]),
            acceleration[here],
            motion.times,
        )


def _clearance_margins(task: CaptureTask, scene: PlanningScene, motion: SampledMotion) -> Iterator[Margin]:
    """Margins of the clearances; the hand is not checked in the approach cone."""
    limit, late = task.bounds.clearance, in_cone(task, motion.times)
    bodies = len(scene.balls)
    distances = np.array(motion.distances)
    for i, balls in enumerate(scene.balls):
        if balls.body in task.hand_bodies:
            distances[late, i] = np.inf
    for kind, part in (("clearance client", slice(0, bodies)), ("clearance servicer", slice(bodies, None))):
        names = [f"{a.body} - {b.body}" for a, b in _watched_pairs(scene)[part]]
        if not names:
            continue
        k, i = np.unravel_index(int(np.argmin(distances[:, part])), distances[:, part].shape)
        value = float(distances[:, part][k, i])
        where = names[i]
        if kind == "clearance client":
            where = f"{scene.balls[i].body} - {_nearest_part(task, scene.balls[i].body, motion, int(k), scene)}"
        yield Margin(kind, "at least", limit, value, "m", where, float(motion.times[k]))


def _nearest_part(task: CaptureTask, body: str, motion: SampledMotion, k: int, scene: PlanningScene) -> str:
    """Name of the client's part that is nearest to a body at instant k."""
    q = motion.y[k, scene.chart.count : scene.numbers]
    X = motion.poses[k] @ body_poses(task.servicer, q)[task.servicer.body_index(body)]
    balls = balls_of(task.servicer, body)
    gaps = {
        part.name: min(float(part.distance(X.apply(c)) - r) for c, r in zip(balls.centres, balls.radii, strict=True))
        for part in obstacles_of(task.client, "client")
    }
    return min(gaps, key=lambda name: gaps[name])


def in_cone(task: CaptureTask, times: np.ndarray) -> np.ndarray:
    """Mask of the times [s] that belong to the last part of the approach, in the cone."""
    return times > task.duration * (1.0 - task.bounds.approach_share - 1e-9)


def _approach_margins(task: CaptureTask, scene: PlanningScene, motion: SampledMotion) -> Iterator[Margin]:
    names, late = row_names(scene), in_cone(task, motion.times)
    if not late.any():
        return
    times, limits = motion.times[late], task.bounds
    outside = motion.rows[late, names.index("approach cone")]
    tilt = np.rad2deg(np.arccos(np.clip(motion.rows[late, names.index("approach angle")], -1.0, 1.0)))
    k, i = int(np.argmax(outside)), int(np.argmax(tilt))
    yield Margin("approach cone", "at most", 0.0, float(outside[k]), "m", task.tool, float(times[k]))
    yield Margin("approach angle", "at most", limits.tilt_deg, float(tilt[i]), "deg", task.tool, float(times[i]))


def _grasp_margins(task: CaptureTask, motion: SampledMotion, scene: PlanningScene) -> Iterator[Margin]:
    """Margins of position, attitude and speed of the tool relative to the ring at the end."""
    n, k = scene.numbers, scene.chart.count
    X_GE = task.X_TG.inverse() @ motion.poses[-1] @ frame_pose(task.servicer, motion.y[-1, k:n], task.tool)
    off = float(np.linalg.norm(np.asarray(X_GE.p)))
    turned = float(np.linalg.norm(np.asarray(X_GE.R) - np.eye(3)) / np.sqrt(2.0))
    speed = max(float(np.abs(motion.twists[-1]).max()), float(np.abs(motion.y[-1, n + k : 2 * n]).max()))
    end = float(motion.times[-1])
    yield Margin("grasp", "at most", GRASP, off, "m", "position", end)
    yield Margin("grasp", "at most", GRASP, turned, "rad", "attitude", end)
    yield Margin("grasp", "at most", GRASP, speed, "m/s, rad/s", "speed", end)


def _cell_margins(task: CaptureTask, motion: SampledMotion) -> Iterator[Margin]:
    """Margins of the robot that carries the base, by the cell's own inverse kinematics."""
    assert task.cell is not None
    arm, names = task.cell.arm, tuple(joint.name for joint in task.cell.arm.joints)
    step = float(motion.times[1])
    q, rates, missing, weakest = task.cell.follow_motion(motion.poses, motion.twists, step)
    middle, half = 0.5 * (arm.lower + arm.upper), 0.5 * (arm.upper - arm.lower)
    yield _tightest_margin("cell range", "rad", names, np.abs(q - middle), half, motion.times)
    yield _tightest_margin("cell rate", "rad/s", names, np.abs(rates), arm.rate_limit, motion.times)
    changing = np.abs(np.gradient(rates, step, axis=0))
    yield _tightest_margin("cell acceleration", "rad/s2", names, changing, arm.acceleration_limit, motion.times)
    yield Margin("cell reach", "at most", 1e-3, missing, "m", arm.model, 0.0)
    yield Margin("cell singular", "at least", NEAR_SINGULAR, weakest, "m", arm.model, 0.0)
