"""Does the motion answer the wrenches as the declared spacecraft would? Mass, moments of inertia and their ratios."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import numpy as np

from freefloat.dynamics import momentum_about_base
from freefloat.dynamics.tree import extended_inertias
from freefloat.hil.judging.evidence import Evidence, Question
from freefloat.hil.judging.inertias import AXES, InertiaEstimate, Motion, estimate_inertia
from freefloat.hil.judging.tracks import matrices, turned
from freefloat.hil.rehearsal import Carried
from freefloat.model import Spacecraft
from freefloat.spatial import SpatialInertia, angular, linear
from freefloat.values.verdicts import Criterion

_MOST_RECORDS = 2000  # that an estimate looks at
_CLEARLY = 3.0  # how many deviations must fit into a limit for the motion to tell
_OTHER = "The loop moves another spacecraft than the mission declares: correct its model, or the declaration."
_PUSH = "the motion cannot tell: {}. Push the spacecraft so that it answers, or weigh it."


def dynamics(evidence: Evidence) -> Iterator[Criterion]:
    """Of every carried spacecraft."""
    for one in evidence.carried:
        name = evidence.craft_name(one)
        mass, inertia, ratios = _questions(evidence, name)
        found = estimate(evidence, one)
        yield _mass(evidence, mass, name, found)
        yield _moments(evidence, inertia, name, found)
        yield _ratios(evidence, ratios, name, found)


def estimate(evidence: Evidence, one: Carried) -> InertiaEstimate:
    """The base body of a spacecraft, as its motion and the impulses on it have it."""
    run, prefix = evidence.run, evidence.prefix(one)
    craft = evidence.declared.craft(evidence.craft_name(one)) if prefix else evidence.declared.crafts[0]
    rows = slice(None, None, -(-len(run.values("time")) // _MOST_RECORDS))
    quat, p = run.values(f"{prefix}base.attitude")[rows], run.values(f"{prefix}base.position")[rows]
    v, w = (run.values(f"{prefix}base.{what}")[rows] for what in ("velocity", "rate"))
    R, p = matrices(quat), p - p[0]
    P, L = (run.values(f"{prefix}impulse.{kind}")[rows] for kind in ("linear", "angular"))
    L = L - np.cross(run.values(f"{prefix}base.position")[0], P)
    body = extended_inertias(craft, run.values(f"{prefix}state.q")[0])[0].rigid
    inner = _of_others(craft, body, run.values(f"{prefix}state.q")[rows], run.values(f"{prefix}state.v")[rows])
    P_others = turned(R, inner[0])
    L_others = turned(R, inner[1]) + np.cross(p, P_others)
    motion = Motion(R, p, v, w, P - P_others + P_others[0], L - L_others + L_others[0])
    return estimate_inertia(body, motion, _promised(evidence, prefix))


def _of_others(craft: Spacecraft, base: SpatialInertia, q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Momentum (P, L) about the base's origin, in its axes, of all bodies but the base: each (n, 3)."""
    if len(craft.bodies) == 1:
        return np.zeros((len(v), 3)), np.zeros((len(v), 3))
    whole = np.asarray(jax.jit(jax.vmap(lambda q, v: momentum_about_base(craft, q, v)))(q, v)).T
    own = np.asarray(base @ v[:, :6].T)
    return np.asarray(linear(whole - own)).T, np.asarray(angular(whole - own)).T


def _promised(evidence: Evidence, prefix: str) -> tuple[float, float]:
    """What the integrator may lose of linear and angular momentum, as the run's audit permits it."""
    owner = f"{prefix.removesuffix('.')}: " if prefix else ""
    permitted = {entry.quantity: entry.permitted for entry in evidence.run.audit.entries}
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
    return question.answer(abs(found.mass - 1.0), words, _OTHER)


def _moments(evidence: Evidence, question: Question, name: str, found: InertiaEstimate) -> Criterion:
    limit = evidence.accept.inertia
    known = [k for k in range(3) if found.moment_deviation(k) * _CLEARLY <= limit]
    if not known:
        best = min(found.moment_deviation(k) for k in range(3))
        return _cannot_tell(evidence, question, f"no moment is known better than to {_percent(best)}")
    away = {k: abs(float(found.moments[k]) - 1.0) for k in known}
    worst = [k for k in known if away[k] > limit] or [max(known, key=lambda k: away[k])]
    told = " and ".join(
        f"about {AXES[k]} is {_factor(float(found.moments[k]), found.moment_deviation(k))} times" for k in worst
    )
    unknown = [AXES[k] for k in range(3) if k not in known]
    aside = f" About {' and '.join(unknown)} the motion does not tell." if unknown else ""
    return question.answer(max(away.values()), f"The inertia of {name} {told} the declared one.{aside}", _OTHER)


def _ratios(evidence: Evidence, question: Question, name: str, found: InertiaEstimate) -> Criterion:
    limit, pairs = evidence.accept.inertia, ((0, 1), (0, 2), (1, 2))
    told = {pair: found.ratio(*pair) for pair in pairs if np.all(found.moments > 0.0)}
    known = {pair: ratio for pair, ratio in told.items() if ratio[1] * _CLEARLY <= limit}
    if not known:
        return _cannot_tell(evidence, question, "it hardly turns about more than one axis")
    (a, b), (value, deviation) = max(known.items(), key=lambda item: abs(item[1][0] - 1.0))
    which = f"about {AXES[a]} to that about {AXES[b]}"
    words = f"The ratio of the inertia of {name} {which} is {_factor(value, deviation)} times the declared one."
    return question.answer(abs(value - 1.0), words, _OTHER)


def _cannot_tell(evidence: Evidence, question: Question, why: str) -> Criterion:
    words = _PUSH.format(why)
    if question.name in evidence.accept.must_tell:
        return question.missing(words.removesuffix("."))
    return question.open(words[0].upper() + words[1:])


def _factor(value: float, deviation: float) -> str:
    """`1.200 ± 0.004`, with as many digits as are known, four at most."""
    digits = int(np.clip(1 - np.floor(np.log10(max(deviation, 1e-4))), 2, 4))
    return f"{value:.{digits}f} ± {max(deviation, 10.0**-digits):.{digits}f}"


def _percent(share: float) -> str:
    return f"{100.0 * share:.3g} %"
