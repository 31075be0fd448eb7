"""One small campaign by every route: the same bits for all numbers of threads, sizes of blocks, restarts and shards."""

import errno
import json
import os
import shutil
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import freefloat.campaign.driver as driving
from freefloat.campaign import CampaignError, Dispersion, History, Metric, Normal, Results, Route, replay
from freefloat.campaign import resume_campaign as resume
from freefloat.campaign import run_campaign as run
from freefloat.campaign.replaying import case, replay_from_store
from freefloat.campaign.store import Store
from freefloat.campaign.toml_files import campaign_of_store, read_campaign, shipped_campaigns
from freefloat.engine.llvm.machine import host
from freefloat.sim import simulate
from support import pushed_craft

ARRAYS = ("draws", "metrics", "status", "ended", "attempts", "events")


@pytest.fixture(scope="module")
def reference() -> Results:
    return run(pushed_craft.campaign())


def assert_same(found: Results, expected: Results) -> None:
    for name in ARRAYS:
        assert np.array_equal(found.array(name), expected.array(name)), name


def test_the_speed_is_what_the_impulse_gives(reference):
    masses = 100.0 * reference.draw("base.mass")
    before = np.stack([reference.draw(f"start.velocity.{axis}") for axis in "xyz"], axis=1)
    after = before + np.outer(pushed_craft.FORCE * pushed_craft.PUSH / masses, [1.0, 0.0, 0.0])
    np.testing.assert_allclose(reference.metric("speed"), np.linalg.norm(after, axis=1), rtol=1e-12)
    assert reference.metric("balance.linear_momentum").max() < 1e-12
    assert reference.counts == {"runs": 100, "completed": 100, "diverged": 0, "stopped": 0, "refused": 0, "redrawn": 0}


@pytest.mark.parametrize(("block", "threads"), [(7, 1), (100, 2), (33, 3)])
def test_neither_blocks_nor_threads_change_a_bit(reference, block, threads):
    assert_same(run(pushed_craft.campaign(block=block), route=Route(target="native", threads=threads)), reference)


def test_a_run_does_not_depend_on_how_many_there_are(reference):
    assert np.array_equal(run(pushed_craft.campaign(20)).array("metrics"), reference.array("metrics")[:20])


def test_shards_merge_to_the_whole(reference, tmp_path):
    made = pushed_craft.campaign()
    for part in (1, 2, 3):
        run(made, tmp_path / f"part{part}", Route(shard=(part, 3)))
    whole = Store(tmp_path / "part1").same_empty(tmp_path / "whole")
    assert [whole.copy_missing(Store(tmp_path / f"part{part}")) for part in (1, 2, 3)] == [3, 2, 2]
    assert whole.copy_missing(Store(tmp_path / "part2")) == 0
    assert_same(Results.of_store(whole), reference)
    run(pushed_craft.campaign(seed=4), tmp_path / "other")
    with pytest.raises(CampaignError, match="another campaign"):
        whole.copy_missing(Store(tmp_path / "other"))


KILLED = """
    import os, signal, sys
    sys.path.insert(0, {tests!r})
    from support import pushed_craft
    from freefloat.campaign import run_campaign
    from freefloat.campaign.store import Store
    written, plain = [], Store.write
    def write(self, number, block, facts):
        if len(written) == 3:
            self._group["draws"][block.first : block.first + 4] = 7.0  # half a block, and no mark
            os.kill(os.getpid(), signal.{signal})
        written.append(number)
        plain(self, number, block, facts)
    Store.write = write
    try:
        run_campaign(pushed_craft.campaign(), {folder!r})
    except KeyboardInterrupt:
        sys.exit(130)
"""


@pytest.mark.parametrize(("sent", "status"), [("SIGKILL", -signal.SIGKILL), ("SIGTERM", 130), ("SIGINT", 130)])
def test_what_is_killed_is_resumed_and_nothing_is_repeated(reference, tmp_path, sent, status):
    tests, folder = Path(__file__).parents[2], tmp_path / "killed"
    code = textwrap.dedent(KILLED.format(tests=str(tests), folder=str(folder), signal=sent))
    done = subprocess.run([sys.executable, "-c", code], env=os.environ, check=False, capture_output=True, text=True)
    assert done.returncode == status, done.stderr
    kept = {path: path.stat().st_mtime_ns for path in sorted((folder / "blocks").glob("*.json"))}
    assert len(kept) == 3
    assert_same(resume(pushed_craft.campaign(), folder), reference)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept


def test_damaged_blocks_are_found_and_computed_again(reference, tmp_path):
    run(pushed_craft.campaign(), tmp_path / "kept")
    chunk = tmp_path / "kept" / "metrics" / "c" / "2" / "0"
    chunk.write_bytes(chunk.read_bytes()[:-3] + b"abc")
    store = Store(tmp_path / "kept")
    assert set(store.finished_blocks()) - set(store.finished_blocks(check=True)) == {2}
    assert_same(resume(pushed_craft.campaign(), tmp_path / "kept"), reference)


@pytest.mark.parametrize("fault", [errno.ENOSPC, errno.EACCES])
def test_a_full_disk_or_a_missing_permission_ends_cleanly(reference, tmp_path, monkeypatch, fault):
    plain = Store.write

    def write(self, number, block, facts):
        if number == 2:
            raise OSError(fault, os.strerror(fault), "chunk")
        plain(self, number, block, facts)

    monkeypatch.setattr(Store, "write", write)
    with pytest.raises(CampaignError, match=f"{os.strerror(fault)}: the campaign ended with 2 of 7 blocks"):
        run(pushed_craft.campaign(), tmp_path / "full")
    monkeypatch.undo()
    assert_same(resume(pushed_craft.campaign(), tmp_path / "full"), reference)


def test_a_folder_is_not_taken_twice_nor_by_two(tmp_path):
    made = pushed_craft.campaign(20)
    run(made, tmp_path / "kept")
    with pytest.raises(CampaignError, match="holds a campaign already"):
        run(made, tmp_path / "kept")
    with pytest.raises(CampaignError, match="its seed differs"):
        resume(pushed_craft.campaign(20, seed=9), tmp_path / "kept")
    with Store(tmp_path / "kept").writing(), pytest.raises(CampaignError, match="Another process"):
        resume(made, tmp_path / "kept")
    with pytest.raises(CampaignError, match="There is no campaign"):
        Results.open(tmp_path)


def test_progress_tells_runs_and_rate(tmp_path):
    told: list[tuple[int, int, float]] = []
    run(pushed_craft.campaign(40), tmp_path / "kept", progress=lambda *now: told.append(now))
    assert [(done, total) for done, total, _ in told] == [(16, 40), (32, 40), (40, 40)]
    assert all(rate > 0.0 for *_, rate in told)


def test_a_run_is_replayed_bit_for_bit_in_full(reference, tmp_path):
    made = pushed_craft.campaign()
    again = replay(made, 37)
    assert np.array_equal(again.metrics, reference.array("metrics")[37])
    assert again.run.completed
    assert again.run.audit.holds
    speed = np.linalg.norm(again.run.values("base.velocity"), axis=1)
    # Recorded channels come from other code of the same states: the last digit of a norm may differ.
    assert speed[-1] == pytest.approx(reference.metric("speed")[37], rel=4e-16)
    assert again.run.values("base.position")[:, 0].max() == reference.metric("moved")[37]
    run(made, tmp_path / "kept")
    assert replay_from_store(made, tmp_path / "kept", 37).scenario["run"] == 37
    alone = simulate(case(made, 37))
    np.testing.assert_allclose(alone.values("base.velocity"), again.run.values("base.velocity"), rtol=1e-13)
    with pytest.raises(CampaignError, match="0 to 99"):
        replay(made, 100)


def test_a_replay_that_differs_from_what_was_kept_is_refused(tmp_path):
    made = pushed_craft.campaign(20)
    run(made, tmp_path / "kept")
    group = Store(tmp_path / "kept")._group
    group["metrics"][3] = 1.0
    with pytest.raises(CampaignError, match="other metrics"):
        replay_from_store(made, tmp_path / "kept", 3)


def test_histories_are_the_channels_of_the_replayed_run():
    made = pushed_craft.campaign(20, history=History(("base.position", "energy.kinetic"), 1.0))
    kept, again = run(made), replay(made, 11).run
    assert kept.array("history/base.position").shape == (20, 4, 3)
    np.testing.assert_allclose(kept.array("history/base.position")[11], again.values("base.position")[::10], rtol=1e-14)
    np.testing.assert_allclose(
        kept.array("history/energy.kinetic")[11], again.values("energy.kinetic")[::10], rtol=1e-13
    )
    with pytest.raises(CampaignError, match=r"no channel 'base\.place'"):
        run(pushed_craft.campaign(20, history=History(("base.place",), 1.0)))


def test_runs_that_diverge_are_told_and_do_not_spoil_the_others():
    made = pushed_craft.campaign(
        20, dispersions=(Dispersion("WrenchPulse.wrench", Normal(1.0, 0.1), "scale"),), requirements=()
    )
    fast = pushed_craft.campaign(
        20, dispersions=(Dispersion("start.rate", Normal(0.0, 1e200), "add"),), requirements=(), balances=False
    )
    assert run(made).counts["completed"] == 20
    found = run(fast)
    assert found.counts["diverged"] > 0
    assert np.isnan(found.metric("speed")[found.status == 1]).all()
    assert np.isfinite(found.array("ended")[found.status == 1]).all()


def test_refused_runs_are_kept_apart():
    found = run(pushed_craft.campaign(60, dispersions=(Dispersion("base.inertia", Normal(0.0, 8.0), "add"),)))
    assert 0 < found.counts["refused"] < 60
    assert len(found.metric("speed")) == found.counts["completed"]
    refused = int(found.runs[found.status == 3][0])
    with pytest.raises(CampaignError, match="physically impossible"):
        replay(pushed_craft.campaign(60, dispersions=(Dispersion("base.inertia", Normal(0.0, 8.0), "add"),)), refused)


def test_requirements_are_passed_failed_or_left_open(reference):
    share = (reference.metric("speed") <= 0.09).mean()
    assert reference.verdicts[0].share.value == share
    words = {
        p: reference.verdict(pushed_craft.Requirement("r", "speed", below=0.09, probability=p)).word
        for p in (share - 0.15, share, min(share + 0.1, 0.999))
    }
    assert list(words.values()) == ["pass", "not decided", "fail"]
    assert reference.success().value == share


def test_results_show_counts_quantiles_and_verdicts_in_at_most_40_lines(reference):
    shown = str(reference)
    assert len(shown.splitlines()) <= 40
    assert f"{len(reference.runs)} runs" in shown.splitlines()[0]
    assert all(name in shown for name in reference.metric_names[:24])
    assert f"{reference.quantile(reference.metric_names[0], 0.5).value:.5g}" in shown
    assert repr(reference) == f"<Results of '{shown.splitlines()[0]}'>"
    assert "array(" not in shown
    assert reference._repr_html_().startswith("<pre")


def test_a_campaign_shows_what_it_disperses_measures_and_requires():
    campaign = read_campaign("srms-normal", {"runs": 2}, {})
    lines = str(campaign).splitlines()
    assert lines[0].endswith("2 runs, random, 6 dispersions, 4 metrics, 1 requirement")
    assert any("payload.base.mass" in line for line in lines)
    assert "requires boom: boom_1 at most 3.5" in lines
    assert repr(campaign) == f"<{lines[0]}>"


def test_worst_runs_and_what_matters(reference):
    worst = reference.worst("speed", 3)
    assert worst[0][1] == reference.metric("speed").max()
    assert int(np.argmax(reference.metric("speed"))) == worst[0][0]
    assert reference.worst("speed", 1, smallest=True)[0][1] == reference.metric("speed").min()
    name, found = next(iter(reference.rank_correlations("speed").items()))
    assert name == "base.mass"
    assert found.value < -0.95
    with pytest.raises(CampaignError, match="saltelli"):
        reference.sobol_indices("speed")


def test_sobol_indices_of_a_campaign():
    found = run(pushed_craft.campaign(6 * 64, design="saltelli")).sobol_indices("speed")
    assert found["base.mass"].first.value > 0.9
    assert abs(found["start.velocity.z"].total.value) < 0.05


def test_files_say_the_same_as_python(reference, tmp_path):
    path = pushed_craft.files(tmp_path)
    made = read_campaign(path)
    kept = run(made, tmp_path / "kept")
    np.testing.assert_allclose(kept.array("metrics"), reference.array("metrics"), rtol=1e-13, atol=1e-12)
    assert campaign_of_store(Store(tmp_path / "kept").described).identity() == made.identity()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("speed = 3", "has no 'speed'"),
        ("[metrics.wrong]\nof = 'norm(base.velo)'", "Did you mean base.velocity"),
        ("[metrics.wrong]\nof = 'base.velocity'", "3 numbers"),
        ("[metrics.wrong]\nof = 'base.velocity[w]'", "Components: x, y, z"),
        ("[metrics.wrong]\nof = 'sin(time)'", "no function 'sin'"),
        ("[metrics.wrong]\nof = '__import__(1)'", "no function"),
        ("[metrics.wrong]\nof = 'time +'", "cannot be read"),
        ("[metrics.wrong]\nof = 'time'\nreduce = 'median'", "Reductions: max"),
        ("[metrics.wrong]\nof = 'time'\nreduce = 'crossing'", "level"),
        ("[requirements.wrong]\nmetric = 'height'\nbelow = 1", "no metric 'height'"),
        ("[requirements.wrong]\nmetric = 'speed'", "below or above"),
    ],
)
def test_wrong_files_are_refused_before_anything_runs(tmp_path, line, said):
    path = pushed_craft.files(tmp_path)
    text = path.read_text()
    path.write_text(f"{line}\n{text}" if line.startswith("speed") else f"{text}\n{line}\n")
    with pytest.raises(CampaignError, match=said):
        run(read_campaign(path), tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


def test_shipped_campaigns_can_be_read():
    assert shipped_campaigns() == ["envisat-capture", "ets7-capture", "srms-normal"]
    for name in shipped_campaigns():
        assert read_campaign(name).metrics


def test_routes_are_checked():
    with pytest.raises(CampaignError, match="auto, native, gpu"):
        Route(target="cpu")
    with pytest.raises(CampaignError, match="1/N to N/N"):
        Route(shard=(4, 3))


def test_the_store_is_a_zarr_group_that_anybody_can_read(tmp_path):
    import zarr

    run(pushed_craft.campaign(20), tmp_path / "kept")
    group = zarr.open_group(str(tmp_path / "kept"), mode="r")
    assert group["metrics"].shape == (20, 4)
    assert json.loads(json.dumps(dict(group.attrs)))["metrics"][:2] == ["speed", "moved"]
    assert Results.open(tmp_path / "kept").as_dataset()["speed"].attrs["units"] == "m/s"


def test_metrics_of_functions_and_of_every_reduction():
    """Each is compared with what its name says of the channels of the same run."""
    heavy = "base.velocity[x] > 0.04"
    metrics = (
        Metric("max", "base.velocity[x]", "max"),
        Metric("min", "base.velocity[x]", "min", when=heavy),
        Metric("mean", lambda c: c["base.velocity"][0], "mean"),
        Metric("rms", "base.velocity[x]", "rms", when=heavy),
        Metric("first", "time", "first", when=heavy),
        Metric("never", "time", "first", when="base.velocity[x] > 1000"),
        Metric("crossing", "base.velocity[x]", "crossing", level=0.04),
        Metric("drift", "base.position", "drift"),
        Metric("both", "max(abs(base.velocity))", when=f"not ({heavy}) or time > 1 and time < 2"),
    )
    made = pushed_craft.campaign(8, metrics=metrics, requirements=())
    kept, again = run(made), replay(made, 5).run
    x, t = again.values("base.velocity")[:, 0], again.values("time")
    on, place = x > 0.04, again.values("base.position")
    k = int(np.argmax(on))
    expected = {
        "max": x.max(),
        "min": x[on].min(),
        "mean": x.mean(),
        "rms": np.sqrt(np.mean(x[on] ** 2)),
        "first": t[k],
        "never": np.inf,
        "crossing": t[k - 1] + 0.1 * (0.04 - x[k - 1]) / (x[k] - x[k - 1]),
        "drift": np.linalg.norm(place - place[0], axis=1).max(),
        "both": np.abs(again.values("base.velocity")[np.flatnonzero(~on | ((t > 1) & (t < 2)))[-1]]).max(),
    }
    for name, value in expected.items():
        assert kept.metric(name)[5] == pytest.approx(value, rel=1e-12), name


def test_an_interruption_between_blocks_is_heard(monkeypatch, tmp_path):
    plain, made = driving.compute_block, pushed_craft.campaign()

    def compute(campaign, number, *rest):
        if number == 4:
            raise KeyboardInterrupt
        return plain(campaign, number, *rest)

    monkeypatch.setattr(driving, "compute_block", compute)
    with pytest.raises(KeyboardInterrupt):
        run(made, tmp_path / "kept")
    assert Store(tmp_path / "kept").finished_blocks(check=True) == [0, 1, 2, 3]


@pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler to emulate a GPU")
def test_a_card_gives_the_same_numbers(reference):
    made = pushed_craft.campaign(20)
    made.preparation.program.compiled_step("gpu", emulate=True)
    found = run(made, route=Route(target="gpu"))
    apart = np.abs(found.array("metrics") - reference.array("metrics")[:20])
    assert apart.max() <= (0.0 if host().fma else 1e-12)
    assert np.array_equal(found.array("draws"), reference.array("draws")[:20])
