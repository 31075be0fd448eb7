"""The ten inertial numbers of a rigid body that momentum is linear in: mass, first moment, inertia about its origin."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model import RigidBody
from freefloat.spatial import SpatialInertia
from freefloat.values.arrays import Mat3, Vector

Described = tuple[
    tuple[str, ...], tuple[str, ...], tuple[float, ...], tuple[float, ...]
]  # names, units, values, scales

_PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
_LETTERS = ("xx", "yy", "zz", "xy", "xz", "yz")
_ROWS, _COLUMNS = (np.array(index) for index in zip(*_PLACES, strict=True))


def described(owner: str, body: RigidBody) -> Described:
    """The ten of a body: a product is as large as a moment, a first moment as mass times radius of gyration."""
    whole = body.spatial_inertia()
    mass, moment, inertia = float(whole.mass), np.asarray(whole.moment), np.asarray(whole.inertia)
    size = float(np.trace(inertia)) / 3.0
    names = (f"{owner}.mass", *(f"{owner}.moment.{a}" for a in "xyz"), *(f"{owner}.inertia.{ab}" for ab in _LETTERS))
    units = ("kg", *("kg m",) * 3, *("kg m2",) * 6)
    values = (mass, *map(float, moment), *map(float, inertia[_ROWS, _COLUMNS]))
    return names, units, values, (mass, *(float(np.sqrt(mass * size)),) * 3, *(size,) * 6)


def make_leaves(old: list[jax.Array], values: Vector) -> list[jax.Array]:
    """Mass, centre of mass and inertia about it, from the ten."""
    whole = SpatialInertia(mass=values[0], moment=values[1:4], inertia=_tensor(values[4:]))
    return [jnp.asarray(whole.mass), whole.com, whole.about_com()]


def central(path: str, inertia: np.ndarray) -> Described:
    """The six of an inertia about the centre of mass."""
    size = float(np.trace(inertia)) / 3.0
    names = tuple(f"{path}.{ab}" for ab in _LETTERS)
    return names, ("kg m2",) * 6, tuple(map(float, inertia[_ROWS, _COLUMNS])), (size,) * 6


def make_tensor(old: list[jax.Array], values: Vector) -> list[jax.Array]:
    """The symmetric matrix of the six."""
    return [_tensor(values)]


def _tensor(six: Vector) -> Mat3:
    half = jnp.zeros((3, 3)).at[_ROWS, _COLUMNS].set(six)
    return half + half.T - jnp.diag(jnp.diag(half))
