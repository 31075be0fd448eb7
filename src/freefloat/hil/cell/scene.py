"""Scene of a cell: parts as shapes, each on a body, and the present poses of the bodies."""

from __future__ import annotations

from typing import Any

import numpy as np

from freefloat.hil.cell.plant import CellPlant
from freefloat.hil.cell.rotations import matrix_of
from freefloat.hil.facility import CellPart
from freefloat.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Shape, Solid, triple


def cell_parts(plant: CellPlant) -> tuple[CellPart, ...]:
    """All parts of a cell but the floor, which is z = 0."""
    model = plant.model
    links = {f"{r.station.name}.{joint.name}" for r in plant.robots for joint in r.station.arm.joints}
    parts = []
    for g in range(model.ngeom):
        geom = model.geom(g)
        if geom.name == "floor":
            continue
        R = matrix_of(model.geom_quat[g])
        rotation = (triple(R[0]), triple(R[1]), triple(R[2]))
        colour = "arm" if geom.name in links else "bus" if geom.name.endswith((".foot", ".pedestal")) else "target"
        solid = _solid(plant.mujoco, int(model.geom_type[g]), model.geom_size[g])
        shape = Shape(solid, triple(model.geom_pos[g]), rotation, colour)
        parts.append(CellPart(geom.name, model.body(int(model.geom_bodyid[g])).name, shape))
    return tuple(parts)


def body_poses(plant: CellPlant) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Position p_FB [m] and quaternion quat_FB of every body with a part, by name."""
    model, data = plant.model, plant.data
    bodies = sorted({int(b) for b in model.geom_bodyid if b})
    return {model.body(b).name: (data.xpos[b].copy(), data.xquat[b].copy()) for b in bodies}


def _solid(mujoco: Any, kind: int, size: np.ndarray) -> Solid:
    a, b, c = (float(v) for v in size)
    kinds = mujoco.mjtGeom
    if kind == int(kinds.mjGEOM_CAPSULE):
        return Capsule(a, 2.0 * b)
    if kind == int(kinds.mjGEOM_CYLINDER):
        return Cylinder(a, 2.0 * b)
    if kind == int(kinds.mjGEOM_SPHERE):
        return Ellipsoid((a, a, a))
    return Box((2.0 * a, 2.0 * b, 2.0 * c))
