"""Finite-element models given as matrices over grids."""

import numpy as np
import pytest
from scipy.linalg import eigh

from freefloat.flex import MatrixModel, craig_bampton, meshed_beam, read_matrices, truncate_modes, write_matrices
from freefloat.values import ModelError

LENGTH, ELEMENTS = 3.0, 4


def beam_model():
    """A free beam as a structural code gives it: six freedoms at every grid."""
    stations = {f"g{k}": LENGTH * k / ELEMENTS for k in range(ELEMENTS + 1)}
    mesh = meshed_beam(
        length=LENGTH,
        mass_per_length=2.0,
        bending_stiffness_y=30.0,
        bending_stiffness_z=50.0,
        torsion_stiffness=4.0,
        axial_stiffness=1e3,
        section_inertia=0.1,
        elements=ELEMENTS,
        ends=("free", "free"),
        stations=stations,
    )
    # Axial and torsion elements have a freedom in the middle as well: it follows the ends statically.
    projected = craig_bampton(mesh, list(stations), 0)
    positions = np.column_stack([list(stations.values()), np.zeros((ELEMENTS + 1, 2))])
    return MatrixModel("beam", projected.mass_matrix(), np.asarray(projected.stiffness), positions, tuple(stations))


def test_clamped_modes_are_those_of_the_mesh():
    model = beam_model()
    body = model.body(attachment="g0", modes=4, nodes={"tip": "g4"})
    clamped = meshed_beam(
        length=LENGTH, mass_per_length=2.0, bending_stiffness_y=30.0, bending_stiffness_z=50.0, elements=ELEMENTS
    )
    exact = truncate_modes(clamped, 4).body()
    bending = [k for k, name in enumerate(body.mode_names) if abs(body.node("tip").rotation[0, k]) < 1e-9]
    np.testing.assert_allclose(body.frequencies()[bending][:3], exact.frequencies()[:3], rtol=1e-6)
    assert body.mass == pytest.approx(6.0, rel=1e-9)
    np.testing.assert_allclose(body.moment, [9.0, 0.0, 0.0], atol=1e-9)
    inertia = np.trace(body.second_moment) * np.eye(3) - body.second_moment
    np.testing.assert_allclose(np.diag(inertia), [0.3, 18.0, 18.0], rtol=1e-9)  # slopes carry no rotary inertia


def test_free_modes_serve_relative_to_the_attachment():
    """All free-free natural modes span the same motions as all clamped ones: equal frequencies with the frame held."""
    model = beam_model()
    _, vectors = eigh(model.stiffness, model.mass)
    free = MatrixModel("beam", model.mass, model.stiffness, model.positions, model.grids, None, vectors[:, 6:])
    frequencies = free.body(attachment="g0").frequencies()
    clamped = model.body(attachment="g0", modes=24).frequencies()
    np.testing.assert_allclose(frequencies, clamped, rtol=1e-6)


def test_grids_with_translations_only_follow_groups():
    """A pin-jointed box of springs: nodes of three grids or more define a rotation, single grids do not."""
    corners = np.array([[x, y, z] for x in (0.0, 1.0, 2.0) for y in (0.0, 1.0) for z in (0.0, 1.0)])
    n = len(corners)
    K = np.zeros((3 * n, 3 * n))
    for i in range(n):
        for j in range(i):
            d = corners[i] - corners[j]
            if (length := np.linalg.norm(d)) < 1.8:
                row = np.zeros(3 * n)
                row[3 * i : 3 * i + 3], row[3 * j : 3 * j + 3] = d / length, -d / length
                K += 1e3 * np.outer(row, row)
    names = tuple(f"n{k}" for k in range(n))
    model = MatrixModel("box", np.eye(3 * n), K, corners, names)
    body = model.body(attachment=names[:4], modes=5, nodes={"end": names[8:]})
    assert body.mass == pytest.approx(12.0)
    np.testing.assert_allclose(np.einsum("ijaa->ij", body.pair_moment), body.modal_mass, atol=1e-12)  # lumped: exact
    np.testing.assert_allclose(body.node("end").position, [2.0, 0.0, 0.0], atol=1e-12)
    with pytest.raises(ModelError, match="do not define a rotation"):
        model.body(attachment=names[:4], nodes={"end": "n8"})


@pytest.mark.parametrize("ending", ["npz", "h5"])
def test_round_trip(tmp_path, ending):
    model = beam_model()
    model = MatrixModel(
        "beam", model.mass, model.stiffness, model.positions, model.grids, 0.01 * model.stiffness, np.eye(30)[:, 6:]
    )
    path = tmp_path / f"beam.{ending}"
    write_matrices(path, model)
    back = read_matrices(path)
    assert back.name == "beam"
    assert back.grids == model.grids
    for field in ("mass", "stiffness", "damping", "shapes", "positions"):
        np.testing.assert_array_equal(getattr(back, field), getattr(model, field))


def test_refusals(tmp_path):
    model = beam_model()
    with pytest.raises(ModelError, match=r"a mode set needs an attachment node. Name the grids that are fixed: g0, g1"):
        model.body()
    with pytest.raises(ModelError, match=r"there is no grid 'root'. Grids: g0"):
        model.body(attachment="root")
    with pytest.raises(ModelError, match="30 freedoms do not fit 4 coordinates"):
        MatrixModel("m", model.mass, model.stiffness, model.positions[:4], model.grids[:4])
    with pytest.raises(ModelError, match="stiffness matrix is 3 x 3 where there are 30 freedoms"):
        MatrixModel("m", model.mass, np.eye(3), model.positions, model.grids)
    with pytest.raises(ModelError, match="mass matrix has numbers that are not finite"):
        MatrixModel("m", np.full((30, 30), np.nan), model.stiffness, model.positions, model.grids)
    with pytest.raises(ModelError, match="mass matrix is indefinite"):
        MatrixModel("m", -model.mass, model.stiffness, model.positions, model.grids).body(attachment="g0")
    with pytest.raises(ModelError, match="stiffness matrix has a negative eigenvalue"):
        MatrixModel("m", model.mass, -model.stiffness, model.positions, model.grids).body(attachment="g0")
    path = tmp_path / "bare.npz"
    np.savez(path, M=np.eye(3))
    with pytest.raises(ModelError, match=r"lacks K, positions. It needs M, K and positions; found: M"):
        read_matrices(path)
    broken = tmp_path / "broken.h5"
    broken.write_text("no")
    with pytest.raises(ModelError, match="cannot be read"):
        read_matrices(broken)
    broken = tmp_path / "broken.npz"
    broken.write_text("no")
    with pytest.raises(ModelError, match="cannot be read"):
        read_matrices(broken)
    with pytest.raises(ModelError, match=r"neither \.npz nor \.h5"):
        read_matrices(tmp_path / "model.mat")
