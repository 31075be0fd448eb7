"""Workspace tools, offline: how much a motion disturbs the base, and where the arm loses a direction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from freefloat.dynamics import free_floating, generalized_jacobian, joint_jacobian
from freefloat.model import Spacecraft
from freefloat.spatial.arrays import Numeric

if TYPE_CHECKING:
    import xarray

Plane = dict[str, np.ndarray]  # two joint names, each with its values [rad, m]


def disturbance_map(craft: Spacecraft, q: Numeric, plane: Plane) -> xarray.Dataset:
    """Base rate per unit joint rate over a plane of joints: singular values of -H~_b^-1 H~_bm (Yoshida 2003, eq. 4).

    `largest` and `smallest` are the gains [rad/rad] of the most and the least disturbing direction, `worst` and `best`
    those directions in joint space. Directions beyond the third disturb nothing: they are the reaction null space.
    """

    def reaction(joints: Numeric) -> Numeric:
        body = free_floating(craft, joints)
        return jax.numpy.linalg.solve(body.angular_inertia, body.angular_coupling)

    U, S, Vt = np.linalg.svd(_over_plane(reaction, craft, q, plane))
    del U
    return _dataset(
        craft,
        plane,
        largest=(S[..., 0], "rad/rad", "Base rate per unit joint rate, most disturbing direction"),
        smallest=(S[..., -1], "rad/rad", "Base rate per unit joint rate, least disturbing of three directions"),
        worst=(Vt[..., 0, :], "1", "Most disturbing direction in joint space"),
        best=(Vt[..., S.shape[-1] - 1, :], "1", "Least disturbing of three directions in joint space"),
    )


def singularity_map(craft: Spacecraft, q: Numeric, plane: Plane, frame: str) -> xarray.Dataset:
    """Smallest singular values of the generalised and of the fixed-base Jacobian over a plane of joint space.

    Where `dynamic` is small and `kinematic` is not, the arm has a dynamic singularity: the floating base takes away
    a direction that a fixed base would leave (Papadopoulos and Dubowsky, 1993).
    """
    craft.frame(frame)
    floating = _over_plane(lambda joints: generalized_jacobian(craft, joints, frame), craft, q, plane)
    fixed = _over_plane(lambda joints: joint_jacobian(craft, joints, frame), craft, q, plane)
    dynamic, kinematic = (np.linalg.svd(J, compute_uv=False)[..., -1] for J in (floating, fixed))
    return _dataset(
        craft,
        plane,
        dynamic=(dynamic, "1", "Smallest singular value, base floating"),
        kinematic=(kinematic, "1", "Smallest singular value, base fixed"),
    )


def _over_plane(function: Any, craft: Spacecraft, q: Numeric, plane: Plane) -> np.ndarray:
    """A function of the joint positions on a grid; the grid's axes come first."""
    first, second = (craft.layout.position(name).start for name in _axes(plane))
    a, b = np.meshgrid(*(np.asarray(v, dtype=float) for v in plane.values()), indexing="ij")
    grid = np.tile(np.asarray(q, dtype=float), (*a.shape, 1))
    grid[..., first], grid[..., second] = a, b
    flat = jax.jit(jax.vmap(function))(grid.reshape(-1, grid.shape[-1]))
    return np.asarray(flat).reshape(*a.shape, *flat.shape[1:])


def _axes(plane: Plane) -> tuple[str, ...]:
    if len(plane) != 2:
        raise ValueError(f"A joint plane needs two joints with their values, got {', '.join(plane) or 'none'}.")
    return tuple(plane)


def _dataset(craft: Spacecraft, plane: Plane, **values: tuple[np.ndarray, str, str]) -> xarray.Dataset:
    import xarray

    axes = _axes(plane)
    arrays = {
        name: ((*axes, "joint")[: data.ndim], data, {"units": unit, "long_name": label})
        for name, (data, unit, label) in values.items()
    }
    coordinates: dict[str, Any] = {name: (name, np.asarray(v), {"units": "rad, m"}) for name, v in plane.items()}
    coordinates["joint"] = list(craft.layout.moving_joints)
    return xarray.Dataset(arrays, coords=coordinates)
