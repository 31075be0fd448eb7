"""The whole IR module of a graph for one register width."""

from __future__ import annotations

from dataclasses import dataclass

from freefloat.engine.graph.program import Graph

from .drivers import emit_drivers
from .plan import PART_SIZE, Plan
from .regions import Writer
from .straight import Memory
from .text import Module


@dataclass(frozen=True)
class Source:
    """IR text, and how many slots of work space its functions need."""

    text: str
    work_slots: int
    width: int


def emit_module(graph: Graph, width: int, *, fma: bool, part_size: int = PART_SIZE) -> Source:
    """IR for ``width`` instances side by side."""
    plan, module = Plan(graph, part_size, fma), Module(width, fma)
    memory = Memory(plan, module)
    for name in ("prepare", "step"):
        writer = Writer.begin(memory, name)
        writer.block(name)
        if name == "step":
            for node, places in memory.outputs.items():
                if node.op in ("const", "in"):
                    for k in places:
                        writer.f.store(writer.get(node), "%out", k, node.dtype)
        writer.finish()
    emit_drivers(graph, module)
    slots = len(graph.block.ins) + len(graph.block.outs) + plan.frame_size
    return Source(module.text(), slots, width)
