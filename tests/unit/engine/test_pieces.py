"""Functions of the package as pieces of graph: found or made, they are what a fresh trace makes of them."""

import dataclasses
import functools
import os
import pickle
import shutil
import subprocess
import sys
import time
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax._src.literals import TypedNdArray
from test_replay import LOOPS, long_way, made

import freefloat as ff
from freefloat import dynamics, engine
from freefloat.engine.graph import Builder
from freefloat.engine.graph.piece import Piece
from freefloat.engine.graph.replay import replay
from freefloat.engine.jaxprs import piece_keys, pieces
from freefloat.engine.jaxprs.piece_making import own_copy
from freefloat.engine.runtime import bundles, cache, lookup
from freefloat.values import quiet_fields
from freefloat.values.compiling import compiled_on_call
from freefloat.values.tracing import cond, once, scan
from support import trees

pytestmark = pytest.mark.usefixtures("own_cache")


@pytest.fixture
def made_pieces(monkeypatch):
    """Functions whose pieces had to be made."""
    names, make = [], pieces.make_piece

    def counted(function, *args):
        names.append(function.__name__)
        return make(function, *args)

    monkeypatch.setattr(pieces, "make_piece", counted)
    return names


def as_in_another_process():
    """Code is forgotten, in memory and on disk; pieces stay on disk."""
    owners = [owner for _, owner in bundles._on_disk]
    kept = {cache.key("pieces", owner) for owner in owners}
    for path in cache.entries():
        if path.name.removesuffix(cache.SUFFIX) not in kept:
            path.unlink()
    lookup.forget()


def answers(function, *args):
    """Results by pieces that are made, by those that are found, and without any."""
    first = engine.compile(function, *args)(*args)
    as_in_another_process()
    again = engine.compile(function, *args)(*args)
    with mock.patch.dict(os.environ, {"FREEFLOAT_PIECES": "0"}):
        alone = engine.compile(function, *args)(*args)
    return first, again, alone


def require_same(function, *args, made_pieces=None):
    """The same bits by found pieces; the same numbers without."""
    first, again, alone = answers(function, *args)
    for x, y, z in zip(*map(jax.tree.leaves, (first, again, alone)), strict=True):
        np.testing.assert_array_equal(x, y)
        np.testing.assert_allclose(x, z, rtol=1e-12, atol=1e-12 * max(1.0, float(np.max(np.abs(z), initial=0.0))))
    return first


# ---- the graph


@pytest.mark.parametrize("written", [False, True])
@pytest.mark.parametrize(("x", "y"), [(None, None), (2.0, None), (None, 1.5), (-0.0, None), (0.5, 2.0)])
def test_straight_nodes_are_those_of_a_fresh_trace(x, y, written):
    old, b = Builder(), Builder()
    ins = old.input(0, "f64"), old.input(1, "f64")
    piece = Piece(ins, tuple(made(old, *ins)), old.quotients)
    if written:
        piece = Piece.of_rows(pickle.loads(pickle.dumps(piece.as_rows())))
    new = [b.input(k, "f64") if value is None else b.constant(value) for k, value in enumerate((x, y))]
    assert piece.insert_into(b, new) == made(b, *new)


def test_quotients_are_known_as_such_and_inputs_that_nothing_needs_are_left_out():
    old, b = Builder(), Builder()
    x, y, z = (old.input(k, "f64") for k in range(3))
    piece = Piece.of_rows(Piece((x, y, z), (old.div(old.neg(x), z), z), old.quotients).as_rows())
    assert piece.needed_inputs == {0, 2}
    u, v = b.input(0, "f64"), b.input(1, "f64")
    quotient, last = piece.insert_into(b, [u, None, v])
    assert last is v
    assert b.correctly_rounded(quotient) is b.node("div", "f64", b.neg(u), v)


def test_a_quotient_of_nodes_that_were_made_after_it():
    old, b = Builder(), Builder()
    x, y = (old.input(k, "f64") for k in range(2))
    first = old.div(x, y)
    assert old.div(old.neg(x), old.neg(y)) is first  # now it is a quotient of these two
    piece = Piece.of_rows(Piece((x, y), (old.sin(first),), old.quotients).as_rows())
    u, v = b.input(0, "f64"), b.input(1, "f64")
    (found,) = piece.insert_into(b, [u, v])
    assert b.correctly_rounded(found.args[0]) is b.node("div", "f64", b.neg(u), b.neg(v))
    (same,) = replay(old, [first], {x: old.input(2, "f64"), y: old.input(3, "f64")})
    assert all(part.args[0].value in (2, 3) for part in old.quotients[same])


# ---- functions of the package


def _planted(function, name="", **names):
    """As a function of this package, which its pieces are kept for; `names` are globals of its own."""
    name = name or function.__name__
    there = function.__globals__ | names | {"__name__": "freefloat.planted"}
    made = FunctionType(function.__code__.replace(co_qualname=name), there, name, function.__defaults__)
    made.__kwdefaults__ = function.__kwdefaults__
    return once(made)


@pytest.mark.parametrize("name", LOOPS)
@pytest.mark.parametrize("around", ["straight", "branch", "loop"])
def test_loops_and_branches_inside_and_around(name, around, made_pieces):
    piece = _planted(lambda z, c: LOOP(z, c), f"planted_{name}", LOOP=LOOPS[name])  # noqa: F821

    def function(z, c):
        if around == "branch":
            return cond(z[1] < 0.0, lambda: long_way(piece(z + c, c), z), lambda: long_way(z, c))
        if around == "loop":
            rows = jnp.linspace(0.0, 1.0, 400)
            return scan(lambda q, row: (0.9 * piece(q, c) + 0.01 * row * long_way(q, c), q[0]), z, rows)
        return piece(z, c) + piece(z, jnp.zeros(3))

    z, c = jnp.array([0.3, -0.2, 0.7]), jnp.array([0.1, 0.2, -0.3])
    found = require_same(function, z, c)
    for ours, theirs in zip(jax.tree.leaves(found), jax.tree.leaves(jax.jit(function)(z, c)), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-11, atol=1e-13)
    if around == "straight":
        assert made_pieces == [f"planted_{name}"] * 2  # c is known to be zero in one of them


SAMPLE: dict[str, Any] = {
    "mass_matrix": lambda craft, q, v: dynamics.mass_matrix(craft, q),
    "bias": dynamics.bias,
    "generalized_jacobian": lambda craft, q, v: dynamics.generalized_jacobian(craft, q, craft.frames[-1].name),
    "momentum_about_com": dynamics.momentum_about_com,
    "forward_dynamics": lambda craft, q, v: dynamics.forward_dynamics(craft, q, v, 0.1 * v),
    "kinetic_energy": dynamics.kinetic_energy,
}


@pytest.mark.parametrize("along", [False, True], ids=["values", "derivatives"])
@pytest.mark.parametrize("name", SAMPLE)
def test_a_sample_of_library_functions(name, along, made_pieces):
    rng = np.random.default_rng(sum(map(ord, name)))
    craft = trees.draw_tree(rng, "small")
    function = partial(SAMPLE[name], craft)
    q, v = rng.normal(size=craft.layout.nq), rng.normal(size=craft.layout.nv)
    if along:
        inner = function
        function = lambda q, v: jax.jvp(inner, (q, v), (v[: q.size], q[0] * v))  # noqa: E731
    require_same(function, q, v)
    count = len(made_pieces)
    assert count > 0
    as_in_another_process()
    engine.compile(function, q, v)
    assert len(made_pieces) == count, made_pieces[count:]  # all were found
    other = trees.draw_tree(rng, "small")  # the same shapes, other numbers
    changed = partial(SAMPLE[name], other)
    ours = engine.compile(changed, q, v)(q, v)
    theirs = jax.jit(changed)(q, v)
    for x, y in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-9)


def test_another_structure_with_the_same_shapes_is_another_piece():
    q, found = np.array([0.3, -0.4]), []
    for kind, axis in (("revolute", (0, 0, 1)), ("revolute", (0, 1, 0)), ("prismatic", (0, 0, 1))):
        craft = ff.Spacecraft.from_base("hub", mass=8.0, inertia=(2.0, 3.0, 4.0))
        for number in range(2):
            craft = craft.with_link(
                f"link{number}", parent="base" if number == 0 else "link0", joint=kind, axis=axis,
                at=(0.0, 0.0, 1.0), mass=3.0, inertia=(1.0, 1.5, 2.0), com=(0.1, 0.2, 0.3),
            )  # fmt: skip
        ours = engine.compile(lambda q, craft=craft: dynamics.mass_matrix(craft, q), q)(q)
        np.testing.assert_allclose(ours, jax.jit(lambda q, craft=craft: dynamics.mass_matrix(craft, q))(q), rtol=1e-12)
        found.append(np.asarray(ours))
    assert not any(np.allclose(a, b) for a, b in ((found[0], found[1]), (found[0], found[2]), (found[1], found[2])))


def test_numbers_that_are_zero_or_one_or_whole_are_told_apart():
    piece = _planted(planted_product)
    for numbers in ([0.0, 2.0], [2.0, 0.0], [1.0, 3.0], [-1.0, 3.0], [5.0, 7.0], [-0.0, 7.0]):
        a = jnp.asarray(numbers)
        require_same(lambda x, a=a: piece(jnp.stack([x, a[0]]), a[1]), 3.0)
        ours = engine.compile(lambda x, a=a: piece(jnp.stack([x, a[0]]), a[1]), 3.0)(3.0)
        assert ours == pytest.approx(3.0 * numbers[1] + numbers[0] / 3.0, rel=1e-15)


def planted_product(pair, factor):
    return pair[0] * factor + pair[1] / pair[0]


def test_words_count():
    def planted_power(x, *, way):
        return x**2 if way == "square" else x**3

    piece = _planted(planted_power)
    assert engine.compile(lambda x: piece(x, way="square"), 3.0)(3.0) == 9.0
    assert engine.compile(lambda x: piece(x, way="cube"), 3.0)(3.0) == 27.0


# ---- what is no piece


def test_functions_of_users_are_not_kept(made_pieces):
    gain = [2.0]

    @once
    def mine(x):
        return gain[0] * jnp.sin(x)

    assert engine.compile(lambda x: mine(x) + mine(x), 1.0)(1.0) == pytest.approx(4.0 * np.sin(1.0))
    assert not made_pieces


def test_what_reads_a_quiet_part_is_no_piece_and_reads_it_again(made_pieces):
    craft = ff.library.ets7()

    def planted_colours(craft, x):
        return x * len(craft.body("base").shapes)

    piece = _planted(planted_colours)
    for _ in range(2):
        heard: list[Any] = []
        with quiet_fields.SealedValue.listen(heard.append):
            engine.compile(lambda x: piece(craft, x), 1.0, cache=False)
        assert heard
    assert made_pieces == ["planted_colours"]
    assert list(bundles._pieces.values()) == [None]


def test_what_hands_on_the_spacecraft_is_no_piece(made_pieces):
    piece = _planted(planted_pass)
    craft = ff.library.ets7()

    def function(x):
        same, twice = piece(craft, x)
        assert same is craft
        return twice

    assert engine.compile(function, 1.0)(2.0) == 4.0
    assert made_pieces == ["planted_pass"]


def test_errors_are_those_of_the_function_itself():
    def planted_choice(x):
        return x if x > 0.0 else -x

    piece = _planted(planted_choice)
    with pytest.raises(engine.UnsupportedError, match=r"test_pieces\.py"):
        engine.compile(piece, 1.0)


def test_nothing_is_found_or_left_where_functions_are_replaced(made_pieces):
    craft = ff.library.ets7()
    q = np.zeros(6)
    engine.compile(lambda q: dynamics.mass_matrix(craft, q), q)(q)
    count, known = len(made_pieces), len(bundles._pieces)
    with engine.traced_anew():
        engine.compile(lambda q: dynamics.mass_matrix(craft, q), q)(q)
    assert len(made_pieces) > count
    assert len(bundles._pieces) == known


def test_without_pieces_code_of_pieces_is_not_found(monkeypatch, traces, made_pieces):
    craft, q = ff.library.ets7(), np.zeros(6)
    function = lambda q: dynamics.mass_matrix(craft, q)  # noqa: E731
    engine.compile(function, q)
    count = len(made_pieces)
    monkeypatch.setenv("FREEFLOAT_PIECES", "0")
    engine.compile(function, q)
    assert len(traces) == 2
    assert len(made_pieces) == count > 0


def test_a_function_that_borrows_a_name_is_not_taken_for_it():
    craft, q = ff.library.ets7(), np.zeros(6)

    @compiled_on_call
    @functools.wraps(dynamics.mass_matrix)
    def mine(craft, q):
        return 2.0 * dynamics.mass_matrix(craft, q)

    twice = engine.compile(lambda q: mine(craft, q), q)(q)
    np.testing.assert_allclose(twice, 2.0 * engine.compile(lambda q: dynamics.mass_matrix(craft, q), q)(q), rtol=1e-15)


@pytest.mark.parametrize("gain", [1.0, 5.0])
def test_a_record_with_code_of_the_users_own_is_no_piece(gain):
    """A cell of a notebook that is run twice, with another number."""
    craft = ff.library.ets7()
    n = craft.layout.nv

    @ff.record
    class MyState(ff.State):
        @property
        def V_NB(self):  # pyright: ignore[reportIncompatibleMethodOverride]
            return gain * self.v[:6]

    def function(v):
        state = MyState(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(6), v)
        return dynamics.state_rate(craft, state, jnp.zeros(n)).velocity

    v = np.arange(1.0, n + 1.0)
    for _ in range(2):
        np.testing.assert_allclose(engine.compile(function, v)(v), gain * v[:3], rtol=1e-15)


def test_arrays_of_others_are_copied():
    """What a piece holds changes neither with an array that was given, nor with one that was handed out."""
    piece = _planted(planted_pass)
    row = np.zeros(3)
    assert engine.compile(lambda x: x + piece(row, x)[0].sum(), 1.0, cache=False)(1.0) == 1.0
    row[:] = 7.0

    def spoils(x):
        same, _ = piece(np.zeros(3), x)
        same += 1.0
        return x + same.sum()

    for _ in range(3):
        assert engine.compile(spoils, 1.0, cache=False)(1.0) == 4.0


def planted_pass(row, x):
    return row, 2.0 * x


def test_what_a_changed_record_had_computed_before_is_in_no_piece(made_pieces):
    """Joints and bodies change places behind the back of a frozen spacecraft that has computed its layout."""
    joints = (("revolute", 3.0), ("prismatic", 5.0))

    def crane(order):
        craft = ff.Spacecraft.from_base("hub", mass=8.0, inertia=(2.0, 3.0, 4.0))
        for k in order:
            kind, mass = joints[k]
            craft = craft.with_link(
                f"link{k}", parent="base", joint=kind, mass=mass, inertia=(1.0, 1.5, 2.0), com=(0.1, 0.2, 0.3)
            )
        return craft

    q = np.array([0.3, -0.4])
    here, there = crane((0, 1)), crane((1, 0))
    function = lambda craft: lambda q: dynamics.mass_matrix(craft, q) + 0.0 * time.time()  # noqa: E731
    engine.compile(function(here), q, cache=False)
    for name in ("bodies", "joints"):
        object.__setattr__(here, name, getattr(there, name))
    engine.compile(function(here), q, cache=False)
    want = jax.jit(lambda q: dynamics.mass_matrix(there, q))(q)
    np.testing.assert_allclose(engine.compile(function(there), q, cache=False)(q), want, rtol=1e-12)


@pytest.mark.parametrize("number", [np.inf, np.nan, -0.0, 0.0])
def test_numbers_that_are_not_finite_and_zeros_of_both_signs(number):
    piece = _planted(planted_arc)
    a = np.array([1.0, number])

    def function(x):
        return piece(jnp.stack([x, a[1]]), 0.0), piece(jnp.stack([x, a[1]]), -0.0)

    ours, theirs = engine.compile(function, 0.0)(0.0), jax.jit(function)(0.0)
    for x, y in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(x, y)


def planted_arc(pair, by):
    return jnp.arctan2(pair[0], by) + 0.0 * pair[1]


def test_settings_of_jax_count():
    piece = _planted(planted_noise)
    try:
        for kind in ("threefry2x32", "rbg"):
            jax.config.update("jax_default_prng_impl", kind)
            want = float(planted_noise(1.0))
            assert engine.compile(piece, 1.0, cache=False)(1.0) == pytest.approx(want, rel=1e-12)
    finally:
        jax.config.update("jax_default_prng_impl", "threefry2x32")


def planted_noise(x):
    return x + jax.random.normal(jax.random.key(1))


def test_an_argument_that_nothing_can_look_into_is_traced_as_it_stands(made_pieces):
    @dataclasses.dataclass(frozen=True, slots=True)
    class Slotted:
        gain: Any

    piece = _planted(planted_gain)
    assert engine.compile(lambda x: piece(Slotted(x), x) + piece(Slotted(2.0), x), 3.0)(3.0) == 15.0
    assert not made_pieces


def planted_gain(held, x):
    return held.gain * x


# ---- on disk

SCRIPT = """
import numpy as np, freefloat as ff
from freefloat import dynamics, engine
from freefloat.engine.jaxprs import pieces
made, make = [], pieces.make_piece
pieces.make_piece = lambda function, *rest: (made.append(function.__name__), make(function, *rest))[1]
craft = ff.library.ets7()
q = np.linspace(0.1, 0.6, 6)
J = engine.compile(lambda q: SCALE * dynamics.generalized_jacobian(craft, q, "hand"), q)(q)
print(len(made), repr(float(np.sum(J) / SCALE)))
"""


def started(scale, source: Path | None = None):
    """A process that asks for a Jacobian, by a function of its own that holds a number."""
    environment = dict(os.environ) | ({"PYTHONPATH": str(source)} if source else {})
    command = [sys.executable, "-c", SCRIPT.replace("SCALE", str(scale))]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def said(process):
    """How many pieces it has made, and the sum."""
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    count, total = out.split()
    return int(count), float(total)


def test_two_processes_at_once_and_a_third_one_that_finds_what_they_left():
    both = [started(1.0), started(2.0)]
    (first, a), (second, b) = map(said, both)
    assert first > 0
    assert second > 0
    count, c = said(started(4.0))
    assert count == 0
    assert a == b == c


def test_a_changed_constant_in_a_library_function_is_another_piece(tmp_path):
    """The package as it is, and a copy in which the system's inertia is another: with one cache."""
    _, ours = said(started(1.0))
    source = tmp_path / "src"
    shutil.copytree(Path(ff.__file__).parent, source / "freefloat", ignore=shutil.ignore_patterns("__pycache__"))
    file = source / "freefloat" / "dynamics" / "mass_matrix.py"
    text = file.read_text()
    assert text.count("rotor_inertias(craft)") >= 1
    file.write_text(text.replace("rotor_inertias(craft)", "rotor_inertias(craft) + 100.0"))
    count, changed = said(started(1.0, source))
    assert count > 0
    assert abs(changed - ours) > 1e-6  # of 3.6; rounding is 1e-15
    assert said(started(4.0)) == (0, ours)


@pytest.mark.parametrize("damage", ["cut", "flipped", "nonsense", "piece"])
def test_damaged_pieces_are_made_again(damage, made_pieces):
    craft, q = ff.library.ets7(), np.linspace(0.1, 0.6, 6)
    function = lambda q: dynamics.mass_matrix(craft, q)  # noqa: E731
    want = engine.compile(function, q)(q)
    names = {owner: cache.key("pieces", owner) for _, owner in bundles._on_disk}
    as_in_another_process()
    for owner, name in names.items():
        path = cache.directory() / f"{name}{cache.SUFFIX}"  # pyright: ignore[reportOptionalOperand]
        if not path.exists():
            continue
        content = path.read_bytes()
        if damage == "cut":
            path.write_bytes(content[:-7])
        elif damage == "flipped":
            path.write_bytes(content[:60] + bytes([content[60] ^ 1]) + content[61:])
        elif damage == "nonsense":  # signed by the user, and of another version of Python
            cache.write(name, b"nonsense")
        else:
            for digest in bundles._read_bundle(owner):
                bundles._new.setdefault(owner, {})[digest] = b"nonsense"
    bundles.write()
    bundles.forget()
    made_pieces.clear()
    cache._warn.cache_clear()
    if damage in ("cut", "flipped"):
        with pytest.warns(cache.CacheWarning, match="damaged"):
            found = engine.compile(function, q)(q)
    else:
        found = engine.compile(function, q)(q)
    assert made_pieces
    np.testing.assert_array_equal(found, want)


def test_bundles_and_memory_are_bounded(monkeypatch):
    monkeypatch.setattr(bundles, "_MOST_IN_BUNDLE", 3)
    monkeypatch.setattr(bundles, "_MOST_IN_MEMORY", 2)
    for number in range(5):
        bundles.Bundle("mine")[f"piece {number}"] = number
    bundles.write()
    assert list(bundles._pieces) == ["piece 3", "piece 4"]
    bundles.forget()
    assert list(bundles.Bundle("mine")) == ["piece 2", "piece 3", "piece 4"]


def test_a_negative_control_what_the_key_leaves_out_is_mixed_up(monkeypatch):
    """If zeros were not in the key, a piece made for a zero would be put where there is none."""
    monkeypatch.setattr(piece_keys, "_pattern", lambda x: ("nodes", x.val.shape))
    piece = _planted(planted_product)
    program = lambda a: engine.compile(lambda x: piece(jnp.stack([x, a]), 2.0), 3.0)(3.0)  # noqa: E731
    assert program(jnp.asarray(0.0)) == 6.0
    assert program(jnp.asarray(1.0)) == 6.0  # 6 1/3 would be right


def test_constant_arrays_of_jax_s_own_kind_can_be_kept() -> None:
    """Kept as they are they came back without their type, and the next product with one failed."""
    constant = TypedNdArray(np.eye(2))
    with pytest.raises(AttributeError):  # negative control
        _ = pickle.loads(pickle.dumps(constant)).T
    kept = pickle.loads(pickle.dumps(own_copy(constant)))
    assert type(kept) is np.ndarray
    np.testing.assert_array_equal(kept.T @ np.ones(2), [1.0, 1.0])
