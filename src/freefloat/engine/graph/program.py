"""A whole traced function: its block, and the arrays its inputs and outputs came from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import prod

from .node import Block


@dataclass(frozen=True)
class Leaf:
    """Path, shape and type of one array among the arguments or results."""

    path: str
    shape: tuple[int, ...]
    dtype: str

    @property
    def size(self) -> int:
        """Number of scalars of the array."""
        return prod(self.shape)


@dataclass(frozen=True)
class GraphSignature:
    """Leaves of every argument and of the result, in flattening order."""

    arguments: tuple[tuple[Leaf, ...], ...]
    results: tuple[Leaf, ...]

    @cached_property
    def leaves(self) -> tuple[Leaf, ...]:
        """Leaves of all arguments in one sequence."""
        return tuple(leaf for argument in self.arguments for leaf in argument)

    @property
    def state_size(self) -> int:
        """Number of scalars of the first argument."""
        return sum(leaf.size for leaf in self.arguments[0]) if self.arguments else 0

    @property
    def is_step(self) -> bool:
        """Whether the result has the leaves of the first argument, so that the function can be rolled out."""
        if not self.arguments:
            return False
        state = [(leaf.shape, leaf.dtype) for leaf in self.arguments[0]]
        return bool(state) and state == [(leaf.shape, leaf.dtype) for leaf in self.results]


@dataclass(frozen=True, eq=False)
class Graph:
    """A function as scalar operations, from which the code of every target is made."""

    block: Block
    signature: GraphSignature

    @cached_property
    def operations(self) -> dict[str, int]:
        """Number of operations of one call by kind, most frequent first, with their ``total``."""
        count = self.block.operations()
        return {"total": sum(count.values()), **dict(count.most_common())}

    @cached_property
    def hash(self) -> str:
        """Hash of operations and signature; equal graphs have equal hashes on every machine."""
        from .file import digest

        return digest(self)

    def __repr__(self) -> str:
        ins, outs = len(self.block.ins), len(self.block.outs)
        return f"Graph({self.operations['total']} operations, {ins} in, {outs} out)"
