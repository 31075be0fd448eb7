"""Log of the latest events, kept in the state: what happened between two records."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.values import record
from freefloat.values.arrays import Flag, Numeric, Scalar, Vec6

KINDS = (
    "latched",
    "released",
    "not latched: the frames are out of reach",
    "bounced",
    "came to rest",
    "lifted off",
    "brake on",
    "brake off",
    "brake slips",
    "brake holds",
)
LATCHED, RELEASED, REFUSED, BOUNCED, RESTS, LIFTED, BRAKED, FREED, SLIPS, STICKS = range(len(KINDS))

ROOM = 8  # events that fit between two records
WIDTH = 22  # numbers of an event: time, what, kind, energy, impulse (6), momentum of both sides before (2 x 6)


@record
class EventLog:
    """The latest events; a new one replaces the oldest."""

    count: Numeric  # int32: of all events since the start
    rows: Numeric  # (ROOM, WIDTH)

    @staticmethod
    def empty() -> EventLog:
        """A log without events."""
        return EventLog(np.zeros((), np.int32), np.zeros((ROOM, WIDTH)))

    def add(self, entry: LogEntry, happened: Flag) -> EventLog:
        """The log with one more event, if it happened."""
        row = jnp.concatenate(
            [
                jnp.stack([jnp.asarray(x, float) for x in (entry.time, entry.what, entry.kind, entry.lost)]),
                entry.impulse,
                entry.momentum_a,
                entry.momentum_b,
            ]
        )
        mine = happened & (jnp.arange(ROOM) == self.count % ROOM)
        rows = jnp.where(mine[:, None], row, self.rows)
        return EventLog(self.count + jnp.where(happened, 1, 0).astype(jnp.int32), rows)


@record
class LogEntry:
    """One event of a connection, brake or contact."""

    time: Scalar  # [s]
    what: Numeric | int  # number of the connection, brake or contact, in this order
    kind: Numeric | int  # of KINDS
    lost: Scalar  # energy [J]
    impulse: Vec6  # on the spacecraft of frame b, about the inertial origin, N axes [N s, N m s]
    momentum_a: Vec6  # of the spacecraft of frame a before it, about the inertial origin, N axes
    momentum_b: Vec6  # of that of frame b
