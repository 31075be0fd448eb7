"""The loop of a rehearsal: measure, process, integrate, check, command; and a safe stop after any failure."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from freefloat.hil.facility import Facility, FacilityReading
from freefloat.hil.loop.cycle import Cycle, Fault
from freefloat.hil.loop.rows import CYCLE, EFFORT, ENERGY, LATENESS, TIME, RowLayout


class Pace(ABC):
    """Sets when each cycle begins."""

    @abstractmethod
    def wait(self, cycle: int) -> float:
        """Wait until a cycle is due; returns by how much it begins late [s]."""


class Lockstep(Pace):
    """Each cycle begins when the one before has ended: no wall clock, the same result every time."""

    def wait(self, cycle: int) -> float:
        """Return at once: a cycle is never late."""
        return 0.0


@dataclass(frozen=True)
class Hooks:
    """Functions that the loop calls: one for each row, one that requests a stop."""

    keep: Callable[[np.ndarray], None]  # one row a cycle; an OSError in it stops the rehearsal
    stop_wanted: Callable[[], str] = lambda: ""  # reason of a requested stop; empty: none is requested


class RehearsalLoop:
    """Runs a rehearsal in a facility. `run` returns why it stopped early; empty when it did not."""

    def __init__(self, cycle: Cycle, facility: Facility, pace: Pace, hooks: Hooks) -> None:
        self.cycle, self.facility, self.pace, self.hooks = cycle, facility, pace, hooks
        self.layout = RowLayout.of(cycle.robots, cycle.coordinates, cycle.software.fields)
        self.count = -(-cycle.steps // cycle.ticks)  # cycles
        self._row = np.zeros(self.layout.width)
        places, robots = self.layout.places, cycle.robots
        starts = [
            places[f"{robots[0].name}.{what}"].start
            for what in ("commanded.position", "measured.position", "felt", "seen")
        ]
        sizes = (cycle.commanded.size, cycle.measured.size, cycle.felt.size, cycle.seen.size)
        self._places = [slice(at, at + size) for at, size in zip(starts, sizes, strict=True)]
        arms = [robot.name for robot in robots if robot.arm_joints]
        self._arms = [(number, places[f"{name}.arm.commanded"]) for number, name in enumerate(arms)]
        self._grippers = [
            (robot.name, places[f"{robot.name}.gripper.commanded"], places[f"{robot.name}.gripper.holds"])
            for robot in robots
            if robot.gripper
        ]
        answers = sum(width for _, width in cycle.software.fields)
        self._answers = slice(self.layout.width - answers, self.layout.width)
        self._last: FacilityReading | None = None

    def run(self) -> str:
        """Run all cycles; after a failure the facility is stopped in the same cycle. Returns why, or an empty text."""
        reason = ""
        try:
            self._start_facility()
            for number in range(1, self.count + 1):
                self._run_cycle(number)
        except Fault as fault:
            reason = str(fault)
        except KeyboardInterrupt:
            reason = "interrupted"
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        try:
            self.facility.stop(reason or "the rehearsal is over")
        except Exception as error:  # nothing more can be done from here than to report it
            failed = f"the facility could not be stopped: {type(error).__name__}: {error}"
            reason = f"{reason}, and {failed}" if reason else failed
        return reason

    # ---- cycles

    def _start_facility(self) -> None:
        commands = self.cycle.commands()
        self._process_reading(self._ask_facility(lambda: self.facility.start(commands), np.inf), 0, 0.0, 0.0)

    def _run_cycle(self, number: int) -> None:
        late = self.pace.wait(number)
        began = time.perf_counter()
        if reason := self.hooks.stop_wanted():
            raise Fault(reason)
        if late > self.cycle.rehearsal.limits.lateness:
            raise Fault(f"cycle {number} began {1e3 * late:.3g} ms late")
        self.cycle.advance()
        commands = self.cycle.commands()
        effort = time.perf_counter() - began
        reading = self._ask_facility(lambda: self.facility.exchange(commands), self.cycle.rehearsal.limits.reply)
        self._process_reading(reading, number, late, effort)

    def _ask_facility(self, exchange: Callable[[], FacilityReading], limit: float) -> FacilityReading:
        began = time.perf_counter()
        try:
            reading = exchange()
        except TimeoutError as error:
            raise Fault(f"the facility did not answer: {error}") from None
        except Exception as error:
            raise Fault(f"the facility's driver failed: {type(error).__name__}: {error}") from None
        took = time.perf_counter() - began
        if took > limit:
            raise Fault(f"the facility's answer took {1e3 * took:.3g} ms, {1e3 * limit:.3g} ms are permitted")
        return reading

    def _process_reading(self, reading: FacilityReading, number: int, late: float, effort: float) -> None:
        """Check an answer as a message, then its values; the row of the cycle is recorded in any case."""
        began, fault = time.perf_counter(), None
        try:
            self._check_message(reading)
            self.cycle.process_reading()
        except Fault as error:
            fault = error
        row, cycle, (commanded, measured, felt, seen) = self._row, self.cycle, self._places
        row[commanded], row[measured], row[felt], row[seen] = cycle.commanded, cycle.measured, cycle.felt, cycle.seen
        row[self._answers] = cycle.software.row()
        row[CYCLE], row[LATENESS], row[ENERGY] = number, late, cycle.energy
        row[EFFORT] = effort + time.perf_counter() - began
        self._record_row()
        if fault is not None:
            raise fault

    def _check_message(self, reading: FacilityReading) -> None:
        try:
            self.cycle.take_reading(reading)
            self._row[TIME] = reading.time
            for number, commanded in self._arms:
                self._row[commanded] = self.cycle.arms[number][0]
            for robot, commanded, holds in self._grippers:
                self._row[commanded], self._row[holds] = (
                    self.cycle.gripper_closed(robot),
                    bool(reading.robots[robot].holds),
                )
            fault = _message_fault(reading, self._last, self.cycle.length, self.cycle.rehearsal.limits.clock)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise Fault(f"the facility's answer is garbled: {type(error).__name__}: {error}") from None
        if fault:
            raise Fault(fault)
        self._last = reading

    def _record_row(self) -> None:
        try:
            self.hooks.keep(self._row)
        except OSError as error:
            raise Fault(f"the log cannot be kept: {error}") from None


def _message_fault(reading: FacilityReading, last: FacilityReading | None, length: float, tolerance: float) -> str:
    """Fault of an answer as a message: the facility has stopped, a wrong cycle number, or a wrong time; else empty."""
    if reading.stopped:
        return f"the facility stopped: {reading.stopped}"
    if last is None:
        return ""
    if reading.cycle != last.cycle + 1:
        return _out_of_sequence(reading.cycle, last.cycle)
    passed = reading.time - last.time
    if not abs(passed - length) <= tolerance * length:
        return f"the facility's clock jumped: {1e3 * passed:.6g} ms passed in a cycle of {1e3 * length:g} ms"
    return ""


def _out_of_sequence(now: int, before: int) -> str:
    if now == before:
        return f"the facility repeated its answer of cycle {now}"
    what = "lost" if now > before else "out of order"
    return f"an answer of the facility is {what}: cycle {now} followed cycle {before}"
