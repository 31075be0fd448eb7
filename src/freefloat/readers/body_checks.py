"""Links that move as one body: merged, then checked, and repaired if the caller wants that."""

from dataclasses import dataclass

import numpy as np

from freefloat.model.physical_checks import inertia_faults
from freefloat.readers.findings import Findings
from freefloat.readers.parsed import Document, MassPoint, StatedJoint
from freefloat.readers.repairs import LEAST_MASS, describe_changes, make_physical
from freefloat.readers.tree import Tree
from freefloat.spatial import Pose


@dataclass(frozen=True)
class Cluster:
    """Links that move as one body: `head` on the joint, the others fixed to it."""

    head: str
    joint: StatedJoint | None  # None for the base
    placements: dict[str, Pose]  # link name -> its pose in the head's frame
    inertial: MassPoint | None

    @property
    def name(self) -> str:
        """Name of the body."""
        return "base" if self.joint is None else self.head


def clusters_of(document: Document, tree: Tree, findings: Findings, *, repair: bool) -> list[Cluster]:
    """Groups of links that move as one body, in tree order; impossible bodies are reported."""
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
        parts = {
            link: stated.to_A(X_HL)
            for link, X_HL in placements[head].items()
            if (stated := document.links[link].inertial) is not None
        }
        merged = combine_masses(list(parts.values())) if parts else None
        cluster = Cluster(head, joint, placements[head], merged)
        clusters.append(_judge_body(cluster, parts, findings, repair=repair))
    return clusters


def combine_masses(masses: list[MassPoint]) -> MassPoint:
    """Union of masses in the same axes, about the common centre of mass, so that no digits cancel."""
    if len(masses) == 1:
        return masses[0]
    total = sum(m.mass for m in masses)
    if total == 0.0:
        return MassPoint(0.0, masses[0].com, np.sum([m.inertia for m in masses], axis=0))
    com = np.sum([m.mass * m.com for m in masses], axis=0) / total
    inertia = np.zeros((3, 3))
    for m in masses:
        d = m.com - com
        inertia = inertia + m.inertia + m.mass * ((d @ d) * np.eye(3) - np.outer(d, d))
    return MassPoint(total, com, inertia)


def _judge_body(cluster: Cluster, parts: dict[str, MassPoint], findings: Findings, *, repair: bool) -> Cluster:
    """The cluster, repaired with `repair` where needed; otherwise its faults are reported as errors with remedies."""
    if any(finding.part in {f"link '{name}'" for name in cluster.placements} for finding in findings.errors):
        return cluster  # already reported, link by link
    owner, stated = f"link '{cluster.head}'", cluster.inertial
    faults = ["it has no mass"] if stated is None else inertia_faults(stated.mass, stated.inertia)
    if not faults:
        _note_impossible_parts(cluster, parts, findings)
        return cluster
    moves = "is the free base" if cluster.joint is None else f"moves on joint '{cluster.joint.name}'"
    merged = f" together with the {len(parts)} links fixed together" if len(parts) > 1 else ""
    if stated is not None and stated.mass < 0.0:
        findings.error(owner, f"it {moves}{merged}, but its {faults[0]}. Give it a true mass in <inertial>.")
        return cluster
    if repair:
        better = make_physical(stated)
        findings.repair(owner, f"it {moves}{merged}, but {faults[0]}: {describe_changes(stated, better)}.")
        return Cluster(cluster.head, cluster.joint, cluster.placements, better)
    if stated is None:
        fixed = "" if cluster.joint is None else f", or make joint '{cluster.joint.name}' fixed"
        text = f"it {moves} but has no mass. Add <inertial> with mass and inertia{fixed}"
        text += f"; repair=True gives it {LEAST_MASS:g} kg."
    else:
        text = f"it {moves}{merged}, but {'; '.join(faults)}{_faulty_part_text(parts)}. "
        text += "Give it a true inertia about the centre of mass in <inertial>, or read with repair=True."
    findings.error(owner, text, repairable=True)
    return cluster


def _faulty_parts(parts: dict[str, MassPoint]) -> dict[str, str]:
    """Links of a merged body that are impossible as bodies of their own, each with its first fault."""
    return {
        name: faults[0]
        for name, part in parts.items()
        if len(parts) > 1 and np.any(part.inertia) and (faults := inertia_faults(part.mass, part.inertia))
    }


def _faulty_part_text(parts: dict[str, MassPoint]) -> str:
    return "".join(f" ('{name}' alone: {fault})" for name, fault in list(_faulty_parts(parts).items())[:1])


def _note_impossible_parts(cluster: Cluster, parts: dict[str, MassPoint], findings: Findings) -> None:
    """Note links that are impossible as bodies of their own, but part of a possible body."""
    for name, fault in _faulty_parts(parts).items():
        findings.note(f"link '{name}'", f"{fault}; it is part of body '{cluster.name}', which is possible as a whole.")
