"""The contact: is the delay that is left below the critical one, who gave energy, and does momentum balance?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from freefloat.hil.delay import estimate_delay
from freefloat.hil.facts import expected_margin
from freefloat.hil.judging.evidence import Evidence, Question, Wrenches
from freefloat.hil.rehearsal import Carried
from freefloat.sim.verdicts import Criterion

_SEEN = 1e-4  # [m]; of less motion no delay can be told
_LEAST_ENERGY = 1e-9  # [J], below it nothing touched
_NOTHING_FELT = "Does not apply: nothing is felt, no wrist sensor is used."


# ---- delay


def delay(evidence: Evidence) -> Iterator[Criterion]:
    """What is left of the robots' delay, against the critical one of the expected contact."""
    question = Question.of(
        evidence, "delay", "delay left",
        "A contact that stays closed decays: the delay that is left, as a share of the critical one.",
    )  # fmt: skip
    if evidence.rehearsal.touching is None:
        yield question.open(_NOTHING_FELT)
        return
    left, how = delay_left(evidence)
    margin = expected_margin(evidence.rehearsal, left)
    if margin is None:
        yield question.missing(
            "the rehearsal does not say which contact is expected: Rehearsal(contact=ExpectedContact(...))"
        )
        return
    share = left / margin.critical_delay if margin.critical_delay > 0.0 else (np.inf if left > 0.0 else 0.0)
    found = (
        f"{1e3 * left:.4g} ms are left ({how}); {1e3 * evidence.delay:.4g} ms are made up for. A contact of "
        f"{margin.stiffness:g} N/m and {margin.damping:g} N s/m on {margin.mass:.4g} kg bears "
        f"{1e3 * margin.critical_delay:.4g} ms."
    )
    yield question.answer(
        share,
        found,
        "The delay is too near the critical one: compensate it, or make the contact softer or more damped.",
    )


def delay_left(evidence: Evidence) -> tuple[float, str]:
    """The largest delay [s] of a robot that is not made up for, and how it is known."""
    seen = {one.robot: _observed(evidence, one) for one in evidence.carried}
    seen = {robot: found for robot, found in seen.items() if np.isfinite(found)}
    stated = float(evidence.log.about.get("stated_delay", 0.0))
    if not seen:
        return max(stated - evidence.delay, 0.0), "as the facility states it: the robots hardly move"
    slowest = max(seen, key=lambda robot: seen[robot])
    return max(seen[slowest] - evidence.delay, 0.0), f"observed on robot '{slowest}'"


def _observed(evidence: Evidence, one: Carried) -> float:
    """Shift between commanded and measured positions of the whole run [s]; NaN where it cannot be told."""
    p = [evidence.log[f"{one.robot}.{which}.position"] for which in ("commanded", "measured")]
    sound = np.isfinite(p[1]).all(axis=1)
    if np.max(np.ptp(p[0][sound], axis=0), initial=0.0) < _SEEN:
        return float("nan")
    return estimate_delay(evidence.times[sound], p[0][sound], p[1][sound])


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
        power = power - evidence.middle(f"{evidence.prefix(other)}base").power(*wrenches)
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
        yield from (given.open(_NOTHING_FELT), taken.open(_NOTHING_FELT))
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
