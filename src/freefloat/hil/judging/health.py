"""Criteria for software, faults, sensors, deadlines, balances of the simulation, and the mission's own numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freefloat.hil.facility import SIGNED
from freefloat.hil.judging.evidence import Evidence, Question, from_table_unit
from freefloat.hil.rehearsal import RobotAssignment
from freefloat.spatial import angular, linear
from freefloat.values.claims import KINDS
from freefloat.values.verdicts import Criterion

_SOFTWARE = "software '"  # in a stop reason, before the name of failed software


def software(evidence: Evidence) -> Iterator[Criterion]:
    """Criterion: the on-board software did not fail."""
    question = Question(
        "on-board software",
        "The software under test answered whenever it was asked; failures.",
        0.0,
        limit_from="mission",
    )
    failed = not evidence.run.completed and _SOFTWARE in evidence.run.status
    found = f"It failed: {evidence.run.status}." if failed else "It did not fail."
    yield question.judge_value(float(failed), found, "Mend the software, and rehearse again.")


def faults(evidence: Evidence) -> Iterator[Criterion]:
    """Criterion: no fault occurred in the facility, the log or the loop."""
    question = Question(
        "faults",
        "Nothing went wrong in the facility, in its log or in the loop; faults met.",
        0.0,
        limit_from="mission",
    )
    met = list(fault_texts(evidence))
    found = " ".join(f"{fault[0].upper()}{fault[1:]}." for fault in met) or "None was met."
    yield question.judge_value(
        float(len(met)), found, "A run with a fault proves nothing beyond it: find its cause first."
    )


def fault_texts(evidence: Evidence) -> Iterator[str]:
    """Text of every fault that occurred."""
    run, log = evidence.run, evidence.log
    if not run.completed:
        yield run.status
    if not log.whole:
        yield "the log is torn or damaged behind its last good cycle"
    for assignment in evidence.assignments:
        sound = (
            np.isfinite(log[f"{assignment.robot}.measured.position"]).all()
            and np.isfinite(log[f"{assignment.robot}.wrench"]).all()
        )
        if not sound:
            yield f"robot '{assignment.robot}' measured what is not a finite number"
    if len(log.rows) > 1 and np.any(np.diff(log["cycle"]) != 1.0):
        yield "cycles are missing in the log"


def sensors(evidence: Evidence) -> Iterator[Criterion]:
    """Criteria for range and changing readings of every wrist sensor that is used."""
    for assignment in evidence.assignments:
        if assignment.port and not assignment.reaction_of:
            yield _sensor_range(evidence, assignment)
            yield _sensor_health(evidence, assignment)


def _sensor_range(evidence: Evidence, assignment: RobotAssignment) -> Criterion:
    question = Question.of(
        evidence, "sensor_range", f"sensor range of robot {assignment.robot}",
        "The wrist sensor stays within its range; share of it that was used.",
    )  # fmt: skip
    limits, wrench = evidence.rehearsal.limits, evidence.log[f"{assignment.robot}.wrench"].T
    force, torque = (np.linalg.norm(np.asarray(part(wrench)), axis=0) for part in (linear, angular))
    found = (
        f"At most {np.max(force):.4g} N of {limits.force:g} N and {np.max(torque):.4g} N m of {limits.torque:g} N m."
    )
    return question.judge_value(
        float(max(np.max(force) / limits.force, np.max(torque) / limits.torque)), found,
        "Approach more slowly, make the contact softer, or use a larger sensor.",
    )  # fmt: skip


def _sensor_health(evidence: Evidence, assignment: RobotAssignment) -> Criterion:
    question = Question(
        f"sensor health of robot {assignment.robot}",
        "The wrist sensor is alive: readings in a row that are the same to the last bit and not zero.",
        float(evidence.rehearsal.limits.stuck), limit_from="limits of the loop",
    )  # fmt: skip
    wrench = evidence.log[f"{assignment.robot}.wrench"]
    if evidence.rehearsal.contact is not None and not np.any(wrench):
        return question.not_judged(
            "it has said nothing but zero, though a contact is expected; an ideal facility measures "
            "none, so that it never gets a go: rehearse in a virtual or a real one"
        )
    same = np.concatenate([[False], np.all(wrench[1:] == wrench[:-1], axis=1)]) & np.any(wrench != 0.0, axis=1)
    longest, now = 0, 0
    for repeated in same:
        now = now + 1 if repeated else 0
        longest = max(longest, now)
    return question.judge_value(
        float(longest), f"At most {longest} in a row.", "The sensor is stuck: check its cable and its driver."
    )


def deadlines(evidence: Evidence) -> Iterator[Criterion]:
    """Criterion: cycles began in time; applies in real time only."""
    question = Question.of(
        evidence, "lateness", "deadlines", "Every cycle began in time; largest lateness as a share of a cycle."
    )
    if not str(evidence.log.about.get("pace", "")).startswith("paced"):
        yield question.not_required("Does not apply: in lockstep a cycle begins when the last one has ended.")
        return
    late = evidence.log["lateness"]
    worst, median = f"Cycle {int(np.argmax(late))} began {1e3 * late.max():.3g} ms late", 1e6 * float(np.median(late))
    found = f"{worst}; the median is {median:.3g} us."
    yield question.judge_value(
        float(late.max()) / evidence.cycle, found, "Give the loop a processor of its own, or a longer cycle."
    )


def coverage(evidence: Evidence) -> Iterator[Criterion]:
    """Criterion: the signature covers what a facility of hardware depends on."""
    question = Question(
        "signature of the facility",
        f"The signature covers {', '.join(SIGNED)} of the robots; parts that are not described.", 0.0,
        limit_from="mission",
    )  # fmt: skip
    if not evidence.log.about.get("hardware", False):
        yield question.not_required(
            "Does not apply: a virtual facility is its settings and the code, which are signed."
        )
        return
    # The source of the driver is signed in any case.
    lacking = [name for name in SIGNED if name != "driver" and name not in evidence.log.about.get("described", ())]
    found = f"Not described: {', '.join(lacking)}." if lacking else "All are described and signed."
    yield question.judge_value(
        float(len(lacking)), found,
        "Let Facility.description() return them. A hash tells a change, not who made it, nor whether it is true.",
    )  # fmt: skip


def audit(evidence: Evidence) -> Iterator[Criterion]:
    """Criterion: momentum and energy of the simulated part balance."""
    question = Question(
        "conservation audit", "Momentum and energy of the simulated part balance; balances that are violated.", 0.0,
        limit_from="audit",
    )  # fmt: skip
    entries, violated = evidence.run.audit.entries, evidence.run.audit.violations
    if not entries:
        yield question.not_judged("the run has no audit")
        return
    worst = f"{violated[0].name} is off by {violated[0].value:.2e} {violated[0].unit}." if violated else ""
    found = worst or f"All {len(entries)} balances hold."
    yield question.judge_value(
        float(len(violated)), found, "Do not trust the run: take smaller steps, or find what pushes unseen."
    )


def claims(evidence: Evidence) -> Iterator[Criterion]:
    """Criteria for the numbers that the mission must reach, as its scenario states them."""
    for claim in evidence.claims:
        above, reference = claim.relation == "above", claim.limit
        if claim.relation in ("about", "within"):
            width = (claim.tolerance or 0.0) * (abs(reference) if claim.relation == "within" else 1.0)
            words, value, limit = f" away from {claim.with_unit(f'{reference:g}')}", abs(claim.value - reference), width
        else:
            words, value, limit = "", claim.value, reference
        cited = ": ".join(filter(None, (KINDS[claim.source.kind], claim.source.text)))
        question = Question(
            claim.name, f"A number of the mission itself{words} ({cited}).", limit, "at least" if above else "at most",
            claim.unit, "scenario",
        )  # fmt: skip
        if claim.holds is None:
            yield question.not_required(f"Not reproduced: {claim.reason or 'no number to hold'}.")
        else:
            found = f"{claim.with_unit(f'{claim.value:.4g}')} in the rehearsal."
            yield question.judge_value(
                from_table_unit(value, claim.unit),
                found,
                "The mission does not do in the cell what it must: look at its software.",
            )
