"""Criteria: did the robots follow their commands, and did the spacecraft move as in the simulation?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freefloat.hil.judging.evidence import NOTHING_FELT, Evidence, Question
from freefloat.hil.judging.tracks import (
    continuous_quaternions,
    interpolate_columns,
    rotate_back,
    rotation_matrices,
    rotation_vectors,
)
from freefloat.hil.rehearsal import RobotAssignment
from freefloat.sim.record.run import Run
from freefloat.values.verdicts import Criterion

_LEAST_IMPULSE = 1e-6  # [N s], below it nothing touched


def tracking(evidence: Evidence) -> Iterator[Criterion]:
    """Criteria for the tracking error of every robot, in position and angle."""
    for assignment in evidence.assignments:
        distance, angle = tracking_errors(evidence, assignment)
        for kind, field, unit, values in (
            ("position", "tracking_position", "mm", distance),
            ("attitude", "tracking_angle", "mrad", angle),
        ):
            question = Question.of(
                evidence, field, f"tracking of robot {assignment.robot}, {kind}",
                "The robot is where the spacecraft should be, its delay made up for as far as it was in the run.", unit,
            )  # fmt: skip
            worst = int(np.argmax(values))
            found = f"Largest at {evidence.times[worst]:.4g} s."
            yield question.judge_value(
                float(values[worst]),
                found,
                "Compensate the robots' delay, raise their bandwidth, or slow the motion down.",
            )


def tracking_errors(evidence: Evidence, assignment: RobotAssignment) -> tuple[np.ndarray, np.ndarray]:
    """Distance [m] and angle [rad] between a robot and its command of one compensated delay ago."""
    log, then = evidence.log, np.maximum(evidence.times - evidence.delay, 0.0)
    p = interpolate_columns(then, evidence.times, log[f"{assignment.robot}.commanded.position"])
    quat = interpolate_columns(
        then, evidence.times, continuous_quaternions(log[f"{assignment.robot}.commanded.quaternion"])
    )
    away = np.linalg.norm(log[f"{assignment.robot}.measured.position"] - p, axis=1)
    between = np.swapaxes(rotation_matrices(quat), 1, 2) @ rotation_matrices(
        log[f"{assignment.robot}.measured.quaternion"]
    )
    return away, np.linalg.norm(rotation_vectors(between), axis=1)


# ---- cell against simulation


def simulation(evidence: Evidence) -> Iterator[Criterion]:
    """Criteria for relative pose and impulse of the contact, against the simulation of the same mission."""
    position, angle, impulse = _questions(evidence)
    if evidence.simulated is None:
        for question in (position, angle, impulse):
            yield question.not_judged("there is no simulation beside the rehearsal")
        return
    names, times = compared_prefixes(evidence), _common_times(evidence)
    if not len(times):
        raise ValueError("simulation and rehearsal have no recorded time in common")
    (p, R), (p_sim, R_sim) = (relative_pose(run, names, times) for run in (evidence.run, evidence.simulated))
    distance = np.linalg.norm(p - p_sim, axis=1)
    turn = np.linalg.norm(rotation_vectors(np.swapaxes(R_sim, 1, 2) @ R), axis=1)
    remedy = "The rehearsal flies another mission than the simulation: compare the wrenches and the spacecraft's data."
    for question, values in ((position, distance), (angle, turn)):
        found = f"Largest at {times[int(np.argmax(values))]:.4g} s, of {_craft_text(names)}."
        yield question.judge_value(float(values.max()), found, remedy)
    yield _impulse(evidence, impulse, times)


def _questions(evidence: Evidence) -> tuple[Question, Question, Question]:
    return (
        Question.of(
            evidence, "simulation_position", "cell against simulation, position",
            "The spacecraft move relative to each other as in the simulation.", "mm",
        ),
        Question.of(
            evidence, "simulation_angle", "cell against simulation, attitude",
            "The spacecraft turn relative to each other as in the simulation.", "mrad",
        ),
        Question.of(
            evidence, "simulation_impulse", "cell against simulation, contact",
            "The contact hands over the impulse that it has in the simulation; share of the largest simulated one.",
        ),
    )  # fmt: skip


def compared_prefixes(evidence: Evidence) -> tuple[str, ...]:
    """Channel prefixes of the first carried spacecraft and, if there is one, of the second, to which it is related."""
    return tuple(evidence.prefix(assignment) for assignment in evidence.assignments[:2])


def _craft_text(names: tuple[str, ...]) -> str:
    words = [name.removesuffix(".") or "the base" for name in names]
    return f"{words[0]} as {words[1]} sees it" if len(words) > 1 else words[0]


def _common_times(evidence: Evidence) -> np.ndarray:
    assert evidence.simulated is not None
    own, other = (np.round(run.values("time"), 9) for run in (evidence.run, evidence.simulated))
    return np.intersect1d(own, other)


def relative_pose(run: Run, names: tuple[str, ...], times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pose of the first base frame in the second, or in N where there is none: (n, 3) [m] and (n, 3, 3)."""
    rows = np.searchsorted(np.round(run.values("time"), 9), times)
    poses = [
        (run.values(f"{name}base.position")[rows], rotation_matrices(run.values(f"{name}base.attitude")[rows]))
        for name in names
    ]
    if len(poses) == 1:
        return poses[0]
    (p, R), (p_other, R_other) = poses
    return rotate_back(R_other, p - p_other), np.swapaxes(R_other, 1, 2) @ R


def _impulse(evidence: Evidence, question: Question, times: np.ndarray) -> Criterion:
    touched = compared_craft(evidence)
    if touched is None:
        return question.not_required(NOTHING_FELT)
    assert evidence.simulated is not None
    own, other = (momentum_change(run, evidence.prefix(touched), times) for run in (evidence.run, evidence.simulated))
    largest = float(np.linalg.norm(other, axis=1).max())
    if largest < _LEAST_IMPULSE:
        return question.not_judged("the simulation has no contact, so there is nothing to compare with")
    gap = np.linalg.norm(own - other, axis=1)
    share = f"{gap.max():.4g} N s of {largest:.4g} N s"
    found = f"{share} at {times[int(np.argmax(gap))]:.4g} s, on {evidence.craft_name(touched)}."
    return question.judge_value(
        float(gap.max() / largest),
        found,
        "Compare stiffness and damping of the contact in the cell with the simulated one.",
    )


def compared_craft(evidence: Evidence) -> RobotAssignment | None:
    """The spacecraft whose momentum is compared: with a port, and with the least impulse from other sources."""

    def other_impulse(assignment: RobotAssignment) -> float:
        return round(float(np.abs(evidence.other_impulse(assignment)[0]).max()), 6)  # [N s]

    return min(
        (assignment for assignment in reversed(evidence.assignments) if assignment.port),
        key=other_impulse,
        default=None,
    )


def momentum_change(run: Run, prefix: str, times: np.ndarray) -> np.ndarray:
    """Change of the linear momentum of a spacecraft since the start (n, 3) [N s], N axes."""
    rows = np.searchsorted(np.round(run.values("time"), 9), times)
    return run.values(f"{prefix}momentum.linear")[rows] - run.values(f"{prefix}momentum.linear")[0]
