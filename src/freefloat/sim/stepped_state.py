"""The state of a system that another program steps, with the compiled programs that advance and observe it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from functools import partial
from typing import Any

import jax
import numpy as np

from freefloat.sim.kernel import step
from freefloat.sim.motion.forces_before import forces_before_tick
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.rollout import step_of_run
from freefloat.sim.system.system import Inputs, System, SystemState, tick_of
from freefloat.sim.system.varied_numbers import compile_system

Stepped = tuple[SystemState, Inputs]  # with the latest inputs at the ports


class NativeState:
    """The state in the memory of compiled code; copied into a record only on request."""

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
        self._bind_memory(begun)

    def _bind_memory(self, begun: Any) -> None:
        """Make new memory for the state, bound to the compiled step."""
        self._steps = self._advancing.stepping(begun, _one_part())
        self._observe = self._observing.watching(self._steps)
        self._record: SystemState | None = None

    def duplicate(self) -> NativeState:
        """An independent copy: the same state and code, with memory of its own."""
        twin = copy.copy(self)
        twin._bind_memory(self._steps.state)
        return twin

    @property
    def tick(self) -> int:
        """Number of ticks since the start."""
        return int(self._steps.leaves[self._tick])

    @property
    def state(self) -> SystemState:
        """A read-only copy of the state; the same object until the next step."""
        if self._record is None:
            self._record = _read_only(self.read())
        return self._record

    def read(self) -> SystemState:
        """A new, writable copy of the state."""
        held = self._steps.state
        return held[0] if self._ports else held

    def replace_state(self, state: SystemState) -> None:
        """Continue from another state."""
        self._record, leaves = None, self._steps.leaves
        self._steps.set_state((state, {port: leaves[place] for port, place in self._ports.items()}))

    def set_inputs(self, inputs: Inputs) -> None:
        """Set the inputs at the ports from now on."""
        leaves = self._steps.leaves
        for port, place in self._ports.items():
            leaves[place][...] = inputs[port]

    def advance(self) -> None:
        """Advance the state by one tick."""
        self._record = None
        self._steps.step()

    def measurements(self) -> dict[str, np.ndarray]:
        """Present values of the chosen quantities, by name."""
        return dict(zip(self._names, self._observe(), strict=True))


class JaxState:
    """The state as a record, advanced by code that plain JAX compiles."""

    def __init__(
        self, system: System, state: SystemState, inputs: Inputs, names: tuple[str, ...], target: str = "jax"
    ) -> None:
        self._inputs = dict(inputs)
        self.replace_state(state)
        both = self._state, self._inputs
        self._observe = compile_system(partial(_measurements, names=names), system, both, target=target)
        self._advance = compile_system(_advance, system, both, _one_part(), target=target)

    def duplicate(self) -> JaxState:
        """An independent copy: a step replaces the state and never writes to it, so that both may share it."""
        return copy.copy(self)

    @property
    def tick(self) -> int:
        """Number of ticks since the start."""
        return int(self._state.tick)

    @property
    def state(self) -> SystemState:
        """A read-only copy of the state; the same object until the next step."""
        if self._record is None:
            self._record = _read_only(self.read())
        return self._record

    def read(self) -> SystemState:
        """A new, writable copy of the state."""
        return jax.tree.map(np.array, self._state)

    def replace_state(self, state: SystemState) -> None:
        """Continue from another state."""
        self._state: SystemState = jax.tree.map(np.array, state)
        self._record: SystemState | None = None

    def set_inputs(self, inputs: Inputs) -> None:
        """Set the inputs at the ports from now on."""
        self._inputs = dict(inputs)

    def advance(self) -> None:
        """Advance the state by one tick."""
        self._state = self._advance.rollout((self._state, self._inputs), _one_part(), steps=1).state[0]
        self._record = None

    def measurements(self) -> dict[str, np.ndarray]:
        """Present values of the chosen quantities, by name."""
        return {name: np.asarray(value) for name, value in self._observe((self._state, self._inputs)).items()}


def _read_only(state: SystemState) -> SystemState:
    """The state with read-only arrays: writing to a copy would have no effect on the stepped state."""
    for leaf in jax.tree.leaves(state):
        if isinstance(leaf, np.ndarray):
            leaf.flags.writeable = False
    return state


def _one_part() -> np.ndarray:
    """Number of steps in a tick, one, as an array for compiled code."""
    return np.full((), 1, np.int32)


def _advance(system: System, stepped: Stepped, parts: Any) -> Stepped:
    """One step with inputs that belong to the state: held arguments would be prepared again at each change."""
    state, inputs = stepped
    return step(system, state, inputs, parts), inputs


def _measurements(system: System, stepped: Stepped, *, names: tuple[str, ...]) -> dict[str, Any]:
    state, inputs = stepped
    tick = tick_of(system, state)
    forces = forces_before_tick(system, state, inputs, tick)
    here = PortBus(system, state, state.states, inputs, tick.t, tick.number, forces=forces)
    return {name: here.observe(name) for name in names}
