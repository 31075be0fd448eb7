"""Reduced models in files: round trips, placement by labels, first-order inertia, and broken files."""

from pathlib import Path

import numpy as np
import pytest

from freefloat.flex import (
    LabelledMatrix,
    ReducedModel,
    craig_bampton,
    hold_places,
    meshed_beam,
    modal_damping,
    read_dmig,
    read_op4,
    read_reduced,
    reduced_model,
    write_dmig,
    write_op4,
    write_reduced,
)
from freefloat.flex.effective_mass import turning_moment
from freefloat.spatial import Pose
from freefloat.values import ModelError

FIXTURES = Path(__file__).parents[2] / "fixtures"
GRIDS = {"root": 101, "tip": 202}


def boom():
    """A free boom along x from (1, 2, 3) m with an instrument at its tip, every motion present."""
    mesh = meshed_beam(
        length=4.0,
        mass_per_length=2.0,
        bending_stiffness_y=300.0,
        bending_stiffness_z=500.0,
        torsion_stiffness=40.0,
        axial_stiffness=1e4,
        section_inertia=0.1,
        elements=4,
        ends=("free", "free"),
        name="boom",
    )
    mesh = mesh.with_rider("tip", mass=1.5, com=(0.1, 0.2, 0.0), inertia=(0.3, 0.2, 0.4))
    return mesh.place_at(Pose(position=(1.0, 2.0, 3.0)))


def model():
    return reduced_model(craig_bampton(boom(), list(GRIDS), 4), GRIDS)


def direct_body():
    """The same boom without any file, its frame at the root: what the reduced model must agree with to first order."""
    clamped = craig_bampton(hold_places(boom().place_at(Pose(position=(-1.0, -2.0, -3.0))), "root"), ["tip"], 4)
    return clamped.body()


def same_motion(a, b):
    """Modal matrices of two bases of the same space compare by what they do to the tip and by their frequencies."""
    np.testing.assert_allclose(a.frequencies(), b.frequencies(), rtol=1e-7)
    np.testing.assert_allclose(a.mass, b.mass, rtol=1e-9)
    np.testing.assert_allclose(a.moment, b.moment, atol=1e-8)
    # Slopes of Euler-Bernoulli elements carry no rotary inertia, the section's mass points do: 0.2 kg m2 about y and z.
    np.testing.assert_allclose(a.second_moment, b.second_moment - np.diag([0.2, 0.0, 0.0]), atol=1e-7)
    for x, y in ((a.modal_moment, b.modal_moment), (turning_moment(a.mixed_moment), turning_moment(b.mixed_moment))):
        left, right = (m @ np.linalg.solve(n.modal_mass, m.T) for m, n in ((x, a), (y, b)))
        np.testing.assert_allclose(left, right, atol=1e-7 * np.max(np.abs(right)))


def test_first_order_body_agrees_with_the_structure():
    body = model().body("boom", attach=101, nodes={"tip": 202})
    assert body.first_order
    assert not np.any(body.pair_moment)
    same_motion(body, direct_body())
    tip, direct = body.node("tip"), direct_body().node("tip")
    np.testing.assert_allclose(tip.position, [4.0, 0.0, 0.0])
    flexibility = [
        n.translation @ np.linalg.solve(b.stiffness, n.rotation.T) for n, b in ((tip, body), (direct, direct_body()))
    ]
    np.testing.assert_allclose(*flexibility, atol=1e-10)
    assert not direct_body().first_order


def test_damping_of_a_reduced_body():
    body = model().body("boom", attach=101, damping=modal_damping(0.01))
    assert np.min(np.linalg.eigvalsh(body.damping)) > 0.0


@pytest.mark.parametrize("ending", ["op4", "dmig"])
def test_round_trip(tmp_path, ending):
    """OP4 keeps every bit; DMIG's 16 columns keep 11 digits and more."""
    own = model()
    own = ReducedModel(own.source, own.labels, own.mass, own.stiffness, 1e-3 * own.stiffness, own.grids)
    path = tmp_path / f"boom.{ending}"
    write_reduced(path, own)
    back = read_reduced(path, damping="BAA")
    order = [back.labels.index(label) for label in own.labels]
    for name in ("mass", "stiffness", "damping"):
        mine, theirs = getattr(own, name), getattr(back, name)[np.ix_(order, order)]
        if ending == "op4":
            np.testing.assert_array_equal(theirs, mine)
        else:
            np.testing.assert_allclose(theirs, mine, rtol=1e-10)
    for grid, point in own.grids.items():
        np.testing.assert_allclose(back.grids[grid], point, rtol=1e-10)


@pytest.mark.parametrize("file", ["boom.op4", "boom.dmig"])
def test_fixture_files(file):
    """Files kept in the repository, as a structural department would send them, still give the same body."""
    body = read_reduced(FIXTURES / file).body("boom", attach=101, nodes={"tip": 202})
    same_motion(body, direct_body())


def test_zero_rows_vanish_and_are_placed_by_label(tmp_path):
    """A statically determinate interface has no stiffness: its labels live in the mass matrix only."""
    single = reduced_model(craig_bampton(boom(), ["root"], 5), {"root": 101})
    path = tmp_path / "single.bdf"
    clean = np.where(np.abs(single.stiffness) < 1e-6 * np.max(single.stiffness), 0.0, single.stiffness)
    write_reduced(path, ReducedModel("clean", single.labels, single.mass, clean, None, {}))
    bulk = read_dmig(path)
    assert len(bulk.matrices["KAA"].rows) == 5
    assert len(bulk.matrices["MAA"].rows) == 11
    body = read_reduced(path).body("boom", attach=101)  # needs no coordinates: there is one grid
    assert body.modes == 5
    assert body.mass == pytest.approx(9.5, rel=1e-9)


def test_bulk_data_in_every_field_format(tmp_path):
    path = tmp_path / "small.bdf"
    path.write_text(
        "$ comment\n"
        "GRID    7               1.      2.5-1   0.\n"
        "GRID,8,,1.5,2.0D+0,3\n"
        "DMIG    KAA     0       6       1       0\n"
        "DMIG    KAA     7       1               7       1       4.+1\n"
        "        8       2       -1.5    0.      9       0       2.0\n"
        "DMIG,KAA,8,2,,8,2,3.0E1\n"
        "DMIG*   KAA                            9               0\n"
        "*                      9               0          5.0D+0\n"
        "SPOINT  9\n"
        "ENDDATA\n"
    )
    bulk = read_dmig(path)
    labels = ((7, 1), (8, 2), (9, 0))
    expected = [[40.0, -1.5, 2.0], [-1.5, 30.0, 0.0], [2.0, 0.0, 5.0]]
    np.testing.assert_array_equal(bulk.matrices["KAA"].over(labels), expected)
    np.testing.assert_array_equal(bulk.grids[7], [1.0, 0.25, 0.0])
    np.testing.assert_array_equal(bulk.grids[8], [1.5, 2.0, 3.0])
    with pytest.raises(ModelError, match=r"term at \(grid, component\) \(9, 0\)"):
        bulk.matrices["KAA"].over(labels[:2])


HEADER = "DMIG    KAA     0       6       2       0\n"


def entry(value="1.0", *, column=("7", "1"), row=("7", "1")):
    fields = ["DMIG", "KAA", *column, "", *row, value]
    return "".join(f"{field:<8}" for field in fields) + "\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no DMIG matrix"),
        (entry(), "line 1, DMIG: matrix 'KAA' has a column before"),
        (HEADER + entry("one"), r"line 2, DMIG: the term at row .* is 'one', not a number"),
        (HEADER + entry("nan"), r"line 2.*not finite"),
        (HEADER + entry(column=("x", "1")), "column grid of matrix 'KAA' is 'x', not a whole"),
        (HEADER + entry(column=("7", "8")), "component 8. Components are 1 to 6"),
        (HEADER + entry(row=("8", "1")) + entry(column=("8", "1")), "given twice"),
        (HEADER + HEADER, "begins twice"),
        (HEADER.replace("2 ", "4 "), "is complex"),
        (HEADER.replace("6 ", "3 "), "has form 3"),
        ("*              1\n", "continues no card"),
        ("GRID    7       3       0.      0.      0.\n" + HEADER, "grid 7 is not in the basic frame"),
    ],
)
def test_broken_dmig(tmp_path, text, message):
    path = tmp_path / "broken.bdf"
    path.write_text(text)
    with pytest.raises(ModelError, match=message) as caught:
        read_dmig(path)
    assert "broken.bdf" in str(caught.value)


def test_op4_round_trip_is_exact(tmp_path, rng):
    path = tmp_path / "random.op4"
    dense = rng.normal(size=(7, 5)) * 10.0 ** rng.integers(-30, 30, size=(7, 5))
    holes = np.where(rng.random((6, 6)) < 0.5, 0.0, rng.normal(size=(6, 6)))
    holes[:, 2] = 0.0
    write_op4(path, {"dense": dense, "HOLES": holes})
    back = read_op4(path)
    np.testing.assert_array_equal(back["DENSE"], dense)
    np.testing.assert_array_equal(back["HOLES"], holes)


def test_op4_sparse_columns(tmp_path):
    """As Nastran writes them: string headers of one word, and of two for big matrices; D exponents."""
    path = tmp_path / "sparse.op4"
    small = f"{1:8d}{0:8d}{8:8d}\n{65536 * 5 + 2:8d}\n  1.000000000E+00  2.000000000D+00\n"
    small += f"{65536 * 3 + 5:8d}\n -3.000000000E+00\n"
    big = f"{2:8d}{0:8d}{4:8d}\n{3:8d}{4:8d}\n  7.000000000E+00\n"
    end = f"{3:8d}{1:8d}{1:8d}\n  1.000000000E+00\n"
    path.write_text(
        f"{2:8d}{6:8d}{2:8d}{2:8d}{'SMALL':<8}1P,4E17.9\n{small}{end}{2:8d}{-6:8d}{2:8d}{2:8d}{'BIG':<8}1P,4E17.9\n{big}{end}"
    )
    found = read_op4(path)
    np.testing.assert_array_equal(found["SMALL"][:, 0], [0.0, 1.0, 2.0, 0.0, -3.0, 0.0])
    np.testing.assert_array_equal(found["BIG"][:, 1], [0.0, 0.0, 0.0, 7.0, 0.0, 0.0])


def test_op4_sparse_columns_of_single_precision(tmp_path):
    """A word for each number: a string of two, then one of one, each with its header."""
    path = tmp_path / "single.op4"
    strings = f"{65536 * 3 + 2:8d}\n  1.000000000E+00  2.000000000E+00\n{65536 * 2 + 5:8d}\n -3.000000000E+00\n"
    column, end = f"{1:8d}{0:8d}{5:8d}\n{strings}", f"{2:8d}{1:8d}{1:8d}\n  1.000000000E+00\n"
    path.write_text(f"{1:8d}{6:8d}{2:8d}{1:8d}{'SINGLE':<8}1P,4E17.9\n{column}{end}")
    np.testing.assert_array_equal(read_op4(path)["SINGLE"][:, 0], [0.0, 1.0, 2.0, 0.0, -3.0, 0.0])


def op4_text():
    head = f"{2:8d}{2:8d}{6:8d}{2:8d}{'MAA':<8}1P,3E23.16\n"
    rows = "".join(f"{k:8d}{1:8d}{2:8d}\n{1.0:23.16E}{2.0:23.16E}\n" for k in (1, 2))
    return head + rows + f"{3:8d}{1:8d}{1:8d}\n{1.0:23.16E}\n"


TWO = "2.0000000000000000E+00"
SECOND, LATE = f"{2:8d}{1:8d}{2:8d}\n", f"{2:8d}{2:8d}{2:8d}\n"  # headers of column 2, from row 1 and from row 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda t: "", "is empty"),
        (lambda t: "what is this\n", "line 1: expected 4 integers"),
        (lambda t: t[:90], "line 3, matrix 'MAA': '1.0000' is|not a number|ends in the middle"),
        (lambda t: "\n".join(t.splitlines()[:3]) + "\n", "line 3, matrix 'MAA': the file ends in the middle"),
        (lambda t: t.replace(TWO, "2.00000xx00000000E+00 "), r"line 3, matrix 'MAA': .*is not a number"),
        (lambda t: t.replace(TWO, "                   NaN"), "not finite"),
        (lambda t: t.replace(SECOND, LATE), "line 5, matrix 'MAA': column 2 reaches beyond its 2 rows"),
        (lambda t: t + t, "two matrices of this name"),
        (lambda t: t.replace(f"{2:8d}MAA", f"{4:8d}MAA"), "complex"),
        (lambda t: t.replace("MAA", "M\0A"), "binary file"),
    ],
)
def test_broken_op4(tmp_path, change, message):
    path = tmp_path / "broken.op4"
    path.write_text(change(op4_text()))
    with pytest.raises(ModelError, match=message) as caught:
        read_op4(path)
    assert "broken.op4" in str(caught.value)


def changed(own, **fields):
    data = {"source": own.source, "labels": own.labels, "mass": own.mass, "stiffness": own.stiffness}
    return ReducedModel(**{**data, "damping": None, "grids": own.grids, **fields})


def test_impossible_models_are_refused():
    own = model()
    spoiled = own.mass.copy()
    spoiled[-1, -1] *= -1.0
    with pytest.raises(ModelError, match="mass matrix is indefinite"):
        changed(own, mass=spoiled)
    spoiled = own.stiffness.copy()
    spoiled[-1, -1] *= -1.0
    with pytest.raises(ModelError, match="stiffness is negative"):
        changed(own, stiffness=spoiled)
    spoiled = own.stiffness.copy()
    spoiled[0, 0] = np.nan
    with pytest.raises(ModelError, match="stiffness matrix has numbers that are not finite"):
        changed(own, stiffness=spoiled)
    with pytest.raises(ModelError, match="mass matrix is 3 x 3 for 16 labels"):
        changed(own, mass=np.eye(3))
    spoiled = own.mass.copy()
    spoiled[0, 1] += 1.0
    with pytest.raises(ModelError, match="not symmetric"):
        changed(own, mass=spoiled)
    with pytest.raises(ModelError, match=r"no attachment grid 7 among its labels. Grids: 101, 202"):
        own.body("boom", attach=7)
    with pytest.raises(ModelError, match="grid 202 has no coordinates"):
        changed(own, grids={101: np.zeros(3)}).body("boom", attach=101)
    with pytest.raises(ModelError, match="resists rigid motion of grid 101"):
        changed(own, grids={101: np.zeros(3), 202: np.ones(3)}).body("boom", attach=101)
    with pytest.raises(ModelError, match="node 'hand' is grid 303"):
        own.body("boom", attach=101, nodes={"hand": 303})


def test_files_without_what_is_asked(tmp_path):
    path = tmp_path / "bare.op4"
    write_op4(path, {"MAA": np.eye(6), "KAA": np.zeros((6, 6))})
    with pytest.raises(ModelError, match=r"has no labels\. Give labels="):
        read_reduced(path)
    with pytest.raises(ModelError, match=r"no matrix 'MXX'\. Matrices: MAA, KAA"):
        read_reduced(path, mass="MXX")
    with pytest.raises(ModelError, match="cannot be read"):
        read_op4(tmp_path / "absent.op4")
    with pytest.raises(ModelError, match="cannot be read"):
        read_dmig(tmp_path / "absent.bdf")
    with pytest.raises(ModelError, match="up to 8 letters"):
        write_op4(path, {"toolongname": np.eye(2)})
    labels = ((1, 1), (1, 2))
    skewed = LabelledMatrix("K", labels, labels, np.array([[1.0, 2.0], [0.0, 1.0]]))
    with pytest.raises(ModelError, match="is not symmetric"):
        write_dmig(path, {"K": skewed})
