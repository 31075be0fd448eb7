"""Linear models by exact derivatives."""

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.elastic import damping_force, elastic_force
from freefloat.dynamics.forward import forward_dynamics
from freefloat.model import Spacecraft, State
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import dexp_inverse, rotation_exp
from freefloat.values import record
from freefloat.values.arrays import Matrix, Vector


@record
class LinearModel:
    """d(dx) = A dx + B dforce about a state; dx = (base displacement in N, base rotation in base axes, dq, dv)."""

    A: Matrix
    B: Matrix


def linearise(craft: Spacecraft, state: State, force: Vector) -> LinearModel:
    """Linear model of the free spacecraft about a state and a generalised force that holds it there."""
    state, force = craft.require_state(state), craft.layout.require_size("force", force)
    origin = jnp.zeros(6 + craft.layout.nq + craft.layout.nv)
    A, B = jax.jacfwd(lambda dx, f: deviation_rate(craft, state, dx, f), argnums=(0, 1))(origin, force)
    return LinearModel(A=A, B=B)


def deviation_rate(craft: Spacecraft, state: State, deviation: Vector, force: Vector) -> Vector:
    """Rate of a deviation dx from a reference that keeps the state's twist."""
    nq = craft.layout.nq
    coordinates = np.array(craft.layout.coordinates, dtype=int)
    turn = rotation_exp(deviation[3:6])
    q, v = state.q + deviation[6 : 6 + nq], state.v + deviation[6 + nq :]
    # The rotation error exp(theta) = R_ref^T R turns with the difference of the two rates, in our axes.
    turn_rate = dexp_inverse(deviation[3:6], angular(v[:6]) - turn.T @ angular(state.v[:6]))
    velocity = state.X_NB.R @ turn @ linear(v[:6])
    structure = elastic_force(craft, q) + damping_force(craft, v)
    vdot = forward_dynamics(craft, q, v, force + structure)
    return jnp.concatenate([velocity, turn_rate, v[coordinates], vdot])
