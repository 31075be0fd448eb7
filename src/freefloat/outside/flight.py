"""`fly`: simulate an experiment with external software in lockstep: the simulation waits for every answer."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from freefloat.outside.binding import SOFTWARE_HEADINGS, BoundSoftware, bind_software, describe_software, end_programs
from freefloat.outside.program import SoftwareFault
from freefloat.outside.runner import ExternalSoftwareRunner, WorldNotFinite
from freefloat.sim.bound_program import BoundProgram
from freefloat.sim.experiment import Experiment
from freefloat.sim.kernel import step
from freefloat.sim.record.description import FactTable
from freefloat.sim.record.run import INTERRUPTED, STOPPED, Run, RunFailed
from freefloat.sim.rollout import grid
from freefloat.sim.simulate import run_of_records, simulate, states_until
from freefloat.sim.system.input_ports import tabulate
from freefloat.values.errors import ModelError
from freefloat.values.precision import require_float64
from freefloat.values.progress import Progress

_EVERY = 100  # ticks between two reports


def fly(experiment: Experiment, software: Any, *, progress: Progress | None = None, check: bool = True) -> Run:
    """Simulate an experiment with on-board software outside it, called at its ticks; time waits for its answers.

    `software` is an object with the contract, an `ExternalSoftware` that also sets how it is connected, or several. The
    run is an ordinary run, with the answers as `input.*`. Software that fails ends it: `RunFailed` names the software
    and the failure, and has the run until then in `.run`; with `check=False` that run is returned.
    """
    require_float64()
    if not isinstance(experiment, Experiment):
        raise ModelError(f"fly needs an Experiment (ff.Experiment.of(...)), got {experiment!r}.")
    bound: tuple[BoundSoftware, ...] = ()
    reason = ""
    try:
        try:
            experiment, bound = bind_software(experiment, software)
            flight = _Flight(experiment, bound, progress)
        except SoftwareFault as fault:
            raise ModelError(f"The flight could not begin: {fault}.") from None
        reason = flight.run()
    finally:
        end_programs(bound, reason or "the flight is over")
    return flight.result(reason, check=check)


class _Flight:
    """An experiment that is advanced tick by tick in memory of its own."""

    def __init__(self, experiment: Experiment, bound: tuple[BoundSoftware, ...], progress: Progress | None) -> None:
        self.experiment, self._progress = experiment, progress
        self.steps = grid(experiment.duration, experiment.dt, experiment.record_dt).steps
        system, start = experiment.begin()
        self._table = {port: rows.copy() for port, rows in tabulate(system, experiment.inputs, 0, self.steps).items()}
        inputs = {port: rows[0] for port, rows in self._table.items()}
        self._advance = BoundProgram(step, system, start, inputs, np.full((), 1, np.int32))
        state, self._inputs, _ = self._advance.arguments
        self._software = ExternalSoftwareRunner(bound, system, start, (state, self._inputs), None)
        self.tick, self.interrupted = 0, False
        self.longest = [0.0] * len(bound)

    def run(self) -> str:
        """Advance all ticks; returns why the flight ended early, or an empty text."""
        other_ports = [port for port in self._table if port not in self._software.ports]
        try:
            for tick in range(self.steps):
                for port in other_ports:
                    self._inputs[port][...] = self._table[port][tick]
                self._ask_software(tick)
                self._advance.call()
                self._advance.feed_back()
                self.tick = tick + 1
                if self._progress is not None and self.tick % _EVERY == 0:
                    self._progress(self.tick * self.experiment.dt, self.experiment.duration)
        except SoftwareFault as fault:
            return str(fault)
        except WorldNotFinite:
            return ""  # the run itself reports where
        except KeyboardInterrupt:
            self.interrupted = True
            return "interrupted"
        return ""

    def _ask_software(self, tick: int) -> None:
        self._software.run_tick(tick)
        for number, piece in enumerate(self._software.pieces):
            self._table[piece.bound.port][tick] = piece.answer
            self.longest[number] = max(self.longest[number], piece.took)

    def result(self, reason: str, *, check: bool) -> Run:
        """Run of the same experiment with the answers as its inputs: the same numbers as in the flight, bit for bit."""
        experiment = dataclasses.replace(self.experiment, inputs=self._table)
        if not reason:
            return self._with_software_table(simulate(experiment, check=check, accuracy=False), reason)
        reached = f"{self.tick * experiment.dt:g} s"
        status = (
            f"{INTERRUPTED}{reached} of {experiment.duration:g} s"
            if self.interrupted
            else f"{STOPPED}{reached}: {reason}"
        )
        run = run_of_records(experiment, states_until(experiment, self.tick, self.steps), status)
        run = self._with_software_table(run, reason)
        if check:
            message = f"The flight ended early, {status}. What was recorded until then is in the exception's .run."
            raise RunFailed(message, run, interrupted=self.interrupted)
        return run

    def _with_software_table(self, run: Run, reason: str) -> Run:
        pairs = zip(self._software.pieces, self.longest, strict=True)
        rows = [
            describe_software(piece.bound.contract, piece.bound.plain_data(), longest, reason or run.status)
            for piece, longest in pairs
        ]
        table = FactTable("On-board software", SOFTWARE_HEADINGS, tuple(rows))
        description = dataclasses.replace(run.description, tables=(*run.description.tables, table))
        return dataclasses.replace(run, description=description)
