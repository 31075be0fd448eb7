"""Masses that a file states, kept from MuJoCo, which would reject impossible ones before fixed bodies are merged."""

from __future__ import annotations

from typing import Any

import numpy as np

from freefloat.readers.findings import Findings
from freefloat.readers.parsed import MassPoint, stated_mass, unused_name
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_matrix


def keep_masses_aside(mujoco: Any, spec: Any, findings: Findings) -> dict[str, MassPoint | None] | None:
    """Stated masses by body name; MuJoCo gets placeholders. None if the file lets MuJoCo's compiler change masses."""
    compiler = spec.compiler
    changed = compiler.balanceinertia or compiler.boundmass or compiler.boundinertia or compiler.settotalmass > 0.0
    always = getattr(mujoco, "mjtInertiaFromGeom", None)
    if changed or compiler.inertiafromgeom == getattr(always, "mjINERTIAFROMGEOM_TRUE", 1):
        return None
    masses: dict[str, MassPoint | None] = {}
    taken = {body.name for body in spec.bodies}
    for number, body in enumerate(spec.bodies):
        if body.name == "world" and number == 0:
            continue
        if not body.name:
            body.name = unused_name(f"body_{number}", taken)
            taken.add(body.name)
        if body.explicitinertial:
            masses[body.name] = _stated_mass(body, spec, findings)
        elif not list(body.geoms):
            masses[body.name] = None
        else:
            continue
        body.explicitinertial = True
        body.mass, body.ipos, body.iquat, body.inertia = 1.0, [0.0] * 3, [1.0, 0.0, 0.0, 0.0], [1.0] * 3
        body.fullinertia = [np.nan, 0.0, 0.0, 0.0, 0.0, 0.0]
        body.ialt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
    return masses


def _stated_mass(body: Any, spec: Any, findings: Findings) -> MassPoint | None:
    """Mass, centre and inertia of a body's `<inertial>`."""
    owner, full = f"body '{body.name}'", np.array(body.fullinertia)
    quat, axes = np.array(body.iquat), body.ialt
    if axes.type.value != 0:
        quat = np.array(spec.resolve_orientation(bool(spec.compiler.degree), spec.compiler.eulerseq, axes))
    if not np.isnan(full[0]):
        xx, yy, zz, xy, xz, yz = full
        matrix = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        matrix = np.diag(np.array(body.inertia))
    length = float(np.linalg.norm(quat))
    if not length > 0.0 or not np.all(np.isfinite([body.mass, *body.ipos, *matrix.ravel(), length])):
        findings.error(owner, "<inertial> needs finite numbers and a direction that is not zero. Correct it.")
        return None
    R = np.asarray(rotation_matrix(quat / length))
    return stated_mass(owner, float(body.mass), matrix, Pose(position=np.array(body.ipos), rotation=R), findings)
