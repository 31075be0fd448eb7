"""Software outside, asked at its ticks: measurements to it, its answer to where its commands come in."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from freefloat.model.ports import ticks_in
from freefloat.outside.binding import BoundSoftware
from freefloat.outside.measurements import MeasurementLayout
from freefloat.outside.program import Immediate, SoftwareFault
from freefloat.outside.view import view_at_start, view_at_tick
from freefloat.sim.bound_program import BoundProgram, Transfer
from freefloat.sim.system.system import Inputs, System, SystemState


class WorldNotFinite(Exception):
    """There is nothing sensible left to be measured."""


class ExternalSoftwareRunner:
    """All software outside of a world that is advanced in memory of its own; `cycle` [s] as `SoftwareTicks` has it."""

    def __init__(
        self,
        bound: tuple[BoundSoftware, ...],
        system: System,
        start: SystemState,
        memory: tuple[Any, Any],
        cycle: float | None,
    ) -> None:
        ordered = sorted(bound, key=lambda one: one.number)  # as software runs: one may hear the one before it
        self.pieces = [SoftwareTicks(one, system, start, memory, cycle) for one in ordered]
        self.ports = [one.port for one in bound]
        # What a row of a log holds of each: its answer, and how long that took [s].
        self.fields = tuple(
            field
            for piece in self.pieces
            for field in ((answer_field(piece.bound.port), piece.answer.size), (took_field(piece.bound.port), 1))
        )

    def act(self, tick: int) -> None:
        """Ask and hear those whose turn it is, in their order."""
        for piece in self.pieces:
            piece.act(tick)

    def row(self) -> np.ndarray:
        """What holds now, in the order of `fields`."""
        parts = [part for piece in self.pieces for part in (piece.answer, [piece.took])]
        return np.concatenate(parts) if parts else np.zeros(0)


def answer_field(port: str) -> str:
    """What a log calls the answers that come in at a port."""
    return f"software.{port}"


def took_field(port: str) -> str:
    """What a log calls the time that they took."""
    return f"software.{port.removesuffix('.answer')}.took"


class SoftwareTicks:
    """One piece of software outside. `cycle` [s]: of a facility whose clock does not wait; None: in lockstep."""

    def __init__(
        self, bound: BoundSoftware, system: System, start: SystemState, memory: tuple[Any, Any], cycle: float | None
    ) -> None:
        """`memory`: state and inputs of the program that advances the world, nested as its start and its inputs."""
        state, inputs = memory
        self._cycle = cycle
        self.bound, self._dt = bound, system.dt
        self.ticks = ticks_in(f"Software '{bound.contract.name}'", bound.contract.period, system.dt)
        self.layout = MeasurementLayout(bound.contract.reads)
        names = tuple(one.name for one in bound.contract.reads)
        given = {port: np.array(values) for port, values in inputs.items()}
        view = partial(view_at_tick, k=bound.number, names=names)
        self._view = BoundProgram(view, system, start, given)
        self._look = Transfer(*zip((state, inputs), self._view.arguments, strict=True))
        self._into: np.ndarray = inputs[bound.port]
        self._row = np.zeros(self.layout.width)
        self._asked = False
        self.answer, self.took = np.zeros(bound.contract.width), 0.0
        self._begin(system, start, given, names)

    def _begin(self, system: System, start: SystemState, inputs: Inputs, names: tuple[str, ...]) -> None:
        """Let it see the start; its first commands hold until its first answer is due."""
        first = BoundProgram(partial(view_at_start, k=self.bound.number, names=names), system, start, inputs)
        self._fill(0.0, first())
        begun = self.bound.program.begin(self._row)
        if begun is not None:
            self.answer = begun

    def act(self, tick: int) -> None:
        """Ask and hear it, if it is its turn."""
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
        if later and self._cycle is not None and not isinstance(program, Immediate):
            wait = 0.0  # it had its whole period
        if later and self._asked:
            self.answer = program.answer(wait)
        self._into[...] = self.answer
        self._look()
        self._fill(tick * self._dt, self._view())
        program.ask(self._row)
        self._asked = True
        if not later:
            self.answer = program.answer(wait)

    def _fill(self, t: float, seen: Any) -> None:
        row, layout = self._row, self.layout
        row[0], row[layout.values] = t, seen.values
        row[layout.taken], row[layout.valid] = seen.taken, seen.valid
        if not np.isfinite(row[layout.values]).all():
            raise WorldNotFinite(f"the simulated world is no longer finite at {t:g} s")
