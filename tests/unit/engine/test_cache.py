"""The disk cache: reuse, damage, malice, several processes at once."""

import hashlib
import hmac
import os
import pickle
import subprocess
import sys
import time

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine
from freefloat.engine.llvm import machine
from freefloat.engine.runtime import cache, code, lookup, secret


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FREEFLOAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(lookup, "in_memory", lambda name: None)  # as in a process that starts
    cache._warn.cache_clear()
    return tmp_path / "cache"


@pytest.fixture
def builds(monkeypatch):
    """How often LLVM was asked to compile."""
    made = []

    def counted(*args, **options):
        made.append(args)
        return machine.compile_object(*args, **options)

    monkeypatch.setattr(code, "compile_object", counted)
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
    with pytest.warns(cache.CacheWarning):
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


def test_who_else_made_an_entry_is_found_out_before_it_is_loaded(folder, builds):
    """Planted: right name, right form, sound code of another function; signed with another secret, or not at all."""
    engine.compile(lambda x: x * 5, 1.0)(1.0)
    entries = {entry: entry.read_bytes() for entry in cache.entries()}
    head = len(cache.MAGIC) + 32
    for entry, content in entries.items():
        forged = hmac.digest(b"another secret", entry.stem.encode() + b"\0" + content[head:], "sha256")
        entry.write_bytes(cache.MAGIC + forged + content[head:])
    with pytest.warns(cache.CacheWarning, match="not used, and made again"):
        assert engine.compile(lambda x: x * 5, 1.0)(2.0) == 10.0
    assert len(builds) == 2
    assert {entry: entry.read_bytes() for entry in cache.entries()}.keys() == entries.keys()


class _Executed:
    """What a hostile entry does when it is unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a planted entry was executed",))


def test_planted_objects_are_never_unpickled(folder, builds):
    engine.compile(lambda x: x * 5, 1.0)(1.0)
    for entry in cache.entries():
        planted = pickle.dumps(_Executed())
        entry.write_bytes(cache.MAGIC + hashlib.sha256(planted).digest() + planted)
    with pytest.warns(cache.CacheWarning):
        assert engine.compile(lambda x: x * 5, 1.0)(2.0) == 10.0


def test_an_own_entry_under_another_name_is_refused(folder):
    """Code of the right user for another function must not reach the processor either."""
    cache.write("one", b"code of one")
    (folder / "other.code").write_bytes((folder / "one.code").read_bytes())
    assert cache.read("one") == b"code of one"
    with pytest.warns(cache.CacheWarning, match=r"other\.code"):
        assert cache.read("other") is None


def test_any_changed_bit_is_noticed(folder, rng):
    cache.write("one", bytes(range(256)))
    whole = (folder / "one.code").read_bytes()
    for place in rng.integers(8 * len(whole), size=120):
        damaged = bytearray(whole)
        damaged[place // 8] ^= 1 << place % 8
        (folder / "one.code").write_bytes(damaged)
        cache._warn.cache_clear()
        with pytest.warns(cache.CacheWarning):
            assert cache.read("one") is None


def test_links_pipes_and_files_that_others_may_write_are_not_read(folder, tmp_path):
    cache.write("one", b"code")
    whole = (folder / "one.code").read_bytes()
    (tmp_path / "elsewhere").write_bytes(whole)
    (folder / "one.code").unlink()
    (folder / "one.code").symlink_to(tmp_path / "elsewhere")
    with pytest.warns(cache.CacheWarning):
        assert cache.read("one") is None
    os.mkfifo(folder / "pipe.code")
    with pytest.warns(cache.CacheWarning):
        assert cache.read("pipe") is None  # and nobody waits for it
    cache.write("one", b"code")
    assert cache.read("one") == b"code"  # written anew, not through the link
    (folder / "one.code").chmod(0o666)
    cache._warn.cache_clear()
    with pytest.warns(cache.CacheWarning):
        assert cache.read("one") is None


def test_the_directory_is_the_users_own(folder, monkeypatch):
    cache.write("one", b"code")
    assert folder.stat().st_mode & 0o777 == 0o700
    folder.chmod(0o777)
    with pytest.warns(cache.CacheWarning, match="others may write"):
        assert cache.read("one") is None
    assert "chmod 700" in engine.doctor()["cache_unused"]
    folder.chmod(0o700)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)  # as if it were another's
    secret._secret_at.cache_clear()
    assert cache.unusable_reason()
    monkeypatch.undo()
    secret._secret_at.cache_clear()


def test_the_secret_is_the_users_own(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    cache.write("one", b"code")
    file = secret.secret_file()
    assert file is not None
    assert file.stat().st_mode & 0o777 == 0o600
    assert len(file.read_bytes()) == 32
    file.chmod(0o644)  # others may have read it
    secret._secret_at.cache_clear()
    with pytest.warns(cache.CacheWarning, match="others may read it"):
        assert cache.read("one") is None
    file.unlink()
    secret._secret_at.cache_clear()
    with pytest.warns(cache.CacheWarning, match="made again"):
        assert cache.read("one") is None  # signed with the old one
    secret._secret_at.cache_clear()


def test_without_a_home_code_is_compiled_each_time(monkeypatch):
    for name in ("FREEFLOAT_CACHE", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)

    def homeless():
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.setattr(cache.Path, "home", homeless)
    cache._warn.cache_clear()
    with pytest.warns(cache.CacheWarning, match="no home directory"):
        assert engine.compile(lambda x: x * 9, 1.0)(2.0) == 18.0
    assert engine.doctor()["cache_directory"] == "none"
    assert cache.entries() == []


def test_what_a_killed_process_left_is_removed(folder):
    cache.write("one", b"code")
    for name, age in (("old.part", 7200.0), ("new.part", 0.0)):
        (folder / name).write_bytes(b"x")
        os.utime(folder / name, (time.time() - age,) * 2)
    cache.write("two", b"code")
    assert [file.name for file in folder.glob("*.part")] == ["new.part"]
