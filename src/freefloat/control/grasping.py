"""Software that latches and releases a connection: at given times, or on a message of other software."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from freefloat.model import Clock, Latch, Measurements, Release, Software
from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Scalar
from freefloat.values.checks import require_bounds

_TICK = 1e-9  # [s]: a time that is reached but for rounding


@record
class TimedGrasp(Software):
    """Latches a connection from one time on, and releases it at another."""

    connection: str = static()
    at: Numeric | float = 0.0  # [s]
    release: Numeric | float = jnp.inf  # [s]; infinite: never

    def __post_init__(self) -> None:
        require_bounds(self, {"at": "s", "release": "s"}, least=0.0, allow_infinite=True)

    def command(self, memory: Any, y: Measurements, clock: Clock) -> tuple[Latch, Release]:
        """Latch from the first time on, release from the second on."""
        lets_go = clock.t >= self.release - _TICK
        return Latch(self.connection, (clock.t >= self.at - _TICK) & ~lets_go), Release(self.connection, lets_go)


@record
class GraspOnMessage(Software[Scalar]):
    """Latches a connection once a message of other software reaches a value; may release it some time later."""

    connection: str = static()
    message: str = static()  # such as "capture.mode"
    value: Numeric | float
    release_after: Numeric | float = jnp.inf  # the message reached its value [s]; infinite: never

    def __post_init__(self) -> None:
        require_bounds(self, {"release_after": "s"}, least=0.0, allow_infinite=True)

    def begin(self, y: Measurements) -> Scalar:
        """Memory at the start: time of the request [s], infinite because there is none yet."""
        return jnp.asarray(jnp.inf)

    def remember(self, memory: Scalar, y: Measurements, clock: Clock) -> Scalar:
        """First time at which the message reached the value [s]."""
        return jnp.where(y[self.message] >= self.value, jnp.minimum(memory, clock.t), memory)

    def command(self, memory: Scalar, y: Measurements, clock: Clock) -> tuple[Latch, Release]:
        """Latch from the request on, release some time later."""
        asked, since = jnp.isfinite(memory), clock.t - jnp.where(jnp.isfinite(memory), memory, clock.t)
        lets_go = asked & (since >= self.release_after - _TICK)
        return Latch(self.connection, asked & ~lets_go), Release(self.connection, lets_go)
