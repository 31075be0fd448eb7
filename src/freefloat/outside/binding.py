"""External software is bound to an experiment: a port is added for it, and its contract is checked by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from freefloat.model import CommandPort, Software
from freefloat.outside.contract import Contract, ContractError, ContractField, merge_fields
from freefloat.outside.link import SoftwareLink
from freefloat.outside.port import CommandField, MessageField, SoftwarePort
from freefloat.outside.program import InProcess, Program
from freefloat.outside.view import measured_shapes
from freefloat.sensors.quantity_lookup import find_quantity, row_called
from freefloat.sim.events.clearance_pairs import with_chosen_pairs
from freefloat.sim.experiment import Experiment, require_choice
from freefloat.sim.system.system import System, assemble
from freefloat.values.checks import require_quantity
from freefloat.values.errors import ModelError

Answers = Literal["now", "next"]


@dataclasses.dataclass(frozen=True)
class ExternalSoftware:
    """Software under test and how it is connected: an object with the contract, any `Program` such as a SoftwareLink.

    With `answers="now"` commands take effect at the tick whose measurements they answer, as those of software inside
    the simulation do; with "next" at the software's next tick, as on a computer that needs its period to answer.
    """

    software: Any
    instead_of: str = ""  # name or class of the software inside that it replaces; empty: it is added as the last one
    on: str = ""  # spacecraft; empty: that of the software it replaces, or the only one
    answers: Answers = "now"
    patience: float = 10.0  # [s] that an answer may take in lockstep; in real time the clock decides

    def __post_init__(self) -> None:
        require_choice("answers", self.answers, ("now", "next"))
        require_quantity("patience", self.patience, "s", above=0.0)


@dataclasses.dataclass(frozen=True)
class BoundSoftware:
    """A program that is bound to an experiment: its complete contract, and the port where its answers enter."""

    program: Program
    contract: Contract
    how: ExternalSoftware
    number: int  # of the software in the system
    port: str  # full name of the input port of its answers

    def plain_data(self) -> dict[str, Any]:
        """Plain data for a log: enough to bind recorded answers to the same port later."""
        how = self.how
        return {
            "contract": self.contract.text(),
            "instead_of": how.instead_of,
            "on": how.on,
            "answers": how.answers,
            "runs": "behind a socket" if isinstance(self.program, SoftwareLink) else "in process",
        }


class RecordedAnswers(Program):
    """Stands for software whose answers are read from a log: no program is called."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract

    def accept_contract(self, contract: Contract, answers: str) -> None:
        """Do nothing: the contract of a log is complete."""

    def begin(self, row: np.ndarray) -> np.ndarray | None:
        """Always raises an error: recorded answers are inputs of the experiment, not results of a program."""
        raise NotImplementedError

    send_measurements = receive_answer = begin  # pyright: ignore[reportAssignmentType]


def recorded_software(about: Iterable[Mapping[str, Any]]) -> tuple[ExternalSoftware, ...]:
    """Software of which a log has the answers, from the plain data of `BoundSoftware` in that log."""
    return tuple(
        ExternalSoftware(
            RecordedAnswers(Contract.parse(entry["contract"])),
            instead_of=entry["instead_of"],
            on=entry["on"],
            answers=entry["answers"],
        )
        for entry in about
    )


def bind_software(experiment: Experiment, software: Any) -> tuple[Experiment, tuple[BoundSoftware, ...]]:
    """The experiment with a port for each piece of software, and the software bound to these ports.

    `software`: an ExternalSoftware, or what one can be made of, or several. If one does not fit, all of them are ended.
    """
    listed = _software_list(software)
    if listed and experiment.integrator != "rk4":
        raise ModelError("Software outside is asked at fixed steps: its experiment needs integrator='rk4'.")
    programs: list[Program] = []
    try:
        for how in listed:
            programs.append(how.software if isinstance(how.software, Program) else InProcess(how.software))
        return _bind_programs(experiment, listed, programs)
    except BaseException as error:
        for program in programs:
            program.reject_contract(str(error))
        raise


def _bind_programs(
    experiment: Experiment, listed: list[ExternalSoftware], programs: list[Program]
) -> tuple[Experiment, tuple[BoundSoftware, ...]]:
    ports, bound = [], []
    for how, program in zip(listed, programs, strict=True):
        experiment, port = _with_port(experiment, how, program.contract)
        ports.append(port)
    if not listed:
        return experiment, ()
    system, state = experiment.begin()
    numbers = {
        system.full_name(software.answer_port, system.craft_index(software)): k
        for k, software in enumerate(system.software)
        if software.answer_port
    }
    for how, program, port in zip(listed, programs, ports, strict=True):
        names = tuple(field.name for field in program.contract.reads)
        shapes = measured_shapes(system, state, numbers[port], names)
        units = {name: measurement_unit(system, numbers[port], name) for name in names}
        contract = _complete_contract(program.contract, shapes, units)
        program.accept_contract(contract, how.answers)
        bound.append(BoundSoftware(program, contract, how, numbers[port], port))
    return experiment, tuple(bound)


def _software_list(software: Any) -> list[ExternalSoftware]:
    pieces = software if isinstance(software, (list, tuple)) else [software]
    return [piece if isinstance(piece, ExternalSoftware) else ExternalSoftware(piece) for piece in pieces]


def _with_port(experiment: Experiment, how: ExternalSoftware, contract: Contract) -> tuple[Experiment, str]:
    """The experiment with a SoftwarePort for this software, and the full name of the input port of its answers."""
    system = experiment.system
    if contract.name in system.world.names:
        raise ContractError(f"Software cannot be called '{contract.name}' as a spacecraft is. Give it another name.")
    replaced = system.software[software_number(system, how.instead_of, how.on)] if how.instead_of else None
    on = how.on or (replaced.on if replaced is not None else "")
    own = system.world.index(on)
    part = SoftwarePort(
        on=on,
        name=contract.name,
        period=float(contract.period),
        reads=tuple(field.name for field in contract.reads),
        gives=tuple(_command_field(system, own, contract, field) for field in contract.gives),
        messages=tuple(MessageField(field.name, field.shape or (), field.integer) for field in contract.tells),
    )
    parts = [part if existing is replaced else existing for existing in system.parts]
    parts += [] if replaced is not None else [part]
    port = system.full_name(part.answer_port, own)
    if port in experiment.inputs:
        raise ContractError(f"Two pieces of software are called '{contract.name}'. Give one of them another name.")
    inputs = {**experiment.inputs, port: np.zeros(part.answer_size)}
    assembled = assemble(system.world, parts, system.dt, tuple(inputs), _varied_without(system, replaced))
    return dataclasses.replace(experiment, system=with_chosen_pairs(assembled, experiment.start), inputs=inputs), port


def _varied_without(system: System, replaced: Software | None) -> str | tuple[str, ...]:
    """Paths of the numbers that may vary, without those of the software that was replaced."""
    if isinstance(system.vary, str) or replaced is None:
        return system.vary
    removed = (replaced.name, type(replaced).__name__)
    return tuple(path for path in system.vary if path.split(".")[0] not in removed)


def software_number(system: System, name: str, on: str = "") -> int:
    """Number of a piece of software in the system, by its name or class and its spacecraft; an error lists all."""
    found = [
        k
        for k, software in enumerate(system.software)
        if name in (software.name, type(software).__name__)
        and (not on or system.craft_index(software) == system.world.index(on))
    ]
    if len(found) != 1:
        known = ", ".join(software.name or type(software).__name__ for software in system.software) or "none"
        which = "two pieces of software" if found else "no software"
        raise ModelError(f"The experiment has {which} called '{name}'. Software: {known}.")
    return found[0]


def _command_field(system: System, own: int, contract: Contract, field: ContractField) -> CommandField:
    """Where a command of a contract enters: the port of an actuator on the spacecraft of the software."""
    return CommandField(_actuator_port(system, own, contract, field).name, field.parts, field.size)


def _actuator_port(system: System, own: int, contract: Contract, field: ContractField) -> CommandPort:
    """The port that a command of a contract is for; a unit that differs raises an error."""
    craft = system.world.crafts[own]
    ports = [port for _, actuator in system.actuators_of(own) for port in actuator.accepts(craft)]
    named = [port for port in ports if field.name in (port.name, port.contract_name)]
    fitting = [port for port in named if set(field.parts) <= set(port.parts)]
    if not named or (len(named) > 1 and not fitting):
        alike = [port for port in ports if port.contract_name == field.name] or ports
        known = "; ".join(f"{port.contract_name}[{','.join(port.parts)}]" if named else port.name for port in alike)
        raise ContractError(
            f"Software '{contract.name}' commands {field.line()}, which no actuator of spacecraft '{craft.name}' "
            f"accepts. Ports: {known}."
        )
    port = (fitting or named)[0]
    merge_fields(f"Software '{contract.name}'", field, ContractField(field.name, field.shape, port.unit, field.parts))
    return port


def _complete_contract(contract: Contract, shapes: Mapping[str, tuple[int, ...]], units: Mapping[str, str]) -> Contract:
    """The contract with shape and unit of every measurement that is read."""
    known = [ContractField(field.name, shapes[field.name], units[field.name]) for field in contract.reads]
    pairs = zip(contract.reads, known, strict=True)
    return dataclasses.replace(
        contract, reads=tuple(merge_fields(f"Software '{contract.name}'", *pair) for pair in pairs)
    )


def measurement_unit(system: System, k: int, name: str) -> str:
    """Unit of a measurement of software number k: as its sensor or the table of quantities says; empty if neither does.

    A message of other software, `orbit.rate`, has that of the quantity that is called so by its last words.
    """
    own = system.craft_index(system.software[k])
    if name.endswith(".wrench"):
        return "N, N m"  # at an input port
    for sensor in system.sensors:
        for channel in sensor.channels(system.world.crafts[own]) if system.craft_index(sensor) == own else ():
            if sensor.channel_name(channel.name) == name:
                return channel.unit
    found = find_quantity(system.world, system.quantities, name, own)
    if found is not None:
        return found.quantity.contract_unit(system.world.crafts[found.number], found.channel.name)
    row = row_called(name)
    return "" if row is None else row.unit


def end_programs(bound: Iterable[BoundSoftware], reason: str) -> None:
    """End all programs, and report the reason to them."""
    for piece in bound:
        piece.program.end(reason)


SOFTWARE_HEADINGS = ("name", "how it runs", "longest answer", "how it ended")


def describe_software(contract: Contract, how: Mapping[str, Any], longest: float, ended: str) -> tuple[str, ...]:
    """Row of a page about one piece of external software, under SOFTWARE_HEADINGS; `longest`: slowest answer [s]."""
    runs = f"{how['runs']}, every {contract.period:g} s, answers {how['answers']}"
    return contract.name, runs, f"{1e3 * longest:.3g} ms", ended
