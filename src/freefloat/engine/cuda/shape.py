"""How a kernel is laid out on the card, and which layouts are worth trying for a graph."""

from __future__ import annotations

from dataclasses import dataclass

from freefloat.engine.graph import Graph
from freefloat.engine.graph.node import Block, nested

from .independent_steps import main_loop

REGISTERS = 105  # numbers in 255 registers, with some left for addresses and for what the compiler moves
SMALL, LARGE = 800, 8000  # [operations] of the largest straight line of code: below one, above the other
RESERVED = 1024  # [bytes] of shared memory that the system takes for each block


@dataclass(frozen=True)
class Shape:
    """Threads of a block, and how large straight-line code is kept in registers and shared memory."""

    block: int = 64  # threads
    blocks: int = 1  # of them on one multiprocessor at least
    registers: int = 0  # numbers at hand in large blocks of code; 0 leaves that to the compiler
    near: int = 0  # slots of shared memory for each thread
    order: str = "written"  # of the statements; see `order`
    again: int = 3  # operations that are repeated rather than a value stored
    together: int = 0  # statements between two barriers that keep the warps in the same code; 0: none

    @property
    def bounds(self) -> str:
        """What the compiler is told about launches."""
        return f"__launch_bounds__({self.block}, {self.blocks})"


def shapes(graph: Graph, shared_bytes: int) -> list[Shape]:
    """Layouts to try, the likeliest first: each was the fastest for some loop on an NVIDIA H200.

    ``shared_bytes`` is what the blocks of one multiprocessor can have of shared memory together.
    """
    size = _straight(graph.block)

    def parked(block: int, blocks: int, order: str, **more: int) -> Shape:
        near = (shared_bytes // blocks - RESERVED) // (8 * block)
        return Shape(block, blocks, REGISTERS, near, order, **more)

    if size < SMALL:
        return [Shape()]
    if size < LARGE:
        return [
            parked(64, 4, "short"), parked(64, 4, "written"), parked(256, 1, "short", together=300),
            parked(128, 1, "written", together=100), Shape(),
        ]  # fmt: skip
    return [
        parked(256, 1, "written", together=300),
        parked(128, 1, "written", together=100),
        parked(96, 1, "written", together=1000),
    ]


def _straight(block: Block) -> int:
    """Operations of the largest straight line of code that every step runs: branches are held to be rare."""
    nodes = block.order()
    inner = [b for node in nodes for b, _ in nested(node)]
    main = main_loop(block)
    always = [b for node in nodes if node.op == "loop" or node is main for b, _ in nested(node)]
    return max([block.size() - sum(b.size() for b in inner), *map(_straight, always)])
