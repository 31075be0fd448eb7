"""An experiment stepped from somebody else's loop: one step in, measurements out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from freefloat.sim.experiment import Experiment
from freefloat.sim.input_ports import input_rows, port_shape
from freefloat.sim.instant import Instant
from freefloat.sim.loop import step
from freefloat.sim.rollout import Engine
from freefloat.sim.saved_state import SavedState
from freefloat.sim.system import Inputs, System, SystemState
from freefloat.sim.tick import tick_of
from freefloat.sim.varied_numbers import compile_system
from freefloat.values.errors import ModelError


class Stepper:
    """Holds the state of an experiment and advances it tick by tick. `stepper(experiment)` makes one."""

    def __init__(self, experiment: Experiment, measure: Iterable[str], target: Engine) -> None:
        self.experiment = experiment
        self._system, self._state = experiment.begin()
        self._shapes = {port: port_shape(self._system, port) for port in self._system.ports}
        self._last = self._require_inputs({})
        observe = partial(_measurements, names=tuple(measure))
        self._observe = compile_system(observe, self._system, self._state, self._last, target=target)
        # As a whole run does it, so that both give the same bits.
        self._advance = compile_system(
            _advance, self._system, self._state, np.full((), 1, np.int32), self._last, target=target
        )

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
        """Advance by one tick; what is not given at a port is what the experiment itself has there."""
        self._last = self._require_inputs(inputs or {})
        self._state = self._advance.rollout(self._state, np.full((), 1, np.int32), self._last, steps=1).state
        return self.measurements()

    def measurements(self) -> dict[str, np.ndarray]:
        """What was asked for, as it is now: the latest measurement where a sensor gives it, else the truth."""
        return {name: np.asarray(value) for name, value in self._observe(self._state, self._last).items()}

    def save(self) -> SavedState:
        """The present state as plain arrays."""
        return SavedState.of(self._state, self.experiment.start, 0.0)

    def restore(self, saved: SavedState) -> None:
        """Go back, or on, to a saved state."""
        self._state, _ = saved.restore(self._state, self.experiment.start)

    def _require_inputs(self, inputs: Mapping[str, Any]) -> dict[str, np.ndarray]:
        """What comes in at this tick at every port."""
        if unknown := [name for name in inputs if name not in self._shapes]:
            raise ModelError(
                f"There is no port '{unknown[0]}' in this experiment. Ports: {', '.join(self._shapes) or 'none'}. "
                "Declare it: Experiment.of(..., inputs={name: 0.0 * ...})."
            )
        own, tick, dt = self.experiment.inputs, int(self._state.tick), self._system.dt
        return {
            port: np.asarray(
                input_rows(port, inputs.get(port, own[port]), shape, tick if port not in inputs else 0, 1, dt=dt)[0]
            )
            for port, shape in self._shapes.items()
        }


def _advance(system: System, loop: SystemState, parts: Any, inputs: Inputs) -> SystemState:
    return step(system, loop, inputs, parts)


def _measurements(system: System, loop: SystemState, inputs: Inputs, *, names: tuple[str, ...]) -> dict[str, Any]:
    tick = tick_of(system, loop)
    here = Instant(system, loop, loop.states, inputs, tick.t, tick.number)
    return {name: here.observe(name) for name in names}


def stepper(
    experiment: Experiment, *, measure: Iterable[str] = ("base.position", "base.attitude"), engine: Engine = "native"
) -> Stepper:
    """An experiment at its start, ready to be stepped; `measure` names what each step gives back."""
    if not isinstance(experiment, Experiment):
        raise ValueError(f"stepper needs an Experiment, got {experiment!r}. Make one: Experiment.of(craft, ...).")
    return Stepper(experiment, measure, engine)
