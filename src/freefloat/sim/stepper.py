"""An experiment stepped from somebody else's loop: one step in, measurements out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from freefloat import engine
from freefloat.sim.experiment import Experiment
from freefloat.sim.input_ports import port_shape
from freefloat.sim.instant import Instant
from freefloat.sim.loop import step, tick_of
from freefloat.sim.rollout import Engine
from freefloat.sim.saved_state import SavedState
from freefloat.sim.starting import zero_inputs
from freefloat.sim.system import Inputs, System, SystemState
from freefloat.values.errors import ModelError


class Stepper:
    """Holds the state of an experiment and advances it tick by tick. `stepper(experiment)` makes one."""

    def __init__(self, experiment: Experiment, measure: Iterable[str], target: Engine) -> None:
        self.experiment = experiment
        self._system, self._state = experiment.begin()
        self._nothing = {port: np.asarray(value) for port, value in zero_inputs(self._system).items()}
        self._names = tuple(measure)
        self._observe = engine.compile(self._measurements, self._state, self._nothing, target=target)
        # The same program as a whole run takes, so that both give the same bits.
        self._advance = engine.compile(self._step, self._state, np.full((), 1, np.int32), self._nothing, target=target)

    def _step(self, loop: SystemState, parts: Any, inputs: Inputs) -> SystemState:
        return step(self._system, loop, inputs, parts)

    def _measurements(self, loop: SystemState, inputs: Inputs) -> dict[str, Any]:
        tick = tick_of(self._system, loop)
        here = Instant(self._system, loop, loop.states, inputs, tick.t, tick.number)
        return {name: here.observe(name) for name in self._names}

    # ---- for a loop

    @property
    def time(self) -> float:
        """Seconds since the start."""
        return float(self._state.tick) * self._system.dt

    @property
    def system(self) -> System:
        """What is stepped."""
        return self._system

    @property
    def state(self) -> SystemState:
        """Everything that changes, as it is now."""
        return self._state

    def step(self, inputs: Mapping[str, Any] | None = None) -> dict[str, np.ndarray]:
        """Advance by one tick with what comes from outside at each port (zeros where nothing is given)."""
        given = self._require_inputs(inputs or {})
        self._state = self._advance.rollout(self._state, np.full((), 1, np.int32), given, steps=1).state
        return self.measurements(given)

    def measurements(self, inputs: Mapping[str, Any] | None = None) -> dict[str, np.ndarray]:
        """What was asked for, as it is now: the latest measurement where a sensor gives it, else the truth."""
        found = self._observe(self._state, self._require_inputs(inputs or {}))
        return {name: np.asarray(value) for name, value in found.items()}

    def save(self) -> SavedState:
        """The present state as plain arrays."""
        return SavedState.of(self._state, self.experiment.start, 0.0)

    def restore(self, saved: SavedState) -> None:
        """Go back, or on, to a saved state."""
        self._state, _ = saved.restore(self._state, self.experiment.start)

    def _require_inputs(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        if unknown := [name for name in inputs if name not in self._nothing]:
            raise ModelError(
                f"There is no port '{unknown[0]}' in this experiment. Ports: {', '.join(self._nothing) or 'none'}. "
                "Declare it: Experiment.of(..., inputs={name: 0.0 * ...})."
            )
        given = {name: np.asarray(inputs.get(name, value), dtype=float) for name, value in self._nothing.items()}
        for name, value in given.items():
            if value.shape != (shape := port_shape(self._system, name)) or not np.all(np.isfinite(value)):
                raise ModelError(f"Input '{name}' must be {shape} finite numbers, got {value.tolist()}.")
        return given


def stepper(
    experiment: Experiment, *, measure: Iterable[str] = ("base.position", "base.attitude"), engine: Engine = "native"
) -> Stepper:
    """An experiment at its start, ready to be stepped; `measure` names what each step gives back."""
    return Stepper(experiment, measure, engine)
