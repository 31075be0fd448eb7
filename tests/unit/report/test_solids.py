"""Solids are closed, face outwards and have the volume that they should."""

from typing import Any

import numpy as np
import pytest

from freefloat.report.solids import merge_triangles, triangles

_HERE = {"position": [0.0, 0.0, 0.0], "rotation": np.eye(3).tolist(), "colour": "bus"}
_TETRAHEDRON = {
    "vertices": [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "faces": [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
}


def _volume(shape: dict[str, Any]) -> float:
    vertices, _, faces = triangles(shape)
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    return float(np.sum(np.einsum("ij,ij->i", a, np.cross(b, c))) / 6.0)


@pytest.mark.parametrize(
    ("shape", "volume", "tolerance"),
    [
        ({"kind": "box", "size": [1.0, 2.0, 3.0]}, 6.0, 1e-12),
        ({"kind": "cylinder", "radius": 0.5, "length": 2.0}, np.pi * 0.5, 0.01),  # a polygon of 28 corners: 0.8 %
        ({"kind": "ellipsoid", "radii": [1.0, 2.0, 0.5]}, 4.0 / 3.0 * np.pi, 0.03),
        ({"kind": "mesh", **_TETRAHEDRON}, 1.0 / 6.0, 1e-12),
    ],
)
def test_volume_and_outward_normals(shape: dict[str, Any], volume: float, tolerance: float) -> None:
    shape = {**_HERE, **shape}
    assert _volume(shape) == pytest.approx(volume, rel=tolerance)
    vertices, normals, faces = triangles(shape)
    assert np.allclose(np.linalg.norm(normals, axis=1), 1.0)
    a, b, c = (vertices[faces[:, i]] for i in range(3))
    facing = np.einsum("ij,ij->i", np.cross(b - a, c - a), normals[faces[:, 0]])
    assert np.all(facing >= -1e-12)


def test_a_shape_is_turned_and_moved() -> None:
    quarter = [[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]
    shape = {"kind": "box", "size": [2.0, 0.0, 0.0], "position": [5.0, 0.0, 0.0], "rotation": quarter}
    vertices, _, _ = triangles(shape)
    assert np.allclose(vertices.min(axis=0), [5.0, -1.0, 0.0])
    assert np.allclose(vertices.max(axis=0), [5.0, 1.0, 0.0])


def test_pieces_are_merged() -> None:
    piece = triangles({**_HERE, "kind": "box", "size": [1.0, 1.0, 1.0]})
    vertices, normals, faces = merge_triangles([piece, piece])
    assert (len(vertices), len(normals), len(faces)) == (48, 48, 24)
    assert faces.max() == 47
