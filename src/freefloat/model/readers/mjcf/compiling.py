"""MuJoCo reads the file. What it would judge more strictly than physics demands is taken out of its hands before.

MuJoCo refuses impossible inertias body by body, before fixed bodies are merged, and files whose meshes, textures or
keyframes are missing or wrong. So masses that the file states are kept aside and judged by us, and what only looks is
left out where it cannot be read.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.model.readers.elements import is_xml_text, parse, read_text
from freefloat.model.readers.findings import Findings, name_list
from freefloat.model.readers.stated import MassPoint, stated_mass
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_matrix
from freefloat.values.errors import ModelError

_MOST_COPIES = 10_000
_DEFORMABLE = ("flexcomp", "composite", "flex", "skin")


@dataclass(frozen=True)
class Compiled:
    """A model of MuJoCo, and the masses that the file states, which it was not given."""

    model: Any  # mujoco.MjModel
    masses: dict[int, MassPoint | None]  # body -> its mass; bodies that are not here have MuJoCo's


def load_mujoco() -> Any:
    """The package `mujoco`."""
    try:
        import mujoco
    except ImportError:
        raise ModelError("MJCF is read by MuJoCo, which is not installed: pip install 'freefloat[mujoco]'.") from None
    return mujoco


def compile_file(source: str | Path, findings: Findings) -> Compiled | None:
    """MuJoCo's model of a file or of XML text; None, with findings, where it has none."""
    mujoco = load_mujoco()
    root, text = parse(source, "MJCF", "mujoco", findings), read_text(source, "MJCF", Findings()) or ""
    if root is None:
        return None
    _refuse_elements(root, findings)
    if findings.errors:
        return None
    try:
        spec = mujoco.MjSpec.from_string(text) if is_xml_text(source) else mujoco.MjSpec.from_file(str(source))
        _leave_out_pictures(spec)
        _leave_out_missing_meshes(spec, None if is_xml_text(source) else Path(source), findings)
        masses = _keep_masses_aside(mujoco, spec, findings)
        return None if findings.errors else _compile(mujoco, spec, masses, findings)
    except (ValueError, TypeError, RuntimeError, UnicodeDecodeError, mujoco.FatalError) as fault:
        _report(str(fault), text, findings)
        return None


def _compile(mujoco: Any, spec: Any, masses: dict[str, MassPoint | None] | None, findings: Findings) -> Compiled | None:
    model = spec.compile()
    kept = {} if masses is None else {model.body(name).id: mass for name, mass in masses.items()}
    for what, count, numbers in (
        ("body", model.nbody, (model.body_pos, model.body_quat, model.body_ipos, model.body_inertia)),
        ("joint", model.njnt, (model.jnt_pos, model.jnt_axis, model.jnt_range, model.jnt_stiffness)),
    ):
        for index in range(count):
            if not all(np.all(np.isfinite(array[index])) for array in numbers):
                owner = f"{what} '{getattr(model, what)(index).name or index}'"
                findings.error(owner, "it has a number that is not finite. Write decimal numbers.")
    return None if findings.errors else Compiled(model, kept)


def _refuse_elements(root: ET.Element, findings: Findings) -> None:
    """What would not be a rigid tree, or a very large one."""
    for tag in _DEFORMABLE[:3]:
        for element in root.iter(tag):
            owner = f"<{tag}> '{element.get('name', '')}'"
            findings.error(owner, "deformable bodies are not modelled. Remove it.")
    copies = 1
    for element in root.iter("replicate"):
        count = element.get("count", "1").strip()
        copies *= max(int(count), 1) if re.fullmatch(r"[0-9]{1,9}", count) else 1
    if copies > _MOST_COPIES:
        findings.error("<replicate>", f"it asks for {copies} copies, more than {_MOST_COPIES}. Lower its count.")
    for element in root.iter():
        for name, value in element.attrib.items():
            if name not in ("name", "file") and re.search(r"(?i)(^|\s)[-+]?nan(\s|$)", value):
                findings.error(f"<{element.tag} {name}>", f"'{value}' is not a finite number. Write a decimal number.")


def _report(fault: str, text: str, findings: Findings) -> None:
    """MuJoCo's words, with the element that they name as the part, or the one on the line that they name."""
    lines = [line.strip() for line in fault.strip().splitlines() if line.strip()]
    said = re.sub(r"^(XML )?(Error: ?)+", "", lines[0]).rstrip(".") if lines else "it cannot be read"
    place = " ".join(lines[1:])
    line = re.search(r"line (\d+)", place)
    there = text.splitlines()[int(line.group(1)) - 1 : int(line.group(1))] if line and "<include" not in text else []
    name = re.search(r"Element name '([^']+)'", place) or re.search(r"Element '([^']+)'", place)
    name = name or re.search(r"<(\w+)", "".join(there))
    part = "MuJoCo" if name is None else f"element '{name.group(1)}'"
    findings.error(part + (f" (line {line.group(1)})" if line else ""), f"{said}, says MuJoCo. Correct it there.")


# ---- what is kept from MuJoCo


def _leave_out_pictures(spec: Any) -> None:
    """Textures, skins and keyframes: they move nothing, and a missing one would make the file unusable."""
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for parts in (spec.textures, spec.skins, spec.keys):
        for part in list(parts):
            spec.delete(part)


def _leave_out_missing_meshes(spec: Any, path: Path | None, findings: Findings) -> None:
    """Shapes whose mesh is not there are not drawn, unless a mass comes from them."""
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


def _keep_masses_aside(mujoco: Any, spec: Any, findings: Findings) -> dict[str, MassPoint | None] | None:
    """Masses that bodies state, by name; MuJoCo gets stand-ins. None where its compiler is asked to change masses."""
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
            body.name = next(n for k in range(len(taken) + 1) if (n := f"body_{number}" + "_" * k) not in taken)
            taken.add(body.name)
        if body.explicitinertial:
            masses[body.name] = _stated(body, spec, findings)
        elif not list(body.geoms):
            masses[body.name] = None
        else:
            continue
        body.explicitinertial = True
        body.mass, body.ipos, body.iquat, body.inertia = 1.0, [0.0] * 3, [1.0, 0.0, 0.0, 0.0], [1.0] * 3
        body.fullinertia = [np.nan, 0.0, 0.0, 0.0, 0.0, 0.0]
        body.ialt.type = mujoco.mjtOrientation.mjORIENTATION_QUAT
    return masses


def _stated(body: Any, spec: Any, findings: Findings) -> MassPoint | None:
    """Mass, centre and inertia as `<inertial>` has them."""
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
