"""How far a motion stays from its limits: every kind, looked at much more finely than it was planned."""

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
from freefloat.planning.node_rows import Scene, row_names
from freefloat.planning.programs import Programs
from freefloat.planning.task import CaptureTask
from freefloat.planning.task_limits import in_robot_joints, measures, number_limits, number_names
from freefloat.sim.events.clearance_pairs import Pair, Watched, pair_distances
from freefloat.spatial import Pose
from freefloat.values.arrays import Numeric, Vector

ROUNDING = 1e-6  # of a limit, or in its unit: what does not count as broken
GRASP = 1e-4  # [m, rad]: how well the tool must meet the ring


@dataclass(frozen=True)
class Margin:
    """The tightest place of a kind of limit."""

    kind: str  # such as `joint rate`
    where: str  # which joint, axis or pair
    unit: str
    limit: float
    value: float  # at the tightest place
    margin: float  # what is left, in the unit; negative: broken
    time: float  # [s]

    @property
    def kept(self) -> bool:
        """Whether the limit holds, but for rounding."""
        return self.margin >= -ROUNDING * max(1.0, abs(self.limit))

    def __str__(self) -> str:
        word = "kept" if self.kept else "BROKEN"
        return (
            f"{self.kind} {self.where}: {self.value:.4g} {self.unit}, limit {self.limit:.4g} {self.unit}, "
            f"margin {self.margin:.3g} at {self.time:.2f} s, {word}"
        )


@dataclass(frozen=True)
class Sampled:
    """A motion at many instants."""

    times: np.ndarray
    y: np.ndarray  # (samples, 3 numbers)
    rows: np.ndarray
    poses: list[Pose]  # X_TB
    twists: np.ndarray  # V_TB
    distances: np.ndarray  # (samples, pairs) [m], exact


def judge(task: CaptureTask, scene: Scene, programs: Programs, curve: Curve, samples: int) -> tuple[Margin, ...]:
    """The margins of every kind of limit along a motion."""
    seen = sample(task, scene, programs, curve, samples)
    found = [*_forces(task, scene, seen), *_numbers(task, scene, seen), *_clearances(task, scene, seen)]
    found += [*_approach(task, scene, seen), *_grasp(task, seen, scene)]
    if task.cell and not in_robot_joints(scene):
        found += _cell(task, seen)
    return tuple(found)


def sample(task: CaptureTask, scene: Scene, programs: Programs, curve: Curve, samples: int) -> Sampled:
    """Look at a motion at equally spaced instants."""
    times = np.linspace(0.0, task.duration, samples)
    y = np.concatenate(curve.table(times), axis=1)
    numbers = measures(task, scene).packed
    rows = programs.rows.batch(y, task.nominal(samples), numbers, in_axes=(0, 0, None))
    pairs = _pairs(scene)
    seen = engine.compile(partial(_seen, scene, _world(task), pairs), y[0])
    position, rotation, twists, distances = seen.batch(y)
    return Sampled(times, y, rows, [Pose(p, R) for p, R in zip(position, rotation, strict=True)], twists, distances)


def _seen(scene: Scene, world: World, pairs: tuple[Pair, ...], y: Vector) -> tuple[Numeric, Numeric, Vector, Vector]:
    base, joints = scene.split(y)
    X_TB, V_TB, _ = relative_motion(scene.chart, *base)
    servicer = State(X_TB.p, X_TB.quaternion, joints[0], np.zeros(scene.craft.layout.nv))
    still = State(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(0), np.zeros(6))
    return X_TB.p, X_TB.R, V_TB, pair_distances(world, pairs, (servicer, still))


def _world(task: CaptureTask) -> World:
    return World(servicer=task.servicer, client=with_boxed_drums(task.client))


def _pairs(scene: Scene) -> tuple[Pair, ...]:
    """Every body and the client; every outer body of the arm, the servicer's base and the inner bodies."""
    client = tuple((Watched(0, one.body), Watched(1, "base")) for one in scene.balls)
    own = tuple(
        (Watched(0, name), Watched(0, other))
        for name, inner in scene.arm
        for other in (scene.craft.body_names[0], *inner)
    )
    return client + own


# ---- kinds


def _worst(
    kind: str, unit: str, names: tuple[str, ...], values: np.ndarray, limits: np.ndarray, times: np.ndarray
) -> Margin:
    """Of magnitudes (samples, names) that must stay below limits (names): the one that uses most of its limit."""
    left = limits - values
    share = np.where(np.isfinite(limits), left / np.where(np.isfinite(limits), np.maximum(limits, 1e-12), 1.0), np.inf)
    k, i = np.unravel_index(int(np.argmin(share)), share.shape)
    return Margin(kind, names[i], unit, float(limits[i]), float(values[k, i]), float(left[k, i]), float(times[k]))


def _forces(task: CaptureTask, scene: Scene, seen: Sampled) -> Iterator[Margin]:
    limits = task.bounds.force(task.servicer.layout.nq)
    names, forces = row_names(scene), np.abs(seen.rows[:, : limits.size]) * limits
    for kind, unit, part in (
        ("base force", "N", slice(0, 3)),
        ("base torque", "N m", slice(3, 6)),
        ("joint torque", "N m", slice(6, limits.size)),
    ):
        words = tuple(name.removeprefix(f"{kind} ") for name in names[part])
        yield _worst(kind, unit, words, forces[:, part], limits[part], seen.times)


def _numbers(task: CaptureTask, scene: Scene, seen: Sampled) -> Iterator[Margin]:
    spans, rate, acceleration = number_limits(task, scene)
    n, titles = scene.numbers, number_names(scene)
    groups = dict.fromkeys(name.partition(" ")[0] for name in titles)
    for group in groups:
        here = np.array([name.startswith(f"{group} ") for name in titles])
        words = tuple(name.partition(" ")[2] for name in titles if name.startswith(f"{group} "))
        if not np.isfinite(rate[here]).all():
            continue
        middle, half = spans[:, here].mean(axis=0), 0.5 * np.ptp(spans[:, here], axis=0)
        yield _worst(f"{group} range", "rad", words, np.abs(seen.y[:, :n][:, here] - middle), half, seen.times)
        yield _worst(f"{group} rate", "rad/s", words, np.abs(seen.y[:, n : 2 * n][:, here]), rate[here], seen.times)
        yield _worst(
            f"{group} acceleration",
            "rad/s2",
            words,
            np.abs(seen.y[:, 2 * n :][:, here]),
            acceleration[here],
            seen.times,
        )


def _clearances(task: CaptureTask, scene: Scene, seen: Sampled) -> Iterator[Margin]:
    """The hand is not looked at in the cone."""
    limit, late = task.bounds.clearance, in_cone(task, seen.times)
    bodies = len(scene.balls)
    distances = np.array(seen.distances)
    for i, one in enumerate(scene.balls):
        if one.body in task.hand:
            distances[late, i] = np.inf
    for kind, part in (("clearance client", slice(0, bodies)), ("clearance servicer", slice(bodies, None))):
        names = [f"{a.body} - {b.body}" for a, b in _pairs(scene)[part]]
        if not names:
            continue
        k, i = np.unravel_index(int(np.argmin(distances[:, part])), distances[:, part].shape)
        value = float(distances[:, part][k, i])
        where = names[i]
        if kind == "clearance client":
            where = f"{scene.balls[i].body} - {_nearest(task, scene.balls[i].body, seen, int(k), scene)}"
        yield Margin(kind, where, "m", limit, value, value - limit, float(seen.times[k]))


def _nearest(task: CaptureTask, body: str, seen: Sampled, k: int, scene: Scene) -> str:
    """Which part of the client is nearest to a body at an instant."""
    q = seen.y[k, scene.chart.count : scene.numbers]
    X = seen.poses[k] @ body_poses(task.servicer, q)[task.servicer.body_index(body)]
    balls = balls_of(task.servicer, body)
    gaps = {
        one.name: min(float(one.distance(X.apply(c)) - r) for c, r in zip(balls.centres, balls.radii, strict=True))
        for one in obstacles_of(task.client, "client")
    }
    return min(gaps, key=lambda name: gaps[name])


def in_cone(task: CaptureTask, times: np.ndarray) -> np.ndarray:
    """Which instants belong to the last part of the approach."""
    return times > task.duration * (1.0 - task.bounds.approach_share - 1e-9)


def _approach(task: CaptureTask, scene: Scene, seen: Sampled) -> Iterator[Margin]:
    names, late = row_names(scene), in_cone(task, seen.times)
    if not late.any():
        return
    times, limits = seen.times[late], task.bounds
    outside = seen.rows[late, names.index("approach cone")]
    tilt = np.rad2deg(np.arccos(np.clip(seen.rows[late, names.index("approach angle")], -1.0, 1.0)))
    k, i = int(np.argmax(outside)), int(np.argmax(tilt))
    yield Margin("approach cone", task.tool, "m", 0.0, float(outside[k]), -float(outside[k]), float(times[k]))
    yield Margin(
        "approach angle",
        task.tool,
        "deg",
        limits.tilt_deg,
        float(tilt[i]),
        limits.tilt_deg - float(tilt[i]),
        float(times[i]),
    )


def _grasp(task: CaptureTask, seen: Sampled, scene: Scene) -> Iterator[Margin]:
    """How far the tool is from the ring at the end, and how fast."""
    n, k = scene.numbers, scene.chart.count
    X_GE = task.X_TG.inverse() @ seen.poses[-1] @ frame_pose(task.servicer, seen.y[-1, k:n], task.tool)
    off = float(np.linalg.norm(np.asarray(X_GE.p)))
    turned = float(np.linalg.norm(np.asarray(X_GE.R) - np.eye(3)) / np.sqrt(2.0))
    speed = max(float(np.abs(seen.twists[-1]).max()), float(np.abs(seen.y[-1, n + k : 2 * n]).max()))
    end = float(seen.times[-1])
    yield Margin("grasp", "position", "m", GRASP, off, GRASP - off, end)
    yield Margin("grasp", "attitude", "rad", GRASP, turned, GRASP - turned, end)
    yield Margin("grasp", "speed", "m/s, rad/s", GRASP, speed, GRASP - speed, end)


def _cell(task: CaptureTask, seen: Sampled) -> Iterator[Margin]:
    """Of the robot that carries the base: followed by the cell's own inverse kinematics."""
    assert task.cell is not None
    arm, names = task.cell.arm, tuple(joint.name for joint in task.cell.arm.joints)
    step = float(seen.times[1])
    q, rates, missing, weakest = task.cell.follow(seen.poses, seen.twists, step)
    middle, half = 0.5 * (arm.lower + arm.upper), 0.5 * (arm.upper - arm.lower)
    yield _worst("cell range", "rad", names, np.abs(q - middle), half, seen.times)
    yield _worst("cell rate", "rad/s", names, np.abs(rates), arm.rate_limit, seen.times)
    changing = np.abs(np.gradient(rates, step, axis=0))
    yield _worst("cell acceleration", "rad/s2", names, changing, arm.acceleration_limit, seen.times)
    yield Margin("cell reach", arm.model, "m", 1e-3, missing, 1e-3 - missing, 0.0)
    yield Margin("cell singular", arm.model, "m", NEAR_SINGULAR, weakest, weakest - NEAR_SINGULAR, 0.0)
