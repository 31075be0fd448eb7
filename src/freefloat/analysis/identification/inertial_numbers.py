"""The ten inertial numbers that momentum is linear in: mass, first moment, inertia about the body's origin.

Single numbers are mass, centre of mass and inertia about it. A flexible body keeps its first and second moment instead
of the last two; its numbers are those of the undeformed body, and its modes stay as they are.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model import ModalBody, RigidBody
from freefloat.spatial import SpatialInertia
from freefloat.values.arrays import Mat3, Vector

Described = tuple[
    tuple[str, ...], tuple[str, ...], tuple[float, ...], tuple[float, ...]
]  # names, units, values, scales

_PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
LETTERS = ("xx", "yy", "zz", "xy", "xz", "yz")
_ROWS, _COLUMNS = (np.array(index) for index in zip(*_PLACES, strict=True))


def described(owner: str, body: RigidBody | ModalBody) -> Described:
    """The ten of a body: a product is as large as a moment, a first moment as mass times radius of gyration."""
    whole = SpatialInertia.from_com(body.mass, jnp.asarray(body.com), jnp.asarray(body.inertia))
    mass, moment, inertia = float(whole.mass), np.asarray(whole.moment), np.asarray(whole.inertia)
    size = float(np.trace(inertia)) / 3.0
    names = (f"{owner}.mass", *(f"{owner}.moment.{a}" for a in "xyz"), *(f"{owner}.inertia.{ab}" for ab in LETTERS))
    units = ("kg", *("kg m",) * 3, *("kg m2",) * 6)
    values = (mass, *map(float, moment), *map(float, inertia[_ROWS, _COLUMNS]))
    return names, units, values, (mass, *(float(np.sqrt(mass * size)),) * 3, *(size,) * 6)


def make_leaves(old: list[jax.Array], values: Vector) -> list[jax.Array]:
    """Mass, centre of mass and inertia about it, from the ten."""
    whole = SpatialInertia(mass=values[0], moment=values[1:4], inertia=_tensor(values[4:]))
    return [jnp.asarray(whole.mass), whole.com, whole.about_com()]


def make_flexible_leaves(old: list[jax.Array], values: Vector) -> list[jax.Array]:
    """Mass, first and second moment about the origin, from the ten."""
    return [values[0], values[1:4], second_moment(_tensor(values[4:]))]


def centre(path: str, com: np.ndarray, size: float) -> Described:
    """The three of a centre of mass, as large as a radius of gyration at least."""
    scale = tuple(max(abs(float(x)), size) for x in com)
    return tuple(f"{path}.{a}" for a in "xyz"), ("m",) * 3, tuple(map(float, com)), scale


def gyration(mass: float, inertia: np.ndarray) -> float:
    """Radius of gyration [m]."""
    return float(np.sqrt(max(np.trace(inertia), 0.0) / (3.0 * mass))) if mass > 0.0 else 0.0


def central(path: str, inertia: np.ndarray) -> Described:
    """The six of an inertia about the centre of mass."""
    size = float(np.trace(inertia)) / 3.0
    names = tuple(f"{path}.{ab}" for ab in LETTERS)
    return names, ("kg m2",) * 6, tuple(map(float, inertia[_ROWS, _COLUMNS])), (size,) * 6


def make_tensor(old: list[jax.Array], values: Vector) -> list[jax.Array]:
    """The symmetric matrix of the six."""
    return [_tensor(values)]


def set_tensor_entry(old: list[jax.Array], values: Vector, *, entry: int) -> list[jax.Array]:
    """The matrix with another moment or product of inertia."""
    i, j = _PLACES[entry]
    return [old[0].at[i, j].set(values[0]).at[j, i].set(values[0])]


def set_flexible(old: list[jax.Array], values: Vector, *, field: str, entry: int | None = None) -> list[jax.Array]:
    """Leaves of a flexible body with another mass, centre of mass or inertia about it, the other two as they were."""
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
