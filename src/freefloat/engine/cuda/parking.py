"""Straight-line code that keeps few values in registers: the others are set aside and fetched when they are needed.

A thread has 255 registers, room for some hundred numbers; the law of a closed loop has several hundred alive at
once. Left to itself the compiler spills them all over the code. Here the order is known and so is every later use,
so the value that is needed last gives up its register (Belady), and what can be made again from values at hand in a
few operations is not stored at all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from freefloat.engine.graph.node import Block, Node, nested

from .shape import Shape
from .slots import Slots, Stay, give_slots
from .writer import KernelWriter

LARGE = 400  # [operations] smaller blocks are left to the compiler
NEVER = 1 << 60
RARE = 0.01  # how often a branch's ways are taken, for the choice between shared and local memory
CHEAP = frozenset({"add", "sub", "mul", "neg", "abs"})


class Frame:
    """What is in registers while one block is written, and where everything is used next."""

    def __init__(self, uses: dict[Node, list[int]], resident: Iterable[Node]) -> None:
        self.uses, self.resident = uses, dict.fromkeys(resident)
        self.now = 0
        self._pointer: dict[Node, int] = defaultdict(int)

    def next_use(self, node: Node) -> int:
        """Where a value is read after the present statement."""
        uses, k = self.uses.get(node, ()), self._pointer[node]
        while k < len(uses) and uses[k] <= self.now:
            k += 1
        self._pointer[node] = k
        return uses[k] if k < len(uses) else NEVER


class ParkingWriter(KernelWriter):
    """Writes large blocks with few numbers at hand, as a shape says."""

    def __init__(self, block: Block, inputs: dict[Node, str], shape: Shape) -> None:
        super().__init__(block, inputs, shape.order)
        self.shape = shape
        self._divided = 0
        self._kept: tuple[Node, ...] = ()  # what the ways of the branch being written must leave as it was
        self.stays: list[Stay] = []
        self.home: dict[Node, int] = {}  # the stay of everything that was ever set aside
        self._time, self._times, self._names = 0, 1.0, 0
        self._frame = Frame({}, ())

    # ---- blocks
    def statements(self, block: Block, at_hand: Collection[Node]) -> list[str]:
        """A large block with few values at hand, others as they come."""
        return self._parked(block, at_hand) if block.size() > LARGE else super().statements(block, at_hand)

    def _parked(self, block: Block, at_hand: Collection[Node]) -> list[str]:
        order = [n for n in self.arranged(block) if n not in at_hand]
        uses: dict[Node, list[int]] = defaultdict(list)
        for k, node in enumerate([*order, None]):
            for a in dict.fromkeys(self.operands(node) if node else block.outs):
                if _is_number(a):
                    uses[a].append(k)
        outside, names = self._frame, dict(self.names)
        kept, self._kept = self._kept, ()
        lent = [a for a in kept if a not in self.home]
        for a in kept:
            self._store(a)
        self._frame = Frame(uses, [n for n in (*block.ins, *at_hand) if n in uses])
        for k, node in enumerate(order):
            self._frame.now = k
            self._time += 1
            if self.shape.together and not self._divided and not (k + 1) % self.shape.together:
                self.put("TOGETHER")
            self._statement(node)
        self._frame.now = len(order)
        self._time += 1
        self._fetch_all(block.outs)
        outs = [self.get(n) for n in block.outs]
        self._frame, self.names, self._kept = outside, {**self.names, **names}, kept
        for a in kept:
            self._load_back(a)
        for a in lent:  # where another way was taken they were never set aside
            del self.home[a]
        return outs

    def _statement(self, node: Node) -> None:
        frame = self._frame
        if any(b.size() > LARGE for b, _ in nested(node)):
            self._around(node)
            return
        operands = self.operands(node)
        self._fetch_all(operands)
        self._write(node)
        for a in operands:
            if a in frame.resident and frame.next_use(a) == NEVER:
                del frame.resident[a]
        if node in frame.uses:
            frame.resident[node] = None
            self._make_room(())

    def _write(self, node: Node) -> None:
        getattr(self, f"_{node.op}", self._operation)(node)

    # ---- registers
    def _fetch_all(self, nodes: Collection[Node]) -> None:
        for node in nodes:
            if _is_number(node) and node not in self._frame.resident:
                if self._effort(node, self.shape.again) <= self.shape.again:
                    self._make_again(node)
                else:
                    self._load(node)
                self._frame.resident[node] = None
                self._make_room(nodes)

    def _make_room(self, kept: Collection[Node]) -> None:
        frame = self._frame
        while len(frame.resident) > self.shape.registers:
            free = [n for n in frame.resident if n not in kept]
            if not free:
                return
            last = max(free, key=frame.next_use)
            del frame.resident[last]
            if frame.next_use(last) < NEVER:
                self._store(last)

    def _store(self, node: Node) -> None:
        if node not in self.home:
            self.home[node] = len(self.stays)
            self.stays.append(Stay(self._time, self._time, self._times))
            self.put(f"@{self.home[node]} PARK {self.names[node]}")

    def _load(self, node: Node) -> None:
        stay = self.stays[self.home[node]]
        stay.end, stay.moves, stay.loads = self._time, stay.moves + self._times, stay.loads + 1
        self.names[node] = self._new_name()
        self.put(f"@{self.home[node]} TAKE {self.names[node]}")

    def _load_back(self, node: Node) -> None:
        """Into the variable that it came from."""
        stay = self.stays[self.home[node]]
        stay.end, stay.moves, stay.loads = self._time, stay.moves + self._times, stay.loads + 1
        self.put(f"@{self.home[node]} BACK {self.names[node]}")

    def _new_name(self) -> str:
        self._names += 1
        return f"r{self._names}"

    # ---- computing again
    def _effort(self, node: Node, most: int) -> int:
        """Operations that make a value from others at hand, or NEVER if they are more than so many."""
        if node.op == "const" or node in self._frame.resident:
            return 0
        if node.op not in CHEAP or most < 1:
            return NEVER
        total = 1
        for a in self.operands(node):
            total += self._effort(a, most - total)
            if total > most:
                return NEVER
        return total

    def _make_again(self, node: Node) -> None:
        """Compute a value once more; the compiler must not notice that it had it before."""
        operands = self.operands(node)
        args = [self._argument_again(a) for a in operands]
        hide = all(a.op == "const" or a in self._frame.resident for a in operands)
        if hide:
            k = next(k for k, a in enumerate(operands) if a.op != "const")
            name = self._new_name()
            self.put(f"ANEW({name}, {args[k]})")
            args[k] = name
        self.names[node] = self._new_name()
        self.put(f"const double {self.names[node]} = {self.value(node, args)};")

    def _argument_again(self, node: Node) -> str:
        if node.op == "const" or node in self._frame.resident:
            return self.get(node)
        self._make_again(node)
        return self.names[node]

    # ---- loops and branches
    def _around(self, node: Node) -> None:
        """A node whose blocks need the registers themselves."""
        if node.op == "branch":
            self._around_branch(node)
        else:
            self._around_loop(node)

    def _around_branch(self, node: Node) -> None:
        """Who takes a large way sets aside what lives on and fetches it back at its end; who does not pays nothing."""
        frame, captured = self._frame, _captured(node)
        self._fetch_all(node.args[: _starts(node)])
        kept = [a for a in frame.resident if a in captured or frame.next_use(a) < NEVER]
        for a in kept:
            name = self._new_name()
            self.put(f"double {name} = {self.names[a]};")
            self.names[a] = name
        outer, self._kept = self._kept, tuple(kept)
        times, self._times = self._times, self._times * RARE
        self._divided += 1  # threads may part ways
        self._write(node)
        self._divided -= 1
        self._times, self._kept = times, outer
        frame.resident = dict.fromkeys(a for a in kept if frame.next_use(a) < NEVER)

    def _around_loop(self, node: Node) -> None:
        """What lives on is set aside before the first pass."""
        frame, captured = self._frame, _captured(node)
        for a in list(frame.resident):
            if a in captured or frame.next_use(a) < NEVER:
                self._store(a)
        self._fetch_all(node.args[: _starts(node)])
        frame.resident.clear()
        outer, self._kept = self._kept, ()
        times, self._times = self._times, self._times * (node.value.length if node.op == "loop" else 1)
        self._divided += node.op != "loop"
        self._write(node)
        self._divided -= node.op != "loop"
        self._times, self._kept = times, outer
        for a in captured:  # every pass reads them again
            self.stays[self.home[a]].end = self._time

    def finish(self) -> Slots:
        """Give everything that was set aside its slot, and write that into the statements."""
        slots = give_slots(self.stays, self.shape.near)
        lines = []
        for line in self.lines:
            words = line.split()
            if words[0][0] == "@":
                stay = self.stays[int(words[0][1:])]
                if not stay.loads:
                    continue
                line = f"{line[: line.index('@')]}{words[1]}{'' if stay.near else '_FAR'}({words[2]}, {stay.slot})"
            lines.append(line)
        self.lines = lines
        return slots


def _starts(node: Node) -> int:
    """How many of a node's arguments its text reads before its blocks begin."""
    if node.op == "loop":
        return node.value.carries
    return len(node.value.body.ins) if node.op == "while" else 1 + len(node.value.blocks[0].ins)


def _captured(node: Node) -> set[Node]:
    """Numbers from outside that the blocks of a node read."""
    return {c for b, _ in nested(node) for c in b.captures() if _is_number(c)}


def _is_number(node: Node) -> bool:
    return node.dtype == "f64" and node.op != "const"
