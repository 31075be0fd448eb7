"""Did the robots make the motion that was asked for, and did the spacecraft go where the simulation says?"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from freefloat.hil.judging.evidence import NOTHING_FELT, Evidence, Question
from freefloat.hil.judging.tracks import (
    continuous,
    interpolated,
    matrices,
    rotation_vectors,
    turned_back,
)
from freefloat.hil.rehearsal import Carried
from freefloat.sim.record.run import Run
from freefloat.values.verdicts import Criterion

_LEAST_IMPULSE = 1e-6  # [N s], below it nothing touched


def tracking(evidence: Evidence) -> Iterator[Criterion]:
    """Of every robot, in position and angle."""
    for one in evidence.carried:
        away, turned = tracking_errors(evidence, one)
        for kind, field, unit, values in (
            ("position", "tracking_position", "mm", away),
            ("attitude", "tracking_angle", "mrad", turned),
        ):
            question = Question.of(
                evidence, field, f"tracking of robot {one.robot}, {kind}",
                "The robot is where the spacecraft should be, its delay made up for as far as it was in the run.", unit,
            )  # fmt: skip
            worst = int(np.argmax(values))
            found = f"Largest at {evidence.times[worst]:.4g} s."
            yield question.answer(
                float(values[worst]),
                found,
                "Compensate the robots' delay, raise their bandwidth, or slow the motion down.",
            )


def tracking_errors(evidence: Evidence, one: Carried) -> tuple[np.ndarray, np.ndarray]:
    """Distance [m] and angle [rad] between a robot and where it should be: the command of one made-up delay ago."""
    log, then = evidence.log, np.maximum(evidence.times - evidence.delay, 0.0)
    p = interpolated(then, evidence.times, log[f"{one.robot}.commanded.position"])
    quat = interpolated(then, evidence.times, continuous(log[f"{one.robot}.commanded.quaternion"]))
    away = np.linalg.norm(log[f"{one.robot}.measured.position"] - p, axis=1)
    between = np.swapaxes(matrices(quat), 1, 2) @ matrices(log[f"{one.robot}.measured.quaternion"])
    return away, np.linalg.norm(rotation_vectors(between), axis=1)


# ---- cell against simulation


def simulation(evidence: Evidence) -> Iterator[Criterion]:
    """Relative pose and impulse of the contact, against the simulation of the same mission."""
    position, angle, impulse = _questions(evidence)
    if evidence.simulated is None:
        for question in (position, angle, impulse):
            yield question.missing("there is no simulation beside the rehearsal")
        return
    names, times = seen_craft(evidence), _common_times(evidence)
    if not len(times):
        raise ValueError("simulation and rehearsal have no recorded time in common")
    (p, R), (p_sim, R_sim) = (relative_pose(run, names, times) for run in (evidence.run, evidence.simulated))
    away = np.linalg.norm(p - p_sim, axis=1)
    turned = np.linalg.norm(rotation_vectors(np.swapaxes(R_sim, 1, 2) @ R), axis=1)
    remedy = "The rehearsal flies another mission than the simulation: compare the wrenches and the spacecraft's data."
    for question, values in ((position, away), (angle, turned)):
        found = f"Largest at {times[int(np.argmax(values))]:.4g} s, of {_in_words(names)}."
        yield question.answer(float(values.max()), found, remedy)
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


def seen_craft(evidence: Evidence) -> tuple[str, ...]:
    """Prefixes of the spacecraft: the first carried one as the last sees it; alone, as it is in orbit."""
    return tuple(evidence.prefix(one) for one in evidence.carried[:2])


def _in_words(names: tuple[str, ...]) -> str:
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
        (run.values(f"{name}base.position")[rows], matrices(run.values(f"{name}base.attitude")[rows])) for name in names
    ]
    if len(poses) == 1:
        return poses[0]
    (p, R), (p_other, R_other) = poses
    return turned_back(R_other, p - p_other), np.swapaxes(R_other, 1, 2) @ R


def _impulse(evidence: Evidence, question: Question, times: np.ndarray) -> Criterion:
    touched = compared_craft(evidence)
    if touched is None:
        return question.open(NOTHING_FELT)
    assert evidence.simulated is not None
    own, other = (handed_over(run, evidence.prefix(touched), times) for run in (evidence.run, evidence.simulated))
    largest = float(np.linalg.norm(other, axis=1).max())
    if largest < _LEAST_IMPULSE:
        return question.missing("the simulation has no contact, so there is nothing to compare with")
    away = np.linalg.norm(own - other, axis=1)
    share = f"{away.max():.4g} N s of {largest:.4g} N s"
    found = f"{share} at {times[int(np.argmax(away))]:.4g} s, on {evidence.craft_name(touched)}."
    return question.answer(
        float(away.max() / largest),
        found,
        "Compare stiffness and damping of the contact in the cell with the simulated one.",
    )


def compared_craft(evidence: Evidence) -> Carried | None:
    """The spacecraft whose momentum tells the contact: with a port, and pushed least by anything else."""

    def pushed(one: Carried) -> float:
        return round(float(np.abs(evidence.other_impulse(one)[0]).max()), 6)  # [N s]

    return min((one for one in reversed(evidence.carried) if one.port), key=pushed, default=None)


def handed_over(run: Run, prefix: str, times: np.ndarray) -> np.ndarray:
    """Change of the linear momentum of a spacecraft since the start (n, 3) [N s], N axes."""
    rows = np.searchsorted(np.round(run.values("time"), 9), times)
    return run.values(f"{prefix}momentum.linear")[rows] - run.values(f"{prefix}momentum.linear")[0]
