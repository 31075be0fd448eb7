"""The graphics card, through CuPy: its properties, what is missing, compiling by NVRTC and launching."""

from __future__ import annotations

import importlib
import importlib.util
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from freefloat.engine.errors import TargetError

from .kernel import Text
from .runner import Launch, Runner

INSTALL = "pip install 'freefloat[gpu]' (or cupy-cuda12x for an older driver)"
OLDEST_DRIVER = 12000  # CUDA 12: the oldest that CuPy 13 and 14 run on
NO_DEVICE, OLD_DRIVER = 100, 35  # cudaErrorNoDevice, cudaErrorInsufficientDriver
LONG = 200_000  # [characters] of text, some seconds of compiling
COMPILE = """
import sys
from cupy.cuda import nvrtc
program = nvrtc.createProgram(sys.stdin.read(), "kernel.cu", [], [])
try:
    nvrtc.compileProgram(program, sys.argv[1:])
except nvrtc.NVRTCError:
    sys.exit(nvrtc.getProgramLog(program))
sys.stdout.buffer.write(nvrtc.getCUBIN(program))
"""
DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES
EMULATE = "Without a card use target='native'; emulate=True runs the kernel's text by the C compiler, for tests."


def what_is_missing() -> str:
    """Reason why no card can be used, with a remedy; empty if one can be used."""
    if importlib.util.find_spec("cupy") is None:
        return f"The gpu target needs CuPy, which is not installed: {INSTALL}."
    try:
        runtime = _cupy().cuda.runtime
        driver = runtime.driverGetVersion()
        count = runtime.getDeviceCount() if driver >= OLDEST_DRIVER else 0
    except ImportError as error:
        return f"CuPy is installed but does not load ({error}): reinstall it, {INSTALL}."
    except Exception as error:
        return _status_text(getattr(error, "status", None), error)
    if driver == 0:
        return "There is no NVIDIA driver on this machine: install the one for your card, version 525 or later."
    if driver < OLDEST_DRIVER:
        return _old_driver_text(driver)
    return "" if count else "There is no NVIDIA card in this machine, or this process may not see it."


def _cupy() -> Any:
    """Import CuPy, which may not be installed and has no types."""
    return importlib.import_module("cupy")


def _status_text(status: int | None, error: Exception) -> str:
    if status == NO_DEVICE:
        return "There is no NVIDIA card in this machine, or this process may not see it (CUDA_VISIBLE_DEVICES)."
    if status == OLD_DRIVER:
        return (
            f"The NVIDIA driver is too old for the installed CuPy ({error}): update it to version 525 or later for "
            "cupy-cuda12x, 580 or later for cupy-cuda13x."
        )
    return f"The NVIDIA card cannot be used: {error}."


def _old_driver_text(driver: int) -> str:
    version = f"{driver // 1000}.{driver % 1000 // 10}"
    return f"The NVIDIA driver supports CUDA {version}; 12.0 is the oldest: update it to version 525 or later."


def describe() -> str:
    """Description of the card, or what is missing."""
    return what_is_missing() or ", ".join([card().name, *card().facts()])


@cache
def card() -> Card:
    """The card that CuPy uses; raises an error if there is none."""
    missing = what_is_missing()
    if missing:
        raise TargetError(f"{missing} {EMULATE}")
    return Card()


class Card(Runner):
    """Compiles and runs kernels on one NVIDIA card."""

    def __init__(self) -> None:
        cupy = self.xp = _cupy()
        nvrtc = self._nvrtc = cupy.cuda.nvrtc
        properties = cupy.cuda.runtime.getDeviceProperties(cupy.cuda.Device().id)
        self.name = properties["name"].decode()
        self._shared_bytes = int(properties["sharedMemPerMultiprocessor"])
        self.arch = f"sm_{properties['major']}{properties['minor']}"
        try:
            self.version = ".".join(map(str, nvrtc.getVersion()))
        except Exception as error:
            raise TargetError(f"CuPy finds no NVRTC, the compiler ({error}): reinstall it, {INSTALL}.") from error

    def facts(self) -> tuple[str, ...]:
        """Architecture of the card, and versions of NVRTC and CuPy."""
        return self.arch, f"NVRTC {self.version}", f"CuPy {self.xp.__version__}"

    def build(self, text: Text) -> bytes:
        """Compile the text to machine code of this card."""
        # Which products are fused into sums is written in the text, so that a card rounds as a processor does. The last
        # level of optimisation needs half as much time again and makes nothing faster.
        options = [f"-arch={self.arch}", "-std=c++17", "-default-device", "-fmad=false", "-Xptxas=-O2"]
        if len(text.source) > LONG:
            return self._build_in_process(text, options)
        nvrtc = self._nvrtc
        program = nvrtc.createProgram(text.source, f"{text.name}.cu", [], [])
        try:
            nvrtc.compileProgram(program, options)
            return nvrtc.getCUBIN(program)
        except nvrtc.NVRTCError as error:
            raise TargetError(f"NVRTC {self.version} refused the kernel: {nvrtc.getProgramLog(program)}") from error
        finally:
            nvrtc.destroyProgram(program)

    def _build_in_process(self, text: Text, options: list[str]) -> bytes:
        """Compile a text in a process of its own, because NVRTC compiles one text at a time per process."""
        words = [sys.executable, "-c", COMPILE, *options]
        done = subprocess.run(words, input=text.source.encode(), capture_output=True, check=False)
        if done.returncode:
            raise TargetError(f"NVRTC {self.version} refused the kernel: {done.stderr.decode()[-2000:]}")
        return done.stdout

    def load(self, code: bytes, text_name: str, block: int, shared_bytes: int) -> Launch:
        """Load compiled code as a function of (instances, arguments)."""
        driver, module = self.xp.cuda.driver, self.xp.cuda.function.Module()
        try:
            module.load(code)
            kernel = module.get_function(text_name)
            if shared_bytes:
                driver.funcSetAttribute(kernel.ptr, DYNAMIC_SHARED, shared_bytes)
        except driver.CUDADriverError as error:
            raise TargetError(f"{self.name} does not take the kernel ({error}): give another shape.") from error

        def launch(instances: int, *arguments: Any) -> None:
            kernel((-(-instances // block),), (block,), arguments, shared_mem=shared_bytes)

        return launch

    def free_bytes(self) -> int:
        """Free memory of the driver and of CuPy's own pool [bytes]."""
        return self.xp.cuda.runtime.memGetInfo()[0] + self.xp.get_default_memory_pool().free_bytes()

    def shared_bytes(self) -> int:
        """Shared memory of one multiprocessor [bytes]."""
        return self._shared_bytes

    def seconds(self, work: Callable[[], None]) -> float:
        """Time that some work takes, by the card's own clock [s]."""
        events = [self.xp.cuda.Event(), self.xp.cuda.Event()]
        events[0].record()
        work()
        events[1].record()
        events[1].synchronize()
        return self.xp.cuda.get_elapsed_time(*events) / 1e3

    def wait(self) -> None:
        """Return when every launched kernel has ended."""
        self.xp.cuda.get_current_stream().synchronize()

    def to_host(self, array: Any) -> np.ndarray:
        """Copy an array from the card to a NumPy array."""
        return self.xp.asnumpy(array)
