"""Check of a user's software before a run: every fault that can be found without simulating, one sentence each."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import numpy as np

from freefloat.model import Software, Spacecraft, State, World
from freefloat.sim.kernel import run_tick
from freefloat.sim.motion.accelerations import balances
from freefloat.sim.start import begin
from freefloat.sim.system.system import SystemState, assemble, tick_of
from freefloat.values import ModelError, SoftwareError


def check_software(
    software: Any, craft: Spacecraft | World, *others: Any, state: State | None = None, dt: float = 0.01
) -> list[str]:
    """Faults of a user's software on a spacecraft, beside other parts, one sentence each; an empty list if it can run.

    The software begins, and gives commands at its tick and within a step, at the start and at states near it. Reported
    are wrong names and sizes, missing sensors, wrong use of traced values, memories that change their shape, and
    commands that are not finite.
    """
    if not isinstance(software, Software):
        kind = software.__name__ if isinstance(software, type) else type(software).__name__
        return [f"{kind} is no software: give an instance of a class that derives from ff.Software."]
    try:
        world = World.of(craft)
        given = world.at_rest() if state is None else (state, *world.at_rest()[1:])
        system, system_state = begin(assemble(world, (*others, software), dt), given)

        def once(system_state: SystemState) -> Any:
            tick = tick_of(system, system_state)
            acting = run_tick(system, system_state, {}, tick)
            return acting, balances(system, acting.states, acting, {}, tick, tick.t, tick.t + 1e-9 * dt).crafts

        found = []
        compiled = jax.jit(once)
        for number in range(_STATES):
            acting, now = compiled(_with_perturbed_numbers(system_state, number))
            found += _not_finite(software, acting, now)
        return list(dict.fromkeys(found))
    except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError) as error:
        return _sentences(software, error)


def _sentences(software: Software, error: Exception) -> list[str]:
    """An error as sentences: messages of freefloat unchanged, those of Python with the name of the software."""
    lines = str(error.args[0] if error.args else error).splitlines() or [""]
    return (
        lines
        if isinstance(error, (SoftwareError, ModelError))
        else [f"{software.title}: {type(error).__name__}: {lines[0]}"]
    )


_STATES = 4  # the start, and some near it
_NEAR = 1e-2  # how far they are away [m, rad, m/s, rad/s]


def _with_perturbed_numbers(state: SystemState, number: int) -> SystemState:
    """The start state for number 0, a random state near it for any other number."""
    rng = np.random.default_rng(number)

    def perturbed_number(x: Any) -> Any:
        size = _NEAR if number and np.asarray(x).dtype.kind == "f" else 0.0
        return x + size * rng.normal(size=np.shape(x)) if size else x

    plants = state.plants.with_states(_perturbed_state(craft_state, perturbed_number) for craft_state in state.states)
    return dataclasses.replace(state, plants=plants)


def _perturbed_state(state: State, perturb: Any) -> State:
    quat = perturb(state.quat_NB)
    return State(p_NB=perturb(state.p_NB), quat_NB=quat / np.linalg.norm(quat), q=perturb(state.q), v=perturb(state.v))


def _not_finite(software: Software, acting: SystemState, now: Any) -> list[str]:
    found = []
    if not all(np.all(np.isfinite(x)) for x in jax.tree.leaves(acting.software[-1].commands)):
        found.append(
            f"{software.title}.command gave a number that is not finite. Look for a division by zero or a root."
        )
    if not found and not all(np.all(np.isfinite(balance.vdot)) for balance in now):
        found.append(f"With {software.title} the accelerations are not finite. Look for a division by zero or a root.")
    return found
