"""Criteria of the contact: energy given by the delay, energy taken by the controller, balance of momentum."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from freefloat.hil.judging.evidence import NOTHING_FELT, Evidence, Question, Wrenches
from freefloat.hil.rehearsal import RobotAssignment
from freefloat.values.verdicts import Criterion

_LEAST_ENERGY = 1e-9  # [J], below it nothing touched


# ---- energy


@dataclass(frozen=True)
class ContactEnergy:
    """Energies at the port of contact [J], at every cycle since the start."""

    observed: np.ndarray  # that the delay has absorbed; below zero it has given
    taken: np.ndarray  # that the passivity controller has taken out of the motion
    through: np.ndarray  # that the contact has given to the motion; below zero it has taken

    @property
    def size(self) -> float:
        """Range of the energy through the contact [J]: the largest energy that it stored or dissipated."""
        return float(np.ptp(self.through))


def contact_energy(evidence: Evidence, touching: RobotAssignment) -> ContactEnergy:
    """Energies at the port of contact, from the wrenches of the log and the motion of the run."""
    measured, felt = evidence.measured_wrenches(touching), evidence.port_wrenches(touching)
    correction = felt[0] - measured[0], felt[1] - measured[1]
    return ContactEnergy(
        evidence.log["energy"], -_work(evidence, touching, correction), _work(evidence, touching, measured)
    )


def _work(evidence: Evidence, touching: RobotAssignment, wrenches: Wrenches) -> np.ndarray:
    """Work [J] at the port since the start, of a wrench between two spacecraft, or between one and the floor."""
    power = evidence.mid_cycle_track(touching.frame).power(*wrenches)
    other = evidence.partner(touching)
    if other is not None:
        touched = other.frame if other.port else f"{evidence.prefix(other)}base"
        power = power - evidence.mid_cycle_track(touched).power(*wrenches)
    return np.concatenate([[0.0], np.cumsum(power)[:-1]]) * evidence.cycle


def energy(evidence: Evidence) -> Iterator[Criterion]:
    """Criteria: energy given by the delay and taken out by the passivity controller, over that in the contact."""
    given = Question.of(
        evidence, "energy_given", "energy given by the delay",
        "The delay of the facility gives no energy to the motion; share of the energy in the contact.",
    )  # fmt: skip
    taken = Question.of(
        evidence, "energy_taken", "energy taken out",
        "The passivity controller had little to do: what it took out, as a share of the energy in the contact.",
    )  # fmt: skip
    touching, passivity = evidence.rehearsal.touching, evidence.rehearsal.passivity
    if touching is None:
        yield from (given.not_required(NOTHING_FELT), taken.not_required(NOTHING_FELT))
        return
    if passivity is None:
        reason = "no energy was observed: Rehearsal(passivity=Passivity())"
        yield from (given.not_judged(reason), taken.not_judged(reason))
        return
    found = contact_energy(evidence, touching)
    if found.size < _LEAST_ENERGY:
        untouched = given.not_judged, taken.not_judged
        if evidence.rehearsal.contact is None:
            untouched = given.not_required, taken.not_required
        yield from (make_criterion("nothing was touched") for make_criterion in untouched)
        return
    lowest, at = float(found.observed.min()), evidence.times[int(np.argmin(found.observed))]
    yield given.judge_value(
        max(-lowest, 0.0) / found.size,
        f"Lowest {lowest:.4g} J at {at:.4g} s, with {found.size:.4g} J in the contact.",
        "The delay drives the contact: compensate it, or let the passivity controller act.",
    )
    took = float(found.taken[-1])
    yield taken.judge_value(
        took / found.size,
        f"{took:.4g} J were taken out, with {found.size:.4g} J in the contact.",
        "What was rehearsed is damped by the controller, not by the contact: compensate the delay.",
    )


# ---- momentum


def momentum(evidence: Evidence) -> Iterator[Criterion]:
    """Criteria for the balance of momentum of every carried spacecraft against the measured wrenches."""
    for assignment in evidence.assignments:
        questions, name = _momentum_questions(evidence, assignment), evidence.craft_name(assignment)
        if not assignment.port:
            yield from (
                question.not_required(f"Does not apply: no sensor's wrench acts on {name}.") for question in questions
            )
            continue
        t = evidence.run.values("time")
        for question, values in zip(questions, momentum_gap(evidence, assignment), strict=True):
            size = np.linalg.norm(values, axis=1)
            at = int(np.argmax(size))
            found = f"{size[at]:.4g} {question.unit} s are missing at {t[at]:.4g} s."
            remedy = "Check the sensor's bias, the passivity controller's share, and the declared mass and inertia."
            yield question.judge_value(size[at] / max(float(t[-1]), evidence.cycle), found, remedy)


def _momentum_questions(evidence: Evidence, assignment: RobotAssignment) -> tuple[Question, Question]:
    """Questions for linear and angular momentum; a force error also acts by its lever to the start of the base."""
    accept, meaning = evidence.accept, (
        "Its momentum changes by the measured wrenches, to the sensors' accuracy; mean of what is missing."
    )  # fmt: skip
    start = evidence.run.values(f"{evidence.prefix(assignment)}base.position")[0]
    port = evidence.run.values(f"{assignment.frame}.position") if assignment.port else start[None]
    lever = float(np.linalg.norm(port - start, axis=1).max())  # [m]
    name, origin = f"momentum of {evidence.craft_name(assignment)}", accept.limit_from("sensor_force")
    return (
        Question(f"{name}, linear", meaning, accept.sensor_force, "at most", "N", origin),
        Question(
            f"{name}, angular", meaning, accept.sensor_torque + lever * accept.sensor_force, "at most", "N m", origin
        ),
    )


def momentum_gap(evidence: Evidence, assignment: RobotAssignment) -> Wrenches:
    """Change of momentum less the impulses of sensors and everything else, (n, 3) [N s], [N m s].

    Angular momentum is about the start position of the base.
    """
    run, prefix = evidence.run, evidence.prefix(assignment)
    P, L = (run.values(f"{prefix}momentum.{kind}") for kind in ("linear", "angular"))
    measured, other = evidence.impulse(evidence.measured_wrenches(assignment)), evidence.other_impulse(assignment)
    gap = P - P[0] - measured[0] - other[0]
    return gap, L - L[0] - measured[1] - other[1] - np.cross(run.values(f"{prefix}base.position")[0], gap)
