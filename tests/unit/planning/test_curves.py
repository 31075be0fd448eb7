"""Curves are what their control points say, and stay within their hull."""

import numpy as np
import pytest

from freefloat.planning.curves import Curve, basis, differences, knots, rest_to_rest
from freefloat.values import ModelError

T, POINTS = 7.0, 11


def test_a_curve_moves_as_its_derivatives_say():
    points = np.random.default_rng(3).normal(size=(POINTS, 2))
    curve, h = Curve.of(points, T), 1e-5
    times = np.random.default_rng(4).uniform(2 * h, T - 2 * h, 40)
    before, now, after = (curve.table(times + s) for s in (-h, 0.0, h))
    for k in (0, 1):  # central differences: h^2 times a third derivative of some hundreds, and rounding / h
        np.testing.assert_allclose((after[k] - before[k]) / (2 * h), now[k + 1], atol=1e-6)


def test_the_compiled_curve_is_the_spline_of_its_basis():
    points = np.random.default_rng(5).normal(size=(POINTS, 3))
    table = Curve.of(points, T).table(np.linspace(0.0, T, 33))
    for k, values in enumerate(table):
        np.testing.assert_allclose(values, basis(POINTS, T, 33)[k] @ points, atol=1e-9)


def test_control_points_of_derivatives_bound_them():
    points = np.random.default_rng(6).normal(size=(POINTS, 1))
    table = Curve.of(points, T).table(np.linspace(0.0, T, 2001))
    for order in (0, 1, 2):
        hull = differences(POINTS, T, order) @ points
        assert hull.min() - 1e-12 <= table[order].min() <= table[order].max() <= hull.max() + 1e-12
        # A clamped curve begins and ends with its outer points, and so do its derivatives.
        np.testing.assert_allclose(table[order][[0, -1]], hull[[0, -1]], atol=1e-11)


def test_the_straight_quintic_is_one_polynomial_that_ends_at_rest():
    points = rest_to_rest(np.array([1.0]), np.array([0.2]), np.array([3.0]), T, POINTS)
    value, rate, acceleration = Curve.of(points, T).table(np.linspace(0.0, T, 15))
    np.testing.assert_allclose(value[[0, -1], 0], [1.0, 3.0], atol=1e-12)
    np.testing.assert_allclose(rate[[0, -1], 0], [0.2, 0.0], atol=1e-12)
    np.testing.assert_allclose(acceleration[[0, -1], 0], 0.0, atol=1e-11)
    fitted = np.polynomial.Polynomial.fit(np.linspace(0.0, T, 15), value[:, 0], 5)
    np.testing.assert_allclose(fitted(np.linspace(0.0, T, 15)), value[:, 0], atol=1e-12)


def test_too_few_points_are_refused():
    with pytest.raises(ModelError, match="6 control points or more, got 5"):
        knots(5, 1.0)
