import itertools

import numpy as np
import pytest

from freefloat.flex import BeamModes, RodModes
from freefloat.flex.lines import GaussLine, mesh_lines
from freefloat.values import ModelError

ENDS = ("clamped", "pinned", "sliding", "free")
PAIRS = list(itertools.product(ENDS, ENDS))
LINE = GaussLine(np.linspace(0.0, 1.0, 16), 20)  # integrals of 12 modes to rounding
VANISHING = {"clamped": (0, 1), "pinned": (0, 2), "sliding": (1, 3), "free": (2, 3)}


@pytest.mark.parametrize(("start", "end"), PAIRS)
def test_shapes_are_orthonormal_and_obey_their_ends(start, end):
    modes = BeamModes(12, start, end)
    b, w = modes.eigenvalues, LINE.weights[:, None]
    phi, curvature = modes.shapes(LINE.points), modes.shapes(LINE.points, 2)
    np.testing.assert_allclose(phi.T @ (w * phi), np.eye(12), atol=1e-13)
    stiffness = curvature.T @ (w * curvature)
    np.testing.assert_allclose(stiffness / np.multiply.outer(b**2, b**2), np.eye(12), atol=1e-12)
    for place, condition in ((0.0, start), (1.0, end)):
        for derivative in VANISHING[condition]:
            # Rounding of the root, b eps, moves the scaled derivative by as much.
            assert np.max(np.abs(modes.shapes(np.array([place]), derivative) / b**derivative)) < 1e-12


@pytest.mark.parametrize(("start", "end"), PAIRS)
def test_no_root_is_missed(start, end):
    """Roots settle to a spacing of pi, and none lies below the first: the shape of mode n has the right zeros."""
    b = BeamModes(40, start, end).eigenvalues
    np.testing.assert_allclose(np.diff(b)[5:], np.pi, atol=1e-6)
    rigid = BeamModes(1, start, end).rigid_modes
    inner = np.linspace(0.0, 1.0, 4002)[1:-1]
    for n in (1, 2, 5):
        signs = np.sign(BeamModes(n, start, end).shapes(inner)[:, -1])
        assert np.count_nonzero(np.diff(signs)) == n - 1 + rigid  # Sturm


def test_high_modes_neither_overflow_nor_cancel():
    modes = BeamModes(300)
    tip = modes.shapes(np.ones(1))[0]
    np.testing.assert_allclose(tip, 2.0 * (-1.0) ** np.arange(300), rtol=1e-11)
    assert np.all(np.isfinite(modes.shapes(np.linspace(0.0, 1.0, 11), 2)))


def test_against_the_printed_formula():
    """cosh - cos - sigma (sinh - sin), where it still works: the first three modes."""
    modes, xi = BeamModes(3), np.linspace(0.0, 1.0, 41)
    for j, b in enumerate(modes.eigenvalues):
        sigma = (np.cosh(b) + np.cos(b)) / (np.sinh(b) + np.sin(b))
        printed = np.cosh(b * xi) - np.cos(b * xi) - sigma * (np.sinh(b * xi) - np.sin(b * xi))
        np.testing.assert_allclose(modes.shapes(xi)[:, j], printed, atol=1e-12)  # it loses digits, e^7.85 eps


@pytest.mark.parametrize("ratio", [1e-8, 0.1, 1.0, 30.0])
def test_tip_mass(ratio):
    """Orthogonal with the tip mass included, between the free and the pinned beam."""
    modes = BeamModes(6, tip_ratio=ratio)
    phi, tip = modes.shapes(LINE.points), modes.shapes(np.ones(1))
    mass = phi.T @ (LINE.weights[:, None] * phi) + ratio * tip.T @ tip
    size = np.sqrt(np.diag(mass))
    np.testing.assert_allclose(mass / np.outer(size, size), np.eye(6), atol=1e-11)
    assert np.all(modes.eigenvalues < BeamModes(6).eigenvalues)
    assert np.all(modes.eigenvalues[1:] > BeamModes(5, "clamped", "pinned").eigenvalues)


def test_heavy_tip_is_a_spring():
    """omega^2 = 3 EI / (M L^3) for a mass M much heavier than the beam; 33/140 of the beam's mass moves along."""
    b = BeamModes(1, tip_ratio=1e4).eigenvalues[0]
    assert b**4 == pytest.approx(3.0 / (1e4 + 33.0 / 140.0), rel=1e-9)


def test_rods():
    modes = RodModes(4)
    np.testing.assert_allclose(modes.eigenvalues, (np.arange(4) + 0.5) * np.pi, rtol=1e-15)
    loaded = RodModes(4, tip_ratio=0.7)
    phi, tip = loaded.shapes(LINE.points), loaded.shapes(np.ones(1))
    mass = phi.T @ (LINE.weights[:, None] * phi) + 0.7 * tip.T @ tip
    np.testing.assert_allclose(mass, np.diag(np.diag(mass)), atol=1e-13)
    np.testing.assert_allclose(loaded.shapes(LINE.points, 1) ** 2 @ np.ones(4) > 0.0, True)


def test_wrong_conditions_are_refused():
    with pytest.raises(ModelError, match=r"no end condition 'hinged'.*clamped, pinned"):
        BeamModes(1, "clamped", "hinged")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ModelError, match="clamped-free beam only"):
        BeamModes(1, "clamped", "pinned", tip_ratio=1.0)


def test_running_integrals():
    line = GaussLine(np.array([0.0, 0.3, 1.0, 1.1]), 5)
    at = np.array([0.0, 0.1, 0.3, 0.77, 1.1])
    values = np.column_stack([line.points**4, np.ones_like(line.points)])
    np.testing.assert_allclose(line.running_integral(values, at), np.column_stack([at**5 / 5.0, at]), atol=1e-15)


def test_mesh_lines_pass_through_points():
    lines = mesh_lines(0.0, 1.0, 4, [0.26, 0.5, 1.0])
    np.testing.assert_allclose(lines, [0.0, 0.26, 0.5, 0.75, 1.0])
