"""Forces of held connections: accelerations of spacecraft that rows hold together, closed chains included.

M vdot + h = f + J^T lambda with J vdot + J' v = 0, so lambda = -Lambda (J M^-1 (f - h) + J' v).
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.inner_motion import free_of_drift, without_drift
from freefloat.dynamics.inverse import inverse_dynamics
from freefloat.dynamics.relative_rows import Crafts, Rows, States, drift_free_bias, row_jacobian
from freefloat.dynamics.row_response import Prescribed, RowResponse, row_response
from freefloat.model import Spacecraft
from freefloat.values import ModelError, record
from freefloat.values.arrays import Numeric, Vector


@record
class HeldMotion:
    """Accelerations of spacecraft that are held together, and what it takes."""

    vdots: tuple[Vector, ...]  # of each spacecraft
    forces: tuple[Vector, ...]  # generalised, as given, with those that prescribed motion needs; without the rows'
    multipliers: Vector  # force along each row [N, N m]: on the second frame, and its opposite on the first
    rank: Numeric  # number of independent rows


def held_motion(
    crafts: Crafts,
    states: States,
    forces: Sequence[Vector],
    rows: Sequence[Rows],
    *,
    prescribed: Prescribed = (),
    accelerations: Sequence[Vector] = (),
    active: Numeric | None = None,
) -> HeldMotion:
    """Accelerations under generalised forces such that no row accelerates.

    Joints that are `prescribed` accelerate as given, and so does a "base"; names and accelerations for each spacecraft.
    Rows that are not `active` hold nothing. Nothing here depends on how fast the spacecraft drift.
    """
    response = row_response(crafts, states, rows, prescribed, active)
    vdots = _given_accelerations(crafts, response, accelerations)
    stills = [without_drift(state.v) for state in states]
    pushes = [
        jnp.asarray(craft.layout.require_size("force", force)) - inverse_dynamics(craft, state.q, still, vdot)
        for craft, state, still, force, vdot in zip(crafts, states, stills, forces, vdots, strict=True)
    ]
    free = [factor.reduce(push[:, None])[:, 0] for factor, push in zip(response.factors, pushes, strict=True)]
    imbalance = drift_free_bias(crafts, states, rows, vdots)
    if active is not None:
        imbalance = jnp.where(jnp.asarray(active), imbalance, 0.0)
    for factor, z, z_free in zip(response.factors, response.reduced, free, strict=True):
        imbalance = imbalance + z.T @ (factor.weights * z_free)
    multipliers = -response.solver.solve(imbalance)
    found = [
        vdot + factor.expand(z_free + z @ multipliers)
        for vdot, factor, z, z_free in zip(vdots, response.factors, response.reduced, free, strict=True)
    ]
    return HeldMotion(
        vdots=tuple(free_of_drift(vdot, state.v) for vdot, state in zip(found, states, strict=True)),
        forces=tuple(
            _with_prescribed(craft, state.q, still, force, vdot, J.T @ multipliers, given)
            for craft, state, still, force, vdot, J, given in zip(
                crafts, states, stills, forces, found, response.J, response.given, strict=True
            )
        ),
        multipliers=multipliers,
        rank=response.rank,
    )


def row_forces(crafts: Crafts, states: States, rows: Sequence[Rows], multipliers: Vector) -> tuple[Vector, ...]:
    """J^T multipliers: the generalised force (nv) of the rows on each spacecraft."""
    return tuple(J.T @ multipliers for J in row_jacobian(crafts, states, rows))


def _given_accelerations(crafts: Crafts, response: RowResponse, accelerations: Sequence[Vector]) -> list[Vector]:
    """(nv) of each spacecraft: what is prescribed, zero elsewhere."""
    values = tuple(accelerations) or tuple(np.zeros(len(given)) for given in response.given)
    found = []
    for craft, given, value in zip(crafts, response.given, values, strict=True):
        if np.shape(value) != (len(given),):
            raise ModelError(
                f"Spacecraft '{craft.name}': accelerations must have {len(given)} numbers, one for each prescribed "
                f"coordinate, got shape {np.shape(value)}."
            )
        found.append(jnp.zeros(craft.layout.nv).at[np.array(given, dtype=int)].set(value))
    return found


def _with_prescribed(
    craft: Spacecraft, q: Vector, v: Vector, force: Vector, vdot: Vector, held: Vector, given: tuple[int, ...]
) -> Vector:
    """The force with the entries that prescribed motion needs."""
    if not given:
        return jnp.asarray(force)
    at = np.array(given, dtype=int)
    return jnp.asarray(force).at[at].set((inverse_dynamics(craft, q, v, vdot) - held)[at])
