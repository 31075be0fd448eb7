"""The tree of links and joints: one root, no cycle, parents first, leaders before the joints that mimic them."""

import heapq
from collections import defaultdict
from dataclasses import dataclass

import numpy as np

from freefloat.readers.findings import Findings, name_list
from freefloat.readers.mimics import resolve_mimics
from freefloat.readers.parsed import Document, StatedJoint


@dataclass(frozen=True)
class Tree:
    """The joints below the root link, parents before children, otherwise in the file's order."""

    root: str
    joints: tuple[StatedJoint, ...]


def tree_of(document: Document, findings: Findings, *, repair: bool) -> Tree | None:
    """Tree of a document; None, after a report of the reasons, if it is not a tree."""
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
            f"{len(roots)} links have no parent: {name_list(roots)}. A spacecraft is one tree: "
            "join them by joints, or put them into files of their own.",
        )
        return None
    ordered = _parents_first(roots, document.joints)
    if len(ordered) < len(document.joints):
        reached = {joint.name for joint in ordered}
        cycle = _cycle([joint for joint in document.joints if joint.name not in reached])
        findings.error("robot", f"the joints form a cycle: {' -> '.join(cycle)}. Remove one joint of it.")
        return None
    tree = _without_world(document, Tree(roots[0], ordered), findings)
    return Tree(tree.root, _leaders_first(tree.root, resolve_mimics(tree.joints, findings, repair=repair), findings))


def _check_ends(document: Document, findings: Findings) -> None:
    for joint in document.joints:
        for end, link in (("parent", joint.parent), ("child", joint.child)):
            if link not in document.links:
                known = name_list(document.links)
                findings.error(f"joint '{joint.name}'", f"its {end} link '{link}' does not exist. Links: {known}.")


def _check_parents(document: Document, findings: Findings) -> None:
    carried: dict[str, list[str]] = defaultdict(list)
    for joint in document.joints:
        carried[joint.child].append(joint.name)
    for link, joints in carried.items():
        if len(joints) > 1:
            findings.error(
                f"link '{link}'",
                f"it is the child of {len(joints)} joints: {name_list(joints)}. "
                "Closed loops are not modelled: keep one of them.",
            )


def _parents_first(roots: list[str], joints: tuple[StatedJoint, ...]) -> tuple[StatedJoint, ...]:
    """Joints with parents first, in the order of the file where that is possible."""
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


def _leaders_first(root: str, joints: tuple[StatedJoint, ...], findings: Findings) -> tuple[StatedJoint, ...]:
    """Joints in the same order, except that joints, and all that they carry, come after the joints that they mimic."""
    ordered: list[StatedJoint] = []
    reached, placed = {root}, set[str]()
    waiting = list(joints)
    while waiting:
        ready = next(
            (j for j in waiting if j.parent in reached and (j.mimic is None or j.mimic.leader in placed)), None
        )
        if ready is None:
            stuck = next(j for j in waiting if j.parent in reached and j.mimic is not None)
            assert stuck.mimic is not None
            findings.error(
                f"joint '{stuck.name}'",
                f"it mimics '{stuck.mimic.leader}', which it carries itself. Let that one mimic this one instead.",
            )
            return joints
        waiting.remove(ready)
        ordered.append(ready)
        reached.add(ready.child)
        placed.add(ready.name)
    return tuple(ordered)


def _cycle(joints: list[StatedJoint]) -> list[str]:
    """Links along a cycle, from joints that are all on a cycle or below one."""
    up = {joint.child: joint.parent for joint in joints}
    path, seen = [joints[0].child], set[str]()
    while path[-1] not in seen:
        seen.add(path[-1])
        path.append(up[path[-1]])
    return path[path.index(path[-1]) :][::-1]


def _without_world(document: Document, tree: Tree, findings: Findings) -> Tree:
    """Tree without the idiom `world --floating--> base`, as the base always floats. Other floating joints are errors.

    A massless link named `world` becomes a frame of the base: the robot that it held to the ground floats.
    """
    first = [joint for joint in tree.joints if joint.parent == tree.root]
    massless = document.links[tree.root].inertial is None
    if massless and len(first) == 1 and first[0].kind == "floating":
        if np.any(first[0].X_PJ.p) or np.any(np.asarray(first[0].X_PJ.R) - np.eye(3)):
            findings.warn(
                f"joint '{first[0].name}'", "its <origin> is ignored: where the base starts is part of the state."
            )
        tree = Tree(first[0].child, tree.joints[1:])
    elif massless and tree.root == "world":
        findings.note(
            "link 'world'", "it held the robot to the ground; here the robot floats, and 'world' is a frame of it."
        )
    for joint in tree.joints:
        if joint.kind == "floating":
            findings.error(
                f"joint '{joint.name}'",
                "type 'floating' is read only from a massless root link, as its only joint. "
                "Put the part that floats into a file of its own, or start from one part: root='...'.",
            )
    return tree
