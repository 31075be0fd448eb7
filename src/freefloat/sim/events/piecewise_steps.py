"""Steps with piecewise smooth forces: contact that begins, pushes, slips and ends within a step.

A step in which no interaction acts, and none comes near, is a step as usual. Any other is made of shorter ones, each of
which stays in one piece of every law: it ends where a margin changes its sign, which is located (regula falsi,
Illinois). A piece at both ends of which a gap is open, but which may close in between, is cut where it is lowest. So
the integrator keeps its order. Their length follows the error (Dormand and Prince), so that stiff contact is stable
whatever the step. Where that would take too many, the step is left unfinished, and the audit says so.
"""

from __future__ import annotations

import dataclasses

import jax
import jax.numpy as jnp

from freefloat.model import Truth
from freefloat.model.part_kinds import Approach
from freefloat.sim.events.gap_dips import dip_between
from freefloat.sim.motion.cut_steps import RateOf, advance_in_segments, cutting_instants
from freefloat.sim.motion.full_wheels import CommandedTorques, advance_with_wheels
from freefloat.sim.motion.integrators import dormand_prince_attempt, rk4_step
from freefloat.sim.motion.interactions import Flags, Margins, margins
from freefloat.sim.system.system import System, SystemState
from freefloat.sim.system.world_state import WorldRate, WorldState
from freefloat.values import record
from freefloat.values.arrays import Flag, Numeric, Scalar
from freefloat.values.tracing import cond

PIECE_TOLERANCE = 1e-10  # of a piece: [m, rad, m/s, rad/s]; 2^5 times less where the audit cuts a step into parts
_NARROW = 1e-11  # of a step: where a piece ends
_SHORTEST = 1e-9  # of a step: what is shorter is accepted as it is
_ROUNDS = 6000  # attempts in one step, at most
_ORDER = 5
_FINEST = 0.5  # of a step: in shorter parts the tolerance stays, or rounding would be in the way
_WIDE = 2.0  # so many times as far as anything comes in a step: far away


def advance_motion(
    system: System,
    state: SystemState,
    rate_of: RateOf,
    t: Scalar,
    h: Scalar | float,
    share: Scalar | float,
    asked: CommandedTorques,
) -> WorldState:
    """Plants after an integration from time t over a length h; `share`: length of the step as a share of a tick.

    It is cut where a force jumps at a known instant, and where a wheel becomes full; `asked`: see `full_wheels`.
    """

    def smoothly(plants: WorldState, rate_of: RateOf, t: Scalar, h: Scalar | float) -> WorldState:
        return _advance_smoothly(system, plants, rate_of, t, h, share)

    def advance(plants: WorldState, rate_of: RateOf, t: Scalar, h: Scalar | float) -> WorldState:
        if not system.wiring.limited_wheels:
            return smoothly(plants, rate_of, t, h)
        return advance_with_wheels(system, smoothly, plants, rate_of, asked, t, jnp.asarray(h, float))

    instants = cutting_instants(system, state)
    if instants is None:
        return advance(state.plants, rate_of, t, h)
    return advance_in_segments(advance, instants, state.plants, rate_of, t, jnp.asarray(h, float), share)


def _advance_smoothly(
    system: System, plants: WorldState, rate_of: RateOf, t: Scalar, h: Scalar | float, share: Scalar | float
) -> WorldState:
    """Plants after an integration over a length in which only forces of interactions may jump."""
    whole = rk4_step(rate_of(()), plants, t, h)
    if not system.interactions:
        return whole
    return cond(
        _stays_apart(system, plants, whole, h),
        lambda: whole,
        lambda: _advance_in_pieces(system, plants, rate_of, t, jnp.asarray(h, float), share),
    )


def _stays_apart(system: System, before: WorldState, after: WorldState, h: Scalar | float) -> Flag:
    """Whether no interaction acts in a step; only bodies that are near each other are checked closely."""
    far = jnp.asarray(True)
    for interaction in system.interactions:
        for plants in (before, after):
            gap, speed = interaction.gap_bound(Truth(system.world, plants.states))
            far = far & (gap > _WIDE * speed * h)
    return cond(far, lambda: jnp.asarray(True), lambda: _is_clear(system, before, after, h))


def _is_clear(system: System, before: WorldState, after: WorldState, h: Scalar | float) -> Flag:
    """Whether no interaction acts at both ends of a step, nor in between."""
    clear = jnp.asarray(True)
    for first, last in zip(_approaches(system, before), _approaches(system, after), strict=True):
        clear = clear & jnp.all((first.gaps > 0.0) & (last.gaps > 0.0)) & ~dip_between(first, last, h)[0]
    return clear


@record
class _PieceSearch:
    """Loop state: `plants` after the time `done` of the step; an attempt of the length `trial` comes next."""

    plants: WorldState
    on: Flags
    done: Scalar  # [s]
    trial: Scalar  # [s]
    length: Scalar  # that the error permits [s]
    searching: Flag  # for the end of a piece, which lies between low and high after `done`
    low: Scalar
    high: Scalar
    at_low: Scalar
    at_high: Scalar
    side: Numeric  # int32: which end moved last
    start: Scalar  # the smallest margin at the beginning of the piece
    approaches: tuple[Approach, ...]  # of every interaction, there
    rounds: Numeric  # int32


def _advance_in_pieces(
    system: System, plants: WorldState, rate_of: RateOf, t: Scalar, h: Scalar, share: Scalar | float
) -> WorldState:
    tolerance = PIECE_TOLERANCE * jnp.maximum(jnp.asarray(share, float), _FINEST) ** _ORDER
    here = _margins(system, plants)
    on = _flags(here)
    # Zeros that the engine does not know to be zeros: it would trace the loop anew for each that it finds changing.
    none = jnp.minimum(jnp.abs(t), 0.0)
    count = none.astype(jnp.int32)
    first = _PieceSearch(
        plants=plants,
        on=on,
        done=none,
        trial=h + none,
        length=h + none,
        searching=count > 0,
        low=none,
        high=none,
        at_low=none,
        at_high=none,
        side=count,
        start=_smallest(here, on),
        approaches=_approaches(system, plants),
        rounds=count,
    )
    last = jax.lax.while_loop(
        lambda p: (p.done < h) & (p.rounds < _ROUNDS), lambda p: _next_piece(system, p, rate_of, t, h, tolerance), first
    )
    return _count_unfinished(last, h)


def _next_piece(
    system: System, p: _PieceSearch, rate_of: RateOf, t: Scalar, h: Scalar, tolerance: Scalar
) -> _PieceSearch:
    """The next loop state: an attempted piece is accepted, shortened, or its end is searched for."""
    reached, error = dormand_prince_attempt(rate_of(p.on), p.plants, t + p.done, p.trial)
    off = _size(error) / tolerance
    there = _margins(system, reached)
    value, on = _smallest(there, p.on), _flags(there)
    shortest = p.trial <= _SHORTEST * h
    coarse = ~(off <= 1.0) & ~p.searching & ~shortest
    ended = ~(value >= 0.0) & ~coarse
    approaches = _approaches(system, reached)
    dips, lowest = _dip(p.approaches, approaches, p.trial)
    dips = dips & ~coarse & ~ended & ~p.searching & ~shortest
    # Where the piece ends: an interval that shrinks.
    low = jnp.where(p.searching, jnp.where(ended, p.low, p.trial), 0.0)
    high = jnp.where(ended, p.trial, p.high)
    side = jnp.where(ended, 1, -1).astype(jnp.int32)
    again = p.searching & (side == p.side)  # Illinois: the end that stays counts half
    at_low = jnp.where(p.searching, jnp.where(ended, jnp.where(again, 0.5, 1.0) * p.at_low, value), p.start)
    at_high = jnp.where(ended, value, jnp.where(again, 0.5, 1.0) * p.at_high)
    found = ended & ((p.trial - low <= _NARROW * h) | shortest)
    accepted = found | (~p.searching & ~coarse & ~ended & ~dips)
    searching = ~accepted & ~coarse & ~dips
    grown = _growth(off) * p.trial
    length = jnp.where(coarse | (accepted & ~found), grown, p.length)
    done = p.done + jnp.where(accepted, p.trial, 0.0)
    rest = h - done
    over = accepted & (rest <= _NARROW * h)
    onward = jnp.where(dips, lowest, jnp.minimum(length, rest))
    trial = jnp.where(searching, _guess(low, high, at_low, at_high, p.rounds, h), onward)

    def if_accepted(new: Numeric, old: Numeric) -> Numeric:
        return jnp.where(accepted, new, old)

    return _PieceSearch(
        plants=jax.tree.map(if_accepted, _settle_interactions(system, reached, on), p.plants),
        on=jax.tree.map(if_accepted, on, p.on),
        done=jnp.where(over, h, done),
        trial=trial,
        length=length,
        searching=searching,
        low=low,
        high=high,
        at_low=at_low,
        at_high=at_high,
        side=jnp.where(p.searching, side, 0).astype(jnp.int32),
        start=if_accepted(_smallest(there, on), p.start),
        approaches=jax.tree.map(if_accepted, approaches, p.approaches),
        rounds=p.rounds + 1,
    )


def _growth(off: Scalar) -> Scalar:
    """Factor on the length of the next attempt, from the error in units of the tolerance."""
    finite = jnp.isfinite(off)
    return jnp.where(finite, jnp.clip(0.9 * jnp.maximum(jnp.where(finite, off, 1.0), 1e-10) ** -0.2, 0.1, 5.0), 0.1)


def _guess(low: Scalar, high: Scalar, at_low: Scalar, at_high: Scalar, rounds: Numeric, h: Scalar) -> Scalar:
    """Next estimate of the end of a piece: just after the zero of a straight line, every fifth time the middle."""
    spread = at_low - at_high
    straight = low + (high - low) * at_low / jnp.where(spread > 0.0, spread, 1.0) + 0.5 * _NARROW * h
    halve = (rounds % 5 == 4) | ~(spread > 0.0) | (at_low <= 0.0)
    return jnp.where(halve, 0.5 * (low + high), jnp.minimum(straight, high))


def _margins(system: System, plants: WorldState) -> Margins:
    return margins(system, plants.states, plants.interactions)


def _approaches(system: System, plants: WorldState) -> tuple[Approach, ...]:
    truth = Truth(system.world, plants.states)
    return tuple(interaction.approach(truth) for interaction in system.interactions)


def _dip(before: tuple[Approach, ...], after: tuple[Approach, ...], length: Scalar) -> tuple[Flag, Scalar]:
    """Whether a gap may close and open again within a piece, and when it is lowest [s]; the first one of several."""
    found = [dip_between(first, last, length) for first, last in zip(before, after, strict=True)]
    ends = [jnp.where(dips, at, length) for dips, at in found]
    return jnp.any(jnp.stack([dips for dips, _ in found])), jnp.min(jnp.stack(ends))


def _flags(found: Margins) -> Flags:
    return tuple(margin > 0.0 for margin in found)


def _smallest(found: Margins, on: Flags) -> Scalar:
    """The smallest margin, with its sign such that it becomes negative where a piece ends."""
    return jnp.min(jnp.concatenate([jnp.where(flag, m, -m) for m, flag in zip(found, on, strict=True)]))


def _size(error: WorldRate) -> Scalar:
    """Largest error of the motion and of the states of interactions, in SI units."""
    parts = [jnp.ravel(x) for x in jax.tree.leaves([plant.state for plant in error.crafts])]
    parts += [jnp.ravel(x) for x in jax.tree.leaves([own.state for own in error.interactions])]
    return jnp.max(jnp.abs(jnp.concatenate(parts)))


def _settle_interactions(system: System, plants: WorldState, on: Flags) -> WorldState:
    """The plants after a piece, with interactions adapted to changed flags, and their lost energy and most work."""
    settled = []
    for interaction, own, flag in zip(system.interactions, plants.interactions, on, strict=True):
        state, lost = interaction.reset_inner_state(own.state, flag)
        most = jnp.maximum(own.turnover, jnp.abs(own.work))
        settled.append(dataclasses.replace(own, state=state, dissipated=own.dissipated + lost, turnover=most))
    return dataclasses.replace(plants, interactions=tuple(settled))


def _count_unfinished(last: _PieceSearch, h: Scalar) -> WorldState:
    """The plants after the step, with a step that was left unfinished counted."""
    left = last.done < h
    counted = tuple(
        dataclasses.replace(
            own,
            unfinished=own.unfinished + jnp.where(left, 1.0, 0.0),
            covered=jnp.where(left, jnp.minimum(own.covered, last.done / h), own.covered),
        )
        for own in last.plants.interactions
    )
    return dataclasses.replace(last.plants, interactions=counted)
