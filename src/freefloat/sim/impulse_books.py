"""Books of an impact: what rows, and motors that keep prescribed joints at their rates, hand to each spacecraft."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp

from freefloat.dynamics.constrained import row_forces
from freefloat.dynamics.impact import Impact
from freefloat.dynamics.inner_motion import motion_of_com, speeds_about_com
from freefloat.dynamics.relative_rows import FrameRows, Rows
from freefloat.model import Spacecraft, State
from freefloat.sim.plant import Exchange, Ledger, Plant, Plants
from freefloat.sim.system import System
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import cross
from freefloat.values.arrays import Vector


def book_impulses(system: System, plants: Plants, rows: tuple[Rows, ...], impact: Impact) -> Plants:
    """All spacecraft after an impact, their books with it."""
    crafts, states = system.world.crafts, tuple(plant.state for plant in plants)
    pushes = row_forces(crafts, states, rows, impact.impulse)
    shared = row_forces(crafts, states, rows, _between_spacecraft(rows) * impact.impulse)
    found = []
    for c, plant in enumerate(plants):
        after = dataclasses.replace(plant.state, v=impact.speeds[c])
        books = book_impulse(crafts[c], plant.state, after.v, plant.ledger, pushes[c] + impact.prescribed[c])
        exchange = plant.ledger.exchange
        assert exchange is not None
        exchange = Exchange(
            work=exchange.work + 0.5 * pushes[c] @ (plant.state.v + after.v),
            impulse=exchange.impulse + plant.state.X_NB.wrench_to_A(shared[c][:6]),
        )
        found.append(Plant(after, dataclasses.replace(books, exchange=exchange)))
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


def _between_spacecraft(rows: tuple[Rows, ...]) -> Vector:
    """1 for rows between spacecraft, or within one; 0 for those that hold on to what stands still."""
    flags = [
        0.0 if isinstance(one, FrameRows) and -1 in (one.first[0], one.second[0]) else 1.0
        for one in rows
        for _ in range(one.count)
    ]
    return jnp.array(flags)
