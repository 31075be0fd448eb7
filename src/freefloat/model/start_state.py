"""Positions and speeds at the start, by name or in order, and checks of a state."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import jax.numpy as jnp
import numpy as np

from freefloat.model.following import joint_position
from freefloat.model.layout import Layout
from freefloat.model.state import State
from freefloat.values.arrays import Numeric, is_traced
from freefloat.values.checks import require_array, require_number, require_numbers
from freefloat.values.errors import ModelError, unknown_name

if TYPE_CHECKING:
    from freefloat.model.spacecraft import Spacecraft

Joints: TypeAlias = Mapping[str, float | int | Numeric] | Sequence[float | int] | Numeric


class Speeds(NamedTuple):
    """Speeds at the start as a caller gives them; None: not changed."""

    velocity: Any  # of the base, base axes [m/s]
    rate: Any  # of the base, base axes [rad/s]
    rate_deg_s: Any
    joints: Joints | None  # [rad/s, m/s]
    joints_deg_s: Joints | None
    wheels: Joints | None  # relative to their bodies [rad/s]


def start_positions(layout: Layout, q: Any, joints: Joints | None, joints_deg: Joints | None) -> Any:
    """Coordinates q [rad, m] from all of q, from joints [rad, m] or from joints in degrees; the rest is zero."""
    given = [name for name, value in (("q", q), ("joints", joints), ("joints_deg", joints_deg)) if value is not None]
    if len(given) > 1:
        raise ModelError(f"{' and '.join(given)} both say where the joints are. Give one of them.")
    if isinstance(q, Mapping):
        raise ModelError("q is one vector of all coordinates. Give joints by name as joints={...} [rad, m].")
    if q is not None:
        return layout.require_size("q", require_numbers(f"Spacecraft '{layout.owner}': q", q, "rad, m"), "q")
    if joints_deg is not None:
        return _positions_of_joints(layout, "joints_deg", joints_deg)
    return _positions_of_joints(layout, "joints", {} if joints is None else joints)


def start_motion(layout: Layout, state: State, speeds: Speeds) -> State:
    """Copy of a state with some of its speeds replaced."""
    for plain, degrees in (("rate", "rate_deg_s"), ("joints", "joints_deg_s")):
        if getattr(speeds, plain) is not None and getattr(speeds, degrees) is not None:
            raise ModelError(f"{plain} and {degrees} both say how fast it is. Give one of them.")
    turning = np.array([name in layout.revolute for name in layout.moving_joints], dtype=bool)
    in_degrees = np.where(turning, np.pi / 180.0, 1.0)
    moving, wheels = layout.moving_joints, layout.wheels
    parts = (  # name, given, unit, its words, places in v, size of its unit
        ("velocity", speeds.velocity, "m/s", "xyz", range(3), 1.0),
        ("rate", speeds.rate, "rad/s", "xyz", range(3, 6), 1.0),
        ("rate_deg_s", speeds.rate_deg_s, "deg/s", "xyz", range(3, 6), np.pi / 180.0),
        ("joints", speeds.joints, "rad/s, m/s", moving, layout.joint_velocities, 1.0),
        ("joints_deg_s", speeds.joints_deg_s, "deg/s, m/s", moving, layout.joint_velocities, in_degrees),
        ("wheels", speeds.wheels, "rad/s", wheels, layout.wheel_velocities, 1.0),
    )
    v = state.v
    for what, given, unit, names, where, scale in parts:
        if given is not None:
            places = np.array(where, dtype=int)
            values = _named_values(layout, what, given, unit, tuple(names), v[places] / scale)
            v = _set_entries(v, places, values * scale)
            if what.startswith("joints"):
                v = _with_motors(layout, v, layout.motor_velocities, layout.velocities)
    return dataclasses.replace(state, v=v)


def _positions_of_joints(layout: Layout, what: str, given: Joints) -> Any:
    """All coordinates from positions of some joints, by name, or of all moving joints, in order."""
    names, unit = layout.moving_joints, "deg, m" if what == "joints_deg" else "rad, m"
    values = _named_values(layout, what, given, unit, names, np.zeros(len(names)))
    turns = np.array([what == "joints_deg" and name in layout.revolute for name in names], dtype=bool)
    places = np.array(layout.joint_positions, dtype=int)
    q = _set_entries(np.zeros(layout.nq), places, values * np.where(turns, np.pi / 180.0, 1.0))
    return _with_motors(layout, q, layout.motor_positions, layout.positions)


def _with_motors(layout: Layout, vector: Any, motors: tuple[int, ...], places: Mapping[str, slice]) -> Any:
    """Copy of a vector in which motors of flexible joints stand where their joints are: no torsion."""
    if not motors:
        return vector
    joints = np.array([places[joint].start for joint in layout.flexible_joints], dtype=int)
    return _set_entries(vector, np.array(motors, dtype=int), vector[joints])


def _named_values(layout: Layout, what: str, given: Joints, unit: str, names: tuple[str, ...], present: Any) -> Any:
    """Numbers for all names, given for all in order, or for some by name while the others stay at `present`."""
    kind = "joint" if what.startswith("joints") else "wheel" if what == "wheels" else "axis"
    if isinstance(given, Mapping):
        if kind == "joint":
            layout.require_moving(given)
        elif unknown := [name for name in given if name not in names]:
            raise unknown_name(layout.owner, kind, str(unknown[0]), names)
        values = [
            require_number(f"{what}['{n}']", given[n], unit) if n in given else old
            for n, old in zip(names, present, strict=True)
        ]
        return require_numbers(what, values if is_traced(values) else [float(x) for x in values], unit)
    words = f"{len(names)} numbers ({', '.join(names) or f'no {kind} moves'}) or a dictionary by {kind}"
    return require_array(what, given, unit, (len(names),), words)


def _set_entries(vector: Any, places: np.ndarray, values: Any) -> Any:
    if is_traced(vector, values):
        return jnp.asarray(vector).at[places].set(values)
    changed = np.array(vector, dtype=float)
    changed[places] = values
    return changed


def starts_beyond_limits(craft: Spacecraft, state: State) -> tuple[str, ...]:
    """One sentence for each joint that starts outside its limits, followers included."""
    found, slack = [], 1e-9  # [rad, m]: a limit that was written in degrees is met to rounding
    for joint in craft.joints:
        low, high = float(joint.limits.lower), float(joint.limits.upper)
        if not joint.dofs and joint.follows is None:
            continue
        at = float(joint_position(craft, np.asarray(state.q), joint.name))
        if not low - slack <= at <= high + slack:
            size, unit = (180.0 / np.pi, "deg") if joint.kind == "revolute" else (1.0, "m")
            found.append(
                f"Joint '{joint.name}' of '{craft.name}' starts at {size * at:.4g} {unit}, beyond its limits "
                f"{size * low:.4g} to {size * high:.4g} {unit}. Nothing brings it back by itself: start inside them."
            )
    return tuple(found)


def require_sound_state(layout: Layout, state: State) -> None:
    """Raise an error for a state of wrong sizes, with numbers that are not finite, or a quaternion that is not unit."""
    owner = f"State of spacecraft '{layout.owner}'"
    layout.require_size("q", state.q, "q")
    layout.require_size("v", state.v)
    require_array(f"{owner}: p_NB", state.p_NB, "m", (3,), "x, y, z")
    quat = require_array(f"{owner}: quat_NB", state.quat_NB, "", (4,), "w, x, y, z")
    for name in ("q", "v"):
        value = getattr(state, name)
        if not is_traced(value) and not np.all(np.isfinite(value)):
            raise ModelError(f"{owner}: a number is not finite in {name}, {np.asarray(value).tolist()}.")
    if not is_traced(quat) and abs(np.linalg.norm(quat) - 1.0) > 1e-6:
        raise ModelError(f"{owner}: the quaternion must have unit length, got {np.linalg.norm(quat):g}. Normalise it.")
