"""Running a campaign block after block, every finished block kept, until the end or an interruption."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freefloat.campaign.blocks import Block, compute_block
from freefloat.campaign.campaign import Campaign
from freefloat.campaign.errors import CampaignError
from freefloat.campaign.results import Results
from freefloat.campaign.store import Store
from freefloat.engine import code_of
from freefloat.sim.compiling_line import making_shown
from freefloat.sim.interruption import heard_interrupts
from freefloat.sim.record.run import versions

TARGETS = ("auto", "native", "gpu")
Progress = Callable[[int, int, float], None]  # runs done, runs in all, runs per second
Finished = tuple[int, Block, dict[str, Any]]


@dataclass(frozen=True)
class Route:
    """How and where blocks are computed."""

    target: str = "auto"  # the card where there is one, machine code otherwise
    threads: int | None = None  # None: all processors
    shard: tuple[int, int] = (1, 1)  # this part of so many
    dask: str | None = None  # address of a Dask scheduler; "local" starts workers here
    workers: int | None = None  # of those

    def __post_init__(self) -> None:
        if self.target not in TARGETS:
            raise CampaignError(f"There is no target '{self.target}'. Targets: {', '.join(TARGETS)}.")
        part, parts = self.shard
        if not 1 <= part <= parts:
            raise CampaignError(f"A shard is 1/N to N/N, got {part}/{parts}.")

    @property
    def resolved(self) -> str:
        """`native` or `gpu`."""
        if self.target != "auto":
            return self.target
        from freefloat.engine.cuda.card import what_is_missing

        return "native" if what_is_missing() else "gpu"

    def mine(self, numbers: Iterable[int]) -> list[int]:
        """The blocks of this shard."""
        part, parts = self.shard
        return [number for number in numbers if number % parts == part - 1]


def run_campaign(
    campaign: Campaign, folder: str | Path | None = None, route: Route | None = None, progress: Progress | None = None
) -> Results:
    """Compute a campaign and keep it in a folder; without one it stays in memory."""
    route = route or Route()
    if folder is None:
        everything = list(range(campaign.blocks))
        with making_shown(progress is None), _making_code(campaign):
            blocks = {n: block for n, block, _ in _computed(campaign, everything, route, progress)}
        return Results.of_blocks(campaign, [blocks[n] for n in sorted(blocks)])
    store = Store.create(Path(folder), campaign, versions())
    return _filled(campaign, store, route, progress)


def resume_campaign(
    campaign: Campaign, folder: str | Path, route: Route | None = None, progress: Progress | None = None
) -> Results:
    """Compute the blocks that are missing, or were damaged since they were written."""
    store = Store(Path(folder))
    store.require_same(campaign)
    return _filled(campaign, store, route or Route(), progress)


def _filled(campaign: Campaign, store: Store, route: Route, progress: Progress | None) -> Results:
    with store.writing(), making_shown(progress is None), _making_code(campaign):
        whole = set(store.done(check=True))
        missing = [n for n in route.mine(range(campaign.blocks)) if n not in whole]
        kept = len(whole)
        try:
            for number, block, facts in _computed(campaign, missing, route, progress):
                store.write(number, block, facts)
                kept += 1
        except OSError as error:
            raise CampaignError(
                f"{error.strerror or error}: the campaign ended with {kept} of {campaign.blocks} blocks kept in "
                f"{store.folder}. Make room, or get permission, and resume it."
            ) from error
    return Results.of_store(store)


def _making_code(campaign: Campaign) -> AbstractContextManager[None]:
    """Names the campaign in what is said while code is made."""
    return code_of(f"the campaign '{campaign.title}'" if campaign.title else "the campaign")


def _computed(campaign: Campaign, missing: list[int], route: Route, progress: Progress | None) -> Iterator[Finished]:
    """Blocks as they are finished."""
    total = sum(_size(campaign, n) for n in route.mine(range(campaign.blocks)))
    done = total - sum(_size(campaign, n) for n in missing)
    began, before = time.monotonic(), done
    for finished in _source(campaign, missing, route):
        yield finished
        done += _size(campaign, finished[0])
        if progress is not None:
            progress(done, total, (done - before) / max(time.monotonic() - began, 1e-9))


def _size(campaign: Campaign, number: int) -> int:
    return min(campaign.block, campaign.runs - number * campaign.block)


def _source(campaign: Campaign, missing: list[int], route: Route) -> Iterator[Finished]:
    if route.dask is not None:
        from freefloat.campaign.dask_route import computed_by_dask

        yield from computed_by_dask(campaign, missing, route)
        return
    target = route.resolved
    with interrupts_between_blocks() as obey:
        for number in missing:
            block = compute_block(campaign, number, target, route.threads)
            yield number, block, block_facts(campaign, target)
            obey()


def block_facts(campaign: Campaign, target: str) -> dict[str, Any]:
    """Which code made a block: with the same code its runs can be repeated bit for bit."""
    program = campaign.prepared.program.compiled(target)
    return {"target": target, "program": program.summary.hash, "machine": machine() if target == "native" else target}


def machine() -> str:
    """What bits depend on beside the program: whether the processor multiplies and adds in one instruction."""
    from freefloat.engine.llvm.machine import host

    here = host()
    return f"{here.triple.partition('-')[0]}, {'with' if here.fma else 'without'} fused multiply-add"


@contextmanager
def interrupts_between_blocks() -> Iterator[Callable[[], None]]:
    """Ctrl-C is obeyed, and so is SIGTERM, as clusters send it before they kill."""
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return

    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with heard_interrupts() as signals:
            yield signals.obey
    finally:
        signal.signal(signal.SIGTERM, before)
