"""A cantilever on a spinning hub of radius zero: geometric stiffening from the foreshortening integrals (case 14)."""

import numpy as np
import pytest
from scipy.linalg import eigh

from freefloat.flex import beam, meshed_beam, truncated

# gamma = Omega sqrt(mu L^4 / EI): first flapping frequency in the same unit. Literature, 4 decimals.
FLAP = {0: 3.5160, 1: 3.6816, 2: 4.1373, 5: 6.4495, 12: 13.1702}
LAST_DIGIT = 5.1e-5


def unit_beam(stiffening, modes=10):
    return beam(length=1.0, mass=1.0, bending_stiffness=1.0, modes=modes, stiffening=stiffening)


def spinning_frequencies_squared(body, gamma, plane):
    """Lowest omega^2 about steady spin around z: kinetic energy of the frame's rotation at second order in q.

    1/2 gamma^2 int (u_x^2 + u_y^2) dm gives gamma^2 (int x chi_x dm + int phi_y phi_y dm) beside the stiffness.
    """
    own = [j for j, name in enumerate(body.mode_names) if name.startswith(plane)]
    pick = np.ix_(own, own)
    softening = body.short_mixed_moment[:, :, 0, 0] + body.short_mixed_moment[:, :, 1, 1]
    softening = softening + body.pair_moment[:, :, 0, 0] + body.pair_moment[:, :, 1, 1]
    K = (body.stiffness - gamma**2 * softening)[pick]
    return eigh(K, body.modal_mass[pick], eigvals_only=True)


@pytest.mark.parametrize("gamma", FLAP)
def test_flapping_and_in_plane(gamma):
    body = unit_beam(True)
    flap = spinning_frequencies_squared(body, gamma, "z")[0]
    assert np.sqrt(flap) == pytest.approx(FLAP[gamma], abs=LAST_DIGIT)
    # Exact for hub radius zero; rounding of stiffnesses up to 30^4 in the lowest mode.
    assert spinning_frequencies_squared(body, gamma, "y")[0] == pytest.approx(flap - gamma**2, abs=1e-8)


def test_without_stiffening_the_in_plane_mode_goes_unstable():
    body = unit_beam(False)
    assert spinning_frequencies_squared(body, 3.515, "y")[0] > 0.0
    assert spinning_frequencies_squared(body, 3.517, "y")[0] < 0.0
    assert spinning_frequencies_squared(unit_beam(True), 3.517, "y")[0] > 0.0


def test_finite_elements_stiffen_alike():
    mesh = meshed_beam(length=1.0, mass_per_length=1.0, bending_stiffness=1.0, planes="z", elements=20)
    body = truncated(mesh, 10).body(stiffening=True)
    K = body.stiffness - 25.0 * body.short_mixed_moment[:, :, 0, 0]
    omega = np.sqrt(eigh(K, body.modal_mass, eigvals_only=True)[0])
    assert omega == pytest.approx(FLAP[5], abs=LAST_DIGIT)


def test_a_tip_mass_pulls_too():
    """Of a nearly massless beam with a mass at its tip, K_geo = gamma^2 M L int phi' phi'."""
    body = beam(length=2.0, mass=1e-9, bending_stiffness=1.0, modes=3, planes="y", tip_mass=5.0, stiffening=True)
    foreshortening = body.node("tip").foreshortening[0]
    np.testing.assert_allclose(body.short_mixed_moment[:, :, 0, 0], 5.0 * 2.0 * foreshortening, rtol=1e-6)
    np.testing.assert_allclose(body.short_moment[:, :, 0], 5.0 * foreshortening, rtol=1e-6)
