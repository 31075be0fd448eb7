import numpy as np
import pytest
from scipy.linalg import eigh

from freefloat.flex import (
    beam,
    craig_bampton,
    effective_mass,
    join_structures,
    meshed_beam,
    meshed_plate,
    modal_damping,
    natural_modes,
    plate,
    rayleigh_damping,
    rayleigh_factors,
    structural_damping,
    truncate_modes,
)
from freefloat.spatial import Pose
from freefloat.values import ModelError

UNIT = {"length": 1.0, "mass_per_length": 1.0, "bending_stiffness": 1.0, "planes": "y"}


def test_truncation_keeps_frequencies_and_integrals():
    mesh = meshed_beam(**UNIT, elements=10)
    omega, shapes = natural_modes(mesh, 3)
    full, few = mesh.body(), truncate_modes(mesh, 3).body()
    np.testing.assert_allclose(few.frequencies(), omega, rtol=1e-12)
    np.testing.assert_allclose(few.modal_mass, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(few.modal_moment, full.modal_moment @ shapes, atol=1e-12)
    pair = np.einsum("ki,lj,klab->ijab", shapes, shapes, full.pair_moment)
    np.testing.assert_allclose(few.pair_moment, pair, atol=1e-12)
    assert few.mode_names == ("mode1", "mode2", "mode3")
    second = truncate_modes(mesh, [2]).body()
    assert second.frequencies()[0] == pytest.approx(omega[1])
    np.testing.assert_allclose(second.modal_moment, full.modal_moment @ shapes[:, 1:2], atol=1e-12)


def static_tip_motion(structure, force):
    tip = structure.place("tip").motion
    return tip @ np.linalg.solve(np.asarray(structure.stiffness), tip.T @ force)


def test_residual_gives_the_exact_static_answer():
    mesh = meshed_beam(**UNIT, elements=10, stations={"mid": 0.5})
    force = np.array([0.0, 1.0, 0.0, 0.0, 0.0, 0.3])
    exact = static_tip_motion(mesh, force)
    without = static_tip_motion(truncate_modes(mesh, 2), force)
    corrected = truncate_modes(mesh, 2, residual=["tip"])
    np.testing.assert_allclose(static_tip_motion(corrected, force), exact, rtol=1e-9)
    assert np.max(np.abs(without / np.where(exact == 0.0, 1.0, exact) - 1.0)[[1, 5]]) > 1e-3  # the control
    body = corrected.body()
    np.testing.assert_allclose(body.modal_mass, np.eye(4), atol=1e-9)
    np.testing.assert_allclose(body.frequencies()[:2], natural_modes(mesh, 2)[0], rtol=1e-9)
    assert body.mode_names[2:] == ("residual1", "residual2")


def test_residual_of_a_sparse_plate():
    mesh = meshed_plate(size=(3.0, 2.0), surface_density=1.0, bending_rigidity=10.0, elements=(6, 6))
    force = np.array([0.0, 0.0, 1.0, 0.1, 0.2, 0.0])
    tip = mesh.place("tip").motion
    exact = tip @ np.linalg.solve(mesh.stiffness.toarray(), tip.T @ force)
    np.testing.assert_allclose(static_tip_motion(truncate_modes(mesh, 3, residual=["tip"]), force), exact, rtol=1e-8)


def test_effective_mass_table():
    """Fractions of a cantilever: 0.613076 of the mass and 0.970688 of the inertia in its first mode."""
    table = effective_mass(beam(length=2.0, mass=3.0, bending_stiffness=1.0, modes=3, planes="y"))
    np.testing.assert_allclose(table.cumulative[:, 1], [0.613076, 0.801376, 0.866109], atol=5.1e-7)
    np.testing.assert_allclose(table.cumulative[:, 5], [0.970688, 0.995404, 0.998556], atol=5.1e-7)
    assert table.enough("y", 0.8) == 2
    assert table.enough("y", 0.99) is None
    assert not np.any(table.fractions[:, [0, 2, 3, 4]])
    text = str(table)
    assert len(text.splitlines()) == 4
    assert "0.6131" in text


def test_effective_masses_of_all_modes_add_up():
    """A complete set of coordinates carries all the mass that is not fixed at the root."""
    mesh = meshed_plate(size=(3.0, 2.0), surface_density=1.0, bending_rigidity=10.0, elements=(3, 2))
    table = effective_mass(mesh.body())
    assert 0.9 < table.cumulative[-1, 2] < 1.0
    assert table.cumulative[-1, 4] == pytest.approx(1.0, abs=1e-3)


def test_craig_bampton_keeps_statics_and_rigid_motion():
    mesh = meshed_beam(**UNIT, elements=8, ends=("free", "free"))
    small = craig_bampton(mesh, ["root", "tip"], 2)
    assert small.coordinates == ("root.y", "root.rz", "tip.y", "tip.rz", "fixed1", "fixed2")
    np.testing.assert_allclose(small.place("tip").motion[[1, 5]], np.eye(6)[2:4], atol=1e-10)
    rigid = np.array([[1.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 1.0, 1.0, 0.0, 0.0]]).T
    np.testing.assert_allclose(small.stiffness @ rigid, 0.0, atol=1e-8)
    np.testing.assert_allclose(np.diag(rigid.T @ small.mass_matrix() @ rigid), [1.0, 1.0 / 3.0], rtol=1e-10)
    fixed = small.stiffness[4:, 4:]
    clamped = natural_modes(meshed_beam(**UNIT, elements=8, ends=("clamped", "clamped")), 2)[0]
    np.testing.assert_allclose(fixed, np.diag(clamped**2), atol=1e-7 * clamped[-1] ** 2)


def test_craig_bampton_converges_from_above():
    mesh = meshed_beam(**UNIT, elements=8)
    exact = natural_modes(mesh, 2)[0]
    rows = [natural_modes(craig_bampton(mesh, ["tip"], n), 2)[0] for n in range(1, 6)]
    assert np.all(np.diff(rows, axis=0) < 1e-9)
    assert np.all(rows[-1] > exact * (1.0 - 1e-10))
    np.testing.assert_allclose(rows[-1], exact, rtol=1e-4)


def test_craig_bampton_body_is_stiffened_too():
    mesh = meshed_beam(**UNIT, elements=8)
    full, small = mesh.body(stiffening=True), craig_bampton(mesh, ["tip"], 6).body(stiffening=True)
    lowest = [
        eigh(b.stiffness - 4.0 * b.short_mixed_moment[:, :, 0, 0], b.modal_mass, eigvals_only=True)[0]
        for b in (full, small)
    ]
    assert lowest[1] == pytest.approx(lowest[0], rel=1e-5)


def test_joined_beam_is_one_beam():
    """Two beams end to end, the second clamped to the first by nothing but the joint."""
    first = meshed_beam(**{**UNIT, "length": 0.4}, elements=4, name="first")
    second = meshed_beam(**{**UNIT, "length": 0.6}, elements=6, ends=("free", "free"), name="second")
    second = second.with_rider("tip", mass=0.5).place_at(Pose(position=(0.4, 0.0, 0.0)))
    whole = join_structures(first, second, at=("tip", "root"))
    one = meshed_beam(**UNIT, elements=10).with_rider("tip", mass=0.5)
    np.testing.assert_allclose(natural_modes(whole, 4)[0], natural_modes(one, 4)[0], rtol=1e-8)
    body = whole.body("arm")
    assert body.mass == pytest.approx(1.5)
    assert "second.tip" in body.node_names


def test_joining_refusals():
    first, second = (meshed_beam(**UNIT, elements=2, name=name) for name in ("a", "b"))
    with pytest.raises(ModelError, match="1 m apart"):
        join_structures(first, second, at=("tip", "root"))
    with pytest.raises(ModelError, match="Both structures are called 'a'"):
        join_structures(first, first, at=("tip", "tip"))
    with pytest.raises(ModelError, match="cannot have geometric stiffening"):
        join_structures(first, second, at=("root", "root")).body(stiffening=True)
    with pytest.raises(ModelError, match="does not move at all"):
        craig_bampton(first, ["root"], 1)
    with pytest.raises(ModelError, match="Name each place once"):
        craig_bampton(first, ["tip", "tip"], 1)
    free = meshed_beam(**UNIT, elements=2, ends=("free", "free"), stations={"mid": 0.5})
    with pytest.raises(ModelError, match="1 to 6 modes; not 9"):
        natural_modes(free, 9)
    with pytest.raises(ModelError, match="no static answer"):
        truncate_modes(free, 3, residual=["tip"])


def test_craig_bampton_leaves_out_motions_that_are_not_there():
    pinned = meshed_beam(**UNIT, torsion_stiffness=1.0, section_inertia=0.1, elements=2, ends=("pinned", "free"))
    assert craig_bampton(pinned, ["root"], 2).coordinates == ("root.rz", "fixed1", "fixed2")


def test_damping_rules():
    body = plate(size=(3.0, 2.0), mass=4.0, bending_rigidity=10.0, elements=(3, 3), modes=3)
    M, K, omega = body.modal_mass, body.stiffness, body.frequencies()
    np.testing.assert_allclose(
        np.diag(modal_damping((0.01, 0.02, 0.03))(M, K)), 2.0 * np.array([0.01, 0.02, 0.03]) * omega
    )
    np.testing.assert_allclose(structural_damping(0.02)(M, K), modal_damping(0.01)(M, K))
    factors = rayleigh_factors((omega[0], omega[2]), (0.01, 0.02))
    rayleigh = np.diag(rayleigh_damping(*factors)(M, K)) / (2.0 * omega)
    np.testing.assert_allclose(rayleigh[[0, 2]], [0.01, 0.02], rtol=1e-12)
    with pytest.raises(ModelError, match="would create energy"):
        rayleigh_damping(-1.0, 0.0)


def test_modal_damping_knows_coupled_coordinates(rng):
    """In any coordinates: D is the one whose every natural mode decays with the ratio."""
    mesh = meshed_beam(**UNIT, elements=2)
    body = mesh.body(damping=modal_damping(0.05))
    squared, shapes = eigh(body.stiffness, body.modal_mass)
    np.testing.assert_allclose(shapes.T @ body.damping @ shapes, np.diag(0.1 * np.sqrt(squared)), atol=1e-10)
