"""Graphs on disk: one compressed JSON file that needs neither JAX nor the traced function to load."""

from __future__ import annotations

import gzip
import hashlib
import json
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from freefloat.engine.errors import EngineError

from .node import Block, Branch, Loop, Node, While, nodes_behind
from .program import Graph, GraphSignature, Leaf

FORMAT = 1


def save(graph: Graph, path: str | Path) -> None:
    """Write a graph to one file."""
    Path(path).write_bytes(gzip.compress(_text(graph).encode(), mtime=0))


def load(path: str | Path) -> Graph:
    """Read a graph written by :func:`save`."""
    try:
        record = json.loads(gzip.decompress(Path(path).read_bytes()))
    except (gzip.BadGzipFile, EOFError, zlib.error, ValueError) as error:
        raise EngineError(f"'{path}' is no graph that `save` wrote ({error}): trace and save it again.") from error
    if record.get("format") != FORMAT:
        found = record.get("format")
        raise EngineError(f"'{path}' holds graph format {found}, this version reads {FORMAT}: trace and save it again.")
    nodes: list[Node] = []
    for number, row in enumerate(record["nodes"]):
        nodes.append(node_of_row(row, nodes, number))
    return Graph(_block_in(record["block"], nodes), _signature_in(record["signature"]))


def digest(graph: Graph) -> str:
    """Hash of everything a graph's meaning depends on."""
    return hashlib.sha256(_text(graph).encode()).hexdigest()


def _text(graph: Graph) -> str:
    numbers = _numbering(graph.block)
    record = {
        "format": FORMAT,
        "nodes": [row_of_node(n, numbers) for n in numbers],
        "block": _block_out(graph.block, numbers),
        "signature": _signature_out(graph.signature),
    }
    return json.dumps(record, separators=(",", ":"))


def _numbering(block: Block) -> dict[Node, int]:
    """Number every live node; arguments and inner blocks come before their users, in the order they were made."""
    found = nodes_behind(block.outs).union(block.ins)
    return {node: k for k, node in enumerate(sorted(found, key=lambda n: n.id))}


def row_of_node(node: Node, numbers: dict[Node, int]) -> list[Any]:
    """Plain values of a node, with other nodes given by their numbers."""
    value: Any = node.value
    if node.op == "loop":
        value = [_block_out(value.body, numbers), value.length, value.carries, value.reverse]
    elif node.op == "while":
        value = [_block_out(value.test, numbers), _block_out(value.body, numbers)]
    elif node.op == "branch":
        value = [_block_out(b, numbers) for b in value.blocks]
    return [node.op, node.dtype, [numbers[a] for a in node.args], value, node.depth]


def node_of_row(row: Sequence[Any], nodes: Sequence[Node], number: int) -> Node:
    """Node from a row of `row_of_node`, given the nodes before it."""
    op, dtype, args, value, depth = row
    return Node(op, dtype, tuple(nodes[a] for a in args), _value_in(op, value, nodes), number, depth)


def _value_in(op: str, value: Any, nodes: Sequence[Node]) -> Any:
    if op == "loop":
        return Loop(_block_in(value[0], nodes), *value[1:])
    if op == "while":
        return While(_block_in(value[0], nodes), _block_in(value[1], nodes))
    if op == "branch":
        return Branch(tuple(_block_in(b, nodes) for b in value))
    return value


def _block_out(block: Block, numbers: dict[Node, int]) -> list[Any]:
    return [[numbers[n] for n in block.ins], [numbers[n] for n in block.outs], block.depth]


def _block_in(record: list[Any], nodes: Sequence[Node]) -> Block:
    ins, outs, depth = record
    return Block(tuple(nodes[k] for k in ins), tuple(nodes[k] for k in outs), depth)


def _signature_out(signature: GraphSignature) -> Any:
    leaves = [[[a.path, list(a.shape), a.dtype] for a in argument] for argument in signature.arguments]
    return {"arguments": leaves, "results": [[r.path, list(r.shape), r.dtype] for r in signature.results]}


def _signature_in(record: Any) -> GraphSignature:
    def leaf(entry: list[Any]) -> Leaf:
        return Leaf(entry[0], tuple(entry[1]), entry[2])

    arguments = tuple(tuple(leaf(e) for e in argument) for argument in record["arguments"])
    return GraphSignature(arguments, tuple(leaf(e) for e in record["results"]))
