"""Straight-line code that keeps few values in registers: others are stored in memory and loaded when needed.

A thread has 255 registers, room for about a hundred numbers; a closed control loop has several hundred alive at once,
and the compiler alone would spill them in many places. Here the order is known and so is every later use, so the value
that is needed last gives up its register (Belady), and a value that can be computed again from values in registers in
a few operations is not stored.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from freefloat.engine.graph.node import Block, Node, inner_blocks

from .shape import KernelShape
from .slots import Slots, Stay, divide_slots
from .writer import KernelWriter

LARGE = 400  # [operations] smaller blocks are left to the compiler
NEVER = 1 << 60
RARE = 0.01  # assumed frequency of a branch's ways, for the choice between shared and local memory
CHEAP = frozenset({"add", "sub", "mul", "neg", "abs"})


class RegisterState:
    """Values in registers while one block is written, and where each value is used next."""

    def __init__(self, uses: dict[Node, list[int]], resident: Iterable[Node]) -> None:
        self.uses, self.resident = uses, dict.fromkeys(resident)
        self.now = 0
        self._pointer: dict[Node, int] = defaultdict(int)

    def next_use(self, node: Node) -> int:
        """Number of the next statement that reads a value; NEVER if there is none."""
        uses, k = self.uses.get(node, ()), self._pointer[node]
        while k < len(uses) and uses[k] <= self.now:
            k += 1
        self._pointer[node] = k
        return uses[k] if k < len(uses) else NEVER


class ParkingWriter(KernelWriter):
    """Writes large blocks with few numbers in registers, as the layout sets."""

    def __init__(self, block: Block, inputs: dict[Node, str], shape: KernelShape) -> None:
        super().__init__(block, inputs, shape.order)
        self.shape = shape
        self._divided = 0
        self._kept: tuple[Node, ...] = ()  # values that the ways of the branch being written must not change
        self.stays: list[Stay] = []
        self.home: dict[Node, int] = {}  # number of the stay of every value that was stored in memory
        self._time, self._times, self._names = 0, 1.0, 0
        self._frame = RegisterState({}, ())

    # ---- blocks
    def statements(self, block: Block, at_hand: Collection[Node]) -> list[str]:
        """Write a large block with few values in registers, and other blocks plainly."""
        return self._write_parked(block, at_hand) if block.size() > LARGE else super().statements(block, at_hand)

    def _write_parked(self, block: Block, at_hand: Collection[Node]) -> list[str]:
        """Write a block, storing values in memory where registers are not enough; return the C text of its outputs."""
        order = [n for n in self.ordered_nodes(block) if n not in at_hand]
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
        self._frame = RegisterState(uses, [n for n in (*block.ins, *at_hand) if n in uses])
        for k, node in enumerate(order):
            self._frame.now = k
            self._time += 1
            if self.shape.together and not self._divided and not (k + 1) % self.shape.together:
                self.add_line("TOGETHER")
            self._statement(node)
        self._frame.now = len(order)
        self._time += 1
        self._fetch_all(block.outs)
        outs = [self.reference(n) for n in block.outs]
        self._frame, self.names, self._kept = outside, {**self.names, **names}, kept
        for a in kept:
            self._load_back(a)
        for a in lent:  # where another way was taken they were never stored
            del self.home[a]
        return outs

    def _statement(self, node: Node) -> None:
        frame = self._frame
        if any(b.size() > LARGE for b, _ in inner_blocks(node)):
            self._write_around_blocks(node)
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
        """Bring values into registers, computed again where that is cheap and loaded otherwise."""
        for node in nodes:
            if _is_number(node) and node not in self._frame.resident:
                if self._repeat_cost(node, self.shape.again) <= self.shape.again:
                    self._compute_again(node)
                else:
                    self._load(node)
                self._frame.resident[node] = None
                self._make_room(nodes)

    def _make_room(self, kept: Collection[Node]) -> None:
        """Store the values that are needed last until enough registers are free; those in `kept` stay."""
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
            self.add_line(f"@{self.home[node]} PARK {self.names[node]}")

    def _load(self, node: Node) -> None:
        stay = self.stays[self.home[node]]
        stay.end, stay.moves, stay.loads = self._time, stay.moves + self._times, stay.loads + 1
        self.names[node] = self._new_name()
        self.add_line(f"@{self.home[node]} TAKE {self.names[node]}")

    def _load_back(self, node: Node) -> None:
        """Load a stored value into the variable that it came from."""
        stay = self.stays[self.home[node]]
        stay.end, stay.moves, stay.loads = self._time, stay.moves + self._times, stay.loads + 1
        self.add_line(f"@{self.home[node]} BACK {self.names[node]}")

    def _new_name(self) -> str:
        self._names += 1
        return f"r{self._names}"

    # ---- computing again
    def _repeat_cost(self, node: Node, most: int) -> int:
        """Number of operations that compute a value from others in registers; NEVER if that is more than `most`."""
        if node.op == "const" or node in self._frame.resident:
            return 0
        if node.op not in CHEAP or most < 1:
            return NEVER
        total = 1
        for a in self.operands(node):
            total += self._repeat_cost(a, most - total)
            if total > most:
                return NEVER
        return total

    def _compute_again(self, node: Node) -> None:
        """Compute a value again, in a way that keeps the compiler from reusing the first result."""
        operands = self.operands(node)
        args = [self._repeat_argument(a) for a in operands]
        hide = all(a.op == "const" or a in self._frame.resident for a in operands)
        if hide:
            k = next(k for k, a in enumerate(operands) if a.op != "const")
            name = self._new_name()
            self.add_line(f"ANEW({name}, {args[k]})")
            args[k] = name
        self.names[node] = self._new_name()
        self.add_line(f"const double {self.names[node]} = {self.value(node, args)};")

    def _repeat_argument(self, node: Node) -> str:
        """C text of an operand, computed again where it is not in a register."""
        if node.op == "const" or node in self._frame.resident:
            return self.reference(node)
        self._compute_again(node)
        return self.names[node]

    # ---- loops and branches
    def _write_around_blocks(self, node: Node) -> None:
        """Write a node whose inner blocks need the registers themselves."""
        if node.op == "branch":
            self._write_large_branch(node)
        else:
            self._write_large_loop(node)

    def _write_large_branch(self, node: Node) -> None:
        """Write a branch: only a large way stores the values still needed, and loads them back at its end."""
        frame, captured = self._frame, _captured_numbers(node)
        self._fetch_all(node.args[: _start_count(node)])
        kept = [a for a in frame.resident if a in captured or frame.next_use(a) < NEVER]
        for a in kept:
            name = self._new_name()
            self.add_line(f"double {name} = {self.names[a]};")
            self.names[a] = name
        outer, self._kept = self._kept, tuple(kept)
        times, self._times = self._times, self._times * RARE
        self._divided += 1  # threads may run different ways
        self._write(node)
        self._divided -= 1
        self._times, self._kept = times, outer
        frame.resident = dict.fromkeys(a for a in kept if frame.next_use(a) < NEVER)

    def _write_large_loop(self, node: Node) -> None:
        """Write a loop: values that are still needed are stored in memory before the first pass."""
        frame, captured = self._frame, _captured_numbers(node)
        for a in list(frame.resident):
            if a in captured or frame.next_use(a) < NEVER:
                self._store(a)
        self._fetch_all(node.args[: _start_count(node)])
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
        """Assign a slot to every stored value, and write the slots into the statements."""
        slots = divide_slots(self.stays, self.shape.near)
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


def _start_count(node: Node) -> int:
    """Number of arguments that the text of a node reads before its inner blocks begin."""
    if node.op == "loop":
        return node.value.carries
    return len(node.value.body.ins) if node.op == "while" else 1 + len(node.value.blocks[0].ins)


def _captured_numbers(node: Node) -> set[Node]:
    """Numbers from outside that the inner blocks of a node read."""
    return {c for b, _ in inner_blocks(node) for c in b.captures() if _is_number(c)}


def _is_number(node: Node) -> bool:
    return node.dtype == "f64" and node.op != "const"
