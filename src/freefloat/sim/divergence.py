"""Why a run left the finite numbers: which channel did first, when, and the likely cause with its remedy."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import jax
import numpy as np

from freefloat.control.laws import MotionLaw, motion_of
from freefloat.dynamics.state_rate import StateRate, retract
from freefloat.engine import compile
from freefloat.model import State
from freefloat.model.layout import Layout
from freefloat.sim.rollout import Engine, ToleranceError
from freefloat.sim.system import Sampled, System, SystemState, derivative, inner_law, no_inputs, recall_law, sample

_CALM = 1e3  # speeds that a spacecraft may have [rad/s, m/s]; a motion beyond them is already diverging
_WILD = 1e9  # speeds that only an unstable motion reaches
_STABLE = 2.7  # RK4 damps what decays at a rate W while W h is below this, in every direction of the complex plane
_UNTIL_WILD = 5.0  # so many times over e, at least, does a motion grow by itself that gets from calm to wild

Retry = Callable[[SystemState], Iterator[SystemState]]  # goes on from a state, every step recorded


def first_non_finite(block: SystemState) -> int | None:
    """Number of the first record whose state is not finite; None if there is none."""
    state = block.plant.state
    bad = ~np.all(np.isfinite(np.concatenate([state.p_NB, state.quat_NB, state.q, state.v], axis=-1)), axis=-1)
    return int(np.argmax(bad)) if bad.any() else None


def explain_divergence(system: System, records: SystemState, retry: Retry, target: Engine, *, fixed: bool) -> str:
    """The status of a run whose next record is not finite; `retry` goes on from the last one, every step recorded."""
    try:
        return _explain(system, records, retry, target, fixed=fixed)
    except (KeyboardInterrupt, ToleranceError, np.linalg.LinAlgError):
        # What was recorded is worth more than the explanation.
        return f"the motion became non-finite after t = {float(records.tick[-1]) * system.dt:g} s"


def _explain(system: System, records: SystemState, retry: Retry, target: Engine, *, fixed: bool) -> str:
    before = jax.tree.map(lambda x: x[-1], records)
    after = before
    for block in retry(before):
        k = first_non_finite(block)
        after = jax.tree.map(lambda x, k=k: x[len(x) - 1 if k is None else k], block)
        if k is not None:
            before = jax.tree.map(lambda x, k=k: x[k - 1], block) if k else before
            break
        before = after
    when = f"became non-finite at t = {float(after.tick) * system.dt:g} s"
    culprit = _law_at_fault(system, before, target)
    if culprit:
        entry, said = culprit
        return f"{entry} {when}: {said}. Look there for a division by zero or the root of a negative number"
    entry, largest = _largest(system.craft.layout, before.plant.state)
    if largest < _WILD:
        return f"{entry} {when}, in one step. Look for a division by zero in a law, or shorten dt = {system.dt:g} s"
    entry, cause = _instability(system, _calm(records), float(before.tick), target, fixed=fixed)
    return f"{entry} {when}: {cause}"


# ---- names


def _channels(layout: Layout) -> list[str]:
    """The channel of every entry of v."""
    names = [f"base.{kind} ({axis})" for kind in ("velocity", "rate") for axis in "xyz"]
    for name in layout.order("v")[1:]:
        place = layout.velocity(name)
        if name in layout.wheels:
            names.append(f"wheels.speed ({name})")
        elif name in layout.joints:
            names.append(f"joints.rate ({name})")
        else:
            body = name.removesuffix(".modes")
            names += [f"{body}.modal_rates ({k + 1})" for k in range(place.stop - place.start)]
    return names


def _largest(layout: Layout, state: State) -> tuple[str, float]:
    """The fastest entry of v, by the name of its channel."""
    size = np.abs(np.asarray(state.v))
    return _channels(layout)[int(np.argmax(size))], float(np.max(size))


# ---- causes


def _law_at_fault(system: System, loop: SystemState, target: Engine) -> tuple[str, str] | None:
    """(channel, sentence) of the first law whose answer in the coming step is not finite."""

    def answers(loop: SystemState, t: Any) -> list[Any]:
        found, state = [], loop.plant.state
        for law, (memory, held) in zip(system.laws, sample(system, loop), strict=True):
            acting = recall_law(law, memory)
            if isinstance(law, Sampled):
                found.append(held)
            elif isinstance(acting, MotionLaw):
                found.append(acting.rates(motion_of(system.craft, state), t, 0.0))
            else:
                found.append(acting.force(state, t, 0.0))
        return found

    if not system.laws:
        return None
    start, layout = float(loop.tick) * system.dt, system.craft.layout
    asked = compile(answers, loop, start, target=target)
    for t in start + system.dt * np.array([0.0, 0.5, 1.0 - 1e-9, 1.0]):
        for law, answer in zip(system.laws, asked(loop, t), strict=True):
            if not np.all(np.isfinite(answer)):
                inner, k = inner_law(law), int(np.argmin(np.isfinite(answer)))
                moves = isinstance(inner, MotionLaw)
                place = layout.velocity(inner.joints[k]).start if moves else k
                method = "rates" if moves else "sample" if hasattr(inner, "sample") else "force"
                return _channels(layout)[place], f"{type(inner).__name__}.{method} gave {answer[k]:g} at t = {t:g} s"
    return None


def _calm(records: SystemState) -> SystemState:
    """The last record before the motion went wild."""
    calm = np.flatnonzero(np.max(np.abs(records.plant.state.v), axis=-1) < _CALM)
    return jax.tree.map(lambda x: x[calm[-1] if calm.size else 0], records)


def _instability(system: System, calm: SystemState, ticks: float, target: Engine, *, fixed: bool) -> tuple[str, str]:
    """Channel and cause: a motion that grows by itself, too long a step, or a law that is held too long."""
    rates, modes = _motion_rates(system, calm, target)
    dt, fastest, growing = system.dt, int(np.argmax(np.abs(rates))), int(np.argmax(np.real(rates)))
    names = _channels(system.craft.layout)
    swiftness, growth = float(np.abs(rates[fastest])), float(rates[growing].real)
    if fixed and swiftness * dt > _STABLE and growth < 0.5 * swiftness:
        return names[int(np.argmax(np.abs(modes[:, fastest])))], (
            f"the step dt = {dt:g} s is too long for the fastest rate of the motion, {swiftness:.3g} rad/s. "
            # A whole fraction of the step, so that everything which fitted it still does.
            f"Use dt = {dt / np.ceil(dt * swiftness):.10g} s or less, or lower the gain or stiffness that is so fast"
        )
    if growth * dt * ticks > _UNTIL_WILD:
        laws = ", ".join(type(inner_law(law)).__name__ for law in system.laws) or "no law"
        return names[int(np.argmax(np.abs(modes[:, growing])))], (
            f"the motion grows by itself at {growth:.3g} 1/s ({laws}). Check the signs and the gains"
        )
    largest, _ = _largest(system.craft.layout, calm.plant.state)
    if any(isinstance(law, Sampled) for law in system.laws):
        return largest, "a sampled law acts too strongly for its period. Lower its gain or shorten its period"
    return largest, f"the motion is unstable. Shorten dt = {dt:g} s, or lower the gains"


def _motion_rates(system: System, loop: SystemState, target: Engine) -> tuple[np.ndarray, np.ndarray]:
    """Rates [1/s] of the motion about an instant, held answers held, and v of each; by central differences."""
    nq, nv = system.craft.layout.nq, system.craft.layout.nv

    def rate(loop: SystemState, x: Any) -> Any:
        state = retract(loop.plant.state, StateRate.from_vector(x, nq))
        plant = dataclasses.replace(loop.plant, state=state)
        t = loop.tick * system.dt
        held = sample(system, loop)
        return derivative(system, plant, held, no_inputs(system), t, t).state.vector()

    size = np.concatenate([np.ones(6), 1.0 + np.abs(loop.plant.state.q), 1.0 + np.abs(loop.plant.state.v)])
    steps = np.diag(1e-6 * size)
    compiled = compile(rate, loop, np.zeros(6 + nq + nv), target=target)
    ahead, behind = (np.asarray(compiled.batch(loop, sign * steps, in_axes=(None, 0))) for sign in (1.0, -1.0))
    rates, modes = np.linalg.eig(((ahead - behind) / (2e-6 * size[:, None])).T)
    return rates, modes[6 + nq :]
