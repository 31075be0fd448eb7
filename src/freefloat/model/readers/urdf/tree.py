"""From links and joints to a tree: one root, no cycle, parents first, and which links move as one body."""

import heapq
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from freefloat.model.physical_checks import inertia_faults
from freefloat.model.readers.urdf.parts import Document, MassPoint, StatedJoint
from freefloat.model.readers.urdf.xml import Findings
from freefloat.spatial import Pose


@dataclass(frozen=True)
class Tree:
    """The joints below the root link, parents before children, otherwise in the file's order."""

    root: str
    joints: tuple[StatedJoint, ...]


@dataclass(frozen=True)
class Cluster:
    """Links that move as one body: `head` on the joint, the others fixed to it."""

    head: str
    joint: StatedJoint | None  # None for the base
    placements: dict[str, Pose]  # link name -> its pose in the head's frame
    inertial: MassPoint | None


def tree_of(document: Document, findings: Findings) -> Tree | None:
    """The tree of a document, or None after the reasons why it is none have been noted."""
    before = len(findings.errors)
    _check_ends(document, findings)
    _check_parents(document, findings)
    if not document.links and document.whole:
        findings.error("robot", "it has no <link>. Add at least one with <inertial>.")
    if len(findings.errors) > before or not document.whole:
        return None
    children = {joint.child for joint in document.joints}
    roots = [name for name in document.links if name not in children]
    if len(roots) > 1:
        findings.error(
            "robot",
            f"{len(roots)} links have no parent: {', '.join(roots)}. A spacecraft is one tree: "
            "join them by joints, or put them into files of their own.",
        )
        return None
    ordered = _parents_first(roots, document.joints)
    if len(ordered) < len(document.joints):
        reached = {joint.name for joint in ordered}
        cycle = _cycle([joint for joint in document.joints if joint.name not in reached])
        findings.error("robot", f"the joints form a cycle: {' -> '.join(cycle)}. Remove one joint of it.")
        return None
    return _without_world(document, Tree(roots[0], ordered), findings)


def _check_ends(document: Document, findings: Findings) -> None:
    for joint in document.joints:
        for end, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in document.links:
                known = ", ".join(document.links) or "none"
                findings.error(f"joint '{joint.name}'", f"its {end} link '{link}' does not exist. Links: {known}.")


def _check_parents(document: Document, findings: Findings) -> None:
    carried: dict[str, list[str]] = defaultdict(list)
    for joint in document.joints:
        carried[joint.child].append(joint.name)
    for link, joints in carried.items():
        if len(joints) > 1:
            findings.error(
                f"link '{link}'",
                f"it is the child of {len(joints)} joints: {', '.join(joints)}. "
                "Closed loops are not modelled: keep one of them.",
            )


def _parents_first(roots: list[str], joints: tuple[StatedJoint, ...]) -> tuple[StatedJoint, ...]:
    """The file's order where it has parents first already; otherwise the nearest to it."""
    leaving: dict[str, list[int]] = defaultdict(list)
    for index, joint in enumerate(joints):
        leaving[joint.parent].append(index)
    ready = [index for root in roots for index in leaving[root]]
    heapq.heapify(ready)
    ordered = []
    while ready:
        joint = joints[heapq.heappop(ready)]
        ordered.append(joint)
        for index in leaving[joint.child]:
            heapq.heappush(ready, index)
    return tuple(ordered)


def _cycle(joints: list[StatedJoint]) -> list[str]:
    """The links along a cycle; every one of these joints is on one or below one."""
    up = {joint.child: joint.parent for joint in joints}
    path = [joints[0].child]
    while path[-1] not in path[:-1]:
        path.append(up[path[-1]])
    return path[path.index(path[-1]) :][::-1]


def _without_world(document: Document, tree: Tree, findings: Findings) -> Tree:
    """Drop the idiom `world --floating--> base`: our base floats anyway. Any other floating joint is a fault.

    A link named `world` on a fixed joint is bolted to the ground, which no spacecraft is: a fault too.
    """
    first = [joint for joint in tree.joints if joint.parent == tree.root]
    massless = document.links[tree.root].inertial is None
    if massless and len(first) == 1 and first[0].kind == "floating":
        if np.any(first[0].X_PJ.p) or np.any(np.asarray(first[0].X_PJ.R) - np.eye(3)):
            findings.warn(
                f"joint '{first[0].name}'",
                "its <origin> is ignored: where the base starts is part of the state.",
            )
        tree = Tree(first[0].child, tree.joints[1:])
    elif massless and tree.root == "world":
        findings.error(
            "link 'world'",
            "it holds the robot to the ground, but a spacecraft's base floats free. "
            "Remove link 'world' and its joint, or make that joint floating.",
        )
    for joint in tree.joints:
        if joint.kind == "floating":
            findings.error(
                f"joint '{joint.name}'",
                "type 'floating' is read only from a massless root link, as its only joint. "
                "Put the part that floats into a file of its own.",
            )
    return tree


def clusters_of(document: Document, tree: Tree, findings: Findings) -> list[Cluster]:
    """Which links move as one, in tree order; impossible bodies are reported."""
    heads = {tree.root: tree.root}
    carriers: dict[str, StatedJoint | None] = {tree.root: None}
    placements: dict[str, dict[str, Pose]] = {tree.root: {tree.root: Pose()}}
    for joint in tree.joints:
        if joint.kind == "fixed" and joint.name not in document.kept:
            head = heads[joint.child] = heads[joint.parent]
            placements[head][joint.child] = placements[head][joint.parent] @ joint.X_PJ
        else:
            heads[joint.child] = joint.child
            carriers[joint.child] = joint
            placements[joint.child] = {joint.child: Pose()}
    clusters = []
    for head, joint in carriers.items():
        masses = [
            stated.to_A(X_HL)
            for link, X_HL in placements[head].items()
            if (stated := document.links[link].inertial) is not None
        ]
        cluster = Cluster(head, joint, placements[head], combine_masses(masses) if masses else None)
        _check_body(cluster, len(masses), findings)
        clusters.append(cluster)
    return clusters


def combine_masses(masses: list[MassPoint]) -> MassPoint:
    """Rigid union, all given in the same axes: about the common centre of mass, so that no digits cancel."""
    if len(masses) == 1:
        return masses[0]
    total = sum(m.mass for m in masses)
    com = np.sum([m.mass * m.com for m in masses], axis=0) / total
    inertia = np.zeros((3, 3))
    for m in masses:
        d = m.com - com
        inertia = inertia + m.inertia + m.mass * ((d @ d) * np.eye(3) - np.outer(d, d))
    return MassPoint(total, com, inertia)


def _check_body(cluster: Cluster, members: int, findings: Findings) -> None:
    owner = f"link '{cluster.head}'"
    moves = "is the free base" if cluster.joint is None else f"moves on joint '{cluster.joint.name}'"
    if any(finding.part in {f"link '{name}'" for name in cluster.placements} for finding in findings.errors):
        return  # said already, link by link
    if cluster.inertial is None:
        remedy = "Add <inertial> with mass and inertia" + (
            "." if cluster.joint is None else f", or make joint '{cluster.joint.name}' fixed."
        )
        findings.error(owner, f"it {moves} but has no mass. {remedy}")
        return
    for fault in inertia_faults(cluster.inertial.mass, cluster.inertial.inertia):
        merged = f" together with the {members} links fixed together" if members > 1 else ""
        findings.error(owner, f"it {moves}{merged}, but its {fault}. Give it a true inertia in <inertial>.")
