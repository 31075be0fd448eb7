"""Spacecraft from MJCF, through MuJoCo, whose parser resolves includes, defaults, angles and meshes.

The reader takes: bodies with their mass, from `<inertial>` or from geoms; hinge and slide joints with position, axis,
reference, limits, damping, dry friction, armature (the rotor's inertia) and the torque limits of motors; a free joint
at the root; joints that `<equality>` couples linearly; sites, as frames. Coordinates are those of MuJoCo. A body
without a joint is merged into the one that carries it and stays as a frame; bodies are checked after that, as in URDF.

A body at whose joints `pos` is not zero moves about that point: the new body is named after the joint, `elbow.body`,
and the file's own frame keeps its name.

Not supported: ball joints, deformables. With `repair=True`, loops and tendons are left out, and a body on several
joints gets light bodies between them; each of these repairs is reported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from freefloat.model.spacecraft import Spacecraft
from freefloat.readers.assembly import Options
from freefloat.readers.findings import Finding, Findings
from freefloat.readers.mjcf.bodies import read_document
from freefloat.readers.mjcf.compiling import compile_file
from freefloat.readers.parsed import Document
from freefloat.readers.read_file import lint_file, read_file


def read_mjcf(
    source: str | Path,
    *,
    name: str | None = None,
    repair: bool = False,
    root: str | None = None,
    names: Mapping[str, str] | None = None,
    keep: Sequence[str] = (),
) -> Spacecraft:
    """Spacecraft from the path of an MJCF file, or from its XML text. Needs MuJoCo: `pip install 'freefloat[mujoco]'`.

    The options are those of `read_urdf`. A fixed body is kept by its own name.
    """
    return read_file("MJCF", _load_document, source, Options(name, repair, root, names or {}, keep))


def lint_mjcf(source: str | Path, *, repair: bool = False) -> list[Finding]:
    """Everything about an MJCF file or XML text that is wrong, suspicious or unusual, the most important first."""
    return lint_file(_load_document, source, repair=repair)


def _load_document(source: str | Path, options: Options, findings: Findings) -> Document | None:
    compiled = compile_file(source, findings)
    return None if compiled is None else read_document(compiled, findings, repair=options.repair)
