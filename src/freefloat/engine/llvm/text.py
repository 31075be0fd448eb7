"""LLVM IR as text, for one scalar or for several instances side by side in a vector register.

Every value has ``width`` lanes; with one lane the types are plain scalars. In memory each lane
takes eight bytes whatever its type, so a slot is ``8 * width`` bytes everywhere.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from freefloat.engine.graph.scalars import BITS, BOOL, FLOAT, is_signed

ELEMENT = {FLOAT: "double", "i32": "i32", "u32": "i32", "i64": "i64", "u64": "i64", BOOL: "i1"}


class Module:
    """Functions, declarations and constant tables of one compiled object."""

    def __init__(self, width: int, fma: bool) -> None:
        self.width, self.fma = width, fma
        self.functions: list[str] = []
        self.declarations: set[str] = set()
        self.globals: list[str] = []
        self.helpers: set[str] = set()
        self.serial = 0

    def number(self) -> int:
        """Next unused number for names of the module."""
        self.serial += 1
        return self.serial

    def text(self) -> str:
        """IR text of the whole module."""
        return "\n".join([*self.globals, *self.functions, *sorted(self.declarations), _METADATA])

    def constant_table(self, values: Sequence[float | int], dtype: str) -> str:
        """Add a read-only array of single (not per-lane) elements of eight bytes; returns its name."""
        name = f"@table{self.number()}"
        words = ", ".join(f"i64 {_word(v, dtype)}" for v in values)
        self.globals.append(f"{name} = internal constant [{len(values)} x i64] [{words}], align 64")
        return name


_METADATA = '!0 = !{!"branch_weights", i32 1, i32 100000}\n!1 = distinct !{!1}'


def _word(value: float | int, dtype: str) -> int:
    """Integer with the eight bytes of a constant in memory."""
    return struct.unpack("q", struct.pack("d", value))[0] if dtype == FLOAT else int(value)


class Function:
    """One IR function while it is written."""

    def __init__(self, module: Module, name: str, parameters: str, result: str = "void") -> None:
        self.module, self.width, self.name = module, module.width, name
        self.head = f"define internal {result} @{name}({parameters})"
        self.lines: list[str] = []
        self.label = "entry"

    # ---- types
    def type(self, dtype: str) -> str:
        """IR type of a value."""
        return ELEMENT[dtype] if self.width == 1 else f"<{self.width} x {ELEMENT[dtype]}>"

    def suffix(self, dtype: str) -> str:
        """Type suffix in the names of intrinsics."""
        element = "f64" if dtype == FLOAT else ELEMENT[dtype]
        return element if self.width == 1 else f"v{self.width}{element}"

    def splat(self, value: float | int, dtype: str = FLOAT) -> str:
        """IR text of a constant in every lane."""
        if dtype == FLOAT:
            literal = f"0x{struct.unpack('Q', struct.pack('d', value))[0]:016X}"
        elif dtype == BOOL:
            literal = "true" if value else "false"
        else:
            literal = str(int(value))
        if self.width == 1:
            return literal
        return "<" + ", ".join([f"{ELEMENT[dtype]} {literal}"] * self.width) + ">"

    # ---- instructions
    def emit_value(self, expression: str) -> str:
        """Write an instruction with a result; returns the result's name."""
        name = f"%v{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        return name

    def emit_statement(self, statement: str) -> None:
        """Write an instruction without a result."""
        self.lines.append(statement)

    def start(self, label: str) -> None:
        """Begin a basic block; the block before it must have ended."""
        self.lines.append(f"{label}:")
        self.label = label

    def jump(self, label: str) -> None:
        """End the basic block with a jump to another one."""
        self.lines.append(f"br label %{label}")

    def new_label(self, stem: str) -> str:
        """Label that was not used before."""
        return f"{stem}{self.module.number()}"

    def binary(self, instruction: str, a: str, b: str, dtype: str = FLOAT) -> str:
        """Value of a two-operand instruction."""
        return self.emit_value(f"{instruction} {self.type(dtype)} {a}, {b}")

    def fneg(self, a: str) -> str:
        """Value of -a for a double."""
        return self.emit_value(f"fneg {self.type(FLOAT)} {a}")

    def multiply_add(self, a: str, b: str, c: str) -> str:
        """Value of a*b + c, rounded once."""
        return self.intrinsic("fma", FLOAT, a, b, c)

    def intrinsic(self, name: str, dtype: str, *args: str) -> str:
        """Value of an LLVM intrinsic for arguments of one type."""
        kind, full = self.type(dtype), f"@llvm.{name}.{self.suffix(dtype)}"
        self.module.declarations.add(f"declare {kind} {full}({', '.join([kind] * len(args))})")
        return self.emit_value(f"call {kind} {full}({', '.join(f'{kind} {a}' for a in args)})")

    def select(self, condition: str, on_true: str, on_false: str, dtype: str = FLOAT) -> str:
        """Value selected from two values, lane by lane."""
        kind = self.type(dtype)
        return self.emit_value(f"select {self.type(BOOL)} {condition}, {kind} {on_true}, {kind} {on_false}")

    def any(self, condition: str) -> str:
        """Truth value: whether a condition holds in any lane."""
        if self.width == 1:
            return condition
        name = f"@llvm.vector.reduce.or.v{self.width}i1"
        self.module.declarations.add(f"declare i1 {name}({self.type(BOOL)})")
        return self.emit_value(f"call i1 {name}({self.type(BOOL)} {condition})")

    def cast(self, instruction: str, a: str, source: str, target: str) -> str:
        """Value of a conversion instruction between types."""
        return self.emit_value(f"{instruction} {self.type(source)} {a} to {self.type(target)}")

    def lanes(self, function: str, dtype: str, *args: str) -> str:
        """Value of a C function, called for every lane in turn."""
        element = ELEMENT[dtype]
        self.module.declarations.add(f"declare {element} @{function}({', '.join([element] * len(args))})")
        if self.width == 1:
            return self.emit_value(f"call {element} @{function}({', '.join(f'{element} {a}' for a in args)})")
        result = "poison"
        for lane in range(self.width):
            parts = [self.extract(a, lane, dtype) for a in args]
            value = self.emit_value(f"call {element} @{function}({', '.join(f'{element} {p}' for p in parts)})")
            result = self.insert(result, value, lane, dtype)
        return result

    def extract(self, a: str, lane: int, dtype: str) -> str:
        """Scalar of one lane of a vector."""
        return a if self.width == 1 else self.emit_value(f"extractelement {self.type(dtype)} {a}, i64 {lane}")

    def insert(self, a: str, element: str, lane: int, dtype: str) -> str:
        """Vector with one lane replaced."""
        if self.width == 1:
            return element
        return self.emit_value(f"insertelement {self.type(dtype)} {a}, {ELEMENT[dtype]} {element}, i64 {lane}")

    def everywhere(self, element: str, dtype: str) -> str:
        """Vector with one scalar in every lane."""
        if self.width == 1:
            return element
        kind = self.type(dtype)
        first = self.emit_value(f"insertelement {kind} poison, {ELEMENT[dtype]} {element}, i64 0")
        return self.emit_value(f"shufflevector {kind} {first}, {kind} poison, <{self.width} x i32> zeroinitializer")

    # ---- memory
    def address(self, pointer: str, slot: int | str) -> str:
        """Address of a slot."""
        if slot == 0:
            return pointer
        return self.emit_value(f"getelementptr inbounds [{self.width} x i64], ptr {pointer}, i64 {slot}")

    def load(self, pointer: str, slot: int | str, dtype: str) -> str:
        """Value loaded from a slot."""
        place = self.address(pointer, slot)
        if dtype == FLOAT:
            return self.emit_value(f"load {self.type(dtype)}, ptr {place}, align 8")
        word = self.emit_value(f"load {self.type('i64')}, ptr {place}, align 8")
        return word if BITS.get(dtype) == 64 else self.cast("trunc", word, "i64", dtype)

    def store(self, value: str, pointer: str, slot: int | str, dtype: str) -> None:
        """Write the store of a value into a slot."""
        place = self.address(pointer, slot)
        if dtype != FLOAT and BITS.get(dtype) != 64:
            widen = "sext" if dtype in BITS and is_signed(dtype) else "zext"
            value, dtype = self.cast(widen, value, dtype, "i64"), "i64"
        self.emit_statement(f"store {self.type(dtype)} {value}, ptr {place}, align 8")

    def finish(self) -> None:
        """Add the function to its module."""
        body = "\n".join(self.lines)
        self.module.functions.append(f"{self.head} {{\nentry:\n{body}\n}}\n")
