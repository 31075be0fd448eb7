"""Where the time of a process goes: imports, tracing, compiling, and the rest, without counting anything twice.

It replaces functions of the engine by name as their modules are imported, and leaves out what a checkout has not.
Processor time is that of this process: compilers in the background are processes of their own and are not counted.
"""

import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Any

KINDS = ("import", "trace", "compile", "own")
ENGINE = "freefloat.engine."
# What is timed, by module: name, or Class.name; and as what.
TIMED = {
    ENGINE + "jaxprs.tracing": {"trace_with_result": "trace"},
    ENGINE + "graph.program": {"Graph.hash": "compile"},
    ENGINE + "runtime.code": {"TieredCode._make_code": "compile", "compile_object": "compile", "Library": "compile"},
    ENGINE + "runtime.native": {"emit_module": "compile", "compile_object": "compile", "Library": "compile"},
}

Times = dict[str, list[float]]  # by kind: [processor, clock], seconds


class Clock:
    """Gives the time that passes to the innermost of the kinds of work that are under way."""

    def __init__(self) -> None:
        self._open = ["own"]
        self._times: Times = {kind: [0.0, 0.0] for kind in KINDS}
        self._times["own"][0] = time.process_time()  # the start of Python itself
        self._last = time.process_time(), time.perf_counter()

    def _tick(self) -> None:
        now = time.process_time(), time.perf_counter()
        for place in range(2):
            self._times[self._open[-1]][place] += now[place] - self._last[place]
        self._last = now

    def times(self) -> Times:
        """So far."""
        self._tick()
        return {kind: list(pair) for kind, pair in self._times.items()}

    def of(self, work: Callable[[], Any]) -> Times:
        """What a piece of work takes."""
        before = self.times()
        work()
        after = self.times()
        return {kind: [b - a for a, b in zip(before[kind], after[kind], strict=True)] for kind in KINDS}

    def timed(self, function: Callable[..., Any], kind: str) -> Callable[..., Any]:
        """The function, with its time given to a kind of work."""

        @wraps(function, updated=())
        def call(*args: Any, **options: Any) -> Any:
            self._tick()
            self._open.append(kind)
            try:
                return function(*args, **options)
            finally:
                self._tick()
                self._open.pop()

        return call

    def _time_module(self, module: Any, names: dict[str, str]) -> None:
        for name, kind in names.items():
            *owner, name = name.split(".")
            holder = getattr(module, owner[0], None) if owner else module
            found = vars(holder).get(name) if holder is not None else None
            if callable(found):
                setattr(holder, name, self.timed(found, kind))
            elif hasattr(found, "func"):  # a cached property
                found.func = self.timed(found.func, kind)
            elif isinstance(found, property) and found.fget:
                setattr(holder, name, property(self.timed(found.fget, kind)))

    def start(self) -> None:
        """Listen to every import from now on."""
        importing: Any = sys.modules["_frozen_importlib"]  # where the import statement finds its implementation
        load = self.timed(importing._find_and_load, "import")
        done: set[str] = set()

        def find_and_load(name: str, by: Any) -> Any:
            module = load(name, by)
            if name in TIMED and name not in done:
                done.add(name)
                self._time_module(module, TIMED[name])
            return module

        importing._find_and_load = find_and_load
