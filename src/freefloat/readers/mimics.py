"""Joints that mimic others: each is led by one joint that has a coordinate of its own."""

import dataclasses

from freefloat.readers.findings import Findings, name_list
from freefloat.readers.parsed import StatedJoint, StatedMimic


def resolve_mimics(joints: tuple[StatedJoint, ...], findings: Findings, *, repair: bool) -> tuple[StatedJoint, ...]:
    """The joints, where every mimic names the leader at the end of its chain; mimics without a leader are reported."""
    by_name = {joint.name: joint for joint in joints}
    resolved = []
    for joint in joints:
        mimic = None if joint.mimic is None else _resolve(joint, by_name, findings, repair=repair)
        resolved.append(dataclasses.replace(joint, mimic=mimic))
        if mimic is not None:
            rule = f"{mimic.ratio:g} times '{mimic.leader}' plus {mimic.offset:g}"
            findings.note(f"joint '{joint.name}'", f"it follows {rule}, and has no coordinate of its own.")
    return tuple(resolved)


def _resolve(
    joint: StatedJoint, by_name: dict[str, StatedJoint], findings: Findings, *, repair: bool
) -> StatedMimic | None:
    """Mimic of the last leader, with ratios and offsets along the chain combined; None, after a report, if invalid."""
    owner, ratio, offset, at, seen = f"joint '{joint.name}'", 1.0, 0.0, joint, {joint.name}
    while at.mimic is not None:
        leader = at.mimic.leader
        ratio, offset = ratio * at.mimic.ratio, offset + ratio * at.mimic.offset
        if leader in seen:
            findings.error(owner, f"it mimics '{leader}', which mimics it in turn. Let one of them lead.")
            return None
        if leader not in by_name:
            _report_missing_leader(owner, leader, by_name, findings, repair=repair)
            return None
        seen.add(leader)
        at = by_name[leader]
    if at.kind in ("fixed", "floating"):
        findings.error(owner, f"it mimics '{at.name}', which is {at.kind}. Make it fixed too, or remove <mimic>.")
        return None
    return StatedMimic(at.name, ratio, offset)


def _report_missing_leader(
    owner: str, leader: str, by_name: dict[str, StatedJoint], findings: Findings, *, repair: bool
) -> None:
    if repair:
        findings.repair(
            owner, f"it mimics '{leader}', which does not exist: <mimic> is removed, and it moves by itself."
        )
        return
    close = [name for name in by_name if leader in name or name in leader]
    known = name_list(close or by_name)
    findings.error(
        owner,
        f"it mimics '{leader}', which does not exist. Name one that does, or remove <mimic>. Joints: {known}.",
        repairable=True,
    )
