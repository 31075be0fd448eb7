"""Criteria: is the delay that is left below the critical delay of the expected contact? For robots and for arms."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freefloat.dynamics import composite_inertia, inertial_frame_pose
from freefloat.hil.delay import estimate_delay
from freefloat.hil.delayed_contact import DelayMargin, delay_margin
from freefloat.hil.judging.evidence import NOTHING_FELT, Evidence, Question
from freefloat.hil.record.facts import expected_margin, observed_delay, whole_delay
from freefloat.hil.rehearsal import Rehearsal, RobotAssignment
from freefloat.model import Spacecraft, State
from freefloat.values.verdicts import Criterion


def delay(evidence: Evidence) -> Iterator[Criterion]:
    """Criteria for the delays that are left, over the critical delay of the expected contact: of robots and their arms.

    Robots carry whole spacecraft, so theirs is judged with the joints of arms held; an arm moves by its own drives.
    """
    yield _compensated(evidence)
    if evidence.rehearsal.vibration is not None:  # its delay is judged at the frequency of the vibration
        return
    arms = [assignment for assignment in evidence.assignments if assignment.arm]
    questions = [
        Question.of(
            evidence, "delay", name, "A contact that stays closed decays: the delay that is left over the critical one."
        )
        for name in ("delay left", *(f"delay left of the arm on robot {assignment.robot}" for assignment in arms))
    ]
    touching, contact = evidence.rehearsal.touching, evidence.rehearsal.contact
    if touching is None:
        yield from (question.not_required(NOTHING_FELT) for question in questions)
        return
    if contact is None:
        reason = "the rehearsal does not say which contact is expected: Rehearsal(contact=ExpectedContact(...))"
        yield from (question.not_judged(reason) for question in questions)
        return
    left, how = delay_left(evidence)
    held = delay_margin(held_mass(evidence.rehearsal, touching), contact.stiffness, contact.damping, left)
    compensated = f"; {1e3 * evidence.delay:.4g} ms are made up for"
    yield _delay_answer(questions[0], held, f"{how}{compensated}")
    for question, assignment in zip(questions[1:], arms, strict=True):
        free = expected_margin(evidence.rehearsal, _arm_delay(evidence, assignment))
        assert free is not None  # it has a contact and a port
        yield _delay_answer(question, free, "observed on its joints, of which nothing is made up for")


def _compensated(evidence: Evidence) -> Criterion:
    """Criterion: what is made up for is the delay that the robots have; too much distorts a contact as too little."""
    question = Question.of(
        evidence, "compensation", "delay made up for",
        "Commands are ahead by the delay that the robots have; difference, as a share of the observed delay.",
    )  # fmt: skip
    if evidence.rehearsal.compensation is None:
        return question.not_required("Does not apply: nothing is made up for.")
    observed = {assignment.robot: observed_delay(evidence.log, assignment.robot) for assignment in evidence.assignments}
    whole, how = whole_delay(evidence.log, observed)
    if not any(np.isfinite(value) for value in observed.values()) or whole < evidence.cycle:
        return question.not_required(f"Not judged: the delay is {1e3 * whole:.4g} ms, {how}.")
    return question.judge_value(
        abs(whole - evidence.delay) / whole,
        f"{1e3 * evidence.delay:.4g} ms are made up for, {1e3 * whole:.4g} ms are {how}.",
        "Measure the delay before the run: DelayCompensation(measured=True).",
    )


def _delay_answer(question: Question, margin: DelayMargin, how: str) -> Criterion:
    critical = margin.critical_delay
    share = margin.delay / critical if critical > 0.0 else (np.inf if margin.delay > 0.0 else 0.0)
    found = (
        f"{1e3 * margin.delay:.4g} ms are left ({how}). A contact of {margin.stiffness:g} N/m and "
        f"{margin.damping:g} N s/m on {margin.mass:.4g} kg bears {1e3 * critical:.4g} ms."
    )
    remedy = "The delay is too near the critical one: compensate it, or make the contact softer or more damped."
    return question.judge_value(share, found, remedy)


def held_mass(rehearsal: Rehearsal, touching: RobotAssignment) -> float:
    """Mass [kg] that the contact meets in its lightest direction at the start, with all joints held."""
    world, states, c = rehearsal.experiment.world, rehearsal.experiment.start, rehearsal.craft_number(touching.craft)
    point = np.asarray(inertial_frame_pose(world.crafts[c], states[c], rehearsal.frame_of(touching)).p)
    others = [
        rehearsal.craft_number(assignment.craft) for assignment in rehearsal.carried if assignment is not touching
    ][:1]
    mobility = sum(_held_mobility(world.crafts[k], states[k], point) for k in (c, *others))
    return 1.0 / float(np.max(np.linalg.eigvalsh(mobility)))


def _held_mobility(craft: Spacecraft, state: State, point: np.ndarray) -> np.ndarray:
    """Velocity of a point of a rigid body by a force at it, N axes (3, 3): E / m - r^ I^-1 r^."""
    whole, X_NB = composite_inertia(craft, state.q), state.X_NB
    R, r = np.asarray(X_NB.R), point - np.asarray(X_NB.apply(whole.com))
    lever = np.cross(np.eye(3), r)  # r^ but for its sign, which is squared
    turning = lever @ np.linalg.solve(R @ np.asarray(whole.about_com()) @ R.T, lever)
    return np.eye(3) / float(whole.mass) - turning


def _arm_delay(evidence: Evidence, assignment: RobotAssignment) -> float:
    """Delay of the joints of an arm that a robot carries [s]; NaN, which is never a go, where they hardly move."""
    commanded, measured = (evidence.log[f"{assignment.robot}.arm.{which}"] for which in ("commanded", "measured"))
    return max(estimate_delay(evidence.times, commanded, measured), 0.0)


def delay_left(evidence: Evidence) -> tuple[float, str]:
    """Largest delay [s] of a robot that is not compensated, and text of how it is known."""
    observed = {assignment.robot: observed_delay(evidence.log, assignment.robot) for assignment in evidence.assignments}
    whole, how = whole_delay(evidence.log, observed)
    return max(whole - evidence.delay, 0.0), how
