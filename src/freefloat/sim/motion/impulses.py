"""Books of an impact: what rows, and motors that keep prescribed joints at their rates, hand to each spacecraft."""

from __future__ import annotations

import dataclasses

from freefloat.dynamics.constrained import row_forces
from freefloat.dynamics.impact import Impact
from freefloat.dynamics.inner_motion import motion_of_com, speeds_about_com
from freefloat.dynamics.manifold import Return
from freefloat.dynamics.relative_rows import Rows
from freefloat.model import Spacecraft, State
from freefloat.sim.motion.constraint_forces import exchanged
from freefloat.sim.system.craft_state import Exchange, Ledger, Plants
from freefloat.sim.system.system import System
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import cross
from freefloat.values.arrays import Vector


def book_impulses(system: System, plants: Plants, rows: tuple[Rows, ...], impact: Impact) -> Plants:
    """All spacecraft after an impact, their books with it."""
    crafts, states = system.world.crafts, tuple(plant.state for plant in plants)
    pushes = row_forces(crafts, states, rows, impact.impulse)
    shared = exchanged(system.world, states, rows, impact.impulse, pushes)
    found = []
    for c, plant in enumerate(plants):
        after = dataclasses.replace(plant.state, v=impact.speeds[c])
        books = book_impulse(crafts[c], plant.state, after.v, plant.ledger, pushes[c] + impact.prescribed[c])
        books = _exchanged(books, plant.state, after.v, pushes[c], shared[c])
        found.append(dataclasses.replace(plant, state=after, ledger=books))
    return tuple(found)


def book_impulse(craft: Spacecraft, state: State, v: Vector, books: Ledger, impulse: Vector) -> Ledger:
    """The books after a generalised impulse that changed the speeds to v; it works at the mean of both."""
    com, before = motion_of_com(craft, state.q, state.v)
    _, after = motion_of_com(craft, state.q, v)
    speeds = speeds_about_com(craft, state.q, state.v, before) + speeds_about_com(craft, state.q, v, after)
    push = impulse[:6]
    return dataclasses.replace(
        books,
        work=books.work + 0.5 * impulse @ (state.v + v),
        inner_work=books.inner_work + 0.5 * impulse @ speeds,
        impulse=books.impulse + state.X_NB.wrench_to_A(push),
        turning=books.turning + state.X_NB.R @ (angular(push) - cross(com, linear(push))),
    )


def book_return(system: System, plants: Plants, rows: tuple[Rows, ...], back: Return) -> Plants:
    """All spacecraft after they were brought back onto the rows."""
    crafts, states = system.world.crafts, tuple(plant.state for plant in plants)
    pushes = row_forces(crafts, states, rows, back.impulse)
    shared = exchanged(system.world, states, rows, back.impulse, pushes)
    found = []
    for c, plant in enumerate(plants):
        v = back.states[c].v
        books = book_impulse(crafts[c], plant.state, v, plant.ledger, pushes[c])
        books = _exchanged(books, plant.state, v, pushes[c], shared[c])
        found.append(dataclasses.replace(plant, state=back.states[c], ledger=books))
    return tuple(found)


def _exchanged(books: Ledger, state: State, v: Vector, push: Vector, shared: Vector) -> Ledger:
    """Books with what came from others; `shared` leaves out what stands still."""
    old = books.exchange
    assert old is not None
    exchange = Exchange(
        work=old.work + 0.5 * push @ (state.v + v), impulse=old.impulse + state.X_NB.wrench_to_A(shared[:6])
    )
    return dataclasses.replace(books, exchange=exchange)
