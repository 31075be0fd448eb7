"""Why a run became non-finite: which channel did first, when, and the likely cause with its remedy."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.state_rate import StateRate, retract
from freefloat.engine import compile
from freefloat.model import Clock
from freefloat.sim.kernel import run_tick
from freefloat.sim.motion.accelerations import derivative
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.rollout import Engine, ToleranceError
from freefloat.sim.system.software_checks import ports_for
from freefloat.sim.system.system import System, SystemState, tick_of

_CALM = 1e3  # speeds that a spacecraft may have [rad/s, m/s]; a motion beyond them is already diverging
_WILD = 1e9  # speeds that only an unstable motion reaches
_STABLE = 2.7  # RK4 damps what decays at a rate W while W h is below this, in every direction of the complex plane
_STAGES = np.array([0.0, 0.5, 1.0 - 1e-9, 1.0])  # of a step, at which parts are asked
_UNTIL_WILD = 5.0  # so many times over e, at least, does a motion grow by itself that gets from calm to wild

Table = Mapping[str, np.ndarray]
Retry = Callable[[SystemState], Iterator[SystemState]]  # goes on from a state, every step recorded


def first_non_finite(block: SystemState) -> int | None:
    """Number of the first record whose state is not finite; None if all are finite."""
    numbers = [x for state in block.states for x in (state.p_NB, state.quat_NB, state.q, state.v)]
    bad = ~np.all(np.isfinite(np.concatenate(numbers, axis=-1)), axis=-1)
    return int(np.argmax(bad)) if bad.any() else None


def explain_divergence(
    system: System, records: SystemState, table: Table, since: int, retry: Retry, target: Engine, *, fixed: bool
) -> str:
    """The status of a run whose next record is not finite; `retry` records every step after the last one.

    `table`: inputs at every tick from number `since` on.
    """
    try:
        return _explain(system, records, table, since, retry, target, fixed=fixed)
    except (KeyboardInterrupt, ToleranceError, np.linalg.LinAlgError):
        # What was recorded is worth more than the explanation.
        return f"the motion became non-finite after t = {float(records.tick[-1]) * system.dt:g} s"


def _explain(
    system: System, records: SystemState, table: Table, since: int, retry: Retry, target: Engine, *, fixed: bool
) -> str:
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
    row = int(before.tick) - since
    inputs = {port: values[min(row, len(values) - 1)] for port, values in table.items()}
    culprit = _software_at_fault(system, before, inputs, target) or _effect_at_fault(system, before, inputs, target)
    if culprit:
        entry, cause_text = culprit
        return f"{entry} {when}: {cause_text}. Look there for a division by zero or the root of a negative number"
    entry, largest = _largest(system, before)
    if largest < _WILD:
        return f"{entry} {when}, in one step. Look for a division by zero in a part, or shorten dt = {system.dt:g} s"
    entry, cause = _instability(system, _calm(records), inputs, float(before.tick), target, fixed=fixed)
    return f"{entry} {when}: {cause}"


# ---- names


def _channels(system: System) -> list[str]:
    """Channel names of all entries of v, of all spacecraft one after the other."""
    found = []
    for c, craft in enumerate(system.world.crafts):
        layout = craft.layout
        names = [f"base.{kind} ({axis})" for kind in ("velocity", "rate") for axis in "xyz"]
        for name in layout.order("v")[1:]:
            place = layout.velocity(name)
            if name in layout.wheels:
                names.append(f"wheels.speed ({name})")
            elif name in layout.joints:
                names.append(f"joints.rate ({name})")
            elif name in (motors := layout.motor_coordinates(layout.flexible_joints)):
                names.append(f"motors.rate ({layout.flexible_joints[motors.index(name)]})")
            else:
                body = name.removesuffix(".modes")
                names += [f"{body}.modal_rates ({k + 1})" for k in range(place.stop - place.start)]
        found += [system.world.prefix(c) + name for name in names]
    return found


def _speeds(state: SystemState) -> np.ndarray:
    """All entries of v of all spacecraft."""
    return np.concatenate([np.asarray(craft_state.v) for craft_state in state.states], axis=-1)


def _largest(system: System, state: SystemState) -> tuple[str, float]:
    """Channel name and size of the largest entry of v."""
    size = np.abs(_speeds(state))
    return _channels(system)[int(np.argmax(size))], float(np.max(size))


# ---- causes


def _software_at_fault(
    system: System, state: SystemState, inputs: dict[str, np.ndarray], target: Engine
) -> tuple[str, str] | None:
    """(channel, sentence) of the first software whose command in the coming step is not finite."""

    def commands_at(state: SystemState, inputs: dict[str, Any], t: Any) -> list[Any]:
        tick = tick_of(system, state)
        acting = run_tick(system, state, inputs, tick)
        here = PortBus(system, acting, acting.states, inputs, t, tick.number)
        return [here.commands(k) for k in range(len(system.software))]

    if not system.software:
        return None
    start = float(state.tick) * system.dt
    program = compile(commands_at, state, inputs, start, target=target)
    for t in start + system.dt * _STAGES:
        for k, commands in enumerate(program(state, inputs, t)):
            for command in commands:
                answer = np.asarray(command.numbers)
                if not np.all(np.isfinite(answer)):
                    place = int(np.argmin(np.isfinite(answer)))
                    sentence = f"{system.software[k].title}.command gave {answer[place]:g} at t = {t:g} s"
                    return _channel_of(system, k, command, place), sentence
    return None


def _effect_at_fault(
    system: System, state: SystemState, inputs: dict[str, np.ndarray], target: Engine
) -> tuple[str, str] | None:
    """(channel, sentence) of the first effect whose force in the coming step is not finite."""

    def forces_at(state: SystemState, inputs: dict[str, Any], t: Any) -> list[Any]:
        acting = run_tick(system, state, inputs, tick_of(system, state))
        clock = Clock(t=t, tick=state.tick, dt=system.dt)
        return [effect.force(system.world.crafts[c], acting.states[c], clock) for effect, c in pushes]

    pushes = [
        (effect, c) for effect in system.effects for c in range(len(system.world.crafts)) if system.acts_on(effect, c)
    ]
    if not pushes:
        return None
    start, names = float(state.tick) * system.dt, _channels(system)
    program = compile(forces_at, state, inputs, start, target=target)
    for t in start + system.dt * _STAGES:
        for (effect, c), force in zip(pushes, program(state, inputs, t), strict=True):
            if not np.all(np.isfinite(force)):
                place = int(np.argmin(np.isfinite(force)))
                before = sum(craft.layout.nv for craft in system.world.crafts[:c])
                return names[before + place], f"{effect.title}.force gave {force[place]:g} at t = {t:g} s"
    return None


def _channel_of(system: System, k: int, command: Any, place: int) -> str:
    """Name of the channel that entry number `place` of a command drives."""
    c = system.wiring.software[k].craft
    layout = system.world.crafts[c].layout
    for _, port in ports_for(system, c, command)[:1]:
        parts = command.parts or port.parts
        if port.drives:
            place = layout.velocity(port.drives[port.parts.index(parts[place])]).start
    before = sum(craft.layout.nv for craft in system.world.crafts[:c])
    return _channels(system)[before + min(place, layout.nv - 1)]


def _calm(records: SystemState) -> SystemState:
    """The last record before speeds exceeded a bound that no sound motion reaches."""
    calm = np.flatnonzero(np.max(np.abs(_speeds(records)), axis=-1) < _CALM)
    return jax.tree.map(lambda x: x[calm[-1] if calm.size else 0], records)


def _instability(
    system: System, calm: SystemState, inputs: dict[str, np.ndarray], ticks: float, target: Engine, *, fixed: bool
) -> tuple[str, str]:
    """Channel and cause of an instability: too long a step, a motion that grows by itself, or too long a period."""
    rates, modes = _motion_rates(system, calm, inputs, target)
    dt, fastest, growing = system.dt, int(np.argmax(np.abs(rates))), int(np.argmax(np.real(rates)))
    names = _channels(system)
    swiftness, growth = float(np.abs(rates[fastest])), float(rates[growing].real)
    if fixed and swiftness * dt > _STABLE and growth < 0.5 * swiftness:
        return names[int(np.argmax(np.abs(modes[:, fastest])))], (
            f"the step dt = {dt:g} s is too long for the fastest rate of the motion, {swiftness:.3g} rad/s. "
            # A whole fraction of the step, so that everything which fitted it still does.
            f"Use dt = {dt / np.ceil(dt * swiftness):.10g} s or less, or lower the gain or stiffness that is so fast"
        )
    if growth * dt * ticks > _UNTIL_WILD:
        acting = ", ".join(part.title for part in (*system.effects, *system.software)) or "nothing acts"
        return names[int(np.argmax(np.abs(modes[:, growing])))], (
            f"the motion grows by itself at {growth:.3g} 1/s ({acting}). Check the signs and the gains"
        )
    largest, _ = _largest(system, calm)
    if any(software.period is not None for software in system.software):
        return largest, "sampled software acts too strongly for its period. Lower its gain or shorten its period"
    return largest, f"the motion is unstable. Shorten dt = {dt:g} s, or lower the gains"


def _motion_rates(
    system: System, state: SystemState, inputs: dict[str, np.ndarray], target: Engine
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues [1/s] of the motion about a state with commands held, and v of each mode; by central differences."""
    layouts = [craft.layout for craft in system.world.crafts]
    lengths = [6 + layout.nq + layout.nv for layout in layouts]
    ends = np.cumsum(lengths)

    def rate(state: SystemState, inputs: dict[str, Any], x: Any) -> Any:
        tick = tick_of(system, state)
        acting = run_tick(system, state, inputs, tick)
        moved = (
            retract(craft_state, StateRate.from_vector(x[end - n : end], layout.nq))
            for craft_state, end, n, layout in zip(state.states, ends, lengths, layouts, strict=True)
        )
        plants = state.plants.with_states(moved)
        found = derivative(system, plants, acting, inputs, tick, tick.t, tick.t)
        return jnp.concatenate([plant.state.vector() for plant in found.crafts])

    size = np.concatenate([np.concatenate([np.ones(6), 1.0 + np.abs(s.q), 1.0 + np.abs(s.v)]) for s in state.states])
    steps = np.diag(1e-6 * size)
    compiled = compile(rate, state, inputs, np.zeros(len(size)), target=target)
    ahead, behind = (
        np.asarray(compiled.batch(state, inputs, sign * steps, in_axes=(None, None, 0))) for sign in (1.0, -1.0)
    )
    rates, modes = np.linalg.eig(((ahead - behind) / (2e-6 * size[:, None])).T)
    speeds = np.concatenate([np.arange(end - layout.nv, end) for end, layout in zip(ends, layouts, strict=True)])
    return rates, modes[speeds]
