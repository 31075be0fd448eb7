"""Criteria: both robots together at the grasp point, by their encoders, against the simulation.

Each robot may follow its own command and the two may still not be to each other as the spacecraft are: one is late, or
a frame is not where it is said to be. An angle between both acts by the lever from the carried frame to the point.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freefloat.hil.judging.evidence import Evidence, Question
from freefloat.hil.judging.motion import compared_prefixes, relative_pose
from freefloat.hil.judging.tracks import (
    continuous_quaternions,
    interpolate_columns,
    rotate_back,
    rotate_vectors,
    rotation_matrices,
    rotation_vectors,
)
from freefloat.values.verdicts import Criterion

_ONE_ROBOT = "Does not apply: one robot alone has no other to be compared with."


def together(evidence: Evidence) -> Iterator[Criterion]:
    """Criteria for distance and angle between measured and simulated relative pose of the first two spacecraft."""
    where = "at the grasp point" if evidence.rehearsal.grasp_point else "at the base frame"
    position, angle = (
        Question.of(
            evidence, field, f"both robots together, {kind}",
            f"The spacecraft that the robots carry are to each other {where} as in the simulation, by encoders.", unit,
        )
        for field, kind, unit in (("relative_position", "position", "mm"), ("relative_angle", "attitude", "mrad"))
    )  # fmt: skip
    if len(evidence.assignments) < 2:
        yield from (question.not_required(_ONE_ROBOT) for question in (position, angle))
        return
    if evidence.simulated is None:
        yield from (
            question.not_judged("there is no simulation beside the rehearsal") for question in (position, angle)
        )
        return
    times, distance, turn = relative_errors(evidence)
    remedy = (
        "The robots are not to each other as the mission is: compare their delays, the frames that they carry and the "
        "places of their bases."
    )
    for question, values in ((position, distance), (angle, turn)):
        worst = int(np.argmax(values))
        yield question.judge_value(float(values[worst]), f"Largest at {times[worst]:.4g} s.", remedy)


def relative_errors(evidence: Evidence) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times [s], and distance [m] at the grasp point and angle [rad] between measured and simulated relative pose."""
    assert evidence.simulated is not None
    names = compared_prefixes(evidence)
    recorded = np.round(evidence.simulated.values("time"), 9)
    times = recorded[recorded <= evidence.times[-1] + 1e-9]
    first, second = (_measured_pose(evidence, assignment.robot, times) for assignment in evidence.assignments[:2])
    measured = rotate_back(second[1], first[0] - second[0]), np.swapaxes(second[1], 1, 2) @ first[1]
    simulated = relative_pose(evidence.simulated, names, times)
    point = _grasp_point(evidence)
    places = [p + rotate_vectors(R, np.tile(point, (len(p), 1))) for p, R in (measured, simulated)]
    turn = rotation_vectors(np.swapaxes(simulated[1], 1, 2) @ measured[1])
    return times, np.linalg.norm(places[0] - places[1], axis=1), np.linalg.norm(turn, axis=1)


def _measured_pose(evidence: Evidence, robot: str, times: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Position (n, 3) and rotation (n, 3, 3) on the floor of the frame that a robot carries, by its encoders."""
    p = interpolate_columns(times, evidence.times, evidence.log[f"{robot}.measured.position"])
    quat = continuous_quaternions(evidence.log[f"{robot}.measured.quaternion"])
    return p, rotation_matrices(interpolate_columns(times, evidence.times, quat))


def _grasp_point(evidence: Evidence) -> np.ndarray:
    """Grasp point in the base frame of the first spacecraft, at the start of the run [m]; zero if none is named."""
    point = evidence.rehearsal.grasp_point
    if not point:
        return np.zeros(3)
    prefix = compared_prefixes(evidence)[0]
    base = evidence.run.values(f"{prefix}base.position")[:1]
    R = rotation_matrices(evidence.run.values(f"{prefix}base.attitude")[:1])
    return rotate_back(R, evidence.run.values(f"{point}.position")[:1] - base)[0]
