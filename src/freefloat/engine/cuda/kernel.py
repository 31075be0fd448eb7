"""The text of a kernel: every thread keeps one instance's state from the first step to the last.

All scalars lie in 8-byte words, integers and truth values as 64-bit integers, one row of instances per scalar so
that neighbouring threads read neighbouring words. Inputs that all instances share have one word instead of a row:
``places`` holds the first word and the distance between instances of every input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from freefloat.engine.ctext.expressions import TYPES, helper_text
from freefloat.engine.graph import Graph
from freefloat.engine.graph.node import Node

from . import elementary
from .independent_steps import IndependentSteps, main_loop
from .parking import ParkingWriter
from .prelude import EMULATION, HEAD
from .shape import KernelShape
from .slots import Slots
from .writer import KernelWriter


@dataclass(frozen=True)
class Text:
    """A kernel's source with the name, layout and memory slots that a launch needs."""

    source: str
    name: str
    shape: KernelShape
    slots: Slots

    @property
    def shared_bytes(self) -> int:
        """Dynamic shared memory of a block [bytes]."""
        return 8 * self.slots.near * self.shape.block


def evaluate_text(graph: Graph, shape: KernelShape) -> Text:
    """Kernel that computes the results of one call for every instance."""
    ins, outs = graph.block.ins, graph.block.outs
    writer, values, slots = _write_graph(graph, {n: f"h{k}" for k, n in enumerate(ins)}, shape, 1)
    head = [
        f"KERNEL {shape.bounds} evaluate(const double *__restrict__ inputs, const int64_t *__restrict__ places,",
        "    double *__restrict__ results, int64_t total) {",
        *_opening_lines(shape, slots),
        *_input_lines(ins, 0),
    ]
    stores = [_store("results", k, n.dtype, v) for k, (n, v) in enumerate(zip(outs, values, strict=True))]
    return _assemble("evaluate", shape, slots, writer, [*head, *writer.lines, *_indent_lines(stores, 1), "}"])


def rollout_text(graph: Graph, shape: KernelShape) -> Text:
    """Kernel that runs many steps of every instance; the state after every ``every`` steps is a row of ``records``."""
    ins, size = graph.block.ins, graph.signature.state_size
    state = ins[:size]
    loop = main_loop(graph.block)
    keep = [_store("records", k, n.dtype, f"s{k}") for k, n in enumerate(state)]
    done = [_store("states", k, n.dtype, f"s{k}") for k, n in enumerate(state)]
    record = ["if (--due == 0) {", "  due = every;", *_indent_lines(keep, 1), f"  records += {size} * total;", "}"]
    if loop is None:
        names = {n: f"x{k}" if k < size else f"h{k}" for k, n in enumerate(ins)}
        writer, values, slots = _write_graph(graph, names, shape, 2)
        rounds = [
            "  for (int64_t step = 0; step < steps; ++step) {",
            *(f"    const {TYPES[n.dtype]} x{k} = s{k};" for k, n in enumerate(state)),
            *writer.lines,
            *(f"    s{k} = {v};" for k, v in enumerate(values)),
            *_indent_lines(record, 2),
            "  }",
        ]
    else:
        writer, slots = _write_independent_steps(graph, loop, shape, record)
        rounds = ["  int64_t step = 0;", *writer.lines]
    lines = [
        f"KERNEL {shape.bounds} rollout(double *__restrict__ states, const double *__restrict__ inputs,",
        "    const int64_t *__restrict__ places, double *__restrict__ records, int64_t total, int64_t steps,",
        "    int64_t every, int64_t due) {",
        *_opening_lines(shape, slots),
        *(f"  {TYPES[n.dtype]} s{k} = {_load('states', f'{k} * total + i', n.dtype)};" for k, n in enumerate(state)),
        *_input_lines(ins, size),
        *rounds,
        *_indent_lines(done, 1),
        "}",
    ]
    return _assemble("rollout", shape, slots, writer, lines)


def _write_independent_steps(
    graph: Graph, loop: Node, shape: KernelShape, record: Sequence[str]
) -> tuple[KernelWriter, Slots]:
    """Statements of all steps whose instances advance independently, and the memory they need."""
    size, ins = graph.signature.state_size, graph.block.ins
    names = {n: f"s{k}" if k < size else f"h{k}" for k, n in enumerate(ins)}
    writer = (
        ParkingWriter(graph.block, names, shape) if shape.registers else KernelWriter(graph.block, names, shape.order)
    )

    def result_lines(values: Sequence[str]) -> list[str]:
        kinds = [TYPES[n.dtype] for n in ins[:size]]
        reached = [f"const {kind} o{k} = {v};" for k, (kind, v) in enumerate(zip(kinds, values, strict=True))]
        return [*reached, *(f"s{k} = o{k};" for k in range(size)), *record]

    IndependentSteps(writer, graph, loop).statements(result_lines)
    return writer, writer.finish() if isinstance(writer, ParkingWriter) else Slots()


def _write_graph(
    graph: Graph, names: dict[Node, str], shape: KernelShape, indent: int
) -> tuple[KernelWriter, list[str], Slots]:
    """Writer with the graph's statements, the C text of its results, and the memory they need."""
    if not shape.registers:
        plain = KernelWriter(graph.block, names, shape.order)
        plain.indent = indent
        return plain, plain.block(graph.block), Slots()
    writer = ParkingWriter(graph.block, names, shape)
    writer.indent = indent
    values = writer.block(graph.block)
    return writer, values, writer.finish()


def _opening_lines(shape: KernelShape, slots: Slots) -> list[str]:
    """First statements of every kernel: memory, and the instance of the thread."""
    return [
        f"  PARKING({max(1, slots.far)})" if shape.registers else "  SPILL_TO_SHARED",
        "  const int64_t i = (int64_t)blockIdx.x * BLOCK + threadIdx.x;",
        "  if (i >= total) return;",
    ]


def _input_lines(ins: Sequence[Node], first: int) -> list[str]:
    """Statements that load the held arguments before the first step."""
    lines = []
    for k, node in enumerate(ins[first:], start=first):
        where = f"places[{2 * k}] + i * places[{2 * k + 1}]"
        lines.append(f"  const {TYPES[node.dtype]} h{k} = {_load('inputs', where, node.dtype)};")
    return lines


def _load(array: str, index: str, dtype: str) -> str:
    if dtype == "f64":
        return f"{array}[{index}]"
    return f"({TYPES[dtype]})((const int64_t *){array})[{index}]"


def _store(array: str, row: int, dtype: str, value: str) -> str:
    if dtype == "f64":
        return f"{array}[{row} * total + i] = {value};"
    return f"((int64_t *){array})[{row} * total + i] = (int64_t)({value});"


def _indent_lines(lines: Sequence[str], depth: int) -> list[str]:
    return ["  " * depth + line for line in lines]


def _assemble(name: str, shape: KernelShape, slots: Slots, writer: KernelWriter, lines: Sequence[str]) -> Text:
    sizes = [f"#define BLOCK {shape.block}", f"#define NEAR {max(1, slots.near)}"]
    helpers = [helper_text(h).replace("static inline", "INLINE", 1) for h in sorted(writer.helpers)]
    tables = [t.replace("static const", "TABLE", 1) for t in writer.tables.values()]
    parts = [*sizes, HEAD.strip(), EMULATION.strip(), elementary.TEXT, *helpers, *tables, *lines, ""]
    return Text("\n".join(parts), name, shape, slots)
