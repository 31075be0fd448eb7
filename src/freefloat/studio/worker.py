"""A scenario simulated or rehearsed in a process of its own, which reports its progress and can be stopped."""

from __future__ import annotations

import contextlib
import dataclasses
import multiprocessing
import signal
import time
import traceback
from collections.abc import Iterator
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from freefloat.scenarios import Scenario
from freefloat.studio.frames import Light, LiveFrame, Report
from freefloat.studio.side_by_side import SideBySide, orbit_poses

if TYPE_CHECKING:
    from freefloat.engine import Making
    from freefloat.hil.rehearse import Moment
    from freefloat.sim import System, SystemState
    from freefloat.values.progress import Progress

_SHOWN_RATE = 25.0  # frames of a live run per second of wall time, at most [1/s]


class ReadyProcess:
    """A new Python process that has imported what a run needs, so that the run can start without delay."""

    def __init__(self) -> None:
        # Spawned: it inherits neither the viewer's threads nor the state of JAX nor an old version of a user's file.
        context = multiprocessing.get_context("spawn")
        self.reports, their_reports = context.Pipe(duplex=False)
        their_jobs, self.jobs = context.Pipe(duplex=False)
        self.stop = context.Event()
        self.process = context.Process(target=_serve_job, args=(their_jobs, their_reports, self.stop), daemon=True)
        self.process.start()
        their_reports.close()
        their_jobs.close()

    def close(self) -> None:
        """End the process without a run."""
        self.jobs.close()
        self.process.terminate()


class Worker:
    """Runs a scenario and saves its results in a folder; with `pace` at this many simulated seconds per second.

    `rehearsed`: in its virtual cell instead of in orbit alone.
    """

    def __init__(
        self,
        scenario: Scenario,
        variant: str,
        folder: Path,
        pace: float | None = None,
        ready: ReadyProcess | None = None,
        *,
        rehearsed: bool = False,
    ) -> None:
        ready = ready if ready is not None and ready.process.is_alive() else ReadyProcess()
        self._reports, self._stop, self._process = ready.reports, ready.stop, ready.process
        self._concluded = False  # the process reported how it ended
        ready.jobs.send((scenario.key(), dataclasses.asdict(scenario), variant, folder, pace, rehearsed))
        ready.jobs.close()

    def poll(self) -> list[Report]:
        """Reports since the last call; if the process ended without a last report, one is added once."""
        reports: list[Report] = []
        try:
            while not self._reports.closed and self._reports.poll():
                reports.append(self._reports.recv())
        except (EOFError, OSError):
            self._reports.close()
            self._process.join(5.0)
        self._concluded |= any(report.kind in ("done", "failed") for report in reports)
        if self._reports.closed and not self._concluded:
            self._concluded = True
            reports.append(Report("failed", _end_sentence(self._process.exitcode)))
        return reports

    def abort(self) -> None:
        """Stop after the present block."""
        self._stop.set()

    @property
    def alive(self) -> bool:
        """Whether the process has not ended or some of its reports are not read."""
        return self._process.is_alive() or not self._reports.closed

    def close(self, patience: float = 10.0) -> None:
        """End the process: by request first, by force after `patience` [s]."""
        self.abort()
        self._process.join(patience)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(patience)
        if self._process.is_alive():
            self._process.kill()


def _end_sentence(status: int | None) -> str:
    """Sentence on a process that ended without a last report."""
    how = f"by signal {-status} ({signal.Signals(-status).name})" if status and status < 0 else f"with status {status}"
    return (
        f"The process of the run ended {how} before the run did. Nothing of it was kept; was there too little memory?"
    )


def _serve_job(jobs: Connection, reports: Connection, stop: Any) -> None:
    """Main function of the process: import, wait for the one run, compute it."""
    import h5py  # noqa: F401

    import freefloat.engine.runtime.native
    import freefloat.scenarios.runner  # noqa: F401

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # results so far are kept; for all of the process
    with contextlib.suppress(EOFError, KeyboardInterrupt):  # the studio ended without another run
        _work(reports, stop, *jobs.recv())


def _work(
    reports: Connection,
    stop: Any,
    key: str,
    settings: dict[str, Any],
    variant: str,
    folder: Path,
    pace: float | None,
    rehearsed: bool,
) -> None:
    """Compute and save the run; the scenario is given by its key, since a user's file must be loaded here again."""
    from freefloat.engine import on_making
    from freefloat.scenarios import find
    from freefloat.scenarios.runner import run_scenario

    watch = _RunReporter(reports, stop, pace)
    on_making(watch.send_making)
    try:
        scenario = next(iter(find(key).variants().values())).with_settings(settings)
        if rehearsed:
            faults = _rehearse(scenario, variant, folder, watch)
        else:
            faults = run_scenario(scenario, variant, folder, "native", watch.report).faults
        reports.send(Report("done", folder))
        if faults and not stop.is_set():
            reports.send(Report("failed", " ".join(faults)))
    except (ValueError, ArithmeticError, OSError, KeyboardInterrupt) as fault:
        reports.send(Report("failed", str(fault) or "stopped before anything was recorded"))
    except Exception:
        reports.send(Report("failed", traceback.format_exc(limit=-2)))
    finally:
        reports.close()


def _rehearse(scenario: Any, variant: str, folder: Path, watch: _RunReporter) -> tuple[str, ...]:
    """Rehearse the scenario in its own cell and save the run; returns the reason if it stopped early."""
    from freefloat.report.folder import finish_folder, save_run
    from freefloat.scenarios.runner import rehearse_variant

    facility = scenario.facility()
    try:
        run, _ = rehearse_variant(scenario, variant, facility, progress=watch, watch=watch.send_moment)
    finally:
        facility.close()
    save_run(run, folder)
    finish_folder(run, folder)
    return () if run.completed else (run.status,)


class _RunReporter:
    """Sends progress and states of the running simulation to the studio, and keeps the pace of the wall clock."""

    def __init__(self, reports: Connection, stop: Any, pace: float | None) -> None:
        self._reports, self._stop, self._pace = reports, stop, pace
        self._began = 0.0
        self._drawn = False
        self._reported = False
        self._sides: SideBySide | None = None
        self._due = 0.0  # [s] of the rehearsal, when it is shown again

    @contextlib.contextmanager
    def report(self, title: str) -> Iterator[Progress]:
        """Within it a run reports its progress; the first run also its states, unlike runs for comparison."""
        if self._reported:
            yield lambda done, total: self._send_progress(done, total, f"for comparison: {title}")
            return
        self._reported = True
        yield self

    def _send_progress(self, done: float, total: float, title: str) -> None:
        self._obey()
        self._send(Report("progress", (done, total, title)))

    def send_making(self, event: Making) -> None:
        """Report which code is being compiled."""
        if event.state == "begun":
            with contextlib.suppress(OSError):  # the studio is gone: that is noticed between two blocks
                self._reports.send(Report("making", event.sentence()))

    def __call__(self, done: float, total: float) -> None:
        self._send_progress(done, total, "")

    def watch(self, system: System, block: SystemState) -> None:
        """Send the states of a block, each at its time."""
        from freefloat.model.drawing import drawing

        if not self._drawn:
            self._drawn, self._began = True, time.monotonic()
            self._send(Report("started", drawing(system.world)))
        if self._pace is None:
            return
        ticks = np.asarray(block.tick) * system.dt
        span = float(ticks[-1] - ticks[0]) if len(ticks) > 1 else system.dt
        every = max(1, round(len(ticks) * self._pace / max(span * _SHOWN_RATE, 1e-9)))
        for row in range(0, len(ticks), every):
            self._send_states(system, block, row, float(ticks[row]))

    def _send_states(self, system: System, block: SystemState, row: int, when: float) -> None:
        import jax

        states = jax.tree.map(lambda x: np.asarray(x)[row], block.states)
        self._send_frame(when, *orbit_poses(system.world, states))

    def send_moment(self, moment: Moment) -> None:
        """Send poses of orbit and cell side by side, at a limited rate; waits for the wall clock."""
        if self._pace is None or moment.time < self._due:
            return
        if self._sides is None:
            self._sides, self._began = SideBySide(moment), time.monotonic()
            self._send(Report("started", self._sides.drawing))
        self._due = moment.time + self._pace / _SHOWN_RATE
        self._send_frame(moment.time, *self._sides.poses(moment), facility="good")

    def _send_frame(self, when: float, position: np.ndarray, attitude: np.ndarray, **more: Light) -> None:
        assert self._pace is not None
        deadline = self._began + when / self._pace
        if (early := deadline - time.monotonic()) > 0.0:
            self._stop.wait(early)
        self._obey()
        late = max(0.0, time.monotonic() - deadline)
        lights: dict[str, Light] = {"simulation": "good", **more}
        lights["deadline"] = "good" if late < 1.0 / _SHOWN_RATE else "waiting"
        self._send(Report("frame", LiveFrame(when, position, attitude, late, lights)))

    def _send(self, report: Report) -> None:
        try:
            self._reports.send(report)
        except OSError:
            raise KeyboardInterrupt from None  # the studio is gone: stop, and keep the results so far

    def _obey(self) -> None:
        if self._stop.is_set():
            raise KeyboardInterrupt  # the driver ends the run between two blocks and keeps the results so far
