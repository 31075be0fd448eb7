"""Orbit and cell in one picture: neither hides the other."""

import numpy as np

from freefloat.model.drawing import drawn_shape
from freefloat.model.shapes import Box, Shape
from freefloat.report.cell_placement import GAP, corners, shift_beside


def box(size):
    return {"name": "box", "shapes": [drawn_shape(Shape(Box(size)))]}


def test_corners_of_a_turned_box():
    quarter = np.array([[np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]])  # about z
    found = corners([box((2.0, 4.0, 6.0))], np.array([[1.0, 2.0, 3.0]]), quarter)
    np.testing.assert_allclose(found, [[-1.0, 1.0, 0.0], [3.0, 3.0, 6.0]], atol=1e-12)


def test_the_cell_stands_a_gap_off_and_is_centred_otherwise():
    orbit, cell = np.array([[-1.0, -2.0, -3.0], [1.0, 2.0, 3.0]]), np.array([[9.0, 9.0, 9.0], [11.0, 13.0, 19.0]])
    moved = cell + shift_beside(orbit, cell)
    np.testing.assert_allclose(moved[1, 1], orbit[0, 1] - GAP)
    np.testing.assert_allclose(moved.mean(axis=0)[[0, 2]], orbit.mean(axis=0)[[0, 2]], atol=1e-12)
