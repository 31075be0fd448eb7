"""Shapes of a body: its geoms in the groups that MuJoCo shows by default."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from freefloat.model.shapes import Box, Cylinder, Ellipsoid, Mesh, Shape, Solid, triple
from freefloat.readers.findings import Findings
from freefloat.readers.solids import colour_of, place_solid
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_matrix

_SPHERE, _CAPSULE, _ELLIPSOID, _CYLINDER, _BOX, _MESH = range(2, 8)  # of mjtGeom
_VISIBLE = 3  # groups 0, 1, 2
_MOST = 200_000  # triangles of a mesh, as elsewhere


def body_shapes(model: Any, body: int, findings: Findings) -> Iterator[Shape]:
    """Shapes of a body, in the body's frame."""
    for geom in range(model.body_geomadr[body], model.body_geomadr[body] + model.body_geomnum[body]):
        if model.geom_group[geom] >= _VISIBLE:
            continue
        R = np.asarray(rotation_matrix(np.array(model.geom_quat[geom])))
        material = int(model.geom_matid[geom])
        rgba = model.geom_rgba[geom] if material < 0 else model.mat_rgba[material]
        for solid, along in _solids(model, geom):
            at = np.array(model.geom_pos[geom]) + R[:, 2] * along
            yield place_solid(solid, Pose(position=at, rotation=R), colour_of(" ".join(f"{x:.9g}" for x in rgba)))


def _solids(model: Any, geom: int) -> list[tuple[Solid, float]]:
    """Solids of one geom, each with its place along z [m]; a capsule is a cylinder between two balls."""
    kind, (x, y, z) = int(model.geom_type[geom]), (float(s) for s in model.geom_size[geom])
    if kind == _MESH:
        return _mesh(model, int(model.geom_dataid[geom]))
    ball = Ellipsoid((x, x, x))
    solids: dict[int, list[tuple[Solid, float]]] = {
        _BOX: [(Box((2.0 * x, 2.0 * y, 2.0 * z)), 0.0)],
        _CYLINDER: [(Cylinder(x, 2.0 * y), 0.0)],
        _CAPSULE: [(Cylinder(x, 2.0 * y), 0.0), (ball, y), (ball, -y)],
        _SPHERE: [(ball, 0.0)],
        _ELLIPSOID: [(Ellipsoid(triple((x, y, z))), 0.0)],
    }
    return solids.get(kind, [])  # none of planes and height fields


def _mesh(model: Any, mesh: int) -> list[tuple[Solid, float]]:
    if model.mesh_facenum[mesh] > _MOST:
        return []
    points = slice(model.mesh_vertadr[mesh], model.mesh_vertadr[mesh] + model.mesh_vertnum[mesh])
    faces = slice(model.mesh_faceadr[mesh], model.mesh_faceadr[mesh] + model.mesh_facenum[mesh])
    return [(Mesh(np.array(model.mesh_vert[points], dtype=float), np.array(model.mesh_face[faces])), 0.0)]
