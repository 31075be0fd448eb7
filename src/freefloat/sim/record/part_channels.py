"""Channels that parts add to a run: those of effects, actuators, failures and software."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax.numpy as jnp

from freefloat.effects.joint_motors import joint_motor_channels
from freefloat.effects.wheel_motors import wheel_channel
from freefloat.model import Clock, FrameForces, JointTorques, WheelTorques
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
    for thrusters, pulses in zip(system.thrusters, here.state.valves, strict=True):
        if system.craft_index(thrusters) == c:
            yield from zip(thrusters.channels(), thrusters.observe(pulses, here.t), strict=True)
    failed: dict[Channel, Any] = {}
    for failure in system.failures:
        if system.craft_index(failure) == c:  # two failures of one part share a channel
            failed[failure.channel()] = failed.get(failure.channel(), False) | failure.present(ticked)
    yield from ((channel, 1.0 * present) for channel, present in failed.items())
    yield from _actuators(here, c)
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


def _actuators(here: PortBus, c: int) -> Iterator[ChannelValue]:
    """Channels of the torques of joint motors and wheels, the limits they meet, and forces at frames."""
    craft = here.system.world.crafts[c]
    given, met, pushed = {}, {}, {}
    for asked in here.requests(c):
        command, limits = here.limited_command(c, asked)
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
