"""Channels of a whole world: of its connections, brakes and contacts, and of interactions between bodies."""

from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.kinematics import inertial_frame_pose
from freefloat.model import Clock, State, Truth, World
from freefloat.sensors.quantity_lookup import find_quantity
from freefloat.sim.audit.balances import COVERED, INTERACTION_PREFIX, LOST, UNFINISHED
from freefloat.sim.motion.accelerations import Balance
from freefloat.sim.motion.constraint_rows import connection_rows, gaps, meant_pose, place_of
from freefloat.sim.system.constraint_state import row_slices
from freefloat.sim.system.software_checks import checked_call, require_observed
from freefloat.sim.system.system import System, SystemState
from freefloat.spatial import angular, linear
from freefloat.values.arrays import Mat3, Numeric
from freefloat.values.channels import Channel, mode, vector

ChannelValue = tuple[Channel, Numeric]


def constraint_channels(truth: Truth, state: SystemState, now: tuple[Balance, ...]) -> Iterator[ChannelValue]:
    """Channels of all connections, brakes and contacts of a world, with their values."""
    world, modes = truth.world, state.modes
    assert now[0].connection is not None
    forces, at, n, b = now[0].connection.multipliers, row_slices(world), len(world.connections), len(world.brakes)
    for i, connection in enumerate(world.connections):
        label = f"{connection.name}: {connection.a.title} and {connection.b.title}"
        found = find_quantity(world, (), f"connection.{connection.name}")
        assert found is not None
        yield found.channel, found.quantity.value(truth, found.channel.name)
        rows = connection_rows(world, connection, meant_pose(connection))
        wrench = np.array(rows.directions).T @ forces[at[i]]
        R = _attitude(world, state.states, place_of(world, connection.a))
        for kind, unit, value in (("force", "N", linear(wrench)), ("torque", "N m", angular(wrench))):
            name, of = f"connection.{connection.name}.{kind}", f"{label}: {kind} on the second"
            yield vector(name, of, unit, "N"), R @ value
    for i, brake in enumerate(world.brakes):
        name = brake.joint if world.single else f"{brake.craft}.{brake.joint}"
        slipping = jnp.minimum(modes.brakes[i], 2)
        yield mode(f"brake.{name}", f"Brake of {name}", ("off", "holds"), ("slips",)), 1.0 * slipping
        yield Channel(f"brake.{name}.torque", f"Torque that the brake of {name} holds", "N m"), forces[at[n + i]][0]
    gap = gaps(world, state.states)[0] if world.contacts else jnp.zeros(0)
    for i, contact in enumerate(world.contacts):
        label = f"{contact.name}: {contact.a.title} on {contact.b.title}"
        yield mode(f"contact.{contact.name}", label, ("free", "rests")), 1.0 * modes.touching[i]
        yield Channel(f"contact.{contact.name}.gap", f"{label}: gap", "m"), gap[i]
        yield Channel(f"contact.{contact.name}.force", f"{label}: normal force", "N"), forces[at[n + b + i]][0]
    yield Channel(LOST, "Energy lost at events", "J"), modes.lost


def _attitude(world: World, states: tuple[State, ...], place: tuple[int, str]) -> Mat3:
    c, frame = place
    return np.eye(3) if c < 0 else inertial_frame_pose(world.crafts[c], states[c], frame).R


def interaction_channels(system: System, state: SystemState) -> Iterator[ChannelValue]:
    """Channels of every interaction, and of all together, with their values."""
    truth, inner = Truth(system.world, state.states), state.plants.interactions
    clock = Clock(t=state.tick * system.dt, tick=state.tick, dt=system.dt)
    stored = jnp.zeros(())
    for interaction, own in zip(system.interactions, inner, strict=True):
        stored = stored + interaction.stored(truth, own.state)
        with checked_call(interaction, "observe"):
            yield from require_observed(
                interaction, interaction.channels(system.world), interaction.observe(truth, own.state, clock)
            )
    impulse = sum((own.impulse for own in inner), jnp.zeros(6))
    for name, label, energy in (
        ("work", "Work of interactions on spacecraft", _sum(own.work for own in inner)),
        ("stored", "Energy stored in interactions", stored),
        ("dissipated", "Energy lost in interactions", _sum(own.dissipated for own in inner)),
        ("turnover", "Most work of interactions at any instant so far", _sum(own.turnover for own in inner)),
    ):
        yield Channel(f"{INTERACTION_PREFIX}{name}", label, "J"), energy
    name, label = f"{INTERACTION_PREFIX}impulse", "impulse of interactions on all spacecraft"
    yield vector(f"{name}.linear", label.capitalize(), "N s", "N"), linear(impulse)
    yield vector(f"{name}.angular", f"Angular {label}", "N m s", "N"), angular(impulse)
    yield Channel(UNFINISHED, "Steps too stiff to be finished", "1"), _sum(o.unfinished for o in inner)
    yield Channel(COVERED, "Smallest share of a step that was made", "1"), inner[0].covered


def _sum(values: Iterator[Numeric]) -> Numeric:
    return sum(values, jnp.zeros(()))
