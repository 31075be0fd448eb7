"""A spacecraft's state with its books: integrals of work and impulse that the audit needs, kept beside the motion."""

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
    """The part of a ledger that connections and contacts make. Over all spacecraft the impulses cancel."""

    work: Scalar  # [J]; over all spacecraft it is what was lost at events, with the other sign
    impulse: Vec6  # from other spacecraft, about the inertial origin, N axes [N s, N m s]


@record
class Ledger:
    """What went in and out since the start."""

    work: Scalar  # done by motors, prescribed motion and external wrenches [J]
    dissipated: Scalar  # in joint damping [J]
    impulse: Vec6  # of external wrenches about the inertial origin, N axes [N s, N m s]
    inner_work: Scalar  # the part of the work that goes into the motion about the centre of mass, wheels apart [J]
    turning: Vec3  # angular impulse of external wrenches about the centre of mass, N axes [N m s]
    exchange: Exchange | None = None  # with what it is connected to; None in a world without connections

    @staticmethod
    def empty(*, connected: bool = False) -> Ledger:
        """All zero, as at the start."""
        nothing = np.zeros(())
        return Ledger(
            work=nothing,
            dissipated=nothing,
            impulse=np.zeros(6),
            inner_work=nothing,
            turning=np.zeros(3),
            exchange=Exchange(work=nothing, impulse=np.zeros(6)) if connected else None,
        )


@record
class Inner:
    """State of an interaction between bodies, and its books."""

    state: Any  # as the interaction's `begin` made it
    work: Scalar  # that it did on spacecraft [J]
    dissipated: Scalar  # that it lost [J]
    impulse: Vec6  # on all spacecraft together, about the base origin of the first, N axes; what stands still apart
    unfinished: Scalar  # steps that were too stiff to be finished
    covered: Scalar  # the smallest share of a step that was
    turnover: Scalar  # the most work [J] that it had done or taken at any instant, also between records

    @staticmethod
    def at_start(state: Any) -> Inner:
        """Nothing done yet."""
        nothing = np.zeros(())
        return Inner(state, nothing, nothing, np.zeros(6), nothing, np.ones(()), nothing)


@record
class WheelLog:
    """When wheels with a limited momentum became full, in the order of `Wiring.limited_wheels`."""

    count: Vector  # how often each did
    at: Vector  # when it last did [s]
    ready: Vector  # 1 where it may do so anew
    last: Vector  # when it was last full [s]


@record
class Plant:
    """State of a spacecraft and its ledger; the first one has what happens between bodies, too."""

    state: State
    ledger: Ledger
    inner: tuple[Inner, ...] = ()  # of each interaction of the system
    wheels: WheelLog | None = None  # of all wheels; None where none has a limited momentum


Plants = tuple[Plant, ...]  # of a world, in the order of its spacecraft


@record
class PlantRate(Tangent):
    """Rate of a plant, or a small step of it."""

    state: StateRate
    ledger: Ledger
    inner: tuple[Inner, ...] = ()


@record
class WorldRate(Tangent):
    """Rates of all plants of a world, or a small step of them."""

    plants: tuple[PlantRate, ...]

    @property
    def states(self) -> StateRates:
        """The motion without the books."""
        return StateRates(tuple(plant.state for plant in self.plants), tuple(plant.inner for plant in self.plants))


@record
class StateRates(Tangent):
    """Rates of all states of a world, and of what is between bodies."""

    states: tuple[StateRate, ...]
    inner: tuple[tuple[Inner, ...], ...]


def retract_plants(plants: Plants, step: WorldRate) -> Plants:
    """Take a finite step; the books add."""
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
    """No motion."""
    return WorldRate(tuple(map(_zero_rate, plants)))


def _zero_rate(plant: Plant) -> PlantRate:
    state = plant.state
    return PlantRate(
        state=StateRate(velocity=jnp.zeros(3), turn=jnp.zeros(3), q=jnp.zeros_like(state.q), v=jnp.zeros_like(state.v)),
        ledger=jax.tree.map(jnp.zeros_like, plant.ledger),
        inner=jax.tree.map(jnp.zeros_like, plant.inner),
    )
