"""Spacecraft from SDF, where it describes one tree.

The reader takes: one `<model>`, by itself or in a `<world>`; links with `<inertial>` and `<visual>`; revolute,
continuous, prismatic and fixed joints with axis, limits, damping, dry friction and `<mimic>`; `<frame>`s; poses
`relative_to` any link, joint or frame. A joint to `world` holds the model to the ground: here it floats. By the
specification a link without `<inertial>` has 1 kg and 1 kg m2, which is reported.

A link whose joint does not sit at its own frame moves about the joint: the new body is named after the joint,
`elbow.body`, and the file's own frame keeps its name. Not supported: other joints, and nested or included models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from freefloat.model.spacecraft import Spacecraft
from freefloat.readers.assembly import Options
from freefloat.readers.findings import Finding
from freefloat.readers.read_file import lint_file, load_xml, read_file
from freefloat.readers.sdf.parts import read_document

_load_document = partial(load_xml, read_document, "SDF", "sdf")


def read_sdf(
    source: str | Path,
    *,
    name: str | None = None,
    repair: bool = False,
    root: str | None = None,
    names: Mapping[str, str] | None = None,
    keep: Sequence[str] = (),
) -> Spacecraft:
    """Spacecraft from the path of an SDF file, or from its XML text. The options are those of `read_urdf`."""
    return read_file("SDF", _load_document, source, Options(name, repair, root, names or {}, keep))


def lint_sdf(source: str | Path, *, repair: bool = False) -> list[Finding]:
    """Everything about an SDF file or XML text that is wrong, suspicious or unusual, the most important first."""
    return lint_file(_load_document, source, repair=repair)
