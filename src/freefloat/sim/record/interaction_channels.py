"""Channels of what happens between bodies: those of each interaction, and the books of all of them."""

from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp

from freefloat.model import Clock, Truth
from freefloat.sim.audit.balances import BETWEEN, COVERED, UNFINISHED
from freefloat.sim.system.software_checks import checked_call, require_observed
from freefloat.sim.system.system import System, SystemState
from freefloat.spatial import angular, linear
from freefloat.values.arrays import Numeric
from freefloat.values.channels import Channel, vector

ChannelValue = tuple[Channel, Numeric]


def interaction_channels(system: System, loop: SystemState) -> Iterator[ChannelValue]:
    """Of every interaction, and of all together."""
    truth, inner = Truth(system.world, loop.states), loop.plants[0].inner
    clock = Clock(t=loop.tick * system.dt, tick=loop.tick, dt=system.dt)
    stored = jnp.zeros(())
    for one, own in zip(system.interactions, inner, strict=True):
        stored = stored + one.stored(truth, own.state)
        with checked_call(one, "observe"):
            yield from require_observed(one, one.channels(system.world), one.observe(truth, own.state, clock))
    impulse = sum((own.impulse for own in inner), jnp.zeros(6))
    yield Channel(f"{BETWEEN}work", "Work of interactions on spacecraft", "J"), _sum(own.work for own in inner)
    yield Channel(f"{BETWEEN}stored", "Energy stored in interactions", "J"), stored
    yield Channel(f"{BETWEEN}dissipated", "Energy lost in interactions", "J"), _sum(own.dissipated for own in inner)
    most = _sum(own.turnover for own in inner)
    yield Channel(f"{BETWEEN}turnover", "Most work of interactions at any instant so far", "J"), most
    yield vector(f"{BETWEEN}impulse.linear", "Impulse of interactions on all spacecraft", "N s", "N"), linear(impulse)
    yield (
        vector(f"{BETWEEN}impulse.angular", "Angular impulse of interactions on all spacecraft", "N m s", "N"),
        angular(impulse),
    )
    yield Channel(UNFINISHED, "Steps too stiff to be finished", "1"), _sum(o.unfinished for o in inner)
    yield Channel(COVERED, "Smallest share of a step that was made", "1"), inner[0].covered


def _sum(values: Iterator[Numeric]) -> Numeric:
    return sum(values, jnp.zeros(()))
