"""MuJoCo compiles the file, without the parts that it would check more strictly than needed.

MuJoCo rejects impossible inertias body by body, before fixed bodies are merged, and files whose meshes, textures or
keyframes are missing or wrong. So this module keeps the masses of the file aside and checks them later, and leaves out
pictures and meshes that cannot be read.
"""

from __future__ import annotations

import re
import warnings
import xml.etree.ElementTree as ET
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.readers.elements import is_xml_text, parse, read_text
from freefloat.readers.findings import Findings
from freefloat.readers.mjcf.masses import keep_masses_aside
from freefloat.readers.mjcf.missing_files import leave_out_missing_meshes, leave_out_pictures
from freefloat.readers.mujoco_package import load_mujoco
from freefloat.readers.parsed import MassPoint

_MOST_COPIES = 10_000
_DEFORMABLE = ("flexcomp", "composite", "flex")


@dataclass(frozen=True)
class CompiledModel:
    """A model of MuJoCo, and the masses that the file states, which MuJoCo did not get."""

    model: Any  # mujoco.MjModel
    masses: dict[int, MassPoint | None]  # body -> its mass; bodies that are not here have MuJoCo's


def compile_file(source: str | Path, findings: Findings) -> CompiledModel | None:
    """MuJoCo's model of a file or of XML text; None, with findings, after an error."""
    mujoco = load_mujoco("MJCF is read")
    root, text = parse(source, "MJCF", "mujoco", findings), read_text(source, "MJCF", Findings()) or ""
    if root is None:
        return None
    _reject_elements(root, findings)
    if findings.errors:
        return None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            spec = mujoco.MjSpec.from_string(text) if is_xml_text(source) else mujoco.MjSpec.from_file(str(source))
            spec.compiler.fusestatic = spec.compiler.discardvisual = False  # merging and drawing are done here
            leave_out_pictures(spec)
            leave_out_missing_meshes(spec, None if is_xml_text(source) else Path(source), findings)
            masses = keep_masses_aside(mujoco, spec, findings)
            compiled = None if findings.errors else _compile(spec, masses, findings)
        except (ValueError, TypeError, RuntimeError, mujoco.FatalError) as fault:
            _report(str(fault), text, findings)
            compiled = None
    for warning in caught:
        findings.warn("MuJoCo", str(warning.message), minor=True)
    return compiled


def _compile(spec: Any, masses: dict[str, MassPoint | None] | None, findings: Findings) -> CompiledModel | None:
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
    return None if findings.errors else CompiledModel(model, kept)


def _reject_elements(root: ET.Element, findings: Findings) -> None:
    """Report elements that are no rigid tree, or that make a very large one."""
    for tag in _DEFORMABLE:
        for element in root.iter(tag):
            owner = f"<{tag}> '{element.get('name', '')}'"
            findings.error(owner, "deformable bodies are not modelled. Remove it.")
    copies = _copies(root)
    if copies > _MOST_COPIES:
        findings.error("<replicate>", f"it asks for {copies} copies, more than {_MOST_COPIES}. Lower its count.")
    for element in root.iter():
        for name, value in element.attrib.items():
            if name not in ("name", "file") and re.search(r"(?i)(^|\s)[-+]?nan(\s|$)", value):
                findings.error(f"<{element.tag} {name}>", f"'{value}' is not a finite number. Write a decimal number.")


def _copies(root: ET.Element) -> int:
    """Number of copies that `<replicate>` elements make, with nested ones multiplied."""
    total, waiting = 0, [(root, 1)]
    while waiting:
        element, times = waiting.pop()
        if element.tag == "replicate":
            count = element.get("count", "1").strip()
            times *= max(int(count), 1) if re.fullmatch(r"[0-9]{1,9}", count) else 1
            total += times
        waiting += [(child, times) for child in element]
    return total


def _report(fault: str, text: str, findings: Findings) -> None:
    """Report MuJoCo's message, with the element that it names, or the element on the line that it names."""
    lines = [line.strip() for line in fault.strip().splitlines() if line.strip()]
    message = re.sub(r"^(XML )?(Error: ?)+", "", lines[0]).rstrip(".") if lines else ""
    if not lines or "unknown exception" in message:
        findings.error("<mujoco>", "MuJoCo stopped and does not say why. Remove parts of the file to find the place.")
        return
    place = " ".join(lines[1:])
    line = re.search(r"line (\d+)", place)
    there = text.splitlines()[int(line.group(1)) - 1 : int(line.group(1))] if line and "<include" not in text else []
    name = re.search(r"Element name '([^']+)'", place) or re.search(r"Element '([^']+)'", place)
    name = name or re.search(r"<(\w+)", "".join(there))
    part = "MuJoCo" if name is None else f"element '{name.group(1)}'"
    findings.error(part + (f" (line {line.group(1)})" if line else ""), f"{message}, says MuJoCo. Correct it there.")
