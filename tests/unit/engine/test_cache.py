"""The disk cache: reuse, damage, several processes at once."""

import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine
from freefloat.engine.llvm import machine
from freefloat.engine.runtime import cache, lookup, native


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FREEFLOAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(lookup, "in_memory", lambda name: None)  # as in a process that starts
    return tmp_path / "cache"


@pytest.fixture
def builds(monkeypatch):
    """How often LLVM was asked to compile."""
    made = []

    def counted(*args):
        made.append(args)
        return machine.compile_object(*args)

    monkeypatch.setattr(native, "compile_object", counted)
    return made


def test_second_compilation_loads(folder, builds):
    for _ in range(2):
        assert engine.compile(lambda x: x * 3, 1.0)(2.0) == 6.0
    assert len(builds) == 1
    assert len(cache.entries()) == 2  # what was traced, and its code


def test_other_function_or_width_is_another_entry(folder, builds):
    engine.compile(lambda x: x * 3, 1.0)(1.0)
    engine.compile(lambda x: x * 4, 1.0)(1.0)
    engine.compile(lambda x: x * 3, 1.0, width=2).batch(np.ones(3))
    assert len(builds) == 3


@pytest.mark.parametrize(
    "damage", [lambda d: d[:-1], lambda d: d[:80] + b"x" + d[81:], lambda d: b"", lambda d: b"junk"]
)
def test_damaged_entry_is_rebuilt(folder, builds, damage):
    engine.compile(lambda x: x * 5, 1.0)(1.0)
    intact = {entry: entry.read_bytes() for entry in cache.entries()}
    for entry, content in intact.items():
        entry.write_bytes(damage(content))
    assert engine.compile(lambda x: x * 5, 1.0)(2.0) == 10.0
    assert len(builds) == 2
    assert {entry: len(entry.read_bytes()) for entry in intact} == {entry: len(intact[entry]) for entry in intact}


def test_cache_can_be_left_out(folder):
    assert engine.compile(lambda x: x * 7, 1.0, cache=False)(2.0) == 14.0
    assert cache.entries() == []


def test_unusable_folder_is_no_error(tmp_path, monkeypatch):
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("FREEFLOAT_CACHE", str(blocked / "cache"))
    assert engine.compile(lambda x: x * 8, 1.0)(2.0) == 16.0


def test_several_processes_at_once(folder):
    code = (
        "import jax; jax.config.update('jax_enable_x64', True)\n"
        "import jax.numpy as jnp, numpy as np; from freefloat import engine\n"
        "f = engine.compile(lambda x: jnp.sin(x) @ x, np.zeros(3))\n"
        "print(float(f(np.array([0.1, 0.2, 0.3]))).hex())"
    )
    processes = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    answers = {process.communicate()[0].strip() for process in processes}
    assert len(answers) == 1
    assert float.fromhex(answers.pop()) == pytest.approx(np.sin([0.1, 0.2, 0.3]) @ [0.1, 0.2, 0.3])
    assert len(cache.entries()) == 2
    assert not list(folder.glob("*.part"))


def test_doctor_and_clearing(folder):
    engine.compile(jnp.sin, 1.0)(0.5)
    facts = engine.doctor()
    assert facts["targets"]["native"]
    assert facts["cache_directory"] == str(folder)
    assert facts["cache_entries"] == 2
    assert facts["cache_bytes"] > 1000
    assert facts["simd_width"] in (2, 4, 8)
    assert engine.clear_cache() == 2
    assert engine.doctor()["cache_entries"] == 0


def test_user_cache_directory(monkeypatch, tmp_path):
    monkeypatch.delenv("FREEFLOAT_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache.directory() == tmp_path / "freefloat"
