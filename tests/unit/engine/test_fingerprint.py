"""Functions are known by all that they depend on: any change of it is another function, and nothing else is."""

import functools
import importlib
import itertools
import math
import os
import random
import sys
import time
from collections import defaultdict
from dataclasses import dataclass, field
from enum import Enum
from types import SimpleNamespace
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import engine
from freefloat.engine.runtime import fingerprint as fingerprints
from freefloat.engine.runtime import lookup, origins
from freefloat.engine.runtime.fingerprint import fingerprint
from freefloat.engine.runtime.origins import InspectionError

HEADER = "import functools\nimport jax, jax.numpy as jnp, numpy as np\nfrom collections import defaultdict\n"
_number = itertools.count()


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("FREEFLOAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.syspath_prepend(str(tmp_path))
    lookup.forget()


@pytest.fixture
def module(tmp_path):
    """Makes modules of source text, and edits them."""

    def make(source, name=None):
        name = name or f"written{next(_number)}"
        (tmp_path / f"{name}.py").write_text(HEADER + source)
        importlib.invalidate_caches()
        # Python compares times of files in seconds: an edit within one would not be seen.
        sys.dont_write_bytecode = True
        found = sys.modules.get(name)
        return importlib.reload(found) if found else importlib.import_module(name)

    yield make
    sys.dont_write_bytecode = False


# ---- what is changed in the text, and in what it says: (before, what is replaced, by what); f(2.0) is 6.0, then 8.0

EDITS = {
    "body": ("def f(x): return 3.0 * x", "3.0", "4.0"),
    "operation": ("def f(x): return x + x + x", "x + x + x", "x * x * x"),
    "default": ("def f(x, gain=3.0): return gain * x", "3.0", "4.0"),
    "keyword default": ("def f(x, *, gain=3.0): return gain * x", "3.0", "4.0"),
    "mutable default": ("def f(x, gains=[3.0]): return gains[0] * x", "3.0", "4.0"),
    "global": ("GAIN = 3.0\ndef f(x): return GAIN * x", "3.0", "4.0"),
    "global in a comprehension": ("GAIN = [1.0, 2.0]\ndef f(x): return sum([g * x for g in GAIN])", "2.0", "3.0"),
    "global in a generator": ("GAIN = 3.0\ndef f(x): return sum(GAIN * x for _ in range(1))", "3.0", "4.0"),
    "constant of an inner function": ("def f(x):\n    def g(): return 3.0\n    return g() * x", "3.0", "4.0"),
    "set constant": ("def f(x): return (3.0 if 5 in {1, 5} else 4.0) * x", "{1, 5}", "{1, 6}"),
    "closure": ("def made(gain):\n    return lambda x: gain * x\nf = made(3.0)", "made(3.0)", "made(4.0)"),
    "helper": ("def g(x): return 3.0 * x\ndef f(x): return g(x)", "3.0", "4.0"),
    "helper's helper": ("def h(x): return 3.0 * x\ndef g(x): return h(x)\ndef f(x): return g(x)", "3.0", "4.0"),
    "partial": ("def g(gain, x): return gain * x\nf = functools.partial(g, 3.0)", "3.0", "4.0"),
    "class attribute": ("class C:\n    gain = 3.0\ndef f(x): return C.gain * x", "3.0", "4.0"),
    "base class": (
        "class A:\n    def g(self): return 3.0\nclass B(A): pass\nb = B()\ndef f(x): return b.g() * x",
        "3.0",
        "4.0",
    ),
    "property": (
        "class A:\n    @property\n    def g(self): return 3.0\na = A()\ndef f(x): return a.g * x",
        "3.0",
        "4.0",
    ),
    "class method": (
        "class A:\n    @classmethod\n    def g(cls): return 3.0\ndef f(x): return A.g() * x",
        "3.0",
        "4.0",
    ),
    "static method": (
        "class A:\n    @staticmethod\n    def g(): return 3.0\ndef f(x): return A().g() * x",
        "3.0",
        "4.0",
    ),
    "special method": (
        "class A:\n    def __mul__(self, x): return 3.0 * x\na = A()\ndef f(x): return a * x",
        "3.0",
        "4.0",
    ),
    "metaclass": (
        "class M(type):\n    @property\n    def g(cls): return 3.0\n"
        "class A(metaclass=M): pass\ndef f(x): return A.g * x",
        "3.0",
        "4.0",
    ),
    "slots": (
        "class A:\n    __slots__ = ('g',)\n    def __init__(self): self.g = 3.0\na = A()\ndef f(x): return a.g * x",
        "3.0",
        "4.0",
    ),
    "default factory": (
        "from dataclasses import dataclass, field\n@dataclass\nclass A:\n"
        "    g: list = field(default_factory=lambda: [3.0])\n"
        "def f(x): return A().g[0] * x",
        "3.0",
        "4.0",
    ),
    "default of a dataclass with slots": (
        "from dataclasses import dataclass\n@dataclass(slots=True)\nclass A:\n    g: float = 3.0\n"
        "def f(x): return A().g * x",
        "3.0",
        "4.0",
    ),
    "named tuple": (
        "from typing import NamedTuple\nclass A(NamedTuple):\n    g: float = 3.0\ndef f(x): return A().g * x",
        "3.0",
        "4.0",
    ),
    "member of an enumeration": (
        "from enum import Enum\nclass A(Enum):\n    G = 3.0\ndef f(x): return A.G.value * x",
        "3.0",
        "4.0",
    ),
    "function's attribute": ("def g(): pass\ng.gain = 3.0\ndef f(x): return g.gain * x", "3.0", "4.0"),
    "default dictionary": ("D = defaultdict(lambda: 3.0)\ndef f(x): return D.copy()['a'] * x", "3.0", "4.0"),
    "dictionary of one's own": (
        "class D(dict):\n    def __missing__(self, key): return 3.0\nd = D()\ndef f(x): return d['a'] * x",
        "3.0",
        "4.0",
    ),
    "shadowed builtin": ("def abs(x): return 3.0 * x\ndef f(x): return abs(x)", "3.0", "4.0"),
    "decorator in disguise": (
        "def scaled(f):\n    @functools.wraps(f)\n    def g(x): return 3.0 * f(x)\n    return g\n"
        "identity = scaled(jnp.positive)\ndef f(x): return identity(x)",
        "3.0",
        "4.0",
    ),
    "mapped function": ("def g(x): return 3.0 * x\nf = lambda x: jax.vmap(g)(x[None])[0]", "3.0", "4.0"),
    "derivative": ("def g(x): return 1.5 * x * x\nf = jax.grad(g)", "1.5", "2.0"),
    "custom derivative": (
        "@jax.custom_jvp\ndef g(x): return 3.0 * x\n@g.defjvp\ndef _(p, t): return g(p[0]), t[0]\n"
        "def f(x): return g(x)",
        "3.0",
        "4.0",
    ),
    "private slot": (
        "class A:\n    __slots__ = ('__g',)\n    def __init__(self, g): self.__g = g\n"
        "    def g(self): return self.__g\na = A(3.0)\ndef f(x): return a.g() * x",
        "3.0",
        "4.0",
    ),
    "slot behind an attribute of its name": (
        "class A:\n    __slots__ = ('g',)\nclass B(A): pass\nb = B()\nb.g = 3.0\nb.__dict__['g'] = 1.0\n"
        "def f(x): return b.g * x",
        "3.0",
        "4.0",
    ),
    "metadata of a field": (
        "import dataclasses\n@dataclasses.dataclass\nclass A:\n    g: int = dataclasses.field(metadata={'gain': 3.0})\n"
        "def f(x): return dataclasses.fields(A)[0].metadata['gain'] * x",
        "3.0",
        "4.0",
    ),
    "field that was a cached property": (
        "from dataclasses import dataclass\nclass A:\n    @functools.cached_property\n    def g(self): return 1.0\n"
        "@dataclass(frozen=True)\nclass B(A):\n    g: float\nb = B(3.0)\ndef f(x): return b.g * x",
        "3.0",
        "4.0",
    ),
    "docstring that is read": (
        "def g(): 'the'\ndef f(x): return len(g.__doc__) * x",
        "'the'",
        "'that'",
    ),
    "docstring of a class that is read by its name": (
        "class A:\n    'the'\ndef f(x): return len(getattr(A, '__doc__')) * x",
        "'the'",
        "'that'",
    ),
    "docstring that is a constant too": (
        "WORDS = {'three': 3.0, 'four': 4.0}\ndef f(x):\n    'three'\n    return WORDS['three'] * x",
        "    'three'\n    return WORDS['three']",
        "    'four'\n    return WORDS['four']",
    ),
    "annotation that is read": (
        "def g(a: 'the'): pass\ndef f(x): return len(g.__annotations__['a']) * x",
        "'the'",
        "'that'",
    ),
    "annotation that typing reads": (
        "from typing import Literal, get_type_hints as hints\nclass A:\n    g: Literal[3]\n"
        "def f(x): return hints(A)['g'].__args__[0] * x",
        "[3]",
        "[4]",
    ),
    "attribute of a function with a cache": (
        "@functools.cache\ndef g(): pass\ng.gain = 3.0\ndef f(x): return g.gain * x",
        "3.0",
        "4.0",
    ),
    "attribute of a partial": (
        "g = functools.partial(max, 1)\ng.gain = 3.0\ndef f(x): return g.gain * x",
        "3.0",
        "4.0",
    ),
    "property of one's own kind": (
        "class P(property):\n    def __get__(self, *_): return 3.0\nclass A:\n    g = P(abs)\na = A()\n"
        "def f(x): return a.g * x",
        "3.0",
        "4.0",
    ),
    "handler": (
        "def f(x):\n    try:\n        raise KeyError\n    except KeyError:\n        return 3.0 * x",
        "return 3.0",
        "return 4.0",
    ),
}


@pytest.mark.parametrize(("source", "old", "new"), EDITS.values(), ids=EDITS.keys())
def test_edited_code_is_other_code(module, source, old, new):
    written = module(source)
    example = np.array(2.0)
    name = written.__name__
    assert engine.compile(written.f, example)(2.0) == pytest.approx(6.0)
    known = fingerprint(written.f)
    assert fingerprint(module(source, name).f) == known, "the same text again is the same code"
    assert old in source
    edited = module(source.replace(old, new), name)
    assert fingerprint(edited.f) != known
    assert engine.compile(edited.f, example)(2.0) == pytest.approx(8.0)
    lookup.forget()
    assert engine.compile(edited.f, example)(2.0) == pytest.approx(8.0)


# ---- what is changed while the program runs


@pytest.mark.parametrize(
    ("source", "change"),
    [
        ("GAIN = 3.0\ndef f(x): return GAIN * x", lambda m: setattr(m, "GAIN", 4.0)),
        ("GAIN = {'a': [3.0]}\ndef f(x): return GAIN['a'][0] * x", lambda m: m.GAIN["a"].__setitem__(0, 4.0)),
        ("GAIN = np.array([3.0])\ndef f(x): return GAIN[0] * x", lambda m: m.GAIN.fill(4.0)),
        ("class A: pass\na = A()\na.g = 3.0\ndef f(x): return a.g * x", lambda m: setattr(m.a, "g", 4.0)),
        ("class A:\n    g = 3.0\na = A()\ndef f(x): return a.g * x", lambda m: setattr(m.A, "g", 4.0)),
        ("def g(): return 3.0\ndef f(x): return g() * x", lambda m: setattr(m, "g", lambda: 4.0)),
        ("def f(x, gains=[3.0]): return gains[0] * x", lambda m: m.f.__defaults__[0].__setitem__(0, 4.0)),
        (
            "def made():\n    g = [3.0]\n    return lambda x: g[0] * x, g\nf, g = made()",
            lambda m: m.g.__setitem__(0, 4.0),
        ),
        # JAX remembers these by who they are: without forgetting, they would be traced as they were.
        ("GAIN = 3.0\n@jax.jit\ndef g(x): return GAIN * x\ndef f(x): return g(x)", lambda m: setattr(m, "GAIN", 4.0)),
        (
            "GAIN = 3.0\ndef g(x): return GAIN * x\ndef f(x): return jax.lax.cond(x > 0, g, jnp.negative, x)",
            lambda m: setattr(m, "GAIN", 4.0),
        ),
        (
            "GAIN = 3.0\ndef g(c, _): return c * GAIN, None\ndef f(x): return jax.lax.scan(g, x, None, length=1)[0]",
            lambda m: setattr(m, "GAIN", 4.0),
        ),
    ],
)
def test_changed_data_is_other_code(module, source, change):
    written = module(source)
    assert engine.compile(written.f, 1.0)(2.0) == pytest.approx(6.0)
    change(written)
    assert engine.compile(written.f, 1.0)(2.0) == pytest.approx(8.0)
    lookup.forget()
    assert engine.compile(written.f, 1.0)(2.0) == pytest.approx(8.0)


def test_a_jitted_helper_that_ran_before_is_traced_as_it_is_now(module):
    written = module("GAIN = 3.0\n@jax.jit\ndef g(x): return GAIN * x\ndef f(x): return g(x)")
    assert written.g(2.0) == 6.0
    written.GAIN = 4.0
    assert engine.compile(written.f, 1.0)(2.0) == 8.0


def test_cached_answers_from_before_are_not_kept(module):
    written = module("GAIN = 3.0\n@functools.cache\ndef g(): return GAIN\ndef f(x): return g() * x")
    assert engine.compile(written.f, 1.0)(2.0) == 6.0
    assert not engine.doctor()["traced_again"]
    written.GAIN = 4.0
    assert engine.compile(written.f, 1.0)(2.0) == 6.0  # Python's own answer, for as long as it remembers
    assert "cache_clear" in str(engine.doctor()["traced_again"])
    written.g.cache_clear()
    assert engine.compile(written.f, 1.0)(2.0) == 8.0, "nothing of the old answer was left on disk"


FROZEN = (
    "from dataclasses import dataclass\n@dataclass(frozen=True)\nclass A:\n    k: object\n"
    "    @functools.cached_property\n    def g(self): return np.asarray(self.k) * 1.0\n"
)
READ = "def f(x): return float(a.g) * x"


@pytest.mark.parametrize(
    ("source", "change"),
    [
        (FROZEN + "a = A(3)\n" + READ, lambda a: object.__setattr__(a, "k", 4)),
        (FROZEN + "a = A(np.array(3.0))\n" + READ, lambda a: a.k.fill(4.0)),
    ],
)
def test_what_a_frozen_record_keeps_is_computed_again_from_what_it_holds(module, source, change):
    written = module(source)
    assert written.a.g == 3.0
    change(written.a)
    assert engine.compile(written.f, 1.0)(2.0) == 8.0
    written = module(source.replace("A(3)", "A(4)").replace("3.0", "4.0"), written.__name__)
    lookup.forget()
    assert engine.compile(written.f, 1.0)(2.0) == 8.0, "and nothing old was left on disk under its name"


def test_what_an_object_keeps_counts_where_its_fields_may_have_changed(module, traces):
    source = "class A:\n    @functools.cached_property\n    def g(self): return self.k\na = A()\na.k = 3.0\n" + READ
    written = module(source)
    assert written.a.g == 3.0
    written.a.k = 4.0
    assert engine.compile(written.f, 1.0)(2.0) == 6.0  # Python's own answer, for as long as it remembers
    fresh = module(source.replace("3.0", "4.0"), written.__name__)
    lookup.forget()
    assert engine.compile(fresh.f, 1.0)(2.0) == 8.0
    fresh.a.g = 5.0
    assert engine.compile(fresh.f, 1.0)(2.0) == 10.0
    count = len(traces)
    assert engine.compile(fresh.f, 1.0)(2.0) == 10.0
    assert len(traces) == count


@pytest.mark.parametrize(
    ("source", "old", "new"),
    [
        ("def f(x):\n    'Gives it thrice.'\n    return 3.0 * x", "thrice", "three times"),
        ("class A:\n    'Of three.'\n    g = 3.0\ndef f(x): return A.g * x", "three", "3"),
        ("def f(x: 'a number'): return 3.0 * x", "a number", "one number"),
    ],
)
def test_words_that_nobody_reads_are_no_other_code(module, source, old, new):
    written = module(source)
    known = fingerprint(written.f)
    assert fingerprint(module(source.replace(old, new), written.__name__).f) == known


def test_slots_that_are_hidden_are_said(module):
    written = module(
        "class A:\n    __slots__ = ('g',)\na = A()\na.g = 3.0\nread = A.g.__get__\ndel A.g\n"
        "def f(x): return read(a) * x"
    )
    with pytest.raises(InspectionError, match="cannot be seen"):
        fingerprint(written.a)


# ---- what cannot be seen through


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("import time\ndef f(x): return time.time() * x", "time"),
        ("from time import time\ndef f(x): return time() * x", "time"),
        ("import random\ndef f(x): return random.random() * x", "random"),
        ("import os\ndef f(x): return float(os.environ['GAIN']) * x", "os"),
        ("from os import environ\ndef f(x): return float(environ['GAIN']) * x", "environ"),
        ("def f(x): return float(open('gain').read()) * x", "open"),
        ("from pathlib import Path\ndef f(x): return float(Path('gain').read_text()) * x", "pathlib"),
        ("import datetime\ndef f(x): return datetime.datetime.now().second * x", "datetime"),
        ("def f(x): return np.random.rand() * x", "random"),
        ("def f(x): return np.random.default_rng().normal() * x", "random"),
        ("rng = np.random.default_rng()\ndef f(x): return rng.normal() * x", "Generator"),
        ("def f(x): return np.loadtxt('gain') * x", "loadtxt"),
        ("def f(x):\n    import numpy\n    return numpy.loadtxt('gain') * x", "import numpy"),
        ("def f(x): return eval('3.0') * x", "eval"),
        ("G = 3.0\ndef f(x): return globals()['G'] * x", "globals"),
        ("import helping\ndef f(x): return getattr(helping, 'gain') * x", "helping"),
        ("def f(x):\n    import helping\n    return helping.gain * x", "helping"),
        ("def f(x):\n    from helping import gain\n    return gain * x", "helping"),
        (
            "class A:\n    def __getattribute__(self, n): raise ValueError(n)\na = A()\ndef f(x): return a.g * x",
            "ValueError",
        ),
        ("G = []\nG.append(G)\ndef f(x): return len(G) * x", "RecursionError"),
        ("G = np.ma.masked_array([3.0])\ndef f(x): return G[0] * x", "MaskedArray"),
    ],
)
def test_what_cannot_be_seen_is_said(module, source, why):
    module("gain = 3.0", "helping")
    with pytest.raises(InspectionError, match=why):
        fingerprint(module(source).f)


def test_what_is_read_from_a_module_is_enough(module):
    helping = module("gain = 3.0\nimport time\ndef unused(): return time.time()", "helping")
    styles = ("import helping", "import helping as h", "from helping import gain", "from helping import *")
    reads = ("helping.gain", "h.gain", "gain", "gain")
    for style, read in zip(styles, reads, strict=True):
        f = module(f"{style}\ndef f(x): return {read} * x").f
        assert engine.compile(f, 1.0)(2.0) == 2.0 * helping.gain


def test_a_relative_import_inside_is_not_taken_for_another_module():
    code = compile("def f(x):\n    from .math import gain\n    return gain * x", "package/one.py", "exec")
    space = {"__name__": "package.one", "__package__": "package"}
    exec(code, space)
    with pytest.raises(InspectionError, match=r"import \.math"):
        fingerprint(space["f"])


def test_code_without_a_file_is_seen(module):
    spaces = []
    for gain in (3.0, 4.0):
        space = {"__name__": "__main__"}
        exec(f"class A:\n    def g(self): return {gain}\ndef f(x): return A().g() * x", space)
        spaces.append(space)
    first, second = (fingerprint(space["f"]) for space in spaces)
    assert first != second, "as `python -c` and notebooks have it"


def test_packages_go_by_their_version(monkeypatch):
    f = lambda x: ff.spatial.linear(x)  # noqa: E731
    known = fingerprint(f)
    monkeypatch.setattr(origins, "package_source", lambda: "of another version")
    origins.version_of.cache_clear()
    try:
        assert fingerprint(f) != known
    finally:
        origins.version_of.cache_clear()
    monkeypatch.undo()
    origins.version_of.cache_clear()
    assert fingerprint(f) == known


def test_ordinary_things_can_be_seen():
    class Kind(Enum):
        SOFT = "soft"

    class Pair(NamedTuple):
        a: float
        b: float = 2.0

    @dataclass(frozen=True)
    class Data:
        pair: Pair
        kind: Kind = Kind.SOFT
        names: tuple[str, ...] = field(default_factory=tuple)

        @functools.cached_property
        def size(self):
            return len(self.names)

    things = {
        "data": Data(Pair(1.0)),
        "set": {1, "a"},
        "jax": jnp.ones(3),
        "space": SimpleNamespace,
        "functions": (math.sin, np.sin, jnp.sin, jax.vmap(jnp.sin), functools.partial(max, 2), sum, len, "a".join),
        "default": defaultdict(list, a=[1]),
        "dtype": np.dtype("f8"),
        "craft": ff.library.ets7(),
    }
    known = fingerprint(things)
    assert fingerprint(things) == known
    assert things["data"].size == 0
    assert fingerprint(things) == known, "what is computed from the rest and kept changes nothing"


def test_data_that_looks_alike_is_told_apart():
    alike = [
        1,
        1.0,
        True,
        "1",
        b"1",
        np.float64(1.0),
        np.int64(1),
        np.array([1.0]),
        (1,),
        [1],
        {1: 1},
        {1},
        None,
        0.0,
        -0.0,
    ]
    alike += [np.zeros((2, 3)), np.zeros((3, 2)), np.zeros(6), ("ab", "c"), ("a", "bc"), np.zeros(2, "f4,f4")]
    assert len({fingerprint(one) for one in alike}) == len(alike)


def test_unseen_code_gives_new_answers_each_time_and_doctor_says_so(tmp_path):
    place = tmp_path / "gain"

    def from_a_file(x):
        return float(place.read_text()) * x

    for gain in (3.0, 4.0):
        place.write_text(str(gain))
        assert engine.compile(from_a_file, 1.0)(2.0) == 2.0 * gain
    told = engine.doctor()["traced_again"]
    assert any("from_a_file" in name and "pathlib" in why for name, why in told.items())
    engine.clear_cache()
    assert not engine.doctor()["traced_again"]


@pytest.mark.parametrize("reader", [time.time, random.random, os.getcwd])
def test_impure_functions_as_values_are_refused(reader):
    with pytest.raises(InspectionError):
        fingerprint(reader)
    assert fingerprints.ReachedObjects().functions == []
