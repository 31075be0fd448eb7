"""The whole IR module of a graph for one register width."""

from __future__ import annotations

from dataclasses import dataclass

from freefloat.engine.graph.program import Graph

from .drivers import emit_drivers
from .plan import PART_SIZE, CodePlan
from .regions import RegionWriter
from .straight import MemoryMap
from .text import Module


@dataclass(frozen=True)
class ModuleSource:
    """IR text of a module, and the number of slots of work space that its functions need."""

    text: str
    work_slots: int
    width: int


def emit_module(graph: Graph, width: int, *, fma: bool, part_size: int = PART_SIZE) -> ModuleSource:
    """IR module of a graph for ``width`` instances side by side."""
    plan, module = CodePlan(graph, part_size, fma), Module(width, fma)
    memory = MemoryMap(plan, module)
    for name in ("prepare", "step"):
        writer = RegionWriter.begin_function(memory, name)
        writer.block(name)
        if name == "step":
            for node, places in memory.outputs.items():
                if node.op in ("const", "in"):
                    for k in places:
                        writer.f.store(writer.value_of(node), "%out", k, node.dtype)
        writer.finish()
    emit_drivers(graph, module)
    slots = len(graph.block.ins) + len(graph.block.outs) + plan.frame_size
    return ModuleSource(module.text(), slots, width)
