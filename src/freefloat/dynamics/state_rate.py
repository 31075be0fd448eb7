"""The tangent of a state: how fast it changes, or a small step of it, and how such a step is taken.

Attitude changes by a rotation vector in base axes, everything else by addition.
"""

from __future__ import annotations

from typing import TypeVar

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model import Spacecraft, State
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import quaternion_exp, quaternion_multiply
from freefloat.values import record
from freefloat.values.arrays import Scalar, Vec3, Vector
from freefloat.values.compiling import compiled_on_call
from freefloat.values.tracing import once

Rate = TypeVar("Rate", bound="Tangent")


class Tangent:
    """Base class of records of rates: they can be scaled and added, number by number."""

    def __mul__(self: Rate, factor: Scalar | float) -> Rate:
        return jax.tree.map(lambda x: factor * x, self)

    def __add__(self: Rate, other: Rate) -> Rate:
        return jax.tree.map(jnp.add, self, other)


@record
class StateRate(Tangent):
    """Rate of a state, or a small step of it."""

    velocity: Vec3  # of the base origin, N axes
    turn: Vec3  # of the base, base axes
    q: Vector
    v: Vector

    @staticmethod
    def from_vector(values: Vector, nq: int) -> StateRate:
        """Rate of a state from one vector (velocity, turn, q, v), of which q has nq entries."""
        return StateRate(velocity=values[:3], turn=values[3:6], q=values[6 : 6 + nq], v=values[6 + nq :])

    def vector(self) -> Vector:
        """The rate as one vector: velocity, turn, q, v."""
        return jnp.concatenate([self.velocity, self.turn, self.q, self.v])


@compiled_on_call
def state_rate(craft: Spacecraft, state: State, vdot: Vector) -> StateRate:
    """Rate of a state that moves with its own speeds and accelerates by vdot."""
    return StateRate(
        velocity=state.X_NB.R @ linear(state.V_NB),
        turn=angular(state.V_NB),
        q=state.v[np.array(craft.layout.coordinates, dtype=int)],
        v=vdot,
    )


@once
def retract(state: State, step: StateRate) -> State:
    """Take a finite step from a state: the attitude moves on the group, everything else adds."""
    quat = quaternion_multiply(jnp.asarray(state.quat_NB), quaternion_exp(step.turn))
    return State(
        p_NB=state.p_NB + step.velocity,
        # One Newton step towards unit length: rounding must not add up over a million steps.
        quat_NB=quat * (1.5 - 0.5 * (quat @ quat)),
        q=state.q + step.q,
        v=state.v + step.v,
    )


def component_rates(state: State, rate: StateRate) -> State:
    """Rate of a state number by number, the quaternion's included: the direction for a derivative along a motion."""
    spin = jnp.concatenate([jnp.zeros(1), rate.turn])
    return State(
        p_NB=rate.velocity, quat_NB=0.5 * quaternion_multiply(jnp.asarray(state.quat_NB), spin), q=rate.q, v=rate.v
    )
