"""An experiment that is stepped by the loop of another program: each step takes inputs and returns measurements."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from freefloat.model import Part, Spacecraft, World
from freefloat.model.start_state import Joints
from freefloat.sim.experiment import Experiment, Integrator, States, experiment_from, require_choice
from freefloat.sim.record.saved_state import SavedState
from freefloat.sim.rollout import Engine
from freefloat.sim.stepped_state import JaxState, NativeState
from freefloat.sim.system.input_ports import Signal, input_row, port_shape
from freefloat.sim.system.system import System, SystemState
from freefloat.values.errors import ModelError


class Stepper:
    """State of an experiment that is advanced tick by tick. `stepper(experiment)` makes one.

    Not to be shared between threads; `copy.copy` gives one with memory of its own, at the present state.
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
        """Time since the start [s]."""
        return float(self._stepped.tick) * self._system.dt

    @property
    def system(self) -> System:
        """The system that is stepped, with its wires."""
        return self._system

    @property
    def state(self) -> SystemState:
        """A copy of the present state. Its arrays are read-only: `restore` changes the state."""
        return self._stepped.state

    def step(self, inputs: Mapping[str, Any] | None = None) -> dict[str, np.ndarray]:
        """Advance by one tick and return the measurements; a port without a value takes the experiment's own input."""
        if self._shapes or inputs:
            self._stepped.set_inputs(self._require_inputs(inputs or {}, self._stepped.tick))
        self._stepped.advance()
        return self._stepped.measurements()

    def measurements(self) -> dict[str, np.ndarray]:
        """Present values of the chosen quantities: the latest measurement if a sensor gives it, else the true value."""
        return self._stepped.measurements()

    def save(self) -> SavedState:
        """The present state as plain arrays."""
        return SavedState.of(self._stepped.read(), self.experiment.start, 0.0)

    def restore(self, saved: SavedState) -> None:
        """Continue from a saved state, be it earlier or later."""
        state, _ = saved.restore(self.state, self.experiment.start)
        self._stepped.replace_state(state)

    def __copy__(self) -> Stepper:
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, _stepped=self._stepped.duplicate())
        return twin

    def __deepcopy__(self, memo: dict[int, Any]) -> Stepper:
        return copy.copy(self)  # the experiment is not changed by stepping

    def _require_inputs(self, inputs: Mapping[str, Any], tick: int) -> dict[str, np.ndarray]:
        """Input at every port in this tick."""
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
    what: Experiment | Spacecraft | World,
    *parts: Part,
    duration: float | None = None,
    state: States | None = None,
    joints: Joints | None = None,
    joints_deg: Joints | None = None,
    dt: float | None = None,
    accuracy: Mapping[str, float] | None = None,
    record_dt: float | None = None,
    integrator: Integrator = "rk4",
    tolerance: float = 1e-10,
    inputs: Mapping[str, Signal] | None = None,
    vary: str | Sequence[str] = "all",
    measure: Iterable[str] = ("base.position", "base.attitude"),
    engine: Engine = "native",
) -> Stepper:
    """A stepper of an experiment, or of a spacecraft or world with parts and the options of `Experiment.of`.

    An experiment has its parts and options already: then only measure and engine apply.

    duration: length of the experiment [s]; needed with a spacecraft or a world.
    state: state at the start; of a world states by name, the others begin at rest. None: at rest.
    joints: positions of the joints at the start [rad, m], all in order or some by name; in place of `state`.
    joints_deg: the same in degrees for revolute joints, in metres for the others.
    dt: length of a tick, and of a fixed step [s]; None: 0.01 s.
    accuracy: permitted errors, `{"attitude_deg": 0.01}`; in place of `dt`, which trial runs then find.
    record_dt: time between two records [s]; None: about 2000 records.
    integrator: "rk4" for fixed steps, "adaptive" for steps that follow `tolerance`.
    tolerance: permitted error of an adaptive step, relative to 1 + size, in SI units.
    inputs: signals by port: an array over time, a function of the tick, `Steps`, or one value.
    vary: numbers that may change without compiling again: "all", "nothing", or some by dotted path.
    measure: names of the quantities that each step returns.
    engine: "native" for compiled code; "jax" runs the same functions under plain `jax.jit`, to compare.
    """
    arguments = locals()
    if not isinstance(what, Experiment) and not (isinstance(what, (Spacecraft, World)) and duration is not None):
        raise ValueError(f"stepper needs an Experiment, got {what!r}. Make one: Experiment.of(craft, ...).")
    require_choice("engine", engine, ("native", "jax"))
    return Stepper(experiment_from(what, parts, arguments), measure, engine)
