"""Software outside, asked at its ticks: measurements to it, its answer to where its commands come in."""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np

from freefloat.hil.boarding import Boarded
from freefloat.hil.bound_program import BoundProgram, Transfer
from freefloat.model.ports import ticks_in
from freefloat.onboard.measurements import MeasurementLayout
from freefloat.onboard.program import Immediate, SoftwareFault
from freefloat.sim.outside_view import view_at_start, view_at_tick
from freefloat.sim.system import Inputs, System, SystemState


class WorldNotFinite(Exception):
    """There is nothing sensible left to be measured."""


class SoftwareTicks:
    """One piece of software outside, in step with a world that is advanced in memory of its own."""

    def __init__(self, boarded: Boarded, system: System, start: SystemState, state: Any, inputs: Any) -> None:
        """`state` and `inputs`: memory of the program that advances the world, nested as `start` and its inputs."""
        self.boarded, self._dt = boarded, system.dt
        self.ticks = ticks_in(f"Software '{boarded.contract.name}'", boarded.contract.period, system.dt)
        self.layout = MeasurementLayout(boarded.contract.reads)
        names = tuple(one.name for one in boarded.contract.reads)
        given = {port: np.array(values) for port, values in inputs.items()}
        view = partial(view_at_tick, k=boarded.number, names=names)
        self._view = BoundProgram(view, system, start, given)
        self._look = Transfer(*((a, b) for a, b in zip((state, inputs), self._view.arguments, strict=True)))
        self._into: np.ndarray = inputs[boarded.port]
        self._row = np.zeros(self.layout.width)
        self._asked = False
        self.answer, self.took = np.zeros(boarded.contract.width), 0.0
        self._begin(system, start, given, names)

    def _begin(self, system: System, start: SystemState, inputs: Inputs, names: tuple[str, ...]) -> None:
        """Let it see the start; its first commands hold until its first answer is due."""
        first = BoundProgram(partial(view_at_start, k=self.boarded.number, names=names), system, start, inputs)
        self._fill(0.0, first())
        begun = self.boarded.program.begin(self._row)
        if begun is not None:
            self.answer = begun

    def act(self, tick: int, cycle: float | None = None) -> None:
        """Ask and hear it, if it is its turn. `cycle` [s]: of a facility whose clock does not wait; None: in lockstep."""
        if tick % self.ticks == 0:
            began = time.perf_counter()
            try:
                self._exchange(tick, cycle)
            except SoftwareFault as fault:
                raise SoftwareFault(f"{fault}, at {tick * self._dt:g} s") from None
            self.took = time.perf_counter() - began
        self._into[...] = self.answer

    def _exchange(self, tick: int, cycle: float | None) -> None:
        program, later = self.boarded.program, self.boarded.on_board.answers == "next"
        wait = self.boarded.on_board.patience if cycle is None else cycle
        if later and cycle is not None and not isinstance(program, Immediate):
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
