"""Where a spacecraft starts: joint positions by name or in order, and whether a state can be one."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import jax.numpy as jnp
import numpy as np

from freefloat.model.layout import Layout
from freefloat.model.state import State
from freefloat.values.arrays import Numeric, is_traced
from freefloat.values.checks import require_array, require_number, require_numbers
from freefloat.values.errors import ModelError

Joints: TypeAlias = Mapping[str, float | int | Numeric] | Sequence[float | int] | Numeric


def start_positions(layout: Layout, q: Any, joints: Joints | None, joints_deg: Joints | None) -> Any:
    """q [rad, m] from the whole of it, from joints [rad, m] or from joints in degrees; the rest is zero."""
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


def _positions_of_joints(layout: Layout, what: str, given: Joints) -> Any:
    """All coordinates from those of some joints, by name, or of all joints that move, in order."""
    names, unit = layout.moving_joints, "deg, m" if what == "joints_deg" else "rad, m"
    if isinstance(given, Mapping):
        layout.require_moving(given)
        values = require_numbers(
            what, [require_number(f"{what}['{name}']", given.get(name, 0.0), unit) for name in names], unit
        )
    else:
        words = f"{len(names)} numbers ({', '.join(names) or 'no joint moves'}) or a dictionary by joint"
        values = require_array(what, given, unit, (len(names),), words)
    turns = np.array([what == "joints_deg" and name in layout.revolute for name in names], dtype=bool)
    places = np.array(layout.joint_positions, dtype=int)
    return _fill_positions(layout.nq, places, values * np.where(turns, np.pi / 180.0, 1.0))


def _fill_positions(size: int, places: np.ndarray, values: Any) -> Any:
    if is_traced(values):
        return jnp.zeros(size).at[places].set(values)
    q = np.zeros(size)
    q[places] = values
    return q


def require_sound_state(layout: Layout, state: State) -> None:
    """Refuse a state of the wrong sizes, with a number that is not finite, or whose quaternion is not unit."""
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
