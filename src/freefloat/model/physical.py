"""Inertia lint: which numbers cannot belong to any rigid body, said by name."""

import jax
import jax.core
import numpy as np

from freefloat.model.errors import ModelError
from freefloat.spatial.arrays import Numeric, Scalar

# Printed tables round: a violation below one part in 1e9 of the largest moment is rounding, not physics.
_ROUNDING = 1e-9


def is_traced(*values: object) -> bool:
    """True while JAX traces through: the numbers are unknown then and cannot be checked."""
    return any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves(values))


def inertia_faults(mass: float, inertia: np.ndarray) -> list[str]:
    """Everything that is impossible about a mass and an inertia about the centre of mass, with the amount."""
    if not np.all(np.isfinite(inertia)) or not np.isfinite(mass):
        return ["mass and inertia must be finite numbers"]
    faults = [] if mass > 0.0 else [f"mass must be positive, got {mass:g} kg"]
    scale = max(float(np.max(np.abs(inertia))), 1e-300)
    if np.max(np.abs(inertia - inertia.T)) > _ROUNDING * scale:
        return [
            *faults,
            f"inertia matrix is not symmetric (by {np.max(np.abs(inertia - inertia.T)):g} kg m2)",
        ]
    smallest, middle, largest = np.linalg.eigvalsh((inertia + inertia.T) / 2.0)
    if smallest <= 0.0:
        faults.append(f"inertia must be positive definite, its smallest principal moment is {smallest:g} kg m2")
    elif smallest + middle < largest - _ROUNDING * scale:
        faults.append(
            "principal moments violate the triangle inequality: "
            f"{smallest:g} + {middle:g} < {largest:g} kg m2, by {largest - smallest - middle:g}"
        )
    return faults


def require_physical(owner: str, mass: Scalar | float, com: Numeric, inertia: Numeric) -> None:
    """Refuse a body that cannot exist."""
    if is_traced(mass, com, inertia):
        return
    faults = inertia_faults(float(mass), np.asarray(inertia))
    if not np.all(np.isfinite(com)):
        faults.append("centre of mass must be finite")
    if faults:
        raise ModelError(
            f"{owner}: " + "; ".join(faults) + ". Give the inertia about the centre of mass, in body axes."
        )


def unit_axis(owner: str, axis: Numeric) -> Numeric:
    """An axis scaled to unit length; zero or non-finite axes are refused."""
    if is_traced(axis):
        return axis
    axis = np.asarray(axis, dtype=float)
    length = float(np.linalg.norm(axis)) if axis.shape == (3,) else float("nan")
    if not np.isfinite(length) or length < 1e-12:
        raise ModelError(f"{owner}: axis must be three finite numbers, not all zero, got {axis.tolist()}.")
    # An axis that is unit to rounding keeps its digits, so that copies and files give back the same one.
    return axis if abs(length - 1.0) < 1e-15 else axis / length


def require_rotation(owner: str, rotation: Numeric) -> None:
    """Refuse a placement whose rotation is not one."""
    if is_traced(rotation):
        return
    error = float(np.max(np.abs(rotation @ rotation.T - np.eye(3))))
    if not error < 1e-9 or np.linalg.det(rotation) < 0.0:
        raise ModelError(f"{owner}: the placement is not a rotation (R R^T differs from 1 by {error:g}).")
