"""The loop of a rehearsal: measure, feel, integrate, check, command; and a safe stop whatever goes wrong."""

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
    """When a cycle begins."""

    @abstractmethod
    def wait(self, cycle: int) -> float:
        """Wait until a cycle is due; by how much it begins late [s]."""


class Lockstep(Pace):
    """Each cycle begins when the one before has ended: no wall clock, the same result every time."""

    def wait(self, cycle: int) -> float:
        """Not at all."""
        return 0.0


@dataclass(frozen=True)
class Hooks:
    """What the loop tells, and whom it obeys."""

    keep: Callable[[np.ndarray], None]  # one row a cycle; an OSError of it stops the rehearsal
    stop_wanted: Callable[[], str] = lambda: ""  # why somebody wants it to stop; empty: nobody does


class Loop:
    """Drives a facility through a rehearsal. `run` gives the reason why it stopped early; empty when it did not."""

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
            (one.name, places[f"{one.name}.gripper.commanded"], places[f"{one.name}.gripper.holds"])
            for one in robots
            if one.gripper
        ]
        answers = sum(width for _, width in cycle.software.fields)
        self._answers = slice(self.layout.width - answers, self.layout.width)
        self._last: FacilityReading | None = None

    def run(self) -> str:
        """All cycles, unless something is wrong: then the facility is stopped in that same cycle."""
        reason = ""
        try:
            self._begin()
            for number in range(1, self.count + 1):
                self._one(number)
        except Fault as fault:
            reason = str(fault)
        except KeyboardInterrupt:
            reason = "interrupted"
        except Exception as error:
            reason = f"{type(error).__name__}: {error}"
        try:
            self.facility.stop(reason or "the rehearsal is over")
        except Exception as error:  # nothing is left to be done from here, but to say so
            failed = f"the facility could not be stopped: {type(error).__name__}: {error}"
            reason = f"{reason}, and {failed}" if reason else failed
        return reason

    # ---- cycles

    def _begin(self) -> None:
        commands = self.cycle.commands()
        self._take(self._ask(lambda: self.facility.start(commands), np.inf), 0, 0.0, 0.0)

    def _one(self, number: int) -> None:
        late = self.pace.wait(number)
        began = time.perf_counter()
        if wanted := self.hooks.stop_wanted():
            raise Fault(wanted)
        if late > self.cycle.rehearsal.limits.lateness:
            raise Fault(f"cycle {number} began {1e3 * late:.3g} ms late")
        self.cycle.advance()
        commands = self.cycle.commands()
        effort = time.perf_counter() - began
        reading = self._ask(lambda: self.facility.exchange(commands), self.cycle.rehearsal.limits.reply)
        self._take(reading, number, late, effort)

    def _ask(self, question: Callable[[], FacilityReading], limit: float) -> FacilityReading:
        began = time.perf_counter()
        try:
            reading = question()
        except TimeoutError as error:
            raise Fault(f"the facility did not answer: {error}") from None
        except Exception as error:
            raise Fault(f"the facility's driver failed: {type(error).__name__}: {error}") from None
        took = time.perf_counter() - began
        if took > limit:
            raise Fault(f"the facility's answer took {1e3 * took:.3g} ms, {1e3 * limit:.3g} ms are permitted")
        return reading

    def _take(self, reading: FacilityReading, number: int, late: float, effort: float) -> None:
        """Check an answer as a message, then what it says; the row of the cycle is kept whatever it says."""
        began, fault = time.perf_counter(), None
        try:
            self._understand(reading)
            self.cycle.feel()
        except Fault as found:
            fault = found
        row, cycle, (commanded, measured, felt, seen) = self._row, self.cycle, self._places
        row[commanded], row[measured], row[felt], row[seen] = cycle.commanded, cycle.measured, cycle.felt, cycle.seen
        row[self._answers] = cycle.software.row()
        row[CYCLE], row[LATENESS], row[ENERGY] = number, late, cycle.energy
        row[EFFORT] = effort + time.perf_counter() - began
        self._keep()
        if fault is not None:
            raise fault

    def _understand(self, reading: FacilityReading) -> None:
        try:
            self.cycle.take(reading)
            self._row[TIME] = reading.time
            for number, commanded in self._arms:
                self._row[commanded] = self.cycle.arms[number][0]
            for robot, commanded, holds in self._grippers:
                self._row[commanded], self._row[holds] = self.cycle.closed(robot), bool(reading.robots[robot].holds)
            said = _objection(reading, self._last, self.cycle.length, self.cycle.rehearsal.limits.clock)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise Fault(f"the facility's answer is garbled: {type(error).__name__}: {error}") from None
        if said:
            raise Fault(said)
        self._last = reading

    def _keep(self) -> None:
        try:
            self.hooks.keep(self._row)
        except OSError as error:
            raise Fault(f"the log cannot be kept: {error}") from None


def _objection(reading: FacilityReading, last: FacilityReading | None, length: float, tolerance: float) -> str:
    """What is wrong with an answer as a message: that of a facility at rest, out of sequence, or at a wrong time."""
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
