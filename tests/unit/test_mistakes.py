"""Mistakes of a new user are answered: at least 64 of 69 answers name the thing, the value and a remedy."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WANTED = 64


@pytest.fixture(scope="module")
def grades():
    """Grade of every mistake by its title, as the program prints them."""
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / "mistakes.py"],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return [(title, mark) for mark, title in re.findall(r"^([A-F])  (.+)$", done.stdout, re.MULTILINE)]


def test_most_answers_have_the_thing_the_value_and_a_remedy(grades):
    assert len(grades) == 69
    assert sum(mark == "A" for _, mark in grades) >= WANTED
    assert all(mark in "AB" for _, mark in grades)


def test_the_page_has_these_grades(grades):
    page = (ROOT / "docs" / "messages.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| ([^|]+) \| ([A-F]) \|", page, re.MULTILINE) == grades
