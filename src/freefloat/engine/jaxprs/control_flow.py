"""Rules for calls, scans, conditions and while loops."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from freefloat.engine.graph import Block, Branch, Builder, Loop, Node, While

from .arrays import Array, is_symbolic, object_array
from .interpreter import Tracer
from .rules import rule

CALLS = (
    "jit",
    "pjit",
    "closed_call",
    "core_call",
    "remat",
    "remat2",
    "checkpoint",
    "custom_jvp_call",
    "custom_vjp_call",
)


@rule(*CALLS, "custom_vjp_call_jaxpr", "custom_lin", "xla_call", "run_state")
def _(tracer: Tracer, eqn: Any, *args: Array) -> list[Array]:
    """A function called inside is written out in place."""
    p = eqn.params
    inner = next(p[key] for key in ("jaxpr", "call_jaxpr", "fun_jaxpr") if key in p)
    return tracer.run_closed(inner, args)


@rule("custom_linear_solve")
def _(tracer: Tracer, eqn: Any, *args: Array) -> list[Array]:
    lengths, solve = eqn.params["const_lengths"], eqn.params["jaxprs"].solve
    first = lengths.matvec + lengths.vecmat
    return tracer.run_closed(solve, [*args[first : first + lengths.solve], *args[sum(lengths) :]])


@contextmanager
def _inside(b: Builder) -> Iterator[None]:
    b.level += 1
    try:
        yield
    finally:
        b.level -= 1


def _flat(tracer: Tracer, arrays: Sequence[Array]) -> list[Node]:
    return [n for a in arrays for n in tracer.nodes(np.asarray(a)).ravel()]


def _shaped(nodes: Sequence[Node], avals: Sequence[Any]) -> list[Array]:
    """Consecutive nodes as arrays of the given shapes."""
    result, k = [], 0
    for aval in avals:
        size = int(np.prod(aval.shape))
        part = list(nodes[k : k + size])
        result.append(object_array(part, aval.shape) if size else np.zeros(aval.shape, aval.dtype))
        k += size
    return result


@rule("scan")
def _(tracer: Tracer, eqn: Any, *args: Array) -> list[Array]:
    p = eqn.params
    n_const, n_carry = _scan_groups(p, len(args))
    scan = _Scan(tracer, p["jaxpr"], p["length"], p["reverse"], args[:n_const], n_carry)
    return scan.run(list(args[n_const : n_const + n_carry]), list(args[n_const + n_carry :]))


def _scan_groups(params: dict[str, Any], count: int) -> tuple[int, int]:
    """How many operands of a scan are constants and how many are carried."""
    if "num_consts" in params:
        return params["num_consts"], params["num_carry"]
    # Since JAX 0.11 the operands come as one tree of (constants, carry, scanned).
    consts, carry, _ = (list(part) for part in params["ft_in"].update(range(count)).unpack())
    return len(consts), len(carry)


class _Scan:
    """A scan: written out when small, else a loop whose carried values live in memory."""

    def __init__(
        self, tracer: Tracer, body: Any, length: int, reverse: bool, consts: Sequence[Array], n_carry: int
    ) -> None:
        self.tracer, self.body, self.length, self.reverse = tracer, body, length, reverse
        self.consts, self.n_carry = list(consts), n_carry
        self.out_avals = list(body.out_avals)
        self.carry_avals = self.out_avals[:n_carry]

    def run(self, carry: list[Array], xs: list[Array]) -> list[Array]:
        """Final carry, then the results of all passes stacked."""
        if self.length <= 1:
            return self._unrolled(carry, xs)
        start = _flat(self.tracer, carry)
        loop, varying = self._traced(start, xs)
        if loop.body.size() * self.length <= self.tracer.budget.unroll:
            return self._unrolled(carry, xs)
        return self._results(self.tracer.b.loop(loop, tuple(start[k] for k in varying)), start, varying, loop)

    def _unrolled(self, carry: list[Array], xs: list[Array]) -> list[Array]:
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

    def _traced(self, start: list[Node], xs: list[Array]) -> tuple[Loop, list[int]]:
        """The loop, and which carried scalars really vary.

        A scalar that starts as a constant and comes out of the body as that constant stays one: the
        zeros of a derivative survive the loop. Assume it of all, drop those that break it, repeat.
        """
        fixed = {k for k, n in enumerate(start) if n.op == "const"}
        while True:
            with _inside(self.tracer.b):
                counter, ins, outs = self._body(start, fixed, xs)
                broken = {k for k in fixed if outs[k] is not start[k]}
                fixed -= broken
                if broken:
                    continue
                varying = [k for k in range(len(start)) if k not in fixed]
                kept = [outs[k] for k in varying] + outs[len(start) :]
                block = self.tracer.b.block([counter, *(ins[k] for k in varying)], kept)
                return Loop(block, self.length, len(varying), self.reverse), varying

    def _body(self, start: list[Node], fixed: set[int], xs: list[Array]) -> tuple[Node, dict[int, Node], list[Node]]:
        b = self.tracer.b
        counter = b.input(0, "i64")
        varying = [k for k in range(len(start)) if k not in fixed]
        ins = {k: b.input(1 + place, start[k].dtype) for place, k in enumerate(varying)}
        carry = _shaped([ins.get(k, n) for k, n in enumerate(start)], self.carry_avals)
        slices = [self._slice(x, counter) for x in xs]
        outs = self.tracer.run_closed(self.body, [*self.consts, *carry, *slices])
        return counter, ins, _flat(self.tracer, outs)

    def _slice(self, x: Array, counter: Node) -> Array:
        """This pass's part of a scanned array, loaded from memory at the counter."""
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

    def _results(self, out: list[Node], start: list[Node], varying: list[int], loop: Loop) -> list[Array]:
        final = list(start)
        for place, k in enumerate(varying):
            final[k] = out[place]
        passes = out[loop.carries :]
        per_pass = len(passes) // self.length
        results, first = _shaped(final, self.carry_avals), 0
        for aval in self.out_avals[self.n_carry :]:
            size = int(np.prod(aval.shape))
            rows = [passes[k * per_pass + first + j] for k in range(self.length) for j in range(size)]
            shape = (self.length, *aval.shape)
            results.append(object_array(rows, shape) if size else np.zeros(shape, aval.dtype))
            first += size
        return results


@rule("cond")
def _(tracer: Tracer, eqn: Any, index: Array, *args: Array) -> list[Array]:
    branches = eqn.params["branches"]
    if not is_symbolic(index):
        return tracer.run_closed(branches[min(max(int(index), 0), len(branches) - 1)], args)
    avals = [v.aval for v in eqn.outvars]
    which = _condition(tracer.b, index[()])
    blocks, operands = _branch_blocks(tracer, branches, args)
    if sum(block.size() for block in blocks) <= tracer.budget.branch:
        outs = [_flat(tracer, tracer.run_closed(branch, args)) for branch in branches]
        return _shaped([_choose(tracer.b, which, values) for values in zip(*outs, strict=True)], avals)
    return _shaped(tracer.b.branch(Branch(tuple(blocks)), which, tuple(operands)), avals)


def _condition(b: Builder, index: Node) -> Node:
    """The truth value behind an index that was converted from one."""
    if index.op == "select" and index.args[1] is b.constant(1, "i32") and index.args[2] is b.constant(0, "i32"):
        return index.args[0]
    return index


def _choose(b: Builder, which: Node, values: Sequence[Node]) -> Node:
    if which.dtype == "bool":
        return b.select(which, values[1], values[0])
    result = values[-1]
    for k in range(len(values) - 2, -1, -1):
        result = b.select(b.compare("le", which, b.constant(k, which.dtype)), values[k], result)
    return result


def _branch_blocks(tracer: Tracer, branches: Any, args: Sequence[Array]) -> tuple[list[Block], list[Node]]:
    """Each branch over fresh inputs that stand for the operands (known numbers stay known)."""
    b = tracer.b
    with _inside(b):
        stand_ins: list[Array] = []
        ins: list[Node] = []
        for a in args:
            fresh = [b.input(len(ins) + k, n.dtype) for k, n in enumerate(a.ravel())] if is_symbolic(a) else []
            stand_ins.append(object_array(fresh, a.shape) if is_symbolic(a) else a)
            ins += fresh
        blocks = [b.block(ins, _flat(tracer, tracer.run_closed(branch, stand_ins))) for branch in branches]
    return blocks, [n for a in args if is_symbolic(a) for n in a.ravel()]


@rule("while")
def _(tracer: Tracer, eqn: Any, *args: Array) -> list[Array]:
    """A loop until a test fails; with everything known it runs now."""
    p, b = eqn.params, tracer.b
    n_test, n_body = p["cond_nconsts"], p["body_nconsts"]
    test_consts, body_consts, carry = args[:n_test], args[n_test : n_test + n_body], args[n_test + n_body :]
    avals = [v.aval for v in eqn.outvars]
    start = _flat(tracer, carry)
    if not any(map(is_symbolic, args)):
        return tracer._evaluate(eqn, list(args))
    with _inside(b):
        ins = [b.input(k, n.dtype) for k, n in enumerate(start)]
        inner = _shaped(ins, avals)
        test = b.block(ins, _flat(tracer, tracer.run_closed(p["cond_jaxpr"], [*test_consts, *inner])))
        body = b.block(ins, _flat(tracer, tracer.run_closed(p["body_jaxpr"], [*body_consts, *inner])))
    return _shaped(b.while_loop(While(test, body), tuple(start)), avals)
