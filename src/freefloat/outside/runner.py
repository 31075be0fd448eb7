"""External software called at its ticks: measurements go to the program, its answer goes to the input port."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from freefloat.model.part_kinds import ticks_in
from freefloat.outside.binding import BoundSoftware
from freefloat.outside.measurements import MeasurementLayout
from freefloat.outside.program import InProcessProgram, SoftwareFault
from freefloat.outside.view import view_at_start, view_at_tick
from freefloat.sim.bound_program import BoundProgram, Transfer
from freefloat.sim.system.system import Inputs, System, SystemState


class WorldNotFinite(Exception):
    """The simulated state is no longer finite, so that no measurement can be made of it."""


class ExternalSoftwareRunner:
    """Calls all external software of a world that is advanced in memory of its own, each at its ticks.

    `cycle` [s] is that of a facility whose clock does not wait; None: in lockstep.
    """

    def __init__(
        self,
        bound: tuple[BoundSoftware, ...],
        system: System,
        start: SystemState,
        memory: tuple[Any, Any],
        cycle: float | None,
    ) -> None:
        ordered = sorted(
            bound, key=lambda piece: piece.number
        )  # the order of execution: software may read messages of the software before it
        self.pieces = [SampledSoftware(piece, system, start, memory, cycle) for piece in ordered]
        self.ports = [piece.port for piece in bound]
        # Fields in a row of a log, for each piece: its answer, and the time that the answer took [s].
        self.fields = tuple(
            field
            for piece in self.pieces
            for field in ((answer_field(piece.bound.port), piece.answer.size), (answer_time_field(piece.bound.port), 1))
        )

    def run_tick(self, tick: int) -> None:
        """Call all software whose tick this is, in the order of execution."""
        for piece in self.pieces:
            piece.run_tick(tick)

    def row(self) -> np.ndarray:
        """Present answers and their times as one row, in the order of `fields`."""
        parts = [part for piece in self.pieces for part in (piece.answer, [piece.took])]
        return np.concatenate(parts) if parts else np.zeros(0)


def answer_field(port: str) -> str:
    """Name in a log of the answers that enter at a port."""
    return f"software.{port}"


def answer_time_field(port: str) -> str:
    """Name in a log of the time that the answers at a port took."""
    return f"software.{port.removesuffix('.answer')}.took"


class SampledSoftware:
    """One piece of external software, called at its ticks; `cycle` [s] as in ExternalSoftwareRunner."""

    def __init__(
        self, bound: BoundSoftware, system: System, start: SystemState, memory: tuple[Any, Any], cycle: float | None
    ) -> None:
        """`memory`: state and inputs of the program that advances the world, nested as its start and its inputs."""
        state, inputs = memory
        self._cycle = cycle
        self.bound, self._dt = bound, system.dt
        self.ticks = ticks_in(f"Software '{bound.contract.name}'", bound.contract.period, system.dt)
        self.layout = MeasurementLayout(bound.contract.reads)
        names = tuple(field.name for field in bound.contract.reads)
        start_inputs = {port: np.array(values) for port, values in inputs.items()}
        view = partial(view_at_tick, k=bound.number, names=names)
        self._view = BoundProgram(view, system, start, start_inputs)
        self._copy_world = Transfer(*zip((state, inputs), self._view.arguments, strict=True))
        self._into: np.ndarray = inputs[bound.port]
        self._row = np.zeros(self.layout.width)
        self._asked = False
        self.answer, self.took = np.zeros(bound.contract.width), 0.0
        self._begin_software(system, start, start_inputs, names)

    def _begin_software(self, system: System, start: SystemState, inputs: Inputs, names: tuple[str, ...]) -> None:
        """Pass the measurements at the start; the first commands hold until the first answer is due."""
        first = BoundProgram(partial(view_at_start, k=self.bound.number, names=names), system, start, inputs)
        self._fill_row(0.0, first())
        first_answer = self.bound.program.begin(self._row)
        if first_answer is not None:
            self.answer = first_answer

    def run_tick(self, tick: int) -> None:
        """Call the software if this is one of its ticks, and write its present answer to the input port."""
        if tick % self.ticks == 0:
            began = time.perf_counter()
            try:
                self._exchange(tick)
            except SoftwareFault as fault:
                raise SoftwareFault(f"{fault}, at {tick * self._dt:g} s") from None
            self.took = time.perf_counter() - began
        self._into[...] = self.answer

    def _exchange(self, tick: int) -> None:
        program, later = self.bound.program, self.bound.how.answers == "next"
        wait = self.bound.how.patience if self._cycle is None else self._cycle
        if later and self._cycle is not None and not isinstance(program, InProcessProgram):
            wait = 0.0  # the software had its whole period to answer
        if later and self._asked:
            self.answer = program.receive_answer(wait)
        self._into[...] = self.answer
        self._copy_world()
        self._fill_row(tick * self._dt, self._view())
        program.send_measurements(self._row)
        self._asked = True
        if not later:
            self.answer = program.receive_answer(wait)

    def _fill_row(self, t: float, view: Any) -> None:
        row, layout = self._row, self.layout
        row[0], row[layout.values] = t, view.values
        row[layout.taken], row[layout.valid] = view.taken, view.valid
        if not np.isfinite(row[layout.values]).all():
            raise WorldNotFinite(f"the simulated world is no longer finite at {t:g} s")
