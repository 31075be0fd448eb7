"""Blocks computed by Dask workers, on this machine or others; the calling process stores them.

A worker that dies takes its blocks along, and Dask gives them to another. The number of blocks in
progress is limited by the number of workers, so that memory does not grow with the number of runs.
"""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from freefloat.campaign.blocks import RunBlock, compute_block
from freefloat.campaign.errors import CampaignError

if TYPE_CHECKING:
    from freefloat.campaign.campaign import Campaign
    from freefloat.campaign.driver import FinishedBlock, Route

LOCAL = "local"
_AHEAD = 2  # blocks in progress for each thread of a worker
_DEATHS = 10  # of workers during one block before Dask gives the block up

_campaigns: dict[bytes, Campaign] = {}  # of this worker, with their compiled code


def dask_blocks(campaign: Campaign, missing: list[int], route: Route) -> Iterator[FinishedBlock]:
    """Yield the blocks in the order in which workers finish them."""
    from freefloat.campaign.driver import interrupts_between_blocks

    if route.resolved_target != "native":
        raise CampaignError("Dask workers compute native code: leave --target out, or run on the card without Dask.")
    with _connect_client(route) as client, interrupts_between_blocks() as obey:
        from distributed import wait

        packed = _pack_campaign(campaign)  # goes with every block: what lies on workers only may die with them
        waiting = iter(missing)
        slots = max(1, sum(client.nthreads().values()))

        def submit(number: int) -> Any:
            return client.submit(
                _block_of, packed, number, key=f"block-{campaign.identity()[:12]}-{number}", pure=False
            )

        in_progress = {submit(number) for number in islice(waiting, _AHEAD * slots)}
        while in_progress:
            state: Any = wait(in_progress, return_when="FIRST_COMPLETED")
            finished = next(iter(state.done))
            yield finished.result()  # computes the block again if its worker has died since
            in_progress.remove(finished)
            obey()
            in_progress |= {submit(number) for number in islice(waiting, 1)}


def _connect_client(route: Route) -> Any:
    """A Dask client of the scheduler at an address, or of workers that are started here."""
    try:
        from dask import config
        from distributed import Client, LocalCluster
    except ImportError:
        raise CampaignError("Dask is not installed: pip install 'freefloat[campaign]'.") from None
    config.set({"distributed.scheduler.allowed-failures": _DEATHS})
    if route.dask != LOCAL:
        try:
            return Client(route.dask, timeout=10)
        except OSError as error:
            raise CampaignError(f"No Dask scheduler answers at {route.dask} ({error}).") from None
    cluster = LocalCluster(
        n_workers=route.workers, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
    )
    return Client(cluster)


def _pack_campaign(campaign: Campaign) -> bytes:
    """A campaign as bytes: the scenario with its settings, or the experiment itself."""
    if "scenario" in campaign.source:
        return pickle.dumps(campaign.as_dict())
    import cloudpickle

    return cloudpickle.dumps(dataclasses.replace(campaign))  # without the code that belongs to this process


def _block_of(packed: bytes, number: int) -> tuple[int, RunBlock, dict[str, Any]]:
    """Compute one block in a worker, with one thread because there are many workers."""
    from freefloat.campaign.driver import block_facts
    from freefloat.campaign.toml_files import campaign_of_store

    campaign = _campaigns.get(packed)
    if campaign is None:
        unpacked = pickle.loads(packed)
        campaign = _campaigns[packed] = campaign_of_store(unpacked) if isinstance(unpacked, dict) else unpacked
    return number, compute_block(campaign, number, threads=1), block_facts(campaign, "native")
