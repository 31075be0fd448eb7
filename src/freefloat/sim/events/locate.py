"""A step with events: partial steps to the instant of each event, and its effect there.

One loop does it. It begins where the step begins (START), tries the rest of the step (TRIAL) and, if a signal has
become negative, looks for the instant at which it did (SEARCH: regula falsi, Illinois). A trial in which a gap may
close and open again is made shorter, to where the gap is lowest; the rest of the step follows. A step without an event
is one trial. Commands that latch, release or brake take effect at the start of a step. Where contact begins, slips and
ends is located in `piecewise_steps`, where a wheel becomes full in `motion.full_wheels`.
"""

from __future__ import annotations

import dataclasses
from functools import partial

import jax
import jax.numpy as jnp

from freefloat.dynamics.manifold import return_to_rows
from freefloat.model.part_kinds import Approach
from freefloat.sim.events.event_signals import Signals, event_signals, has_signals, stays_quiet
from freefloat.sim.events.gap_dips import dip_between
from freefloat.sim.events.piecewise_steps import advance_motion
from freefloat.sim.events.switching import (
    SwitchFlags,
    commanded_switches,
    effective_switches,
    fired_events,
    state_after_events,
)
from freefloat.sim.motion.accelerations import balances, derivative
from freefloat.sim.motion.actuation import commanded_torques
from freefloat.sim.motion.applied_impulses import apply_return
from freefloat.sim.motion.constraint_forces import held_rows, prescribed_names
from freefloat.sim.motion.constraint_rows import contact_approach, out_of_reach
from freefloat.sim.motion.integrators import RateFunction
from freefloat.sim.motion.interactions import Flags
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.system.constraint_state import ConstraintState, Holding, holding_case, holding_cases
from freefloat.sim.system.system import Inputs, System, SystemState, Tick
from freefloat.sim.system.world_state import WorldRate, WorldState
from freefloat.values import record
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector
from freefloat.values.tracing import cond

START, TRIAL, SEARCH = 0, 1, 2
_EVENTS = 128  # in one step, at most
_ROUNDS = 4000  # of the loop in one step, at most
_CHATTER = 1e-3  # of a step: bounces that would be over so soon are over now
_SAME = 1e-10  # signals this small, as a share of their change in the trial, fire together
_FOUND = 1e-14  # as a share of the change of the signals
_SHORTEST = 1e-9  # of a step: a trial that is no longer is not cut
_NARROW = 1e-15  # of the step, and of the time
_INSIDE = 1e-9  # of a step, see `integrators`
_BISECT = 4  # rounds after which a search that has not ended halves its interval


@record
class _Search:
    """Loop state of the search for events. A segment of the step begins at `done` and reaches to `trial` after it."""

    plants: WorldState  # at the beginning of the segment
    constraints: ConstraintState
    phase: Numeric  # int32
    pending: Flag  # switches that software commanded are still to be made
    finished: Flag
    done: Scalar  # [s] of the step
    trial: Scalar  # [s]
    low: Scalar  # the signal is not negative there
    high: Scalar  # negative there
    at_low: Scalar
    at_high: Scalar
    side: Numeric  # int32: which end moved last
    first: Signals  # at the beginning of the segment
    approach: Approach | None  # of the contacts, there; None without contacts
    scale: Vector
    rounds: Numeric  # int32
    tries: Numeric  # int32: rounds of this search
    events: Numeric  # int32


def step_with_events(system: System, state: SystemState, inputs: Inputs, tick: Tick, h: Scalar | float) -> SystemState:
    """The state after a step of length h [s] with its events, from a tick at which sensors and software have run."""
    h = jnp.asarray(h, float)
    asked, state = _commanded_switches(system, state, inputs, tick)
    pending = jnp.any(jnp.concatenate([asked.latch, asked.release, asked.brake, asked.free]))
    locator = _EventLocator(system, state, inputs, tick, h, asked)
    if not has_signals(system.world):  # events occur at ticks only
        nothing = jnp.zeros(0, bool)
        plants, constraints = cond(
            pending,
            lambda: locator.apply_events(state, nothing, pending=pending, t=tick.t, events=jnp.zeros((), jnp.int32)),
            lambda: (state.plants, state.modes),
        )
        return locator.advance(dataclasses.replace(state, plants=plants, constraints=constraints), jnp.zeros(()), h)
    whole = locator.advance(state, jnp.zeros(()), h)
    quiet = ~pending & stays_quiet(system.world, state, whole, h)
    plants, constraints = cond(quiet, lambda: (whole.plants, whole.modes), lambda: _resolve(locator, state, pending))
    return dataclasses.replace(state, plants=plants, constraints=constraints)


def _resolve(locator: _EventLocator, state: SystemState, pending: Flag) -> tuple[WorldState, ConstraintState]:
    """Plants and constraints after a step in which events occur, or may occur."""
    world = locator.system.world
    count = len(world.connections) + len(world.brakes) + len(world.contacts)
    # Zeros that the engine does not know to be zeros: it would trace the loop anew for each that it finds changing.
    none = jnp.minimum(jnp.abs(state.tick), 0).astype(jnp.int32)
    nothing = jnp.minimum(jnp.abs(locator.tick.t), 0.0)
    flags, values = jnp.repeat(none > 0, count), jnp.repeat(nothing, count)
    search = _Search(
        plants=state.plants,
        constraints=state.modes,
        phase=none,
        pending=pending,
        finished=none > 0,
        done=nothing,
        trial=nothing,
        low=nothing,
        high=nothing,
        at_low=nothing,
        at_high=nothing,
        side=none,
        first=Signals(values, values, flags, flags, flags),
        approach=_no_approach(len(world.contacts), nothing),
        scale=1.0 + values,
        rounds=none,
        tries=none,
        events=none,
    )
    found = jax.lax.while_loop(lambda search: ~search.finished, locator.advance_search, search)
    return found.plants, found.constraints


def _no_approach(contacts: int, nothing: Scalar) -> Approach | None:
    """An approach of zeros, before any gap has been computed; None without contacts."""
    if not contacts:
        return None
    each = jnp.repeat(nothing, contacts)
    return Approach(each, each, jnp.repeat(nothing, 6 * contacts).reshape(6, contacts), each)


def _commanded_switches(
    system: System, state: SystemState, inputs: Inputs, tick: Tick
) -> tuple[SwitchFlags, SystemState]:
    """The commanded switches that change something, and the state with the latches that were out of reach."""
    world, modes = system.world, state.modes
    here = PortBus(system, state, state.states, inputs, tick.t, tick.number)
    asked = commanded_switches(here)
    modes = dataclasses.replace(modes, refused=jnp.where(asked.latch, modes.refused, 0).astype(jnp.int32))
    state = dataclasses.replace(state, constraints=modes)
    asked = effective_switches(state, asked)
    if world.connections:

        def beyond() -> Numeric:
            return jnp.stack([out_of_reach(world, state.states, connection) > 0.0 for connection in world.connections])

        # A latch that was out of reach is commanded again at every tick, until it is within reach.
        again = asked.latch & (modes.refused == 1)
        still = cond(jnp.any(again), beyond, lambda: jnp.zeros(len(world.connections), bool))
        asked = dataclasses.replace(asked, latch=asked.latch & ~(again & still))
    if tick.whole is not True:  # software acts at ticks, however finely they are integrated
        asked = jax.tree.map(lambda flag: flag & tick.whole, asked)
    return asked, state


class _EventLocator:
    """Locates and applies the events of one step: the rounds of the search loop."""

    def __init__(
        self, system: System, state: SystemState, inputs: Inputs, tick: Tick, h: Scalar, asked: SwitchFlags
    ) -> None:
        self.system, self.state, self.inputs, self.tick, self.h, self.asked = system, state, inputs, tick, h, asked

    def advance_search(self, search: _Search) -> _Search:
        """The search after one round: one state is computed, its events are applied, and the next state is chosen."""
        starts = search.phase == START
        here = dataclasses.replace(self.state, plants=search.plants, constraints=search.constraints)
        there = cond(starts, lambda: here, lambda: self.advance(here, search.done, search.trial))
        t = self.tick.t + search.done + search.trial
        seen = event_signals(self.system, there, self.inputs, self.tick, t, self._inside(search))
        first = jax.tree.map(lambda new, old: jnp.where(starts, new, old), seen, search.first)
        signals = jnp.where(starts, first.at_start(), first.since(seen, jnp.where(starts, 1.0, search.trial)))
        approach = (
            contact_approach(self.system.world, there.states, there.modes) if search.approach is not None else None
        )
        may_happen = search.events < _EVENTS
        at_once = may_happen & starts & ~search.pending & jnp.any(first.fires_at_once())
        decided = self._decide(search, first, signals, may_happen=may_happen)
        located = (search.phase == SEARCH) & decided.found
        event = (starts & search.pending) | at_once | located
        together = signals / search.scale <= _SAME + jnp.maximum(0.0, jnp.min(signals / search.scale))
        fired = jnp.where(starts, at_once & first.fires_at_once(), located & together)
        plants, constraints = cond(
            event,
            lambda: self.apply_events(there, fired, pending=starts & search.pending, t=t, events=search.events),
            lambda: (there.plants, there.modes),
        )
        return self._next_search(search, decided, first, signals, event, plants, constraints, approach)

    def _inside(self, search: _Search) -> Scalar:
        """A time just inside the segment [s]."""
        t = self.tick.t + search.done + search.trial
        return jnp.where(search.phase == START, t + _INSIDE * self.h, t - _INSIDE * self.h)

    def advance(self, here: SystemState, done: Scalar, length: Scalar) -> SystemState:
        """The state after an integration over a length [s]; a branch for each case of what is held."""
        world = self.system.world
        ways = [partial(self._advance, here, done, length, case) for case in holding_cases(world)]
        plants, lost = jax.lax.switch(holding_case(world, here.modes), ways)
        modes = dataclasses.replace(here.modes, lost=lost)
        return dataclasses.replace(here, plants=plants, constraints=modes)

    def _advance(self, here: SystemState, done: Scalar, length: Scalar, case: Holding) -> tuple[WorldState, Scalar]:
        def rate_of(on: Flags, full: Vector | None = None) -> RateFunction:
            def rate(plants: WorldState, *times: Scalar) -> WorldRate:
                given = self.system, plants, here, self.inputs, self.tick
                return derivative(*given, *times, holding=case, on=on, full=full)

            return rate

        share = self.h / self.system.dt
        asked = commanded_torques(self.system, here, self.inputs, self.tick)
        plants = advance_motion(self.system, here, rate_of, self.tick.t + done, length, share, asked)
        if case == "nothing":
            return plants, here.modes.lost
        return return_to_held(self.system, dataclasses.replace(here, plants=plants), case)

    def apply_events(
        self, there: SystemState, fired: Numeric, *, pending: Flag, t: Scalar, events: Numeric
    ) -> tuple[WorldState, ConstraintState]:
        system = self.system
        now = balances(system, there.states, there, self.inputs, self.tick, t, t).crafts
        asked = jax.tree.map(lambda flag: flag & pending, self.asked)
        what = fired_events(system.world, there, asked, fired)
        # If one step had many bounces, the rest of them need not be resolved.
        short = jnp.where(2 * events < _EVENTS, _CHATTER, 1.0) * self.h
        after = state_after_events(system, there, now, what, t, short)
        return after.plants, after.modes

    def _decide(self, search: _Search, first: Signals, signals: Vector, *, may_happen: Flag) -> _Decision:
        """The decision on a trial or a search: whether an event was crossed or found, and the new interval."""
        hit = may_happen & first.any_crossed(signals)
        scale = jnp.where(
            search.phase == TRIAL, jnp.maximum(jnp.abs(first.at_start()), jnp.abs(signals)) + 1e-300, search.scale
        )
        value = jnp.min(signals / scale)
        at_start = jnp.min(jnp.maximum(first.at_start(), 0.0) / scale)
        trying = search.phase == TRIAL
        negative = value < 0.0
        low = jnp.where(trying, 0.0, jnp.where(negative, search.low, search.trial))
        high = jnp.where(trying, search.trial, jnp.where(negative, search.trial, search.high))
        side = jnp.where(negative, 1, -1)
        again = ~trying & (side == search.side)  # Illinois: the end that stays counts half
        at_low = jnp.where(trying, at_start, jnp.where(negative, jnp.where(again, 0.5, 1.0) * search.at_low, value))
        at_high = jnp.where(trying, value, jnp.where(negative, value, jnp.where(again, 0.5, 1.0) * search.at_high))
        narrow = _NARROW * (self.h + jnp.abs(self.tick.t))
        tries = jnp.where(trying, 0, search.tries + 1)
        found = (jnp.abs(value) <= _FOUND) | (high - low <= narrow) | (search.rounds >= _ROUNDS)
        spread = at_low - at_high
        guess = low + (high - low) * at_low / jnp.where(spread > 0.0, spread, 1.0)
        halve = (tries % _BISECT == _BISECT - 1) | (spread <= 0.0) | (at_low <= 0.0)
        return _Decision(
            hit=hit,
            found=found,
            scale=scale,
            low=low,
            high=high,
            at_low=at_low,
            at_high=at_high,
            side=jnp.where(trying, 0, side).astype(jnp.int32),
            tries=tries.astype(jnp.int32),
            guess=jnp.where(halve, 0.5 * (low + high), guess),
        )

    def _dip(self, search: _Search, decided: _Decision, approach: Approach | None) -> tuple[Flag, Scalar]:
        """Whether a contact may close and open again within a trial, and where to end the trial then [s]."""
        if search.approach is None or approach is None:
            return jnp.asarray(False), search.trial
        dips, lowest = dip_between(search.approach, approach, jnp.where(search.trial > 0.0, search.trial, 1.0))
        looks = (search.phase == TRIAL) & ~decided.hit & (search.trial > _SHORTEST * self.h)
        return dips & looks & (search.events < _EVENTS) & (search.rounds < _ROUNDS), lowest

    def _next_search(
        self,
        search: _Search,
        decided: _Decision,
        first: Signals,
        signals: Vector,
        event: Flag,
        plants: WorldState,
        constraints: ConstraintState,
        approach: Approach | None,
    ) -> _Search:
        starts, trying = search.phase == START, search.phase == TRIAL
        dips, lowest = self._dip(search, decided, approach)
        accepted = trying & ~decided.hit & ~dips
        moves = event | accepted
        done = search.done + jnp.where(moves, search.trial, 0.0)
        rest = self.h - done
        over = rest <= _NARROW * self.h
        searching = (trying & decided.hit) | ((search.phase == SEARCH) & ~decided.found)
        phase = jnp.where(moves, START, jnp.where(starts, TRIAL, jnp.where(searching, SEARCH, search.phase)))
        shorter = jnp.where(dips, lowest, search.trial)
        trial = jnp.where(moves, 0.0, jnp.where(starts, rest, jnp.where(searching, decided.guess, shorter)))
        gave_up = accepted & (search.events >= _EVENTS)
        kept = dataclasses.replace(
            constraints, unresolved=constraints.unresolved + jnp.where(gave_up, 1, 0).astype(jnp.int32)
        )
        return _Search(
            plants=jax.tree.map(lambda new, old: jnp.where(moves, new, old), plants, search.plants),
            constraints=jax.tree.map(lambda new, old: jnp.where(moves, new, old), kept, search.constraints),
            phase=phase.astype(jnp.int32),
            pending=search.pending & ~(starts & event),
            finished=moves & over,
            done=done,
            trial=trial,
            low=decided.low,
            high=decided.high,
            at_low=decided.at_low,
            at_high=decided.at_high,
            side=decided.side,
            first=first,
            approach=jax.tree.map(lambda new, old: jnp.where(starts, new, old), approach, search.approach),
            scale=decided.scale,
            rounds=search.rounds + 1,
            tries=decided.tries,
            events=search.events + jnp.where(event, 1, 0).astype(jnp.int32),
        )


@record
class _Decision:
    hit: Flag
    found: Flag
    scale: Vector
    low: Scalar
    high: Scalar
    at_low: Scalar
    at_high: Scalar
    side: Numeric
    tries: Numeric
    guess: Scalar


def return_to_held(system: System, state: SystemState, case: Holding) -> tuple[WorldState, Scalar]:
    """Plants after a mass-weighted return of positions and speeds to what is held, and the energy lost [J]."""
    world, states = system.world, state.states
    rows, active = held_rows(world, states, state.modes, case)
    found = return_to_rows(world.crafts, states, rows, prescribed=prescribed_names(system), active=active)
    return apply_return(system, state.plants, rows, found), state.modes.lost + found.energy_lost
