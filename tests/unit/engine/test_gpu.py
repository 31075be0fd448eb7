"""The GPU target by its emulation: the kernel's text, compiled by the C compiler, against plain JAX and native code."""

import shutil
import subprocess
import sys

import chain
import idioms
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine
from freefloat.engine.cuda import card, parking
from freefloat.engine.cuda import program as gpu_program
from freefloat.engine.cuda import shape as gpu_shape
from freefloat.engine.cuda.shape import KernelShape
from freefloat.engine.llvm.machine import host
from freefloat.engine.runtime import lookup

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler on this machine")
NAMES = [
    "functions", "where", "select_n", "floor_divide", "table", "computed_table", "traced_set", "dynamic_update",
    "rk4", "scan_reverse", "nested_loops", "integer_carry", "large_cond", "switch", "while", "philox", "shifts",
    "traced_shifts", "conversions", "integer_division", "bitcast", "argmax", "zero_pivot", "extremes",
]  # fmt: skip


@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_kernel_agrees_with_jax(name):
    graph = engine.trace(idioms.IDIOMS[name], idioms.X[0], unroll=0, branch=0)
    (found,) = jax.tree_util.tree_leaves(engine.compile(graph, target="gpu", emulate=True).batch(idioms.X))
    idioms.check(name, found)


@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_every_block_with_hardly_any_registers(name, monkeypatch):
    monkeypatch.setattr(parking, "LARGE", 3)
    graph = engine.trace(idioms.IDIOMS[name], idioms.X[0], unroll=0, branch=0)
    shape = KernelShape(block=8, registers=4, near=3, again=2, order="short", together=7)
    program = engine.compile(graph, target="gpu", emulate=True, shape=shape, cache=False)
    (found,) = jax.tree_util.tree_leaves(program.batch(idioms.X))
    idioms.check(name, found)


def pendulum(state, length):
    """Semi-implicit pendulum with a counter and a flag, so that every type of row occurs."""
    rate = state["rate"] - 0.01 * 9.81 / length * jnp.sin(state["angle"])
    angle = state["angle"] + 0.01 * rate
    return {"angle": angle, "rate": rate, "step": state["step"] + 1, "up": jnp.abs(angle) > 1.0}


def start(n):
    rng = np.random.default_rng(11)
    return {
        "angle": rng.normal(size=n),
        "rate": rng.normal(size=n),
        "step": np.arange(n, dtype=np.int32),
        "up": np.zeros(n, bool),
    }


EXAMPLE = {k: v[0] for k, v in start(1).items()}


def kernel(**options):
    return engine.compile(pendulum, EXAMPLE, 1.0, target="gpu", emulate=True, **options)


def check(found, expected):
    assert jax.tree_util.tree_structure(found) == jax.tree_util.tree_structure(expected)
    # 1e-13: ten steps of a few roundings each
    jax.tree_util.tree_map(lambda a, b: np.testing.assert_allclose(a, b, rtol=1e-13), found, expected)
    jax.tree_util.tree_map(lambda a, b: None if a.dtype == b.dtype else pytest.fail("types differ"), found, expected)


@needs_compiler
@pytest.mark.parametrize("every", [None, 4, 20])
@pytest.mark.parametrize("piece", [None, 5])
def test_rollout_agrees_with_jax(every, piece):
    reference = engine.compile(pendulum, EXAMPLE, 1.0, target="jax")
    n, length = 13, np.linspace(0.5, 2.0, 13)  # 13: neither the last block of threads nor the last piece is full
    found = kernel(piece=piece).rollout_batch(start(n), length, steps=10, record_every=every)
    check(found, reference.rollout_batch(start(n), length, steps=10, record_every=every))


@needs_compiler
def test_one_instance_call_rollout_and_chunks():
    program, reference = kernel(), engine.compile(pendulum, EXAMPLE, 1.0, target="jax")
    check(program(EXAMPLE, 0.7), reference(EXAMPLE, 0.7))
    # Chunks first: memory that a whole rollout has left would hold the right records already.
    chunks = list(program.rollout_chunks(EXAMPLE, 0.7, steps=10, record_every=3, chunk=4))
    whole = program.rollout(EXAMPLE, 0.7, steps=10, record_every=3)
    check(whole, reference.rollout(EXAMPLE, 0.7, steps=10, record_every=3))
    assert [c.done for c in chunks] == [4, 8, 10]
    assert [len(c.record["angle"]) for c in chunks] == [1, 1, 1]
    np.testing.assert_array_equal(np.concatenate([c.record["angle"] for c in chunks]), whole.record["angle"])


@needs_compiler
def test_what_is_shared_reaches_every_thread():
    shared = kernel().rollout_batch(start(3), 0.7, steps=3, in_axes=(0, None))
    own = kernel().rollout_batch(start(3), np.full(3, 0.7), steps=3)
    np.testing.assert_array_equal(shared.state["angle"], own.state["angle"])
    same_start = kernel().rollout_batch(EXAMPLE, np.array([0.7, 0.9]), steps=3, in_axes=(None, 0))
    assert same_start.state["angle"].shape == (2,)


@needs_compiler
def test_interrupted_between_pieces_keeps_what_is_done():
    done = []

    def stop(now, total):
        done.append((now, total))
        if now > 50:
            raise KeyboardInterrupt

    pieces = kernel(piece=5).rollout_pieces(start(13), np.ones(13), steps=10, progress=stop)
    first = next(pieces)
    assert (first.first, first.end) == (0, 5)
    with pytest.raises(KeyboardInterrupt):
        next(pieces)
    assert done == [(50, 130), (100, 130)]
    whole = kernel().rollout_batch(start(13), np.ones(13), steps=10)
    np.testing.assert_array_equal(first.state["angle"], whole.state["angle"][:5])


SHAPES = {
    "compiler": KernelShape(block=8),
    "registers": KernelShape(block=8, registers=60, near=20, again=0),
    "all near": KernelShape(block=8, registers=60, near=500),
    "again": KernelShape(block=8, registers=60, near=20, again=8),
    "ordered": KernelShape(block=8, registers=30, near=0, order="short"),
    "together": KernelShape(block=8, registers=40, near=5, together=50),
    "recent": KernelShape(block=8, registers=30, near=0, order="recent"),
}


@needs_compiler
@pytest.mark.parametrize("name", SHAPES)
def test_setting_values_aside_changes_nothing(name):
    state, tau = chain.start(3)
    graph = engine.trace(chain.step, chain.one(state), tau[0])
    native = engine.compile(graph).rollout_batch(state, tau, steps=5)
    program = engine.compile(graph, target="gpu", emulate=True, shape=SHAPES[name])
    found = program.rollout_batch(state, tau, steps=5)
    assert ("TAKE" in program.source.split("rollout(")[1]) == (name != "compiler")
    require_same_bits(found.state, native.state)


def require_same_bits(found, expected):
    """As on a processor with fused multiply-adds; on another the last place may differ."""
    compare = np.testing.assert_array_equal if host().fma else np.testing.assert_allclose
    for a, b in zip(jax.tree.leaves(found), jax.tree.leaves(expected), strict=True):
        compare(a, b, strict=True)


@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_kernel_has_the_bits_of_native_code(name):
    graph = engine.trace(idioms.IDIOMS[name], idioms.X[0], unroll=0, branch=0)
    found = engine.compile(graph, target="gpu", emulate=True).batch(idioms.X)
    require_same_bits(found, engine.compile(graph).batch(idioms.X))


@needs_compiler
def test_elementary_functions_have_the_bits_of_native_code():
    scales = np.repeat([1e-300, 1e-8, 1e-3, 1.0, 30.0, 1e5, 1e300], 500)
    x, y = np.random.default_rng(5).normal(size=(2, len(scales))) * scales
    y = np.random.default_rng(6).permutation(y)
    edges = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, 1e308])
    x, y = np.concatenate([x, edges, edges]), np.concatenate([y, edges, edges[::-1]])

    def functions(x, y):
        angle = jnp.clip(x, -1e13, 1e13)  # beyond 2^45 a card gives no number
        return jnp.sin(angle), jnp.cos(angle), jnp.exp(x), jnp.log(x), jnp.arctan2(x, y), jnp.sqrt(x), 1.0 / x

    graph = engine.trace(functions, 1.0, 1.0)
    found = engine.compile(graph, target="gpu", emulate=True).batch(x, y)
    require_same_bits(found, engine.compile(graph).batch(x, y))


@needs_compiler
def test_layouts_are_tried_and_the_choice_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("FREEFLOAT_CACHE", str(tmp_path))
    monkeypatch.setattr(gpu_program, "TRIED_FROM", 3)
    monkeypatch.setattr(gpu_program, "TRIAL_OPERATIONS", 1e4)  # enough for a card would take minutes to emulate
    layouts = [
        gpu_shape.KernelShape(block=32),
        gpu_shape.KernelShape(block=64),
    ]  # without barriers, which are slow to emulate
    monkeypatch.setattr(gpu_program, "shapes", lambda *_: layouts)

    def swing(state, push):
        return {"q": state["q"] + 0.01 * jnp.sin(state["q"]) * push}

    state, tau = {"q": np.linspace(0.0, 1.0, 12).reshape(3, 4)}, np.ones((3, 4))
    graph = engine.trace(swing, {"q": state["q"][0]}, tau[0])
    program = engine.compile(graph, target="gpu", emulate=True)
    assert len(program.shapes) > 1
    found = program.rollout_batch(state, tau, steps=2)
    assert program.chosen in program.shapes
    monkeypatch.setattr(program, "chosen", program.shapes[1])
    program.rollout_batch({"q": state["q"][:1]}, tau[:1], steps=2)  # a small batch keeps to the choice
    assert ("rollout", program.shapes[1]) in program._kernels
    assert len(list(tmp_path.glob("*.code"))) == len(program.shapes) + 1  # their code, and which was fastest
    again = engine.compile(graph, target="gpu", emulate=True)
    monkeypatch.setattr(again.runner, "build", lambda text: pytest.fail("compiled again"))
    np.testing.assert_array_equal(again.rollout_batch(state, tau, steps=2).state["q"], found.state["q"])


@needs_compiler
def test_compiled_code_comes_from_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("FREEFLOAT_CACHE", str(tmp_path))
    monkeypatch.setattr(lookup, "in_memory", lambda name: None)  # as in a process that starts
    first = kernel()
    first(EXAMPLE, 1.0)
    assert len(list(tmp_path.glob("*.code"))) == 1
    second = kernel()
    monkeypatch.setattr(second.runner, "build", lambda text: pytest.fail("compiled again"))
    second(EXAMPLE, 1.0)


@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6, 1e10])
@needs_compiler
def test_sine_and_cosine(scale):
    x = np.random.default_rng(2).uniform(-scale, scale, 5000)
    program = engine.compile(lambda x: (jnp.sin(x), jnp.cos(x)), 1.0, target="gpu", emulate=True)
    sine, cosine = program.batch(x)
    # 2.3e-16: one unit in the last place of numbers just below one
    np.testing.assert_allclose(sine, np.sin(x), rtol=0, atol=2.3e-16)
    np.testing.assert_allclose(cosine, np.cos(x), rtol=0, atol=2.3e-16)


# ---- what is missing is named


class Failing:
    """CuPy whose runtime fails with a status, or reports an old driver."""

    def __init__(self, status=None, driver=13000, devices=1):
        self.status, self.driver, self.devices = status, driver, devices
        self.cuda = self.runtime = self

    def driverGetVersion(self):
        return self.driver

    def getDeviceCount(self):
        if self.status is None:
            return self.devices
        error = RuntimeError("cudaError")
        error.status = self.status
        raise error


@pytest.mark.parametrize(
    ("cupy", "words"),
    [
        (Failing(status=100), "no NVIDIA card"),
        (Failing(status=35), "driver is too old.*580 or later for cupy-cuda13x"),
        (Failing(driver=0), "no NVIDIA driver"),
        (Failing(driver=11080), "supports CUDA 11.8; 12.0 is the oldest"),
        (Failing(devices=0), "no NVIDIA card"),
        (Failing(status=999), "cannot be used"),
    ],
)
def test_without_a_card_the_error_says_why(cupy, words, monkeypatch):
    monkeypatch.setattr(card.importlib.util, "find_spec", lambda name: object())
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    card.card.cache_clear()
    with pytest.raises(engine.TargetError, match=words):
        engine.compile(pendulum, EXAMPLE, 1.0, target="gpu")


def test_without_cupy_the_error_names_the_package(monkeypatch):
    monkeypatch.setattr(card.importlib.util, "find_spec", lambda name: None)
    card.card.cache_clear()
    with pytest.raises(engine.TargetError, match=r"needs CuPy.*pip install 'freefloat\[gpu\]'"):
        engine.compile(pendulum, EXAMPLE, 1.0, target="gpu")


@needs_compiler
def test_a_saved_graph_runs_without_llvm_pydantic_or_the_function(tmp_path):
    engine.save(engine.trace(pendulum, EXAMPLE, 1.0), tmp_path / "pendulum.graph")
    code = (
        "import sys\n"
        "for name in ('llvmlite', 'pydantic', 'xarray', 'jaxtyping', 'scipy'): sys.modules[name] = None\n"
        "import numpy as np, freefloat.engine as engine\n"
        f"program = engine.compile(engine.load({str(tmp_path / 'pendulum.graph')!r}), target='gpu', emulate=True)\n"
        "state = {'angle': np.ones(4), 'rate': np.zeros(4), 'step': np.zeros(4, np.int32), 'up': np.zeros(4, bool)}\n"
        "print(program.rollout_batch(state, np.ones(4), steps=7).state['step'])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "[7 7 7 7]", done.stderr
