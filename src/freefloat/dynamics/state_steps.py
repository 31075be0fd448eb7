"""A step of fourth order of several states at once, each attitude on the group, as runs are stepped by default."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.state_rate import StateRate, retract
from freefloat.model import State
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import dexp_inverse_second_order
from freefloat.values.arrays import Scalar, Vec6
from freefloat.values.tracing import scan

States = tuple[State, ...]
Rates = tuple[StateRate, ...]
# Classical fourth order: where each stage looks (as a fraction of the step) and how much it counts.
_NODES = np.array([0.0, 0.5, 0.5, 1.0])
_WEIGHTS = np.array([1.0, 2.0, 2.0, 1.0]) / 6.0


def frame_rate(state: State, vdot: Vec6) -> StateRate:
    """Rate of the state of a body without joints whose twist changes by vdot."""
    velocity, turn = state.X_NB.R @ linear(state.V_NB), angular(state.V_NB)
    return StateRate(velocity=velocity, turn=turn, q=jnp.zeros(0), v=vdot)


def step_states(
    rates: Callable[[States, Scalar], Rates], states: States, t: Scalar | float, h: Scalar | float
) -> States:
    """The states one step h later; every stage calls `rates` for all of them at its time."""

    def stage(carry: tuple[Rates, Rates], row: jax.Array) -> tuple[tuple[Rates, Rates], None]:
        last, total = carry
        steps = tuple(rate * (row[0] * h) for rate in last)
        there = tuple(retract(state, step) for state, step in zip(states, steps, strict=True))
        found = tuple(
            dataclasses.replace(rate, turn=dexp_inverse_second_order(step.turn, rate.turn))
            for rate, step in zip(rates(there, t + row[0] * h), steps, strict=True)
        )
        return (found, tuple(a + b * row[1] for a, b in zip(total, found, strict=True))), None

    nothing = tuple(
        StateRate(jnp.zeros(3), jnp.zeros(3), jnp.zeros_like(state.q), jnp.zeros_like(state.v)) for state in states
    )
    (_, mean), _ = scan(stage, (nothing, nothing), jnp.stack([_NODES, _WEIGHTS], axis=1))
    return tuple(retract(state, rate * h) for state, rate in zip(states, mean, strict=True))
