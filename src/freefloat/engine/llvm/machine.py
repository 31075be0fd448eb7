"""This host as a compilation target: processor and register width; compiles IR to object code and loads it."""

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

SMALL = 20_000  # [lines of IR] above this the compiler optimises less
_LOOK = 0.5  # [s] between two checks that the parent of a compiler process still runs


@dataclass(frozen=True)
class Host:
    """Properties of the machine on which compiled code depends."""

    triple: str
    cpu: str
    features: str
    llvmlite: str

    def has(self, feature: str) -> bool:
        """Whether the processor has an instruction set."""
        return f"+{feature}" in self.features.split(",")

    @property
    def fma(self) -> bool:
        """Whether the processor has multiply-add as one instruction."""
        return self.has("fma") or self.triple.startswith(("aarch64", "arm64"))

    @property
    def width(self) -> int:
        """Number of doubles in one vector register."""
        if self.has("avx512f"):
            return 8
        return 4 if self.has("avx") else 2


@cache
def host() -> Host:
    """Properties of this machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    features = llvm.get_host_cpu_features().flatten()
    return Host(llvm.get_process_triple(), llvm.get_host_cpu_name(), features, llvmlite.__version__)


class CodeSetting(Enum):
    """How strongly code is optimised; the results are the same bits."""

    QUICK = "quick"
    FULL = "full"
    BY_NEED = "by need"


def code_setting() -> CodeSetting:
    """Setting by FREEFLOAT_QUICK_CODE. 1: compile quickly, 0: optimise fully, not set: quickly first, fully by need."""
    chosen = os.environ.get("FREEFLOAT_QUICK_CODE", "")
    if not chosen:
        return CodeSetting.BY_NEED
    return CodeSetting.FULL if chosen == "0" else CodeSetting.QUICK


def compile_object(text: str, *, quick: bool) -> bytes:
    """Object code of an IR module. The graph is simplified already, so instruction selection is enough."""
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
        """Function of the library by name; calling it releases the interpreter lock."""
        address = self._engine.get_function_address(name)
        if not address:
            raise LookupError(f"The object code has no function '{name}'")
        return ctypes.CFUNCTYPE(None, *types)(address)


def run_compiler(parent: int) -> None:
    """Compile the IR in the file at standard input, and overwrite it by the digest of the object code and this code.

    Standard output is not used, because imported modules may print there.
    """
    if hasattr(os, "nice"):
        os.nice(5)
    threading.Thread(target=_end_with_parent, args=(parent,), daemon=True).start()
    with open(0, "r+b", closefd=False) as file:
        code = compile_object(file.read().decode(), quick=False)
        file.seek(0)
        file.truncate()
        file.write(hashlib.sha256(code).digest() + code)


def _end_with_parent(parent: int) -> None:
    """End this process when its parent has ended, because then no process waits for the code."""
    while os.getppid() == parent:
        time.sleep(_LOOK)
    os._exit(1)


if __name__ == "__main__":
    run_compiler(int(sys.argv[1]))
