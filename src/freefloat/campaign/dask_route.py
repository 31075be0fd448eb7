"""Blocks computed by Dask workers, on this machine or elsewhere; the process that asks keeps them.

A worker that dies takes its blocks along, and Dask gives them to another. Only as many blocks as the workers can hold
are under way, so that memory does not grow with the number of runs.
"""

from __future__ import annotations

import dataclasses
import pickle
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

from freefloat.campaign.blocks import Block, compute_block
from freefloat.campaign.errors import CampaignError

if TYPE_CHECKING:
    from freefloat.campaign.campaign import Campaign
    from freefloat.campaign.driver import Finished, Route

LOCAL = "local"
_AHEAD = 2  # blocks under way for each thread of a worker
_DEATHS = 10  # of workers that a block may see before it is held responsible

_campaigns: dict[bytes, Campaign] = {}  # of this worker, with their compiled code


def computed_by_dask(campaign: Campaign, missing: list[int], route: Route) -> Iterator[Finished]:
    """Blocks as workers finish them."""
    from freefloat.campaign.driver import interrupts_between_blocks

    if route.resolved != "native":
        raise CampaignError("Dask workers compute native code: leave --target out, or run on the card without Dask.")
    with _connected(route) as client, interrupts_between_blocks() as obey:
        from distributed import wait

        packed = _packed(campaign)  # goes with every block: what lies on workers only may die with them
        waiting = iter(missing)
        slots = max(1, sum(client.nthreads().values()))

        def submit(number: int) -> Any:
            return client.submit(
                _block_of, packed, number, key=f"block-{campaign.identity()[:12]}-{number}", pure=False
            )

        under_way = {submit(number) for number in islice(waiting, _AHEAD * slots)}
        while under_way:
            state: Any = wait(under_way, return_when="FIRST_COMPLETED")
            finished = next(iter(state.done))
            yield finished.result()  # which computes it again where its worker has died since
            under_way.remove(finished)
            obey()
            under_way |= {submit(number) for number in islice(waiting, 1)}


def _connected(route: Route) -> Any:
    """A client of the scheduler at an address, or of workers started here."""
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


def _packed(campaign: Campaign) -> bytes:
    """A campaign as bytes: what it was built from, or the experiment itself."""
    if "scenario" in campaign.source:
        return pickle.dumps(campaign.described())
    import cloudpickle

    return cloudpickle.dumps(dataclasses.replace(campaign))  # without the code that belongs to this process


def _block_of(packed: bytes, number: int) -> tuple[int, Block, dict[str, Any]]:
    """In a worker: one block, with one thread, since workers are many."""
    from freefloat.campaign.driver import block_facts
    from freefloat.campaign.toml_files import campaign_of_store

    campaign = _campaigns.get(packed)
    if campaign is None:
        found = pickle.loads(packed)
        campaign = _campaigns[packed] = campaign_of_store(found) if isinstance(found, dict) else found
    return number, compute_block(campaign, number, threads=1), block_facts(campaign, "native")
