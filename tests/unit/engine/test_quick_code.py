"""Code that is made quickly computes the same bits as code that runs fast."""

import multiprocessing
import os
import subprocess
import sys

import chain
import jax
import numpy as np
import pytest

from freefloat import engine
from freefloat.engine.runtime import background, cache, code, native


@pytest.fixture
def by_need(monkeypatch, tmp_path):
    """As users have it, in a process that starts, and full strength pays at once."""
    monkeypatch.delenv("FREEFLOAT_QUICK_CODE")
    monkeypatch.setenv("FREEFLOAT_CACHE", str(tmp_path / "by_need"))
    monkeypatch.setattr(code, "PAYS", 0)
    monkeypatch.setattr(background, "failures", [])
    many, taus = chain.start(4)
    return engine.trace(chain.step, chain.one(many), taus[0]), chain.one(many), taus[0]


REAL_COMPILER = background.COMPILER
# What stands before another compiler: it fails so quickly that its job might be over before a test has seen it.
WAITING = """
import pathlib, time
while not pathlib.Path({go!r}).exists(): time.sleep(0.01)
"""
BROKEN = "raise SystemExit('no compiler today')"
SLEEPING = "import time; time.sleep(600)"
TALKING = """
import runpy, sys
print("hello from site")
sys.stdout.flush()
runpy.run_path({compiler!r}, run_name="__main__")
print("bye")
"""
WRITING = "open(0, 'r+b', closefd=False).write(b'no object code' * 100)"


@pytest.fixture
def compiler(monkeypatch, tmp_path):
    """Put another program in the place of the compiler in the background."""

    def replace(text):
        other = tmp_path / "compiler.py"
        go = str(other.with_suffix(".go"))
        other.write_text(WAITING.format(go=go) + text.format(compiler=str(REAL_COMPILER)))
        monkeypatch.setattr(background, "COMPILER", other)

    yield replace
    background.stop_all()


def begun(graph, *args, **options):
    """A program whose full-strength code is on its way."""
    program = engine.compile(graph, **options)
    program.rollout(*args, steps=1)
    assert program._scalar._job is not None
    if background.COMPILER != REAL_COMPILER:
        background.COMPILER.with_suffix(".go").touch()
    return program


def another(number):
    """A graph that no other test has."""
    return engine.trace(lambda x: x * (17.0 + number) + 1.0, 1.0)


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
            assert program._scalar._job.result()  # full-strength code is there from the second chunk on
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


def test_a_failed_compiler_is_reported_and_quick_code_stays(monkeypatch, by_need, compiler):
    graph, *args = by_need
    expected = full_rollout(monkeypatch, graph, *args)
    compiler(BROKEN)
    program = begun(graph, *args)
    program._scalar._job._process.wait()
    found = program.rollout(*args, steps=60, record_every=4)
    jax.tree.map(np.testing.assert_array_equal, found, expected)
    assert "no compiler today" in engine.doctor()["full_code_failed"][0]
    assert program._scalar.is_final


def test_a_bound_step_is_at_full_strength(by_need):
    graph, *_ = by_need
    program = engine.compile(graph)
    program.bind()
    assert program._scalar.is_final
    assert program._scalar._job is None


def test_a_forked_process_does_not_wait_for_its_parents_compiler(monkeypatch, by_need):
    graph, *args = by_need
    program = begun(graph, *args)
    job = program._scalar._job
    monkeypatch.setattr(job, "_owner", os.getpid() + 1)  # as in a process forked from the one that began it
    background._jobs.clear()
    assert not job.is_mine
    assert not program._scalar.is_awaited
    program.rollout(*args, steps=1)
    assert program._scalar._job is not job
    monkeypatch.undo()
    background.stop_all()
    job.stop()
    assert not background._jobs


def test_small_batches_use_the_code_of_one_instance(monkeypatch, by_need):
    monkeypatch.setattr(code, "PAYS", 1_000_000)
    monkeypatch.setattr(native, "WIDE_PAYS", 50_000)
    graph, *_ = by_need
    many, taus = chain.start(16)
    one, wide = engine.compile(graph), engine.compile(graph, width=4)
    jax.tree.map(np.testing.assert_array_equal, one.batch(many, taus), wide.batch(many, taus))
    assert one._wide._loaded is None
    assert wide._wide._loaded.code.width == 4  # a width that is asked for is used


# ---- what may go wrong with the process in the background


def test_what_is_printed_in_the_compiler_process_is_no_code(monkeypatch, by_need, compiler):
    graph, *args = by_need
    compiler(TALKING)
    program = begun(graph, *args)
    assert program._scalar._job.result() is not None
    program.rollout(*args, steps=1)
    assert program._scalar.is_final
    assert not background.failures
    assert engine.compile(graph)._scalar._read_entry(quick=False) is not None


@pytest.mark.parametrize("text", ["print('hello')", WRITING, ""])
def test_an_answer_that_is_no_code_is_a_failure_and_not_kept(by_need, compiler, text):
    graph, *args = by_need
    compiler(text)
    program = begun(graph, *args)
    assert program._scalar._job.result() is None
    program.rollout(*args, steps=1)
    assert program._scalar.is_final
    assert len(background.failures) == 1
    assert engine.compile(graph)._scalar._read_entry(quick=False) is None


def test_code_that_does_not_load_is_a_failure_and_not_kept(monkeypatch, by_need):
    graph, *args = by_need
    program = begun(graph, *args)

    def broken(content):
        raise RuntimeError("no such section")

    with monkeypatch.context() as patch:
        patch.setattr(code, "Library", broken)
        assert program._scalar._job.result() is None
    assert "no such section" in background.failures[0]
    assert engine.compile(graph)._scalar._read_entry(quick=False) is None
    program.rollout(*args, steps=1)
    assert program._scalar.is_final


def test_an_interrupt_while_code_is_loaded_can_be_gone_over(monkeypatch, by_need):
    graph, *args = by_need
    program = begun(graph, *args)
    program._scalar._job._process.wait()

    def interrupted(content):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(code, "Library", interrupted)
        for _ in range(2):
            with pytest.raises(KeyboardInterrupt):
                program.rollout(*args, steps=1)
    program.rollout(*args, steps=1)
    assert program._scalar.is_final
    assert not background.failures


def test_interrupts_of_a_terminal_do_not_reach_the_compiler(by_need, compiler):
    graph, *args = by_need
    compiler(SLEEPING)
    process = begun(graph, *args)._scalar._job._process
    assert os.getsid(process.pid) == process.pid  # Ctrl-C goes to the processes of one session


def test_a_compiler_that_a_signal_ended_is_begun_again(monkeypatch, by_need, compiler):
    graph, *args = by_need
    real = background.COMPILER
    compiler(SLEEPING)
    program = begun(graph, *args)
    program._scalar._job._process.kill()
    assert program._scalar._job.result() is None
    monkeypatch.setattr(background, "COMPILER", real)
    program.rollout(*args, steps=1)
    assert not program._scalar.is_final
    program.rollout(*args, steps=1)
    assert program._scalar._job.result() is not None
    program.rollout(*args, steps=1)
    assert program._scalar._loaded.text == b""


def test_signals_again_and_again_are_final(by_need, compiler):
    graph, *args = by_need
    compiler("import os; os.kill(os.getpid(), 9)")
    program, rounds = begun(graph, *args), 0
    while not program._scalar.is_final:
        rounds += 1
        assert rounds < 20
        if program._scalar._job is not None:
            program._scalar._job._process.wait()
        program.rollout(*args, steps=1)
    assert len(background.failures) == code.MOST_ATTEMPTS


def test_programs_of_the_same_code_share_a_job_and_others_wait(monkeypatch, by_need, compiler):
    graph, *args = by_need
    monkeypatch.setattr(background, "most_jobs", lambda: 1)
    compiler(SLEEPING)
    one, other = begun(graph, *args, cache=False), begun(graph, *args, cache=False)
    assert one._scalar._job is other._scalar._job
    third = engine.compile(another(1), cache=False)
    third(1.0)
    assert third._scalar._job is None
    assert background.begin_job("another", str, bytes) is None
    one._scalar._job._process.kill()
    one._scalar._job._process.wait()
    third(1.0)
    assert third._scalar._job is not None  # and the one that ended has been collected
    assert list(background._jobs.values()) == [third._scalar._job]


def test_ended_jobs_are_collected_where_nobody_looks_any_more(monkeypatch, by_need):
    graph, *args = by_need
    monkeypatch.setattr(background, "most_jobs", lambda: 1)
    program = begun(graph, *args)
    job, name = program._scalar._job, program._scalar._cache_name(quick=False)
    job._process.wait()
    assert cache.read(name) is None
    begun_next = engine.compile(another(2))
    begun_next(1.0)
    assert cache.read(name) is not None
    assert job._text.closed
    assert job._errors.closed
    assert list(background._jobs.values()) == [begun_next._scalar._job]
    background.stop_all()
    later = engine.compile(graph)
    later._scalar._looked = True  # as one that has made its quick code before
    later.rollout(*args, steps=1)
    assert later._scalar.is_final  # found on disk: no job of its own


@pytest.mark.parametrize("executable", [None, "", "/nonexistent"])
def test_without_python_to_start_quick_code_stays(monkeypatch, by_need, executable):
    graph, *args = by_need
    monkeypatch.setattr(sys, "executable", executable)
    program = engine.compile(graph)
    program.rollout(*args, steps=1)
    assert program._scalar.is_final
    assert "No compiler process could be started" in background.failures[0]


def test_quick_code_of_a_slower_thread_does_not_replace_full_code(monkeypatch, by_need):
    graph, *args = by_need
    program, made = engine.compile(graph, cache=False), code.compile_object
    monkeypatch.setattr(background, "may_begin", lambda: False)

    def slow(text, *, quick):
        monkeypatch.setattr(code, "compile_object", made)
        program.bind()  # what another thread does meanwhile
        return made(text, quick=quick)

    monkeypatch.setattr(code, "compile_object", slow)
    program.rollout(*args, steps=1)
    assert program._scalar.is_final
    assert program._scalar._loaded.text == b""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.filterwarnings("ignore")
def test_a_forked_worker_starts_no_compiler(by_need):
    graph, *args = by_need
    program = engine.compile(graph)

    def work():
        program.rollout(*args, steps=1)
        os._exit(0 if program._scalar._job is None and not background._jobs else 1)

    worker = multiprocessing.get_context("fork").Process(target=work)
    worker.start()
    worker.join()
    assert worker.exitcode == 0
    program.rollout(*args, steps=1)
    assert program._scalar._job is not None
    background.stop_all()


PARENT = """
import os, signal, subprocess, sys
source = open({source!r}, "r+b")
process = subprocess.Popen([sys.executable, {compiler!r}, str(os.getpid())], stdin=source)
print(process.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_compiler_ends_with_its_parent(tmp_path):
    """Its work is replaced by sleep; the end of its output is the end of the process."""
    slow = tmp_path / "slow.py"
    slow.write_text(
        f"import runpy, time\nspace = runpy.run_path({str(background.COMPILER)!r})\n"
        "space['answer'].__globals__['compile_object'] = lambda *text, **options: time.sleep(600)\n"
        "import sys; space['answer'](int(sys.argv[1]))\n"
    )
    source = tmp_path / "source"
    source.write_bytes(b"")
    parent = PARENT.format(source=str(source), compiler=str(slow))
    done = subprocess.run([sys.executable, "-c", parent], stdout=subprocess.PIPE, check=False, timeout=120)
    assert done.returncode == -9
    assert int(done.stdout) > 0  # the compiler held the pipe, so it has ended
