"""Software outside takes its seat in an experiment: its contract is checked against what there is, by name."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import numpy as np

from freefloat.model import Software
from freefloat.outside.contract import Contract, ContractError, Field, agree
from freefloat.outside.link import SoftwareLink
from freefloat.outside.port import CommandField, MessageField, SoftwarePort
from freefloat.outside.program import InProcess, Program
from freefloat.outside.view import measured_shapes
from freefloat.sim.events.clearance_pairs import with_chosen_pairs
from freefloat.sim.experiment import Experiment, require_choice
from freefloat.sim.system.system import System, assemble
from freefloat.values.checks import require_quantity
from freefloat.values.errors import ModelError

Answers = Literal["now", "next"]

# Units of measurements, by the whole name or its last word.
_UNITS = {
    "joints.position": "rad, m",
    "joints.rate": "rad/s, m/s",
    "motors.position": "rad, m",
    "motors.rate": "rad/s, m/s",
    "momentum.linear": "N s",
    "momentum.angular": "N m s",
    "position": "m",
    "attitude": "1",
    "velocity": "m/s",
    "rate": "rad/s",
    "speed": "rad/s",
    "absolute_momentum": "N m s",
    "modes": "1",
    "modal_rates": "1/s",
    "wrench": "N, N m",
}


@dataclasses.dataclass(frozen=True)
class ExternalSoftware:
    """Software under test and how it is flown: an object with the contract, a SoftwareLink, a hosted law.

    With `answers="now"` commands take effect at the tick whose measurements they answer, as those of the package's own
    laws do; with "next" at the software's next tick, as on a computer that needs its period to answer.
    """

    software: Any
    instead_of: str = ""  # name or class of the experiment's own software whose place it takes; empty: it comes last
    on: str = ""  # spacecraft; empty: that of the software it replaces, or the only one
    answers: Answers = "now"
    patience: float = 10.0  # [s] that an answer may take in lockstep; in real time the clock decides

    def __post_init__(self) -> None:
        require_choice("answers", self.answers, ("now", "next"))
        require_quantity("patience", self.patience, "s", above=0.0)


@dataclasses.dataclass(frozen=True)
class BoundSoftware:
    """Software in its seat."""

    program: Program
    contract: Contract
    how: ExternalSoftware
    number: int  # of the software in the system
    port: str  # where its answers come in, by its full name

    def described(self) -> dict[str, Any]:
        """As plain data, enough to give its seat to recorded answers."""
        how = self.how
        return {
            "contract": self.contract.text(),
            "instead_of": how.instead_of,
            "on": how.on,
            "answers": how.answers,
            "runs": "behind a socket" if isinstance(self.program, SoftwareLink) else "in process",
        }


class RecordedAnswers(Program):
    """The seat of software whose answers are known: nobody is asked."""

    def __init__(self, contract: Contract) -> None:
        self.contract = contract

    def agree(self, contract: Contract, answers: str) -> None:
        """As it was."""

    def begin(self, row: np.ndarray) -> np.ndarray | None:
        """Never."""
        raise NotImplementedError

    ask = answer = begin  # pyright: ignore[reportAssignmentType]


def recorded_software(about: Iterable[Mapping[str, Any]]) -> tuple[ExternalSoftware, ...]:
    """Seats for software of which a log has the answers."""
    return tuple(
        ExternalSoftware(
            RecordedAnswers(Contract.parse(one["contract"])),
            instead_of=one["instead_of"],
            on=one["on"],
            answers=one["answers"],
        )
        for one in about
    )


def bind_software(experiment: Experiment, software: Any) -> tuple[Experiment, tuple[BoundSoftware, ...]]:
    """The experiment with a seat for each piece of software, and who sits there.

    `software`: an ExternalSoftware, or whatever one is made of, or several. If one does not fit, all of them are ended.
    """
    listed = _listed(software)
    if listed and experiment.integrator != "rk4":
        raise ModelError("Software outside is asked at fixed steps: its experiment needs integrator='rk4'.")
    programs: list[Program] = []
    try:
        for how in listed:
            programs.append(how.software if isinstance(how.software, Program) else InProcess(how.software))
        return _bind(experiment, listed, programs)
    except BaseException as error:
        for program in programs:
            program.refuse(str(error))
        raise


def _bind(
    experiment: Experiment, listed: list[ExternalSoftware], programs: list[Program]
) -> tuple[Experiment, tuple[BoundSoftware, ...]]:
    ports, bound = [], []
    for how, program in zip(listed, programs, strict=True):
        experiment, port = _with_seat(experiment, how, program.contract)
        ports.append(port)
    if not listed:
        return experiment, ()
    system, loop = experiment.begin()
    numbers = {
        system.full_name(law.answer_port, system.on(law)): k for k, law in enumerate(system.software) if law.answer_port
    }
    for how, program, port in zip(listed, programs, ports, strict=True):
        names = tuple(one.name for one in program.contract.reads)
        contract = _whole(program.contract, measured_shapes(system, loop, numbers[port], names))
        program.agree(contract, how.answers)
        bound.append(BoundSoftware(program, contract, how, numbers[port], port))
    return experiment, tuple(bound)


def _listed(software: Any) -> list[ExternalSoftware]:
    some = software if isinstance(software, (list, tuple)) else [software]
    return [one if isinstance(one, ExternalSoftware) else ExternalSoftware(one) for one in some]


def _with_seat(experiment: Experiment, how: ExternalSoftware, contract: Contract) -> tuple[Experiment, str]:
    """The experiment with a part that stands for this software, and the port where its answers come in."""
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
        reads=tuple(one.name for one in contract.reads),
        gives=tuple(_given(system, own, one) for one in contract.gives),
        messages=tuple(MessageField(one.name, one.shape or (), one.integer) for one in contract.tells),
    )
    parts = [part if one is replaced else one for one in system.parts]
    parts += [] if replaced is not None else [part]
    port = system.full_name(part.answer_port, own)
    if port in experiment.inputs:
        raise ContractError(f"Two pieces of software are called '{contract.name}'. Give one of them another name.")
    inputs = {**experiment.inputs, port: np.zeros(part.answer_size)}
    made = assemble(system.world, parts, system.dt, tuple(inputs), _varied_without(system, replaced))
    return dataclasses.replace(experiment, system=with_chosen_pairs(made, experiment.start), inputs=inputs), port


def _varied_without(system: System, replaced: Software | None) -> str | tuple[str, ...]:
    """Numbers that may vary, those of a law that is no longer there left out."""
    if isinstance(system.vary, str) or replaced is None:
        return system.vary
    gone = (replaced.name, type(replaced).__name__)
    return tuple(path for path in system.vary if path.split(".")[0] not in gone)


def software_number(system: System, name: str, on: str = "") -> int:
    """Number of software by its name or class, on a spacecraft where that matters; an error lists all."""
    found = [
        k
        for k, law in enumerate(system.software)
        if name in (law.name, type(law).__name__) and (not on or system.on(law) == system.world.index(on))
    ]
    if len(found) != 1:
        known = ", ".join(law.name or type(law).__name__ for law in system.software) or "none"
        which = "two pieces of software" if found else "no software"
        raise ModelError(f"The experiment has {which} called '{name}'. Software: {known}.")
    return found[0]


def _given(system: System, own: int, field: Field) -> CommandField:
    if field.name != "thrusters.duty":
        return CommandField(field.name, field.parts, field.size)
    sets = [one for one in system.thrusters if system.on(one) == own]
    for one in sets:
        if tuple(nozzle.name for nozzle in one.nozzles) == field.parts:
            return CommandField(field.name, field.parts, field.size, one.name)
    known = "; ".join(f"'{one.name}': {', '.join(nozzle.name for nozzle in one.nozzles)}" for one in sets) or "none"
    raise ContractError(f"No set of thrusters has the nozzles {', '.join(field.parts)}. Sets: {known}.")


def _whole(contract: Contract, shapes: Mapping[str, tuple[int, ...]]) -> Contract:
    """The contract with shape and unit of everything that is read."""
    known = [Field(one.name, shapes[one.name], measurement_unit(one.name)) for one in contract.reads]
    pairs = zip(contract.reads, known, strict=True)
    return dataclasses.replace(contract, reads=tuple(agree(f"Software '{contract.name}'", *pair) for pair in pairs))


def measurement_unit(name: str) -> str:
    """Unit of a measurement; empty where its name does not tell."""
    words = name.split(".")
    return _UNITS.get(".".join(words[-2:]), _UNITS.get(words[-1], ""))


def end_programs(bound: Iterable[BoundSoftware], reason: str) -> None:
    """Tell all software that nothing more will be asked."""
    for one in bound:
        one.program.end(reason)


SOFTWARE_HEADINGS = ("name", "how it runs", "longest answer", "how it ended")


def describe_software(contract: Contract, how: Mapping[str, Any], longest: float, ended: str) -> tuple[str, ...]:
    """Row of a page about software outside, under SOFTWARE_HEADINGS; `longest`: time of its slowest answer [s]."""
    runs = f"{how['runs']}, every {contract.period:g} s, answers {how['answers']}"
    return contract.name, runs, f"{1e3 * longest:.3g} ms", ended
