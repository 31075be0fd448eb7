"""The state of a system that is stepped from outside, with the compiled programs that advance and observe it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import numpy as np

from freefloat.sim.kernel import step
from freefloat.sim.motion.port_bus import Instant
from freefloat.sim.rollout import step_of_run
from freefloat.sim.system.system import Inputs, System, SystemState
from freefloat.sim.system.tick import tick_of
from freefloat.sim.system.varied_numbers import compile_system

Stepped = tuple[SystemState, Inputs]  # with what came in last at the ports


class NativeState:
    """The state in the memory of compiled code; as a record only when it is asked for."""

    def __init__(self, system: System, state: SystemState, inputs: Inputs, names: tuple[str, ...]) -> None:
        self._names, both = sorted(set(names)), (state, dict(inputs))
        self._observing = compile_system(partial(_measurements, names=names), system, both)
        # The step of a whole run, so that both give the same bits; without ports it is the same code.
        begun: Any = both if inputs else state
        self._advancing = compile_system(_advance if inputs else step_of_run, system, begun, _one_part())
        leaves, structure = jax.tree.flatten(both)
        places: Stepped = jax.tree.unflatten(structure, range(len(leaves)))
        self._tick: Any = places[0].tick
        self._ports: Mapping[str, Any] = places[1]
        self._begin(begun)

    def _begin(self, begun: Any) -> None:
        """Step in memory of its own."""
        self._steps = self._advancing.stepping(begun, _one_part())
        self._observe = self._observing.watching(self._steps)
        self._record: SystemState | None = None

    def twin(self) -> NativeState:
        """The same state in other memory, by the same code."""
        twin = copy.copy(self)
        twin._begin(self._steps.state)
        return twin

    @property
    def tick(self) -> int:
        """How many ticks it is from the start."""
        return int(self._steps.leaves[self._tick])

    @property
    def state(self) -> SystemState:
        """A copy of everything that changes, not to be written to; the same one until the next step."""
        if self._record is None:
            self._record = _read_only(self.read())
        return self._record

    def read(self) -> SystemState:
        """A new copy of everything that changes."""
        held = self._steps.state
        return held[0] if self._ports else held

    def put(self, state: SystemState) -> None:
        """Go on from another state."""
        self._record, leaves = None, self._steps.leaves
        self._steps.put((state, {port: leaves[place] for port, place in self._ports.items()}))

    def give(self, inputs: Inputs) -> None:
        """What comes in at the ports from now on."""
        leaves = self._steps.leaves
        for port, place in self._ports.items():
            leaves[place][...] = inputs[port]

    def advance(self) -> None:
        """One tick."""
        self._record = None
        self._steps.step()

    def measurements(self) -> dict[str, np.ndarray]:
        """What is measured now, by name."""
        return dict(zip(self._names, self._observe(), strict=True))


class JaxState:
    """The same by plain JAX."""

    def __init__(
        self, system: System, state: SystemState, inputs: Inputs, names: tuple[str, ...], target: str = "jax"
    ) -> None:
        self._inputs = dict(inputs)
        self.put(state)
        both = self._state, self._inputs
        self._observe = compile_system(partial(_measurements, names=names), system, both, target=target)
        self._advance = compile_system(_advance, system, both, _one_part(), target=target)

    def twin(self) -> JaxState:
        """The same state once more: this one's is replaced at a step, never written to."""
        return copy.copy(self)

    @property
    def tick(self) -> int:
        """How many ticks it is from the start."""
        return int(self._state.tick)

    @property
    def state(self) -> SystemState:
        """A copy of everything that changes, not to be written to; the same one until the next step."""
        if self._record is None:
            self._record = _read_only(self.read())
        return self._record

    def read(self) -> SystemState:
        """A new copy of everything that changes."""
        return jax.tree.map(np.array, self._state)

    def put(self, state: SystemState) -> None:
        """Go on from another state."""
        self._state: SystemState = jax.tree.map(np.array, state)
        self._record: SystemState | None = None

    def give(self, inputs: Inputs) -> None:
        """What comes in at the ports from now on."""
        self._inputs = dict(inputs)

    def advance(self) -> None:
        """One tick."""
        self._state = self._advance.rollout((self._state, self._inputs), _one_part(), steps=1).state[0]
        self._record = None

    def measurements(self) -> dict[str, np.ndarray]:
        """What is measured now, by name."""
        return {name: np.asarray(value) for name, value in self._observe((self._state, self._inputs)).items()}


def _read_only(state: SystemState) -> SystemState:
    """Arrays that raise an error when they are written to: it would have no effect on what is stepped."""
    for leaf in jax.tree.leaves(state):
        if isinstance(leaf, np.ndarray):
            leaf.flags.writeable = False
    return state


def _one_part() -> np.ndarray:
    """Every tick in one step."""
    return np.full((), 1, np.int32)


def _advance(system: System, stepped: Stepped, parts: Any) -> Stepped:
    """Inputs beside the state, not held: what is held would be prepared again for each of them."""
    state, inputs = stepped
    return step(system, state, inputs, parts), inputs


def _measurements(system: System, stepped: Stepped, *, names: tuple[str, ...]) -> dict[str, Any]:
    state, inputs = stepped
    tick = tick_of(system, state)
    here = Instant(system, state, state.states, inputs, tick.t, tick.number)
    return {name: here.observe(name) for name in names}
