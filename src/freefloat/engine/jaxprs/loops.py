"""Rules for loops: scans of known length, and while loops that end by a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import numpy as np

from freefloat.engine.graph import Builder, Loop, Node, While
from freefloat.engine.graph.replay import replay

from .arrays import DTYPES, Array, fold_constants, is_symbolic, object_array
from .interpreter import Tracer
from .rules import rule


@contextmanager
def at_level(b: Builder, level: int) -> Iterator[None]:
    """Within this context, nodes are made at a given level, for a block around the present one."""
    before, b.level = b.level, level
    try:
        yield
    finally:
        b.level = before


def inner_level(b: Builder) -> AbstractContextManager[None]:
    """Within this context, nodes are traced one level deeper, for a block inside the present one."""
    return at_level(b, b.level + 1)


def flat_nodes(tracer: Tracer, arrays: Sequence[Array]) -> list[Node]:
    """Nodes of all elements of several arrays, in one list."""
    return [n for a in arrays for n in tracer.nodes(np.asarray(a)).ravel()]


def nodes_to_arrays(nodes: Sequence[Node], avals: Sequence[Any]) -> list[Array]:
    """Split consecutive nodes into arrays of the given types."""
    result, k = [], 0
    for aval in avals:
        shape = element_shape(aval)
        size = int(np.prod(shape))
        part = object_array(list(nodes[k : k + size]), shape) if size else np.zeros(shape, aval.dtype)
        result.append(fold_constants(part, aval.dtype) if aval.dtype in DTYPES else part)
        k += size
    return result


def element_shape(aval: Any) -> tuple[int, ...]:
    """Shape of the array of nodes for a type: random keys have their words as a last axis."""
    return (*aval.shape, *aval.dtype._impl.key_shape) if hasattr(aval.dtype, "_impl") else tuple(aval.shape)


class Carry:
    """The scalars that a loop carries and that vary, found from its body, which is traced once.

    A scalar that starts as a constant and leaves the body as that constant stays a constant: so the zeros
    of a derivative remain after the loop. This is assumed of all scalars; those that break it are dropped
    and the test is repeated. A scalar that leaves the body unchanged is not carried either.
    """

    def __init__(self, b: Builder, start: list[Node], trace: Callable[[list[Node]], list[Node]]) -> None:
        self.b, self.start = b, start
        ins = [b.input(k, n.dtype) for k, n in enumerate(start)]
        traced = trace(ins)
        self.fixed = {k for k, n in enumerate(start) if n.op == "const" or traced[k] is ins[k]}
        broken: set[int] = set()
        while True:
            self.ins = {k: n for k, n in enumerate(ins) if k not in self.fixed}
            self.outs = replay(b, traced, {ins[k]: start[k] for k in self.fixed})
            wrong = {k for k in self.fixed if self.outs[k] is not start[k]}
            unchanged = {k for k, n in self.ins.items() if self.outs[k] is n} - broken
            broken |= wrong
            if not wrong and not unchanged:
                return
            self.fixed = self.fixed - wrong if wrong else self.fixed | unchanged

    def varying(self, values: Sequence[Node]) -> list[Node]:
        """Select the values of the scalars that vary from one value for each scalar."""
        return [values[k] for k in self.ins]

    def final(self, results: Sequence[Node]) -> list[Node]:
        """Value of each scalar after the loop, from the results of those that vary."""
        found = dict(zip(self.ins, results, strict=True))
        return [found.get(k, n) for k, n in enumerate(self.start)]


@rule("scan")
def _(tracer: Tracer, eqn: Any, *args: Array) -> list[Array]:
    p = eqn.params
    n_const, n_carry = _scan_groups(p, len(args))
    scan = ScanLoop(tracer, p["jaxpr"], p["length"], p["reverse"], args[:n_const], n_carry)
    return scan.run(list(args[n_const : n_const + n_carry]), list(args[n_const + n_carry :]))


def _scan_groups(params: dict[str, Any], count: int) -> tuple[int, int]:
    """Number of constant operands and number of carried operands of a scan."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    # Since JAX 0.11 the operands come as one tree of (constants, carry, scanned).
    consts, carry, _ = (list(part) for part in params["ft_in"].update(range(count)).unpack())
    return len(consts), len(carry)


class ScanLoop:
    """A scan: unrolled when small, else a loop with its carried values in memory."""

    def __init__(
        self, tracer: Tracer, body: Any, length: int, reverse: bool, consts: Sequence[Array], n_carry: int
    ) -> None:
        self.tracer, self.body, self.length, self.reverse = tracer, body, length, reverse
        self.consts, self.n_carry = list(consts), n_carry
        self.carry_avals = list(body.out_avals[:n_carry])

    @property
    def out_avals(self) -> list[Any]:
        """Types of the results of a pass; for a body that is a Python function they are known after tracing it."""
        return list(self.body.out_avals)

    def run(self, carry: list[Array], xs: list[Array]) -> list[Array]:
        """Final carried arrays, then the stacked results of all passes."""
        if self.length <= 1:
            return self._unroll_passes(carry, xs)
        loop, carried = self._trace_loop(flat_nodes(self.tracer, carry), xs)
        if loop.body.size() * self.length <= self.tracer.budget.unroll:
            return self._unroll_passes(carry, xs)
        out = self.tracer.b.loop(loop, tuple(carried.varying(carried.start)))
        return self._results(carried.final(out[: loop.carries]), out[loop.carries :])

    def _unroll_passes(self, carry: list[Array], xs: list[Array]) -> list[Array]:
        """Results of `run` with every pass traced separately."""
        places = range(self.length)[:: -1 if self.reverse else 1]
        passes: dict[int, list[Array]] = {}
        for k in places:
            out = self.tracer.run_closed(self.body, [*self.consts, *carry, *(x[k, ...] for x in xs)])
            carry, passes[k] = out[: self.n_carry], out[self.n_carry :]
        stacked = []
        for j, aval in enumerate(self.out_avals[self.n_carry :]):
            if not self.length:
                stacked.append(np.zeros((0, *aval.shape), aval.dtype))
                continue
            rows = [passes[k][j] for k in range(self.length)]
            rows = [self.tracer.nodes(r) for r in rows] if any(map(is_symbolic, rows)) else rows
            stacked.append(np.stack(rows))
        return [*carry, *stacked]

    def _trace_loop(self, start: list[Node], xs: list[Array]) -> tuple[Loop, Carry]:
        """Loop with its body traced once, and the scalars that it carries."""
        b = self.tracer.b
        with inner_level(b):
            counter = b.input(0, "i64")
            slices = [self._row_at(x, counter) for x in xs]

            def body(values: list[Node]) -> list[Node]:
                carried = nodes_to_arrays(values, self.carry_avals)
                return flat_nodes(self.tracer, self.tracer.run_closed(self.body, [*self.consts, *carried, *slices]))

            carry = Carry(b, start, body)
            outs = carry.varying(carry.outs) + carry.outs[len(start) :]
            block = b.block([counter, *carry.ins.values()], outs)
        return Loop(block, self.length, len(carry.ins), self.reverse), carry

    def _row_at(self, x: Array, counter: Node) -> Array:
        """Row of a scanned array for the present pass, loaded from memory at the counter."""
        b, shape = self.tracer.b, x.shape[1:]
        size = int(np.prod(shape))
        if not size:
            return np.zeros(shape, x.dtype)
        rows = self.tracer.nodes(x).reshape(self.length, size)
        position = b.integer("imul", counter, b.constant(size, "i64"))
        table = b.table(tuple(rows.ravel()))
        same = [all(r is rows[0, j] for r in rows[:, j]) for j in range(size)]
        parts = [
            rows[0, j] if same[j] else b.lookup(table, b.integer("iadd", position, b.constant(j, "i64")))
            for j in range(size)
        ]
        return object_array(parts, shape)

    def _results(self, final: list[Node], passes: list[Node]) -> list[Array]:
        per_pass = len(passes) // self.length
        results, first = nodes_to_arrays(final, self.carry_avals), 0
        for aval in self.out_avals[self.n_carry :]:
            size = int(np.prod(element_shape(aval)))
            rows = [passes[k * per_pass + first + j] for k in range(self.length) for j in range(size)]
            shape = (self.length, *element_shape(aval))
            results.append(object_array(rows, shape) if size else np.zeros(shape, aval.dtype))
            first += size
        return results


@rule("while")
def _(tracer: Tracer, eqn: Any, *args: Array) -> list[Array]:
    """Rule for `while`; if all operands are known, JAX runs the loop now."""
    if not any(map(is_symbolic, args)):
        return tracer._evaluate(eqn, list(args))
    p, b = eqn.params, tracer.b
    n_test, n_body = p["cond_nconsts"], p["body_nconsts"]
    test_consts, body_consts, start = args[:n_test], args[n_test : n_test + n_body], args[n_test + n_body :]
    avals = [v.aval for v in eqn.outvars]

    def run(jaxpr: Any, consts: Sequence[Array], values: list[Node]) -> list[Node]:
        return flat_nodes(tracer, tracer.run_closed(jaxpr, [*consts, *nodes_to_arrays(values, avals)]))

    with inner_level(b):
        carry = Carry(b, flat_nodes(tracer, start), lambda values: run(p["body_jaxpr"], body_consts, values))
        inner = [carry.ins.get(k, n) for k, n in enumerate(carry.start)]
        ins = list(carry.ins.values())
        test = b.block(ins, run(p["cond_jaxpr"], test_consts, inner))
        body = b.block(ins, carry.varying(carry.outs))
    return nodes_to_arrays(carry.final(b.while_loop(While(test, body), tuple(carry.varying(carry.start)))), avals)
