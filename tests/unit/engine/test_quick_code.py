"""Code that is made quickly computes the same bits as code that runs fast."""

import os

import chain
import jax
import numpy as np
import pytest

from freefloat import engine
from freefloat.engine.runtime import background, code, native


@pytest.fixture
def by_need(monkeypatch, tmp_path):
    """As users have it, in a process that starts, and full strength pays at once."""
    monkeypatch.delenv("FREEFLOAT_QUICK_CODE")
    monkeypatch.setenv("FREEFLOAT_CACHE", str(tmp_path / "by_need"))
    monkeypatch.setattr(code, "PAYS", 0)
    monkeypatch.setattr(background, "failures", [])
    many, taus = chain.start(4)
    return engine.trace(chain.step, chain.one(many), taus[0]), chain.one(many), taus[0]


def full_rollout(monkeypatch, graph, *args):
    """The same by code at full strength."""
    with monkeypatch.context() as patch:
        patch.setenv("FREEFLOAT_QUICK_CODE", "0")
        return engine.compile(graph, cache=False).rollout(*args, steps=60, record_every=4)


def test_quick_code_computes_the_same_bits(monkeypatch, tmp_path):
    monkeypatch.setenv("FREEFLOAT_CACHE", str(tmp_path))
    many, taus = chain.start(16)
    start, tau = chain.one(many), taus[0]
    graph = engine.trace(chain.step, start, tau)
    fast = engine.compile(graph)
    expected = fast.rollout(start, tau, steps=50), fast.rollout_batch(many, tau, steps=50, in_axes=(0, None))
    kept = len(list(tmp_path.rglob("*")))
    monkeypatch.setenv("FREEFLOAT_QUICK_CODE", "1")
    quick = engine.compile(graph)
    found = quick.rollout(start, tau, steps=50), quick.rollout_batch(many, tau, steps=50, in_axes=(0, None))
    jax.tree.map(np.testing.assert_array_equal, found, expected)
    assert len(list(tmp_path.rglob("*"))) > kept  # the two are kept apart


def test_code_swapped_in_a_rollout_computes_the_same_bits(monkeypatch, by_need):
    graph, *args = by_need
    expected = full_rollout(monkeypatch, graph, *args)
    program, records = engine.compile(graph), []
    for k, chunk in enumerate(program.rollout_chunks(*args, steps=60, chunk=20, record_every=4)):
        records.append(chunk.record)
        if k == 0:
            assert not program._scalar.is_final
            assert program._scalar._job.take(wait=True)  # full-strength code is there from the second chunk on
            assert program._scalar.is_final
    jax.tree.map(np.testing.assert_array_equal, chunk.state, expected.state)
    jax.tree.map(
        lambda *parts: np.testing.assert_array_equal(np.concatenate(parts[:-1]), parts[-1]), *records, expected.record
    )
    later = engine.compile(graph)  # as in a later process: it is found at full strength
    assert later._scalar.find()
    assert later._scalar.is_final


def test_short_work_stays_with_quick_code(monkeypatch, by_need):
    monkeypatch.setattr(code, "PAYS", 1_000_000)
    graph, *args = by_need
    program = engine.compile(graph)
    program.rollout(*args, steps=60)
    assert program._scalar._job is None
    assert not program._scalar.is_final


def test_a_failed_compiler_is_reported_and_quick_code_stays(monkeypatch, by_need, tmp_path):
    graph, *args = by_need
    expected = full_rollout(monkeypatch, graph, *args)
    broken = tmp_path / "broken.py"
    broken.write_text("raise SystemExit('no compiler today')")
    monkeypatch.setattr(background, "COMPILER", broken)
    program = engine.compile(graph)
    program.rollout(*args, steps=1)
    program._scalar._job._process.wait()
    found = program.rollout(*args, steps=60, record_every=4)
    jax.tree.map(np.testing.assert_array_equal, found, expected)
    assert "no compiler today" in engine.doctor()["full_code_failed"][0]


def test_a_bound_step_is_at_full_strength(by_need):
    graph, *_ = by_need
    program = engine.compile(graph)
    program.bind()
    assert program._scalar.is_final
    assert program._scalar._job is None


def test_a_forked_process_does_not_wait_for_its_parents_compiler(monkeypatch, by_need):
    graph, *args = by_need
    program = engine.compile(graph)
    program.rollout(*args, steps=1)
    job = program._scalar._job
    monkeypatch.setattr(job, "_owner", os.getpid() + 1)  # as in a process forked from the one that began it
    assert not job.is_mine
    program.rollout(*args, steps=1)
    assert program._scalar._job is not job
    monkeypatch.undo()
    background.stop_all()
    assert not background._running


def test_small_batches_use_the_code_of_one_instance(monkeypatch, by_need):
    monkeypatch.setattr(code, "PAYS", 1_000_000)
    monkeypatch.setattr(native, "WIDE_PAYS", 50_000)
    graph, *_ = by_need
    many, taus = chain.start(16)
    one, wide = engine.compile(graph), engine.compile(graph, width=4)
    jax.tree.map(np.testing.assert_array_equal, one.batch(many, taus), wide.batch(many, taus))
    assert one._wide._code is None
    assert wide._wide._code.width == 4  # a width that is asked for is used
