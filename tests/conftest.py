"""Settings for every test: annotations really run, and code compiles once for each shape."""

import gc
import os
import signal
import tempfile
from pathlib import Path

# Where the tests run in the background of a script, Ctrl-C is ignored, in their children too; some tests need it.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_NUM_THREADS", "1")
# Most tests take few steps: they wait for code longer than for its results. The engine's own tests, and those of the
# papers' scenarios, run the code that users get.
os.environ.setdefault("FREEFLOAT_QUICK_CODE", "1")

# Compiled code is signed with a secret in the user's home; where there is none, the tests have one of their own.
if not os.access(os.path.expanduser("~"), os.W_OK):  # noqa: PTH111 (which raises no error where there is no home)
    os.environ.setdefault("XDG_CONFIG_HOME", tempfile.mkdtemp())

from jaxtyping import install_import_hook

# Shapes and dtypes in annotations are checked at every call, before anything of the package is imported. The engine
# handles scalars one by one: checking each of them would take longer than compiling.
CHECKED = ("spatial", "model", "readers", "dynamics", "flex", "library", "effects", "sensors", "control", "sim")
# A facility may answer anything: only the pure functions of a rehearsal are checked.
CHECKED += ("hil.loop.cycle_checks", "hil.loop.cycle_functions", "hil.delay", "hil.passivity")
# `make mutations` leaves it out: its bugs are to be found by what tests assert.
if not os.environ.get("FREEFLOAT_UNCHECKED"):
    install_import_hook([f"freefloat.{package}" for package in CHECKED], "beartype.beartype")

import numpy as np  # noqa: E402
import pytest  # noqa: E402

# What is imported stays: the search for garbage need not go through it again and again.
gc.freeze()
gc.set_threshold(100_000, 20, 50)

SEED = 20031
# Cases that take long, by their ids below this folder; `scripts/choose_slow_cases.py` writes the list.
SLOW_CASES = Path(__file__).with_name("slow_cases.txt")
pytest_plugins = ["support.gate_report"]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the cases of the list as slow."""
    slow = set(SLOW_CASES.read_text(encoding="utf-8").splitlines())
    for item in items:
        if item.nodeid.removeprefix("tests/") in slow:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def rng(request: pytest.FixtureRequest) -> np.random.Generator:
    """A generator of its own for each test; its seed is printed when the test fails."""
    seed = [SEED, *request.node.nodeid.encode()]
    print(f"random seed: {SEED} + test id {request.node.nodeid}")  # noqa: T201
    return np.random.default_rng(seed)


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    """A cache of its own on disk, and nothing in memory: as in a process that starts on a new machine."""
    from freefloat.engine.runtime import lookup

    monkeypatch.setenv("FREEFLOAT_CACHE", str(tmp_path / "cache"))
    lookup.forget()
    return tmp_path / "cache"


@pytest.fixture
def traces(monkeypatch):
    """The functions that have been traced."""
    from freefloat.engine.jaxprs import tracing

    made, trace = [], tracing.trace_with_result

    def counted(function, *example, **options):
        made.append(function)
        return trace(function, *example, **options)

    monkeypatch.setattr(tracing, "trace_with_result", counted)
    return made
