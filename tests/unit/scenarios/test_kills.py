"""Signals and full files at random moments; `benchmarks/kills.py` does it fifty times each."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_old_folder_or_the_new_one_is_whole():
    """It looks at the folder after every kill, and raises at a mixture; it forks, so it has a process of its own."""
    words = [sys.executable, "benchmarks/kills.py", "--count", "2"]
    path = {"PYTHONPATH": os.pathsep.join(filter(None, ("src", os.environ.get("PYTHONPATH"))))}
    done = subprocess.run(words, cwd=ROOT, env=os.environ | path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["SIGTERM", "SIGKILL", "file"]
