"""Channels that parts add to a run: what effects, actuators and software tell of themselves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp

from freefloat.effects.joint_motors import joint_motor_channels
from freefloat.effects.wheels import wheel_channel
from freefloat.model import Clock, FrameForces, JointTorques, WheelTorques
from freefloat.sim.motion.port_bus import Instant
from freefloat.sim.system.software_checks import checked_call, require_observed
from freefloat.values.arrays import Numeric, Scalar
from freefloat.values.channels import Channel

ChannelValue = tuple[Channel, Numeric]


def part_channels(here: Instant, c: int, ticked: Scalar) -> Iterator[ChannelValue]:
    """Of all parts on spacecraft number c, unprefixed; `ticked`: time of the last tick."""
    system = here.system
    craft, state = system.world.crafts[c], here.states[c]
    clock = Clock(t=here.t, tick=here.tick, dt=system.dt)
    for effect in system.effects:
        if system.acts_on(effect, c):
            with checked_call(effect, "observe"):
                yield from require_observed(effect, effect.channels(craft), effect.observe(craft, state, clock))
    for thrusters, pulses in zip(system.thrusters, here.loop.valves, strict=True):
        if system.on(thrusters) == c:
            yield from zip(thrusters.channels(), thrusters.observe(pulses, here.t), strict=True)
    failed: dict[Channel, Any] = {}
    for failure in system.failures:
        if system.on(failure) == c:  # what fails twice has one channel
            failed[failure.channel()] = failed.get(failure.channel(), False) | failure.present(ticked)
    yield from ((channel, 1.0 * present) for channel, present in failed.items())
    yield from _actuators(here, c)
    for k, wires in enumerate(system.wiring.software):
        if wires.craft == c:
            yield from _software(here, k)


def _software(here: Instant, k: int) -> list[ChannelValue]:
    law = here.system.software[k]
    channels = tuple(law.channels())
    if not channels:
        return []
    memory, y = here.loop.software[k].memory, here.measurements(k)
    with checked_call(law, "observe"):
        truth = here.truth(here.system.wiring.software[k].craft)
        return require_observed(law, channels, law.observe(memory, y, here.clock(k), truth))


def _actuators(here: Instant, c: int) -> Iterator[ChannelValue]:
    """What motors of joints and wheels give, and which limits they meet."""
    craft = here.system.world.crafts[c]
    given, met, pushed = {}, {}, {}
    for asked in here.requests(c):
        command, limits = here.limit(c, asked)
        if isinstance(command, FrameForces):
            pushed |= {name: command.forces[place] for place, name in enumerate(command.frames)}
        if isinstance(command, (JointTorques, WheelTorques)):
            names = command.joints if isinstance(command, JointTorques) else command.wheels
            assert limits is not None
            for place, name in enumerate(names):
                given[name], met[name] = command.torques[place], limits[place]
    joints = tuple(name for name in craft.layout.moving_joints if name in given)
    wheels = tuple(name for name in craft.wheel_names if name in given)
    if joints:
        values = jnp.stack([given[name] for name in joints]), jnp.stack([met[name] for name in joints])
        yield from zip(joint_motor_channels(craft, joints), values, strict=True)
    if pushed:
        channel = Channel("frames.force", "Force of actuators at frames", "N", "", "pushed_frame", tuple(pushed))
        yield channel, jnp.stack(list(pushed.values()))
    if wheels:
        yield wheel_channel(craft, wheels), jnp.stack([met[name] for name in wheels])
