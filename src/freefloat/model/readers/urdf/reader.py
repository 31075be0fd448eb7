"""Spacecraft from URDF. Nothing is guessed: what would change the motion and is not modelled is an error.

What is read: links with `<inertial>`; joints of type revolute, continuous, prismatic and fixed with origin,
axis, limits and damping. Links on fixed joints are merged into the body that carries them and stay as named
frames. The root link becomes the body `base`; its own name, when it is another, stays as a frame. A massless
root link whose only joint is floating (the idiom `world -> base`) is dropped. Bodies follow the file's
order of joints.

What URDF has no word for stands in one element that other readers skip:

    <freefloat>
      <wheel name="wheel_x" link="base" axis="1 0 0" inertia="0.02" max_torque="0.1" max_momentum="4"/>
      <keep joint="panel"/>    <!-- this fixed joint's link stays a body of its own -->
    </freefloat>

`<visual>` says what a body looks like (`visuals`) and never makes a file unusable. Ignored because they do
not move anything: collision; and, with a warning of `lint_urdf`, everything else that is unknown (transmission,
gazebo, safety_controller). In `<limit>` the largest double, 1.7976931348623157e+308, means none.
"""

from pathlib import Path

import numpy as np

from freefloat.model.parts import Joint, RigidBody
from freefloat.model.readers.urdf.parts import Document, StatedJoint, StatedWheel, read_document
from freefloat.model.readers.urdf.suspicions import warn_of_suspicions
from freefloat.model.readers.urdf.tree import Cluster, Tree, clusters_of, tree_of
from freefloat.model.readers.urdf.visuals import with_visuals
from freefloat.model.readers.urdf.xml import Finding, Findings, is_xml_text, parse, source_label
from freefloat.model.spacecraft import Spacecraft
from freefloat.spatial import Pose
from freefloat.values.errors import ModelError


def read_urdf(source: str | Path, *, name: str | None = None) -> Spacecraft:
    """Spacecraft from the path of a URDF file, or from its XML text (a string that starts with `<`).

    `name` replaces the robot's own. All faults of the file are reported together, in one ModelError.
    """
    findings = Findings()
    craft = _read(source, name, findings)
    if craft is None:
        faults = [str(finding) for finding in findings.errors]
        start = f"URDF '{source_label(source)}': "
        if len(faults) == 1:
            raise ModelError(start + faults[0])
        raise ModelError(start + f"{len(faults)} faults:\n" + "\n".join(f"  {fault}" for fault in faults))
    return craft


def lint_urdf(source: str | Path) -> list[Finding]:
    """Everything wrong (errors) or suspicious (warnings) about a URDF file or XML text, errors first."""
    findings = Findings()
    _read(source, None, findings)
    return sorted(findings.items, key=lambda finding: finding.severity)


def _read(source: str | Path, name: str | None, findings: Findings) -> Spacecraft | None:
    root = parse(source, findings)
    if root is None:
        return None
    document = read_document(root, findings)
    name = name or document.name
    if not name:
        findings.error("robot", 'it has no name. Write <robot name="...">, or read it with name="...".')
    tree = tree_of(document, findings)
    clusters = [] if tree is None else clusters_of(document, tree, findings)
    _check_names(document, tree, findings)
    if tree is not None:
        warn_of_suspicions(document, tree, clusters, findings)
    if findings.errors:
        return None
    assert tree is not None
    folder = None if is_xml_text(source) else Path(source).resolve().parent
    craft = with_visuals(_assemble(name, tree, clusters), root, clusters, folder, findings)
    for wheel in document.wheels:
        craft = _with_wheel(craft, wheel, clusters, findings)
    return None if findings.errors else craft


def _check_names(document: Document, tree: Tree | None, findings: Findings) -> None:
    if tree is not None and tree.root != "base" and "base" in document.links:
        findings.error("link 'base'", f"that name is kept for the root, which is '{tree.root}'. Rename link 'base'.")
    taken = {
        "base": "the base",
        **{joint.name: "a joint" for joint in document.joints if joint.kind != "floating"},
    }
    for joint in document.joints:
        if joint.name == "base" and joint.kind != "floating":
            findings.error("joint 'base'", "that name is kept for the velocity of the base. Rename the joint.")
    for wheel in document.wheels:
        if wheel.name in taken:
            findings.error(f"wheel '{wheel.name}'", f"that is the name of {taken[wheel.name]} too. Rename the wheel.")
        if wheel.link not in document.links:
            known = ", ".join(document.links) or "none"
            findings.error(f"wheel '{wheel.name}'", f"its link '{wheel.link}' does not exist. Links: {known}.")
    fixed = [joint.name for joint in document.joints if joint.kind == "fixed"]
    for name in document.kept:
        if name and name not in fixed:
            known = ", ".join(fixed) or "none"
            findings.error("<keep>", f"there is no fixed joint '{name}'. Fixed joints: {known}.")


def _assemble(name: str, tree: Tree, clusters: list[Cluster]) -> Spacecraft:
    """Bodies and joints in tree order, then the links that became frames."""
    bodies = {link: _body_name(cluster) for cluster in clusters for link in cluster.placements}
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


def _body_name(cluster: Cluster) -> str:
    return "base" if cluster.joint is None else cluster.head


def _rigid_body(cluster: Cluster) -> RigidBody:
    stated = cluster.inertial
    assert stated is not None  # noted as a fault otherwise
    return RigidBody(name=_body_name(cluster), mass=stated.mass, com=stated.com, inertia=stated.inertia)


def _joint(stated: StatedJoint, bodies: dict[str, str], poses: dict[str, Pose]) -> Joint:
    return Joint(
        name=stated.name,
        kind="revolute" if stated.kind == "continuous" else stated.kind,  # pyright: ignore[reportArgumentType]
        parent=bodies[stated.parent],
        X_PJ=poses[stated.parent] @ stated.X_PJ,
        axis=stated.axis,
        damping=stated.damping,
        limits=stated.limits,
    )


def _with_wheel(craft: Spacecraft, wheel: StatedWheel, clusters: list[Cluster], findings: Findings) -> Spacecraft:
    """A wheel is stated in the axes of a link, which may be a frame of a body by now."""
    cluster = next(c for c in clusters if wheel.link in c.placements)
    try:
        return craft.with_wheel(
            wheel.name,
            body=_body_name(cluster),
            axis=np.asarray(cluster.placements[wheel.link].R) @ wheel.axis,
            inertia=wheel.inertia,
            max_torque=wheel.max_torque,
            max_momentum=wheel.max_momentum,
        )
    except ModelError as fault:
        findings.error("", str(fault))
        return craft
