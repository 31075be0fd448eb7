"""Programs that are found before tracing: on disk with a limit, in other processes, and not where they must not be."""

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine
from freefloat.engine.runtime import cache, lookup
from freefloat.values import record


@pytest.fixture(autouse=True)
def folder(own_cache):
    return own_cache


@record
class Pair:
    """Two numbers."""

    a: float
    b: float


def test_a_function_is_traced_once_for_each_shape(traces):
    for shape in (2, 3, 2, 3):
        assert engine.compile(lambda x: jnp.sum(x), np.zeros(shape))(np.ones(shape)) == shape
    assert len(traces) == 2
    lookup.forget()
    assert engine.compile(lambda x: jnp.sum(x), np.zeros(3))(np.ones(3)) == 3
    assert len(traces) == 2


def test_what_tracing_taught_is_kept(traces):
    for _ in range(2):
        taught = []

        def f(x, taught=taught):
            taught.append("names")
            return Pair(x, 2.0 * x)

        program = engine.compile(f, 1.0, notes=lambda taught=taught: tuple(taught))
        assert program.notes == ("names",)
        result = program(1.5)
        assert isinstance(result, Pair)
        assert (result.a, result.b) == (1.5, 3.0)
        lookup.forget()
    assert len(traces) == 1


def test_settings_of_jax_count(traces):
    def f(key):
        return jax.random.uniform(jax.random.wrap_key_data(key))

    key = np.array([1, 2], np.uint32)
    before = jax.config.jax_threefry_partitionable
    try:
        for choice in (True, False):
            jax.config.update("jax_threefry_partitionable", choice)
            assert engine.compile(f, key)(key) == f(key)
    finally:
        jax.config.update("jax_threefry_partitionable", before)
    assert len(traces) == 2


def test_the_way_of_tracing_counts(traces, monkeypatch):
    def f(x):
        return 2.0 * x

    for way in ("", "jaxpr", "", "jaxpr"):
        monkeypatch.setenv("FREEFLOAT_TRACING", way)
        assert engine.compile(f, 1.0)(1.5) == 3.0
    assert len(traces) == 2


def test_nothing_is_looked_up_while_functions_are_replaced(traces):
    def f(x):
        return 2.0 * x

    engine.compile(f, 1.0)
    with engine.traced_anew():
        engine.compile(f, 1.0)
        assert not lookup.is_searching()
    engine.compile(f, 1.0)
    assert len(traces) == 2


def test_the_oldest_go_at_the_limit(folder, monkeypatch):
    for number in range(10):
        cache.write(f"entry{number}", bytes(1000))
        os.utime(folder / f"entry{number}{cache.SUFFIX}", (number, number))
    assert cache.read("entry0") is not None  # used: now the youngest
    monkeypatch.setenv("FREEFLOAT_CACHE_LIMIT", "0.006")  # [MB]
    cache.write("last", bytes(1000))
    left = {path.stem for path in cache.entries()}
    assert {"entry0", "last", "entry9"} <= left
    assert not left & {"entry1", "entry2", "entry3", "entry4", "entry5"}
    assert sum(path.stat().st_size for path in cache.entries()) <= 6000
    assert engine.doctor()["cache_limit_bytes"] == 6000


@pytest.mark.parametrize(
    ("chosen", "limit"), [("", 10**9), ("2.5", 2_500_000), ("0", 0), ("much", 10**9), ("-1", 10**9)]
)
def test_the_limit_is_in_megabytes(monkeypatch, chosen, limit):
    monkeypatch.setenv("FREEFLOAT_CACHE_LIMIT", chosen)
    assert cache.size_limit() == limit


def test_no_room_at_all_is_no_error(folder, monkeypatch):
    monkeypatch.setenv("FREEFLOAT_CACHE_LIMIT", "0")
    for _ in range(2):
        assert engine.compile(lambda x: 6.0 * x, 1.0)(2.0) == 12.0
        lookup.forget()
    assert cache.entries() == []


def test_an_entry_of_a_class_that_is_gone_is_traced_again(folder, traces, monkeypatch):
    f = lambda x: Pair(x, x)  # noqa: E731
    engine.compile(f, 1.0)
    lookup.forget()

    def gone(content):
        raise AttributeError("no such class")

    monkeypatch.setattr(lookup.pickle, "loads", gone)
    assert engine.compile(f, 1.0)(2.0).a == 2.0
    assert len(traces) == 2


def test_an_entry_that_is_something_else_is_traced_again(traces):
    f = lambda x: 7.0 * x  # noqa: E731
    engine.compile(f, 1.0)
    for path in cache.entries():
        cache.write(path.stem, pickle.dumps("something else"))
    lookup.forget()
    # Whatever was machine code is damaged too, and is built from the new trace.
    name = lookup.name_of(f, (1.0,), "native", {})
    assert lookup.on_disk(name) is None
    engine.clear_cache()
    assert engine.compile(f, 1.0)(2.0) == 14.0
    assert len(traces) == 2


def test_a_folder_that_cannot_be_written_to_is_no_error(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("FREEFLOAT_CACHE", str(tmp_path / "file" / "cache"))
    for _ in range(2):
        assert engine.compile(lambda x: 8.0 * x, 1.0)(2.0) == 16.0
    assert engine.compile(lambda x: 0.0 * id(x) + x, 1.0)(2.0) == 2.0
    assert "id()" in str(engine.doctor()["traced_again"]), "told, though it cannot be kept"


def test_a_compiled_function_does_not_take_up_code_that_has_changed(monkeypatch):
    space = {"gain": 2.0}
    exec("def f(x): return gain * x", space)
    engine.compile(space["f"], 1.0)(1.0)
    lookup.forget()
    program = engine.compile(space["f"], 1.0)
    space["gain"] = 3.0
    assert program(1.5) == 3.0
    with pytest.raises(engine.EngineError, match="has changed since"):
        _ = program.graph


def test_nothing_is_written_once_the_package_has_changed(folder, tmp_path):
    root = tmp_path / "other"
    shutil.copytree(Path(engine.__file__).parents[1], root / "freefloat", ignore=shutil.ignore_patterns("__pycache__"))
    code = (
        "import jax; jax.config.update('jax_enable_x64', True)\nimport pathlib, warnings\n"
        "from freefloat import engine\n"
        "from freefloat.engine.runtime import cache\nwarnings.simplefilter('ignore')\n"
        "engine.compile(lambda x: 2.0 * x, 1.0)(2.0)\nkept = len(cache.entries())\n"
        "file = pathlib.Path(engine.__file__).parents[1] / 'spatial' / 'poses.py'\n"
        "text = file.read_text()\nfile.write_text(text + '# edited')\n"
        "print(engine.compile(lambda x: 3.0 * x, 1.0)(2.0), kept > 0, len(cache.entries()) == kept)\n"
        "file.write_text(text)\nengine.compile(lambda x: 4.0 * x, 1.0)(2.0)\nprint(len(cache.entries()) > kept)"
    )
    environment = {**os.environ, "PYTHONPATH": str(root)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.split() == ["6.0", "True", "True", "True"]


def test_two_processes_at_once(folder):
    code = (
        "import jax; jax.config.update('jax_enable_x64', True)\nimport jax.numpy as jnp\nfrom freefloat import engine\n"
        "for gain in range(5):\n    f = lambda x, gain=gain: gain * jnp.sin(x)\n    print(engine.compile(f, 1.0)(2.0))"
    )
    environment = {**os.environ, "FREEFLOAT_CACHE_LIMIT": "0.02"}
    both = [
        subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, env=environment)
        for _ in range(2)
    ]
    answers = [[float(line) for line in one.communicate()[0].split()] for one in both]
    assert answers[0] == answers[1]
    np.testing.assert_allclose(answers[0], np.arange(5) * np.sin(2.0), rtol=1e-15)
    assert not list(folder.glob("*.part"))
