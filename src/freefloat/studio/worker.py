"""A scenario in a process of its own, simulated or rehearsed: tells how far it is, stops when asked, keeps the run."""

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
    """A fresh interpreter that has imported what a run needs, and waits for one; nobody has to wait for that then."""

    def __init__(self) -> None:
        # Fresh: the viewer's threads, whatever JAX holds, and what a user's file was before stay out of it.
        context = multiprocessing.get_context("spawn")
        self.reports, their_reports = context.Pipe(duplex=False)
        their_jobs, self.jobs = context.Pipe(duplex=False)
        self.stop = context.Event()
        self.process = context.Process(target=_wait, args=(their_jobs, their_reports, self.stop), daemon=True)
        self.process.start()
        their_reports.close()
        their_jobs.close()

    def close(self) -> None:
        """Let it end without a run."""
        self.jobs.close()
        self.process.terminate()


class Worker:
    """Runs a scenario and keeps its results in a folder. With `pace`, in step with the wall clock times that factor.

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
        self._concluded = False  # it said how it ended
        ready.jobs.send((scenario.key(), dataclasses.asdict(scenario), variant, folder, pace, rehearsed))
        ready.jobs.close()

    def poll(self) -> list[Report]:
        """What came since the last call; a process that died without a word is spoken for, once."""
        found: list[Report] = []
        try:
            while not self._reports.closed and self._reports.poll():
                found.append(self._reports.recv())
        except (EOFError, OSError):
            self._reports.close()
            self._process.join(5.0)
        self._concluded |= any(report.kind in ("done", "failed") for report in found)
        if self._reports.closed and not self._concluded:
            self._concluded = True
            found.append(Report("failed", _last_words(self._process.exitcode)))
        return found

    def abort(self) -> None:
        """Stop after the present block."""
        self._stop.set()

    @property
    def alive(self) -> bool:
        """True until the process has ended and everything it said was read."""
        return self._process.is_alive() or not self._reports.closed

    def close(self, patience: float = 10.0) -> None:
        """End it: by asking first, by force after a while [s]."""
        self.abort()
        self._process.join(patience)
        if self._process.is_alive():
            self._process.terminate()
            self._process.join(patience)
        if self._process.is_alive():
            self._process.kill()


def _last_words(status: int | None) -> str:
    """What is known of a process that ended without saying so."""
    how = f"by signal {-status} ({signal.Signals(-status).name})" if status and status < 0 else f"with status {status}"
    return (
        f"The process of the run ended {how} before the run did. Nothing of it was kept; was there too little memory?"
    )


def _wait(jobs: Connection, reports: Connection, stop: Any) -> None:
    """What the process does: import, wait for the one run, make it."""
    import h5py  # noqa: F401

    import freefloat.engine.runtime.native
    import freefloat.scenarios.runner  # noqa: F401

    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was computed is kept
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
    """The run; the scenario comes by its key, since a user's file must be loaded there again."""
    from freefloat.engine import on_making
    from freefloat.scenarios import find
    from freefloat.scenarios.runner import perform

    watch = _Watch(reports, stop, pace)
    on_making(watch.hear_making)
    try:
        scenario = next(iter(find(key).variants().values())).with_settings(settings)
        if rehearsed:
            faults = _rehearse(scenario, variant, folder, watch)
        else:
            faults = perform(scenario, variant, folder, "native", watch.report).faults
        reports.send(Report("done", folder))
        if faults and not stop.is_set():
            reports.send(Report("failed", " ".join(faults)))
    except (ValueError, ArithmeticError, OSError, KeyboardInterrupt) as fault:
        reports.send(Report("failed", str(fault) or "stopped before anything was recorded"))
    except Exception:
        reports.send(Report("failed", traceback.format_exc(limit=-2)))
    finally:
        reports.close()


def _rehearse(scenario: Any, variant: str, folder: Path, watch: _Watch) -> tuple[str, ...]:
    """The rehearsal in the scenario's own cell; why it stopped, if it did."""
    from freefloat.report.folder import finish_folder, save_run
    from freefloat.scenarios.runner import rehearse_variant

    facility = scenario.facility()
    try:
        run, _ = rehearse_variant(scenario, variant, facility, progress=watch, watch=watch.look)
    finally:
        facility.close()
    save_run(run, folder)
    finish_folder(run, folder)
    return () if run.completed else (run.status,)


class _Watch:
    """Progress and states of the running simulation, sent to whoever looks; keeps the pace of the wall clock."""

    def __init__(self, reports: Connection, stop: Any, pace: float | None) -> None:
        self._reports, self._stop, self._pace = reports, stop, pace
        self._began = 0.0
        self._drawn = False
        self._reported = False
        self._sides: SideBySide | None = None
        self._due = 0.0  # [s] of the rehearsal, when it is shown again

    @contextlib.contextmanager
    def report(self, title: str) -> Iterator[Progress]:
        """The run itself is shown; of others that it is compared with only the progress is told."""
        if self._reported:
            yield lambda done, total: self._tell(done, total, f"for comparison: {title}")
            return
        self._reported = True
        yield self

    def _tell(self, done: float, total: float, title: str) -> None:
        self._obey()
        self._send(Report("progress", (done, total, title)))

    def hear_making(self, event: Making) -> None:
        """Tell which code is being made."""
        if event.state == "begun":
            with contextlib.suppress(OSError):  # nobody listens any more: that is noticed between two blocks
                self._reports.send(Report("making", event.sentence()))

    def __call__(self, done: float, total: float) -> None:
        self._tell(done, total, "")

    def watch(self, system: System, block: SystemState) -> None:
        """Show the states of a block, each at its time."""
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
            self._show(system, block, row, float(ticks[row]))

    def _show(self, system: System, block: SystemState, row: int, when: float) -> None:
        import jax

        states = jax.tree.map(lambda x: np.asarray(x)[row], block.states)
        self._send_frame(when, *orbit_poses(system.world, states))

    def look(self, moment: Moment) -> None:
        """Show orbit and cell side by side, at most so many times a second; the loop waits for the clock."""
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
            raise KeyboardInterrupt from None  # nobody listens any more: stop, and keep what there is

    def _obey(self) -> None:
        if self._stop.is_set():
            raise KeyboardInterrupt  # the driver ends the run between two blocks and keeps what it has
