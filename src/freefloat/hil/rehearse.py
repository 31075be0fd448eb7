"""`rehearse`: run a rehearsal in a facility; the result is a run."""

from __future__ import annotations

import dataclasses
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.hil.delay import measure_delay
from freefloat.hil.facility import Facility, MotionCommand
from freefloat.hil.loop.cycle import Cycle
from freefloat.hil.loop.realtime import run_in_process
from freefloat.hil.loop.rehearsal_loop import Hooks, Lockstep, RehearsalLoop
from freefloat.hil.loop.rows import RowLayout
from freefloat.hil.record.cell_channels import robot_data
from freefloat.hil.record.cell_scene import CellCamera, with_cell_scene
from freefloat.hil.record.log import Log, LogWriter, require_new
from freefloat.hil.record.replay import run_of_log
from freefloat.hil.rehearsal import Rehearsal
from freefloat.hil.sensor_checks import check_sensors
from freefloat.model import State
from freefloat.outside.binding import BoundSoftware, bind_software, end_programs
from freefloat.outside.program import SoftwareFault
from freefloat.sim.record.run import COMPLETED, STOPPED, Run
from freefloat.values.errors import ModelError
from freefloat.values.precision import require_float64
from freefloat.values.progress import Progress
from freefloat.values.signal_handlers import signal_handlers


@dataclasses.dataclass(frozen=True)
class Moment:
    """A cycle that has just ended, for a `watch` function: values are computed only when they are read."""

    time: float  # [s]
    facility: Facility
    cycle: Cycle

    def states(self) -> tuple[State, ...]:
        """Simulated states of all spacecraft."""
        return self.cycle.state().states


_SIGNALS: dict[int, str] = {signal.SIGINT: "interrupted (Ctrl-C)", signal.SIGTERM: "told to end (SIGTERM)"}
Watch = Callable[[Moment], None]  # may wait, to slow the loop down; a KeyboardInterrupt in it stops the facility


def rehearse(
    rehearsal: Rehearsal,
    facility: Facility,
    *,
    realtime: bool = False,
    log: str | Path | None = None,
    progress: Progress | None = None,
    watch: Watch | None = None,
    software: Any = (),
) -> Run:
    """Run a rehearsal in a facility; the result is an ordinary run, with the channels of the cell as `cell.*`.

    In lockstep, the default, a cycle begins when the last one has ended; with `realtime` it begins when it is due, in
    a process of its own. `log` names a new file that every cycle is appended to. Any failure stops the facility
    in the same cycle: the run then has the reason in its `status`, and all data until there. In lockstep
    `watch` is called after every cycle. `software`: on-board software outside, as `fly` takes it.
    """
    require_float64()
    if not isinstance(rehearsal, Rehearsal) or not isinstance(facility, Facility):
        raise ModelError(f"rehearse needs a Rehearsal and a Facility, got {rehearsal!r} and {facility!r}.")
    if watch is not None and realtime:
        raise ModelError("A loop in real time has a process of its own: watch it by its log, or rehearse in lockstep.")
    if log is not None:
        require_new(log)  # before anything moves
    try:
        experiment, bound = bind_software(rehearsal.experiment, software)
    except SoftwareFault as fault:
        raise ModelError(f"The rehearsal in '{facility.name}' could not begin: {fault}.") from None
    try:
        flown = dataclasses.replace(rehearsal, experiment=experiment)
        delay = find_delay(flown, facility)
        sensor_checks = checked_sensors(flown, facility)
        cycle = _make_cycle(flown, facility, delay, bound, realtime)
    except BaseException as error:
        end_programs(bound, str(error))
        raise
    about = _log_header(facility, cycle, bound, delay, realtime=realtime)
    if sensor_checks is not None:
        about["sensor_checks"] = sensor_checks
    recorder = _RowRecorder(cycle, about, None if log is None else Path(log), progress)
    camera = CellCamera(facility, -(-cycle.steps // cycle.ticks))
    if not realtime:  # the robots of a loop in another process are not seen from here
        recorder.watchers.append(camera.record_poses)
    if watch is not None:
        recorder.watchers.append(lambda number: watch(Moment(number * facility.cycle, facility, cycle)))
    reason = ""
    try:
        with recorder, _stop_signals() as stop_wanted:
            reason = _run_cycles(cycle, facility, recorder, stop_wanted, realtime=realtime)
    finally:
        end_programs(bound, reason or "the rehearsal is over")
    if not recorder.rows:
        raise ModelError(f"The rehearsal in '{facility.name}' could not begin: {reason}.")
    end = (len(recorder.rows) - 1) * facility.cycle
    status = f"{STOPPED}{end:g} s: {reason}" if reason else COMPLETED
    return with_cell_scene(run_of_log(rehearsal, recorder.as_log(), status), facility, camera.taken)


def was_interrupted(run: Run) -> bool:
    """Whether a rehearsal ended early because a person or the system asked for it, by Ctrl-C or SIGTERM."""
    return run.status.endswith(tuple(_SIGNALS.values()))


def _log_header(
    facility: Facility, cycle: Cycle, bound: tuple[BoundSoftware, ...], delay: float, *, realtime: bool
) -> dict[str, Any]:
    """Data in the header of the log."""
    return {
        "facility": facility.name,
        "cycle": facility.cycle,
        "delay": delay,
        "stated_delay": facility.delay,
        "hardware": facility.hardware,
        "described": sorted(name for name, value in facility.description().items() if value),
        "pace": "paced in real time" if realtime else "in lockstep",
        "robots": robot_data(cycle.robots),
        "software": [piece.plain_data() for piece in bound],
    }


def _run_cycles(
    cycle: Cycle, facility: Facility, recorder: _RowRecorder, stop_wanted: Callable[[], str], *, realtime: bool
) -> str:
    """Run all cycles; returns why they ended early, or an empty text."""
    hooks = Hooks(recorder.record_row, stop_wanted)
    if realtime:
        outcome = run_in_process(
            lambda child_hooks, pace: RehearsalLoop(cycle, facility, pace, child_hooks),
            facility.cycle,
            hooks,
            recorder.layout.width,
        )
        recorder.about["pace"] += f" ({outcome.granted})"
        return outcome.reason
    return RehearsalLoop(cycle, facility, Lockstep(), hooks).run()


def _make_cycle(
    flown: Rehearsal, facility: Facility, delay: float, bound: tuple[BoundSoftware, ...], paced: bool
) -> Cycle:
    try:
        return Cycle(flown, facility, delay, bound, paced=paced)
    except SoftwareFault as fault:
        raise ModelError(f"The rehearsal in '{facility.name}' could not begin: {fault}.") from None


def find_delay(rehearsal: Rehearsal, facility: Facility) -> float:
    """Delay by which commands are predicted ahead [s]; if it is to be measured, the robots make a test motion."""
    how = rehearsal.compensation
    if how is None:
        return 0.0
    if not how.measured:
        return facility.delay if how.delay is None else how.delay
    still = first_commands(rehearsal, facility)
    try:
        facility.start(still)
        delays = measure_delay(facility, still).values()
    except BaseException as error:
        facility.stop(f"the test motion failed: {error}")
        raise
    return max((delay for delay in delays if np.isfinite(delay)), default=facility.delay)


def checked_sensors(rehearsal: Rehearsal, facility: Facility) -> dict[str, Any] | None:
    """Loads and readings of the wrist sensors before the run; None where no check is wanted."""
    if rehearsal.sensor_check is None:
        return None
    still = first_commands(rehearsal, facility)
    try:
        return check_sensors(facility, still, rehearsal.sensor_check)
    except BaseException as error:
        facility.stop(f"the sensor check failed: {error}")
        raise


def first_commands(rehearsal: Rehearsal, facility: Facility) -> dict[str, MotionCommand]:
    """First commands of a rehearsal, at rest."""
    commands = Cycle(rehearsal, facility, 0.0).commands()
    return {name: dataclasses.replace(command, twist=np.zeros(6)) for name, command in commands.items()}


class _RowRecorder:
    """Records the rows of all cycles, in memory and in the log, and reports progress."""

    def __init__(self, cycle: Cycle, about: dict[str, Any], path: Path | None, progress: Progress | None) -> None:
        self._cycle, self.about, self._path, self._progress = cycle, about, path, progress
        self._every = max(1, round(0.1 / cycle.length))  # cycles between two reports
        self._writer: LogWriter | None = None
        self.layout = RowLayout.of(cycle.robots, cycle.coordinates, cycle.software.fields)
        self.rows: list[np.ndarray] = []
        self.watchers: list[Callable[[int], None]] = []  # called with the number of each cycle

    def __enter__(self) -> None:
        if self._path is not None:
            self._writer = LogWriter(self._path, self.layout, self.about)

    def __exit__(self, *error: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def record_row(self, row: np.ndarray) -> None:
        """Record the row of one more cycle, and call the watchers."""
        self.rows.append(row.copy())
        for watch in self.watchers:
            watch(len(self.rows) - 1)
        if self._writer is not None:
            self._writer.append(row)
        if self._progress is not None and len(self.rows) % self._every == 0:
            self._progress((len(self.rows) - 1) * self._cycle.length, self._cycle.steps * self._cycle.system.dt)

    def as_log(self) -> Log:
        """All recorded rows as a log."""
        return Log(self.layout, np.array(self.rows).reshape(-1, self.layout.width), dict(self.about), whole=True)


@contextmanager
def _stop_signals() -> Iterator[Callable[[], str]]:
    """Context in which Ctrl-C and SIGTERM request a stop; yields a function that returns the reason (empty: none)."""
    reasons: list[str] = []
    with signal_handlers({code: lambda number, frame: reasons.append(_SIGNALS[number]) for code in _SIGNALS}):
        yield lambda: reasons[0] if reasons else ""
