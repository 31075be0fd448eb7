"""Criteria: does the motion follow the wrenches as for the declared mass, moments of inertia and their ratios?"""

from __future__ import annotations

from collections.abc import Iterator

import jax
import numpy as np

from freefloat.dynamics import momentum_about_base
from freefloat.dynamics.tree import extended_inertias
from freefloat.hil.judging.evidence import Evidence, Question
from freefloat.hil.judging.inertias import AXES, BodyMotion, InertiaEstimate, estimate_inertia
from freefloat.hil.judging.tracks import rotate_vectors, rotation_matrices
from freefloat.hil.rehearsal import RobotAssignment
from freefloat.model import Spacecraft
from freefloat.spatial import SpatialInertia, angular, linear
from freefloat.values.verdicts import Criterion

_MOST_RECORDS = 2000  # records that an estimate uses
_CLEARLY = 3.0  # standard deviations that must fit into a limit for a judgement
_OTHER = "The loop moves another spacecraft than the mission declares: correct its model, or the declaration."
_PUSH = "the motion cannot tell: {}. Push the spacecraft so that it answers, or weigh it."


def dynamics(evidence: Evidence) -> Iterator[Criterion]:
    """Criteria for mass, inertia and inertia ratios of every carried spacecraft."""
    for assignment in evidence.assignments:
        name = evidence.craft_name(assignment)
        mass, inertia, ratios = _questions(evidence, name)
        found = estimate_base_inertia(evidence, assignment)
        yield _mass(evidence, mass, name, found)
        yield _moments(evidence, inertia, name, found)
        yield _ratios(evidence, ratios, name, found)


def estimate_base_inertia(evidence: Evidence, assignment: RobotAssignment) -> InertiaEstimate:
    """Mass and inertia of the base body of a spacecraft, estimated from its motion and the impulses on it."""
    run, prefix = evidence.run, evidence.prefix(assignment)
    craft = evidence.declared.craft(evidence.craft_name(assignment)) if prefix else evidence.declared.crafts[0]
    rows = slice(None, None, -(-len(run.values("time")) // _MOST_RECORDS))
    quat, p = run.values(f"{prefix}base.attitude")[rows], run.values(f"{prefix}base.position")[rows]
    v, w = (run.values(f"{prefix}base.{what}")[rows] for what in ("velocity", "rate"))
    R, p = rotation_matrices(quat), p - p[0]
    P, L = (run.values(f"{prefix}impulse.{kind}")[rows] for kind in ("linear", "angular"))
    L = L - np.cross(run.values(f"{prefix}base.position")[0], P)
    body = extended_inertias(craft, run.values(f"{prefix}state.q")[0])[0].rigid
    P_inner, L_inner = _other_momentum(
        craft, body, run.values(f"{prefix}state.q")[rows], run.values(f"{prefix}state.v")[rows]
    )
    P_others = rotate_vectors(R, P_inner)
    L_others = rotate_vectors(R, L_inner) + np.cross(p, P_others)
    motion = BodyMotion(R, p, v, w, P - P_others + P_others[0], L - L_others + L_others[0])
    return estimate_inertia(body, motion, _integration_loss(evidence, prefix))


def _other_momentum(
    craft: Spacecraft, base: SpatialInertia, q: np.ndarray, v: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Momentum (P, L) about the base's origin, in its axes, of all bodies but the base: each (n, 3)."""
    if len(craft.bodies) == 1:
        return np.zeros((len(v), 3)), np.zeros((len(v), 3))
    whole = np.asarray(jax.jit(jax.vmap(lambda q, v: momentum_about_base(craft, q, v)))(q, v)).T
    own = np.asarray(base @ v[:, :6].T)
    return np.asarray(linear(whole - own)).T, np.asarray(angular(whole - own)).T


def _integration_loss(evidence: Evidence, prefix: str) -> tuple[float, float]:
    """Linear and angular momentum that the integrator may lose, as the run's audit permits it."""
    owner = f"{prefix.removesuffix('.')}: " if prefix else ""
    permitted = {entry.name: entry.limit for entry in evidence.run.audit.entries}
    linear_lost = permitted.get(f"{owner}linear momentum", 0.0)
    return linear_lost, permitted.get(f"{owner}angular momentum about the centre of mass", 0.0)


# ---- criteria


def _questions(evidence: Evidence, name: str) -> tuple[Question, Question, Question]:
    return (
        Question.of(
            evidence, "mass", f"mass of {name}",
            "The mass that explains how the spacecraft moved under the measured wrenches is the declared one.",
        ),
        Question.of(
            evidence, "inertia", f"inertia of {name}",
            "The moments of inertia that explain how it turned under the measured wrenches are the declared ones.",
        ),
        Question.of(
            evidence, "inertia", f"inertia ratios of {name}",
            "The ratios of its moments of inertia that explain how it tumbles are the declared ones.",
        ),
    )  # fmt: skip


def _mass(evidence: Evidence, question: Question, name: str, found: InertiaEstimate) -> Criterion:
    words = f"The mass of {name} is {_factor(found.mass, found.mass_deviation)} times the declared one."
    if found.mass_deviation * _CLEARLY > evidence.accept.mass:
        return _cannot_tell(evidence, question, f"the mass is known to {_percent(found.mass_deviation)} only")
    return question.judge_value(abs(found.mass - 1.0), words, _OTHER)


def _moments(evidence: Evidence, question: Question, name: str, found: InertiaEstimate) -> Criterion:
    limit = evidence.accept.inertia
    known = [k for k in range(3) if found.moment_deviation(k) * _CLEARLY <= limit]
    if not known:
        best = min(found.moment_deviation(k) for k in range(3))
        return _cannot_tell(evidence, question, f"no moment is known better than to {_percent(best)}")
    away = {k: abs(float(found.moments[k]) - 1.0) for k in known}
    worst = [k for k in known if away[k] > limit] or [max(known, key=lambda k: away[k])]
    factors = " and ".join(
        f"about {AXES[k]} is {_factor(float(found.moments[k]), found.moment_deviation(k))} times" for k in worst
    )
    unknown = [AXES[k] for k in range(3) if k not in known]
    aside = f" About {' and '.join(unknown)} the motion does not tell." if unknown else ""
    return question.judge_value(max(away.values()), f"The inertia of {name} {factors} the declared one.{aside}", _OTHER)


def _ratios(evidence: Evidence, question: Question, name: str, found: InertiaEstimate) -> Criterion:
    limit, pairs = evidence.accept.inertia, ((0, 1), (0, 2), (1, 2))
    ratios = {pair: found.ratio(*pair) for pair in pairs if np.all(found.moments > 0.0)}
    known = {pair: ratio for pair, ratio in ratios.items() if ratio[1] * _CLEARLY <= limit}
    if not known:
        return _cannot_tell(evidence, question, "it hardly turns about more than one axis")
    (a, b), (value, deviation) = max(known.items(), key=lambda item: abs(item[1][0] - 1.0))
    which = f"about {AXES[a]} to that about {AXES[b]}"
    words = f"The ratio of the inertia of {name} {which} is {_factor(value, deviation)} times the declared one."
    return question.judge_value(abs(value - 1.0), words, _OTHER)


def _cannot_tell(evidence: Evidence, question: Question, why: str) -> Criterion:
    words = _PUSH.format(why)
    if question.name in evidence.accept.must_tell:
        return question.not_judged(words.removesuffix("."))
    return question.not_required(words[0].upper() + words[1:])


def _factor(value: float, deviation: float) -> str:
    """`1.200 ± 0.004`, with as many digits as are known, four at most."""
    digits = int(np.clip(1 - np.floor(np.log10(max(deviation, 1e-4))), 2, 4))
    return f"{value:.{digits}f} ± {max(deviation, 10.0**-digits):.{digits}f}"


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"
