"""Back onto the manifold: positions and speeds that a held connection has drifted from, mass-weighted.

The step with the least kinetic energy (in the metric of M) that brings the rows back: -M^-1 J^T Lambda times the error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax.numpy as jnp

from freefloat.dynamics.relative_rows import Crafts, Rows, States, row_error, row_velocity
from freefloat.dynamics.row_response import Prescribed, row_response
from freefloat.dynamics.state_rate import StateRate, retract, state_rate
from freefloat.model import Spacecraft, State
from freefloat.values import record
from freefloat.values.arrays import Numeric, Scalar, Vector


@record
class Return:
    """States back on the rows, and what it took."""

    states: tuple[State, ...]
    error: Vector  # of the rows before it [m, rad]
    velocity: Vector  # of the rows before it [m/s, rad/s]
    impulse: Vector  # along each row [N s, N m s]
    energy_lost: Scalar  # by taking the velocity away [J]
    rank: Numeric  # number of independent rows


def return_to_rows(
    crafts: Crafts,
    states: States,
    rows: Sequence[Rows],
    *,
    prescribed: Prescribed = (),
    active: Numeric | None = None,
) -> Return:
    """One step back onto the rows, of positions and of speeds: errors become their squares.

    What is prescribed keeps its positions and its rates. Momentum is kept: the rows only push between the spacecraft.
    """
    response = row_response(crafts, states, rows, prescribed, active)
    error, velocity = row_error(crafts, states, rows), row_velocity(crafts, states, rows)
    if active is not None:
        error, velocity = (jnp.where(jnp.asarray(active), x, 0.0) for x in (error, velocity))
    impulse = -response.solver.solve(velocity)
    steps = response.answers(-response.solver.solve(error))
    changes = response.answers(impulse)
    return Return(
        states=tuple(
            retract(state, _tangent_step(craft, state, step, change))
            for craft, state, step, change in zip(crafts, states, steps, changes, strict=True)
        ),
        error=error,
        velocity=velocity,
        impulse=impulse,
        energy_lost=-0.5 * impulse @ velocity,
        rank=response.rank,
    )


def _tangent_step(craft: Spacecraft, state: State, step: Vector, change: Vector) -> StateRate:
    """A small step of positions, in the form of speeds, and a change of speeds, as one step of the state."""
    return state_rate(craft, dataclasses.replace(state, v=step), change)
