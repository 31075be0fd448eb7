"""Criteria: gain, turn and bias of every wrist sensor, by weighing and a known push, and against the other sensor."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from freefloat.hil.judging.evidence import Evidence, Question
from freefloat.hil.judging.tracks import rotate_back, rotate_vectors, rotation_matrices
from freefloat.hil.rehearsal import RobotAssignment
from freefloat.hil.sensor_checks import SensorErrors, estimate_sensor_errors
from freefloat.spatial import linear
from freefloat.values.verdicts import COVERAGE, GO, Criterion

_NO_CHECK = "nobody weighed or pushed the sensor before the run: Rehearsal(sensor_check=SensorCheck())"
_CANNOT = (
    "the facility knows no weight of its tools and can make no push: override Facility.tool_weight or Facility.push"
)
_LEAST_FORCE = 1.0  # [N], largest; from less two sensors cannot be compared


def checked_sensors(evidence: Evidence) -> Iterator[Criterion]:
    """Criteria for gain, turn and bias of the sensors that were checked before the run."""
    rows = evidence.log.about.get("sensor_checks")
    for assignment in evidence.assignments:
        questions = _questions(evidence, assignment.robot, "by weighing and a known push")
        if rows is None or not rows.get(assignment.robot):
            missing = _NO_CHECK if rows is None else _CANNOT
            yield from (question.not_required(f"Not checked: {missing}.") for question in questions)
            continue
        found = estimate_sensor_errors(rows[assignment.robot])
        if found is None:
            yield from (question.not_judged("the loads of the check are too small") for question in questions)
            continue
        yield from _answers(questions, found)


def compared_sensors(evidence: Evidence) -> Iterator[Criterion]:
    """Criteria for the sensor that is used against that of the robot which takes its reaction."""
    for assignment in evidence.assignments:
        source = next((other for other in evidence.assignments if other.robot == assignment.reaction_of), None)
        if source is None:
            continue
        gain, turn, bias = _questions(evidence, source.robot, f"against robot {assignment.robot}")
        if why := _not_comparable(evidence, assignment):
            yield from (question.not_required(why) for question in (gain, turn, bias))
            continue
        found = estimate_sensor_errors(_common_loads(evidence, source, assignment))
        if found is None or COVERAGE * found.gain_deviation > evidence.accept.sensor_gain:
            words = "Not compared: the contact is too short or too weak to tell one sensor from the other."
            yield from (question.not_required(words) for question in (gain, turn, bias))
            continue
        yield from _answers((gain, turn, bias), found)


def _questions(evidence: Evidence, robot: str, how: str) -> tuple[Question, Question, Question]:
    return (
        Question.of(
            evidence, "sensor_gain", f"sensor gain of robot {robot}, {how}",
            "The wrist sensor reads a known force as large as it is; away from one.",
        ),
        Question.of(
            evidence, "sensor_turn", f"sensor turn of robot {robot}, {how}",
            "The axes of the wrist sensor are where they are said to be; angle between both.", "mrad",
        ),
        Question.of(
            evidence, "sensor_bias", f"sensor bias of robot {robot}, {how}",
            "The wrist sensor reads nothing where nothing acts.", "N",
        ),
    )  # fmt: skip


def _answers(questions: tuple[Question, ...], found: SensorErrors) -> Iterator[Criterion]:
    """Criteria from an estimate; one that is not known well enough for its limit is not judged."""
    angle, size = float(np.linalg.norm(found.turn)), float(np.linalg.norm(found.bias))
    turned, biased = (", ".join(f"{value:.3g}" for value in values) for values in (np.rad2deg(found.turn), found.bias))
    rows = (
        (abs(found.gain - 1.0), found.gain_deviation, f"Gain {found.gain:.4f}.", "Calibrate the sensor."),
        (
            angle, found.turn_deviation, f"Turned by ({turned}) deg about x, y, z of the sensor.",
            "Turn the sensor back, or correct its axes in the driver.",
        ),
        (
            size, found.bias_deviation, f"Bias ({biased}) N along x, y, z of the sensor.",
            "Tare the sensor, after it has warmed up.",
        ),
    )  # fmt: skip
    for question, (value, deviation, words, remedy) in zip(questions, rows, strict=True):
        criterion = question.judge_value(value, words, remedy, deviation)
        if criterion.decision != GO and COVERAGE * (criterion.uncertainty or 0.0) > question.limit:
            yield question.not_required(f"Not judged: it is known to {criterion.value_text} only. {words}")
        else:
            yield criterion


# ---- two sensors


def _not_comparable(evidence: Evidence, reacting: RobotAssignment) -> str:
    """Why the sensor of the robot that takes a reaction cannot tell about the other one; empty where it can."""
    forces = _forces(evidence, reacting)
    if reacting.arm:
        return f"Not compared: the sensor of robot '{reacting.robot}' also measures the motion of the arm on it."
    if np.max(np.linalg.norm(forces, axis=1), initial=0.0) < _LEAST_FORCE:
        return f"Not compared: the sensor of robot '{reacting.robot}' measured nothing."
    return ""


def _common_loads(evidence: Evidence, source: RobotAssignment, reacting: RobotAssignment) -> list[dict[str, Any]]:
    """Loads of the first sensor as the second measures them: the same force with the other sign, in its axes."""
    R_a, R_b = (_sensor_axes(evidence, assignment) for assignment in (source, reacting))
    load = -rotate_back(R_a, rotate_vectors(R_b, _forces(evidence, reacting)))
    reading, none = _forces(evidence, source), np.zeros(3)
    noise = float(np.std(reading[np.linalg.norm(load, axis=1) < _LEAST_FORCE], axis=0).max(initial=0.0))
    return [
        {"weight": none, "push": push, "reading": read, "deviation": noise}
        for push, read in zip(load, reading, strict=True)
    ]


def _forces(evidence: Evidence, assignment: RobotAssignment) -> np.ndarray:
    wrench = np.nan_to_num(evidence.log[f"{assignment.robot}.wrench"])
    return np.asarray(linear(wrench.T)).T


def _sensor_axes(evidence: Evidence, assignment: RobotAssignment) -> np.ndarray:
    """Rotation matrices R_FW of a sensor over the cycles."""
    place = evidence.robot_facts(assignment, "sensor")["sensor"]
    R_MW = rotation_matrices(np.asarray(place["quaternion"])[None])[0]
    return rotation_matrices(evidence.log[f"{assignment.robot}.measured.quaternion"]) @ R_MW
