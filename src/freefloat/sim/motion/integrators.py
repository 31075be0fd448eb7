"""Runge-Kutta on the group: the attitude is stepped by the exponential map (Munthe-Kaas), the rest as usual."""

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.sim.system.craft_state import CraftStateRate
from freefloat.sim.system.world_state import (
    InteractionState,
    StateRates,
    WorldRate,
    WorldState,
    retract_states,
    retract_world,
    zero_rate,
)
from freefloat.spatial.rotations import dexp_inverse, dexp_inverse_second_order
from freefloat.values.arrays import Numeric, Scalar, Vec3
from freefloat.values.tracing import scan

# A rate is a function of the plants, a time, and a time strictly inside the step: where a command of software has a
# corner at a tick, its derivative must be taken on the side of the step that is being made.
RateFunction = Callable[[WorldState, Scalar, Scalar], WorldRate]
_INSIDE = 1e-9  # of a step

# Classical fourth order: node of each stage (as a fraction of the step) and its weight.
_RK4_NODES = np.array([0.0, 0.5, 0.5, 1.0])
_RK4_WEIGHTS = np.array([1.0, 2.0, 2.0, 1.0]) / 6.0


def rk4_step(rate: RateFunction, plants: WorldState, t: Scalar, h: Scalar | float) -> WorldState:
    """One step of the classical fourth-order method. No rate depends on the ledgers, so stages need states only."""

    def stage(carry: tuple[StateRates, WorldRate], row: jax.Array) -> tuple[tuple[StateRates, WorldRate], None]:
        last, total = carry
        node, weight = row[0], row[1]
        delta = last * (node * h)
        k = rate(retract_states(plants, delta), t + node * h, t + jnp.clip(node, _INSIDE, 1.0 - _INSIDE) * h)
        k = _with_turns(k, delta, dexp_inverse_second_order)
        return (k.states, total + k * weight), None

    nothing = zero_rate(plants)
    rows = jnp.stack([_RK4_NODES, _RK4_WEIGHTS], axis=1)
    (_, mean), _ = scan(stage, (nothing.states, nothing), rows)
    return retract_world(plants, mean * h)


# Dormand and Prince 5(4), J. Comp. Appl. Math. 6 (1980): nodes, stages, weights of the error. The last stage looks at
# the fifth-order result itself.
_DP_NODES = np.array([0.0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1.0, 1.0])
_DP_STAGES = np.zeros((7, 7))
for _row, _weights in enumerate(
    (
        (),
        (1 / 5,),
        (3 / 40, 9 / 40),
        (44 / 45, -56 / 15, 32 / 9),
        (19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729),
        (9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656),
        (35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84),
    )
):
    _DP_STAGES[_row, : len(_weights)] = _weights
_DP_ERROR = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])


def dormand_prince_step(
    rate: RateFunction, plants: WorldState, t: Scalar, h: Scalar, tolerance: float
) -> tuple[WorldState, Scalar]:
    """One attempted step of order five and its error in units of the tolerance: accept it if that is at most one."""
    reached, error = dormand_prince_attempt(rate, plants, t, h)
    return reached, _in_units_of(tolerance, error, plants)


def dormand_prince_attempt(
    rate: RateFunction, plants: WorldState, t: Scalar, h: Scalar
) -> tuple[WorldState, WorldRate]:
    """One attempted step of order five and its error, component by component."""

    def combine(ks: WorldRate, weights: Numeric) -> WorldRate:
        return jax.tree.map(lambda k: h * jnp.tensordot(weights, k, axes=1), ks)

    def stage(ks: WorldRate, row: tuple[jax.Array, ...]) -> tuple[WorldRate, None]:
        node, weights, own = row
        delta = combine(ks, weights)
        k = rate(retract_world(plants, delta), t + node * h, t + jnp.clip(node, _INSIDE, 1.0 - _INSIDE) * h)
        k = _with_turns(k, delta.states, dexp_inverse)
        # Each stage's rate goes to its own place among the seven.
        return jax.tree.map(lambda all_, new: all_ + jnp.tensordot(own, new, axes=0), ks, k), None

    nothing = jax.tree.map(lambda x: jnp.zeros((7, *x.shape)), zero_rate(plants))
    ks, _ = scan(stage, nothing, (jnp.asarray(_DP_NODES), jnp.asarray(_DP_STAGES), jnp.eye(7)))
    reached = retract_world(plants, combine(ks, _DP_STAGES[-1]))
    return reached, combine(ks, _DP_ERROR)


def _with_turns(rate: WorldRate, delta: StateRates, correct: Callable[[Vec3, Vec3], Vec3]) -> WorldRate:
    """The rates with each turn corrected for the rotation that the stage has made already."""

    def with_turn(plant: CraftStateRate, turn: Vec3) -> CraftStateRate:
        state = dataclasses.replace(plant.state, turn=correct(turn, plant.state.turn))
        return dataclasses.replace(plant, state=state)

    crafts = tuple(with_turn(plant, step.turn) for plant, step in zip(rate.crafts, delta.states, strict=True))
    return dataclasses.replace(rate, crafts=crafts)


def _interaction_pairs(
    error: tuple[InteractionState, ...], values: tuple[InteractionState, ...]
) -> list[tuple[Numeric, Numeric]]:
    """Errors of the states of interactions, each with its value."""
    leaves = zip(
        jax.tree.leaves([own.state for own in error]), jax.tree.leaves([own.state for own in values]), strict=True
    )
    return [(jnp.ravel(e), jnp.ravel(x)) for e, x in leaves]


def _in_units_of(tolerance: float, error: WorldRate, plants: WorldState) -> Scalar:
    """Largest error of the motion over tolerance * (1 + its size): mixed absolute and relative, in SI units."""
    pairs = []
    for found, state in zip(error.crafts, plants.states, strict=True):
        rate = found.state
        pairs += [(rate.velocity, state.p_NB), (rate.turn, jnp.zeros(3)), (rate.q, state.q), (rate.v, state.v)]
    pairs += _interaction_pairs(error.interactions, plants.interactions)
    return jnp.max(jnp.concatenate([jnp.abs(e) / (tolerance * (1.0 + jnp.abs(x))) for e, x in pairs]))
