"""The health of what was used: software, faults, sensors, deadlines, balances, and the mission's own numbers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freefloat.hil.judging.evidence import Evidence, Question
from freefloat.hil.rehearsal import Carried
from freefloat.spatial import angular, linear
from freefloat.values.claims import KINDS
from freefloat.values.verdicts import Criterion

_SOFTWARE = "software '"  # how a stop reason begins to name what failed


def software(evidence: Evidence) -> Iterator[Criterion]:
    """That the on-board software did not fail."""
    question = Question(
        "on-board software",
        "The software under test answered whenever it was asked; failures.",
        0.0,
        limit_from="mission",
    )
    failed = not evidence.run.completed and _SOFTWARE in evidence.run.status
    found = f"It failed: {evidence.run.status}." if failed else "It did not fail."
    yield question.answer(float(failed), found, "Mend the software, and rehearse again.")


def faults(evidence: Evidence) -> Iterator[Criterion]:
    """Everything that was met and is not normal."""
    question = Question(
        "faults",
        "Nothing went wrong in the facility, in its log or in the loop; faults met.",
        0.0,
        limit_from="mission",
    )
    met = list(faults_met(evidence))
    found = " ".join(f"{one[0].upper()}{one[1:]}." for one in met) or "None was met."
    yield question.answer(float(len(met)), found, "A run with a fault proves nothing beyond it: find its cause first.")


def faults_met(evidence: Evidence) -> Iterator[str]:
    """Each in words."""
    run, log = evidence.run, evidence.log
    if not run.completed:
        yield run.status
    if not log.whole:
        yield "the log is torn or damaged behind its last good cycle"
    for one in evidence.carried:
        sound = (
            np.isfinite(log[f"{one.robot}.measured.position"]).all() and np.isfinite(log[f"{one.robot}.wrench"]).all()
        )
        if not sound:
            yield f"robot '{one.robot}' measured what is not a finite number"
    if len(log.rows) > 1 and np.any(np.diff(log["cycle"]) != 1.0):
        yield "cycles are missing in the log"


def sensors(evidence: Evidence) -> Iterator[Criterion]:
    """Range and signs of life of every wrist sensor that is used."""
    for one in evidence.carried:
        if one.port and not one.reaction_of:
            yield _range(evidence, one)
            yield _alive(evidence, one)


def _range(evidence: Evidence, one: Carried) -> Criterion:
    question = Question.of(
        evidence, "sensor_range", f"sensor range of robot {one.robot}",
        "The wrist sensor stays within its range; share of it that was used.",
    )  # fmt: skip
    limits, wrench = evidence.rehearsal.limits, evidence.log[f"{one.robot}.wrench"].T
    force, torque = (np.linalg.norm(np.asarray(part(wrench)), axis=0) for part in (linear, angular))
    found = (
        f"At most {np.max(force):.4g} N of {limits.force:g} N and {np.max(torque):.4g} N m of {limits.torque:g} N m."
    )
    return question.answer(
        float(max(np.max(force) / limits.force, np.max(torque) / limits.torque)), found,
        "Approach more slowly, make the contact softer, or use a larger sensor.",
    )  # fmt: skip


def _alive(evidence: Evidence, one: Carried) -> Criterion:
    question = Question(
        f"sensor health of robot {one.robot}",
        "The wrist sensor is alive: readings in a row that are the same to the last bit and not zero.",
        float(evidence.rehearsal.limits.stuck), limit_from="limits of the loop",
    )  # fmt: skip
    wrench = evidence.log[f"{one.robot}.wrench"]
    if evidence.rehearsal.contact is not None and not np.any(wrench):
        return question.missing("it has said nothing but zero, though a contact is expected")
    same = np.concatenate([[False], np.all(wrench[1:] == wrench[:-1], axis=1)]) & np.any(wrench != 0.0, axis=1)
    longest, now = 0, 0
    for again in same:
        now = now + 1 if again else 0
        longest = max(longest, now)
    return question.answer(
        float(longest), f"At most {longest} in a row.", "The sensor is stuck: check its cable and its driver."
    )


def deadlines(evidence: Evidence) -> Iterator[Criterion]:
    """That cycles began in time, where they were paced."""
    question = Question.of(
        evidence, "lateness", "deadlines", "Every cycle began in time; largest lateness as a share of a cycle."
    )
    if not str(evidence.log.about.get("pace", "")).startswith("paced"):
        yield question.open("Does not apply: in lockstep a cycle begins when the last one has ended.")
        return
    late = evidence.log["lateness"]
    worst, median = f"Cycle {int(np.argmax(late))} began {1e3 * late.max():.3g} ms late", 1e6 * float(np.median(late))
    found = f"{worst}; the median is {median:.3g} us."
    yield question.answer(
        float(late.max()) / evidence.cycle, found, "Give the loop a processor of its own, or a longer cycle."
    )


def audit(evidence: Evidence) -> Iterator[Criterion]:
    """That the run itself keeps what physics keeps."""
    question = Question(
        "conservation audit", "Momentum and energy of the simulated part balance; balances that are violated.", 0.0,
        limit_from="audit",
    )  # fmt: skip
    entries, violated = evidence.run.audit.entries, evidence.run.audit.violations
    if not entries:
        yield question.missing("the run has no audit")
        return
    worst = f"{violated[0].quantity} is off by {violated[0].imbalance:.2e} {violated[0].unit}." if violated else ""
    found = worst or f"All {len(entries)} balances hold."
    yield question.answer(
        float(len(violated)), found, "Do not trust the run: take smaller steps, or find what pushes unseen."
    )


def claims(evidence: Evidence) -> Iterator[Criterion]:
    """The numbers that the mission must reach, as its scenario states them."""
    for one in evidence.claims:
        above, reference = one.relation == "above", one.reference
        if one.relation in ("about", "within"):
            width = (one.tolerance or 0.0) * (abs(reference) if one.relation == "within" else 1.0)
            words, value, limit = f" away from {one.with_unit(f'{reference:g}')}", abs(one.ours - reference), width
        else:
            words, value, limit = "", one.ours, reference
        said = ": ".join(filter(None, (KINDS[one.source.kind], one.source.text)))
        question = Question(
            one.claim, f"A number of the mission itself{words} ({said}).", limit, "at least" if above else "at most",
            one.unit, "scenario",
        )  # fmt: skip
        if one.holds is None:
            yield question.open(f"Not reproduced: {one.reason or 'no number to hold'}.")
        else:
            found = f"{one.with_unit(f'{one.ours:.4g}')} in the rehearsal."
            yield question.answer(
                value, found, "The mission does not do in the cell what it must: look at its software."
            )
