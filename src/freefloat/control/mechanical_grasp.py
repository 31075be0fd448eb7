"""Sequence of a grasp mechanism: it waits, closes on an object in its envelope, holds or misses it, and releases it."""

from __future__ import annotations

from collections.abc import Mapping

import jax.numpy as jnp

from freefloat.control.grasp_mechanisms import GraspMechanism
from freefloat.control.measured import measured_pose
from freefloat.model import Clock, Latch, Measurements, Release, Software, Truth
from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Scalar
from freefloat.values.channels import Channel, mode
from freefloat.values.checks import require_bounds

OPEN, CLOSING, HOLDS, MISSED, LET_GO = 0, 1, 2, 3, 4
_TICK = 1e-9  # [s]: a time that is reached but for rounding


@record
class GraspMemory:
    """Memory of a grasp mechanism."""

    state: Numeric  # int32: OPEN, CLOSING, HOLDS, MISSED, LET_GO
    since: Scalar  # when that state began [s]
    asked: Numeric  # bool: it may close
    misses: Numeric  # int32


@record
class MechanicalGrasp(Software[GraspMemory]):
    """Closes a mechanism at `frame` on the frame `target`, and latches a connection once it has closed.

    It closes by itself or, with a `message` of other software, once that has reached a value. An object that leaves
    the envelope while it closes is missed: the mechanism opens again and waits for the next time. It reports
    `NAME.mechanism`, NAME being that of the connection.
    """

    connection: str = static()
    mechanism: GraspMechanism
    frame: str = static()  # where the mechanism is, such as "hand"
    target: str = static()  # what it grasps, such as "client.pin"
    message: str = static(default="")  # such as "capture.mode"; empty: it closes by itself
    value: Numeric | float = 0.0  # that the message must reach
    release_after: Numeric | float = jnp.inf  # it was asked to close, or closed by itself [s]; infinite: never

    def __post_init__(self) -> None:
        require_bounds(self, {"release_after": "s"}, least=0.0, allow_infinite=True)

    def begin(self, y: Measurements) -> GraspMemory:
        """Memory at the start: the mechanism is open."""
        none = jnp.zeros((), jnp.int32)
        return GraspMemory(none, jnp.asarray(jnp.inf), jnp.asarray(False), none)

    def remember(self, memory: GraspMemory, y: Measurements, clock: Clock) -> GraspMemory:
        """Memory after one step of the sequence; without a closing time it holds at once."""
        tool, t = self.mechanism, clock.t
        X_MG = measured_pose(y, self.frame).inverse() @ measured_pose(y, self.target)
        inside = tool.inside(X_MG)
        asked = memory.asked | ((y[self.message] >= self.value) if self.message else jnp.asarray(True))
        state, since = memory.state, memory.since

        def change(state: Numeric, since: Scalar, when: Numeric, to: int) -> tuple[Numeric, Scalar]:
            return jnp.where(when, to, state).astype(jnp.int32), jnp.where(when, t, since)

        ready = (state == MISSED) & (t - since >= tool.opening_time - _TICK)
        state, since = change(state, since, ready, OPEN)
        state, since = change(state, since, (state == OPEN) & asked & inside, CLOSING)
        missed = (state == CLOSING) & ~inside
        state, since = change(state, since, missed, MISSED)
        closed = (state == CLOSING) & (t - since >= tool.closing_time - _TICK)
        state, since = change(state, since, closed, HOLDS)
        over = (state == HOLDS) & (t - since >= self.release_after - _TICK)
        state, since = change(state, since, over, LET_GO)
        return GraspMemory(state, since, asked, memory.misses + missed.astype(jnp.int32))

    def command(self, memory: GraspMemory, y: Measurements, clock: Clock) -> tuple[Latch, Release]:
        """Latch while it holds, release once it has let go."""
        return Latch(self.connection, memory.state == HOLDS), Release(self.connection, memory.state == LET_GO)

    def tell(self, memory: GraspMemory, y: Measurements, clock: Clock) -> Mapping[str, Numeric]:
        """Message with the state: 0 open, 1 closing, 2 holds, 3 missed, 4 let go."""
        return {f"{self.connection}.mechanism": 1.0 * memory.state}

    def channels(self) -> tuple[Channel, ...]:
        """Channels for the state, and for the number of misses."""
        ways = ("open", "closing", "holds", "missed", "let go")
        return (
            mode(f"{self.connection}.mechanism", f"{self.connection}: {type(self.mechanism).__name__}", ways),
            Channel(f"{self.connection}.misses", f"{self.connection}: times that it closed on nothing", "1"),
        )

    def observe(self, memory: GraspMemory, y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """Values of the channels: the state, and the number of misses."""
        return 1.0 * memory.state, 1.0 * memory.misses
