"""Shapes that come closer than their limit and separate again within one step: found where they are closest.

Distances that cannot fall to their limit at the speed at which the bodies move are skipped. The others are searched
one after the other by golden section: between convex shapes that pass without turning the distance has one minimum.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from freefloat.values import record
from freefloat.values.arrays import Numeric, Scalar, Vector

_GOLDEN = 0.3819660112501051  # share of the longer part at which the next look is taken
_NARROW = 1e-6  # of a step: the lowest point is found
_ROUNDS = 40  # for each pair of shapes, at most
_WIDE = 2.0  # so many times as far as anything comes in a step: far away


@record
class Step:
    """Margins and speeds of all pairs of shapes at both ends of a step."""

    first: Vector  # margins of all pairs of shapes at its beginning [m]
    last: Vector  # and at its end
    speed: Vector  # none changes faster than this [m/s]
    h: Scalar  # its length [s]

    @property
    def may_dip(self) -> Numeric:
        """Flags of pairs of shapes that are open at both ends of the step and near enough to close in between."""
        near = self.first + self.last < _WIDE * self.speed * self.h
        return near & (self.first > 0.0) & (self.last > 0.0)


@record
class _DipSearch:
    """Search for the lowest margin of one pair of shapes after the other; its instant lies between low and high."""

    left: Numeric  # flags of those that are still to be looked at
    which: Numeric  # int32: the present one
    low: Scalar
    middle: Scalar  # the lowest that was looked at
    high: Scalar
    at_middle: Scalar  # the margin there; infinity before the first look
    rounds: Numeric  # int32: of the present one
    lowest: Vector  # that was seen of each [m]
    at: Vector  # when [s]


def lowest_margins(margins_after: Callable[[Scalar], Vector], step: Step) -> tuple[Vector, Vector]:
    """Lowest margin [m] of every pair of shapes within a step, and its time [s]; for distant pairs that of the ends."""
    # Zeros that the engine does not know to be zeros: it would trace the loop anew for each that it finds changing.
    none = jnp.minimum(jnp.abs(step.h), 0.0)
    start = _DipSearch(
        left=step.may_dip,
        which=jnp.argmax(step.may_dip).astype(jnp.int32),
        low=none,
        middle=none,
        high=step.h + none,
        at_middle=jnp.inf + none,
        rounds=none.astype(jnp.int32),
        lowest=jnp.minimum(step.first, step.last),
        at=jnp.where(step.first < step.last, 0.0, step.h),
    )
    found = jax.lax.while_loop(lambda p: jnp.any(p.left), lambda p: _next_search(margins_after, step, p), start)
    return found.lowest, found.at


def _next_search(margins_after: Callable[[Scalar], Vector], step: Step, p: _DipSearch) -> _DipSearch:
    """One evaluation of the margins; on to the next pair of shapes once the lowest margin of this one is found."""
    k, begins = p.which, p.rounds == 0
    first, last = step.first[k], step.last[k]
    right = p.high - p.middle > p.middle - p.low
    golden = p.middle + _GOLDEN * jnp.where(right, p.high - p.middle, p.low - p.middle)
    s = jnp.where(begins, step.h * jnp.clip(first / (first + last), 0.02, 0.98), golden)
    margins = margins_after(s)
    value = margins[k]
    lower = value < p.at_middle
    after = s > p.middle
    low = jnp.where(begins, 0.0, jnp.where(lower, jnp.where(after, p.middle, p.low), jnp.where(after, p.low, s)))
    high = jnp.where(begins, step.h, jnp.where(lower, jnp.where(after, p.high, p.middle), jnp.where(after, s, p.high)))
    middle, at_middle = jnp.where(lower, s, p.middle), jnp.where(lower, value, p.at_middle)
    wide = jnp.maximum(high - middle, middle - low)
    settled = (at_middle <= 0.0) | (at_middle > _WIDE * step.speed[k] * wide) | (high - low <= _NARROW * step.h)
    settled = settled | (p.rounds >= _ROUNDS)
    better = margins < p.lowest
    lowest, at = jnp.where(better, margins, p.lowest), jnp.where(better, s, p.at)
    left = p.left & (lowest > 0.0) & ~(settled & (jnp.arange(p.left.shape[0]) == k))
    moves = ~left[k]
    return _DipSearch(
        left=left,
        which=jnp.where(moves, jnp.argmax(left), k).astype(jnp.int32),
        low=jnp.where(moves, 0.0, low),
        middle=jnp.where(moves, 0.0, middle),
        high=jnp.where(moves, step.h, high),
        at_middle=jnp.where(moves, jnp.inf, at_middle),
        rounds=jnp.where(moves, 0, p.rounds + 1).astype(jnp.int32),
        lowest=lowest,
        at=at,
    )
