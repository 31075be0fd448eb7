"""State of a world: of its spacecraft with their ledgers, of interactions between bodies, and the log of wheels."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.state_rate import StateRate, Tangent, retract
from freefloat.model import State
from freefloat.sim.system.craft_state import CraftState, CraftStateRate, retract_craft, zero_craft_rate
from freefloat.values import record
from freefloat.values.arrays import Scalar, Vec6, Vector


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
class WorldState:
    """State of all spacecraft of a world, and of what belongs to the world as a whole; iterates over the spacecraft."""

    crafts: tuple[CraftState, ...]  # in the order of the world
    interactions: tuple[InteractionState, ...] = ()  # of each interaction of the system
    wheels: WheelLog | None = None  # of all wheels; None where none has a limited momentum

    def __iter__(self) -> Iterator[CraftState]:
        return iter(self.crafts)

    def __len__(self) -> int:
        return len(self.crafts)

    def __getitem__(self, c: int) -> CraftState:
        return self.crafts[c]

    @property
    def states(self) -> tuple[State, ...]:
        """State of every spacecraft, without its ledger."""
        return tuple(craft.state for craft in self.crafts)

    def with_crafts(self, crafts: Iterable[CraftState]) -> WorldState:
        """The world with other states of all its spacecraft."""
        return dataclasses.replace(self, crafts=tuple(crafts))

    def with_states(self, states: Iterable[State]) -> WorldState:
        """The world with other states of all its spacecraft, their ledgers unchanged."""
        pairs = zip(self.crafts, states, strict=True)
        return self.with_crafts(dataclasses.replace(craft, state=state) for craft, state in pairs)


@record
class WorldRate(Tangent):
    """Rates of all spacecraft of a world and of its interactions, or a small step of them."""

    crafts: tuple[CraftStateRate, ...]
    interactions: tuple[InteractionState, ...] = ()

    @property
    def states(self) -> StateRates:
        """The rates of the motion, without those of the ledgers."""
        return StateRates(tuple(craft.state for craft in self.crafts), self.interactions)


@record
class StateRates(Tangent):
    """Rates of all states of a world, and of the states of interactions."""

    states: tuple[StateRate, ...]
    interactions: tuple[InteractionState, ...]


def retract_world(world: WorldState, step: WorldRate) -> WorldState:
    """The world after a finite step; the entries of the ledgers add."""
    return dataclasses.replace(
        world,
        crafts=tuple(retract_craft(craft, rate) for craft, rate in zip(world.crafts, step.crafts, strict=True)),
        interactions=jax.tree.map(jnp.add, world.interactions, step.interactions),
    )


def retract_states(world: WorldState, step: StateRates) -> WorldState:
    """The world after a finite step without the ledgers, on which no rate depends."""
    moved = world.with_states(retract(*pair) for pair in zip(world.states, step.states, strict=True))
    return dataclasses.replace(moved, interactions=jax.tree.map(jnp.add, world.interactions, step.interactions))


def zero_rate(world: WorldState) -> WorldRate:
    """The rate of a world in which nothing moves."""
    return WorldRate(tuple(map(zero_craft_rate, world.crafts)), jax.tree.map(jnp.zeros_like, world.interactions))
