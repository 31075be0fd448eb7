"""A spacecraft's state with its ledger: integrals of work and impulse that the audit needs, kept beside the motion."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.state_rate import StateRate, Tangent, retract
from freefloat.model import State
from freefloat.values import record
from freefloat.values.arrays import Scalar, Vec3, Vec6, Vector


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
class InteractionState:
    """State of an interaction between bodies, with its work, dissipation and impulse since the start."""

    state: Any  # as the interaction's `begin` made it
    work: Scalar  # that it did on spacecraft [J]
    dissipated: Scalar  # that it lost [J]
    impulse: Vec6  # on all spacecraft together, about the base origin of the first, N axes; what stands still apart
    unfinished: Scalar  # steps that were too stiff to be finished
    covered: Scalar  # the smallest share of a step that was
    turnover: Scalar  # the most work [J] that it had done or taken at any instant, also between records

    @staticmethod
    def at_start(state: Any) -> InteractionState:
        """The state of an interaction that has done nothing yet."""
        nothing = np.zeros(())
        return InteractionState(state, nothing, nothing, np.zeros(6), nothing, np.ones(()), nothing)


@record
class WheelLog:
    """Times at which wheels with a limited momentum became full, in the order of `Wiring.limited_wheels`."""

    count: Vector  # how often each did
    at: Vector  # when it last did [s]
    ready: Vector  # 1 where it may do so anew
    last: Vector  # when it was last full [s]


@record
class CraftState:
    """State of a spacecraft and its ledger; the first one also has the states of interactions and the log of wheels."""

    state: State
    ledger: Ledger
    inner: tuple[InteractionState, ...] = ()  # of each interaction of the system
    wheels: WheelLog | None = None  # of all wheels; None where none has a limited momentum


Plants = tuple[CraftState, ...]  # of a world, in the order of its spacecraft


@record
class CraftStateRate(Tangent):
    """Rate of a spacecraft's state and ledger, or a small step of them."""

    state: StateRate
    ledger: Ledger
    inner: tuple[InteractionState, ...] = ()


@record
class WorldRate(Tangent):
    """Rates of all spacecraft of a world, or a small step of them."""

    plants: tuple[CraftStateRate, ...]

    @property
    def states(self) -> StateRates:
        """The rates of the motion, without those of the ledgers."""
        return StateRates(tuple(plant.state for plant in self.plants), tuple(plant.inner for plant in self.plants))


@record
class StateRates(Tangent):
    """Rates of all states of a world, and of the states of interactions."""

    states: tuple[StateRate, ...]
    inner: tuple[tuple[InteractionState, ...], ...]


def retract_plants(plants: Plants, step: WorldRate) -> Plants:
    """The plants after a finite step; the entries of the ledgers add."""
    return tuple(
        dataclasses.replace(
            plant,
            state=retract(plant.state, rate.state),
            ledger=jax.tree.map(jnp.add, plant.ledger, rate.ledger),
            inner=jax.tree.map(jnp.add, plant.inner, rate.inner),
        )
        for plant, rate in zip(plants, step.plants, strict=True)
    )


def zero_rate(plants: Plants) -> WorldRate:
    """The rate of a world in which nothing moves."""
    return WorldRate(tuple(map(_zero_rate, plants)))


def _zero_rate(plant: CraftState) -> CraftStateRate:
    state = plant.state
    return CraftStateRate(
        state=StateRate(velocity=jnp.zeros(3), turn=jnp.zeros(3), q=jnp.zeros_like(state.q), v=jnp.zeros_like(state.v)),
        ledger=jax.tree.map(jnp.zeros_like, plant.ledger),
        inner=jax.tree.map(jnp.zeros_like, plant.inner),
    )
