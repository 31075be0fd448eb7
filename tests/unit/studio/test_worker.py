"""A run in a process that was started beforehand: it knows the file as it is when the run is asked for."""

import multiprocessing
import time
from pathlib import Path
from typing import Any

from freefloat.engine import Making
from freefloat.scenarios import find
from freefloat.sim import Run
from freefloat.studio.frames import Report
from freefloat.studio.worker import ReadyProcess, Worker, _RunReporter
from support.own_experiment import MINE


def _finished(worker: Worker, seconds: float = 120.0) -> list[str]:
    kinds, deadline = [], time.monotonic() + seconds
    while worker.alive:
        assert time.monotonic() < deadline
        kinds += [report.kind for report in worker.poll()]
        time.sleep(0.02)
    return kinds


def test_a_file_that_changes_while_the_process_waits_is_run_as_it_is_then(tmp_path: Path) -> None:
    ready, file = ReadyProcess(), tmp_path / "mine.py"
    file.write_text(MINE.replace("mass=5.0", "mass=6.0"))
    scenario = next(iter(find(str(file)).variants().values()))
    kinds = _finished(Worker(scenario, "custom", tmp_path / "run", ready=ready))
    assert kinds[-1] == "done"
    assert "failed" not in kinds
    run = Run.load(tmp_path / "run" / "run.nc")
    assert run.completed
    assert run.scene is not None
    assert run.scene["mass"] == 106.0  # [kg]


def test_a_process_that_died_while_waiting_is_replaced(tmp_path: Path) -> None:
    ready, file = ReadyProcess(), tmp_path / "mine.py"
    file.write_text(MINE)
    ready.close()
    ready.process.join(10.0)
    scenario = next(iter(find(str(file)).variants().values()))
    assert _finished(Worker(scenario, "custom", tmp_path / "run", ready=ready))[-1] == "done"


def test_a_process_that_dies_is_spoken_for(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE)
    scenario = next(iter(find(str(file)).variants().values()))
    file.write_text("import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    worker, found, deadline = Worker(scenario, "custom", tmp_path / "run"), [], time.monotonic() + 120.0
    while worker.alive:
        assert time.monotonic() < deadline
        found += worker.poll()
        time.sleep(0.02)
    assert [report.kind for report in found] == ["failed"]
    assert "SIGKILL" in found[0].content


def test_a_process_that_is_asked_to_end_keeps_what_it_has(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(MINE.replace("duration: float = 2.0", "duration: float = 2e5"))
    scenario = next(iter(find(str(file)).variants().values()))
    worker, kinds = Worker(scenario, "custom", tmp_path / "run"), []
    while worker.alive:
        kinds += [report.kind for report in worker.poll()]
        if "progress" in kinds and worker._process.is_alive():
            worker._process.terminate()
            break
        time.sleep(0.02)
    kinds += _finished(worker)
    assert "done" in kinds
    assert Run.load(tmp_path / "run" / "run.nc").interrupted


def test_code_that_is_made_is_reported_and_a_closed_studio_stops_nothing() -> None:
    pipe: Any = multiprocessing.Pipe(duplex=False)
    ours, theirs = pipe
    watch = _RunReporter(theirs, multiprocessing.Event(), None)
    for state in ("begun", "ended"):
        watch.send_making(Making("the simulation of 'mine'", "f", "tracing", state, 0.0, 5.3))
    assert ours.recv() == Report("making", "making the code of the simulation of 'mine': tracing (last time 5.3 s)")
    assert not ours.poll()
    ours.close()
    watch.send_making(Making("the simulation of 'mine'", "f", "tracing", "begun", 0.0, 5.3))
