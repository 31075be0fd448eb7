"""Exact modes of a uniform Euler-Bernoulli beam for every pair of standard end conditions (docs/theory-flexible.md).

The shape is a combination of sin(b xi), cos(b xi), exp(-b xi) and exp(-b (1 - xi)), xi = x / L: four functions that
never overflow and never cancel, where cosh and sinh do both.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.optimize import brentq

from freefloat.flex.lines import GaussLine
from freefloat.values.errors import ModelError

# Which two derivatives of the shape vanish at an end.
_VANISHING: dict[str, tuple[int, int]] = {"clamped": (0, 1), "pinned": (0, 2), "sliding": (1, 3), "free": (2, 3)}


def _sech(b: float) -> float:
    return 2.0 * np.exp(-b) / (1.0 + np.exp(-2.0 * b))


# Characteristic function over cosh b, and the multiple of pi below its first elastic root: there is exactly one root
# in each following interval of length pi.
_CHARACTERISTIC: dict[frozenset[str], tuple[Callable[[float], float], float]] = {
    frozenset({"clamped"}): (lambda b: np.cos(b) - _sech(b), 1.0),
    frozenset({"free"}): (lambda b: np.cos(b) - _sech(b), 1.0),
    frozenset({"clamped", "free"}): (lambda b: np.cos(b) + _sech(b), 0.0),
    frozenset({"clamped", "pinned"}): (lambda b: np.sin(b) - np.cos(b) * np.tanh(b), 1.0),
    frozenset({"pinned", "free"}): (lambda b: np.sin(b) - np.cos(b) * np.tanh(b), 1.0),
    frozenset({"clamped", "sliding"}): (lambda b: np.sin(b) + np.cos(b) * np.tanh(b), 0.5),
    frozenset({"sliding", "free"}): (lambda b: np.sin(b) + np.cos(b) * np.tanh(b), 0.5),
    frozenset({"pinned"}): (np.sin, 0.5),
    frozenset({"sliding"}): (np.sin, 0.5),
    frozenset({"pinned", "sliding"}): (np.cos, 0.0),
}
_RIGID = {frozenset({"free"}): 2, frozenset({"pinned", "free"}): 1, frozenset({"sliding", "free"}): 1}
_RIGID[frozenset({"sliding"})] = 1


@dataclass(frozen=True)
class BeamModes:
    """The first `count` elastic modes of a beam of unit length, L2-normalised: int phi_i phi_j = delta_ij.

    A shape starts positive (or with its first non-zero derivative positive) at xi = 0. `tip_ratio` is a point mass at
    a free end over the mass of a beam clamped at the start; the modes are then orthogonal with that mass included.
    """

    count: int
    start: str = "clamped"
    end: str = "free"
    tip_ratio: float = 0.0

    def __post_init__(self) -> None:
        for end in (self.start, self.end):
            if end not in _VANISHING:
                raise ModelError(f"There is no end condition '{end}'. End conditions: {', '.join(_VANISHING)}.")
        if self.tip_ratio < 0.0:
            raise ModelError(f"A tip mass of {self.tip_ratio:g} times the beam's mass is negative. Give zero or more.")
        if self.tip_ratio and (self.start, self.end) != ("clamped", "free"):
            raise ModelError("Exact modes with a tip mass exist here for a clamped-free beam only. Use meshed_beam.")

    @property
    def rigid_modes(self) -> int:
        """Number of motions without strain that the ends leave free; they are not among the modes."""
        return _RIGID.get(frozenset({self.start, self.end}), 0)

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """The roots b: omega_j = b_j^2 sqrt(EI / (mu L^4))."""
        bare = _bare_roots(self.start, self.end, self.count)
        if self.tip_ratio == 0.0:
            return bare
        # A tip mass lowers root n from the free towards the pinned end's root n - 1: that is its bracket.
        pinned = np.concatenate([[0.0], _bare_roots("clamped", "pinned", self.count)])
        return np.array([_root(self._tip_mass_equation, low, high) for low, high in zip(pinned, bare, strict=False)])

    def _tip_mass_equation(self, b: float) -> float:
        return _sech(b) + np.cos(b) + self.tip_ratio * b * (np.cos(b) * np.tanh(b) - np.sin(b))

    @cached_property
    def _coefficients(self) -> np.ndarray:
        """Coefficients of the four functions, one row per mode."""
        raw = np.array([self._null_vector(b) for b in self.eigenvalues])
        line = GaussLine(np.linspace(0.0, 1.0, self.count + 2), 20)
        values = _combine(raw, self.eigenvalues, line.points, 0)
        raw = raw / np.sqrt(line.weights @ values**2)[:, None]
        first = min(set(range(4)) - set(_VANISHING[self.start]))
        return raw * np.sign(_combine(raw, self.eigenvalues, np.zeros(1), first)[0])[:, None]

    def _null_vector(self, b: float) -> np.ndarray:
        rows = [_functions(np.array([b]), np.zeros(1), k)[:, 0, 0] for k in _VANISHING[self.start]]
        rows += [_functions(np.array([b]), np.ones(1), k)[:, 0, 0] for k in _VANISHING[self.end]]
        if self.tip_ratio:  # shear at the tip accelerates the tip mass: phi''' + ratio b^4 phi = 0
            rows[3] = rows[3] + self.tip_ratio * b * _functions(np.array([b]), np.ones(1), 0)[:, 0, 0]
        rows = np.array(rows)
        return np.linalg.svd(rows / np.linalg.norm(rows, axis=1)[:, None])[2][-1]

    def shapes(self, xi: np.ndarray, derivative: int = 0) -> np.ndarray:
        """The shapes, or their derivatives with respect to xi, one row per place and one column per mode."""
        return _combine(self._coefficients, self.eigenvalues, np.asarray(xi, float), derivative) * (
            self.eigenvalues**derivative
        )


@dataclass(frozen=True)
class RodModes:
    """The first `count` axial or torsional modes of a unit rod fixed at xi = 0 and free at 1, L2-normalised.

    `tip_ratio` is the inertia at the free end over that of the rod.
    """

    count: int
    tip_ratio: float = 0.0

    @cached_property
    def eigenvalues(self) -> np.ndarray:
        """The roots b of cos b = ratio b sin b: omega_j = b_j sqrt(stiffness / (inertia per length L^2))."""
        return np.array(
            [
                _root(lambda b: np.cos(b) - self.tip_ratio * b * np.sin(b), n * np.pi, (n + 0.5) * np.pi)
                for n in range(self.count)
            ]
        )

    def shapes(self, xi: np.ndarray, derivative: int = 0) -> np.ndarray:
        """The shapes sin(b xi), or their derivatives with respect to xi, one column per mode."""
        b = self.eigenvalues
        size = np.sqrt(0.5 - np.sin(2.0 * b) / (4.0 * b))
        return b**derivative * np.sin(np.multiply.outer(xi, b) + 0.5 * np.pi * derivative) / size


def _bare_roots(start: str, end: str, count: int) -> np.ndarray:
    function, first = _CHARACTERISTIC[frozenset({start, end})]
    return np.array([_root(function, (first + n) * np.pi, (first + n + 1.0) * np.pi) for n in range(count)])


def _root(function: Callable[[float], float], low: float, high: float) -> float:
    low_value, high_value = function(low), function(high)
    if low_value * high_value > 0.0:  # the root is at an end of its interval to rounding (far up, or no tip load)
        return low if abs(low_value) < abs(high_value) else high
    return float(brentq(function, low, high, xtol=1e-14, rtol=4 * np.finfo(float).eps))  # pyright: ignore[reportArgumentType]


def _functions(b: np.ndarray, xi: np.ndarray, derivative: int) -> np.ndarray:
    """The four functions differentiated, over b^derivative: (4, places, modes)."""
    angle = np.multiply.outer(xi, b)
    turn = 0.5 * np.pi * derivative
    sign = (-1.0) ** derivative
    decays = (sign * np.exp(-angle), np.exp(-np.multiply.outer(1.0 - xi, b)))
    return np.array([np.sin(angle + turn), np.cos(angle + turn), *decays])


def _combine(coefficients: np.ndarray, b: np.ndarray, xi: np.ndarray, derivative: int) -> np.ndarray:
    return np.einsum("jf,fxj->xj", coefficients, _functions(b, xi, derivative))
