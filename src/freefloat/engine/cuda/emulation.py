"""Runs the kernel's text by the C compiler: the same statements, one thread of the grid after the other."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from freefloat.engine.errors import TargetError

from .kernel import Text
from .runner import Launch, Runner

OPTIONS = ("-std=c11", "-O1", "-fPIC", "-shared", "-ffp-contract=off")
ARGUMENTS = {
    "evaluate": (("inputs", "places", "results"), ("total",)),
    "rollout": (("states", "inputs", "places", "records"), ("total", "steps", "every", "due")),
}


@cache
def emulation() -> Emulation:
    """Emulation by the C compiler of this machine; raises an error if there is none."""
    compiler = shutil.which("cc")
    if compiler is None:
        raise TargetError("The emulation of a GPU needs a C compiler named 'cc': install gcc or clang.")
    return Emulation(compiler)


class Emulation(Runner):
    """Runs kernels on the processor instead of a card; slow, for tests."""

    xp, name = np, "emulation by the C compiler"

    def __init__(self, compiler: str) -> None:
        self.compiler = compiler

    def facts(self) -> tuple[str, ...]:
        """Version line of the C compiler."""
        return (_version(self.compiler),)

    def build(self, text: Text) -> bytes:
        """Compile the text to a shared library."""
        with tempfile.TemporaryDirectory() as folder:
            source, library = Path(folder, "kernel.c"), Path(folder, "kernel.so")
            source.write_text(text.source + _driver(text.name))
            words = [self.compiler, *OPTIONS, "-o", str(library), str(source), "-lm"]
            done = subprocess.run(words, capture_output=True, text=True, check=False)
            if done.returncode:
                raise TargetError(f"The C compiler refused the kernel: {done.stderr[:2000]}")
            return library.read_bytes()

    def load(self, code: bytes, text_name: str, block: int, shared_bytes: int) -> Launch:
        """Load a shared library as a function that loops over the grid."""
        with tempfile.NamedTemporaryFile(suffix=".so") as file:
            file.write(code)
            file.flush()
            run = ctypes.CDLL(file.name).run
        pointers, counts = ARGUMENTS[text_name]
        run.argtypes = [ctypes.c_int64, *[ctypes.c_void_p] * len(pointers), *[ctypes.c_int64] * len(counts)]

        def launch(instances: int, *arguments: Any) -> None:
            arrays = [a.ctypes.data for a in arguments[: len(pointers)]]
            run(-(-instances // block), *arrays, *map(int, arguments[len(pointers) :]))

        return launch

    def free_bytes(self) -> int:
        """Assumed free memory, small enough for any machine [bytes]."""
        return 1 << 30

    def shared_bytes(self) -> int:
        """Assumed shared memory, that of a small card [bytes]."""
        return 100 << 10

    def seconds(self, work: Callable[[], None]) -> float:
        """Time that some work takes, by the wall clock [s]."""
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    def wait(self) -> None:
        """Do nothing: every launch returns when it has ended."""

    def to_host(self, array: Any) -> np.ndarray:
        """Copy of an array, which is a NumPy array already."""
        return np.array(array)


@cache
def _version(compiler: str) -> str:
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=False)
    return done.stdout.splitlines()[0] if done.stdout else compiler


def _driver(name: str) -> str:
    pointers, counts = ARGUMENTS[name]
    takes = [f"double *{p}" if p != "places" else f"int64_t *{p}" for p in pointers] + [f"int64_t {c}" for c in counts]
    return (
        f"\nvoid run(int64_t blocks, {', '.join(takes)}) {{\n"
        "  for (blockIdx.x = 0; blockIdx.x < blocks; ++blockIdx.x)\n"
        "    for (threadIdx.x = 0; threadIdx.x < BLOCK; ++threadIdx.x)\n"
        f"      {name}({', '.join((*pointers, *counts))});\n}}\n"
    )
