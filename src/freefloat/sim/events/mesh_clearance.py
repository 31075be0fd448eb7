"""Distances of solids that compiled code cannot measure, by `coal`: convex hulls of meshes, cones, ellipsoids."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from freefloat.model import Clearance, World
from freefloat.model.shapes import Box, Capsule, Cone, Cylinder, Ellipsoid, Shape, Solid
from freefloat.sim.events.clearance_pairs import Pair, WatchedBody, is_simple, shapes_of, watched_pairs
from freefloat.sim.system.system import System
from freefloat.values.errors import ModelError
from freefloat.values.labelled import LabelledArrays

_TOLERANCE = 1e-12  # [m]
_ITERATIONS = 1000


def require_measurable(system: System) -> None:
    """Raise an error for solids that need `coal` if it is not installed."""
    for part in system.clearances:
        if all(is_simple(system.world, pair, part) for pair in watched_pairs(system, part)):
            continue
        try:
            _coal()
        except ImportError:
            raise ModelError(
                f"{part.title} looks at meshes, cones or ellipsoids, which needs the package coal: "
                "pip install 'freefloat[meshes]'. Or use boxes, balls and capsules."
            ) from None


def _coal() -> Any:
    """The package `coal`, imported on first use; it has no types."""
    return importlib.import_module("coal")


def fill_mesh_distances(system: System, data: LabelledArrays) -> None:
    """Write the distances of pairs that need `coal` into a record, from the recorded places of all bodies."""
    for part in system.clearances:
        for k, pair in enumerate(watched_pairs(system, part)):
            if not is_simple(system.world, pair, part):
                data[part.channel].values[:, k] = _distances(system.world, pair, part, data)


def _distances(world: World, pair: Pair, part: Clearance, data: LabelledArrays) -> np.ndarray:
    coal = _coal()
    solids = [[(_coal_solid(s.solid), _place(s)) for s in shapes_of(world, body, part)] for body in pair]
    places = [_recorded_poses(world, body, data) for body in pair]
    request, result = coal.DistanceRequest(), coal.DistanceResult()
    request.gjk_tolerance, request.gjk_max_iterations = _TOLERANCE, _ITERATIONS
    found = np.full(len(places[0][0]), np.inf)
    for i in range(len(found)):
        posed = [
            [(solid, coal.Transform3s(R[i] @ R_BS, p[i] + R[i] @ p_BS)) for solid, (R_BS, p_BS) in some]
            for some, (p, R) in zip(solids, places, strict=True)
        ]
        for a, X_NA in posed[0]:
            for b, X_NB in posed[1]:
                result.clear()
                found[i] = min(found[i], coal.distance(a, X_NA, b, X_NB, request, result))
    return found


def _recorded_poses(world: World, body: WatchedBody, data: LabelledArrays) -> tuple[np.ndarray, np.ndarray]:
    """Positions [m] and rotation matrices of a body at all records, in N."""
    index = list(data["body"].values).index(world.prefix(body.craft) + body.body)
    w, x, y, z = data["bodies.attitude"].values[:, index].T
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return data["bodies.position"].values[:, index], np.moveaxis(np.array(rows), 2, 0)


def _place(shape: Shape) -> tuple[np.ndarray, np.ndarray]:
    """R_BS and p_BS [m] of a shape for `coal`, whose cone is centred, tip up; ours opens along z from its tip."""
    R, p = np.array(shape.rotation), np.array(shape.position)
    if isinstance(shape.solid, Cone):
        return R @ np.diag([1.0, -1.0, -1.0]), p + R @ np.array([0.0, 0.0, 0.5 * shape.solid.length])
    return R, p


def _coal_solid(solid: Solid) -> Any:
    coal = _coal()
    if isinstance(solid, Box):
        return coal.Box(*solid.size)
    if isinstance(solid, (Capsule, Cylinder)):  # a cylinder counts as the capsule around it everywhere
        return coal.Capsule(solid.radius, solid.length)
    if isinstance(solid, Cone):
        return coal.Cone(solid.radius, solid.length)
    if isinstance(solid, Ellipsoid):
        return coal.Ellipsoid(*solid.radii)
    mesh = coal.BVHModelOBBRSS()
    mesh.beginModel(len(solid.faces), len(solid.vertices))
    mesh.addVertices(np.asarray(solid.vertices, dtype=float))
    mesh.addTriangles(np.asarray(solid.faces, dtype=np.int64))
    mesh.endModel()
    mesh.buildConvexHull(True, "Qt")
    return mesh.convex
