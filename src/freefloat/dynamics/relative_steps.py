"""Relative motion integrated: from the cell's side alone, or in orbit and in the cell side by side.

With one integrator the relative states are integrated, and what is in orbit is mapped from them (eq. 23). The paper's
facility integrates twice (Figs 5 and 6): eq. (2) and (13) beside (11) and (18). Both are the same motion; the second
costs a second state, and its two halves drift apart by the integrator's error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.nominal_motion import FrameMotion, NominalMotion
from freefloat.dynamics.relative import (
    absolute_state,
    orbit_and_relative_acceleration,
    relative_acceleration,
    relative_state,
    require_relative_start,
)
from freefloat.dynamics.state_rate import state_rate
from freefloat.dynamics.state_steps import Rates, States, frame_rate, step_states
from freefloat.model import Spacecraft, State
from freefloat.values import record
from freefloat.values.arrays import Scalar, Vec6, Vector

Crafts = Sequence[Spacecraft]
NominalRate = Callable[[FrameMotion, Scalar], Vec6]  # Vdot_NZ of where Z is at a time: any nominal motion is one
Loads = Callable[[States, Scalar], Sequence[Vector]]  # states in orbit and time -> generalised force on each


@record
class RelativeMotion:
    """Everything that is integrated with one integrator."""

    time: Scalar  # [s]
    nominal: State  # of Z in N, a body without joints
    states: States  # of each spacecraft, seen from Z

    @staticmethod
    def start(nominal: FrameMotion, states: Sequence[State]) -> RelativeMotion:
        """Motion that starts at time zero from states in orbit."""
        Z = NominalMotion(nominal.position, nominal.quaternion, nominal.twist, np.zeros(6))
        return RelativeMotion(
            np.zeros(()), _frame_state(nominal), tuple(_numpy_state(relative_state(Z, state)) for state in states)
        )


@record
class TwofoldMotion:
    """Everything that is integrated with two integrators, as in the paper."""

    time: Scalar  # [s]
    nominal: State  # of Z in N, a body without joints
    orbit: States  # of each spacecraft in N
    states: States  # of each spacecraft, seen from Z

    @staticmethod
    def start(nominal: FrameMotion, orbit: Sequence[State], states: Sequence[State]) -> TwofoldMotion:
        """Motion that starts at time zero from states in orbit and in the cell, which must belong together."""
        Z = NominalMotion(nominal.position, nominal.quaternion, nominal.twist, np.zeros(6))
        for state, relative in zip(orbit, states, strict=True):
            require_relative_start(Z, state, relative)
        return TwofoldMotion(np.zeros(()), _frame_state(nominal), tuple(orbit), tuple(states))


def relative_rates(
    crafts: Crafts, nominal_rate: NominalRate, loads: Loads, states: States, t: Scalar
) -> tuple[Rates, NominalMotion]:
    """Rates of the nominal motion and of every relative state, in this order, and the nominal motion itself."""
    first, *relative = states
    nominal = nominal_of(first, nominal_rate, t)
    forces = loads(tuple(absolute_state(nominal, state) for state in relative), t)
    rates = [frame_rate(first, nominal.twist_rate)]
    for craft, state, force in zip(crafts, relative, forces, strict=True):
        rates.append(state_rate(craft, state, relative_acceleration(craft, nominal, state, force)))
    return tuple(rates), nominal


def relative_step(
    crafts: Crafts, nominal_rate: NominalRate, loads: Loads, motion: RelativeMotion, dt: Scalar | float
) -> RelativeMotion:
    """One step with one integrator: eq. (4), (11) and (18); loads get the states from eq. (23)."""

    def rates(states: States, t: Scalar) -> Rates:
        return relative_rates(crafts, nominal_rate, loads, states, t)[0]

    nominal, *states = step_states(rates, (motion.nominal, *motion.states), motion.time, dt)
    return RelativeMotion(motion.time + dt, nominal, tuple(states))


def twofold_step(
    crafts: Crafts, nominal_rate: NominalRate, loads: Loads, motion: TwofoldMotion, dt: Scalar | float
) -> TwofoldMotion:
    """One step with two integrators: eq. (4), (2), (13), (11), (18); loads get the states of the cell (eq. 23)."""
    count = len(motion.states)

    def rates(states: States, t: Scalar) -> Rates:
        first, orbit, relative = states[0], states[1 : 1 + count], states[1 + count :]
        nominal = nominal_of(first, nominal_rate, t)
        forces = loads(tuple(absolute_state(nominal, state) for state in relative), t)
        found = [
            orbit_and_relative_acceleration(craft, nominal, *pair, force)
            for craft, pair, force in zip(crafts, zip(orbit, relative, strict=True), forces, strict=True)
        ]
        above = (state_rate(craft, state, vdots[0]) for craft, state, vdots in zip(crafts, orbit, found, strict=True))
        below = (
            state_rate(craft, state, vdots[1]) for craft, state, vdots in zip(crafts, relative, found, strict=True)
        )
        return (frame_rate(first, nominal.twist_rate), *above, *below)

    nominal, *states = step_states(rates, (motion.nominal, *motion.orbit, *motion.states), motion.time, dt)
    return TwofoldMotion(motion.time + dt, nominal, tuple(states[:count]), tuple(states[count:]))


def nominal_of(state: State, nominal_rate: NominalRate, t: Scalar) -> NominalMotion:
    """Nominal motion at a state of Z and a time."""
    here = FrameMotion(jnp.asarray(state.p_NB), jnp.asarray(state.quat_NB), jnp.asarray(state.V_NB))
    return NominalMotion(here.position, here.quaternion, here.twist, nominal_rate(here, t))


def _frame_state(motion: FrameMotion) -> State:
    return _numpy_state(State(motion.position, motion.quaternion, np.zeros(0), motion.twist))


def _numpy_state(state: State) -> State:
    return State(*(np.asarray(x, dtype=float) for x in (state.p_NB, state.quat_NB, state.q, state.v)))
