"""A cantilever on a spinning hub of radius zero: geometric stiffening from the foreshortening integrals (case 14)."""

import numpy as np
import pytest
from scipy.linalg import eigh

from freefloat.flex import beam, meshed_beam, truncate_modes

# gamma = Omega sqrt(mu L^4 / EI): first flapping frequency in the same unit. Literature, 4 decimals.
FLAP = {0: 3.5160, 1: 3.6816, 2: 4.1373, 5: 6.4495, 12: 13.1702}
LAST_DIGIT = 5.1e-5


# Exact modes of the beam at rest converge to the spinning one's from above, slowly where it spins fast: 10 modes are
# 2.4e-4 high at gamma 12, 24 are within the last digit.


def unit_beam(stiffening, modes=24):
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
    # Exact for hub radius zero; rounding of stiffnesses up to (24 pi)^4 in the lowest mode.
    assert spinning_frequencies_squared(body, gamma, "y")[0] == pytest.approx(flap - gamma**2, abs=1e-7)


def test_without_stiffening_the_in_plane_mode_goes_unstable():
    body = unit_beam(False)
    assert spinning_frequencies_squared(body, 3.515, "y")[0] > 0.0
    assert spinning_frequencies_squared(body, 3.517, "y")[0] < 0.0
    assert spinning_frequencies_squared(unit_beam(True), 3.517, "y")[0] > 0.0


def test_finite_elements_stiffen_alike():
    mesh = meshed_beam(length=1.0, mass_per_length=1.0, bending_stiffness=1.0, planes="z", elements=20)
    body = mesh.body(stiffening=True)
    for gamma, printed in FLAP.items():
        K = body.stiffness - gamma**2 * body.short_mixed_moment[:, :, 0, 0]
        omega = np.sqrt(eigh(K, body.modal_mass, eigvals_only=True)[0])
        assert omega == pytest.approx(printed, abs=LAST_DIGIT)


def test_truncation_keeps_the_stiffening():
    """The same modes from the mesh and exact: equal stiffening to the mesh's own error."""
    mesh = meshed_beam(length=1.0, mass_per_length=1.0, bending_stiffness=1.0, planes="z", elements=20)
    body = truncate_modes(mesh, 3).body(stiffening=True)
    exact = beam(
        length=1.0, mass=1.0, bending_stiffness=1.0, planes="z", modes=3, normalisation="mass", stiffening=True
    )
    squared = [eigh(b.short_mixed_moment[:, :, 0, 0], eigvals_only=True) for b in (body, exact)]
    np.testing.assert_allclose(*squared, rtol=1e-4)


def test_a_tip_mass_pulls_too():
    """A mass M on the tip adds gamma^2 M L int phi' phi' beside what the beam has alone; one beyond it also turns."""
    mesh = meshed_beam(length=2.0, mass_per_length=1.0, bending_stiffness=1.0, planes="y", elements=4)
    bare = mesh.body(stiffening=True)
    loaded = mesh.with_rider("tip", mass=5.0).body(stiffening=True)
    along = bare.node("tip").foreshortening[0]
    pull = loaded.short_mixed_moment - bare.short_mixed_moment
    np.testing.assert_allclose(pull[:, :, 0, 0], 5.0 * 2.0 * along, atol=1e-12)
    np.testing.assert_allclose((loaded.short_moment - bare.short_moment)[:, :, 0], 5.0 * along, atol=1e-12)
    beyond = mesh.with_rider("tip", mass=5.0, com=(0.5, 0.0, 0.0)).body(stiffening=True)
    slope = bare.node("tip").rotation[2]
    expected = 5.0 * 2.5 * (along - 0.5 * np.outer(slope, slope))  # the arm of 0.5 m shortens by its own slope
    np.testing.assert_allclose((beyond.short_mixed_moment - bare.short_mixed_moment)[:, :, 0, 0], expected, atol=1e-12)
