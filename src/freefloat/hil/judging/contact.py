"""The contact: who gave energy, who took it out, and does momentum balance?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from freefloat.hil.judging.evidence import NOTHING_FELT, Evidence, Question, Wrenches
from freefloat.hil.rehearsal import Carried
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
        """The largest that the contact held or turned into heat."""
        return float(np.ptp(self.through))


def contact_energy(evidence: Evidence, touching: Carried) -> ContactEnergy:
    """From the wrenches of the log and the motion of the run, relative to what is touched."""
    measured, felt = evidence.measured(touching), evidence.felt(touching)
    correction = felt[0] - measured[0], felt[1] - measured[1]
    return ContactEnergy(
        evidence.log["energy"], -_work(evidence, touching, correction), _work(evidence, touching, measured)
    )


def _work(evidence: Evidence, touching: Carried, wrenches: Wrenches) -> np.ndarray:
    """Work [J] at the port since the start, of a wrench between two spacecraft, or one and the floor."""
    power = evidence.middle(touching.frame).power(*wrenches)
    other = evidence.partner(touching)
    if other is not None:
        touched = other.frame if other.port else f"{evidence.prefix(other)}base"
        power = power - evidence.middle(touched).power(*wrenches)
    return np.concatenate([[0.0], np.cumsum(power)[:-1]]) * evidence.cycle


def energy(evidence: Evidence) -> Iterator[Criterion]:
    """What the delay gave, and what the passivity controller took out, over the energy in the contact."""
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
        yield from (given.open(NOTHING_FELT), taken.open(NOTHING_FELT))
        return
    if passivity is None:
        said = "no energy was observed: Rehearsal(passivity=Passivity())"
        yield from (given.missing(said), taken.missing(said))
        return
    found = contact_energy(evidence, touching)
    if found.size < _LEAST_ENERGY:
        untouched = given.missing, taken.missing
        if evidence.rehearsal.contact is None:
            untouched = given.open, taken.open
        yield from (one("nothing was touched") for one in untouched)
        return
    lowest, at = float(found.observed.min()), evidence.times[int(np.argmin(found.observed))]
    yield given.answer(
        max(-lowest, 0.0) / found.size,
        f"Lowest {lowest:.4g} J at {at:.4g} s, with {found.size:.4g} J in the contact.",
        "The delay drives the contact: compensate it, or let the passivity controller act.",
    )
    took = float(found.taken[-1])
    yield taken.answer(
        took / found.size,
        f"{took:.4g} J were taken out, with {found.size:.4g} J in the contact.",
        "What was rehearsed is damped by the controller, not by the contact: compensate the delay.",
    )


# ---- momentum


def momentum(evidence: Evidence) -> Iterator[Criterion]:
    """Of every carried spacecraft that feels something, closed by what the wrist sensors say."""
    for one in evidence.carried:
        questions, name = _momentum_questions(evidence, one), evidence.craft_name(one)
        if not one.port:
            yield from (question.open(f"Does not apply: no sensor's wrench acts on {name}.") for question in questions)
            continue
        t = evidence.run.values("time")
        for question, values in zip(questions, momentum_gap(evidence, one), strict=True):
            size = np.linalg.norm(values, axis=1)
            at = int(np.argmax(size))
            found = f"{size[at]:.4g} {question.unit} s are missing at {t[at]:.4g} s."
            remedy = "Check the sensor's bias, the passivity controller's share, and the declared mass and inertia."
            yield question.answer(size[at] / max(float(t[-1]), evidence.cycle), found, remedy)


def _momentum_questions(evidence: Evidence, one: Carried) -> tuple[Question, Question]:
    """What a sensor's force is wrong by turns the spacecraft too, by its lever to where the base was."""
    accept, meaning = evidence.accept, (
        "Its momentum changes by the measured wrenches, to the sensors' accuracy; mean of what is missing."
    )  # fmt: skip
    start = evidence.run.values(f"{evidence.prefix(one)}base.position")[0]
    port = evidence.run.values(f"{one.frame}.position") if one.port else start[None]
    lever = float(np.linalg.norm(port - start, axis=1).max())  # [m]
    name, origin = f"momentum of {evidence.craft_name(one)}", accept.limit_from("sensor_force")
    return (
        Question(f"{name}, linear", meaning, accept.sensor_force, "at most", "N", origin),
        Question(
            f"{name}, angular", meaning, accept.sensor_torque + lever * accept.sensor_force, "at most", "N m", origin
        ),
    )


def momentum_gap(evidence: Evidence, one: Carried) -> Wrenches:
    """Change of momentum less what the sensors and everything else handed over, (n, 3) [N s], [N m s].

    Angular momentum is about where its base was at the start.
    """
    run, prefix = evidence.run, evidence.prefix(one)
    P, L = (run.values(f"{prefix}momentum.{kind}") for kind in ("linear", "angular"))
    measured, other = evidence.impulse(evidence.measured(one)), evidence.other_impulse(one)
    gap = P - P[0] - measured[0] - other[0]
    return gap, L - L[0] - measured[1] - other[1] - np.cross(run.values(f"{prefix}base.position")[0], gap)
