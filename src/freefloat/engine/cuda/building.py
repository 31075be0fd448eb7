"""Makes a loaded kernel from a graph, by the disk cache or the compiler, and finds the fastest of several layouts."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from freefloat.engine.errors import TargetError
from freefloat.engine.graph import Graph
from freefloat.engine.runtime import cache
from freefloat.engine.runtime.making import making, without_reports
from freefloat.engine.runtime.workers import available_threads

from .kernel import Text, evaluate_text, rollout_text
from .runner import Launch, Runner
from .shape import KernelShape

WRITERS: dict[str, Callable[[Graph, KernelShape], Text]] = {"rollout": rollout_text, "evaluate": evaluate_text}


@dataclass(frozen=True)
class KernelBuilder:
    """Makes a graph's kernels for one device."""

    graph: Graph
    runner: Runner
    use_cache: bool = True
    title: Callable[[], str] = lambda: "a graph"  # name of the function in progress reports

    def kernel(self, name: str, shape: KernelShape) -> Launch:
        """Kernel of this name and layout, ready to be launched."""
        content = self._fetch_or_build(("kernel", name, shape), lambda: self._compile_kernel(name, shape))
        head, _, code = content.partition(b"\n")
        return self.runner.load(code, name, shape.block, json.loads(head)["shared_bytes"])

    def fastest(self, name: str, among: Sequence[KernelShape], seconds: Callable[[Launch], float]) -> KernelShape:
        """Fastest of several layouts; it is measured once and then read from the disk cache."""
        if len(among) == 1:
            return among[0]
        content = self._fetch_or_build(("shape", name, *among), lambda: self._measure_shapes(name, among, seconds))
        return KernelShape(**json.loads(content))

    def _measure_shapes(self, name: str, among: Sequence[KernelShape], seconds: Callable[[Launch], float]) -> bytes:
        """Fastest of several layouts as JSON, by measuring each of them."""
        with ThreadPoolExecutor(
            min(len(among), available_threads())
        ) as pool:  # the compiler runs without the interpreter lock
            kernels = list(pool.map(lambda shape: self._kernel_or_none(name, shape), among))
        times = {shape: seconds(k) for shape, k in zip(among, kernels, strict=True) if k is not None}
        if not times:
            raise TargetError("None of the kernel's layouts fits this card: give one with shape=KernelShape(...).")
        return json.dumps(asdict(min(times, key=lambda shape: times[shape]))).encode()

    def _kernel_or_none(self, name: str, shape: KernelShape) -> Launch | None:
        """Kernel of a layout; None if the layout needs more than this card has."""
        try:
            with without_reports():  # these threads work for a phase that is reported already
                return self.kernel(name, shape)
        except TargetError:
            return None

    def _fetch_or_build(self, what: tuple[object, ...], build: Callable[[], bytes]) -> bytes:
        """Content from the disk cache, built and reported where it is missing."""

        def build_and_report() -> bytes:
            with making(self.title(), "compiling"):
                return build()

        if not self.use_cache:
            return build_and_report()
        return cache.fetch(cache.key("gpu", *what, self.graph.hash, *self.runner.facts()), build_and_report)

    def _compile_kernel(self, name: str, shape: KernelShape) -> bytes:
        """A line of facts about the kernel as JSON, then its compiled code."""
        text = WRITERS[name](self.graph, shape)
        facts = {"shared_bytes": text.shared_bytes, **asdict(text.slots)}
        return json.dumps(facts).encode() + b"\n" + self.runner.build(text)
