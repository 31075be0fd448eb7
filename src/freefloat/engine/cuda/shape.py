"""How a kernel is laid out on the card."""

from __future__ import annotations

from dataclasses import dataclass

from freefloat.engine.graph import Graph


@dataclass(frozen=True)
class Shape:
    """Threads of a block, and how large straight-line code is kept in registers and shared memory."""

    block: int = 64  # threads
    blocks: int = 1  # of them on one multiprocessor at least
    registers: int = 0  # numbers at hand in large blocks of code; 0 leaves that to the compiler
    near: int = 0  # slots of shared memory for each thread
    again: int = 3  # operations that are repeated rather than a value stored
    order: str = "id"

    @property
    def bounds(self) -> str:
        """What the compiler is told about launches."""
        return f"__launch_bounds__({self.block}, {self.blocks})"


def shape_for(graph: Graph) -> Shape:
    """What was fastest for graphs of this size on an NVIDIA H200."""
    return Shape()
