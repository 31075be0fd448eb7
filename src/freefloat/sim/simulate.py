"""`simulate`: from a spacecraft and its laws to a run."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from typing import Any, Literal, Protocol, runtime_checkable

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import body_poses
from freefloat.engine import compile
from freefloat.model import ModelError, Spacecraft, State
from freefloat.model.drawing import drawing
from freefloat.sim.audit import Accuracy, audit, fastest_rate
from freefloat.sim.linear_domain import domain_warnings
from freefloat.sim.observing import observed
from freefloat.sim.rollout import AdaptiveCount, Engine, adaptive_steps, fixed_steps, grid
from freefloat.sim.run import COMPLETED, Run, RunFailed, versions
from freefloat.sim.system import Loop, System, begin, inner_law
from freefloat.spatial.channels import Channel
from freefloat.spatial.precision import require_float64

Progress = Callable[[float, float], None]  # (seconds simulated, seconds in all)


@runtime_checkable
class Watcher(Protocol):
    """A progress report that also wants to see the states as they come, for a live view."""

    def __call__(self, done: float, total: float) -> None:
        """Seconds simulated, seconds in all."""
        ...

    def watch(self, system: System, block: Loop) -> None:
        """The latest recorded block (leading axis: time). May raise KeyboardInterrupt to stop the run."""
        ...


def simulate(
    craft: Spacecraft,
    *laws: Any,
    duration: float,
    state: State | None = None,
    joints_deg: Sequence[float] | None = None,
    dt: float = 0.01,
    record_dt: float | None = None,
    integrator: Literal["rk4", "adaptive"] = "rk4",
    tolerance: float = 1e-10,
    engine: Engine = "native",
    scenario: dict[str, Any] | None = None,
    progress: Progress | None = None,
    check: bool = True,
) -> Run:
    """Simulate a spacecraft under laws and audit the result.

    Start from `state`, or at rest with the joints at `joints_deg` (degrees for revolute, metres for prismatic).
    `engine="jax"` runs the same functions under plain `jax.jit`, to compare.
    A run that becomes non-finite, is interrupted, or violates a balance raises `RunFailed` with the run so far in
    `.run`; with `check=False` it is returned, and its `status` and `audit` say what happened.
    """
    require_float64()
    one_of("integrator", integrator, ("rk4", "adaptive"))
    one_of("engine", engine, ("native", "jax"))
    if not tolerance > 0.0:
        raise ValueError(f"tolerance must be positive, got {tolerance}.")
    timing = grid(duration, dt, record_dt)
    start = _start(craft, state, joints_deg)
    system, loop = begin(System(craft=craft, laws=laws, dt=dt), start)
    count = AdaptiveCount()
    blocks = (
        fixed_steps(system, loop, timing, engine)
        if integrator == "rk4"
        else adaptive_steps(system, loop, timing, engine, tolerance, count)
    )
    records, status = _collect(system, loop, blocks, duration, progress)
    data = _dataset(system, records, start, engine)
    moved, mass = float(data["time"].values[-1]), float(sum(body.mass for body in craft.bodies))
    if integrator == "rk4":
        fastest = max(
            [fastest_rate(data, mass), *(float(getattr(inner_law(law), "fastest_rate", 0.0)) for law in laws)]
        )
        accuracy = Accuracy.of_rk4(dt, max(moved, dt), fastest)
    else:
        accuracy = Accuracy.of_adaptive(tolerance, count.accepted)
    judged = audit(data, accuracy, mass, domain_warnings(craft, data))
    described = scenario or {
        "spacecraft": craft.name,
        "duration": duration,
        "dt": dt,
        "integrator": integrator,
    }
    run = Run(data=data, audit=judged, status=status, scenario=described, versions=versions(), scene=drawing(craft))
    if check:
        _fail_loudly(run)
    return run


def one_of(name: str, value: str, known: Sequence[str]) -> None:
    """Refuse a choice that is not one of the known ones."""
    if value not in known:
        raise ValueError(f"There is no {name} '{value}'. Choose one of: {', '.join(known)}.")


def _start(craft: Spacecraft, state: State | None, joints_deg: Sequence[float] | None) -> State:
    if state is not None and joints_deg is not None:
        raise ValueError("Give either state or joints_deg, not both.")
    if joints_deg is not None:
        names = craft.layout.moving_joints
        if len(joints_deg) != len(names):
            raise ModelError(f"joints_deg needs {len(names)} numbers ({', '.join(names)}), got {len(joints_deg)}.")
        turning = np.array([craft.joint(name).kind == "revolute" for name in names], dtype=bool)
        q = np.zeros(craft.layout.nq)
        q[list(craft.layout.joint_positions)] = np.where(turning, np.deg2rad(joints_deg), joints_deg)
        state = craft.at_rest(q)
    state = craft.at_rest() if state is None else craft.checked(state)
    fields = ("p_NB", "quat_NB", "q", "v")
    state = State(**{name: np.asarray(getattr(state, name), dtype=float) for name in fields})
    for field in dataclasses.fields(state):
        if not np.all(np.isfinite(np.asarray(getattr(state, field.name)))):
            raise ModelError(f"The state to start from has a number that is not finite in {field.name}.")
    norm = float(np.linalg.norm(np.asarray(state.quat_NB)))
    if abs(norm - 1.0) > 1e-6:
        raise ModelError(f"The quaternion to start from must have unit length, got {norm:g}.")
    return dataclasses.replace(state, quat_NB=np.asarray(state.quat_NB) / norm)


def _collect(system: System, loop: Loop, blocks: Any, duration: float, progress: Progress | None) -> tuple[Loop, str]:
    """Gather recorded blocks until the end, a number that is not finite, or an interruption."""
    dt = system.dt
    kept, status = [jax.tree.map(lambda x: np.asarray(x)[None], loop)], COMPLETED
    try:
        for block in blocks:
            good, fault = _finite_part(block, dt)
            kept.append(good)
            if fault:
                status = fault
                break
            if progress:
                progress(float(block.tick[-1]) * dt, duration)
            if isinstance(progress, Watcher):
                progress.watch(system, block)
    except KeyboardInterrupt:
        status = f"interrupted after {float(kept[-1].tick[-1]) * dt:g} s of {duration:g} s"
    return jax.tree.map(lambda *parts: np.concatenate(parts), *kept), status


def _finite_part(block: Loop, dt: float) -> tuple[Loop, str]:
    """The records before the first non-finite number, and which quantity it was in, when."""
    first, culprit = len(block.tick), ""
    for name in ("p_NB", "quat_NB", "q", "v"):
        values = getattr(block.plant.state, name)
        bad = ~np.all(np.isfinite(values), axis=-1)
        if bad.any() and int(np.argmax(bad)) < first:
            first, culprit = int(np.argmax(bad)), name
    if not culprit:
        return block, ""
    names = {"p_NB": "base position", "quat_NB": "base attitude", "q": "joint positions", "v": "velocities"}
    at = float(block.tick[first]) * dt
    return (
        jax.tree.map(lambda x: x[:first], block),
        f"{names[culprit]} ({culprit}) became non-finite at t = {at:g} s",
    )


def _dataset(system: System, records: Loop, start: State, target: Engine) -> Any:
    """All channels of all records as one labelled dataset."""
    import xarray

    described: dict[str, Channel] = {}

    def values_of(loop: Loop) -> dict[str, Any]:
        pairs = observed(system, loop, start)
        described.update((channel.name, channel) for channel, _ in pairs)  # names and units are known once traced
        placed = {f"bodies.{kind}": value for kind, value in _placed(system.craft, loop.plant.state).items()}
        return placed | {channel.name: value for channel, value in pairs}

    values = compile(values_of, jax.tree.map(lambda x: x[0], records), target=target).batch(records)
    time = records.tick * system.dt
    arrays: dict[str, Any] = {
        c.name: (
            ("time", c.axis) if c.axis else ("time",),
            np.asarray(values[c.name]),
            {"units": c.unit, "frame": c.frame, "long_name": c.label} | ({"flags": list(c.flags)} if c.flags else {}),
        )
        for c in described.values()
    }
    state = records.plant.state
    arrays["state.v"] = (
        ("time", "speed"),
        state.v,
        {"units": "SI", "long_name": "Generalised speeds, tree order"},
    )
    arrays["state.q"] = (
        ("time", "coordinate"),
        state.q,
        {"units": "SI", "long_name": "Generalised coordinates, tree order"},
    )
    for kind, axis, unit in (("position", "xyz", "m"), ("attitude", "wxyz", "1")):
        attributes = {"units": unit, "frame": "N", "long_name": f"Every body's {kind}"}
        arrays[f"bodies.{kind}"] = (("time", "body", axis), np.asarray(values[f"bodies.{kind}"]), attributes)
    coordinates: dict[str, Any] = {"time": ("time", time, {"units": "s", "long_name": "Time"})}
    coordinates |= {c.axis: list(c.components) for c in described.values() if c.axis}
    coordinates["body"] = list(system.craft.body_names)
    return xarray.Dataset(arrays, coords=coordinates)


def _placed(craft: Spacecraft, state: State) -> dict[str, Any]:
    """Position and attitude of every body in N, one row each: what a picture needs."""
    poses = [state.X_NB @ X_BL for X_BL in body_poses(craft, state.q)]
    return {
        "position": jnp.stack([jnp.asarray(pose.p) for pose in poses]),
        "attitude": jnp.stack([pose.quaternion for pose in poses]),
    }


def _fail_loudly(run: Run) -> None:
    if not run.completed:
        raise RunFailed(f"The run stopped: {run.status}. What was recorded until then is in the exception's .run.", run)
    if not run.audit.holds:
        lines = "\n".join(f"  {entry}" for entry in run.audit.violations)
        raise RunFailed(f"The audit is violated, so the result cannot be trusted:\n{lines}\n({run.audit.reason})", run)
