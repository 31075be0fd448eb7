"""What a URDF says about looks is drawn; what cannot be drawn is a warning, never an error."""

import struct
from pathlib import Path

import numpy as np
import pytest

from freefloat.library import ets7
from freefloat.model.shapes import Box, Cylinder, Ellipsoid, Mesh
from freefloat.readers import read_urdf, write_urdf
from freefloat.readers.mesh_files import MeshError, read_mesh
from freefloat.readers.urdf.reader import lint_urdf

_CORNERS = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
_FACES = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
_OBJ = "".join(f"v {x} {y} {z}\n" for x, y, z in _CORNERS) + "".join(
    f"f {a + 1}/1 {b + 1}/1 {c + 1}/1\n" for a, b, c in _FACES
)


def _binary_stl() -> bytes:
    records = b"".join(struct.pack("<12fH", 0, 0, 0, *_CORNERS[face].ravel(), 0) for face in _FACES)
    return b"solid but binary".ljust(80) + struct.pack("<I", len(_FACES)) + records


def _text_stl() -> bytes:
    facets = "".join(
        "facet normal 0 0 0\nouter loop\n"
        + "".join("vertex {} {} {}\n".format(*_CORNERS[i]) for i in face)
        + "endloop\nendfacet\n"
        for face in _FACES
    )
    return f"solid t\n{facets}endsolid t\n".encode()


def _volume(vertices: np.ndarray, faces: np.ndarray) -> float:
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return float(np.sum(np.einsum("ij,ij->i", a, np.cross(b, c))) / 6.0)


@pytest.mark.parametrize(
    ("name", "data"),
    [("t.stl", _binary_stl()), ("t.STL", _text_stl()), ("t.obj", _OBJ.encode())],
    ids=["binary", "text", "obj"],
)
def test_meshes_are_read_whole(tmp_path: Path, name: str, data: bytes) -> None:
    (tmp_path / name).write_bytes(data)
    vertices, faces = read_mesh(tmp_path / name)
    assert (len(vertices), len(faces)) == (4, 4)
    assert _volume(vertices, faces) == pytest.approx(1.0 / 6.0)


@pytest.mark.parametrize(
    ("name", "data", "words"),
    [
        ("t.ply", b"", "no STL, OBJ or DAE"),
        ("t.stl", b"solid nothing\nendsolid", "no sound triangles"),
        ("t.obj", b"v 0 0 0\nf 1 2 3\n", "no sound triangles"),
        ("t.obj", b"v zero 0 0\n", "cannot be read"),
        ("t.stl", b"\xff" * 90, "no sound triangles"),
    ],
)
def test_broken_meshes_say_what_is_wrong(tmp_path: Path, name: str, data: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(MeshError, match=words):
        read_mesh(tmp_path / name)


def _urdf(visuals: str) -> str:
    inertial = '<inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial>'
    red = '<material name="red"><color rgba="1 0 0 1"/></material>'
    return f'<robot name="r">{red}<link name="base">{inertial}{visuals}</link></robot>'


def test_visuals_become_shapes(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    (tmp_path / "meshes" / "t.obj").write_text(_OBJ)
    visuals = (
        '<visual><origin xyz="1 0 0"/><geometry><box size="1 2 3"/></geometry><material name="red"/></visual>'
        '<visual><geometry><cylinder radius="0.5" length="2"/></geometry></visual>'
        '<visual><geometry><sphere radius="0.5"/></geometry></visual>'
        '<visual><geometry><mesh filename="package://robot/meshes/t.obj" scale="2 2 2"/></geometry></visual>'
    )
    (tmp_path / "r.urdf").write_text(_urdf(visuals))
    shapes = read_urdf(tmp_path / "r.urdf").body("base").shapes
    assert [type(shape.solid) for shape in shapes] == [Box, Cylinder, Ellipsoid, Mesh]
    assert (shapes[0].position, shapes[0].colour) == ((1.0, 0.0, 0.0), "#ff0000")
    assert _volume(shapes[3].solid.vertices, shapes[3].solid.faces) == pytest.approx(8.0 / 6.0)


@pytest.mark.parametrize(
    "geometry",
    [
        '<mesh filename="gone.stl"/>',
        '<mesh filename="x.dae"/>',
        '<box size="1 2"/>',
        '<sphere radius="-1"/>',
        "<blob/>",
    ],
)
def test_looks_that_cannot_be_drawn_are_warnings(tmp_path: Path, geometry: str) -> None:
    (tmp_path / "x.dae").write_text("")
    (tmp_path / "r.urdf").write_text(_urdf(f"<visual><geometry>{geometry}</geometry></visual>"))
    assert read_urdf(tmp_path / "r.urdf").body("base").shapes == ()
    findings = lint_urdf(tmp_path / "r.urdf")
    assert [f.severity for f in findings] == ["warning"]
    assert "not drawn" in findings[0].text


def test_boxes_and_cylinders_survive_a_round_trip() -> None:
    craft = ets7()
    again = read_urdf(write_urdf(craft))
    for before, after in zip(craft.bodies[1:], again.bodies[1:], strict=True):
        assert [type(s.solid) for s in before.shapes] == [type(s.solid) for s in after.shapes]
        for one, other in zip(before.shapes, after.shapes, strict=True):
            assert np.allclose(one.position, other.position)
            assert np.allclose(one.rotation, other.rotation)
