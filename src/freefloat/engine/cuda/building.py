"""From a graph to a loaded kernel: out of the disk cache, or compiled; and which of several layouts is the fastest."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from freefloat.engine.errors import TargetError
from freefloat.engine.graph import Graph
from freefloat.engine.runtime import cache
from freefloat.engine.runtime.making import making, unreported
from freefloat.engine.runtime.workers import available_threads

from .kernel import Text, evaluate_text, rollout_text
from .runner import Launch, Runner
from .shape import Shape

WRITERS: dict[str, Callable[[Graph, Shape], Text]] = {"rollout": rollout_text, "evaluate": evaluate_text}


@dataclass(frozen=True)
class Builder:
    """Makes a graph's kernels for one device."""

    graph: Graph
    runner: Runner
    use_cache: bool = True
    title: Callable[[], str] = lambda: "a graph"  # in reports of its making

    def kernel(self, name: str, shape: Shape) -> Launch:
        """A kernel, ready to be launched."""
        content = self._kept(("kernel", name, shape), lambda: self._compiled(name, shape))
        head, _, code = content.partition(b"\n")
        return self.runner.load(code, name, shape.block, json.loads(head)["shared_bytes"])

    def fastest(self, name: str, among: Sequence[Shape], seconds: Callable[[Launch], float]) -> Shape:
        """The layout that was fastest when it was tried; known without trying from then on."""
        if len(among) == 1:
            return among[0]
        content = self._kept(("shape", name, *among), lambda: self._tried(name, among, seconds))
        return Shape(**json.loads(content))

    def _tried(self, name: str, among: Sequence[Shape], seconds: Callable[[Launch], float]) -> bytes:
        with ThreadPoolExecutor(min(len(among), available_threads())) as pool:  # the compiler lets others run
            kernels = list(pool.map(lambda shape: self._or_none(name, shape), among))
        times = {shape: seconds(k) for shape, k in zip(among, kernels, strict=True) if k is not None}
        if not times:
            raise TargetError("None of the kernel's layouts fits this card: give one with shape=Shape(...).")
        return json.dumps(asdict(min(times, key=lambda shape: times[shape]))).encode()

    def _or_none(self, name: str, shape: Shape) -> Launch | None:
        """A layout may ask for more than this card has."""
        try:
            with unreported():  # in threads, which are waited for in a phase that is reported
                return self.kernel(name, shape)
        except TargetError:
            return None

    def _kept(self, what: tuple[object, ...], build: Callable[[], bytes]) -> bytes:
        def reported() -> bytes:
            with making(self.title(), "compiling"):
                return build()

        if not self.use_cache:
            return reported()
        return cache.fetch(cache.key("gpu", *what, self.graph.hash, *self.runner.facts()), reported)

    def _compiled(self, name: str, shape: Shape) -> bytes:
        text = WRITERS[name](self.graph, shape)
        facts = {"shared_bytes": text.shared_bytes, **asdict(text.slots)}
        return json.dumps(facts).encode() + b"\n" + self.runner.build(text)
