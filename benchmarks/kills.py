"""Runs that are killed, or whose disk fills up, at random moments: the old folder or the new one is whole.

    python benchmarks/kills.py [--count 50] [--disk FOLDER]

A run is in a folder already; another one is to replace it (`freefloat run --force`), in a forked process that has
everything compiled. It gets SIGTERM or SIGKILL at a random moment, or finds no room at a random place: files may not
grow beyond a random size or, with `--disk`, the named small disk (a tmpfs of some 60 MB) is filled at a random moment.
Then the folder must hold one run with settings and summary that belong to it, an interrupted run must say so, and
nobody may have seen a traceback.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import numpy as np

from freefloat.cli import main as freefloat
from freefloat.sim import Run

OLD, NEW = 40.0, 45.0  # mass of the hub, by which runs are told apart [kg]
_DURATION = 60.0  # [s]


def start(folder: Path, mass: float, said: Path, prepare: Callable[[], None]) -> int:
    """A process that runs a scenario into the folder; returns its number."""
    process = os.fork()
    if process:
        return process
    status = 3
    with contextlib.suppress(BaseException):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.dup2(os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), 1)
        os.dup2(1, 2)
        sys.stdout = sys.stderr = os.fdopen(1, "w", buffering=1)
        settings = ("--set", f"hub_mass={mass}", "--set", f"duration={_DURATION}")
        sys.argv = ["freefloat", "run", "goddard-symmetric", "--out", str(folder), "--force", *settings]
        prepare()
        try:
            freefloat()
        except SystemExit as end:
            status = int(end.code or 0)
    os._exit(status)


def finish(process: int) -> int:
    """Wait for a process; its exit status, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def state_of(folder: Path, said: Path) -> str:
    """Which run is in the folder, `old`, `new` or `new, interrupted`; an AssertionError where it is a mixture."""
    assert "Traceback" not in (text := said.read_text()), text
    run = Run.load(folder / "run.nc")
    summary = json.loads((folder / "summary.json").read_text())
    mass = tomllib.loads((folder / "scenario.toml").read_text())["hub_mass"]
    assert run.scenario["hub_mass"] == mass
    assert summary["status"] == run.status
    assert summary["audit"] == json.loads(json.dumps(run.audit.as_dict()))
    judged = summary["faults"] != ["The run has not been judged."]
    assert judged == (folder / "page.html").exists()
    assert run.completed or (run.interrupted and not summary["ok"])
    assert (folder / "notes.txt").read_text() == "mine"  # what else was in it is still there
    times = run.values("momentum.angular_com").shape[0]
    assert run.completed == (times > 1 and np.isclose(run.recorded["time"].values[-1], _DURATION))
    return (
        {OLD: "old", NEW: "new"}[mass] + ("" if run.completed else ", interrupted") + ("" if judged else ", not judged")
    )


def kill(count: int, number: signal.Signals, seed: int = 1) -> Counter[str]:
    """What is in the folder after so many runs that got a signal at a random moment."""
    rng, found = np.random.default_rng(seed), Counter[str]()
    with tempfile.TemporaryDirectory() as place:
        folder, said, length = _prepared(Path(place))
        for _ in range(count):
            process = start(folder, NEW, said, lambda: None)
            time.sleep(float(rng.uniform(0.0, 1.2 * length)))
            os.kill(process, number)
            finish(process)
            found[state_of(folder, said)] += 1
            _restore(folder, said)
        assert not list(folder.parent.glob(".*partial"))
    return found


def fill(count: int, disk: Path | None = None, seed: int = 2) -> Counter[str]:
    """What is in the folder after so many runs that found no room at a random place."""
    rng, found = np.random.default_rng(seed), Counter[str]()
    with tempfile.TemporaryDirectory(dir=disk) as place, tempfile.TemporaryDirectory() as elsewhere:
        tempfile.tempdir = elsewhere  # runs that their folder cannot take go there
        folder, said, length = _prepared(Path(place))
        said = Path(elsewhere) / "said"
        largest = max(path.stat().st_size for path in folder.iterdir())
        for _ in range(count):
            most = int(rng.uniform(0.0, 1.1 * largest))
            limit = (most, resource.RLIM_INFINITY)
            prepare = (lambda: None) if disk else (lambda limit=limit: resource.setrlimit(resource.RLIMIT_FSIZE, limit))
            process = start(folder, NEW, said, prepare)
            if disk:
                time.sleep(float(rng.uniform(0.0, length)))
                _fill_up(Path(place) / "filler", most)
            finish(process)
            (Path(place) / "filler").unlink(missing_ok=True)
            found[state_of(folder, said)] += 1
            _restore(folder, Path(elsewhere) / "restored")
        tempfile.tempdir = None
    return found


def _fill_up(filler: Path, leave: int) -> None:
    """Take all room of a disk but so many bytes."""
    with contextlib.suppress(OSError), filler.open("wb") as file:
        for _ in range(max(0, shutil.disk_usage(filler.parent).free - leave) // 65536):
            file.write(bytes(65536))
            file.flush()


def _prepared(place: Path) -> tuple[Path, Path, float]:
    """A folder with the old run, where processes speak to, and how long a run takes [s]."""
    folder, said = place / "run", place / "said"
    folder.mkdir()
    (folder / "notes.txt").write_text("mine")
    assert finish(start(folder, NEW, said, lambda: None)) == 0, said.read_text()
    began = time.monotonic()
    _restore(folder, said)
    return folder, said, time.monotonic() - began


def _restore(folder: Path, said: Path) -> None:
    assert finish(start(folder, OLD, said, lambda: None)) == 0, said.read_text()
    assert state_of(folder, said) == "old"


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--count", type=int, default=50)
    words.add_argument("--disk", type=Path)
    asked = words.parse_args()
    warnings.filterwarnings("ignore", message=".*fork")
    with tempfile.TemporaryDirectory() as place:  # everything is imported and compiled here, before the forks
        sys.argv = ["freefloat", "run", "goddard-symmetric", "--out", place, "--force", "--quiet", "--json"]
        sys.argv += ["--set", f"duration={_DURATION}", "--set", f"hub_mass={OLD}"]
        with contextlib.redirect_stdout(None), contextlib.suppress(SystemExit):
            freefloat()
    for number in (signal.SIGTERM, signal.SIGKILL):
        print(f"{number.name:<10} {dict(kill(asked.count, number))}")
    print(f"{'full disk' if asked.disk else 'file size':<10} {dict(fill(asked.count, asked.disk))}")


if __name__ == "__main__":
    main()
