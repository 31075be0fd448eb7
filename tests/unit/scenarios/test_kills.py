"""Signals and full disks at random moments; `benchmarks/kills.py` does it fifty times each."""

import signal
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:RuntimeWarning", "ignore:.*fork:DeprecationWarning")


@pytest.fixture
def kills(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    import kills

    yield kills
    sys.modules.pop("kills", None)


def test_the_old_folder_or_the_new_one_is_whole(kills):
    """Each of them looks at the folder after every kill, and raises at a mixture."""
    assert sum(kills.kill(3, signal.SIGTERM).values()) == 3
    assert sum(kills.fill(2).values()) == 2
