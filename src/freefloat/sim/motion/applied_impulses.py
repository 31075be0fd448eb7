"""Impulses applied to spacecraft and booked: of rows, and of motors that keep prescribed joints at their rates.

How large the impulse of a grasp or a latch is, `dynamics.impact` computes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from freefloat.dynamics.constrained import row_forces
from freefloat.dynamics.impact import Impact
from freefloat.dynamics.inner_motion import motion_of_com, speeds_about_com
from freefloat.dynamics.manifold import ReturnedStates
from freefloat.dynamics.relative_rows import Rows
from freefloat.model import Spacecraft, State
from freefloat.sim.motion.constraint_forces import exchanged_forces
from freefloat.sim.system.craft_state import Exchange, Ledger
from freefloat.sim.system.system import System
from freefloat.sim.system.world_state import WorldState
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import cross
from freefloat.values.arrays import Vector


def apply_impact(system: System, plants: WorldState, rows: tuple[Rows, ...], impact: Impact) -> WorldState:
    """All spacecraft after an impact, with its work and impulses in their ledgers."""
    after = tuple(dataclasses.replace(plant.state, v=v) for plant, v in zip(plants, impact.speeds, strict=True))
    return _with_impulses(system, plants, rows, impact.impulse, after, impact.prescribed)


def ledger_after_impulse(craft: Spacecraft, state: State, v: Vector, ledger: Ledger, impulse: Vector) -> Ledger:
    """The ledger after a generalised impulse that changed the speeds to v; it works at the mean of both speeds."""
    ledger = dataclasses.replace(ledger, work=ledger.work + 0.5 * impulse @ (state.v + v))
    return with_inner_impulse(craft, state, v, ledger, impulse, motion_of_com)


def with_inner_impulse(
    craft: Spacecraft, state: State, v: Vector, ledger: Ledger, impulse: Vector, of_com: Callable[..., Any]
) -> Ledger:
    """The ledger after an impulse, its `work` not yet counted; `of_com`: centre of mass and velocity from q and v."""
    com, before = of_com(craft, state.q, state.v)
    _, after = of_com(craft, state.q, v)
    speeds = speeds_about_com(craft, state.q, state.v, before) + speeds_about_com(craft, state.q, v, after)
    push = impulse[:6]
    return dataclasses.replace(
        ledger,
        inner_work=ledger.inner_work + 0.5 * impulse @ speeds,
        impulse=ledger.impulse + state.X_NB.wrench_to_A(push),
        angular_impulse_com=ledger.angular_impulse_com + state.X_NB.R @ (angular(push) - cross(com, linear(push))),
    )


def apply_return(system: System, plants: WorldState, rows: tuple[Rows, ...], back: ReturnedStates) -> WorldState:
    """All spacecraft after their return onto the rows, with its work and impulses in their ledgers."""
    return _with_impulses(system, plants, rows, back.impulse, back.states)


def _with_impulses(
    system: System,
    plants: WorldState,
    rows: tuple[Rows, ...],
    impulse: Vector,
    after: tuple[State, ...],
    motors: tuple[Vector, ...] | None = None,
) -> WorldState:
    """The plants with new states after impulses along the rows, and of motors; in their ledgers too."""
    crafts, states = system.world.crafts, plants.states
    pushes = row_forces(crafts, states, rows, impulse)
    shared = exchanged_forces(system.world, states, rows, impulse, pushes)
    found = []
    for c, plant in enumerate(plants):
        whole = pushes[c] if motors is None else pushes[c] + motors[c]
        ledger = ledger_after_impulse(crafts[c], plant.state, after[c].v, plant.ledger, whole)
        ledger = _with_exchange(ledger, plant.state, after[c].v, pushes[c], shared[c])
        found.append(dataclasses.replace(plant, state=after[c], ledger=ledger))
    return plants.with_crafts(found)


def _with_exchange(ledger: Ledger, state: State, v: Vector, push: Vector, shared: Vector) -> Ledger:
    """The ledger with work and impulse from other spacecraft; `shared` leaves out rows to frames fixed in N."""
    old = ledger.exchange
    assert old is not None
    exchange = Exchange(
        work=old.work + 0.5 * push @ (state.v + v), impulse=old.impulse + state.X_NB.wrench_to_A(shared[:6])
    )
    return dataclasses.replace(ledger, exchange=exchange)
