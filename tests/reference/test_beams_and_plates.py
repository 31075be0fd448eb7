"""Frequencies of beams and plates, cases 10 and 11: exact roots, and literature values recomputed to convergence."""

import numpy as np
import pytest

from freefloat.flex import BeamModes, meshed_beam, meshed_plate, natural_modes

ENDS = {
    ("clamped", "free"): (3.516015, 22.034492, 61.697214),
    ("clamped", "clamped"): (22.373285, 61.672823, 120.903392),
    ("clamped", "pinned"): (15.418206, 49.964862),
}
ALL_EDGES = ("x-", "x+", "y-", "y+")


@pytest.mark.parametrize("ends", ENDS)
def test_exact_roots_have_every_printed_digit(ends):
    printed = ENDS[ends]
    squared = BeamModes(len(printed), *ends).eigenvalues ** 2
    np.testing.assert_array_equal(np.round(squared, 6), printed)


def unit_beam(elements, ends):
    return meshed_beam(length=1.0, mass_per_length=1.0, bending_stiffness=1.0, planes="y", elements=elements, ends=ends)


@pytest.mark.parametrize("ends", ENDS)
def test_hermite_elements_converge_from_above_with_the_fourth_power(ends):
    count = len(ENDS[ends])
    exact = BeamModes(count, *ends).eigenvalues ** 2
    errors = [natural_modes(unit_beam(n, ends), count)[0] / exact - 1.0 for n in (10, 20)]
    assert np.all(errors[1] > 0.0)  # Rayleigh and Ritz
    assert np.max(errors[1]) <= 1e-4
    np.testing.assert_allclose(np.log2(errors[0] / errors[1]), 4.0, atol=0.2)


def unit_plate(elements, edges):
    return meshed_plate(
        size=(1.0, 1.0), surface_density=1.0, bending_rigidity=1.0, elements=(elements, elements), edges=edges
    )


def test_cantilever_plate():
    """Poisson's ratio 0.3. The literature values have 3 decimals: half a unit of the last counts as 'from above'."""
    literature = np.array([3.471, 8.507, 21.285, 27.199, 30.956])
    omega, _ = natural_modes(unit_plate(16, {"x-": "clamped"}), 5)
    assert np.max(omega / literature - 1.0) <= 2e-4
    assert np.all(omega > literature - 5e-4)
    coarser, _ = natural_modes(unit_plate(8, {"x-": "clamped"}), 5)
    assert np.all(coarser > omega)


def test_simply_supported_plate():
    exact = np.pi**2 * np.array([2.0, 5.0, 5.0, 8.0])
    errors = natural_modes(unit_plate(16, dict.fromkeys(ALL_EDGES, "supported")), 4)[0] / exact - 1.0
    assert np.all(errors > 0.0)
    assert np.max(errors) <= 2e-4  # as asked of the cantilever; 4e-5 is reached


def test_clamped_plate():
    literature = np.array([35.985, 73.394, 73.394, 108.217])
    omega, _ = natural_modes(unit_plate(16, dict.fromkeys(ALL_EDGES, "clamped")), 4)
    assert np.max(omega / literature - 1.0) <= 2e-4
    assert np.all(omega > literature - 5e-4)


def test_poisson_ratio_matters_for_a_free_edge_only():
    """Negative control: the twisting and coupling terms are there, and integrate to nothing on clamped edges."""

    def lowest(poisson, edges):
        plate = meshed_plate(
            size=(1.0, 1.0), surface_density=1.0, bending_rigidity=1.0, poisson=poisson, elements=(6, 6), edges=edges
        )
        return natural_modes(plate, 2)[0]

    clamped = dict.fromkeys(ALL_EDGES, "clamped")
    np.testing.assert_allclose(lowest(0.0, clamped), lowest(0.4, clamped), rtol=1e-10)
    assert np.all(np.abs(lowest(0.0, {"x-": "clamped"}) / lowest(0.4, {"x-": "clamped"}) - 1.0) > 1e-3)
