"""Couplings by `<equality>` and `<tendon>`: joints that are coupled linearly share a coordinate; others are errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from freefloat.readers.findings import Findings
from freefloat.readers.parsed import StatedMimic

_CONNECT, _WELD, _JOINT = range(3)  # of mjtEq
_WORDS = {_CONNECT: "<connect>", _WELD: "<weld>"}


def read_couplings(model: Any, joints: list[str], findings: Findings, *, repair: bool) -> dict[str, StatedMimic]:
    """Joint -> the coupling to its leader. Everything else that holds parts together is a loop, which is reported."""
    found: dict[str, StatedMimic] = {}
    for index in range(model.neq):
        kind, name = int(model.eq_type[index]), model.equality(index).name or f"number {index + 1}"
        owner = f"equality '{name}'"
        if not model.eq_active0[index]:
            findings.note(owner, "it is not active at the start, and left out.")
        elif kind == _JOINT:
            _add_coupling(model, index, joints, owner, found, findings)
        else:
            what = _WORDS.get(kind, "it")
            _report_left_out(
                owner,
                f"{what} holds parts together that are no tree",
                "Remove it, and hold two frames together by world.connection(...)",
                findings,
                repair=repair,
            )
    return found


def _add_coupling(
    model: Any, index: int, joints: list[str], owner: str, found: dict[str, StatedMimic], findings: Findings
) -> None:
    """Add the coupling of two joints. MuJoCo: y - y0 = a0 + a1 (x - x0) + ..., with the references x0, y0."""
    follower, leader = int(model.eq_obj1id[index]), int(model.eq_obj2id[index])
    a0, a1, *higher = (float(x) for x in model.eq_data[index][:5])
    if leader < 0 or any(higher):
        why = "holds a joint where it is" if leader < 0 else "is not linear"
        findings.error(owner, f"it {why}, which is not modelled. Give two joints and a linear polycoef, or remove it.")
        return
    if joints[follower] in found:
        findings.error(owner, f"joint '{joints[follower]}' follows two others. Keep one coupling.")
        return
    y0, x0 = (float(model.qpos0[model.jnt_qposadr[joint]]) for joint in (follower, leader))
    found[joints[follower]] = StatedMimic(joints[leader], a1, y0 + a0 - a1 * x0)


def reject_tendons(model: Any, findings: Findings, *, repair: bool) -> None:
    """Report tendons with a spring, losses or a mass; one that only carries a motor's force may stay."""
    for index in range(model.ntendon):
        fields = ("stiffness", "damping", "frictionloss", "armature", "stiffnesspoly", "dampingpoly")
        acting = [
            f for f in fields if np.any(np.atleast_1d(getattr(model, f"tendon_{f}", np.zeros(model.ntendon)))[index])
        ]
        if acting:
            owner = f"tendon '{model.tendon(index).name or f'number {index + 1}'}'"
            what = f"its {acting[0]} acts on several joints, which is not modelled"
            _report_left_out(owner, what, "Remove it, or give it as an effect of your own", findings, repair=repair)


def _report_left_out(owner: str, what: str, remedy: str, findings: Findings, *, repair: bool) -> None:
    if repair:
        findings.repair(owner, f"{what}: it is left out.")
    else:
        findings.error(owner, f"{what}. {remedy}; repair=True leaves it out.", repairable=True)
