"""Pictures and meshes that cannot be read are left out: they must not make a robot unusable."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from freefloat.readers.findings import Findings, name_list


def leave_out_pictures(spec: Any) -> None:
    """Remove textures, skins and keyframes: they do not act on the motion, and a missing one is an error in MuJoCo."""
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for parts in (spec.textures, spec.skins, spec.keys):
        for part in list(parts):
            spec.delete(part)


def leave_out_missing_meshes(spec: Any, path: Path | None, findings: Findings) -> None:
    """Remove shapes whose mesh file is missing; report an error if a mass comes from one."""
    missing = {
        mesh.name or Path(mesh.file).stem: mesh for mesh in spec.meshes if mesh.file and not _is_there(spec, mesh, path)
    }
    for geom in list(spec.geoms):
        if geom.meshname not in missing:
            continue
        body, file = geom.parent, missing[geom.meshname].file
        weightless = geom.mass == 0.0 or (np.isnan(geom.mass) and geom.density == 0.0)
        if body.id != 0 and not body.explicitinertial and not weightless:
            findings.error(
                f"body '{body.name}'", f"its mass comes from mesh '{file}', which is not there. Put it beside the MJCF."
            )
            return
        spec.delete(geom)
    if missing:
        files = name_list([mesh.file for mesh in missing.values()], 3)
        findings.warn("<asset>", f"mesh files are not there, and not drawn: {files}.", minor=True)
    for mesh in missing.values():
        spec.delete(mesh)


def _is_there(spec: Any, mesh: Any, path: Path | None) -> bool:
    if mesh.file in spec.assets:
        return True
    file = Path(mesh.file).name if spec.strippath else mesh.file
    folders = [Path(), Path(spec.meshdir), *([] if path is None else [path.parent, path.parent / spec.meshdir])]
    try:
        return any((folder / file).is_file() for folder in folders)
    except (OSError, ValueError):
        return False
