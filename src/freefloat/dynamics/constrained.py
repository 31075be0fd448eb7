"""Forces of held connections: accelerations of spacecraft that rows hold together, closed chains included.

M vdot + h = f + J^T lambda with J vdot + J' v = 0, so lambda = -Lambda (J M^-1 (f - h) + J' v).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.forward import forward_dynamics
from freefloat.dynamics.inner_motion import free_of_drift, without_drift
from freefloat.dynamics.inverse import inverse_dynamics
from freefloat.dynamics.joined_trees import JoinedTrees, join_trees
from freefloat.dynamics.kinematics import frame_twist_rate, generalized_force
from freefloat.dynamics.relative_rows import (
    Crafts,
    FrameRows,
    Rows,
    States,
    drift_free_bias,
    relative_pose,
    row_jacobian,
)
from freefloat.dynamics.row_response import Prescribed, RowResponse, prescribed_dofs, row_response
from freefloat.model import Spacecraft
from freefloat.spatial import angular, linear, six
from freefloat.spatial.rotations import cross
from freefloat.values import ModelError, record
from freefloat.values.arrays import Numeric, Vec6, Vector
from freefloat.values.compiling import compiled_on_call


@record
class HeldMotion:
    """Accelerations of spacecraft that are held together, and the forces that hold them."""

    vdots: tuple[Vector, ...]  # of each spacecraft
    forces: tuple[Vector, ...]  # generalised, as given, with those that prescribed motion needs; without the rows'
    multipliers: Vector  # force along each row [N, N m]: on the second frame, and its opposite on the first
    rank: Numeric  # number of independent rows


@compiled_on_call
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
    Rows that are not `active` hold nothing. Nothing here depends on how fast the spacecraft drift. A grasp by a base is
    solved as one tree, which is cheaper, unless flags say that it may be off.
    """
    joined = join_trees(crafts, rows if active is None else (), prescribed)
    if not joined.mounts:
        return held_motion_by_rows(
            crafts, states, forces, rows, prescribed=prescribed, accelerations=accelerations, active=active
        )
    trees = _drift_free_motion(
        joined.crafts,
        joined.states(states),
        joined.forces(states, forces),
        joined.rows,
        joined.prescribed_names(prescribed),
        joined.accelerations(accelerations),
    )
    return _split_motion(joined, crafts, states, forces, rows, trees, prescribed_dofs(crafts, prescribed))


@compiled_on_call
def held_motion_by_rows(
    crafts: Crafts,
    states: States,
    forces: Sequence[Vector],
    rows: Sequence[Rows],
    *,
    prescribed: Prescribed = (),
    accelerations: Sequence[Vector] = (),
    active: Numeric | None = None,
) -> HeldMotion:
    """Held motion with every row kept as a row: an independent second way, and the only one where rows have flags."""
    found = _drift_free_motion(crafts, states, forces, rows, prescribed, accelerations, active)
    return dataclasses.replace(
        found, vdots=tuple(free_of_drift(vdot, state.v) for vdot, state in zip(found.vdots, states, strict=True))
    )


def _drift_free_motion(
    crafts: Crafts,
    states: States,
    forces: Sequence[Vector],
    rows: Sequence[Rows],
    prescribed: Prescribed,
    accelerations: Sequence[Vector],
    active: Numeric | None = None,
) -> HeldMotion:
    """Motion held by rows; vdots are those of the same motion with every base origin at rest."""
    stills = [without_drift(state.v) for state in states]
    if not rows and not any(prescribed):
        vdots = tuple(map(forward_dynamics, crafts, (s.q for s in states), stills, map(jnp.asarray, forces)))
        return HeldMotion(vdots=vdots, forces=tuple(forces), multipliers=jnp.zeros(0), rank=jnp.zeros(()))
    response = row_response(crafts, states, rows, prescribed, active)
    vdots = _given_accelerations(crafts, states, response, accelerations)
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
        vdots=tuple(found),
        forces=tuple(
            _with_prescribed(craft, state.q, still, force, vdot, J.T @ multipliers, given)
            for craft, state, still, force, vdot, J, given in zip(
                crafts, states, stills, forces, found, response.J, response.given, strict=True
            )
        ),
        multipliers=multipliers,
        rank=response.rank,
    )


def _split_motion(
    joined: JoinedTrees,
    crafts: Crafts,
    states: States,
    forces: Sequence[Vector],
    rows: Sequence[Rows],
    trees: HeldMotion,
    given: tuple[tuple[int, ...], ...],
) -> HeldMotion:
    """Motion of each spacecraft from that of the trees, and the forces between the spacecraft."""
    tree_states, carried = joined.states(states), joined.forces(states, forces, base=False)
    stills, vdots, found = [], [], []
    for c, (state, member) in enumerate(zip(states, joined.members, strict=True)):
        at, vdot = tree_states[member.tree], trees.vdots[member.tree]
        still, rate = without_drift(at.v)[:6], vdot[:6]
        if member.name:
            still, rate = frame_twist_rate(joined.crafts[member.tree], at.q, without_drift(at.v), vdot, member.name)
        stills.append(jnp.concatenate([still, jnp.asarray(state.v)[6:]]))
        vdots.append(jnp.concatenate([rate, vdot[member.v]]))
        own = trees.forces[member.tree] - carried[member.tree]
        force, at_given = jnp.asarray(forces[c]), np.array(given[c], dtype=int)
        found.append(force.at[at_given].set(jnp.concatenate([own[:6], own[member.v]])[at_given]))
    # The wrench that mounts a spacecraft: what its motion needs, less what pushes it otherwise.
    multipliers: dict[int, Vector] = {}
    rest = row_forces(crafts, states, [rows[k] for k in joined.rest], trees.multipliers)
    others = [push[:6] for push in rest]
    for k, c in joined.mounts:
        needed = inverse_dynamics(crafts[c], states[c].q, stills[c], vdots[c])[:6]
        wrench = needed - jnp.asarray(forces[c])[:6] - others[c]
        multipliers[k], (host, reaction) = mount_force(crafts, states, rows[k], c, wrench)
        others[host] = others[host] + reaction
    start = 0
    for k in joined.rest:
        multipliers[k] = trees.multipliers[start : start + rows[k].count]
        start += rows[k].count
    return HeldMotion(
        vdots=tuple(map(_with_drift, vdots, (state.v for state in states), stills)),
        forces=tuple(found),
        multipliers=jnp.concatenate([multipliers[k] for k in range(len(rows))]),
        rank=trees.rank + 6.0 * len(joined.mounts),
    )


def _with_drift(rate: Vector, v: Vector, still: Vector) -> Vector:
    """Acceleration at v from the acceleration without the drift: body axes turn under the drift."""
    drift = linear(jnp.asarray(v)[:6]) - linear(still[:6])
    return rate.at[:6].add(-six(cross(angular(still[:6]), drift), np.zeros(3)))


def mount_force(
    crafts: Crafts, states: States, rows: Rows, child: int, wrench: Vec6
) -> tuple[Vector, tuple[int, Vec6]]:
    """Multipliers of a grasp from the wrench on the base that it holds; also the other spacecraft and its wrench."""
    assert isinstance(rows, FrameRows)
    X_12 = relative_pose(crafts, states, rows.first, rows.second)
    is_second = rows.second[0] == child
    place, other = (rows.second, rows.first) if is_second else (rows.first, rows.second)
    at_frame = crafts[child].frame(place[1]).X_BF.wrench_to_B(wrench)
    f, m = linear(at_frame), angular(at_frame)
    if is_second:
        along = six(X_12.R @ f, X_12.R @ m)
        on_other = -six(linear(along), angular(along) + cross(X_12.p, linear(along)))
    else:
        along = six(-f, cross(X_12.p, f) - m)
        on_other = six(X_12.R.T @ linear(along), X_12.R.T @ angular(along))
    c, frame = other
    return along, (c, generalized_force(crafts[c], states[c].q, frame, on_other)[:6])


@compiled_on_call
def row_forces(crafts: Crafts, states: States, rows: Sequence[Rows], multipliers: Vector) -> tuple[Vector, ...]:
    """Generalised force J^T multipliers (nv) of the rows on each spacecraft."""
    return tuple(J.T @ multipliers for J in row_jacobian(crafts, states, rows))


def _given_accelerations(
    crafts: Crafts, states: States, response: RowResponse, accelerations: Sequence[Vector]
) -> list[Vector]:
    """Accelerations (nv) of each spacecraft in the motion without drift: prescribed values, zero elsewhere."""
    values = tuple(accelerations) or tuple(np.zeros(len(given)) for given in response.given)
    found = []
    for craft, state, given, value in zip(crafts, states, response.given, values, strict=True):
        if np.shape(value) != (len(given),):
            raise ModelError(
                f"Spacecraft '{craft.name}': accelerations must have {len(given)} numbers, one for each prescribed "
                f"coordinate, got shape {np.shape(value)}."
            )
        vdot = jnp.zeros(craft.layout.nv).at[np.array(given, dtype=int)].set(value)
        if 0 in given:  # a base that is prescribed: its axes turn under the drift
            vdot = vdot.at[:6].add(six(cross(angular(state.v[:6]), linear(state.v[:6])), np.zeros(3)))
        found.append(vdot)
    return found


def _with_prescribed(
    craft: Spacecraft, q: Vector, v: Vector, force: Vector, vdot: Vector, held: Vector, given: tuple[int, ...]
) -> Vector:
    """The generalised force, with the entries that prescribed motion needs in place of the given ones."""
    if not given:
        return jnp.asarray(force)
    at = np.array(given, dtype=int)
    return jnp.asarray(force).at[at].set((inverse_dynamics(craft, q, v, vdot) - held)[at])
