"""Spacecraft from URDF. Harmless oddities are read as meant and reported; faults that change the motion are errors.

The reader takes: links with `<inertial>`; joints of type revolute, continuous, prismatic and fixed with origin,
axis, limits, damping and dry friction; joints that mimic others. Links on fixed joints are merged into the body that
carries them and stay as named frames; bodies are checked after that. The root link becomes the body `base`; its own
name, when it is another, stays as a frame. A massless root link whose only joint is floating (the idiom
`world -> base`) is dropped. Bodies follow the file's order of joints.

Parts that URDF has no element for stand in one element that other readers skip:

    <freefloat>
      <wheel name="wheel_x" link="base" axis="1 0 0" inertia="0.02" max_torque="0.1" max_momentum="4"/>
      <rotor joint="elbow" inertia="1.5"/>    <!-- of motor rotor and gear, seen at the joint -->
      <keep joint="panel"/>    <!-- this fixed joint's link stays a body of its own -->
    </freefloat>

`<visual>` gives the shapes of a body (`looks`) and never makes a file unusable. Ignored, because it does not act on the
motion: collision; and, with a warning of `lint_urdf`, everything else that is unknown (transmission, gazebo,
safety_controller). In `<limit>` the largest double, 1.7976931348623157e+308, means no limit.
"""

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from freefloat.model.spacecraft import Spacecraft
from freefloat.readers.assembly import Options
from freefloat.readers.findings import Finding
from freefloat.readers.read_file import lint_file, load_xml, read_file
from freefloat.readers.urdf.parts import read_document

_load_document = partial(load_xml, read_document, "URDF", "robot")


def read_urdf(
    source: str | Path,
    *,
    name: str | None = None,
    repair: bool = False,
    root: str | None = None,
    names: Mapping[str, str] | None = None,
    keep: Sequence[str] = (),
) -> Spacecraft:
    """Spacecraft from the path of a URDF file, or from its XML text (a string that starts with `<`).

    All faults of the file are reported together, in one ModelError. `repair` makes the smallest change that makes
    impossible bodies physical. Repairs, and unusual contents that are read as meant, are listed in one
    ReadingNote, a Python warning. `name` replaces the robot's own, `names` those of links and joints. `root` is the
    link to start from; what it does not carry is left out. Links on the fixed joints `keep` stay bodies of their own.
    """
    return read_file("URDF", _load_document, source, Options(name, repair, root, names or {}, keep))


def lint_urdf(source: str | Path, *, repair: bool = False) -> list[Finding]:
    """Everything about a URDF file or XML text that is wrong, suspicious or unusual, the most important first."""
    return lint_file(_load_document, source, repair=repair)
