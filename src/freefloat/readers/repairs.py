"""The smallest change that makes a body physical, and a list of the changed numbers."""

import itertools

import numpy as np

from freefloat.readers.parsed import MassPoint

LEAST_MASS = 1e-3  # of a body that has none [kg]
_DENSITY = 19_300.0  # of tungsten: hardly a body of the same mass is more compact [kg/m3]
_MARGIN = 1e-12  # of the largest moment: enough to stay physical when the axes are turned
_THIN = 1e-6  # of the largest moment: a body with a smaller one is a thin rod or a point


def make_physical(stated: MassPoint | None) -> MassPoint:
    """The physical body nearest to a stated one: least change of the inertia matrix in the Frobenius norm.

    A body without mass gets LEAST_MASS. One that would be a point or a thin rod gets no less inertia about any axis
    than a ball of tungsten of its mass has.
    """
    if stated is None or stated.mass == 0.0:
        com = np.zeros(3) if stated is None else stated.com
        inertia = np.zeros((3, 3)) if stated is None else stated.inertia
        stated = MassPoint(LEAST_MASS, com, inertia)
    moments, axes = np.linalg.eigh(stated.inertia)
    scale = max(float(np.max(np.abs(moments))), ball_inertia(stated.mass))
    nearest = nearest_moments(moments, _MARGIN * scale)
    if nearest[0] < _THIN * scale:
        nearest = nearest_moments(moments, ball_inertia(stated.mass) / 2.0)
    inertia = axes @ np.diag(nearest) @ axes.T
    return MassPoint(stated.mass, stated.com, (inertia + inertia.T) / 2.0)


def ball_inertia(mass: float) -> float:
    """Inertia of a ball of tungsten about its centre [kg m2], from its mass [kg]."""
    radius = (3.0 * mass / (4.0 * np.pi * _DENSITY)) ** (1.0 / 3.0)
    return 0.4 * mass * radius**2


def nearest_moments(moments: np.ndarray, least: float) -> np.ndarray:
    """Principal moments nearest to the given ones for which int x^2 dm is `least` or more along each axis.

    They are sums of two of the three second moments s, I = A s; the triangle inequality is s >= 0. The nearest point is
    found by trying which of the bounds s >= least are met with equality.
    """
    A = np.ones((3, 3)) - np.eye(3)
    best, distance = np.full(3, 2.0 * least), np.inf
    for bound in itertools.product((False, True), repeat=3):
        free = ~np.array(bound)
        s = np.full(3, least)
        if np.any(free):
            s[free] = np.linalg.lstsq(A[:, free], moments - A[:, ~free] @ s[~free], rcond=None)[0]
        candidate = A @ s
        if np.all(s >= least * (1.0 - 1e-9)) and np.linalg.norm(candidate - moments) < distance:
            best, distance = candidate, float(np.linalg.norm(candidate - moments))
    return best


def describe_changes(before: MassPoint | None, after: MassPoint) -> str:
    """List of the numbers that differ: `ixx 0.25 -> 0.65`."""
    old = MassPoint(0.0, after.com, np.zeros((3, 3))) if before is None else before
    changes = [("mass", old.mass, after.mass, "kg")] if old.mass != after.mass else []
    for i, j in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)):
        a, b = float(old.inertia[i, j]), float(after.inertia[i, j])
        if abs(a - b) > 1e-12 * max(abs(a), float(np.max(np.abs(after.inertia)))):
            changes.append((f"i{'xyz'[i]}{'xyz'[j]}", a, b, "kg m2"))
    return ", ".join(f"{name} {a:.6g} -> {b:.6g} {unit}" for name, a, b, unit in changes)
