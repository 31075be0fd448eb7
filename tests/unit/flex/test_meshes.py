"""Finite-element beams and plates: against exact answers and against sums with independent shape functions."""

import numpy as np
import pytest
from scipy.optimize import brentq

from freefloat.flex import beam, hold_places, meshed_beam, meshed_plate, natural_modes, plate, truncate_modes
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_about
from freefloat.values import ModelError

UNIT = {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 1.0, "planes": "y"}


def test_element_matrices_are_the_textbook_ones():
    """One element of 25 m. Rounding only."""
    l, EI, mu = 25.0, 1.0763e10, 83.36
    mesh = meshed_beam(
        length=l, mass_per_length=mu, bending_stiffness=EI, planes="y", elements=1, ends=("free", "free")
    )
    k = (
        EI
        / l**3
        * np.array(
            [
                [12, 6 * l, -12, 6 * l],
                [6 * l, 4 * l**2, -6 * l, 2 * l**2],
                [-12, -6 * l, 12, -6 * l],
                [6 * l, 2 * l**2, -6 * l, 4 * l**2],
            ]
        )
    )
    m = (
        mu
        * l
        / 420.0
        * np.array(
            [
                [156, 22 * l, 54, -13 * l],
                [22 * l, 4 * l**2, 13 * l, -3 * l**2],
                [54, 13 * l, 156, -22 * l],
                [-13 * l, -3 * l**2, -22 * l, 4 * l**2],
            ]
        )
    )
    np.testing.assert_allclose(mesh.stiffness, k, rtol=1e-13)
    np.testing.assert_allclose(mesh.mass_matrix(), m, rtol=1e-13)


def test_mesh_and_exact_beam_agree_in_everything():
    data = {"length": 2.0, "torsion_stiffness": 4.0, "axial_stiffness": 900.0}
    exact = beam(
        **data,
        mass=3.0,
        bending_stiffness=(5.0, 7.0),
        section_inertia=0.02,
        modes={"y": 1, "z": 1, "torsion": 1, "axial": 1},
        tip_mass=0.6,
        normalisation="mass",
    )
    mesh = meshed_beam(
        **data, mass_per_length=1.5, bending_stiffness_y=5.0, bending_stiffness_z=7.0, section_inertia=0.01, elements=12
    ).with_rider("tip", mass=0.6)
    wanted = np.sort(exact.frequencies())
    found = natural_modes(mesh, 40)[0]
    for omega in wanted:
        assert np.min(np.abs(found / omega - 1.0)) < 1e-5  # h^4 of twelve elements
    body = truncate_modes(mesh, 4).body()
    for field in ("mass", "moment", "second_moment"):
        np.testing.assert_allclose(getattr(body, field), getattr(exact, field), atol=1e-13)


def test_static_deflection_is_exact():
    """Hermite elements hold the cubic answer to a tip force: F L^3 / 3 EI, F L^2 / 2 EI, whatever the mesh."""
    mesh = meshed_beam(**UNIT, elements=3, stations={"mid": 0.4})
    load = mesh.place("tip").translation[1]
    q = np.linalg.solve(mesh.stiffness, load)
    assert mesh.place("tip").translation[1] @ q == pytest.approx(1.0 / 3.0, rel=1e-11)
    assert mesh.place("tip").rotation[2] @ q == pytest.approx(0.5, rel=1e-11)
    x = 0.4
    assert mesh.place("mid").translation[1] @ q == pytest.approx(x**2 / 2.0 - x**3 / 6.0, rel=1e-11)


def test_stepped_beam():
    """Stiff inner half, soft outer half: the tip flexibility adds up by segments."""
    mesh = meshed_beam(**{**UNIT, "bending_stiffness": [4.0, 1.0]}, elements=5)
    q = np.linalg.solve(mesh.stiffness, mesh.place("tip").translation[1])
    exact = (1.0 - 0.125) / 3.0 / 4.0 + 0.125 / 3.0  # int (1 - x)^2 / EI
    assert mesh.place("tip").translation[1] @ q == pytest.approx(exact, rel=1e-11)
    assert np.any(np.isclose(mesh.bending.line.edges, 0.5))
    light = meshed_beam(**{**UNIT, "mass_per_length": [3.0, 1.0]}, elements=5)
    assert np.sum(light.points.mass) == pytest.approx(2.0, rel=1e-14)


def test_root_spring():
    """A hinge with a torsion spring k at the root: b solves k (1 + c ch) + b EI / L (s ch ... ) (exact)."""
    k = 2.0
    mesh = meshed_beam(**UNIT, elements=16, ends=("pinned", "free")).with_spring("root", rotation=(0.0, 0.0, k))
    omega = natural_modes(mesh, 1)[0][0]

    def exact(b):
        c, s, ch, sh = np.cos(b), np.sin(b), np.cosh(b), np.sinh(b)
        return k * (1.0 + c * ch) + b * (c * sh - s * ch)

    assert omega == pytest.approx(brentq(exact, 0.5, 1.8751) ** 2, rel=1e-6)
    # Springs this soft hold it in the frame, so it makes a body.
    assert truncate_modes(mesh, 2).body().modes == 2


def test_rider_with_inertia_and_offset():
    """A rigid tip body against its own 3 x 3 mass matrix at the tip."""
    mesh = meshed_beam(**{**UNIT, "planes": "yz"}, elements=2)
    loaded = mesh.with_rider("tip", mass=2.0, com=(0.3, 0.0, 0.0), inertia=(0.1, 0.2, 0.25))
    extra = loaded.mass_matrix() - mesh.mass_matrix()
    motion = mesh.place("tip").motion
    J = np.diag([0.1, 0.2 + 2.0 * 0.09, 0.25 + 2.0 * 0.09])
    S = 2.0 * np.array([[0.0, 0.0, 0.0], [0.0, 0.0, -0.3], [0.0, 0.3, 0.0]])
    six = np.block([[2.0 * np.eye(3), -S], [S, J]])
    np.testing.assert_allclose(extra, motion.T @ six @ motion, atol=1e-13)
    body = loaded.body()
    assert body.mass == pytest.approx(3.0)
    np.testing.assert_allclose(body.moment, [0.5 + 2.0 * 1.3, 0.0, 0.0], atol=1e-13)


def test_a_root_offset_moves_the_integrals(rng):
    axis = rng.normal(size=3)
    R = np.asarray(rotation_about(axis / np.linalg.norm(axis), np.float64(0.8)))
    p = rng.normal(size=3)
    mesh = meshed_beam(**{**UNIT, "planes": "yz"}, elements=2).with_rider("tip", mass=0.5, inertia=(0.1, 0.1, 0.15))
    here, there = mesh.body(stiffening=True), mesh.place_at(Pose(position=p, rotation=R)).body(stiffening=True)
    S = R @ here.moment
    np.testing.assert_allclose(there.moment, here.mass * p + S, atol=1e-13)
    np.testing.assert_allclose(there.modal_moment, R @ here.modal_moment, atol=1e-13)
    mixed = np.einsum("a,bj->jab", p, R @ here.modal_moment) + R @ here.mixed_moment @ R.T
    np.testing.assert_allclose(there.mixed_moment, mixed, atol=1e-13)
    np.testing.assert_allclose(there.pair_moment, R @ here.pair_moment @ R.T, atol=1e-12)
    np.testing.assert_allclose(there.short_moment, here.short_moment @ R.T, atol=1e-12)
    np.testing.assert_allclose(there.node("tip").rotation, R @ here.node("tip").rotation, atol=1e-13)
    np.testing.assert_allclose(there.modal_mass, here.modal_mass, atol=1e-12)


def hermite(t):
    """Cubic Hermite functions on [0, 1]: value at 0, slope at 0, value at 1, slope at 1."""
    return np.array([1 - 3 * t**2 + 2 * t**3, t - 2 * t**2 + t**3, 3 * t**2 - 2 * t**3, t**3 - t**2])


def test_plate_integrals_equal_sums_with_textbook_shapes():
    """Bicubic products of Hermite functions, summed over seven Gauss points a side: no element library involved."""
    size, cells = (3.0, 2.0), (2, 2)
    mesh = meshed_plate(size=size, surface_density=1.7, bending_rigidity=10.0, elements=cells)
    body = mesh.body()
    index = {name: k for k, name in enumerate(mesh.coordinates)}
    nodes, weights = np.polynomial.legendre.leggauss(7)
    t, w = 0.5 * (nodes + 1.0), 0.5 * weights
    a, b = size[0] / cells[0], size[1] / cells[1]
    modal, mixed, pair = np.zeros(len(index)), np.zeros((len(index), 3)), np.zeros((len(index), len(index)))
    for i, j, tx, wx, ty, wy in [
        (i, j, tx, wx, ty, wy)
        for i in range(2)
        for j in range(2)
        for tx, wx in zip(t, w, strict=True)
        for ty, wy in zip(t, w, strict=True)
    ]:
        hx, hy = hermite(tx), hermite(ty)
        phi = np.zeros(len(index))
        for u, v in np.ndindex(2, 2):
            names = (
                ("", hx[2 * u] * hy[2 * v]),
                ("x", a * hx[2 * u + 1] * hy[2 * v]),
                ("y", b * hx[2 * u] * hy[2 * v + 1]),
                ("xy", a * b * hx[2 * u + 1] * hy[2 * v + 1]),
            )
            for suffix, value in names:
                if (name := f"w{i + u}.{j + v}{suffix}") in index:
                    phi[index[name]] = value
        mass = 1.7 * a * b * wx * wy
        position = np.array([a * (i + tx), -1.0 + b * (j + ty), 0.0])
        modal += mass * phi
        mixed += mass * np.outer(phi, position)
        pair += mass * np.outer(phi, phi)
    np.testing.assert_allclose(body.modal_moment[2], modal, atol=1e-13)
    np.testing.assert_allclose(body.mixed_moment[:, :, 2], mixed, atol=1e-13)
    np.testing.assert_allclose(body.pair_moment[:, :, 2, 2], pair, atol=1e-13)
    assert not np.any(body.modal_moment[:2])
    assert body.mass == pytest.approx(1.7 * 6.0, rel=1e-14)
    np.testing.assert_allclose(np.diag(body.second_moment), 10.2 * np.array([3.0, 1.0 / 3.0, 0.0]), atol=1e-12)


def test_a_narrow_plate_is_a_beam():
    """Poisson's ratio 0: EI = D times the width, and the node turns with the slope."""
    strip = plate(size=(4.0, 0.1), mass=2.0, bending_rigidity=50.0, poisson=0.0, elements=(12, 1), modes=1)
    exact = beam(length=4.0, mass=2.0, bending_stiffness=5.0, planes="z", modes=1, normalisation="mass")
    assert strip.frequencies()[0] == pytest.approx(exact.frequencies()[0], rel=1e-6)
    np.testing.assert_allclose(np.abs(strip.modal_moment), np.abs(exact.modal_moment), atol=1e-6)
    a, b = strip.node("tip"), exact.node("tip")
    np.testing.assert_allclose(a.rotation[1] / a.translation[2], b.rotation[1] / b.translation[2], rtol=1e-5)


def test_node_turns_with_the_gradient():
    """Rotation of a corner node against differences of the deflection of nodes beside it."""
    near = {"c": (3.0, 0.6), "cx": (2.999, 0.6), "cy": (3.0, 0.599)}
    body = plate(size=(3.0, 2.0), mass=1.0, bending_rigidity=1.0, elements=(4, 4), modes=4, places=near)
    c, cx, cy = (body.node(name) for name in near)
    np.testing.assert_allclose(c.rotation[1], -(c.translation[2] - cx.translation[2]) / 1e-3, atol=1e-2)
    np.testing.assert_allclose(c.rotation[0], (c.translation[2] - cy.translation[2]) / 1e-3, atol=1e-2)


def test_bolted_plate():
    """Held at two points of its root it is softer than clamped along it, and it is held."""
    data = {"size": (3.0, 2.0), "mass": 4.0, "bending_rigidity": 10.0, "elements": (6, 4), "modes": 3}
    clamped = plate(**data)
    bolted = plate(**data, root_points=[(0.0, -0.5), (0.0, 0.5)])
    assert np.all(bolted.frequencies() < clamped.frequencies())
    assert bolted.frequencies()[0] > 0.5 * clamped.frequencies()[0]


def test_plate_with_a_tip_mass():
    mesh = meshed_plate(size=(3.0, 2.0), surface_density=1.0, bending_rigidity=10.0, elements=(4, 4))
    loaded = mesh.with_rider("tip", mass=2.0)
    assert natural_modes(loaded, 1)[0][0] < natural_modes(mesh, 1)[0][0]
    assert truncate_modes(loaded, 2).body().mass == pytest.approx(8.0)


def test_a_sparse_mesh_gives_the_same_modes_as_a_dense_one():
    """Above 400 coordinates modes come from shift and invert; the projected stiffness shows that they are the modes."""
    mesh = meshed_plate(size=(3.0, 2.0), surface_density=1.0, bending_rigidity=10.0, elements=(12, 12))
    omega, shapes = natural_modes(mesh, 4)
    np.testing.assert_allclose(shapes.T @ (mesh.mass_matrix() @ shapes), np.eye(4), atol=1e-10)
    np.testing.assert_allclose(shapes.T @ (mesh.stiffness @ shapes), np.diag(omega**2), atol=1e-8 * omega[-1] ** 2)


def test_free_structures_make_no_body():
    loose = meshed_beam(**UNIT, elements=3, ends=("free", "free"))
    with pytest.raises(ModelError, match="can move in its body frame without strain"):
        loose.body()
    fixed = hold_places(loose, "root")
    np.testing.assert_allclose(
        natural_modes(fixed, 3)[0], natural_modes(meshed_beam(**UNIT, elements=3), 3)[0], rtol=1e-9
    )
    assert fixed.body().modes == 6


def test_too_many_coordinates():
    with pytest.raises(ModelError, match="Reduce it first"):
        meshed_plate(size=(1.0, 1.0), surface_density=1.0, bending_rigidity=1.0, elements=(10, 10)).body()


def test_refusals():
    with pytest.raises(ModelError, match="cannot have geometric stiffening"):
        plate(size=(1.0, 1.0), mass=1.0, bending_rigidity=1.0, stiffening=True)
    with pytest.raises(ModelError, match="is not on plate 'plate': x from 0 to 1"):
        plate(size=(1.0, 1.0), mass=1.0, bending_rigidity=1.0, places={"far": (2.0, 0.0)})
    with pytest.raises(ModelError, match=r"Poisson ratio 0\.7"):
        plate(size=(1.0, 1.0), mass=1.0, bending_rigidity=1.0, poisson=0.7)
    with pytest.raises(ModelError, match=r"Edges: x-, x\+"):
        plate(size=(1.0, 1.0), mass=1.0, bending_rigidity=1.0, edges={"left": "clamped"})
    with pytest.raises(ModelError, match="y stiffness -1"):
        meshed_beam(**{**UNIT, "bending_stiffness": -1.0})
    with pytest.raises(ModelError, match=r"no place 'tipp'\. Places: root, tip"):
        meshed_beam(**UNIT).with_rider("tipp", mass=1.0)
    with pytest.raises(ModelError, match="triangle inequality"):
        meshed_beam(**UNIT).with_rider("tip", mass=1.0, inertia=(1.0, 0.1, 0.1))
