"""Interactions between bodies: their forces, the rates of their inner states, and of their work and impulse."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from freefloat.model import Action, Clock, State, Truth
from freefloat.sim.system.software_checks import checked_call
from freefloat.sim.system.system import System
from freefloat.sim.system.varied_numbers import compile_system
from freefloat.sim.system.world_state import InteractionState
from freefloat.spatial import angular, linear, six
from freefloat.spatial.rotations import cross
from freefloat.values import ModelError, SoftwareError
from freefloat.values.arrays import Numeric, Scalar, Vec6, Vector

Margins = tuple[Vector, ...]  # of each interaction
Flags = tuple[Numeric, ...]  # of these margins


def begin_interactions(system: System) -> tuple[InteractionState, ...]:
    """Inner states of all interactions at the start."""
    return tuple(InteractionState.at_start(interaction.begin(system.world)) for interaction in system.interactions)


def require_apart(system: System, states: tuple[State, ...]) -> None:
    """Raise an error for a start in which bodies overlap that must not; the message says by how much."""
    if not system.interactions:
        return
    measured = compile_system(_seen_at_start, system, states)(states)
    for interaction, numbers in zip(system.interactions, measured, strict=True):
        if fault := interaction.start_fault(numbers):
            raise ModelError(fault)


def _seen_at_start(system: System, states: tuple[State, ...]) -> tuple[Any, ...]:
    return tuple(interaction.start_measurements(Truth(system.world, states)) for interaction in system.interactions)


def margins(system: System, states: tuple[State, ...], inner: tuple[InteractionState, ...]) -> Margins:
    """Margins of every interaction; see `Interaction.margins`."""
    truth, found = Truth(system.world, states), []
    for interaction, own in zip(system.interactions, inner, strict=True):
        with checked_call(interaction, "margins"):
            found.append(interaction.margins(truth, own.state))
    return tuple(found)


def flags(system: System, states: tuple[State, ...], inner: tuple[InteractionState, ...]) -> Flags:
    """Flags of the pieces of interactions that act: their margin is positive."""
    return tuple(margin > 0.0 for margin in margins(system, states, inner))


def actions(
    system: System,
    states: tuple[State, ...],
    inner: tuple[InteractionState, ...],
    on: Flags | None,
    t: Scalar,
    tick: Numeric,
) -> tuple[Action, ...]:
    """Actions of every interaction: forces, power, heat; none if `on` is ()."""
    if on == ():
        return ()
    on = flags(system, states, inner) if on is None else on
    truth, clock, found = Truth(system.world, states), Clock(t=t, tick=tick, dt=system.dt), []
    for interaction, own, mine in zip(system.interactions, inner, on, strict=True):
        with checked_call(interaction, "act"):
            action = interaction.act(truth, own.state, mine, clock)
        if len(action.forces) != len(states):
            raise SoftwareError(f"{interaction.title}.act must give a force for each of the {len(states)} spacecraft.")
        found.append(action)
    return tuple(found)


def inner_rates(
    system: System, states: tuple[State, ...], inner: tuple[InteractionState, ...], found: tuple[Action, ...]
) -> tuple[InteractionState, ...]:
    """Rates of the inner states of interactions, and of their work, dissipation and impulse."""
    nothing = jnp.zeros(())
    others = {"unfinished": nothing, "covered": nothing, "turnover": nothing}
    if not found:
        return tuple(
            InteractionState(jax.tree.map(jnp.zeros_like, own.state), nothing, nothing, jnp.zeros(6), **others)
            for own in inner
        )
    return tuple(
        InteractionState(
            state=action.rate,
            work=action.power,
            dissipated=action.heat,
            impulse=_together(states, action) if interaction.is_between_spacecraft(system.world) else jnp.zeros(6),
            **others,
        )
        for interaction, action in zip(system.interactions, found, strict=True)
    )


def _together(states: tuple[State, ...], action: Action) -> Vec6:
    """Total wrench of an action on all spacecraft about the base origin of the first, N axes [N, N m]."""
    total = jnp.zeros(6)
    for state, force in zip(states, action.forces, strict=True):
        R, lever = state.X_NB.R, state.p_NB - states[0].p_NB
        push = R @ linear(force[:6])
        total = total + six(push, R @ angular(force[:6]) + cross(lever, push))
    return total
