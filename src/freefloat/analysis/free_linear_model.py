"""The linear model of a free spacecraft by exact derivatives, as a function that can itself be traced."""

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.elastic import damping_force, elastic_force
from freefloat.dynamics.forward import forward_dynamics
from freefloat.dynamics.state_rate import StateRate
from freefloat.model import Spacecraft, State
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import dexp_inverse, rotation_exp
from freefloat.values import record
from freefloat.values.arrays import Matrix, Vector, is_traced
from freefloat.values.compiling import over_rows


@record
class FreeLinearModel:
    """d(dx) = A dx + B dforce about a state; dx = (base displacement in N, base rotation in base axes, dq, dv)."""

    A: Matrix
    B: Matrix


def linearise_free(craft: Spacecraft, state: State, force: Vector) -> FreeLinearModel:
    """Linear model of the free spacecraft about a state and a generalised force that holds it there."""
    state, force = craft.require_state(state), craft.layout.require_size("force", force)
    size = 6 + craft.layout.nq + craft.layout.nv
    directions = np.eye(size + craft.layout.nv)
    if is_traced(craft, state, force):
        rates = jax.vmap(lambda direction: _change(craft, state, force, direction))(directions)
    else:
        rates = over_rows(_change, craft, state, np.asarray(force, dtype=float), rows=directions)
    return FreeLinearModel(A=rates[:size].T, B=rates[size:].T)


def _change(craft: Spacecraft, state: State, force: Vector, direction: Vector) -> Vector:
    """Derivative of the rate of a deviation along one direction of (deviation, force)."""
    origin = jnp.zeros(6 + craft.layout.nq + craft.layout.nv), force
    both = direction[: len(origin[0])], direction[len(origin[0]) :]
    return jax.jvp(lambda dx, f: deviation_rate(craft, state, dx, f), origin, both)[1]


def deviation_rate(craft: Spacecraft, state: State, deviation: Vector, force: Vector) -> Vector:
    """Rate of a deviation dx from a reference that moves on with the twist of the state."""
    step = StateRate.from_vector(deviation, craft.layout.nq)
    coordinates = np.array(craft.layout.coordinates, dtype=int)
    turn = rotation_exp(step.turn)
    q, v = state.q + step.q, state.v + step.v
    structure = elastic_force(craft, q) + damping_force(craft, q, v)
    rate = StateRate(
        velocity=state.X_NB.R @ turn @ linear(v[:6]),
        # The rotation error exp(theta) = R_ref^T R turns with the difference of the rates, in deviated base axes.
        turn=dexp_inverse(step.turn, angular(v[:6]) - turn.T @ angular(state.v[:6])),
        q=v[coordinates],
        v=forward_dynamics(craft, q, v, force + structure),
    )
    return rate.vector()
