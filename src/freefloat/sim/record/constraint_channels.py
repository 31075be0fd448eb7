"""Channels of connections, brakes and contacts: what is on, and how strongly it holds."""

from __future__ import annotations

from collections.abc import Iterator

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.kinematics import inertial_frame_pose
from freefloat.model import State, World
from freefloat.sim.audit.balances import LOST
from freefloat.sim.motion.accelerations import Balance
from freefloat.sim.motion.constraint_rows import connection_rows, gaps, meant_pose, place_of
from freefloat.sim.system.constraint_state import ConstraintState, row_slices
from freefloat.sim.system.system import SystemState
from freefloat.spatial import angular, linear
from freefloat.values.arrays import Mat3, Numeric
from freefloat.values.channels import Channel, mode, vector

ChannelValue = tuple[Channel, Numeric]


def constraint_channels(world: World, loop: SystemState, now: tuple[Balance, ...]) -> Iterator[ChannelValue]:
    """Of everything that can be held in a world."""
    modes: ConstraintState = loop.constraints
    assert now[0].connection is not None
    forces, at, n, b = now[0].connection.multipliers, row_slices(world), len(world.connections), len(world.brakes)
    for i, one in enumerate(world.connections):
        label = f"{one.name}: {one.a.title} and {one.b.title}"
        yield mode(f"connection.{one.name}", label, ("off", "latched")), 1.0 * modes.latched[i]
        rows = connection_rows(world, one, meant_pose(one))
        wrench = np.array(rows.directions).T @ forces[at[i]]
        R = _attitude(world, loop.states, place_of(world, one.a))
        yield vector(f"connection.{one.name}.force", f"{label}: force on the second", "N", "N"), R @ linear(wrench)
        yield vector(f"connection.{one.name}.torque", f"{label}: torque on the second", "N m", "N"), R @ angular(wrench)
    for i, brake in enumerate(world.brakes):
        name = brake.joint if world.single else f"{brake.craft}.{brake.joint}"
        slipping = jnp.minimum(modes.brakes[i], 2)
        yield mode(f"brake.{name}", f"Brake of {name}", ("off", "holds"), ("slips",)), 1.0 * slipping
        yield Channel(f"brake.{name}.torque", f"Torque that the brake of {name} holds", "N m"), forces[at[n + i]][0]
    gap = gaps(world, loop.states)[0] if world.contacts else jnp.zeros(0)
    for i, one in enumerate(world.contacts):
        label = f"{one.name}: {one.a.title} on {one.b.title}"
        yield mode(f"contact.{one.name}", label, ("free", "rests")), 1.0 * modes.touching[i]
        yield Channel(f"contact.{one.name}.gap", f"{label}: gap", "m"), gap[i]
        yield Channel(f"contact.{one.name}.force", f"{label}: normal force", "N"), forces[at[n + b + i]][0]
    yield Channel(LOST, "Energy lost at events", "J"), modes.lost


def _attitude(world: World, states: tuple[State, ...], place: tuple[int, str]) -> Mat3:
    c, frame = place
    return np.eye(3) if c < 0 else inertial_frame_pose(world.crafts[c], states[c], frame).R
