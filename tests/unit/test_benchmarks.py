"""Benchmarks are smoke-run: they work and speak the agreed JSON. How fast they are is never asserted."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from freefloat.engine.llvm.machine import host

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ONLY = {"latency": ["--only", "linear", "jacobian"]}  # the others start whole runs


@pytest.mark.parametrize(
    "name",
    [
        "engine",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in (
                "branches",
                "campaign",
                "campaign_scaling",
                "connections",
                "contact",
                "flexible",
                "latency",
                "rehearsal",
                "software",
                "station",
            )
        ),
    ],
)
def test_benchmark_speaks_json(name, tmp_path):
    words = [sys.executable, str(BENCHMARKS / f"{name}.py"), "--quick", "--json", *ONLY.get(name, [])]
    environment = {**os.environ, "FREEFLOAT_CACHE": str(tmp_path)}
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    rows = json.loads(done.stdout)
    assert rows
    for row in rows:
        assert {"case", "measure", "ours", "peer_name", "peer", "ratio"} <= set(row)
        assert row["ours"] > 0.0
        if row["peer"] is not None:
            assert row["ratio"] == pytest.approx(row["peer"] / row["ours"])


@pytest.mark.slow
def test_closed_loops_are_measured(tmp_path):
    words = [sys.executable, str(BENCHMARKS / "closed_loops.py"), "--quick", "--json"]
    done = subprocess.run(
        words, capture_output=True, text=True, check=False, env={**os.environ, "FREEFLOAT_CACHE": str(tmp_path)}
    )
    assert done.returncode == 0, done.stderr
    assert all(value > 0.0 for value in json.loads(done.stdout).values())


@pytest.mark.slow
def test_accuracy_is_compared_with_the_truth():
    words = [sys.executable, str(BENCHMARKS / "accuracy.py"), "--quick", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    made = json.loads(done.stdout)
    assert made["summary"]["runs"] == 2
    # An error that is right to a factor of three serves its purpose: to choose a step.
    assert all(0.3 <= ratio <= 3.0 for one in made["results"] for ratio in one["ratios"])


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler to emulate a GPU")
def test_gpu_benchmark_carries_its_cases(tmp_path):
    (row,) = measured_from_files("gpu", tmp_path)
    assert row["case"] == "hub-panels"
    assert row["difference"] <= (0.0 if host().fma else 1e-12)  # the same bits where both have fused operations


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler to emulate a GPU")
def test_captures_on_a_card_are_those_of_native_code(tmp_path):
    """Two seconds of eight captures."""
    row = measured_from_files("campaign_gpu", tmp_path)
    assert row["compared"] == 8
    assert row["difference"] <= (0.0 if host().fma else 1e-9)


def measured_from_files(benchmark, folder):
    """Exported here, drawn and run from the files alone, as on a machine with a card and little else."""
    words = [sys.executable, str(BENCHMARKS / f"{benchmark}.py"), "--quick"]
    environment = {**os.environ, "FREEFLOAT_CACHE": str(folder)}
    for more in (["--export", str(folder / "cases")], ["--cases", str(folder / "cases"), "--json"]):
        done = subprocess.run([*words, *more], capture_output=True, text=True, check=False, env=environment)
        assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
