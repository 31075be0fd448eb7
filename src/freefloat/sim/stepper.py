"""An experiment stepped from somebody else's loop: one step in, measurements out."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from freefloat.sim.experiment import Experiment, require_choice
from freefloat.sim.record.saved_state import SavedState
from freefloat.sim.rollout import Engine
from freefloat.sim.stepped_state import JaxState, NativeState
from freefloat.sim.system.input_ports import input_row, port_shape
from freefloat.sim.system.system import System, SystemState
from freefloat.values.errors import ModelError


class Stepper:
    """Holds the state of an experiment and advances it tick by tick. `stepper(experiment)` makes one.

    Not to be shared between threads; `copy.copy` gives one with memory of its own, where this one is now.
    """

    def __init__(self, experiment: Experiment, measure: Iterable[str], target: Engine) -> None:
        self.experiment = experiment
        self._system, state = experiment.begin()
        self._shapes = {port: port_shape(self._system, port) for port in self._system.ports}
        made = NativeState if target == "native" else JaxState
        self._stepped = made(self._system, state, self._require_inputs({}, int(state.tick)), tuple(measure))

    # ---- for a loop

    @property
    def time(self) -> float:
        """Seconds since the start."""
        return float(self._stepped.tick) * self._system.dt

    @property
    def system(self) -> System:
        """What is stepped."""
        return self._system

    @property
    def state(self) -> SystemState:
        """A copy of everything that changes, as it is now. Its arrays are read-only: `restore` changes the state."""
        return self._stepped.state

    def step(self, inputs: Mapping[str, Any] | None = None) -> dict[str, np.ndarray]:
        """Advance by one tick; what is not given at a port is what the experiment itself has there."""
        if self._shapes or inputs:
            self._stepped.give(self._require_inputs(inputs or {}, self._stepped.tick))
        self._stepped.advance()
        return self._stepped.measurements()

    def measurements(self) -> dict[str, np.ndarray]:
        """What was asked for, as it is now: the latest measurement where a sensor gives it, else the truth."""
        return self._stepped.measurements()

    def save(self) -> SavedState:
        """The present state as plain arrays."""
        return SavedState.of(self._stepped.read(), self.experiment.start, 0.0)

    def restore(self, saved: SavedState) -> None:
        """Go back, or on, to a saved state."""
        state, _ = saved.restore(self.state, self.experiment.start)
        self._stepped.put(state)

    def __copy__(self) -> Stepper:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, _stepped=self._stepped.twin())
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Stepper:
        return copy.copy(self)  # the experiment is not changed by stepping

    def _require_inputs(self, inputs: Mapping[str, Any], tick: int) -> dict[str, np.ndarray]:
        """What comes in at this tick at every port."""
        if unknown := [name for name in inputs if name not in self._shapes]:
            raise ModelError(
                f"There is no port '{unknown[0]}' in this experiment. Ports: {', '.join(self._shapes) or 'none'}. "
                "Declare it: Experiment.of(..., inputs={name: 0.0 * ...})."
            )
        own, dt = self.experiment.inputs, self._system.dt
        return {
            port: input_row(port, inputs[port], shape, 0, dt=dt)
            if port in inputs
            else input_row(port, own[port], shape, tick, dt=dt)
            for port, shape in self._shapes.items()
        }


def stepper(
    experiment: Experiment, *, measure: Iterable[str] = ("base.position", "base.attitude"), engine: Engine = "native"
) -> Stepper:
    """An experiment at its start, ready to be stepped; `measure` names what each step gives back."""
    if not isinstance(experiment, Experiment):
        raise ValueError(f"stepper needs an Experiment, got {experiment!r}. Make one: Experiment.of(craft, ...).")
    require_choice("engine", engine, ("native", "jax"))
    return Stepper(experiment, measure, engine)
