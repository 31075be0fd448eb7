"""The same bits in forked, spawned and served processes, in threads and in Dask's workers."""

import multiprocessing
import os
import signal
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine
from support.simulated_bits import simulated_bits

# JAX, which is traced with, says that it has threads; after a fork nothing of ours waits for them.
pytestmark = pytest.mark.filterwarnings("ignore:.*fork:RuntimeWarning", "ignore:.*fork:DeprecationWarning")
_PATIENCE = 120.0  # [s] a hanging process is a failure, not a wait


def test_forked_processes_compute_in_threads_of_their_own():
    """Before the fork the pool of threads is in use; in the child it has none, and a batch would wait for ever."""
    f, many = engine.compile(jnp.sin, 1.0), np.linspace(0.0, 1.0, 1000)
    expected = f.batch(many, threads=4)
    child = os.fork()
    if child == 0:
        signal.alarm(60)  # [s]
        os._exit(0 if np.array_equal(f.batch(many, threads=4), expected) else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert np.array_equal(f.batch(many, threads=4), expected)


def test_eight_forked_processes_at_once_after_a_run():
    expected = simulated_bits()
    with multiprocessing.get_context("fork").Pool(8) as pool:
        assert set(pool.map_async(simulated_bits, range(8), chunksize=1).get(_PATIENCE)) == {expected}


@pytest.mark.parametrize("kind", ["spawn", "forkserver"])
def test_fresh_processes(kind):
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context(kind)) as pool:
        assert set(pool.map(simulated_bits, range(2), timeout=_PATIENCE)) == {simulated_bits()}


def test_threads():
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(simulated_bits, range(16), timeout=_PATIENCE)) == {simulated_bits()}


def test_threads_that_trace_at_the_same_time(own_cache):
    with ThreadPoolExecutor(4) as pool:
        found = set(pool.map(simulated_bits, range(4), timeout=_PATIENCE))
    assert found == {simulated_bits()}


@pytest.mark.filterwarnings("ignore")  # of Dask's own pieces
def test_workers_of_dask():
    distributed = pytest.importorskip("distributed", reason="Dask's distributed is not installed")
    cluster = distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, processes=True, dashboard_address=None, host="127.0.0.1"
    )
    with cluster, distributed.Client(cluster) as client:
        found = client.gather(client.map(simulated_bits, range(4)))
    assert set(found) == {simulated_bits()}


@pytest.mark.slow
def test_eight_fresh_processes_that_compile_at_once(own_cache):
    """None finds anything on disk: all trace, compile, and leave their code at the same time."""
    with ProcessPoolExecutor(8, mp_context=multiprocessing.get_context("spawn")) as pool:
        assert set(pool.map(simulated_bits, range(8))) == {simulated_bits()}
    assert not list(own_cache.glob("*.part"))
