"""Workspace tools, offline: how much a motion disturbs the base, and where the arm loses a direction."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.dynamics import free_floating, generalized_jacobian, joint_jacobian, spd_solve
from freefloat.dynamics.least_squares import SINGULAR_BELOW
from freefloat.model import Spacecraft
from freefloat.values.arrays import Matrix, Numeric, Vector
from freefloat.values.compiling import over_rows

if TYPE_CHECKING:
    import xarray

Plane = dict[str, np.ndarray]  # two joint names, each with its values [rad, or m where the joint slides]


def disturbance_map(craft: Spacecraft, q: Numeric, plane: Plane) -> xarray.Dataset:
    """Base rate per unit joint rate over a plane of joints: singular values of -H~_b^-1 H~_bm (Yoshida 2003, eq. 4).

    `largest` and `smallest` are the gains [rad/rad] of the most and the least disturbing direction, `worst` and `best`
    those directions in joint space. Directions beyond the third disturb nothing: they are the reaction null space.
    """
    U, S, Vt = np.linalg.svd(_over_plane(_reaction, craft, q, plane))
    del U
    kinds = dict.fromkeys(_unit(craft, name) for name in craft.layout.moving_joints)
    gain = ", ".join(f"rad/{kind}" for kind in kinds)
    return _dataset(
        craft,
        q,
        plane,
        {},
        largest=(S[..., 0], gain, "Base rate per unit joint rate, most disturbing direction"),
        smallest=(S[..., -1], gain, "Base rate per unit joint rate, least disturbing of three directions"),
        worst=(Vt[..., 0, :], "1", "Most disturbing direction in joint space"),
        best=(Vt[..., S.shape[-1] - 1, :], "1", "Least disturbing of three directions in joint space"),
    )


def singularity_map(craft: Spacecraft, q: Numeric, plane: Plane, frame: str) -> xarray.Dataset:
    """Smallest singular values of the generalised and of the fixed-base Jacobian over a plane of joint space.

    Where `dynamic` is small and `kinematic` is not, the arm has a dynamic singularity: the floating base takes away
    a direction that a fixed base would leave (Papadopoulos and Dubowsky, 1993). With six joints both determinants are
    there too: singular configurations are lines in the plane, and the determinant changes its sign across them.
    """
    craft.frame(frame)
    floating = _over_plane(partial(_jacobian, generalized_jacobian, frame), craft, q, plane)
    fixed = _over_plane(partial(_jacobian, joint_jacobian, frame), craft, q, plane)
    values: dict[str, tuple[np.ndarray, str, str]] = {}
    for name, J, base in (("dynamic", floating, "floating"), ("kinematic", fixed, "fixed")):
        smallest = np.linalg.svd(J, compute_uv=False)[..., -1]
        values[name] = (smallest, "1", f"Smallest singular value of the Jacobian, base {base}")
        if J.shape[-1] == J.shape[-2]:
            values[f"{name}_determinant"] = (np.linalg.det(J), "1", f"Determinant of the Jacobian, base {base}")
    return _dataset(craft, q, plane, {"frame": frame, "singular_below": SINGULAR_BELOW}, **values)


def _reaction(craft: Spacecraft, joints: Vector) -> Matrix:
    body = free_floating(craft, joints)
    return spd_solve(body.angular_inertia, body.angular_coupling)


def _jacobian(of: Callable[..., Matrix], frame: str, craft: Spacecraft, joints: Vector) -> Matrix:
    return of(craft, joints, frame)


def _over_plane(function: Callable[..., Matrix], craft: Spacecraft, q: Numeric, plane: Plane) -> np.ndarray:
    """Values of a function of the joint positions on a grid; the first two axes are those of the grid."""
    first, second = _axes(craft, plane)
    a, b = np.meshgrid(*(np.asarray(v, dtype=float) for v in plane.values()), indexing="ij")
    grid = np.tile(_configuration(craft, q), (*a.shape, 1))
    grid[..., craft.layout.position(first).start], grid[..., craft.layout.position(second).start] = a, b
    points = grid.reshape(-1, grid.shape[-1])
    flat = over_rows(function, craft, rows=points)
    return flat.reshape(*a.shape, *flat.shape[1:])


def _configuration(craft: Spacecraft, q: Numeric) -> np.ndarray:
    """Checked configuration through which the plane is cut; an error if it does not fit or is not finite."""
    whole = np.asarray(craft.at_rest(np.asarray(q, dtype=float)).q)
    if not np.all(np.isfinite(whole)):
        raise ValueError(f"The configuration of a map must be finite, got {whole.tolist()}.")
    return whole


def _axes(craft: Spacecraft, plane: Plane) -> tuple[str, str]:
    """Names of the two joints of a plane; an error unless both exist, move, and have ascending values."""
    if len(plane) != 2:
        raise ValueError(f"A joint plane needs two joints with their values, got {', '.join(plane) or 'none'}.")
    for name, values in plane.items():
        craft.layout.require_moving([name])
        given = np.asarray(values, dtype=float)
        if given.ndim != 1 or given.size < 2:
            raise ValueError(f"Joint '{name}' of a plane needs at least two values, got {given.size}.")
        if not np.all(np.isfinite(given)):
            raise ValueError(f"The values of joint '{name}' of a plane must be finite.")
        if not np.all(np.diff(given) > 0.0):
            raise ValueError(
                f"The values of joint '{name}' of a plane must ascend, each different from the one before."
            )
    first, second = plane
    return first, second


def _unit(craft: Spacecraft, joint: str) -> str:
    return "rad" if craft.joint(joint).kind == "revolute" else "m"


def _dataset(
    craft: Spacecraft, q: Numeric, plane: Plane, facts: dict[str, Any], **values: tuple[np.ndarray, str, str]
) -> xarray.Dataset:
    """Data set of a map with units, labels and configuration, so that a saved file explains itself."""
    import xarray

    axes = _axes(craft, plane)
    arrays = {
        name: ((*axes, "joint")[: data.ndim], data, {"units": unit, "long_name": label})
        for name, (data, unit, label) in values.items()
    }
    joints = craft.layout.moving_joints
    coordinates: dict[str, Any] = {
        name: (name, np.asarray(v, dtype=float), {"units": _unit(craft, name), "long_name": f"Joint {name}"})
        for name, v in plane.items()
    }
    coordinates |= {
        "joint": list(joints),
        "configuration": (
            "joint",
            _configuration(craft, q)[list(craft.layout.joint_positions)],
            {"long_name": "Joint positions through which the plane is cut, each in its own unit"},
        ),
        "unit": ("joint", [_unit(craft, name) for name in joints]),
    }
    return xarray.Dataset(arrays, coords=coordinates, attrs={"spacecraft": craft.name, **facts})
