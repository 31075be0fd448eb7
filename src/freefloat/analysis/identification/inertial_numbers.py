"""The ten inertial numbers in which momentum is linear: mass, first moment, inertia about the body's origin.

Numbers that are estimated one by one are mass, centre of mass and inertia about it. A flexible body stores its first
and second moment instead of the last two; its numbers are those of the undeformed body, and its modes do not change.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model import ModalBody, RigidBody
from freefloat.spatial import SpatialInertia
from freefloat.values.arrays import Mat3, Vector

NumberColumns = tuple[
    tuple[str, ...], tuple[str, ...], tuple[float, ...], tuple[float, ...]
]  # names, units, values, scales

_PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
LETTERS = ("xx", "yy", "zz", "xy", "xz", "yz")
_ROWS, _COLUMNS = (np.array(index) for index in zip(*_PLACES, strict=True))


def inertial_columns(owner: str, body: RigidBody | ModalBody) -> NumberColumns:
    """Columns of the ten numbers of a body; scales: mass, mass times radius of gyration, mean moment of inertia."""
    whole = SpatialInertia.from_com(body.mass, jnp.asarray(body.com), jnp.asarray(body.inertia))
    mass, moment, inertia = float(whole.mass), np.asarray(whole.moment), np.asarray(whole.inertia)
    size = float(np.trace(inertia)) / 3.0
    names = (f"{owner}.mass", *(f"{owner}.moment.{a}" for a in "xyz"), *(f"{owner}.inertia.{ab}" for ab in LETTERS))
    units = ("kg", *("kg m",) * 3, *("kg m2",) * 6)
    values = (mass, *map(float, moment), *map(float, inertia[_ROWS, _COLUMNS]))
    return names, units, values, (mass, *(float(np.sqrt(mass * size)),) * 3, *(size,) * 6)


def make_leaves(old: list[jax.Array], values: Vector) -> list[jax.Array]:
    """Leaves of a rigid body (mass, centre of mass, inertia about it) from the ten numbers."""
    whole = SpatialInertia(mass=values[0], moment=values[1:4], inertia=_tensor(values[4:]))
    return [jnp.asarray(whole.mass), whole.com, whole.about_com()]


def make_flexible_leaves(old: list[jax.Array], values: Vector) -> list[jax.Array]:
    """Leaves of a flexible body (mass, first and second moment about the origin) from the ten numbers."""
    return [values[0], values[1:4], second_moment(_tensor(values[4:]))]


def com_columns(path: str, com: np.ndarray, size: float) -> NumberColumns:
    """Columns of a centre of mass; the scale is at least `size`, such as the radius of gyration [m]."""
    scale = tuple(max(abs(float(x)), size) for x in com)
    return tuple(f"{path}.{a}" for a in "xyz"), ("m",) * 3, tuple(map(float, com)), scale


def gyration_radius(mass: float, inertia: np.ndarray) -> float:
    """Radius of gyration [m]."""
    return float(np.sqrt(max(np.trace(inertia), 0.0) / (3.0 * mass))) if mass > 0.0 else 0.0


def inertia_columns(path: str, inertia: np.ndarray) -> NumberColumns:
    """Columns of the six numbers of an inertia about the centre of mass."""
    size = float(np.trace(inertia)) / 3.0
    names = tuple(f"{path}.{ab}" for ab in LETTERS)
    return names, ("kg m2",) * 6, tuple(map(float, inertia[_ROWS, _COLUMNS])), (size,) * 6


def make_tensor(old: list[jax.Array], values: Vector) -> list[jax.Array]:
    """Leaf of an inertia matrix from its six numbers."""
    return [_tensor(values)]


def set_tensor_entry(old: list[jax.Array], values: Vector, *, entry: int) -> list[jax.Array]:
    """Leaf of an inertia matrix in which one moment or product of inertia is replaced."""
    i, j = _PLACES[entry]
    return [old[0].at[i, j].set(values[0]).at[j, i].set(values[0])]


def set_flexible(old: list[jax.Array], values: Vector, *, field: str, entry: int | None = None) -> list[jax.Array]:
    """Leaves of a flexible body with a new mass, centre of mass or inertia about it; the other two do not change."""
    mass, moment, second = old
    com, inertia = moment / mass, _inertia(second - jnp.outer(moment, moment) / mass)
    if field == "mass":
        mass = values[0]
    elif field == "com":
        com = values if entry is None else com.at[entry].set(values[0])
    else:
        inertia = _tensor(values) if entry is None else set_tensor_entry([inertia], values, entry=entry)[0]
    return [mass, mass * com, second_moment(inertia) + mass * jnp.outer(com, com)]


def second_moment(inertia: Mat3) -> Mat3:
    """Integral of x x^T dm, from the inertia about the same point [kg m2]."""
    return 0.5 * jnp.trace(inertia) * jnp.eye(3) - inertia


def _inertia(second: Mat3) -> Mat3:
    return jnp.trace(second) * jnp.eye(3) - second


def _tensor(six: Vector) -> Mat3:
    half = jnp.zeros((3, 3)).at[_ROWS, _COLUMNS].set(six)
    return half + half.T - jnp.diag(jnp.diag(half))
