"""Return to the constraint manifold: mass-weighted correction of positions and speeds that drifted off held rows.

The step with the least kinetic energy (in the metric of M) that brings the rows back: -M^-1 J^T Lambda times the error.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.constrained import mount_force
from freefloat.dynamics.factorisation import factorise
from freefloat.dynamics.inverse import inverse_dynamics
from freefloat.dynamics.joined_trees import JoinedTrees, join_trees
from freefloat.dynamics.kinematics import frame_pose, frame_twist
from freefloat.dynamics.relative_rows import Crafts, Rows, States, row_error, row_velocity
from freefloat.dynamics.row_response import Prescribed, prescribed_dofs, row_response
from freefloat.dynamics.state_rate import StateRate, retract, state_rate
from freefloat.model import Spacecraft, State
from freefloat.spatial import Pose, six
from freefloat.spatial.rotations import quaternion_multiply, rotation_log
from freefloat.values import record
from freefloat.values.arrays import Numeric, Scalar, Vector
from freefloat.values.compiling import compiled_on_call


@record
class ReturnedStates:
    """States returned to the rows, and the impulse and the energy of the return."""

    states: tuple[State, ...]
    error: Vector  # of the rows before it [m, rad]
    velocity: Vector  # of the rows before it [m/s, rad/s]
    impulse: Vector  # along each row [N s, N m s]
    energy_lost: Scalar  # by taking the velocity away [J]
    rank: Numeric  # number of independent rows


@compiled_on_call
def return_to_rows(
    crafts: Crafts, states: States, rows: Sequence[Rows], *, prescribed: Prescribed = (), active: Numeric | None = None
) -> ReturnedStates:
    """One step back onto the rows, of positions and of speeds: errors of positions become their squares.

    Speeds are corrected as of the positions before, so what is left of them is of the size of that error, times rates
    of turn. What is prescribed keeps its positions and its rates. The rows only push between the spacecraft.
    Where grasps by a base are all there is, no error at all is left.
    """
    joined = join_trees(crafts, rows if active is None else (), prescribed)
    if joined.mounts and not joined.rest:
        return _return_trees(joined, crafts, states, rows, prescribed)
    return return_by_rows(crafts, states, rows, prescribed=prescribed, active=active)


@compiled_on_call
def return_by_rows(
    crafts: Crafts, states: States, rows: Sequence[Rows], *, prescribed: Prescribed = (), active: Numeric | None = None
) -> ReturnedStates:
    """One step back onto the rows, every row kept as a row: an independent second way."""
    response = row_response(crafts, states, rows, prescribed, active)
    error, velocity = row_error(crafts, states, rows), row_velocity(crafts, states, rows)
    if active is not None:
        error, velocity = (jnp.where(jnp.asarray(active), x, 0.0) for x in (error, velocity))
    impulse = -response.solver.solve(velocity)
    steps = response.answers(-response.solver.solve(error))
    changes = response.answers(impulse)
    return ReturnedStates(
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


def _return_trees(
    joined: JoinedTrees, crafts: Crafts, states: States, rows: Sequence[Rows], prescribed: Prescribed
) -> ReturnedStates:
    """Step back by trees: each tree takes the momentum of its members' errors; then they are placed by the tree."""
    trees, off = joined.states(states), _offsets(joined, crafts, states)
    momenta = [
        [inverse_dynamics(craft, state.q, np.zeros(craft.layout.nv), offset) for offset in pair]
        for craft, state, pair in zip(crafts, states, off, strict=True)
    ]
    pushes = [joined.forces(states, [pair[k] for pair in momenta]) for k in (0, 1)]
    given = prescribed_dofs(joined.crafts, joined.prescribed_names(prescribed))
    new, changes = [], []
    for tree, (craft, state) in enumerate(zip(joined.crafts, trees, strict=True)):
        factor = factorise(craft, state.q, given[tree])
        z = factor.reduce(jnp.stack([push[tree] for push in pushes], axis=1))
        step, change = factor.expand(z[:, 0]), factor.expand(z[:, 1])
        new.append(retract(state, _tangent_step(craft, state, step, change)))
        changes.append(change)
    velocity = row_velocity(crafts, states, rows)
    impulse = _mount_impulses(joined, crafts, states, rows, off, changes)
    return ReturnedStates(
        states=tuple(_member_state(joined, c, state, new) for c, state in enumerate(states)),
        error=row_error(crafts, states, rows),
        velocity=velocity,
        impulse=impulse,
        energy_lost=-0.5 * impulse @ velocity,
        rank=jnp.asarray(6.0 * len(joined.mounts)),
    )


def _offsets(joined: JoinedTrees, crafts: Crafts, states: States) -> list[tuple[Vector, Vector]]:
    """Small step and speeds by which the base of each spacecraft is off its place in the tree; zero for a root."""
    trees, found = joined.states(states), []
    for craft, state, member in zip(crafts, states, joined.members, strict=True):
        step = change = jnp.zeros(6)
        if member.name:
            tree, at = joined.crafts[member.tree], trees[member.tree]
            X_BM, R_NB = frame_pose(tree, at.q, member.name), at.X_NB.R
            R_NM = R_NB @ X_BM.R
            X = Pose(position=R_NM.T @ ((state.p_NB - at.p_NB) - R_NB @ X_BM.p), rotation=R_NM.T @ state.X_NB.R)
            step = six(X.p, rotation_log(X.R))
            change = state.v[:6] - X.twist_to_B(frame_twist(tree, at.q, at.v, member.name))
        own = jnp.zeros(craft.layout.nv - 6)
        found.append((jnp.concatenate([step, own]), jnp.concatenate([change, own])))
    return found


def _member_state(joined: JoinedTrees, c: int, state: State, trees: Sequence[State]) -> State:
    """State of a spacecraft as its tree places it."""
    member = joined.members[c]
    tree, at = joined.crafts[member.tree], trees[member.tree]
    if not member.name:
        return State(p_NB=at.p_NB, quat_NB=at.quat_NB, q=at.q[member.q], v=jnp.concatenate([at.v[:6], at.v[member.v]]))
    X_BM = frame_pose(tree, at.q, member.name)
    quat = quaternion_multiply(at.quat_NB, X_BM.quaternion)
    twist = frame_twist(tree, at.q, at.v, member.name)
    return State(
        p_NB=at.p_NB + at.X_NB.R @ X_BM.p,
        quat_NB=jnp.where(quat @ state.quat_NB < 0.0, -quat, quat),
        q=at.q[member.q],
        v=jnp.concatenate([twist, at.v[member.v]]),
    )


def _mount_impulses(
    joined: JoinedTrees,
    crafts: Crafts,
    states: States,
    rows: Sequence[Rows],
    off: list[tuple[Vector, Vector]],
    changes: list[Vector],
) -> Vector:
    """Impulses along the rows that changed the speeds."""
    trees, found = joined.states(states), {}
    others = [jnp.zeros(6) for _ in crafts]
    for k, c in joined.mounts:
        member = joined.members[c]
        moved = frame_twist(joined.crafts[member.tree], trees[member.tree].q, changes[member.tree], member.name)
        change = jnp.concatenate([moved - off[c][1][:6], changes[member.tree][member.v]])
        needed = inverse_dynamics(crafts[c], states[c].q, np.zeros(crafts[c].layout.nv), change)[:6]
        found[k], (host, reaction) = mount_force(crafts, states, rows[k], c, needed - others[c])
        others[host] = others[host] + reaction
    return jnp.concatenate([found[k] for k in range(len(rows))])


def _tangent_step(craft: Spacecraft, state: State, step: Vector, change: Vector) -> StateRate:
    """A small step of positions, in the form of speeds, and a change of speeds, as one step of the state."""
    return state_rate(craft, dataclasses.replace(state, v=step), change)
