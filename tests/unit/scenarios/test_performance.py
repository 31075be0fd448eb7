"""Save first, judge after: whatever judging does, the run is on disk."""

import json
from collections.abc import Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from freefloat import sim
from freefloat.report import folder
from freefloat.scenarios import find
from freefloat.scenarios.goddard import GoddardSymmetric
from freefloat.scenarios.runner import SavedRun, run_scenario
from freefloat.sim import Experiment, Run, RunFailed
from freefloat.values.claims import Claim

SHORT = replace(GoddardSymmetric(), duration=0.1)


def _perform(out: Path, variant: str = "50-kg") -> SavedRun:
    return run_scenario(SHORT, variant, out, "native", lambda title: nullcontext())


def test_a_claim_that_raises_leaves_the_run_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def raises(self: Any, variant: str, run: Run, others: Mapping[str, Run]) -> list[Claim]:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(GoddardSymmetric, "claims", raises)
    kept = _perform(tmp_path)
    assert kept.faults == ("The run is saved, but it could not be judged: ZeroDivisionError: by nothing",)
    assert not kept.summary["ok"]
    run = Run.load(tmp_path / "run.nc")
    assert run.completed
    assert run.variant == "50-kg"
    assert run.claims == ()
    assert json.loads((tmp_path / "summary.json").read_text())["faults"] == list(kept.faults)
    assert (tmp_path / "page.html").exists()


def test_a_full_disk_while_judging_leaves_the_run_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("freefloat.scenarios.runner.finish_folder", full)
    with pytest.raises(OSError, match="No space left"):
        _perform(tmp_path)
    assert Run.load(tmp_path / "run.nc").completed
    assert (tmp_path / "scenario.toml").exists()


def test_a_full_disk_while_the_judged_run_is_written_keeps_the_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half_written(path: Path, *_: Any) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    run = _perform(tmp_path, "custom").run
    monkeypatch.setattr("freefloat.sim.record.run_file.rewrite_attribute", half_written)
    with pytest.raises(OSError, match="No space left"):
        folder.finish_folder(run.with_claims([{"holds": True}]), tmp_path)
    assert Run.load(tmp_path / "run.nc").completed
    assert not list(tmp_path.parent.glob(".*partial"))


def test_runs_that_claims_need_are_made_once_saved_with_the_same_engine_and_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    titles: list[str] = []
    saved: list[bool] = []
    engines: list[str] = []
    original = sim.simulate

    def spied(experiment: Experiment, progress: Any = None, engine: Any = "native", **options: Any) -> Run:
        engines.append(engine)
        saved.append((tmp_path / "run.nc").exists())
        return original(replace(experiment, duration=0.1), progress=progress)  # compiled: plain JAX would take a minute

    def claims(self: Any, variant: str, run: Run, others: Mapping[str, Run]) -> list[Claim]:
        assert others["25-kg"].variant == "25-kg"
        return []

    monkeypatch.setattr(sim, "simulate", spied)
    monkeypatch.setattr(GoddardSymmetric, "needed_runs", classmethod(lambda cls, variant: ("25-kg",)))
    monkeypatch.setattr(GoddardSymmetric, "claims", claims)

    def report(title: str) -> Any:
        titles.append(title)
        return nullcontext()

    assert not run_scenario(SHORT, "50-kg", tmp_path, "jax", report).faults
    assert titles == ["goddard-symmetric 50-kg", "goddard-symmetric 25-kg"]
    assert saved == [False, True]  # the run is saved before the one that it is compared with begins
    assert engines == ["jax", "jax"]


def test_a_run_that_is_compared_with_and_fails_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    original = sim.simulate

    def fails(experiment: Experiment, progress: Any = None, engine: Any = "native", **options: Any) -> Run:
        run = original(replace(experiment, duration=0.1), progress=progress, engine=engine)
        if experiment.scenario["hub_mass"] == 25.0:
            raise RunFailed("It stopped.", run)
        return run

    monkeypatch.setattr(sim, "simulate", fails)
    monkeypatch.setattr(GoddardSymmetric, "needed_runs", classmethod(lambda cls, variant: ("25-kg",)))
    kept = _perform(tmp_path)
    assert kept.faults == ("The run is saved, but it could not be judged: RunFailed: It stopped.",)
    assert Run.load(tmp_path / "run.nc").completed


def test_every_run_that_a_claim_needs_exists() -> None:
    from freefloat.scenarios import SCENARIOS

    for scenario in SCENARIOS.values():
        for variant in scenario.variants():
            for name in scenario.needed_runs(variant):
                owner, _, other = name.rpartition("/")
                assert other in find(owner or scenario.name).variants()
