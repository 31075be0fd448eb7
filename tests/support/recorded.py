"""One real run, and runs made of plain numbers, shared by the tests of pages and studio."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from freefloat.sim import Run
from freefloat.sim.audit.audit import Audit, AuditEntry
from freefloat.values.labelled import LabelledArrays


@pytest.fixture(scope="session")
def gjm_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `freefloat run ets7-gjm` writes, made once and shared by all test processes.

    The command line makes it in a process of its own, where annotations are not executed: that is ten times faster.
    """
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "ets7-gjm"
    try:
        shared.mkdir()
    except FileExistsError:  # another process is making it
        _wait_for(shared / "nominal" / "page.html")
        return shared / "nominal"
    command = [sys.executable, "-m", "freefloat", "run", "ets7-gjm", "--out", str(shared / "nominal"), "--quiet"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return shared / "nominal"


def _wait_for(file: Path) -> None:
    deadline = time.monotonic() + 300.0
    while not file.exists():  # it is put in place whole, as the last of the run's files
        assert time.monotonic() < deadline, f"{file} was not made in time"
        time.sleep(0.2)


@pytest.fixture(scope="session")
def gjm_file(gjm_folder: Path) -> Path:
    """The nominal ETS-VII run as a file."""
    return gjm_folder / "run.nc"


@pytest.fixture(scope="session")
def gjm_run(gjm_file: Path) -> Run:
    """The nominal ETS-VII run with its claims."""
    return Run.load(gjm_file)


def made_up(
    samples: int, channels: int, components: int = 3, name: str = "channel", seed: int = 7, **attributes: str
) -> Run:
    """A run of smooth random curves, without a scene."""
    rng = np.random.default_rng(seed)
    t = np.arange(samples) * 0.01
    waves = rng.uniform(0.1, 3.0, (channels, components))
    recorded = LabelledArrays(
        {
            f"{name}.{i}": (
                ("time", "part"),
                np.sin(np.outer(t, waves[i])),
                {"units": "m", "frame": "N", "long_name": f"Made-up channel {i}", **attributes},
            )
            for i in range(channels)
        },
        {"time": ("time", t), "part": ("part", [f"c{j}" for j in range(components)])},
    )
    audit = Audit((AuditEntry("made-up balance", "at most", 1e-9, 1e-12, "J", 0.0),), "made up")
    return Run(
        recorded=recorded,
        audit=audit,
        status="completed",
        scenario={"scenario": "made-up"},
        versions={"freefloat": "0"},
    )
