"""The C text, compiled by the system's compiler and called through ctypes."""

import ctypes
import re
import shutil
import subprocess
from pathlib import Path

import idioms
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine
from freefloat.engine.runtime.structure import NUMPY

COMPILER = shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
# What only moves elements, differentiates or calls is gone when C is written: the graph's tests cover it.
ABSENT = frozenset(
    [
        "slices",
        "stack",
        "transpose",
        "outer",
        "cross",
        "block",
        "pad",
        "triangles",
        "roll",
        "split",
        "unstack",
        "diagonals",
        "meshgrid",
        "constant",
        "empty",
        "grad",
        "jacfwd",
        "jacrev",
        "hessian",
        "jvp",
        "custom_jvp",
        "custom_vjp",
        "remat",
        "nested_jit",
        "vmap",
        "vmapped_solve",
        "stop_gradient",
        "expm",
        "solve_many",
        "inverse",
        "determinant",
        "batched_matmul",
        "batched_cholesky",
        "jacobian_of_scan",
        "associative_scan",
        "unwrap",
        "axis_sums",
        "cumsum_axis",
        "sort_axis",
        "median",
        "diff",
        "softmax",
        "old_key",
        "split_key",
        "seeded",
    ]
)
NAMES = [n for n in idioms.IDIOMS if n not in ABSENT]


def call(library, name, compiled, *arrays):
    """One call of a compiled C function."""
    leaves, results = compiled.graph.signature.leaves, compiled.graph.signature.results
    ins = [np.ascontiguousarray(a, NUMPY[leaf.dtype]) for a, leaf in zip(arrays, leaves, strict=True)]
    outs = [np.empty(r.shape, NUMPY[r.dtype]) for r in results]
    getattr(library, name)(*(ctypes.c_void_p(a.ctypes.data) for a in ins + outs))
    return outs


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    """All idioms in one library, loops kept."""
    folder, x = tmp_path_factory.mktemp("c"), np.zeros(16)
    programs, files = {}, []
    for name in NAMES:
        programs[name] = engine.compile(idioms.IDIOMS[name], x, target="c", name=f"f_{name}", unroll=0, branch=0)
        files.append(programs[name].write(folder)[0])
    target = folder / "idioms.so"
    strict = ["-std=c99", "-Wall", "-Werror", "-Wno-unused-variable", "-Wno-unused-function"]
    subprocess.run([COMPILER, *strict, "-O0", "-shared", "-fPIC", "-o", target, *files, "-lm"], check=True)
    return ctypes.CDLL(str(target)), programs


@needs_compiler
@pytest.mark.parametrize("name", NAMES)
def test_agrees_with_jax(name, library):
    rows = [call(library[0], f"f_{name}", library[1][name], row)[0] for row in idioms.X]
    idioms.check(name, np.stack(rows))


@needs_compiler
def test_the_host_on_the_page_compiles_and_prints_what_the_page_says(tmp_path):
    page = (Path(__file__).parents[3] / "docs" / "engine.md").read_text(encoding="utf-8")
    names = {}
    for block in re.findall(r"^```python\n(.*?)^```$", page.split("## Derivatives")[0], re.MULTILINE | re.DOTALL):
        exec(block, names)
    (host,) = re.findall(r"^```c\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    (tmp_path / "host.c").write_text(host)
    source, _ = names["program"].write(tmp_path)
    target = tmp_path / "pendulum"
    strict = ["-std=c99", "-Wall", "-Wextra", "-Werror"]
    subprocess.run([COMPILER, *strict, "-o", target, tmp_path / "host.c", source, "-lm"], check=True)
    printed = subprocess.run([target], check=True, capture_output=True, text=True).stdout.strip()
    assert f"`{printed}`" in page
    native = engine.compile(names["controlled"], names["loop"], 0.1)
    assert printed == f"tick 1000, angle {native.rollout(names['loop'], 0.1, steps=1000).state['angle']:.6f}"


def test_header_names_every_array():
    program = engine.compile(lambda s, u: {"v": s["v"] + u}, {"v": np.zeros(3)}, 1.0, target="c", name="step")
    assert "void step(const double *in0, const double *in1, double *out0);" in program.header
    assert "in0: argument 0['v'], [3]" in program.header
    assert "out0: result['v'], [3]" in program.header


def test_text_cannot_be_called():
    program = engine.compile(jnp.sin, 1.0, target="c")
    with pytest.raises(engine.TargetError, match="target='native'"):
        program(1.0)


def test_name_must_be_an_identifier():
    with pytest.raises(engine.TargetError, match="no C identifier"):
        engine.compile(jnp.sin, 1.0, target="c", name="a-b")
