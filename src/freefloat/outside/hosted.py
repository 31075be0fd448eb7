"""One of the package's own laws as an object of its own: compiled, with its memory, asked from outside."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat import engine
from freefloat.model import Clock, Command, ThrusterDuty
from freefloat.model.commands import numbers
from freefloat.outside.binding import measurement_unit, software_number
from freefloat.outside.contract import Contract, ContractError, Field
from freefloat.outside.measurements import MeasurementLayout
from freefloat.outside.port import name_command
from freefloat.outside.program import Immediate, require_finite
from freefloat.outside.view import View, interface_of, measured_shapes
from freefloat.sim.bound_program import BoundProgram, Transfer
from freefloat.sim.experiment import Experiment
from freefloat.sim.system.software_checks import (
    checked_call,
    initial_memory,
    remembers,
    require_commands,
    require_messages,
    require_same_memory,
)
from freefloat.sim.system.system import System
from freefloat.sim.system.varied_numbers import compile_system
from freefloat.values.arrays import Flag, Scalar, Vector


class HostedSoftware(Immediate):
    """A law of an experiment, compiled on its own. It sees measurements and its memory, nothing of the world."""

    def __init__(self, experiment: Experiment, law: str, *, on: str = "", name: str = "") -> None:
        self._system, loop = experiment.begin()
        self._k = software_number(self._system, law, on)
        self.contract = _contract(self._system, loop, self._k, name)
        self._layout = MeasurementLayout(self.contract.reads)
        self._empty = loop.software[self._k].memory
        self._program: BoundProgram | None = None

    def agree(self, contract: Contract, answers: str) -> None:
        """It knows its shapes."""

    def begin(self, row: np.ndarray) -> np.ndarray | None:
        """Fill its memory, and compile what it does at a tick."""
        memory, view = self._first_memory(self._view(row)), self._view(row)
        clock = np.zeros(()), np.zeros((), np.int32)
        answer = partial(_answer, k=self._k, layout=self._layout, kinds=tuple(f.name for f in self.contract.gives))
        self._program = BoundProgram(answer, self._system, memory, view, *clock)
        self._remember = Transfer((self._program.result[0], self._program.arguments[0]))
        return None

    def step(self, row: np.ndarray) -> np.ndarray:
        """What it commands and tells at a tick."""
        assert self._program is not None
        _, view, t, tick = self._program.arguments
        given = self._view(row)
        view.values[...], view.taken[...], view.valid[...] = given.values, given.taken, given.valid
        t[...], tick[...] = row[0], round(row[0] / self._system.dt)
        self._program.call()
        self._remember()
        return require_finite(self.contract, np.array(self._program.result[1]))

    def _view(self, row: np.ndarray) -> View:
        at = self._layout
        return View(np.array(row[at.values]), np.array(row[at.taken]), np.array(row[at.valid]))

    def _first_memory(self, view: View) -> Any:
        """Compiled as in a run; where software plans with NumPy, as it is written."""
        first = partial(_first_memory, k=self._k, layout=self._layout)
        try:
            memory = compile_system(first, self._system, view)(view)
        except Exception as error:
            if not (engine.needs_numbers(error) or isinstance(error, engine.EngineError)):
                raise
            memory = first(self._system, view)
        return jax.tree.map(lambda x, like: np.asarray(x, dtype=like.dtype), memory, self._empty)


class _Row:
    """Measurements of a view, traced."""

    def __init__(self, layout: MeasurementLayout, view: View) -> None:
        self._layout, self._view = layout, view

    def __getitem__(self, name: str) -> Any:
        number = self._layout.number(name)
        place, shape = self._layout.places[number], self._layout.fields[number].shape or ()
        return jnp.asarray(self._view.values)[place.start - 1 : place.stop - 1].reshape(shape)

    def valid(self, name: str) -> Flag:
        """Whether anything has been measured under that name."""
        return jnp.asarray(self._view.valid)[self._layout.number(name)] > 0.5

    def taken(self, name: str) -> Scalar:
        """When it was measured [s]."""
        return jnp.asarray(self._view.taken)[self._layout.number(name)]


def _first_memory(system: System, view: View, *, k: int, layout: MeasurementLayout) -> Any:
    law = system.software[k]
    with checked_call(law, "begin"):
        return initial_memory(law, law.begin(_Row(layout, view)))


def _answer(
    system: System,
    memory: Any,
    view: View,
    t: Scalar,
    tick: Any,
    *,
    k: int,
    layout: MeasurementLayout,
    kinds: tuple[str, ...],
) -> tuple[Any, Vector]:
    """Memory and answer of a tick, the answer in the order of the contract."""
    law, y = system.software[k], _Row(layout, view)
    clock = Clock(t=t, tick=tick, dt=system.dt, hold=law.period or 0.0)
    if remembers(law):
        memory = require_same_memory(law, memory, law.remember(memory, y, clock))
    commands = require_commands(system.spacecraft_of(law), law, law.command(memory, y, clock))
    found = [numbers(one) for kind in kinds for one in commands if name_command(one)[0] == kind]
    found += list(require_messages(law, law.tell(memory, y, clock)).values())
    rows = [jnp.asarray(one, float).reshape(-1) for one in found]
    return memory, jnp.concatenate(rows) if rows else jnp.zeros(0)


# ---- its contract


def _contract(system: System, loop: Any, k: int, name: str) -> Contract:
    law = system.software[k]
    if law.period is None:
        raise ContractError(
            f"{law.title} is continuous: outside a simulation software is asked at its ticks. Give it period=..."
        )
    names, commands, messages = interface_of(system, loop, k)
    shapes = measured_shapes(system, loop, k, names)
    parts: dict[str, tuple[str, ...]] = {}
    for command in commands:
        kind, own = name_command(command)
        if kind in parts and not own:
            raise ContractError(f"{law.title} gives two commands '{kind}', which cannot be told apart outside.")
        parts[kind] = (*parts.get(kind, ()), *(_nozzles(system, k, command) or own))
    return Contract(
        name=name or law.name or type(law).__name__,
        period=law.period,
        reads=tuple(Field(one, shapes[one], measurement_unit(one)) for one in names),
        gives=tuple(Field(kind, parts=own) for kind, own in parts.items()),
        tells=tuple(Field(one, value.shape, "1", integer=value.dtype.kind in "iub") for one, value in messages.items()),
    )


def _nozzles(system: System, k: int, command: Command) -> tuple[str, ...]:
    if not isinstance(command, ThrusterDuty):
        return ()
    own = [one for one in system.thrusters if system.on(one) == system.on(system.software[k])]
    asked = [one for one in own if command.thrusters in ("", one.name)]
    return tuple(nozzle.name for nozzle in asked[0].nozzles)


def host(experiment: Experiment, law: str, *, on: str = "", name: str = "") -> HostedSoftware:
    """Software outside that is one of the experiment's own laws, called by its name or class.

    The same law then runs inside the compiled loop, in process, or behind a socket.
    """
    return HostedSoftware(experiment, law, on=on, name=name)
