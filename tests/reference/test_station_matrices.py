"""The station's linear model in closed form reaches the reference numbers of its specification (section 4).

The numbers were computed by two independent programs; the digits given are theirs.
"""

import numpy as np
import pytest
from scipy import linalg

from support.station_matrices import ORBIT_RATE, Station


def poles(station: Station) -> np.ndarray:
    n, factor = len(station.M), linalg.cho_factor(station.M)
    below = -np.hstack([linalg.cho_solve(factor, station.K), linalg.cho_solve(factor, station.G + station.C)])
    return np.linalg.eigvals(np.vstack([np.eye(2 * n)[n:], below]))


@pytest.fixture(scope="module")
def plain() -> Station:
    return Station()


def test_mass_and_inertia_of_the_station(plain):
    assert len(plain.M) == 66
    assert plain.mass == pytest.approx(9398.7276, abs=1e-4)
    assert plain.centre[0] == pytest.approx(-5.64237, abs=1e-5)
    assert np.diag(plain.J0) == pytest.approx([1.20657e5, 9.33743e6, 9.40597e6], rel=1e-5)
    assert plain.J0[0, 2] == pytest.approx(-112.935, abs=1e-3)
    assert np.linalg.cond(plain.M) == pytest.approx(9.9e9, rel=1e-2)


def test_open_loop_frequencies_of_the_station(plain):
    found = poles(plain)
    w = np.sort(found.imag[found.imag > 1e-5])
    assert w[:3] / ORBIT_RATE == pytest.approx([0.753439 * (1 + 2.0e-4), 1.714542 * (1 + 1.3e-4), 1.995116], rel=1e-4)
    first = [0.22814, 0.29124, 0.49990, 0.50010, 1.2981, 1.3003, 1.6046, 1.6058, 1.8398, 1.8400, 2.922, 3.256]
    assert w[3:15] == pytest.approx(first, rel=1e-4)
    assert len(w) == 63
    assert w[-1] == pytest.approx(1027.9, abs=0.05)
    assert np.max(found.real) < 1e-7  # three free pairs: roots of a double zero, half the digits


def test_librations_with_joints_locked_are_those_of_a_rigid_body(plain):
    Jx, Jy, Jz = np.diag(plain.J0)
    k1, k2 = (Jz - Jx) / Jy, (Jz - Jy) / Jx
    assert (k1, k2) == pytest.approx((0.9944187, 0.5680713), abs=1e-7)
    b, c = 1 + 3 * k1 + k1 * k2, 4 * k1 * k2
    rigid = np.sqrt(np.array([(b - np.sqrt(b**2 - 4 * c)) / 2, 3 * (Jy - Jx) / Jz, (b + np.sqrt(b**2 - 4 * c)) / 2]))
    assert rigid == pytest.approx([0.753439, 1.714542, 1.995116], abs=1e-6)
    kept = np.r_[0:3, 6:66]
    M, G, K = (matrix[np.ix_(kept, kept)] for matrix in (plain.M, plain.G, plain.K))
    A = np.block([[np.zeros((63, 63)), np.eye(63)], [-np.linalg.solve(M, K), -np.linalg.solve(M, G)]])
    w = np.sort(np.abs(np.linalg.eigvals(A).imag))[::2][:3] / ORBIT_RATE
    assert w / rigid - 1 == pytest.approx([-4.5e-6, -4e-10, -8.5e-6], abs=2e-7)


def test_tides_on_the_arm_make_the_carriage_unstable_and_swing_the_joints():
    found = poles(Station(tides=True))
    assert np.max(found.real) == pytest.approx(np.sqrt(3) * ORBIT_RATE, rel=2e-3)
    slow = np.sort(found.imag[found.imag > 1e-5])[:5] / ORBIT_RATE
    assert slow[1:3] == pytest.approx([0.9997, 1.0], abs=1e-4)


def test_the_station_without_offset_has_symmetric_matrices():
    level = Station(base_at=(25.0, 0.0), tides=True)
    assert np.allclose(level.K, level.K.T, rtol=0, atol=1e-12 * np.max(np.abs(level.K)))
    assert np.allclose(level.G, -level.G.T, rtol=0, atol=1e-12 * np.max(np.abs(level.G)))
    offset = Station().K[:3, :3]
    assert np.max(np.abs(offset - offset.T)) == pytest.approx(5.8e-4, rel=1e-2)


def test_a_finer_mesh_lowers_every_frequency_and_has_428_states():
    fine, coarse = Station(bus=8, arm=4, array=4), Station()
    assert 2 * len(fine.M) == 428
    kept = slice(6, 66)
    w_fine, w = (linalg.eigh(s.K[6:, 6:], s.M[6:, 6:], eigvals_only=True)[:60] for s in (fine, coarse))
    assert np.all(w_fine[kept] <= w[kept] * (1 + 1e-9))
