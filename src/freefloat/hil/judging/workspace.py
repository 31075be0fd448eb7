"""Criteria: did the rehearsal run to its end, and how near were joints, rates, accelerations, workspace to limits?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freefloat.hil.judging.evidence import Evidence, Question
from freefloat.hil.rehearsal import RobotAssignment
from freefloat.values.verdicts import Criterion

# Words of a stop reason, and the remedy.
_REMEDIES = (
    ("software", "Look at the on-board software's own log; rehearse again when it answers in time."),
    (
        "singular posture",
        "The workspace is too small there: place the mission elsewhere in the cell, or choose another posture.",
    ),
    (
        "position limit",
        "The workspace is too small: place the mission elsewhere in the cell, or leave out more of the motion.",
    ),
    (
        "of its range",
        "The workspace is too small: place the mission elsewhere in the cell, or leave out more of the motion.",
    ),
    ("workspace", "The workspace is too small: enlarge the permitted box, or place the mission elsewhere in the cell."),
    ("out of reach", "The workspace is too small: place the mission elsewhere in the cell."),
    ("behind the commanded pose", "The workspace is too small: the pose is out of the robot's reach."),
    ("rate", "The motion is too fast for the robots: slow the mission down, or place it where joints move less."),
    (
        "acceleration",
        "The motion is too abrupt for the robots: near the end of their reach joints race; or the contact is too hard.",
    ),
    ("closer than", "Parts of the cell come too close: place the mission elsewhere in the cell."),
    ("diverged", "The loop is unstable: look at the delay, and at the stiffness of the contact."),
    ("range of", "The contact is too hard for the sensor: approach more slowly, or make it softer."),
    ("began", "The computer is too busy: give the loop a processor of its own."),
)
_NO_REMEDY = "Find out why before anything is repeated."


_COMPLETED = Question(
    "ran to its end", "The rehearsal was not stopped before its time, by a limit or by a fault; early stops.", 0.0,
    limit_from="mission",
)  # fmt: skip


def completion(evidence: Evidence) -> Iterator[Criterion]:
    """Criterion: the rehearsal ran to its end; otherwise it names what stopped it."""
    if evidence.run.completed:
        yield _COMPLETED.judge_value(0.0, "It ran to its end.", "")
    else:
        found = f"It {evidence.run.status}.{_which_joint(evidence)}"
        yield _COMPLETED.judge_value(1.0, found, _remedy(evidence.run.status))


def _which_joint(evidence: Evidence) -> str:
    """Text with the joint that a stop reason means but does not name; empty for other reasons."""
    for assignment in evidence.assignments:
        if f"robot '{assignment.robot}': a joint " in evidence.run.status:
            kind = 1 if "rate" in evidence.run.status else 0
            last = joint_shares(evidence, assignment)[kind][-1]
            return f" It is joint {evidence.robot_facts(assignment)['joints'][int(np.argmax(last))]}."
    return ""


def refusal_criterion(reason: str) -> Criterion:
    """Criterion of a rehearsal that could not begin."""
    return _COMPLETED.judge_value(1.0, f"It could not begin: {reason.removesuffix('.')}.", _remedy(reason))


def _remedy(reason: str) -> str:
    return next((remedy for words, remedy in _REMEDIES if words in reason), _NO_REMEDY)


def robots(evidence: Evidence) -> Iterator[Criterion]:
    """Criteria for joints and workspace of every robot."""
    for assignment in evidence.assignments:
        yield from _joints(evidence, assignment)
        yield _workspace(evidence, assignment)


def _joints(evidence: Evidence, assignment: RobotAssignment) -> Iterator[Criterion]:
    questions = _joint_questions(evidence, assignment.robot)
    if not evidence.robot_facts(assignment)["joints"]:
        for question in questions:
            yield question.not_required(f"Does not apply: robot '{assignment.robot}' of this facility has no joints.")
        return
    lower, upper, names = (evidence.robot_facts(assignment)[what] for what in ("lower", "upper", "joints"))
    remedies = (
        "The workspace is too small: place the mission elsewhere in the cell.",
        "Slow the mission down, or place it where the joints move less.",
        "Make the contact softer or the approach slower, or place the mission where the joints move less.",
    )
    for question, shares, remedy in zip(questions, joint_shares(evidence, assignment), remedies, strict=True):
        row, joint = np.unravel_index(int(np.argmax(shares)), shares.shape)
        span = f"{np.rad2deg(lower[joint]):.0f} to {np.rad2deg(upper[joint]):.0f} deg"
        which = f"joint {names[joint]} of robot '{assignment.robot}'"
        found = f"Nearest: {which} (range {span}) at {evidence.times[row]:.4g} s."
        yield question.judge_value(float(shares[row, joint]), found, remedy)


def joint_shares(evidence: Evidence, assignment: RobotAssignment) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Distance from the middle of each joint's range, rate and acceleration, as shares of their limits: (n, joints)."""
    about = evidence.robot_facts(assignment, "rates", "accelerations")
    q, rate = evidence.log[f"{assignment.robot}.joints"], evidence.log[f"{assignment.robot}.joint_rates"]
    lower, upper = np.asarray(about["lower"]), np.asarray(about["upper"])
    half = np.maximum(0.5 * (upper - lower) - evidence.rehearsal.limits.joint_margin, np.finfo(float).eps)
    away = np.abs(q - 0.5 * (lower + upper)) / half
    change = np.diff(rate, axis=0, prepend=rate[:1]) / evidence.cycle
    return away, np.abs(rate) / np.asarray(about["rates"]), np.abs(change) / np.asarray(about["accelerations"])


def _joint_questions(evidence: Evidence, robot: str) -> tuple[Question, Question, Question]:
    return (
        Question.of(
            evidence, "joint_range", f"joint range of robot {robot}",
            "No joint comes to its end; share of the way from the middle of its range, less the margin that is kept.",
        ),
        Question.of(
            evidence, "joint_rate", f"joint rate of robot {robot}",
            "No joint moves as fast as it can; share of its rate limit.",
        ),
        Question.of(
            evidence, "joint_acceleration", f"joint acceleration of robot {robot}",
            "No joint speeds up as fast as it can, as its encoder tells from cycle to cycle; share of its limit.",
        ),
    )  # fmt: skip


def workspace_shares(evidence: Evidence, assignment: RobotAssignment) -> np.ndarray:
    """Commanded distance from the middle of the permitted box, as a share of the distance to its edge (n, 3)."""
    limits = evidence.rehearsal.limits
    lower, upper = np.asarray(limits.lower), np.asarray(limits.upper)
    return np.abs(evidence.log[f"{assignment.robot}.commanded.position"] - 0.5 * (lower + upper)) / (
        0.5 * (upper - lower)
    )


def _workspace(evidence: Evidence, assignment: RobotAssignment) -> Criterion:
    question = Question.of(
        evidence, "workspace", f"workspace of robot {assignment.robot}",
        "The carried frame stays inside the permitted box on the floor; share of the way from its middle to its edge.",
    )  # fmt: skip
    shares = workspace_shares(evidence, assignment)
    row, axis = np.unravel_index(int(np.argmax(shares)), shares.shape)
    found = f"Nearest: along {'xyz'[axis]} of the floor at {evidence.times[row]:.4g} s."
    return question.judge_value(
        float(shares[row, axis]), found, "The workspace is too small: enlarge the box, or place the mission elsewhere."
    )
