"""Damaged robot files in every language: read, or refused by name; nothing else happens."""

import sys
from pathlib import Path

import numpy as np
import pytest

from freefloat.readers.languages import language_of

pytest.importorskip("mujoco")

ROOT = Path(__file__).parents[3]
COUNT = 240  # a fixed budget; `benchmarks/damaged_files.py` reads 2000


@pytest.fixture
def damaged_files(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log of its warnings where it is
    import damaged_files

    yield damaged_files
    for name in ("damaged_files", "damage"):
        sys.modules.pop(name, None)


@pytest.mark.slow
def test_damaged_files_raise_nothing_but_model_errors_that_name_the_element(damaged_files):
    outcomes, _ = damaged_files.fuzz(damaged_files.own_files(), COUNT, seed=7)
    assert set(outcomes) == {"URDF", "MJCF", "SDF"}
    for counts in outcomes.values():
        assert set(counts) == {"read", "refused"}, counts


def test_the_damage_is_reproducible_and_real(damaged_files):
    text = (ROOT / "examples" / "data" / "robots" / "bench_arm.sdf").read_text()
    once, again = (damaged_files.damage_text(text, np.random.default_rng(3)) for _ in range(2))
    assert once == again != text


def test_a_language_is_known_by_the_outermost_element():
    folder = ROOT / "examples" / "data" / "robots"
    names = {path.suffix: language_of(path).name for path in folder.iterdir() if path.is_file()}
    assert names == {".urdf": "URDF", ".xml": "MJCF", ".sdf": "SDF"}
    assert language_of("<html/>").name == "URDF"
    assert language_of("no such file").name == "URDF"
