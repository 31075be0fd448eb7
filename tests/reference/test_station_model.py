"""The station assembled from beams and plates reaches its reference: matrices in closed form, and section 4's numbers.

The matrices are those of `station_matrices.py`, which imports nothing of the product. Frequencies against a fine mesh
were computed by two independent programs.
"""

import numpy as np
import pytest

import freefloat as ff
from freefloat.analysis import linearise_in_orbit, trim_in_orbit
from support.station_matrices import ORBIT_RATE, Station

ORBIT = ff.effects.CircularOrbit(altitude=400e3)  # [m]
# Elastic frequencies of 398 coordinates, bus 8 elements for each half, arms 6, plates 6 x 6 [rad/s].
FINE = [2.6168, 3.6147, 3.6351, 3.7496]  # modes 11, 14, 15, 16
PAPER = [0.22814, 0.29124, 0.49990, 0.50010, 1.2981, 1.3003, 1.6046, 1.6058, 1.8398, 1.8400, 2.922, 3.256]


def model(craft: ff.Spacecraft, gradient: str, **more):
    return linearise_in_orbit(
        craft, ORBIT, gradient=gradient, **ff.library.station_reference(craft).arguments(), **more
    )


def poles(found) -> np.ndarray:
    return np.linalg.eigvals(found.structure.state_space.scaled_model().A)


def elastic(found) -> np.ndarray:
    """Frequencies [rad/s] above all librations."""
    values = poles(found).imag
    return np.sort(values[values > 0.1])


@pytest.fixture(scope="module")
def nodal() -> ff.Spacecraft:
    return ff.library.station(reduction="nodal")


@pytest.fixture(scope="module")
def reduced() -> ff.Spacecraft:
    return ff.library.station()


@pytest.fixture(scope="module")
def paper(nodal):
    return model(nodal, "paper")


def agree(found: np.ndarray, expected: np.ndarray, size: np.ndarray) -> bool:
    """To 1e-12 of the geometric mean of the diagonals: entries of metres and radians compare."""
    return bool(np.max(np.abs(found - expected) / np.sqrt(np.outer(np.abs(size), np.abs(size)))) < 1e-12)


@pytest.mark.parametrize(("gradient", "tides"), [("paper", False), ("full", True)])
def test_matrices_are_those_in_closed_form(nodal, gradient, tides):
    found, expected = model(nodal, gradient, damping_ratio=0.005), Station(tides=tides, damping=0.005)
    structure = found.structure
    assert structure.coordinates == expected.coordinates
    mass = np.diag(expected.M)
    assert agree(structure.M, expected.M, mass)
    assert agree(structure.G / ORBIT_RATE, expected.G / ORBIT_RATE, mass)
    assert agree(structure.C, expected.C, np.diag(expected.M) * 1e2)
    stiff = np.abs(np.diag(expected.K)) + mass * ORBIT_RATE**2
    assert agree(structure.K, expected.K, stiff)
    np.testing.assert_allclose(structure.Bf, expected.Bf, atol=1e-13 * 50)


@pytest.mark.parametrize("choice", [{"base_mass": 200.0, "payload": 500.0}, {"base_at": (25.0, 0.0)}])
def test_masses_of_base_and_payload_are_parameters(choice):
    expected = Station(tides=True, **choice)
    craft = ff.library.station(
        reduction="nodal",
        base_mass=choice.get("base_mass", 0.0),
        payload_mass=choice.get("payload", 0.0),
        base_height=choice.get("base_at", (0.0, 2.5))[1],
    )
    structure = model(craft, "full").structure
    assert agree(structure.M, expected.M, np.diag(expected.M))
    assert agree(structure.G / ORBIT_RATE, expected.G / ORBIT_RATE, np.diag(expected.M))
    assert agree(structure.K, expected.K, np.abs(np.diag(expected.K)) + np.diag(expected.M) * ORBIT_RATE**2)
    craft.check()


def test_mass_and_inertia(paper):
    assert len(paper.structure.M) == 66
    assert paper.mass == pytest.approx(9398.7276, abs=1e-4)
    assert paper.com[0] == pytest.approx(-5.64237, abs=1e-5)
    assert np.diag(paper.inertia) == pytest.approx([1.20657e5, 9.33743e6, 9.40597e6], rel=1e-5)
    assert paper.inertia[0, 2] == pytest.approx(-112.935, abs=1e-3)
    assert np.linalg.cond(paper.structure.M) == pytest.approx(9.9e9, rel=1e-2)


def test_open_loop_frequencies(paper):
    found = poles(paper)
    librations = np.sort(found.imag[(found.imag > 1e-5) & (found.imag < 0.1)]) / ORBIT_RATE
    rigid = np.array([0.753439, 1.714542, 1.995116])
    assert librations / rigid - 1 == pytest.approx([2.0e-4, 1.3e-4, 8.4e-5], rel=0.03)
    w = elastic(paper)
    assert len(w) == 60
    assert w[:12] == pytest.approx(PAPER, rel=1e-4)
    assert w[-1] == pytest.approx(1027.9, abs=0.05)


def test_what_the_nominal_place_asks_for(paper):
    """It is not quite an equilibrium: a roll torque from Jxz, and tides on the joints."""
    by_name = dict(zip(paper.structure.coordinates, -paper.trim, strict=True))  # what acts, not what holds
    assert abs(by_name["roll"]) == pytest.approx(5.8e-4, rel=5e-3)
    assert by_name["zeta"] == pytest.approx(1.73e-4, rel=5e-3)
    assert (by_name["theta1"], by_name["theta2"]) == pytest.approx((-3.56e-5, -8.9e-6), rel=2e-3)
    K = paper.structure.K[:3, :3]
    assert np.max(np.abs(K - K.T)) == pytest.approx(5.8e-4, rel=5e-3)


def test_tides_on_straight_displacements(nodal):
    """Mode `full`: both joints swing across the track with n, the carriage runs away along the vertical."""
    found = poles(model(nodal, "full"))
    slow = np.sort(found.imag[(found.imag > 1e-5) & (found.imag < 0.1)]) / ORBIT_RATE
    assert slow[1:3] == pytest.approx([0.9997, 1.0000], abs=5e-5)
    assert np.max(found.real) == pytest.approx(1.96e-3, rel=2e-3)


def test_links_that_turn_are_pendulums_in_the_tide(nodal):
    """The exact model: a link on a hinge X from the centre swings with n sqrt(1 + 3 sum X s / sum s^2), not with n."""
    found = poles(model(nodal, "exact"))
    slow = np.sort(found.imag[(found.imag > 1e-5) & (found.imag < 0.1)]) / ORBIT_RATE
    hinge = 25.0 + 5.64237  # of the shoulder from the centre of mass [m]
    # Two rods of length l in a row about a hinge at H: the double pendulum of M'' and the tide's second order.
    length = 10.0
    M = np.array([[8.0 / 3.0, 5.0 / 6.0], [5.0 / 6.0, 1.0 / 3.0]]) * length**3
    outward = np.array(
        [hinge * 2.0 * length**2 + 8.0 / 3.0 * length**3, (hinge + length) * length**2 / 2 + length**3 / 3]
    )
    K = M + 3.0 * np.array([[outward[0], outward[1]], [outward[1], outward[1]]])
    swings = np.sqrt(np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real))
    # The bus gives way a little under the 1 kg arm, and the arm bends a little: parts in a thousand.
    assert slow[3] == pytest.approx(swings[0], rel=2e-3)
    assert slow[4] == pytest.approx(swings[1], rel=2e-2)


def test_equilibrium_near_the_nominal_place(nodal):
    """Attitude and modes find it; the joints hold with the torques that the tides ask for."""
    reference = ff.library.station_reference(nodal)
    q, R_OB = trim_in_orbit(nodal, ORBIT, reference.q, attitude=reference.attitude)
    tilt = np.arcsin((reference.attitude.T @ R_OB)[0, 2])
    assert abs(tilt) == pytest.approx(112.935 / (9.40597e6 - 1.20657e5), rel=2e-2)  # the principal axis of Jxz
    names = {k: v for k, v in reference.arguments().items() if k not in ("q", "attitude")}
    trim = linearise_in_orbit(nodal, ORBIT, q, attitude=R_OB, **names).trim
    assert np.max(np.abs(np.delete(trim, [3, 4, 5]))) < 1e-15
    assert trim[5] == pytest.approx(-1.73e-4, rel=5e-3)


# ---- meshes


@pytest.mark.slow
def test_mesh_error_and_craig_bampton():
    fine = elastic(model(ff.library.station(reduction="nodal", elements=(8, 6, 6)), "paper"))
    assert len(fine) == 392
    assert fine[[10, 13, 14, 15]] == pytest.approx(FINE, abs=1e-4)
    percent = lambda **choice: 100.0 * (elastic(model(ff.library.station(**choice), "paper"))[:16] / fine[:16] - 1.0)  # noqa: E731
    coarse = percent(reduction="nodal")
    assert 0.37 < np.min(coarse[:8]) < np.max(coarse[:8]) < 0.75
    assert coarse[8:10] == pytest.approx(1.8, abs=0.05)
    assert coarse[10] == pytest.approx(11.7, abs=0.05)
    assert coarse[11:13] == pytest.approx(2.8, abs=0.05)
    assert np.all((coarse[13:] > 16.0) & (coarse[13:] < 17.05))
    same_size = percent(columns=(4, 4, 22))
    assert np.max(same_size) == pytest.approx(3.9e-3, abs=5e-5)
    assert np.argmax(same_size) == 10
    assert np.max(np.delete(same_size, 10)) < 5.2e-4
    small = percent(columns=(3, 3, 8))
    assert np.max(small) == pytest.approx(4.1e-2, abs=5e-4)
    assert np.max(np.delete(small, 10)) == pytest.approx(1.0e-2, abs=5e-4)


def test_craig_bampton_is_close_to_the_fine_mesh(reduced):
    """34 coordinates; the fine mesh's four frequencies are quoted to five digits."""
    w = elastic(model(reduced, "paper"))
    assert len(w) == 28
    assert w[[10, 13, 14, 15]] == pytest.approx(FINE, rel=4.2e-4)
    assert w[:10] == pytest.approx(
        [0.22729, 0.29016, 0.49667, 0.49687, 1.28851, 1.29107, 1.59273, 1.59412, 1.80798, 1.80811], rel=4e-5
    )


# ---- bad input


def test_impossible_choices_are_refused(reduced):
    with pytest.raises(ff.ModelError, match="reduction 'modal' is unknown"):
        ff.library.station(reduction="modal")
    with pytest.raises(ff.ModelError, match="columns must be three numbers"):
        ff.library.station(columns=(1, 3, 8))
    with pytest.raises(ff.ModelError, match=r"There is no gradient 'half'. Choose exact, full, paper"):
        model(reduced, "half")
    reference = ff.library.station_reference(reduced).arguments()
    with pytest.raises(ff.ModelError, match=r"There is no input 'hand.push.z'.*such as 'base.torque.x'"):
        linearise_in_orbit(reduced, ORBIT, **{**reference, "inputs": ["hand.push.z"]})
    names = {k.replace("elbow", "elbw"): v for k, v in reference["coordinates"].items()}
    with pytest.raises(ff.ModelError, match=r"Missing: elbow; unknown: elbw"):
        linearise_in_orbit(reduced, ORBIT, **{**reference, "coordinates": names})
    with pytest.raises(ff.ModelError, match="must be a rotation matrix R_OB"):
        linearise_in_orbit(reduced, ORBIT, **{**reference, "attitude": np.zeros((3, 3))})
