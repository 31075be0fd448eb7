"""None is answered by old code, and what is the same is not traced again: through `simulate`, as people use it.

A free body of mass m is pushed by a constant force F for a second: F = m v at the end, to rounding (RK4 is exact here).
"""

import importlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import engine
from freefloat.engine.runtime import lookup, origins

CRAFT = ff.Spacecraft.from_base("hub", mass=8.0, inertia=(2.0, 3.0, 4.0))  # [kg], [kg m2]
X = np.eye(6)[0]


@pytest.fixture(autouse=True)
def _own_folder(own_cache, tmp_path, monkeypatch):
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)


def force_on(software, craft=CRAFT):
    """The force that software makes [N], from the motion."""
    run = ff.simulate(craft, software, duration=1.0, dt=0.25)
    assert run.audit.holds
    return float(run["base.velocity"].values[-1, 0] * craft.mass)


def require(force, make):
    """The force is this one: at once, found in memory, and as a new process finds it on disk."""
    for _ in range(2):
        assert force_on(make()) == pytest.approx(force, rel=1e-12)
    lookup.forget()
    assert force_on(make()) == pytest.approx(force, rel=1e-12)


# ---- changes

SOFTWARE = """
import freefloat as ff, jax, jax.numpy as jnp, numpy as np
X = np.eye(6)[0]
{before}
@ff.record
class Push({base}):
    size: int = ff.static(1)
    {field}
    def command(self, memory, y, clock):
        return ff.BaseWrench(({force}) * X)
"""


def write(tmp_path, name="written_software", before="", base="ff.Software", field="", force="2.5"):
    """The module of software, imported or, if it is there already, reloaded."""
    (tmp_path / f"{name}.py").write_text(SOFTWARE.format(before=before, base=base, field=field, force=force))
    importlib.invalidate_caches()
    found = sys.modules.get(name)
    return importlib.reload(found) if found else importlib.import_module(name)


BASES = "class Own(ff.Software):\n    def gain(self): return {}\n"
CHANGES = {
    "body": ({"force": "2.5"}, {"force": "3.5"}),
    "default argument": (
        {"before": "def g(gain=2.5): return gain", "force": "g()"},
        {"before": "def g(gain=3.5): return gain", "force": "g()"},
    ),
    "constant in a closure": (
        {"before": "def made(gain): return lambda: gain\ng = made(2.5)", "force": "g()"},
        {"before": "def made(gain): return lambda: gain\ng = made(3.5)", "force": "g()"},
    ),
    "base class's method": (
        {"before": BASES.format(2.5), "base": "Own", "force": "self.gain()"},
        {"before": BASES.format(3.5), "base": "Own", "force": "self.gain()"},
    ),
    "global function": (
        {"before": "def g(): return 2.5", "force": "g()"},
        {"before": "def g(): return 3.5", "force": "g()"},
    ),
}


@pytest.mark.parametrize(("old", "new"), CHANGES.values(), ids=CHANGES.keys())
def test_edited_software_gives_its_new_answer(tmp_path, old, new):
    require(2.5, lambda: write(tmp_path, **old).Push())
    require(3.5, lambda: write(tmp_path, **new).Push())
    require(2.5, lambda: write(tmp_path, **old).Push())


def test_a_helper_in_another_file_counts(tmp_path):
    helper = tmp_path / "helping_software.py"
    helper.write_text("def gain(): return 2.5")
    software = write(
        tmp_path,
        before="from helping_software import gain\nimport helping_software",
        force="gain() + helping_software.gain()",
    )
    require(5.0, software.Push)
    helper.write_text("def gain(): return 3.5")
    importlib.reload(sys.modules["helping_software"])
    require(6.0, software.Push)  # by the module; the name that was imported is still the old function
    software = write(
        tmp_path,
        before="from helping_software import gain\nimport helping_software",
        force="gain() + helping_software.gain()",
    )
    require(7.0, software.Push)


@pytest.mark.slow
def test_globals_and_class_attributes_that_change_count(tmp_path):
    before = "NUMBER, WORDS, TABLE = 1.5, {'gain': [0.25]}, np.array([0.5])\ndef g(): return 0.25\n"
    software = write(
        tmp_path,
        name="changing_software",
        before=before,
        force="NUMBER + WORDS['gain'][0] + TABLE[0] + g() + self.plus",
    )
    software.Push.plus = 0.0
    require(2.5, software.Push)
    software.NUMBER = 2.5
    require(3.5, software.Push)
    software.WORDS["gain"][0] = 1.25
    require(4.5, software.Push)
    software.TABLE[0] = 1.5
    require(5.5, software.Push)
    software.g = lambda: 1.25
    require(6.5, software.Push)
    software.Push.plus = 1.0
    require(7.5, software.Push)


def test_a_static_field_counts(tmp_path):
    software = write(tmp_path, force="2.5 * self.size")
    require(2.5, software.Push)
    require(5.0, lambda: software.Push(size=2))


def test_what_jax_remembers_does_not_count(tmp_path):
    before = (
        "GAIN = 2.5\n@jax.jit\ndef twice(t): return GAIN + 0.0 * t\ndef yes(t): return GAIN + 0.0 * t\n"
        "def no(t): return 0.0 * t\n"
    )
    software = write(tmp_path, before=before, force="twice(clock.t) + jax.lax.cond(clock.t > -1.0, yes, no, clock.t)")
    require(5.0, software.Push)
    software.GAIN = 3.5
    require(7.0, software.Push)


def test_another_version_of_the_package_finds_nothing_old(tmp_path, traces, monkeypatch):
    software = write(tmp_path)
    require(2.5, software.Push)
    known = len(traces)
    monkeypatch.setattr(origins, "package_source", lambda: "another version")
    origins.version_of.cache_clear()
    try:
        require(2.5, software.Push)
        assert len(traces) == 2 * known
    finally:
        monkeypatch.undo()
        origins.version_of.cache_clear()


@pytest.mark.parametrize(
    ("before", "read"),
    [
        ("import os", "float(os.environ['FORCE'])"),
        ("import os, pathlib", "float(pathlib.Path(os.environ['FORCE_FILE']).read_text())"),
        ("def read():\n    with open(__file__ + '.force') as file: return float(file.read())", "read()"),
    ],
)
def test_what_is_read_from_outside_is_read_each_time(tmp_path, monkeypatch, before, read):
    software = write(tmp_path, before=before, force=read)
    for force in (2.5, 3.5):
        monkeypatch.setenv("FORCE", str(force))
        monkeypatch.setenv("FORCE_FILE", str(tmp_path / "force"))
        (tmp_path / "force").write_text(str(force))
        (tmp_path / "written_software.py.force").write_text(str(force))
        require(force, software.Push)
    told = engine.doctor()["traced_again"]
    assert told
    assert any(word in why for why in told.values() for word in ("os", "open()", "pathlib"))


@pytest.mark.parametrize("read", ["0.0 * time.time() + 2.5", "0.0 * random.random() + 2.5"])
def test_clocks_and_chance_are_traced_each_time(tmp_path, traces, read):
    software = write(tmp_path, before="import time, random", force=read)
    force_on(software.Push())
    first = len(traces)
    force_on(software.Push())
    assert len(traces) == 2 * first > 0
    assert engine.doctor()["traced_again"]


# ---- no change


@ff.record
class Push(ff.Software):
    """A constant force along x."""

    gain: float = 2.5  # [N]

    def command(self, memory, y, clock):
        return ff.BaseWrench(self.gain * X)

    def channels(self):
        return (ff.Channel("push.force", f"Push of {self.gain} N", "N"),)

    def observe(self, memory, y, clock, truth):
        return (self.gain * jnp.ones(()),)


def test_the_same_and_other_numbers_are_not_traced_again(traces):
    first = ff.simulate(CRAFT, Push(), duration=1.0, dt=0.25)
    count = len(traces)
    assert count > 0
    again = ff.simulate(CRAFT, Push(), duration=1.0, dt=0.25)
    for name in ("base.position", "base.attitude", "energy.kinetic"):
        np.testing.assert_array_equal(first[name].values, again[name].values)
    for gain in (3.5, -0.25, 1e-9):
        assert force_on(Push(gain)) == pytest.approx(gain, rel=1e-12)
    heavy = ff.Spacecraft.from_base("hub", mass=9.5, inertia=(2.5, 3.5, 4.5))
    assert force_on(Push(), heavy) == pytest.approx(2.5, rel=1e-12)
    lookup.forget()
    assert force_on(Push(4.5)) == pytest.approx(4.5, rel=1e-12)
    assert not engine.doctor()["traced_again"]
    assert len(traces) == count


def test_channels_tell_their_own_numbers():
    for gain in (2.5, 3.5):
        run = ff.simulate(CRAFT, Push(gain), duration=1.0, dt=0.25)
        assert run["push.force"].attrs["long_name"] == f"Push of {gain} N"


@pytest.mark.parametrize("gain", [0.0, 1.0, -1.0])
def test_numbers_that_become_simple_or_stop_being_so_are_right(gain):
    for one in (2.5, gain, 2.5, gain, 3.5):
        assert force_on(Push(one)) == pytest.approx(one, rel=1e-12, abs=1e-15)


@pytest.mark.slow
def test_baked_and_varied_agree_to_rounding():
    varied = ff.simulate(CRAFT, Push(1.1), duration=1.0, dt=0.25)
    baked = ff.simulate(CRAFT, Baked(1.1), duration=1.0, dt=0.25)
    plain = ff.simulate(CRAFT, Push(1.1), duration=1.0, dt=0.25, engine="jax")
    for other in (baked, plain):
        for name in ("base.position", "base.velocity"):
            np.testing.assert_allclose(other[name].values, varied[name].values, rtol=1e-13, atol=1e-15)


@ff.record
class Baked(ff.Software):
    """The same software in code that must know its number."""

    gain: float = 2.5

    def command(self, memory, y, clock):
        size = float(self.gain) if self.gain > 0 else np.abs(self.gain)
        return ff.BaseWrench(size * X)


def test_software_that_must_know_its_numbers_is_right(traces):
    for gain in (2.5, -3.5, 1.0):
        assert force_on(Baked(gain)) == pytest.approx(abs(gain), rel=1e-12)
    count = len(traces)
    for gain in (2.5, -3.5, 1.0):
        assert force_on(Baked(gain)) == pytest.approx(abs(gain), rel=1e-12)
    lookup.forget()
    assert force_on(Baked(2.5)) == pytest.approx(2.5, rel=1e-12)
    assert len(traces) == count


def test_a_class_that_is_defined_again_is_no_stranger():
    """A cell of a notebook that is run twice: the same words, other classes, also for memory."""

    def define():
        @ff.record
        class Kept:
            sum: jax.Array | float

        @ff.record
        class Sum(ff.Software):
            gain: float = 2.5

            def begin(self, y):
                return Kept(0.0)

            def remember(self, memory, y, clock):
                return Kept(memory.sum + clock.hold)

            def command(self, memory, y, clock):
                return ff.BaseWrench((self.gain + 0.0 * memory.sum) * X)

        return Sum

    for _ in range(3):
        assert force_on(define()()) == pytest.approx(2.5, rel=1e-12)


SCRIPT = """
import freefloat as ff, numpy as np
from freefloat.engine.jaxprs import tracing
count, trace = [], tracing.trace_with_result
tracing.trace_with_result = lambda *a, **k: (count.append(1), trace(*a, **k))[1]

@ff.record
class Kept:
    gain: float

@ff.record
class Push(ff.Software):
    gain: float = 2.5
    def begin(self, y): return Kept(self.gain * 1.0)
    def remember(self, memory, y, clock): return memory
    def command(self, memory, y, clock): return ff.BaseWrench(FACTOR * memory.gain * np.eye(6)[0])

craft = ff.Spacecraft.from_base("hub", mass=8.0, inertia=(2.0, 3.0, 4.0))
run = ff.simulate(craft, Push(GAIN), duration=1.0, dt=0.25)
print(len(count), round(float(run["base.velocity"].values[-1, 0] * craft.mass), 9))
"""


def test_another_process_does_not_trace_what_this_one_has(tmp_path):
    def answer(gain, factor, *, as_text):
        text = SCRIPT.replace("GAIN", str(gain)).replace("FACTOR", str(factor))
        (tmp_path / "script.py").write_text(text)
        how = ["-c", text] if as_text else [str(tmp_path / "script.py")]
        done = subprocess.run([sys.executable, *how], capture_output=True, text=True, check=True)
        count, force = done.stdout.split()
        return int(count), float(force)

    count, force = answer(2.5, 1.0, as_text=False)
    assert count > 0
    assert force == 2.5
    assert answer(3.5, 1.0, as_text=False) == (0, 3.5)
    assert answer(3.5, 2.0, as_text=False)[1] == 7.0
    assert answer(3.5, 3.0, as_text=True)[1] == 10.5
    assert answer(3.5, 4.0, as_text=True)[1] == 14.0
