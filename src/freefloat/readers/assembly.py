"""A spacecraft from the contents of a file, the same way for every format."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from freefloat.model.parts import Follow, Joint, RigidBody
from freefloat.model.shapes import Shape, triple
from freefloat.model.spacecraft import Spacecraft
from freefloat.readers.body_checks import Cluster, clusters_of
from freefloat.readers.edits import free_base_name, rename_parts, take_subtree
from freefloat.readers.elements import is_xml_text
from freefloat.readers.findings import Findings, name_list
from freefloat.readers.parsed import Document, StatedJoint, StatedWheel
from freefloat.readers.tree import Tree, tree_of
from freefloat.readers.unit_lint import warn_of_suspicions
from freefloat.spatial import Pose
from freefloat.values.errors import ModelError


@dataclasses.dataclass(frozen=True)
class Options:
    """Options that the caller of a reader gives."""

    name: str | None = None  # of the spacecraft, instead of the file's
    repair: bool = False  # make impossible bodies physical
    root: str | None = None  # link to start from
    names: Mapping[str, str] = dataclasses.field(default_factory=dict)  # of links and joints
    keep: Sequence[str] | str = ()  # fixed joints whose links stay bodies of their own

    @property
    def kept_joints(self) -> tuple[str, ...]:
        """Names of the fixed joints to keep, also where a single name was given."""
        return (self.keep,) if isinstance(self.keep, str) else tuple(self.keep)


def assemble(document: Document, source: str | Path, options: Options, findings: Findings) -> Spacecraft | None:
    """The spacecraft that a document describes; None, with findings of errors, if that is not possible."""
    document = rename_parts(document, options.names, findings)
    if options.root is not None:
        document = take_subtree(document, options.root, findings)
    document = free_base_name(document, findings)
    document = dataclasses.replace(document, kept=(*document.kept, *options.kept_joints))
    name = options.name or document.name
    if not name:
        name = "robot" if is_xml_text(source) else Path(source).stem
        findings.note("robot", f"it has no name; it is called '{name}' here.")
    tree = tree_of(document, findings, repair=options.repair)
    clusters = [] if tree is None else clusters_of(document, tree, findings, repair=options.repair)
    _check_names(document, findings)
    if tree is not None:
        _note_springs(tree, findings)
        warn_of_suspicions(document, tree, clusters, findings)
    if findings.errors:
        return None
    assert tree is not None
    craft = _with_looks(_join_bodies(name, tree, clusters), document, clusters, findings)
    for wheel in document.wheels:
        craft = _with_wheel(craft, wheel, clusters, findings)
    for joint, inertia in document.rotors.items():
        craft = craft.with_value(f"{joint}.rotor_inertia", inertia)
    return None if findings.errors else craft


def _check_names(document: Document, findings: Findings) -> None:
    taken = {"base": "the base", **{joint.name: "a joint" for joint in document.joints if joint.kind != "floating"}}
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


def _note_springs(tree: Tree, findings: Findings) -> None:
    """Note the effects to give for the file's springs, which are not part of the model."""
    springs = [
        f"ff.effects.JointSpring('{joint.name}', stiffness={joint.stiffness:.9g}, rest={joint.rest:.9g})"
        for joint in tree.joints
        if joint.stiffness > 0.0 and joint.kind != "fixed"
    ]
    if springs:
        findings.note("robot", f"springs are no part of the model; give to the simulation: {', '.join(springs)}.")


def _join_bodies(name: str, tree: Tree, clusters: list[Cluster]) -> Spacecraft:
    """The spacecraft of bodies and joints in tree order, and of frames for the links that were merged."""
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
    """Copy of a spacecraft with a wheel, whose axis the file gives in the axes of a link, body or frame."""
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


def _with_looks(craft: Spacecraft, document: Document, clusters: list[Cluster], findings: Findings) -> Spacecraft:
    for cluster in clusters:
        shapes = [
            _move_shape(shape, X_HL)
            for link, X_HL in cluster.placements.items()
            for shape in document.links[link].looks(findings)
        ]
        if shapes:
            craft = craft.with_shapes(cluster.name, *shapes)
    return craft


def _move_shape(shape: Shape, X_HL: Pose) -> Shape:
    R, p = np.asarray(X_HL.R), np.asarray(X_HL.p)
    x, y, z = R @ np.array(shape.rotation)
    return dataclasses.replace(
        shape, position=triple(R @ np.array(shape.position) + p), rotation=(triple(x), triple(y), triple(z))
    )
