"""Channels that parts add to a run: those of effects, actuators, failures and software."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from freefloat.model import Clock
from freefloat.model.failure import sound_part
from freefloat.sim.motion.actuation import Actuation, has_channels
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.system.software_checks import checked_call, require_observed
from freefloat.values.arrays import Numeric, Scalar
from freefloat.values.channels import Channel

ChannelValue = tuple[Channel, Numeric]


def part_channels(here: PortBus, c: int, ticked: Scalar) -> Iterator[ChannelValue]:
    """Channels of all parts on spacecraft number c, without prefix; `ticked`: time of the last tick [s]."""
    system = here.system
    craft, state = system.world.crafts[c], here.states[c]
    clock = Clock(t=here.t, tick=here.tick, dt=system.dt)
    for effect in system.effects:
        if system.acts_on(effect, c):
            with checked_call(effect, "observe"):
                yield from require_observed(effect, effect.channels(craft), effect.observe(craft, state, clock))
    actuation = Actuation(here, c, ticked)
    yield from _actuator_channels(actuation, standard=False)
    failed: dict[Channel, Any] = {}
    for failure in system.failures:
        if system.craft_index(failure) == c:  # two failures of one part share a channel
            failed[failure.channel()] = failed.get(failure.channel(), False) | failure.present(ticked)
    yield from ((channel, 1.0 * present) for channel, present in failed.items())
    yield from _actuator_channels(actuation, standard=True)
    for k, wires in enumerate(system.wiring.software):
        if wires.craft == c:
            yield from _software(here, k)


def _software(here: PortBus, k: int) -> list[ChannelValue]:
    software = here.system.software[k]
    channels = tuple(software.channels())
    if not channels:
        return []
    memory, y = here.state.software[k].memory, here.measurements(k)
    with checked_call(software, "observe"):
        truth = here.truth(here.system.wiring.software[k].craft)
        return require_observed(software, channels, software.observe(memory, y, here.clock(k), truth))


def _actuator_channels(actuation: Actuation, *, standard: bool) -> Iterator[ChannelValue]:
    for actuator, memory, u in actuation.actuators(has_channels, standard=standard):
        sound = sound_part(actuator)
        with checked_call(sound, "observe"):
            found = actuator.channel_values(actuation.truth, memory, u, actuation.clock)
        yield from require_observed(sound, tuple(channel for channel, _ in found), [value for _, value in found])
