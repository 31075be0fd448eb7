"""A graph as a JAX function of lane arrays: every scalar is an array with one element per instance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
from jax import lax

from freefloat.engine.graph import Graph
from freefloat.engine.graph.node import Block, Node
from freefloat.engine.runtime.structure import Structure

from .functions import DTYPES, evaluate, sine_cosine


class Lanes:
    """Evaluates blocks; ``shape`` is that of every lane array."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def run(self, block: Block, inputs: Sequence[Any]) -> list[Any]:
        """Outputs of a whole graph's block."""
        return self._block(block, dict(zip(block.ins, inputs, strict=True)))

    def full(self, value: Any, dtype: str) -> Any:
        """A constant in every lane (a select between bare literals is mistyped in double precision)."""
        return jnp.full(self.shape, value, DTYPES[dtype])

    def _block(self, block: Block, values: dict[Any, Any]) -> list[Any]:
        for node in block.order():
            if node.op != "in":
                handler = getattr(self, f"_{node.op}", None)
                values[node] = handler(node, values) if handler else self._operation(node, values)
        return [self._get(n, values) for n in block.outs]

    def _get(self, node: Node, values: dict[Any, Any]) -> Any:
        return self.full(node.value, node.dtype) if node.op == "const" else values[node]

    def _operation(self, node: Node, values: dict[Any, Any]) -> Any:
        """Constants of plain sums and products stay literals: they cost no register.

        What depends on a loop counter alone stays one number for all lanes.
        """
        literal = node.op in ("add", "sub", "mul") or self._is_uniform(node, values)
        operands = [a.value if literal and a.op == "const" else self._get(a, values) for a in node.args]
        return evaluate(node, operands)

    def _is_uniform(self, node: Node, values: dict[Any, Any]) -> bool:
        counters = [values[a] for a in node.args if a.op != "const"]
        return node.op in ("iadd", "isub", "imul") and all(c.ndim == 0 for c in counters)

    def _sin(self, node: Node, values: dict[Any, Any]) -> Any:
        return self._sine_cosine(node, values)[0]

    def _cos(self, node: Node, values: dict[Any, Any]) -> Any:
        return self._sine_cosine(node, values)[1]

    def _sine_cosine(self, node: Node, values: dict[Any, Any]) -> tuple[Any, Any]:
        key = ("angle", node.args[0])
        if key not in values:
            values[key] = sine_cosine(self._get(node.args[0], values))
        return values[key]

    # ---- tables: a GPU kernel has no memory of its own to index, so a look-up is a chain of selects
    def _table(self, node: Node, values: dict[Any, Any]) -> list[Any]:
        return [a if a.op == "const" else values[a] for a in node.args]

    def _element(self, element: Any) -> Any:
        return self.full(element.value, element.dtype) if isinstance(element, Node) else element

    def _lookup(self, node: Node, values: dict[Any, Any]) -> Any:
        table, index = values[node.args[0]], self._get(node.args[1], values)
        if node.args[1].op == "const":
            return self._element(table[node.args[1].value])
        result = self._element(table[-1])
        for k in range(len(table) - 2, -1, -1):
            if table[k] is not table[k + 1]:
                result = jnp.where(index <= k, self._element(table[k]), result)
        return result

    def _update(self, node: Node, values: dict[Any, Any]) -> list[Any]:
        table, element = values[node.args[0]], self._get(node.args[2], values)
        if node.args[1].op == "const":
            return [element if k == node.args[1].value else e for k, e in enumerate(table)]
        index = self._get(node.args[1], values)
        return [jnp.where(index == k, element, self._element(e)) for k, e in enumerate(table)]

    # ---- control flow
    def _loop(self, node: Node, values: dict[Any, Any]) -> list[Any]:
        loop, n = node.value, node.value.carries
        start = [self._get(a, values) for a in node.args[:n]]
        passes = [self.full(0, o.dtype) for o in loop.body.outs[n:]] * loop.length

        def once(k: Any, carried: tuple[Any, ...]) -> tuple[Any, ...]:
            place = loop.length - 1 - k if loop.reverse else k
            counter = jnp.asarray(place, "int64")
            inner = dict(values)
            inner.update(zip(loop.body.ins, [counter, *carried[:n]], strict=True))
            outs = self._block(loop.body, inner)
            left = outs[n:]
            kept = [jnp.where(counter == i // len(left), left[i % len(left)], old) for i, old in enumerate(carried[n:])]
            return (*outs[:n], *kept)

        return list(lax.fori_loop(jnp.int32(0), jnp.int32(loop.length), once, (*start, *passes)))

    def _while(self, node: Node, values: dict[Any, Any]) -> list[Any]:
        loop = node.value
        start = tuple(self._get(a, values) for a in node.args[: len(loop.body.ins)])

        def inner(carried: tuple[Any, ...]) -> dict[Any, Any]:
            return {**values, **dict(zip(loop.body.ins, carried, strict=True))}

        def unfinished(carried: tuple[Any, ...]) -> Any:
            return self._block(loop.test, inner(carried))[0]

        def once(carried: tuple[Any, ...]) -> tuple[Any, ...]:
            going = unfinished(carried)
            outs = self._block(loop.body, inner(carried))
            return tuple(jnp.where(going, new, old) for new, old in zip(outs, carried, strict=True))

        return list(lax.while_loop(lambda c: jnp.any(unfinished(c)), once, start))

    def _branch(self, node: Node, values: dict[Any, Any]) -> list[Any]:
        blocks, which = node.value.blocks, self._get(node.args[0], values)
        ways = []
        for block in blocks:
            operands = [self._get(a, values) for a in node.args[1 : 1 + len(block.ins)]]
            ways.append(self._block(block, {**values, **dict(zip(block.ins, operands, strict=True))}))
        results = ways[-1]
        for k in range(len(blocks) - 2, -1, -1):
            chosen = ~which if node.args[0].dtype == "bool" else which <= k
            results = [jnp.where(chosen, a, b) for a, b in zip(ways[k], results, strict=True)]
        return results

    def _proj(self, node: Node, values: dict[Any, Any]) -> Any:
        return values[node.args[0]][node.value]


def as_function(graph: Graph, structure: Structure) -> Callable[..., Any]:
    """A graph as a JAX function of pytrees, for one instance."""

    def function(*args: Any) -> Any:
        flat = [jnp.asarray(leaf) for leaves in structure.flatten(args) for leaf in leaves]
        scalars = [x for leaf in flat for x in (leaf.reshape(-1)[k] for k in range(leaf.size))]
        outs = iter(Lanes(()).run(graph.block, scalars))
        leaves = [_leaf([next(outs) for _ in range(r.size)], r) for r in graph.signature.results]
        return structure.result(leaves, args[0] if args else None)

    return function


def _leaf(scalars: list[Any], leaf: Any) -> Any:
    if not scalars:
        return jnp.zeros(leaf.shape, DTYPES[leaf.dtype])
    return jnp.stack(scalars).reshape(leaf.shape)
