"""Impulses on spacecraft and their ledgers: of rows, and of motors that keep prescribed joints at their rates."""

from __future__ import annotations

import dataclasses

from freefloat.dynamics.constrained import row_forces
from freefloat.dynamics.impact import Impact
from freefloat.dynamics.inner_motion import motion_of_com, speeds_about_com
from freefloat.dynamics.manifold import ReturnedStates
from freefloat.dynamics.relative_rows import Rows
from freefloat.model import Spacecraft, State
from freefloat.sim.motion.constraint_forces import exchanged_forces
from freefloat.sim.system.craft_state import Exchange, Ledger, Plants
from freefloat.sim.system.system import System
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import cross
from freefloat.values.arrays import Vector


def apply_impact(system: System, plants: Plants, rows: tuple[Rows, ...], impact: Impact) -> Plants:
    """All spacecraft after an impact, with its work and impulses in their ledgers."""
    crafts, states = system.world.crafts, tuple(plant.state for plant in plants)
    pushes = row_forces(crafts, states, rows, impact.impulse)
    shared = exchanged_forces(system.world, states, rows, impact.impulse, pushes)
    found = []
    for c, plant in enumerate(plants):
        after = dataclasses.replace(plant.state, v=impact.speeds[c])
        ledger = ledger_after_impulse(crafts[c], plant.state, after.v, plant.ledger, pushes[c] + impact.prescribed[c])
        ledger = _with_exchange(ledger, plant.state, after.v, pushes[c], shared[c])
        found.append(dataclasses.replace(plant, state=after, ledger=ledger))
    return tuple(found)


def ledger_after_impulse(craft: Spacecraft, state: State, v: Vector, ledger: Ledger, impulse: Vector) -> Ledger:
    """The ledger after a generalised impulse that changed the speeds to v; it works at the mean of both speeds."""
    com, before = motion_of_com(craft, state.q, state.v)
    _, after = motion_of_com(craft, state.q, v)
    speeds = speeds_about_com(craft, state.q, state.v, before) + speeds_about_com(craft, state.q, v, after)
    push = impulse[:6]
    return dataclasses.replace(
        ledger,
        work=ledger.work + 0.5 * impulse @ (state.v + v),
        inner_work=ledger.inner_work + 0.5 * impulse @ speeds,
        impulse=ledger.impulse + state.X_NB.wrench_to_A(push),
        turning=ledger.turning + state.X_NB.R @ (angular(push) - cross(com, linear(push))),
    )


def apply_return(system: System, plants: Plants, rows: tuple[Rows, ...], back: ReturnedStates) -> Plants:
    """All spacecraft after their return onto the rows, with its work and impulses in their ledgers."""
    crafts, states = system.world.crafts, tuple(plant.state for plant in plants)
    pushes = row_forces(crafts, states, rows, back.impulse)
    shared = exchanged_forces(system.world, states, rows, back.impulse, pushes)
    found = []
    for c, plant in enumerate(plants):
        v = back.states[c].v
        ledger = ledger_after_impulse(crafts[c], plant.state, v, plant.ledger, pushes[c])
        ledger = _with_exchange(ledger, plant.state, v, pushes[c], shared[c])
        found.append(dataclasses.replace(plant, state=back.states[c], ledger=ledger))
    return tuple(found)


def _with_exchange(ledger: Ledger, state: State, v: Vector, push: Vector, shared: Vector) -> Ledger:
    """The ledger with work and impulse from other spacecraft; `shared` leaves out rows to frames fixed in N."""
    old = ledger.exchange
    assert old is not None
    exchange = Exchange(
        work=old.work + 0.5 * push @ (state.v + v), impulse=old.impulse + state.X_NB.wrench_to_A(shared[:6])
    )
    return dataclasses.replace(ledger, exchange=exchange)
