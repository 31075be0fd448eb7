"""Layouts of a kernel on the card, and those that are worth trying for a graph."""

from __future__ import annotations

from dataclasses import dataclass

from freefloat.engine.graph import Graph
from freefloat.engine.graph.node import Block, inner_blocks

from .independent_steps import main_loop

REGISTERS = 105  # numbers in 255 registers, with some left for addresses and for what the compiler moves
SMALL, LARGE = 800, 8000  # [operations] of the largest straight line of code: below one, above the other
RESERVED = 1024  # [bytes] of shared memory that the system takes for each block


@dataclass(frozen=True)
class KernelShape:
    """Layout of a kernel: threads of a block, and use of registers and shared memory by large straight-line code."""

    block: int = 64  # threads
    blocks: int = 1  # least number of blocks on one multiprocessor
    registers: int = 0  # numbers kept in registers in large blocks of code; 0: the compiler decides
    near: int = 0  # slots of shared memory for each thread
    order: str = "written"  # order of the statements; see `order`
    again: int = 3  # most operations that are repeated instead of storing a value
    together: int = 0  # statements between two barriers that keep the warps in the same code; 0: none

    @property
    def bounds(self) -> str:
        """Launch bounds in the kernel's text, for the compiler."""
        return f"__launch_bounds__({self.block}, {self.blocks})"


def shapes(graph: Graph, shared_bytes: int) -> list[KernelShape]:
    """Layouts to try, the most likely first: each was the fastest for some loop on an NVIDIA H200.

    ``shared_bytes`` is the shared memory of all blocks of one multiprocessor together.
    """
    size = _straight_size(graph.block)

    def layout(block: int, blocks: int, order: str, **more: int) -> KernelShape:
        near = (shared_bytes // blocks - RESERVED) // (8 * block)
        return KernelShape(block, blocks, REGISTERS, near, order, **more)

    if size < SMALL:
        return [KernelShape()]
    if size < LARGE:
        return [
            layout(64, 4, "short"), layout(64, 4, "written"), layout(256, 1, "short", together=300),
            layout(128, 1, "written", together=100), KernelShape(),
        ]  # fmt: skip
    return [
        layout(256, 1, "written", together=300),
        layout(128, 1, "written", together=100),
        layout(96, 1, "written", together=1000),
    ]


def _straight_size(block: Block) -> int:
    """Number of operations of the largest straight-line code that every step runs; branches count as rare."""
    nodes = block.order()
    inner = [b for node in nodes for b, _ in inner_blocks(node)]
    main = main_loop(block)
    always = [b for node in nodes if node.op == "loop" or node is main for b, _ in inner_blocks(node)]
    return max([block.size() - sum(b.size() for b in inner), *map(_straight_size, always)])
