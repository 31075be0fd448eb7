"""A spacecraft's state with its ledger: integrals of work and impulse that the audit needs, kept beside the motion."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.state_rate import StateRate, Tangent, retract
from freefloat.model import State
from freefloat.values import record
from freefloat.values.arrays import Scalar, Vec3, Vec6


@record
class Exchange:
    """Work and impulse of connections and contacts on a spacecraft. Over all spacecraft the impulses cancel."""

    work: Scalar  # [J]; over all spacecraft it is what was lost at events, with the other sign
    impulse: Vec6  # from other spacecraft, about the inertial origin, N axes [N s, N m s]


@record
class Ledger:
    """Work, dissipation and impulse of a spacecraft since the start."""

    work: Scalar  # done by motors, prescribed motion and external wrenches [J]
    dissipated: Scalar  # in joint damping [J]
    impulse: Vec6  # of external wrenches about the inertial origin, N axes [N s, N m s]
    inner_work: Scalar  # the part of the work that goes into the motion about the centre of mass, wheels apart [J]
    angular_impulse_com: Vec3  # of external wrenches about the centre of mass, N axes [N m s]
    exchange: Exchange | None = None  # with what it is connected to; None in a world without connections

    @staticmethod
    def empty(*, connected: bool = False) -> Ledger:
        """A ledger of zeros, as at the start."""
        nothing = np.zeros(())
        return Ledger(
            work=nothing,
            dissipated=nothing,
            impulse=np.zeros(6),
            inner_work=nothing,
            angular_impulse_com=np.zeros(3),
            exchange=Exchange(work=nothing, impulse=np.zeros(6)) if connected else None,
        )


@record
class CraftState:
    """State of a spacecraft and its ledger."""

    state: State
    ledger: Ledger


@record
class CraftStateRate(Tangent):
    """Rate of a spacecraft's state and ledger, or a small step of them."""

    state: StateRate
    ledger: Ledger


def retract_craft(plant: CraftState, step: CraftStateRate) -> CraftState:
    """The spacecraft after a finite step; the entries of the ledger add."""
    return CraftState(retract(plant.state, step.state), jax.tree.map(jnp.add, plant.ledger, step.ledger))


def zero_craft_rate(plant: CraftState) -> CraftStateRate:
    """The rate of a spacecraft that does not move."""
    state = plant.state
    return CraftStateRate(
        state=StateRate(velocity=jnp.zeros(3), turn=jnp.zeros(3), q=jnp.zeros_like(state.q), v=jnp.zeros_like(state.v)),
        ledger=jax.tree.map(jnp.zeros_like, plant.ledger),
    )
