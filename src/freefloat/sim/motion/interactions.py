"""What happens between bodies: forces of interactions, how their inner states change, and the rates of their books."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from freefloat.model import Action, Clock, State, Truth
from freefloat.sim.system.craft_state import Inner
from freefloat.sim.system.software_checks import checked_call
from freefloat.sim.system.system import System
from freefloat.sim.system.varied_numbers import compile_system
from freefloat.spatial import angular, linear, six
from freefloat.spatial.rotations import cross
from freefloat.values import LawError, ModelError
from freefloat.values.arrays import Numeric, Scalar, Vec6, Vector

Margins = tuple[Vector, ...]  # of each interaction
Flags = tuple[Numeric, ...]  # of these margins


def begin_interactions(system: System) -> tuple[Inner, ...]:
    """Inner states at the start."""
    return tuple(Inner.at_start(one.begin(system.world)) for one in system.interactions)


def require_apart(system: System, states: tuple[State, ...]) -> None:
    """Refuse a start in which bodies overlap that are not meant to; the message says by how much."""
    if not system.interactions:
        return
    seen = compile_system(_seen_at_start, system, states)(states)
    for one, numbers in zip(system.interactions, seen, strict=True):
        if said := one.objection(numbers):
            raise ModelError(said)


def _seen_at_start(system: System, states: tuple[State, ...]) -> tuple[Any, ...]:
    return tuple(one.seen_at_start(Truth(system.world, states)) for one in system.interactions)


def margins(system: System, states: tuple[State, ...], inner: tuple[Inner, ...]) -> Margins:
    """Of every interaction."""
    truth, found = Truth(system.world, states), []
    for one, own in zip(system.interactions, inner, strict=True):
        with checked_call(one, "margins"):
            found.append(one.margins(truth, own.state))
    return tuple(found)


def flags(system: System, states: tuple[State, ...], inner: tuple[Inner, ...]) -> Flags:
    """Which pieces of their laws hold."""
    return tuple(margin > 0.0 for margin in margins(system, states, inner))


def actions(
    system: System, states: tuple[State, ...], inner: tuple[Inner, ...], on: Flags | None, t: Scalar, tick: Numeric
) -> tuple[Action, ...]:
    """What every interaction does; none of them where no flags are given at all."""
    if on == ():
        return ()
    on = flags(system, states, inner) if on is None else on
    truth, clock, found = Truth(system.world, states), Clock(t=t, tick=tick, dt=system.dt), []
    for one, own, mine in zip(system.interactions, inner, on, strict=True):
        with checked_call(one, "act"):
            action = one.act(truth, own.state, mine, clock)
        if len(action.forces) != len(states):
            raise LawError(f"{one.title}.act must give a force for each of the {len(states)} spacecraft.")
        found.append(action)
    return tuple(found)


def inner_rates(
    system: System, states: tuple[State, ...], inner: tuple[Inner, ...], found: tuple[Action, ...]
) -> tuple[Inner, ...]:
    """Rates of the inner states and their books."""
    nothing = jnp.zeros(())
    if not found:
        return tuple(
            Inner(_zeros(one.state), nothing, nothing, jnp.zeros(6), nothing, nothing, nothing) for one in inner
        )
    return tuple(
        Inner(
            state=action.rate,
            work=action.power,
            dissipated=action.heat,
            impulse=_together(states, action) if one.is_between_spacecraft(system.world) else jnp.zeros(6),
            unfinished=nothing,
            covered=nothing,
            turnover=nothing,
        )
        for one, action in zip(system.interactions, found, strict=True)
    )


def _zeros(state: object) -> object:
    return jax.tree.map(jnp.zeros_like, state)


def _together(states: tuple[State, ...], action: Action) -> Vec6:
    """Wrench on all spacecraft about the base origin of the first, N axes."""
    total = jnp.zeros(6)
    for state, force in zip(states, action.forces, strict=True):
        R, lever = state.X_NB.R, state.p_NB - states[0].p_NB
        push = R @ linear(force[:6])
        total = total + six(push, R @ angular(force[:6]) + cross(lever, push))
    return total
