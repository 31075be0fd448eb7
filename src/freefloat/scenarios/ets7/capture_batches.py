"""Both capture strategies for many random geometries at once: how far does the paper's contrast carry?"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.scenarios.batches import recorded, repeated
from freefloat.scenarios.ets7.capture import Ets7Capture, outcome
from freefloat.scenarios.ets7.parts import WHEEL_PERIOD, spacecraft

if TYPE_CHECKING:
    import xarray

    from freefloat.model import Spacecraft
    from freefloat.sim.simulate import Progress


CALM_BELOW = 0.5  # attitude disturbance of case 1 in the paper [deg]
CALM, ROUGH, NEVER = "case 1 captures below 0.5 deg", "case 1 captures at 0.5 deg or more", "case 1 never captures"


@dataclass(frozen=True)
class Geometry:
    """Random starts: near the published arm configuration, targets at 0.4 m anywhere in front of the hand."""

    joints_deg: np.ndarray  # (cases, 6)
    direction: np.ndarray  # (cases, 3), unit
    pitch_deg: np.ndarray  # (cases,)
    velocity: np.ndarray  # (cases, 3) [m/s]


def random_geometries(cases: int, seed: int) -> Geometry:
    """In-plane arm configurations, target directions and pitch angles at random, drift of 10 mm/s at random."""
    rng = np.random.default_rng(seed)
    joints = np.zeros((cases, 6))
    joints[:, 1] = rng.uniform(-100.0, 40.0, cases)
    joints[:, 2] = rng.uniform(-40.0, 90.0, cases)
    joints[:, 3] = rng.uniform(-110.0, 120.0, cases)
    direction, velocity = (rng.normal(size=(cases, 3)) * [1.0, 0.3, 1.0] for _ in range(2))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    velocity /= np.linalg.norm(velocity, axis=1, keepdims=True)
    return Geometry(joints, direction, rng.uniform(-40.0, 40.0, cases), 0.01 * velocity)


def scatter(
    cases: int = 256,
    seed: int = 1,
    wheel_torque: float = 0.1,
    duration: float = 120.0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> xarray.Dataset:
    """Run case 1 and case 2 for random geometries; capture times are infinite where there is no capture.

    `status` says for each geometry whether both captured, or what went wrong; `contrast` whether case 1 does what the
    paper says of it. Geometries from which the spline's end is out of reach are drawn again, so that as many remain
    as were asked for. `progress` hears of geometries: each is placed, and run twice.
    """
    import xarray

    def part(number: int) -> Progress:
        def report(done: float, total: float) -> None:
            if progress is not None:
                progress(number * total + done, 3 * total)

        return report

    geometry, starts, ends, dropped = _reachable(cases, seed, wheel_torque, part(0))
    columns: dict[str, Any] = {}
    for case in (1, 2):
        switched, captured, attitude = _rolled(
            case, geometry, starts, ends, wheel_torque, duration, threads, part(case)
        )
        for name, values, unit in (
            ("switched", switched, "s"),
            ("captured", captured, "s"),
            ("attitude", attitude, "deg"),
        ):
            columns[f"case{case}.{name}"] = ("geometry", values, {"units": unit})
    columns |= {
        "joints": (("geometry", "joint"), geometry.joints_deg, {"units": "deg"}),
        "direction": (("geometry", "xyz"), geometry.direction, {"units": "1"}),
        "pitch": ("geometry", geometry.pitch_deg, {"units": "deg"}),
        "velocity": (("geometry", "xyz"), geometry.velocity, {"units": "m/s"}),
    }
    first, second = columns["case1.captured"][1], columns["case2.captured"][1]
    words = np.array(["both captured", "case 1 did not capture", "case 2 did not capture", "neither captured"])
    columns["status"] = ("geometry", words[~np.isfinite(first) + 2 * ~np.isfinite(second)])
    good = _good(first, columns["case1.attitude"][1])
    columns["contrast"] = ("geometry", np.where(good, CALM, np.where(np.isfinite(first), ROUGH, NEVER)))
    described = {"seed": seed, "wheel_torque": wheel_torque, "duration": duration, "out_of_reach": dropped}
    return xarray.Dataset(columns, attrs=described)


def _good(captured: np.ndarray, attitude: np.ndarray) -> np.ndarray:
    """Where case 1 does what the paper says of it."""
    return np.isfinite(captured) & (attitude < CALM_BELOW)


def of_the_scenario(wheel_torque: float, duration: float) -> dict[str, float]:
    """Both cases for the geometry of the scenario itself, under the same conditions: to be found among the others."""
    found = {}
    for case in (1, 2):
        run = Ets7Capture(case=case, wheel_torque=wheel_torque, duration=duration).simulate()
        result = outcome(run)
        found |= {f"scenario.case{case}.captured": result.captured, f"scenario.case{case}.attitude": result.attitude}
    return found


def contrast(data: xarray.Dataset) -> dict[str, float]:
    """How often the paper's contrast holds: counts, and the median ratio of the attitude disturbances."""
    first, second = data["case1.captured"].values, data["case2.captured"].values
    a, b = data["case1.attitude"].values, data["case2.attitude"].values
    good = _good(first, a)
    both = good & np.isfinite(second)
    return {
        "geometries": float(len(first)),
        "case 1 captures below 0.5 deg": float(good.sum()),
        "of these, case 2 slower or never": float((good & (second > first)).sum()),
        "of these, case 2 more than twice as long or never": float((good & (second > 2.0 * first)).sum()),
        "of these, case 2 disturbs the attitude more": float((good & (b > a)).sum()),
        "median attitude ratio where both capture": float(np.median(b[both] / a[both])) if both.any() else float("nan"),
    }


def _scenario(geometry: Geometry, k: int, wheel_torque: float) -> Ets7Capture:
    return Ets7Capture(
        joints_deg=tuple(geometry.joints_deg[k]),
        target_direction=tuple(geometry.direction[k]),
        target_pitch_deg=float(geometry.pitch_deg[k]),
        target_velocity=tuple(geometry.velocity[k]),
        wheel_torque=wheel_torque,
    )


def _reachable(
    cases: int, seed: int, wheel_torque: float, progress: Progress
) -> tuple[Geometry, list[Any], np.ndarray, int]:
    """Geometries with their targets and spline ends; the arm can reach where the spline should end."""
    from freefloat.control import ApproachLimits, UnreachableError, spline_to

    craft, drawn = spacecraft(wheel_torque, {}), random_geometries(8 * cases, seed)
    kept, targets, ends, dropped = [], [], [], 0
    for k in range(8 * cases):
        target = _scenario(drawn, k, wheel_torque).target(craft)
        try:
            spline = spline_to(craft, "hand", target, np.deg2rad(drawn.joints_deg[k]), ApproachLimits())
        except UnreachableError:
            dropped += 1
            continue
        kept.append(k)
        targets.append(target)
        ends.append(np.asarray(spline.points[1]))
        progress(len(kept), cases)
        if len(kept) == cases:
            break
    chosen = Geometry(*(getattr(drawn, f.name)[kept] for f in dataclasses.fields(drawn)))
    return chosen, targets, np.stack(ends), dropped


def _rolled(
    case: int,
    geometry: Geometry,
    targets: list[Any],
    ends: np.ndarray,
    wheel_torque: float,
    duration: float,
    threads: int | None,
    progress: Progress,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """All geometries side by side in compiled code: switch time, capture time, largest attitude until then."""
    from freefloat import engine
    from freefloat.sim.system import begin, no_inputs, step

    craft, dt = spacecraft(wheel_torque, {}), WHEEL_PERIOD
    starts = np.deg2rad(geometry.joints_deg)
    places = [np.stack([np.asarray(leaf) for leaf in column]) for column in zip(*map(_numbers, targets), strict=True)]
    points = np.stack([starts, ends], axis=1)
    build = _builder(craft, case, _scenario(geometry, 0, wheel_torque), dt)
    example = build(*(p[0] for p in places), points[0])
    system, loop = begin(example, craft.at_rest(starts[0]))
    inputs = no_inputs(system)
    advance = engine.compile(
        lambda z, *numbers: step(build(*numbers), z, inputs), loop, *(p[0] for p in places), points[0]
    )
    steps = round(duration / dt)
    record = recorded(
        advance,
        repeated(loop, starts),
        *places,
        points,
        steps=steps,
        record_every=5,
        threads=threads,
        progress=progress,
    )
    memory = record.held[0][0]
    quat = record.plant.state.quat_NB
    angle = np.rad2deg(2.0 * np.arctan2(np.linalg.norm(quat[..., 1:], axis=-1), np.abs(quat[..., 0])))
    captured = memory.captured_at[:, -1]
    before = record.tick * dt <= np.where(np.isfinite(captured), captured, duration)[:, None]
    return memory.switched_at[:, -1], captured, np.max(np.where(before, angle, 0.0), axis=1)


def _numbers(target: Any) -> tuple[Any, ...]:
    return target.start.p, target.start.R, target.velocity


def _builder(craft: Spacecraft, case: int, scenario: Ets7Capture, dt: float) -> Any:
    """A system as a function of the target and of the spline's ends, to be traced once for all geometries."""
    from freefloat.control import PerfectEye
    from freefloat.control.target import DriftingTarget
    from freefloat.sim import Sampled
    from freefloat.sim.system import System
    from freefloat.spatial import Pose

    arm, attitude = dataclasses.replace(scenario, case=case).laws(craft)

    def build(position: Any, rotation: Any, velocity: Any, points: Any) -> System:
        target = DriftingTarget(start=Pose(position=position, rotation=rotation), velocity=velocity)
        spline = None if arm.spline is None else dataclasses.replace(arm.spline, points=points)
        switch = None if attitude.switch is None else dataclasses.replace(attitude.switch, target=target)
        laws = (
            dataclasses.replace(arm, eye=PerfectEye(target), spline=spline),
            Sampled(law=dataclasses.replace(attitude, switch=switch), period=dt),
        )
        return System(craft=craft, laws=laws, dt=dt)

    return build
