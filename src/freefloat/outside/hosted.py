"""Software of an experiment as a program of its own: compiled alone, with its own memory, called from outside."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat import engine
from freefloat.model import Clock, Command, CommandPort
from freefloat.outside.binding import measurement_unit, software_number
from freefloat.outside.contract import Contract, ContractError, ContractField
from freefloat.outside.measurements import MeasurementLayout
from freefloat.outside.program import InProcessProgram, require_finite
from freefloat.outside.view import MeasurementView, interface_of, measured_shapes
from freefloat.sim.bound_program import BoundProgram, Transfer
from freefloat.sim.experiment import Experiment
from freefloat.sim.system.software_checks import (
    checked_call,
    initial_memory,
    ports_for,
    remembers,
    require_commands,
    require_messages,
    require_same_memory,
)
from freefloat.sim.system.system import System
from freefloat.sim.system.varied_numbers import compile_system
from freefloat.values.arrays import Flag, Scalar, Vector


class HostedSoftware(InProcessProgram):
    """Software of an experiment, compiled alone. It reads its measurements and its memory, nothing else."""

    def __init__(self, experiment: Experiment, software: str, *, on: str = "", name: str = "") -> None:
        self._system, state = experiment.begin()
        self._k = software_number(self._system, software, on)
        self.contract = _contract(self._system, state, self._k, name)
        self._layout = MeasurementLayout(self.contract.reads)
        self._empty = state.software[self._k].memory
        self._program: BoundProgram | None = None

    def accept_contract(self, contract: Contract, answers: str) -> None:
        """Do nothing: the shapes are those of the experiment."""

    def begin(self, row: np.ndarray) -> np.ndarray | None:
        """Make the first memory from the measurements at the start, and compile what the software does at a tick."""
        memory, view = self._first_memory(self._view(row)), self._view(row)
        clock = np.zeros(()), np.zeros((), np.int32)
        answer = partial(_tick_answer, k=self._k, layout=self._layout, kinds=tuple(f.name for f in self.contract.gives))
        self._program = BoundProgram(answer, self._system, memory, view, *clock)
        self._remember = Transfer((self._program.result[0], self._program.arguments[0]))
        return None

    def step(self, row: np.ndarray) -> np.ndarray:
        """Commands and messages of the software at a tick."""
        assert self._program is not None
        _, view, t, tick = self._program.arguments
        new = self._view(row)
        view.values[...], view.taken[...], view.valid[...] = new.values, new.taken, new.valid
        t[...], tick[...] = row[0], round(row[0] / self._system.dt)
        self._program.call()
        self._remember()
        return require_finite(self.contract, np.array(self._program.result[1]))

    def _view(self, row: np.ndarray) -> MeasurementView:
        at = self._layout
        return MeasurementView(np.array(row[at.values]), np.array(row[at.taken]), np.array(row[at.valid]))

    def _first_memory(self, view: MeasurementView) -> Any:
        """First memory of the software: from compiled code as in a run, or from Python where it needs NumPy."""
        first = partial(_first_memory, k=self._k, layout=self._layout)
        try:
            memory = compile_system(first, self._system, view)(view)
        except Exception as error:
            if not (engine.needs_numbers(error) or isinstance(error, engine.EngineError)):
                raise
            memory = first(self._system, view)
        return jax.tree.map(lambda x, like: np.asarray(x, dtype=like.dtype), memory, self._empty)


class _TracedMeasurements:
    """Measurements of a view by name, as values that JAX traces."""

    def __init__(self, layout: MeasurementLayout, view: MeasurementView) -> None:
        self._layout, self._view = layout, view

    def __getitem__(self, name: str) -> Any:
        number = self._layout.number(name)
        place, shape = self._layout.places[number], self._layout.fields[number].shape or ()
        return jnp.asarray(self._view.values)[place.start - 1 : place.stop - 1].reshape(shape)

    def valid(self, name: str) -> Flag:
        """Whether a measurement of that name has been made."""
        return jnp.asarray(self._view.valid)[self._layout.number(name)] > 0.5

    def taken(self, name: str) -> Scalar:
        """Instant of the latest measurement of that name [s]."""
        return jnp.asarray(self._view.taken)[self._layout.number(name)]


def _first_memory(system: System, view: MeasurementView, *, k: int, layout: MeasurementLayout) -> Any:
    software = system.software[k]
    with checked_call(software, "begin"):
        return initial_memory(software, software.begin(_TracedMeasurements(layout, view)))


def _tick_answer(
    system: System,
    memory: Any,
    view: MeasurementView,
    t: Scalar,
    tick: Any,
    *,
    k: int,
    layout: MeasurementLayout,
    kinds: tuple[str, ...],
) -> tuple[Any, Vector]:
    """Memory and answer of the software at a tick; the answer has the order of the contract."""
    software, y = system.software[k], _TracedMeasurements(layout, view)
    clock = Clock(t=t, tick=tick, dt=system.dt, hold=software.period or 0.0)
    if remembers(software):
        memory = require_same_memory(software, memory, software.remember(memory, y, clock))
    commands = require_commands(system, k, software.command(memory, y, clock))
    named = [(_port_of(system, k, command).contract_name, command) for command in commands]
    outputs = [command.numbers for kind in kinds for name, command in named if name == kind]
    outputs += list(require_messages(software, software.tell(memory, y, clock)).values())
    rows = [jnp.asarray(values, float).reshape(-1) for values in outputs]
    return memory, jnp.concatenate(rows) if rows else jnp.zeros(0)


# ---- the contract of hosted software


def _contract(system: System, state: Any, k: int, name: str) -> Contract:
    software = system.software[k]
    if software.period is None:
        raise ContractError(
            f"{software.title} is continuous: outside a simulation software is asked at its ticks. Give it period=..."
        )
    names, commands, messages = interface_of(system, state, k)
    shapes = measured_shapes(system, state, k, names)
    parts: dict[str, tuple[str, ...]] = {}
    units: dict[str, str] = {}
    for command in commands:
        port = _port_of(system, k, command)
        kind = port.contract_name
        if kind in parts and port.whole:
            raise ContractError(f"{software.title} gives two commands '{kind}', which cannot be told apart outside.")
        units[kind] = port.unit
        parts[kind] = (*parts.get(kind, ()), *(() if port.whole else command.parts or port.parts))
    return Contract(
        name=name or software.name or type(software).__name__,
        period=software.period,
        reads=tuple(
            ContractField(measurement, shapes[measurement], measurement_unit(system, k, measurement))
            for measurement in names
        ),
        gives=tuple(ContractField(kind, unit=units[kind], parts=own) for kind, own in parts.items()),
        tells=tuple(
            ContractField(message, value.shape, "1", integer=value.dtype.kind in "iub")
            for message, value in messages.items()
        ),
    )


def _port_of(system: System, k: int, command: Command) -> CommandPort:
    """The actuators' port that a command is for; the first set of thrusters where it is for all."""
    return ports_for(system, system.craft_index(system.software[k]), command)[0][1]


def host(experiment: Experiment, software: str, *, on: str = "", name: str = "") -> HostedSoftware:
    """External software that is one of the experiment's own pieces of software, selected by its name or class.

    The same code can then run inside the compiled simulation, in process, or behind a socket.
    """
    return HostedSoftware(experiment, software, on=on, name=name)
