"""Spacecraft from URDF. Harmless oddities are read as meant and told; what would change the motion is refused.

What is read: links with `<inertial>`; joints of type revolute, continuous, prismatic and fixed with origin,
axis, limits, damping and dry friction; joints that mimic others. Links on fixed joints are merged into the body that
carries them and stay as named frames; bodies are judged after that. The root link becomes the body `base`; its own
name, when it is another, stays as a frame. A massless root link whose only joint is floating (the idiom
`world -> base`) is dropped. Bodies follow the file's order of joints.

What URDF has no word for stands in one element that other readers skip:

    <freefloat>
      <wheel name="wheel_x" link="base" axis="1 0 0" inertia="0.02" max_torque="0.1" max_momentum="4"/>
      <rotor joint="elbow" inertia="1.5"/>    <!-- of motor rotor and gear, seen at the joint -->
      <keep joint="panel"/>    <!-- this fixed joint's link stays a body of its own -->
    </freefloat>

`<visual>` says what a body looks like (`visuals`) and never makes a file unusable. Ignored because they do
not move anything: collision; and, with a warning of `lint_urdf`, everything else that is unknown (transmission,
gazebo, safety_controller). In `<limit>` the largest double, 1.7976931348623157e+308, means none.
"""

import dataclasses
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from freefloat.model.parts import Follow, Joint, RigidBody
from freefloat.model.readers.urdf.bodies import Cluster, clusters_of
from freefloat.model.readers.urdf.edits import free_base_name, rename_parts, take_subtree
from freefloat.model.readers.urdf.findings import Finding, Findings, name_list, summary_lines
from freefloat.model.readers.urdf.parts import Document, StatedJoint, StatedWheel, read_document
from freefloat.model.readers.urdf.suspicions import warn_of_suspicions
from freefloat.model.readers.urdf.tree import Tree, tree_of
from freefloat.model.readers.urdf.visuals import with_visuals
from freefloat.model.readers.urdf.xml import is_xml_text, parse, source_label
from freefloat.model.spacecraft import Spacecraft
from freefloat.spatial import Pose
from freefloat.values.errors import ModelError


class UrdfNote(UserWarning):
    """What was unusual about a file that was read, and every number that was repaired."""


@dataclasses.dataclass(frozen=True)
class _Options:
    name: str | None = None
    repair: bool = False
    root: str | None = None
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)
    keep: Sequence[str] = ()


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
    impossible bodies physical. What was repaired, and what was unusual and is read as meant, is said in one UrdfNote, a
    Python warning. `name` replaces the robot's own, `names` those of links and joints. `root` is the link to start
    from; what is not carried by it is left out. Links on the fixed joints `keep` stay bodies of their own.
    """
    findings = Findings()
    keep = (keep,) if isinstance(keep, str) else keep
    craft = _read(source, _Options(name, repair, root, names or {}, keep), findings)
    label = source_label(source)
    if craft is None:
        raise ModelError(_refusal(label, findings.errors))
    told = [finding for finding in findings.sorted if finding.severity in ("repair", "note")]
    if told:
        lines = [f"  {severity}: {line}" for severity, line in summary_lines(told)]
        warnings.warn("\n".join([f"URDF '{label}' is read, with these remarks:", *lines]), UrdfNote, stacklevel=2)
    return craft


def lint_urdf(source: str | Path, *, repair: bool = False) -> list[Finding]:
    """Everything about a URDF file or XML text that is wrong, suspicious or unusual, the most important first."""
    findings = Findings()
    _read(source, _Options(repair=repair), findings)
    return findings.sorted


def _refusal(label: str, errors: list[Finding]) -> str:
    start = f"URDF '{label}': "
    if len(errors) == 1:
        return start + str(errors[0])
    text = start + f"{len(errors)} faults:\n" + "\n".join(f"  {fault}" for fault in errors)
    return text + "\nread_urdf(..., repair=True) removes all of them." * all(fault.repairable for fault in errors)


def _read(source: str | Path, options: _Options, findings: Findings) -> Spacecraft | None:
    root = parse(source, findings)
    if root is None:
        return None
    rename_parts(root, options.names, findings)
    if options.root is not None:
        take_subtree(root, options.root, findings)
    free_base_name(root, findings)
    document = read_document(root, findings)
    document = dataclasses.replace(document, kept=(*document.kept, *options.keep))
    name = options.name or document.name
    if not name:
        name = "robot" if is_xml_text(source) else Path(source).stem
        findings.note("robot", f"it has no name; it is called '{name}' here.")
    tree = tree_of(document, findings, repair=options.repair)
    clusters = [] if tree is None else clusters_of(document, tree, findings, repair=options.repair)
    _check_names(document, findings)
    if tree is not None:
        warn_of_suspicions(document, tree, clusters, findings)
    if findings.errors:
        return None
    assert tree is not None
    folder = None if is_xml_text(source) else Path(source).resolve().parent
    craft = with_visuals(_assemble(name, tree, clusters), root, clusters, folder, findings)
    for wheel in document.wheels:
        craft = _with_wheel(craft, wheel, clusters, findings)
    for joint, inertia in document.rotors.items():
        craft = craft.with_value(f"{joint}.rotor_inertia", inertia)
    return None if findings.errors else craft


def _check_names(document: Document, findings: Findings) -> None:
    taken = {
        "base": "the base",
        **{joint.name: "a joint" for joint in document.joints if joint.kind != "floating"},
    }
    for wheel in document.wheels:
        if wheel.name in taken:
            findings.error(f"wheel '{wheel.name}'", f"that is the name of {taken[wheel.name]} too. Rename the wheel.")
        if wheel.link not in document.links:
            known = name_list(document.links)
            findings.error(f"wheel '{wheel.name}'", f"its link '{wheel.link}' does not exist. Links: {known}.")
    moving = [joint.name for joint in document.joints if joint.kind not in ("fixed", "floating")]
    for name in document.rotors:
        if name not in moving:
            findings.error("<rotor>", f"there is no moving joint '{name}'. Moving joints: {name_list(moving)}.")
    fixed = [joint.name for joint in document.joints if joint.kind == "fixed"]
    for name in document.kept:
        if name and name not in fixed:
            known = name_list(fixed)
            findings.error("<keep>", f"there is no fixed joint '{name}'. Fixed joints: {known}.")


def _assemble(name: str, tree: Tree, clusters: list[Cluster]) -> Spacecraft:
    """Bodies and joints in tree order, then the links that became frames."""
    bodies = {link: cluster.name for cluster in clusters for link in cluster.placements}
    poses = {link: X_HL for cluster in clusters for link, X_HL in cluster.placements.items()}
    base, *others = clusters
    craft = Spacecraft(name=name, bodies=(_rigid_body(base),))
    for cluster in others:
        stated = cluster.joint
        assert stated is not None  # only the base has none
        craft = craft.with_body(_rigid_body(cluster), _joint(stated, bodies, poses))
    for link in (tree.root, *(joint.child for joint in tree.joints)):
        if link not in craft.body_names:
            craft = craft.with_frame(link, body=bodies[link], at=poses[link])
    return craft


def _rigid_body(cluster: Cluster) -> RigidBody:
    stated = cluster.inertial
    assert stated is not None  # noted as a fault otherwise
    return RigidBody(name=cluster.name, mass=stated.mass, com=stated.com, inertia=stated.inertia)


def _joint(stated: StatedJoint, bodies: dict[str, str], poses: dict[str, Pose]) -> Joint:
    mimic = stated.mimic
    return Joint(
        name=stated.name,
        kind="revolute" if stated.kind == "continuous" else stated.kind,  # pyright: ignore[reportArgumentType]
        parent=bodies[stated.parent],
        X_PJ=poses[stated.parent] @ stated.X_PJ,
        axis=stated.axis,
        damping=stated.damping,
        friction=stated.friction,
        limits=stated.limits,
        follows=None if mimic is None else Follow(mimic.leader, mimic.ratio, mimic.offset),
    )


def _with_wheel(craft: Spacecraft, wheel: StatedWheel, clusters: list[Cluster], findings: Findings) -> Spacecraft:
    """A wheel is stated in the axes of a link, which may be a frame of a body by now."""
    cluster = next(c for c in clusters if wheel.link in c.placements)
    try:
        return craft.with_wheel(
            wheel.name,
            body=cluster.name,
            axis=np.asarray(cluster.placements[wheel.link].R) @ wheel.axis,
            inertia=wheel.inertia,
            max_torque=wheel.max_torque,
            max_momentum=wheel.max_momentum,
        )
    except ModelError as fault:
        findings.error(f"wheel '{wheel.name}'", str(fault).removeprefix(f"Wheel '{wheel.name}': "))
        return craft
