"""The plant's state with its books: the integrals of work and impulse that the audit needs, kept beside the motion."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model import State
from freefloat.spatial import record
from freefloat.spatial.arrays import Scalar, Vec3, Vec6, Vector
from freefloat.spatial.rotations import quaternion_exp, quaternion_multiply


@record
class Ledger:
    """What went in and out since the start."""

    work: Scalar  # done by motors, prescribed motion and external wrenches [J]
    dissipated: Scalar  # in joint damping [J]
    impulse: Vec6  # of external wrenches about the inertial origin, N axes [N s, N m s]
    inner_work: (
        Scalar  # the part of the work that goes into the inner motion: about the centre of mass, wheels apart [J]
    )
    turning: Vec3  # angular impulse of external wrenches about the centre of mass, N axes [N m s]

    @staticmethod
    def empty() -> Ledger:
        """Nothing happened yet."""
        nothing = np.zeros(())
        return Ledger(work=nothing, dissipated=nothing, impulse=np.zeros(6), inner_work=nothing, turning=np.zeros(3))


@record
class Plant:
    """State of the spacecraft and its ledger."""

    state: State
    ledger: Ledger


@record
class PlantRate:
    """Rate of a plant, or a small step of it: attitude as a rotation vector in base axes."""

    velocity: Vec3  # of the base origin, N axes
    turn: Vec3  # base axes
    q: Vector
    v: Vector
    ledger: Ledger

    def __mul__(self, factor: Scalar | float) -> PlantRate:
        return jax.tree.map(lambda x: factor * x, self)

    def __add__(self, other: PlantRate) -> PlantRate:
        return jax.tree.map(jnp.add, self, other)


def retract(plant: Plant, step: PlantRate) -> Plant:
    """Take a finite step from a plant: the attitude moves on the group, everything else adds."""
    state = plant.state
    quat = quaternion_multiply(jnp.asarray(state.quat_NB), quaternion_exp(step.turn))
    return Plant(
        state=State(
            p_NB=state.p_NB + step.velocity,
            # One Newton step towards unit length: rounding must not add up over a million steps.
            quat_NB=quat * (1.5 - 0.5 * (quat @ quat)),
            q=state.q + step.q,
            v=state.v + step.v,
        ),
        ledger=jax.tree.map(jnp.add, plant.ledger, step.ledger),
    )
