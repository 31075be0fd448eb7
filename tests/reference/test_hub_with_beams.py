"""A hub with two collinear beams against its transcendental equation (exact)."""

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

from freefloat.analysis import vibration_modes
from freefloat.flex import BeamModes, beam, craig_bampton, join_structures, meshed_beam, natural_modes
from freefloat.model import Spacecraft
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_about

MASS, LENGTH, EI = 0.83, 0.635, 0.46  # of one beam [kg, m, N m2]
HERTZ = np.sqrt(EI / (MASS * LENGTH**3)) / (2.0 * np.pi)  # f = beta^2 times this
# Two printed digits: half a unit of the last is at most 5 %.
TWO_DIGITS = 0.05
_ROWS = ("base.x", "base.y", "base.rz", "right.modes 1", "left.modes 1")


def cross(v):
    return np.array([[0.0, -v[2], v[1]], [v[2], 0.0, -v[0]], [-v[1], v[0], 0.0]])


def hub_model(hub_mass, hub_inertia, appendages):
    """Linear mass and stiffness of a hub (6 freedoms about its centre) with (body, R, p) appendages."""
    n = sum(body.modes for body, _, _ in appendages)
    M, K = np.zeros((6 + n, 6 + n)), np.zeros((6 + n, 6 + n))
    M[:3, :3], M[3:6, 3:6] = hub_mass * np.eye(3), hub_inertia * np.eye(3)
    at = 6
    for body, R, p in appendages:
        own = slice(at, at + body.modes)
        at += body.modes
        S, P = R @ body.moment, R @ body.second_moment @ R.T
        first = body.mass * p + S
        second = body.mass * np.outer(p, p) + np.outer(p, S) + np.outer(S, p) + P
        Sbar = R @ body.modal_moment
        mixed = body.mixed_moment
        turning = np.stack(
            [mixed[:, 1, 2] - mixed[:, 2, 1], mixed[:, 2, 0] - mixed[:, 0, 2], mixed[:, 0, 1] - mixed[:, 1, 0]]
        )
        M[:3, :3] += body.mass * np.eye(3)
        M[3:6, 3:6] += np.trace(second) * np.eye(3) - second
        M[3:6, :3] += cross(first)
        M[:3, own], M[3:6, own] = Sbar, cross(p) @ Sbar + R @ turning
        M[own, own], K[own, own] = body.modal_mass, body.stiffness
    M[:3, 3:6] = M[3:6, :3].T
    M[6:, :6] = M[:6, 6:].T
    return M, K


def two_beams(modes, d=0.0, normalisation="tip"):
    panel = beam(length=LENGTH, mass=MASS, bending_stiffness=EI, modes=modes, planes="y", normalisation=normalisation)
    R = np.asarray(rotation_about(np.array([0.0, 0.0, 1.0]), np.float64(np.pi)))
    return [(panel, np.eye(3), np.array([d, 0.0, 0.0])), (panel, R, np.array([-d, 0.0, 0.0]))]


def frequencies(hub_mass, hub_inertia, modes, *, d=0.0, symmetric=True, normalisation="tip"):
    """Flexible frequencies over sqrt(EI / mu L^4), ascending.

    The second beam is turned by pi, so equal deflections along body y are opposite coordinates. The rigid motion is
    eliminated by momentum, and 1 / omega^2 is what is solved for: accurate to rounding in the lowest mode.
    """
    M, K = hub_model(hub_mass, hub_inertia, two_beams(modes, d, normalisation))
    basis = np.zeros((6 + 2 * modes, 1 + modes))
    basis[1 if symmetric else 5, 0] = 1.0
    basis[6 : 6 + modes, 1:] = np.eye(modes)
    basis[6 + modes :, 1:] = -np.eye(modes) if symmetric else np.eye(modes)
    m, k = basis.T @ M @ basis, (basis.T @ K @ basis)[1:, 1:]
    moving = m[1:, 1:] - np.outer(m[1:, 0], m[0, 1:]) / m[0, 0]
    return 1.0 / np.sqrt(eigh(moving, k, eigvals_only=True)[::-1]) / (2.0 * np.pi * HERTZ)


def exact_roots(count, hub_mass=None, hub_inertia=None, d=0.0):
    """beta of the symmetric motion (hub mass given) or the antisymmetric one (inertia given)."""

    def function(b):
        s, c, t, q = np.sin(b), np.cos(b), np.tanh(b), 1.0 / np.cosh(b)  # all over cosh b
        C, N0, N1, N2 = q + c, (s + c * t) / b, s * t / b**2, (s - c * t) / b**3
        if hub_mass is not None:
            return hub_mass * C + 2.0 * MASS * N0
        return hub_inertia * C + 2.0 * MASS * (d**2 * N0 + 2.0 * d * LENGTH * N1 + LENGTH**2 * N2)

    clamped = BeamModes(count + 1).eigenvalues  # one root lies above each
    return np.array([brentq(function, clamped[n], clamped[n + 1], xtol=1e-14) for n in range(count)])


@pytest.mark.parametrize(
    ("hub_mass", "betas", "hertz"),
    [
        (25.0, (1.89343217, 4.70851074, 7.86311809), (0.839458, 5.191185, 14.477348)),
        (50.0, (1.88445280, 4.70136369, 7.85895761), (0.831515, 5.175438, 14.462032)),
        (100.0, (1.87982611, 4.69774329, 7.85686252), (0.827437, 5.167470, 14.454322)),
    ],
)
def test_symmetric_table(hub_mass, betas, hertz):
    roots = exact_roots(3, hub_mass=hub_mass)
    np.testing.assert_allclose(roots, betas, atol=5.1e-9)  # all printed digits
    np.testing.assert_allclose(roots**2 * HERTZ, hertz, atol=5.1e-7)
    three = frequencies(hub_mass, 8.3, 3)
    assert np.all(three > roots**2)
    np.testing.assert_allclose(three[:2], roots[:2] ** 2, rtol=1e-5)


@pytest.mark.parametrize(
    ("inertia", "d", "beta", "hertz"),
    [
        (25.0 / 3.0, 0.0, 1.88716069, (0.833906, 5.161146)),
        (25.0 / 3.0, 0.5, 1.92460282, (0.867325, 5.197672)),
        (50.0 / 3.0, 0.0, 1.88116378, (0.828615,)),
        (50.0 / 3.0, 0.5, 1.90067157, (0.845889,)),
        (125.0 / 3.0, 0.0, 1.87753558, (0.825421,)),
        (125.0 / 3.0, 0.5, 1.88554005, (0.832474,)),
    ],
)
def test_antisymmetric_table(inertia, d, beta, hertz):
    roots = exact_roots(2, hub_inertia=inertia, d=d)
    assert roots[0] == pytest.approx(beta, abs=5.1e-9)
    np.testing.assert_allclose(roots[: len(hertz)] ** 2 * HERTZ, hertz, atol=5.1e-7)
    three = frequencies(50.0, inertia, 3, d=d, symmetric=False)
    assert np.all(three[:2] > roots**2)
    np.testing.assert_allclose(three[:2], roots**2, rtol=1e-5)


def hub_with_beams(hub_mass, hub_inertia, modes, d=0.0):
    craft = Spacecraft.from_base("hub", mass=hub_mass, inertia=(hub_inertia,) * 3)
    for name, (panel, R, p) in zip(("right", "left"), two_beams(modes, d), strict=True):
        craft = craft.mount(panel, name=name, at=Pose(position=p, rotation=R))
    return craft


def test_the_lowest_frequency_keeps_its_digits_beside_many_modes():
    """Twelve modes a beam: the largest squared frequency is 1e5 times the lowest, which must not cost it digits."""
    modes = vibration_modes(hub_with_beams(50.0, 25.0 / 3.0, 12))
    expected = [frequencies(50.0, 25.0 / 3.0, 12, symmetric=symmetric)[0] for symmetric in (True, False)]
    np.testing.assert_allclose(modes.hz[:2], np.sort(expected) * HERTZ, rtol=1e-13)


def test_shapes_of_the_whole_spacecraft():
    """Both beams together push the hub, against each other they turn it: exact frequencies, shapes by their signs."""
    d, hub_mass, hub_inertia, n = 0.5, 50.0, 25.0 / 3.0, 3
    modes = vibration_modes(hub_with_beams(hub_mass, hub_inertia, n, d))
    x, y, rz, right, left = (modes.shapes[modes.labels.index(row)] for row in _ROWS)
    together = right * left < 0.0  # the left beam is turned by pi: its coordinate points the other way
    for symmetric, still, moves in ((True, rz, y), (False, y, rz)):
        mine = together == symmetric
        exact = exact_roots(2, **({"hub_mass": hub_mass} if symmetric else {"hub_inertia": hub_inertia, "d": d}))
        np.testing.assert_allclose(modes.hz[mine][:2], exact**2 * HERTZ, rtol=1e-5)
        scale = np.max(np.abs(modes.shapes))
        assert np.sum(mine) == n
        assert np.all(np.abs(still[mine]) < 1e-9 * scale)
        assert np.all(np.abs(moves[mine]) > 1e-4 * scale)
        # The centre of mass and the whole momentum stay: the hub moves against what bends, in the first mode plainly.
        assert np.sign(moves[mine][0]) == -np.sign(right[mine][0])
        np.testing.assert_allclose(np.abs(right[mine]), np.abs(left[mine]), rtol=1e-9)
    assert np.all(np.abs(x) < 1e-9 * scale)


@pytest.mark.parametrize(
    ("hub", "printed"),
    [
        ({"hub_mass": 50.0}, {1: 1.7e-6, 2: 8.2e-8, 3: 1.2e-8, 5: 1.0e-9, 10: 3.3e-11}),
        ({"hub_mass": 25.0}, {1: 6.6e-6, 2: 3.2e-7, 3: 4.8e-8, 5: 4.0e-9}),
        ({"hub_mass": 0.0}, {1: 1.1e-2, 2: 4.7e-4, 3: 7.0e-5, 5: 5.9e-6, 10: 1.9e-7, 20: 6.0e-9}),
        ({"hub_inertia": 25.0 / 3.0, "d": 0.5}, {1: 2.2e-5, 2: 8.8e-7, 3: 1.2e-7}),
    ],
)
def test_errors_of_few_modes(hub, printed):
    exact = exact_roots(1, **hub)[0] ** 2
    d, symmetric = hub.get("d", 0.0), "hub_mass" in hub
    own = {
        n: frequencies(hub.get("hub_mass", 50.0), hub.get("hub_inertia", 1.0), n, d=d, symmetric=symmetric)[0]
        for n in printed
    }
    for n, error in printed.items():
        assert own[n] / exact - 1.0 == pytest.approx(error, rel=TWO_DIGITS)


@pytest.mark.parametrize("hub", [{"hub_mass": 0.0}, {"hub_mass": 50.0}, {"hub_inertia": 25.0 / 3.0, "d": 0.5}])
def test_more_modes_always_come_down_on_the_exact_frequencies(hub):
    exact = exact_roots(3, **hub) ** 2
    rows = [
        frequencies(
            hub.get("hub_mass", 50.0),
            hub.get("hub_inertia", 1.0),
            n,
            d=hub.get("d", 0.0),
            symmetric="hub_mass" in hub,
        )[:3]
        for n in range(3, 13)
    ]
    assert np.all(np.diff(rows, axis=0) < 0.0)
    assert np.all(rows[-1] > exact)


def test_free_free_limit():
    """A massless hub: the symmetric modes of a free-free beam of length 2 L."""
    printed = np.array([22.37328545, 120.90339173])  # (beta 2L)^2 of its symmetric modes
    np.testing.assert_allclose(4.0 * exact_roots(2, hub_mass=0.0) ** 2, printed, rtol=1e-9)
    errors = [frequencies(0.0, 1.0, n)[0] * 4.0 / printed[0] - 1.0 for n in (1, 2, 3)]
    np.testing.assert_allclose(errors, [1.1e-2, 4.7e-4, 7.0e-5], rtol=TWO_DIGITS)
    # and its antisymmetric one, for a hub without inertia
    anti = frequencies(1.0, 0.0, 12, symmetric=False)[0] * 4.0
    assert anti == pytest.approx(61.67282287, rel=1e-6)


@pytest.mark.parametrize("normalisation", ["l2", "mass"])
def test_frequencies_do_not_know_the_normalisation(normalisation):
    tip = frequencies(50.0, 8.3, 4)
    np.testing.assert_allclose(frequencies(50.0, 8.3, 4, normalisation=normalisation), tip, rtol=1e-12)


def test_frame_of_the_appendage_does_not_matter(rng):
    """The root offset inside the body or outside of it: the same assembled matrices."""
    axis = rng.normal(size=3)
    R = np.asarray(rotation_about(axis / np.linalg.norm(axis), np.float64(1.1)))
    p = rng.normal(size=3)
    data = {"length": 2.0, "mass": 3.0, "bending_stiffness": (5.0, 7.0), "modes": 2, "tip_mass": 0.4}
    data |= {"torsion_stiffness": 1.0, "section_inertia": 0.01}
    outside = hub_model(10.0, 1.0, [(beam(**data), R, p)])
    inside = hub_model(10.0, 1.0, [(beam(**data, root=Pose(position=p, rotation=R)), np.eye(3), np.zeros(3))])
    for a, b in zip(outside, inside, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12 * np.max(np.abs(a)))  # rounding of sums over 100 points


def test_craig_bampton_of_two_halves():
    """Case 13: a free-free beam of unit length from two halves, each with 1 to 8 fixed-interface modes."""
    printed = [1.06e-2, 4.7e-4, 7.0e-5, 1.7e-5, 5.9e-6, 2.4e-6, 1.1e-6, 5.7e-7]
    exact = BeamModes(1, "free", "free").eigenvalues[0] ** 2
    data = {"length": 0.5, "mass_per_length": 1.0, "bending_stiffness": 1.0, "planes": "y", "ends": ("free", "free")}
    turn = np.asarray(rotation_about(np.array([0.0, 0.0, 1.0]), np.float64(np.pi)))
    right = meshed_beam(**data, elements=40, name="right")  # 40 elements: the mesh itself errs by 9e-9
    left = meshed_beam(**data, elements=40, name="left").place_at(Pose(rotation=turn))
    errors = []
    for modes in range(1, 9):
        halves = [craig_bampton(half, ["root"], modes) for half in (left, right)]
        whole = join_structures(*halves, at=("root", "root"))
        errors.append(natural_modes(whole, 3)[0][2] / exact - 1.0)  # after two rigid modes
    np.testing.assert_allclose(errors, printed, rtol=TWO_DIGITS)
