"""A real cluster of two workers, one of which is killed while it computes."""

import os
import signal

import numpy as np
import pytest

from freefloat.campaign import Results, Route, run_campaign
from freefloat.campaign.dask_route import LOCAL
from support import pushed_craft


@pytest.fixture
def cluster(monkeypatch, tmp_path):
    distributed = pytest.importorskip("distributed")
    monkeypatch.setenv("FREEFLOAT_QUICK_CODE", "1")  # the same bits, sooner
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", memory_limit=0, local_directory=str(tmp_path)
    ) as made:
        yield made


@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_a_killed_worker_costs_nothing_but_time(cluster, tmp_path):
    expected = run_campaign(pushed_craft.campaign(200))
    killed: list[int] = []

    def kill_one(done: int, total: int, rate: float) -> None:
        if not killed:
            worker = next(iter(cluster.workers.values()))
            killed.append(worker.process.pid)
            os.kill(worker.process.pid, signal.SIGKILL)

    route = Route(target="native", dask=cluster.scheduler_address)
    found = run_campaign(pushed_craft.campaign(200), tmp_path / "kept", route, kill_one)
    assert killed
    assert np.array_equal(found.array("metrics"), expected.array("metrics"))
    assert np.array_equal(Results.open(tmp_path / "kept").array("draws"), expected.array("draws"))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning", "ignore::UserWarning")
def test_workers_are_started_here_when_asked(tmp_path, monkeypatch):
    pytest.importorskip("distributed")
    monkeypatch.setenv("FREEFLOAT_QUICK_CODE", "1")
    path = pushed_craft.files(tmp_path, runs=40)
    from freefloat.campaign.toml_files import read_campaign

    found = run_campaign(read_campaign(path), route=Route(target="native", dask=LOCAL, workers=1))
    assert np.array_equal(found.array("metrics"), run_campaign(read_campaign(path)).array("metrics"))
