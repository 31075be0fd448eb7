"""Steps that are cut at known instants: where a force jumps, a segment ends and the next begins.

A step of any integrator is exact to its order only where the forces are smooth. Effects and actuators report the
instants at which theirs are not, such as those at which valves close. Each segment between two of them is a step of its
own, on whose side of the instants the forces are evaluated. A system whose parts have no such instants has no loop here
at all.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.sim.motion.integrators import RateFunction
from freefloat.sim.system.system import System, SystemState
from freefloat.sim.system.world_state import WorldRate, WorldState
from freefloat.values.arrays import Scalar, Vector

_ROUNDING = 8.0 * np.finfo(float).eps  # of the time: a tick is a rounded number, and so is an instant

# Makes rates from flags of interactions (none at all: no interaction acts) and, where held, which wheels are full.
RateOf = Callable[..., RateFunction]
Advance = Callable[[WorldState, RateOf, Scalar, Any], WorldState]  # plants, their rates, from time t over a length h


def cutting_instants(system: System, state: SystemState) -> Vector | None:
    """All instants at which a force of the system is not smooth [s]; None where there are none.

    Valves close as they were set at the last tick.
    """
    found = [jnp.asarray(instant, float)[None] for effect in system.effects for instant in effect.instants()]
    for memory, actuator in zip(state.actuators, system.actuators, strict=True):
        found += [jnp.reshape(jnp.asarray(instant, float), (-1,)) for instant in actuator.instants(memory)]
    return jnp.concatenate(found) if found else None


def advance_in_segments(
    advance: Advance, instants: Vector, plants: WorldState, rate_of: RateOf, t: Scalar, h: Scalar, share: Scalar | float
) -> WorldState:
    """Integrate from t over h, segment by segment: one more than there are instants inside, at most.

    Where h is only a `share` of a step, the segments of a step that has instants are made in so many parts each: a push
    that is shorter than half a step would otherwise be integrated alike in whole and in half steps, and what that loses
    could not be measured.
    """
    since = instants - t
    close = _ROUNDING * (jnp.abs(t) + h)
    step = h / share
    in_step = jnp.any((since > h - step + close) & (since < step - close))  # or in the one before or after
    finer = jnp.where(in_step, share, 1.0)

    def segment(reached: tuple[WorldState, Scalar]) -> tuple[WorldState, Scalar]:
        here, done = reached
        last = jnp.min(jnp.where((since > done + close) & (since < h - close), since, h))
        first = jnp.max(jnp.where((since > close) & (since <= done + close), since, 0.0))
        part = finer * (last - first)
        end = jnp.where(done + part < last - jnp.maximum(close, 0.01 * part), done + part, last)
        now, left = t + done, end - done
        return advance(here, lambda on, full=None: rate_inside(rate_of(on, full), now, left), now, left), end

    # A zero that the engine does not know to be one: it would trace the loop anew when it finds it changing.
    nothing = jnp.minimum(jnp.abs(t), 0.0)
    return jax.lax.while_loop(lambda reached: reached[1] < h, segment, (plants, nothing))[0]


def next_instant(instants: np.ndarray, t: float, end: float) -> float:
    """The first instant after t and before `end`, else `end`."""
    close = _ROUNDING * (abs(t) + abs(end))
    inside = instants[(instants > t + close) & (instants < end - close)]
    return float(np.min(inside, initial=end))


def rate_inside(rate: RateFunction, t: Scalar, h: Scalar) -> RateFunction:
    """The rates with the time at which forces are evaluated kept inside a segment from t over h, off both its ends."""
    margin = jnp.minimum(0.25 * h, 2.0 * _ROUNDING * (jnp.abs(t) + h))

    def clamped_rate(plants: WorldState, now: Scalar, inside: Scalar) -> WorldRate:
        return rate(plants, now, jnp.clip(inside, t + margin, t + h - margin))

    return clamped_rate
