"""Solids as triangles with normals, for all viewers."""

from __future__ import annotations

from typing import Any

import numpy as np

Triangles = tuple[np.ndarray, np.ndarray, np.ndarray]  # vertices (n, 3), normals (n, 3), faces (m, 3)
_ROUND = 28  # segments of a circle


def triangles(shape: dict[str, Any]) -> Triangles:
    """The triangles of one shape of a drawing, in its body's frame."""
    vertices, normals, faces = _MAKERS[shape["kind"]](shape)
    R = np.asarray(shape["rotation"], dtype=float)
    return vertices @ R.T + np.asarray(shape["position"], dtype=float), normals @ R.T, faces


def merge_triangles(pieces: list[Triangles]) -> Triangles:
    """Join several sets of triangles into one."""
    offsets = np.cumsum([0, *(len(vertices) for vertices, _, _ in pieces[:-1])])
    return (
        np.concatenate([vertices for vertices, _, _ in pieces]),
        np.concatenate([normals for _, normals, _ in pieces]),
        np.concatenate([faces + offset for (_, _, faces), offset in zip(pieces, offsets, strict=True)]),
    )


def _box(shape: dict[str, Any]) -> Triangles:
    half = np.asarray(shape["size"], dtype=float) / 2.0
    pieces = []
    for axis in range(3):
        for side in (-1.0, 1.0):
            n = side * np.eye(3)[axis]
            u = np.eye(3)[(axis + 1) % 3]
            w = np.cross(n, u)
            corners = np.array([n - u - w, n + u - w, n + u + w, n - u + w]) * half
            pieces.append((corners, np.tile(n, (4, 1)), np.array([[0, 1, 2], [0, 2, 3]])))
    return merge_triangles(pieces)


def _cylinder(shape: dict[str, Any]) -> Triangles:
    r, h = float(shape["radius"]), float(shape["length"]) / 2.0
    return merge_triangles([_wall(r, -h, r, h), _disc(r, h, 1.0), _disc(r, -h, -1.0)])


def _capsule(shape: dict[str, Any]) -> Triangles:
    r, h = float(shape["radius"]), float(shape["length"]) / 2.0
    vertices, normals, faces = _ellipsoid({"radii": [r, r, r]})
    ends = [(vertices + np.array([0.0, 0.0, z]), normals, faces) for z in (-h, h)]
    return merge_triangles([_wall(r, -h, r, h), *ends])


def _cone(shape: dict[str, Any]) -> Triangles:
    """Triangles of a cone, open at its wide end and visible from both sides, like a horn or a field of view."""
    vertices, normals, faces = _wall(0.0, 0.0, float(shape["radius"]), float(shape["length"]))
    return merge_triangles([(vertices, normals, faces), (vertices, -normals, faces[:, ::-1])])


def _ellipsoid(shape: dict[str, Any]) -> Triangles:
    radii = np.asarray(shape["radii"], dtype=float)
    rings, turn = np.linspace(0.0, np.pi, _ROUND // 2 + 1), _circle()
    unit = np.concatenate([np.column_stack([np.sin(a) * turn, np.full(len(turn), np.cos(a))]) for a in rings])
    width = len(turn)
    quads = [(i * width + j, i * width + j + 1) for i in range(len(rings) - 1) for j in range(_ROUND)]
    faces = [f for a, b in quads for f in ((a, a + width, b + width), (a, b + width, b))]
    normals = unit / radii
    return unit * radii, normals / np.linalg.norm(normals, axis=1, keepdims=True), np.array(faces)


def _mesh(shape: dict[str, Any]) -> Triangles:
    """Triangles of a mesh with flat shading, because a mesh file does not tell which edges are sharp."""
    corners = np.asarray(shape["vertices"], dtype=float)[np.asarray(shape["faces"], dtype=int)]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(lengths > 0.0, lengths, 1.0)
    return corners.reshape(-1, 3), np.repeat(normals, 3, axis=0), np.arange(3 * len(corners)).reshape(-1, 3)


def _circle() -> np.ndarray:
    angles = np.linspace(0.0, 2.0 * np.pi, _ROUND + 1)
    return np.column_stack([np.cos(angles), np.sin(angles)])


def _wall(r0: float, z0: float, r1: float, z1: float) -> Triangles:
    """Triangles of the side of a cylinder or cone, from radius r0 at z0 to r1 at z1."""
    circle = _circle()
    low = np.column_stack([r0 * circle, np.full(len(circle), z0)])
    high = np.column_stack([r1 * circle, np.full(len(circle), z1)])
    slope = np.column_stack([(z1 - z0) * circle, np.full(len(circle), r0 - r1)])
    normals = slope / max(float(np.linalg.norm(slope[0])), 1e-12)
    n = len(circle)
    faces = [f for i in range(n - 1) for f in ((i, i + 1, n + i + 1), (i, n + i + 1, n + i))]
    return np.concatenate([low, high]), np.concatenate([normals, normals]), np.array(faces)


def _disc(r: float, z: float, side: float) -> Triangles:
    rim = np.column_stack([r * _circle(), np.full(_ROUND + 1, z)])
    vertices = np.concatenate([[[0.0, 0.0, z]], rim])
    faces = np.array([(0, i, i + 1) for i in range(1, _ROUND + 1)])
    return vertices, np.tile([0.0, 0.0, side], (len(vertices), 1)), faces if side > 0.0 else faces[:, ::-1]


_MAKERS = {
    "box": _box,
    "cylinder": _cylinder,
    "capsule": _capsule,
    "cone": _cone,
    "ellipsoid": _ellipsoid,
    "mesh": _mesh,
}
