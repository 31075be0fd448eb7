"""Checks of mass and inertia: numbers that cannot belong to any rigid body raise an error with the body's name.

Bodies of files (URDF, SDF, MJCF) are judged by it, and repaired where asked for, in `readers.body_checks`.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from freefloat.spatial.rotations import rotation_fault
from freefloat.values.arrays import Numeric, Scalar, is_traced
from freefloat.values.checks import require_array
from freefloat.values.errors import ModelError

# Printed tables round: a violation below one part in 1e9 of the largest moment is rounding, not physics.
_ROUNDING = 1e-9
_LARGEST = 1e60  # [kg, kg m2]: more than the universe has; squares of it are still finite numbers


def inertia_faults(mass: float, inertia: np.ndarray) -> list[str]:
    """Everything that is impossible about a mass and an inertia about the centre of mass, with the amount."""
    if not np.all(np.isfinite(inertia)) or not np.isfinite(mass):
        return ["mass and inertia must be finite numbers"]
    if max(abs(mass), float(np.max(np.abs(inertia)))) > _LARGEST:
        return [f"mass and inertia beyond {_LARGEST:g} kg or kg m2 cannot be computed with"]
    faults = [] if mass > 0.0 else [f"mass must be positive, got {mass:g} kg"]
    scale = max(float(np.max(np.abs(inertia))), 1e-300)
    if np.max(np.abs(inertia - inertia.T)) > _ROUNDING * scale:
        return [*faults, f"inertia matrix is not symmetric (by {np.max(np.abs(inertia - inertia.T)):g} kg m2)"]
    smallest, middle, largest = np.linalg.eigvalsh((inertia + inertia.T) / 2.0)
    if smallest <= 0.0:
        faults.append(f"inertia must be positive definite, its smallest principal moment is {smallest:g} kg m2")
    elif smallest + middle < largest - _ROUNDING * scale:
        faults.append(
            "principal moments violate the triangle inequality: "
            f"{smallest:g} + {middle:g} < {largest:g} kg m2, by {largest - smallest - middle:g}"
        )
    return faults


def require_physical(owner: str, mass: Scalar | float, inertia: Numeric) -> None:
    """Raise an error for a body that cannot exist; its mass alone is checked when it is built."""
    if not is_traced(mass, inertia) and (faults := inertia_faults(float(mass), np.asarray(inertia))):
        listed = "; ".join(faults)
        raise ModelError(f"{owner}: {listed}. Give the inertia about the centre of mass, in body axes.")


def unit_axis(what: str, axis: Any) -> Any:
    """The axis scaled to unit length; raises an error for a zero or non-finite axis."""
    axis = require_array(what, axis, "", (3,), "three finite numbers, not all zero")
    if is_traced(axis):
        return axis
    length = float(np.linalg.norm(axis))
    if length < 1e-12:
        raise ModelError(f"{what} must be three finite numbers, not all zero, got {axis.tolist()}.")
    # An axis that is unit to rounding keeps its digits, so that copies and files give back the same one.
    return axis if abs(length - 1.0) < 1e-15 else axis / length


def require_rotation(owner: str, rotation: Numeric) -> None:
    """Raise an error for a placement whose rotation matrix is not a rotation."""
    if not is_traced(rotation) and (fault := rotation_fault(np.asarray(rotation))):
        raise ModelError(f"{owner}: the placement is not a rotation ({fault}).")


class Rotor(NamedTuple):
    """A wheel or motor that turns on a body about a fixed axis."""

    title: str  # its name in messages
    axis: Numeric
    inertia: Numeric | float  # about the axis [kg m2]


def require_rotors_fit(body: str, locked: Numeric, rotors: Sequence[Rotor]) -> None:
    """Raise an error for rotors with more inertia than the body that carries them, which includes them, locked."""
    if not rotors or is_traced(locked, [(rotor.axis, rotor.inertia) for rotor in rotors]):
        return
    own = np.asarray(locked)
    carried = sum(float(rotor.inertia) * np.outer(rotor.axis, rotor.axis) for rotor in rotors)
    if np.linalg.eigvalsh(own - carried)[0] > 0.0:
        return
    worst = max(reversed(rotors), key=lambda rotor: float(rotor.inertia) / float(rotor.axis @ own @ rotor.axis))
    along, together = (float(worst.axis @ inertia @ worst.axis) for inertia in (own, carried))
    kinds = "wheels" if all(rotor.title.startswith("Wheel") for rotor in rotors) else "wheels and motors"
    raise ModelError(
        f"{worst.title}: its {float(worst.inertia):g} kg m2, with the {together - float(worst.inertia):g} kg m2 "
        f"of the other {kinds}, exceed the {along:g} kg m2 that '{body}' has about the spin axis. "
        f"The body's inertia includes its {kinds}, locked."
    )
