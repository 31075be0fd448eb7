"""Is software ready to fly? Everything that is wrong with it, in sentences, without a run."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np

from freefloat.model import Software, Spacecraft, State, World
from freefloat.sim.kernel import act
from freefloat.sim.motion.accelerations import balances
from freefloat.sim.start import begin
from freefloat.sim.system.system import SystemState, assemble
from freefloat.sim.system.tick import tick_of
from freefloat.values import LawError, ModelError


def check_software(
    law: Any,
    craft: Spacecraft | World,
    *others: Any,
    state: State | None = None,
    dt: float = 0.01,
) -> list[str]:
    """What is wrong with software of one's own, on a spacecraft and beside other parts; nothing if it can run.

    It is begun, asked at its tick and in a step, at the start and at states near it: wrong names and sizes, missing
    sensors, slips with traced values, memories that change their shape, and commands that are not finite are told.
    """
    if not isinstance(law, Software):
        kind = law.__name__ if isinstance(law, type) else type(law).__name__
        return [f"{kind} is no software: give an instance of a class that derives from ff.Software."]
    try:
        world = World.of(craft)
        given = world.at_rest() if state is None else (state, *world.at_rest()[1:])
        system, loop = begin(assemble(world, (*others, law), dt), given)

        def once(loop: SystemState) -> Any:
            tick = tick_of(system, loop)
            acting = act(system, loop, {}, tick)
            return acting, balances(system, acting.states, acting, {}, tick, tick.t, tick.t + 1e-9 * dt)

        found = []
        compiled = jax.jit(once)
        for number in range(_STATES):
            acting, now = compiled(_shaken(loop, number))
            found += _not_finite(law, acting, now)
        return list(dict.fromkeys(found))
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        return _sentences(law, error)


def _sentences(law: Software, error: Exception) -> list[str]:
    """Our own words as they are, an objection a line; those of Python with the name of the software."""
    lines = str(error.args[0] if error.args else error).splitlines() or [""]
    return lines if isinstance(error, (LawError, ModelError)) else [f"{law.title}: {type(error).__name__}: {lines[0]}"]


_STATES = 4  # the start, and some near it
_NEAR = 1e-2  # how far they are away [m, rad, m/s, rad/s]


def _shaken(loop: SystemState, number: int) -> SystemState:
    """The start for number 0, states near it for others."""
    rng = np.random.default_rng(number)

    def shaken(x: Any) -> Any:
        size = _NEAR if number and np.asarray(x).dtype.kind == "f" else 0.0
        return x + size * rng.normal(size=np.shape(x)) if size else x

    plants = tuple(dataclasses.replace(plant, state=_shaken_state(plant.state, shaken)) for plant in loop.plants)
    return dataclasses.replace(loop, plants=plants)


def _shaken_state(state: State, shaken: Any) -> State:
    quat = shaken(state.quat_NB)
    return State(p_NB=shaken(state.p_NB), quat_NB=quat / np.linalg.norm(quat), q=shaken(state.q), v=shaken(state.v))


def _not_finite(law: Software, acting: SystemState, now: Any) -> list[str]:
    found = []
    if not all(np.all(np.isfinite(x)) for x in jax.tree.leaves(acting.software[-1].commands)):
        found.append(f"{law.title}.command gave a number that is not finite. Look for a division by zero or a root.")
    if not found and not all(np.all(np.isfinite(one.vdot)) for one in now):
        found.append(f"With {law.title} the accelerations are not finite. Look for a division by zero or a root.")
    return found
