"""The c target: source text to be compiled elsewhere, for a facility's computer or an exported model."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, NoReturn

from freefloat.engine.errors import TargetError
from freefloat.engine.graph import Graph, Leaf
from freefloat.engine.runtime.program import Compiled
from freefloat.engine.runtime.structure import CallStructure

from .expressions import TYPES, helper_text
from .writer import Writer


class CText(Compiled):
    """One C99 file and its header. Nothing is allocated and no state is kept between calls."""

    target = "c"

    def __init__(self, graph: Graph, structure: CallStructure, *, name: str = "evaluate") -> None:
        super().__init__(graph, structure)
        if not re.fullmatch(r"[A-Za-z_]\w*", name):
            raise TargetError(f"'{name}' is no C identifier: use letters, digits and underscores.")
        self.name = name
        self._text = _source(graph, name)

    @property
    def source(self) -> str:
        """Text of the C file."""
        return self._text

    @property
    def header(self) -> str:
        """Text of the header file."""
        guard = f"{self.name.upper()}_H"
        return (
            f"#ifndef {guard}\n#define {guard}\n\n#include <stdbool.h>\n#include <stdint.h>\n\n"
            f"{_comment(self.graph)}{_prototype(self.graph, self.name)};\n\n#endif\n"
        )

    def write(self, directory: str | Path) -> tuple[Path, Path]:
        """Write ``name.c`` and ``name.h``; returns both paths."""
        folder = Path(directory)
        folder.mkdir(parents=True, exist_ok=True)
        paths = folder / f"{self.name}.c", folder / f"{self.name}.h"
        paths[0].write_text(self.source)
        paths[1].write_text(self.header)
        return paths

    def __call__(self, *args: Any, **options: Any) -> NoReturn:
        """Not possible: text must be compiled first."""
        raise TargetError("C text cannot be called: compile it with a C compiler, or use target='native'.")

    batch = rollout_chunks = rollout_batch = __call__


def _source(graph: Graph, name: str) -> str:
    inputs, first = {}, 0
    for number, leaf in enumerate(graph.signature.leaves):
        for k in range(leaf.size):
            inputs[graph.block.ins[first + k]] = f"in{number}[{k}]"
        first += leaf.size
    writer = Writer(graph.block, inputs)
    outs = iter(writer.block(graph.block))
    stores = []
    for number, leaf in enumerate(graph.signature.results):
        stores += [f"  out{number}[{k}] = {next(outs)};" for k in range(leaf.size)]
    helpers = [helper_text(h) for h in sorted(writer.helpers)]
    includes = [f'#include "{name}.h"', "", "#include <math.h>", "#include <string.h>", ""]
    body = [f"{_prototype(graph, name)} {{", *writer.lines, *stores, "}", ""]
    return "\n".join([*includes, *helpers, *writer.tables.values(), *body])


def _prototype(graph: Graph, name: str) -> str:
    ins = [f"const {TYPES[leaf.dtype]} *in{k}" for k, leaf in enumerate(graph.signature.leaves)]
    outs = [f"{TYPES[leaf.dtype]} *out{k}" for k, leaf in enumerate(graph.signature.results)]
    return f"void {name}({', '.join(ins + outs) or 'void'})"


def _comment(graph: Graph) -> str:
    """C comment that says which argument or result each pointer holds."""

    def line(stem: str, number: int, what: str, leaf: Leaf) -> str:
        return f" * {stem}{number}: {what}{leaf.path if leaf.path != '.' else ''}, {list(leaf.shape)}"

    lines, number = [], 0
    for k, argument in enumerate(graph.signature.arguments):
        for leaf in argument:
            lines.append(line("in", number, f"argument {k}", leaf))
            number += 1
    lines += [line("out", k, "result", leaf) for k, leaf in enumerate(graph.signature.results)]
    return "/* Arrays in row-major order; results must not overlap arguments.\n" + "\n".join(lines) + "\n */\n"
