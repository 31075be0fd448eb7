"""This host as a compilation target: its processor, its register width, IR to object code to addresses."""

from __future__ import annotations

import ctypes
import hashlib
import os
import sys
import threading
import time
from dataclasses import dataclass
from enum import Enum
from functools import cache

import llvmlite
import llvmlite.binding as llvm

SMALL = 20_000  # [lines of IR] above this the compiler is told to hurry
_LOOK = 0.5  # [s] between two looks whether the parent of a compiler process is there


@dataclass(frozen=True)
class Host:
    """What compiled code depends on besides its source."""

    triple: str
    cpu: str
    features: str
    llvmlite: str

    def has(self, feature: str) -> bool:
        """Whether the processor has an instruction set."""
        return f"+{feature}" in self.features.split(",")

    @property
    def fma(self) -> bool:
        """Whether multiply-add is one instruction."""
        return self.has("fma") or self.triple.startswith(("aarch64", "arm64"))

    @property
    def width(self) -> int:
        """Doubles in one vector register."""
        if self.has("avx512f"):
            return 8
        return 4 if self.has("avx") else 2


@cache
def host() -> Host:
    """This machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    return Host(llvm.get_process_triple(), llvm.get_host_cpu_name(), features, llvmlite.__version__)


class Setting(Enum):
    """How strongly code is optimised. It computes the same bits."""

    QUICK = "quick"
    FULL = "full"
    BY_NEED = "by need"


def code_setting() -> Setting:
    """FREEFLOAT_QUICK_CODE=1: code is there soon, 0: code is fast, not set: soon first, fast when enough runs on it."""
    chosen = os.environ.get("FREEFLOAT_QUICK_CODE", "")
    if not chosen:
        return Setting.BY_NEED
    return Setting.FULL if chosen == "0" else Setting.QUICK


def compile_object(text: str, *, quick: bool) -> bytes:
    """Object code of an IR module. The graph is simplified already: instruction selection is all it takes."""
    here = host()
    level = 0 if quick else 3 if text.count("\n") < SMALL else 1
    target = llvm.Target.from_triple(here.triple)
    machine = target.create_target_machine(
        cpu=here.cpu, features=here.features, opt=level, reloc="pic", codemodel="jitdefault"
    )
    module = llvm.parse_assembly(text)
    module.triple = here.triple
    module.data_layout = str(machine.target_data)
    return machine.emit_object(module)


class Library:
    """Object code loaded into this process."""

    def __init__(self, code: bytes) -> None:
        here = host()
        machine = llvm.Target.from_triple(here.triple).create_target_machine(cpu=here.cpu, features=here.features)
        self._engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def function(self, name: str, *types: type) -> ctypes._FuncPointer:
        """A function of the library; calling it releases the interpreter lock."""
        address = self._engine.get_function_address(name)
        if not address:
            raise LookupError(f"The object code has no function '{name}'")
        return ctypes.CFUNCTYPE(None, *types)(address)


def answer(parent: int) -> None:
    """A compiler in the background: standard input holds IR, then the digest of object code and this code.

    Nothing goes to standard output: whatever is imported may print there.
    """
    if hasattr(os, "nice"):
        os.nice(5)
    threading.Thread(target=_end_with, args=(parent,), daemon=True).start()
    with open(0, "r+b", closefd=False) as file:
        code = compile_object(file.read().decode(), quick=False)
        file.seek(0)
        file.truncate()
        file.write(hashlib.sha256(code).digest() + code)


def _end_with(parent: int) -> None:
    """End this process when its parent has: it was killed, and nobody waits for the code."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


if __name__ == "__main__":
    answer(int(sys.argv[1]))
