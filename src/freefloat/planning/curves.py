"""Curves in time: quintic B-splines with equal pieces, whose control points bound them and their rates.

A curve lies within the hull of its control points, and its rate and acceleration within those of the differences: a
limit that they keep is kept at every instant. Any polynomial of fifth degree is such a curve.
"""

from __future__ import annotations

import math
from functools import lru_cache

import jax
import jax.numpy as jnp
import numpy as np
from scipy.interpolate import BSpline

from freefloat.control.timed_path import clip_time
from freefloat.values import ModelError, record
from freefloat.values.arrays import Numeric, Scalar, Vector

DEGREE = 5
Kinematics = tuple[Vector, Vector, Vector]


@record
class Curve:
    """Several numbers as functions of time: coefficients of the powers of time in each piece, highest first."""

    coefficients: Numeric  # (pieces, 6, numbers)
    duration: Numeric | float  # [s]; before and after, it stands still

    @staticmethod
    def of(points: np.ndarray, duration: float) -> Curve:
        """The curve with given control points (points, numbers)."""
        spline = BSpline(knots(len(points), duration), points, DEGREE)
        begins = knots(len(points), duration)[DEGREE : len(points)]
        powers = [spline(begins, nu=k) / math.factorial(k) for k in range(DEGREE, -1, -1)]
        return Curve(np.stack(powers, axis=1), float(duration))

    def at(self, t: Scalar) -> Kinematics:
        """Values, rates and accelerations at a time [s]."""
        pieces = np.shape(self.coefficients)[0]
        length = self.duration / pieces
        inside = (t >= 0.0) & (t <= self.duration)
        now = clip_time(t, self.duration)
        piece = jnp.clip(jnp.floor(now / length), 0, pieces - 1).astype(jnp.int32)
        powers = jnp.asarray(self.coefficients)[piece]
        u = now - piece * length
        values = [jnp.zeros_like(powers[0])] * 3
        for row in powers:  # Horner's rule for the polynomial and its two derivatives
            values = [values[0] * u + row, values[1] * u + values[0], values[2] * u + values[1]]
        return values[0], jnp.where(inside, values[1], 0.0), jnp.where(inside, 2.0 * values[2], 0.0)

    def table(self, times: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Values, rates and accelerations at many times [s], one row each."""
        found = jax.jit(jax.vmap(self.at))(jnp.asarray(times))
        return tuple(map(np.asarray, found))  # pyright: ignore[reportReturnType]


def knots(points: int, duration: float) -> np.ndarray:
    """Knots of a spline of equal pieces, with all outer knots at the ends [s]."""
    if points <= DEGREE:
        raise ModelError(f"A curve of degree {DEGREE} needs {DEGREE + 1} control points or more, got {points}.")
    inner = np.linspace(0.0, duration, points - DEGREE + 1)
    return np.concatenate([np.zeros(DEGREE), inner, np.full(DEGREE, duration)])


@lru_cache(maxsize=32)
def basis(points: int, duration: float, samples: int) -> np.ndarray:
    """Weights of the control points in value, rate and acceleration at equally spaced times (3, samples, points)."""
    times, unit = np.linspace(0.0, duration, samples), np.eye(points)
    spline = BSpline(knots(points, duration), unit, DEGREE)
    found = np.stack([spline.derivative(k)(times) if k else spline(times) for k in range(3)])
    found.flags.writeable = False
    return found


@lru_cache(maxsize=32)
def differences(points: int, duration: float, order: int) -> np.ndarray:
    """Matrix from the control points of a curve to those of a derivative (points - order, points)."""
    matrix, t = np.eye(points), knots(points, duration)
    for k in range(order):
        degree = DEGREE - k
        spans = t[DEGREE + 1 : points + degree] - t[k + 1 : points]
        matrix = degree * np.diff(matrix, axis=0) / spans[:, None]
    matrix.flags.writeable = False
    return matrix


def rest_to_rest(start: np.ndarray, rate: np.ndarray, end: np.ndarray, duration: float, points: int) -> np.ndarray:
    """Control points of the polynomial of fifth degree from a value and a rate to rest, unaccelerated at both ends."""
    way = end - start
    a0 = np.stack([start, rate * duration, np.zeros_like(start)])
    tail = np.linalg.solve(
        np.array([[1.0, 1.0, 1.0], [3.0, 4.0, 5.0], [6.0, 12.0, 20.0]]), np.stack([way - a0[1], -a0[1], 0.0 * way])
    )
    powers = np.concatenate([a0, tail])  # of t / duration, lowest first
    x = np.linspace(0.0, 1.0, 4 * points)
    values = np.stack([x**k for k in range(6)], axis=1) @ powers
    return np.linalg.lstsq(basis(points, duration, 4 * points)[0], values, rcond=None)[0]
