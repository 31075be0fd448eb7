"""Singularities of a map: lines with the base floating and fixed, and places singular only with the base floating."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import xarray

_ROUNDING = 1e-12  # of the largest determinant: smaller ones are zero


@dataclass(frozen=True)
class SingularLines:
    """Singular configurations of a plane of joints, in its coordinates [rad, m]."""

    floating: list[np.ndarray]  # (points, 2) each; empty if the Jacobian is not square
    fixed: list[np.ndarray]
    dynamic: np.ndarray  # (places, 2): singular with the base floating, not with the base fixed
    kinematic_there: np.ndarray  # (places,): smallest singular value with the base fixed


def singular_lines(data: xarray.Dataset) -> SingularLines:
    """Lines where the determinant changes its sign; a place is dynamic if a fixed base is not singular there.

    Without a determinant (more or fewer than six joints) places are points of the grid below the limit at which
    software damps their rates.
    """
    limit = float(data.attrs["singular_below"])
    dynamic, kinematic = data["dynamic"].values, data["kinematic"].values
    x, y = (data[name].values for name in data["dynamic"].dims)
    if "dynamic_determinant" not in data:
        found = np.argwhere((dynamic < limit) & (kinematic >= limit))
        places = np.column_stack([x[found[:, 0]], y[found[:, 1]]])
        return SingularLines([], [], places, kinematic[tuple(found.T)])
    floating, fixed = (_lines(data, f"{name}_determinant") for name in ("dynamic", "kinematic"))
    points = np.concatenate([*floating, np.zeros((0, 2))])
    # With the sign of the determinant the smallest singular value is smooth where it passes through zero.
    there = np.abs(_between(data, kinematic * np.sign(data["kinematic_determinant"].values), points))
    return SingularLines(floating, fixed, points[there >= limit], there[there >= limit])


def _lines(data: xarray.Dataset, name: str) -> list[np.ndarray]:
    """Lines where a determinant is zero.

    A border that is singular everywhere counts as just beyond the change of sign, so that its line is found.
    """
    from contourpy import contour_generator

    values = data[name].values
    zero = _ROUNDING * float(np.max(np.abs(values), initial=1e-300))
    inward = np.pad(values[1:-1, 1:-1], 1, mode="edge") if min(values.shape) > 2 else values
    signed = np.where(np.abs(values) > zero, values, np.where(inward < 0.0, zero, -zero))
    x, y = (data[axis].values for axis in data[name].dims)
    return [np.asarray(line) for line in contour_generator(x, y, signed.T).lines(0.0)]


def _between(data: xarray.Dataset, values: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Values at points of the plane, by linear interpolation of the grid."""
    from scipy.interpolate import RegularGridInterpolator

    x, y = (data[name].values for name in data["dynamic"].dims)
    inside = np.clip(points, [x[0], y[0]], [x[-1], y[-1]])  # a line on the border may miss it by rounding
    return RegularGridInterpolator((x, y), values)(inside)
