"""Gaps that close and open again between two instants: a lower bound of the gap, and where it is.

Let g and g' be a gap and its rate at both ends of a time h, and K a bound on how fast the rate can fall: g'' >= -K.
Then the gap lies above the two parabolas g + g' s - K s^2 / 2 from either end. Their difference is a straight line, so
they cross once, and the gap is nowhere lower than there. Between convex bodies that pass without turning K is zero: the
parabolas are the tangents.

This is so for every point beside a convex body. Between long bodies that turn, another place than the one that is
closest at an end may come and go in between, faster by a `jump` than the rate of the gap says: there the parabolas are
steeper by it. That is looked at less closely, or a gap that stays small would be cut for ever.
"""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp

from freefloat.model.part_kinds import Approach
from freefloat.spatial import angular, linear
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector

UNSEEN = 1e-6  # [m]: a gap may pass below zero by this much between two instants without being noticed
UNSEEN_JUMP = 1e-3  # [m]: the same of places that are not the closest ones at these instants
_INSIDE = 0.02  # of the time: a cut is no nearer to its ends
_UNEVEN = 2.0  # so many times the mean acceleration: what it may be in between


def rate_fall(before: Approach, after: Approach, h: Scalar | float) -> Numeric:
    """Bound K on how fast the rate of a gap can fall [m/s2], from relative velocities at both ends and a lever.

    A point on a lever l moves in the frame of the other body at an acceleration of at most a + alpha l + w^2 l, and
    in a frame that turns with it of 2 w v more.
    """
    change = after.velocity - before.velocity
    lever, turn, speed = (
        jnp.maximum(before.lever, after.lever),
        jnp.maximum(_size(angular(before.velocity)), _size(angular(after.velocity))),
        jnp.maximum(_size(linear(before.velocity)), _size(linear(after.velocity))),
    )
    mean = (_size(linear(change)) + lever * _size(angular(change))) / h
    return _UNEVEN * mean + turn * (turn * lever + 2.0 * speed)


def lowest_between(before: Approach, after: Approach, h: Scalar | float) -> tuple[Vector, Vector]:
    """Lower bound of every gap between two instants [m], and its time after the first [s].

    For gaps that are closed at one of the instants it is infinity.
    """
    K = rate_fall(before, after, h)
    first, last, falls, rises = before.gaps, after.gaps, before.rates, after.rates
    bend = rises - falls + K * h
    bends = bend > 0.0
    at = (first - last + rises * h + 0.5 * K * h * h) / jnp.where(bends, bend, 1.0)
    inside = bends & (at > 0.0) & (at < h)
    crossing = jnp.where(inside, first + falls * at - 0.5 * K * at * at, jnp.inf)
    lowest = jnp.minimum(crossing, jnp.minimum(first, last))
    return jnp.where((first > 0.0) & (last > 0.0), lowest, jnp.inf), at


def dip_between(before: Approach, after: Approach, h: Scalar | float) -> tuple[Flag, Scalar]:
    """Whether a gap that is open at two instants may pass below zero between them, and the time of the lowest [s]."""
    dips, at = _lowest_below(-UNSEEN, before, after, h)
    if before.jump is not None and after.jump is not None:
        jump = jnp.maximum(before.jump, after.jump)
        falls = dataclasses.replace(before, rates=before.rates - jump)
        rises = dataclasses.replace(after, rates=after.rates + jump)
        jumps, where = _lowest_below(-UNSEEN_JUMP, falls, rises, h)
        dips, at = dips | jumps, jnp.where(dips, at, where)
    return dips, jnp.clip(at, _INSIDE * h, (1.0 - _INSIDE) * h)


def _lowest_below(limit: float, before: Approach, after: Approach, h: Scalar | float) -> tuple[Flag, Scalar]:
    lowest, at = lowest_between(before, after, h)
    k = jnp.argmin(lowest)
    return lowest[k] < limit, at[k]


def _size(x: Numeric) -> Numeric:
    return jnp.sqrt(jnp.sum(x * x, axis=0))
