"""Which connections are latched, brakes hold and contacts touch: the part of a system's state that events change."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

import jax.numpy as jnp
import numpy as np

from freefloat.model import World
from freefloat.sim.system.event_log import EventLog
from freefloat.values import record
from freefloat.values.arrays import Numeric, Scalar, Vector

OFF, HOLDS, FORWARD, BACKWARD = 0, 1, 2, 3  # a brake: off, holds, slips while the joint moves forward or backward


@record
class ConstraintState:
    """State of all connections, brakes and contacts of a world, in its order."""

    latched: Numeric  # int32 (connections): 1 while it is on
    positions: Numeric  # (connections, 3): of frame b in frame a, as held [m]
    attitudes: Numeric  # (connections, 4): quaternion of frame b in frame a, as held
    refused: Numeric  # int32 (connections): 1 while a latch is asked for that is out of reach
    brakes: Numeric  # int32 (brakes): OFF, HOLDS, FORWARD or BACKWARD
    touching: Numeric  # int32 (contacts): 1 while it rests
    lost: Scalar  # energy lost at events since the start [J]
    redundant: Numeric  # int32: held rows that depend on others
    unresolved: Numeric  # int32: steps in which there were more events than are looked for
    log: EventLog

    @staticmethod
    def begin(world: World) -> ConstraintState:
        """The state in which nothing is on."""

        def none(*shape: int) -> np.ndarray:
            return np.zeros(shape, np.int32)

        n = len(world.connections)
        return ConstraintState(
            latched=none(n),
            positions=np.zeros((n, 3)),
            attitudes=np.tile(np.eye(4)[0], (n, 1)),
            refused=none(n),
            brakes=none(len(world.brakes)),
            touching=none(len(world.contacts)),
            lost=np.zeros(()),
            redundant=none(),
            unresolved=none(),
            log=EventLog.empty(),
        )


# What may be known beforehand of what is held: nothing, only the single connection, or anything.
Holding = Literal["nothing", "connection", "anything"]


def holding_cases(world: World) -> tuple[Holding, ...]:
    """The cases for which the code of a world has separate branches."""
    if not (world.brakes or world.contacts) and all(connection.held_outside for connection in world.connections):
        return ("nothing",)
    if _holds_one(world):
        return ("nothing", "connection", "anything") if world.brakes or world.contacts else ("nothing", "connection")
    return ("nothing", "anything")


def holding_case(world: World, modes: ConstraintState) -> Numeric:
    """Number of the present case, an index into `holding_cases`."""
    active = active_rows(world, modes) > 0.0
    if not _holds_one(world):
        return jnp.any(active).astype(jnp.int32)
    others = jnp.any(active[world.connections[0].rows :])
    return jnp.where(others, 2, modes.latched[0]).astype(jnp.int32)


def _holds_one(world: World) -> bool:
    """Whether the world has a single connection, which the simulation itself holds."""
    return len(world.connections) == 1 and not world.connections[0].held_outside


def active_rows(world: World, modes: ConstraintState) -> Vector:
    """1 for every row that is held now, 0 for the others: rows of connections, brakes and contacts in this order."""
    latched = [
        jnp.zeros(connection.rows) if connection.held_outside else jnp.repeat(modes.latched[i], connection.rows)
        for i, connection in enumerate(world.connections)
    ]
    parts = [*latched, 1 * (modes.brakes == HOLDS), modes.touching]
    return jnp.concatenate([part.astype(float) for part in parts])


def slip_signs(modes: ConstraintState) -> Vector:
    """Slip direction of each brake: 1 while it slips forward, -1 backward, 0 otherwise."""
    return 1.0 * (modes.brakes == FORWARD) - 1.0 * (modes.brakes == BACKWARD)


def row_slices(world: World) -> tuple[slice, ...]:
    """Slice of the rows of each connection, brake and contact, in this order."""
    counts = [*(connection.rows for connection in world.connections), *(1 for _ in (*world.brakes, *world.contacts))]
    ends = np.cumsum([0, *counts])
    return tuple(slice(int(a), int(b)) for a, b in pairwise(ends))
