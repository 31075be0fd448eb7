"""Run a campaign block by block, storing every finished block, until the end or an interruption."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from freefloat.campaign.blocks import RunBlock, columns_of, compute_block
from freefloat.campaign.campaign import Campaign
from freefloat.campaign.errors import CampaignError
from freefloat.campaign.removal import holds_campaign, remove_campaign
from freefloat.campaign.results import Results
from freefloat.campaign.store import Store
from freefloat.engine import code_of
from freefloat.sim.compiling_line import show_on_terminal
from freefloat.sim.interruption import catch_interrupts
from freefloat.sim.record.run import versions
from freefloat.values.signal_handlers import signal_handlers

TARGETS = ("auto", "native", "gpu")
CampaignProgress = Callable[[int, int, float], None]  # runs done, runs in all, runs per second
FinishedBlock = tuple[int, RunBlock, dict[str, Any]]


@dataclass(frozen=True)
class Route:
    """How and where blocks are computed."""

    target: str = "auto"  # the card where there is one, machine code otherwise
    threads: int | None = None  # None: all processors
    shard: tuple[int, int] = (1, 1)  # (part, number of parts)
    dask: str | None = None  # address of a Dask scheduler; "local" starts workers here
    workers: int | None = None  # number of Dask workers to start here

    def __post_init__(self) -> None:
        if self.target not in TARGETS:
            raise CampaignError(f"There is no target '{self.target}'. Targets: {', '.join(TARGETS)}.")
        part, parts = self.shard
        if not 1 <= part <= parts:
            raise CampaignError(f"A shard is 1/N to N/N, got {part}/{parts}.")

    @property
    def resolved_target(self) -> str:
        """The target that is used, `native` or `gpu`."""
        if self.target != "auto":
            return self.target
        from freefloat.engine.cuda.card import what_is_missing

        return "native" if what_is_missing() else "gpu"

    def shard_blocks(self, numbers: Iterable[int]) -> list[int]:
        """Numbers of the blocks of this shard."""
        part, parts = self.shard
        return [number for number in numbers if number % parts == part - 1]


def run_campaign(
    campaign: Campaign,
    folder: str | Path | None = None,
    route: Route | None = None,
    progress: CampaignProgress | None = None,
    *,
    replace: bool = False,
) -> Results:
    """Compute a campaign and store it in a folder; without a folder it stays in memory.

    `replace`: another campaign in the folder is removed, once this one is known to be possible.
    """
    route = route or Route()
    if folder is None:
        everything = list(range(campaign.blocks))
        with show_on_terminal(progress is None), _label_code(campaign):
            blocks = {n: block for n, block, _ in _compute_blocks(campaign, everything, route, progress)}
        return Results.of_blocks(campaign, [blocks[n] for n in sorted(blocks)])
    folder = Path(folder)
    if replace and holds_campaign(folder):
        columns_of(campaign)  # an impossible campaign is an error here, while the other one still exists
        remove_campaign(folder)
    store = Store.create(folder, campaign, versions())
    return _fill_store(campaign, store, route, progress)


def resume_campaign(
    campaign: Campaign, folder: str | Path, route: Route | None = None, progress: CampaignProgress | None = None
) -> Results:
    """Compute the blocks of a store that are missing or damaged."""
    store = Store(Path(folder))
    store.require_same(campaign)
    return _fill_store(campaign, store, route or Route(), progress)


def _fill_store(campaign: Campaign, store: Store, route: Route, progress: CampaignProgress | None) -> Results:
    with store.writing(), show_on_terminal(progress is None), _label_code(campaign):
        whole = set(store.finished_blocks(check=True))
        missing = [n for n in route.shard_blocks(range(campaign.blocks)) if n not in whole]
        kept = len(whole)
        try:
            for number, block, facts in _compute_blocks(campaign, missing, route, progress):
                store.write(number, block, facts)
                kept += 1
        except OSError as error:
            raise CampaignError(
                f"{error.strerror or error}: the campaign ended with {kept} of {campaign.blocks} blocks kept in "
                f"{store.folder}. Make room, or get permission, and resume it."
            ) from error
    return Results.of_store(store)


def _label_code(campaign: Campaign) -> AbstractContextManager[None]:
    """Within it, messages about code that is compiled name the campaign."""
    return code_of(f"the campaign '{campaign.title}'" if campaign.title else "the campaign")


def _compute_blocks(
    campaign: Campaign, missing: list[int], route: Route, progress: CampaignProgress | None
) -> Iterator[FinishedBlock]:
    """Yield the missing blocks in the order in which they are finished, and report the progress."""
    total = sum(_size(campaign, n) for n in route.shard_blocks(range(campaign.blocks)))
    done = total - sum(_size(campaign, n) for n in missing)
    began, before = time.monotonic(), done
    for finished in _finished_blocks(campaign, missing, route):
        yield finished
        done += _size(campaign, finished[0])
        if progress is not None:
            progress(done, total, (done - before) / max(time.monotonic() - began, 1e-9))


def _size(campaign: Campaign, number: int) -> int:
    return min(campaign.block, campaign.runs - number * campaign.block)


def _finished_blocks(campaign: Campaign, missing: list[int], route: Route) -> Iterator[FinishedBlock]:
    if route.dask is not None:
        from freefloat.campaign.dask_route import dask_blocks

        yield from dask_blocks(campaign, missing, route)
        return
    target = route.resolved_target
    with interrupts_between_blocks() as obey:
        for number in missing:
            block = compute_block(campaign, number, target, route.threads)
            yield number, block, block_facts(campaign, target)
            obey()


def block_facts(campaign: Campaign, target: str) -> dict[str, Any]:
    """Which code computes a block: the same code repeats its runs to the last bit."""
    program = campaign.preparation.program.compiled_step(target)
    return {"target": target, "program": program.summary.hash, "machine": machine() if target == "native" else target}


def machine() -> str:
    """Processor family, and whether it has fused multiply-add: besides the program, the last bit depends on these."""
    from freefloat.engine.llvm.machine import host

    here = host()
    return f"{here.triple.partition('-')[0]}, {'with' if here.fma else 'without'} fused multiply-add"


@contextmanager
def interrupts_between_blocks() -> Iterator[Callable[[], None]]:
    """Obey Ctrl-C and SIGTERM, which clusters send before they kill; yields a function to call between blocks."""
    with signal_handlers({signal.SIGTERM: signal.default_int_handler}), catch_interrupts() as signals:
        yield signals.obey  # does nothing outside the main thread, where no signals arrive
