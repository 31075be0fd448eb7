"""Rows of relative velocity: between two frames of any trees, or of a joint. Connections and impacts consist of them.

A row is a direction in which one frame moves relative to another, in the axes of the first. Let p and R be position and
attitude of the second frame in the first. The six velocities are (dp/dt, angular rate of the second relative to the
first); the six errors are p less the position that is held, and the rotation vector from the attitude that is held.

Spacecraft are given as tuples, with their states in the same order; a place is (number of the spacecraft, frame).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.kinematics import frame_jacobian, frame_pose, frame_twist, frame_twist_rate
from freefloat.dynamics.row_directions import GRASP, Directions, free_axis
from freefloat.model import Spacecraft, State
from freefloat.spatial import Pose, angular, linear, six
from freefloat.spatial.rotations import cross, quaternion_log, rotation_log, skew
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Mat3, Matrix, Scalar, Vec3, Vec6, Vector
from freefloat.values.checks import require_numbers, set_fields
from freefloat.values.compiling import compiled_on_call

CraftPlace: TypeAlias = tuple[int, str]
Crafts: TypeAlias = tuple[Spacecraft, ...]
States: TypeAlias = tuple[State, ...]

INERTIAL: CraftPlace = (-1, "")  # a frame that is fixed in N, at its origin


@record
class FrameRows:
    """Motion of the frame `second` relative to the frame `first`, in chosen directions of the first."""

    first: CraftPlace = static()
    second: CraftPlace = static()
    directions: Directions = static(default=GRASP)  # k rows of six: (along x, y, z, about x, y, z) of the first frame
    held: Pose = Pose()  # X_12 at which the error is zero

    def __post_init__(self) -> None:
        given = require_numbers("FrameRows.directions", self.directions, "")
        if given.ndim != 2 or given.shape[1] != 6:
            raise ModelError(
                f"FrameRows.directions must be rows of six numbers (along x, y, z, about x, y, z), got {given.shape}. "
                "Use GRASP, POINT, hinge(axis), normal(direction) or rows of your own."
            )
        set_fields(self, directions=tuple(map(tuple, given.tolist())))

    @property
    def count(self) -> int:
        """Number of rows."""
        return len(self.directions)


@record
class JointRows:
    """Rate of a joint: one row. A brake, or a joint that is locked."""

    place: CraftPlace = static()  # spacecraft and joint
    held: Scalar | float = 0.0  # position at which the error is zero [rad, m]

    @property
    def count(self) -> int:
        """Number of rows."""
        return 1


Rows: TypeAlias = FrameRows | JointRows


def row_count(rows: Sequence[Rows]) -> int:
    """Number of rows of all connections together."""
    return sum(connection.count for connection in rows)


# ---- quantities of the rows


@compiled_on_call
def row_jacobian(crafts: Crafts, states: States, rows: Sequence[Rows]) -> tuple[Matrix, ...]:
    """Jacobian J of each spacecraft (rows, nv): velocity of the rows = sum of J v."""
    blocks = [_jacobians(crafts, states, connection) for connection in rows]
    return tuple(
        jnp.concatenate([jnp.zeros((0, craft.layout.nv)), *(block[c] for block in blocks)])
        for c, craft in enumerate(crafts)
    )


@compiled_on_call
def row_velocity(crafts: Crafts, states: States, rows: Sequence[Rows]) -> Vector:
    """Velocity J v along each row [m/s, rad/s]."""
    return _stack([_velocity(crafts, states, connection) for connection in rows])


@compiled_on_call
def row_error(crafts: Crafts, states: States, rows: Sequence[Rows]) -> Vector:
    """Distance of each row from its held position or attitude [m, rad], in the axes of its first frame."""
    return _stack([_error(crafts, states, connection) for connection in rows])


@compiled_on_call
def row_bias(
    crafts: Crafts,
    states: States,
    rows: Sequence[Rows],
    vdots: Sequence[Vector] | None = None,
    velocity: Vector | None = None,
) -> Vector:
    """Acceleration J' v along each row when nothing accelerates, or (J vdot + J' v) at given `vdots`.

    `velocity`: J v, if it is computed already; then states with each base origin at rest suffice, see `without_drift`.
    """
    known = row_velocity(crafts, states, list(map(_all_six, rows))) if velocity is None else velocity
    if vdots is None:
        vdots = [jnp.zeros(craft.layout.nv) for craft in crafts]
    found, start = [], 0
    for connection in rows:
        size = _all_six(connection).count
        found.append(_bias(crafts, states, connection, vdots, known[start : start + size]))
        start += size
    return _stack(found)


@compiled_on_call
def drift_free_bias(crafts: Crafts, states: States, rows: Sequence[Rows], vdots: Sequence[Vector]) -> Vector:
    """Row acceleration J vdot + J' v for vdot of the same motion with every base origin at rest (`without_drift`)."""
    velocity = row_velocity(crafts, states, list(map(_all_six, rows)))
    still = tuple(_with_base_at_rest(state) for state in states)
    return row_bias(crafts, still, rows, vdots, velocity)


@compiled_on_call
def relative_pose(crafts: Crafts, states: States, first: CraftPlace, second: CraftPlace) -> Pose:
    """Pose X_12 of the second frame in the first; a latch holds it from the moment at which it closes."""
    (from_1, at_1, R_N1), (from_2, at_2, R_N2) = (_pose(crafts, states, place) for place in (first, second))
    # The base origins are subtracted first: far from the origin of N no digits are lost in what they carry.
    return Pose(position=R_N1.T @ ((from_2 - from_1) + (at_2 - at_1)), rotation=R_N1.T @ R_N2)


# ---- one connection at a time


def _jacobians(crafts: Crafts, states: States, rows: Rows) -> list[Matrix]:
    blocks = [jnp.zeros((rows.count, craft.layout.nv)) for craft in crafts]
    if isinstance(rows, JointRows):
        c, dof = _joint_dof(crafts, rows)
        return [block.at[0, dof].set(1.0) if i == c else block for i, block in enumerate(blocks)]
    X_12, C = relative_pose(crafts, states, rows.first, rows.second), np.array(rows.directions)
    shared = _shared_body(crafts, rows)
    for place, sign, of_twist in ((rows.first, -1.0, _shift(X_12.p)), (rows.second, 1.0, _turn(X_12.R))):
        c, frame = place
        if c >= 0:
            J = frame_jacobian(_craft(crafts, c), states[c].q, frame, beyond=shared)
            blocks[c] = blocks[c] + sign * ((C @ of_twist) @ J)
    return blocks


def _shared_body(crafts: Crafts, rows: FrameRows) -> str:
    """The last body that carries both frames, where one tree has both: its motion moves neither against the other."""
    (c, first), (other, second) = rows.first, rows.second
    if c != other or c < 0:
        return ""
    craft = _craft(crafts, c)
    ways = [_carrying_bodies(craft, craft.body_index(craft.frame(frame).body)) for frame in (first, second)]
    return craft.body_names[max(set(ways[0]) & set(ways[1]))]


def _carrying_bodies(craft: Spacecraft, body: int) -> list[int]:
    """Indices of a body and of all bodies that carry it."""
    return [] if body < 0 else [body, *_carrying_bodies(craft, craft.parents[body])]


def _velocity(crafts: Crafts, states: States, rows: Rows) -> Vector:
    if isinstance(rows, JointRows):
        c, dof = _joint_dof(crafts, rows)
        return jnp.asarray(states[c].v)[dof][None]
    if rows.first[0] == rows.second[0] >= 0:  # in one tree, so that nothing of the common motion comes in
        return _jacobians(crafts, states, rows)[rows.first[0]] @ states[rows.first[0]].v
    X_12 = relative_pose(crafts, states, rows.first, rows.second)
    V_1, V_2 = (_twist(crafts, states, place) for place in (rows.first, rows.second))
    moved = six(X_12.R @ linear(V_2) - linear(V_1) - cross(angular(V_1), X_12.p), X_12.R @ angular(V_2) - angular(V_1))
    return np.array(rows.directions) @ moved


def _error(crafts: Crafts, states: States, rows: Rows) -> Vector:
    if isinstance(rows, JointRows):
        c, _ = _joint_dof(crafts, rows)
        at = crafts[c].layout.position(rows.place[1])
        return jnp.asarray(states[c].q)[at] - rows.held
    X_12 = relative_pose(crafts, states, rows.first, rows.second)
    turned, axis = X_12.R @ rows.held.R.T, free_axis(rows.directions)
    vector = rotation_log(turned) if axis is None else _swing(axis, turned)
    return np.array(rows.directions) @ six(X_12.p - rows.held.p, vector)


def _bias(crafts: Crafts, states: States, rows: Rows, vdots: Sequence[Vector], velocity: Vector) -> Vector:
    if isinstance(rows, JointRows):
        c, dof = _joint_dof(crafts, rows)
        return jnp.asarray(vdots[c])[dof][None]
    X_12 = relative_pose(crafts, states, rows.first, rows.second)
    p, (w, a_1, alpha_1), (_, a_2, alpha_2) = (
        X_12.p,
        *(_acceleration(crafts, states, vdots, place) for place in (rows.first, rows.second)),
    )
    moved = six(
        X_12.R @ a_2 - a_1 - cross(alpha_1, p) - cross(w, cross(w, p) + 2.0 * linear(velocity)),
        X_12.R @ alpha_2 - alpha_1 - cross(w, angular(velocity)),
    )
    return np.array(rows.directions) @ moved


# ---- a frame of a tree


def _pose(crafts: Crafts, states: States, place: CraftPlace) -> tuple[Vec3, Vec3, Mat3]:
    """Base origin, way from there to a frame, and attitude of the frame, all in N."""
    c, frame = place
    if c < 0:
        return np.zeros(3), np.zeros(3), np.eye(3)
    X_BF, R_NB = frame_pose(_craft(crafts, c), states[c].q, frame), states[c].X_NB.R
    return states[c].p_NB, R_NB @ X_BF.p, R_NB @ X_BF.R


def _twist(crafts: Crafts, states: States, place: CraftPlace) -> Vec6:
    c, frame = place
    return jnp.zeros(6) if c < 0 else frame_twist(_craft(crafts, c), states[c].q, states[c].v, frame)


def _acceleration(
    crafts: Crafts, states: States, vdots: Sequence[Vector], place: CraftPlace
) -> tuple[Vec3, Vec3, Vec3]:
    """Angular rate, acceleration of the origin and angular acceleration of a frame, in its own axes."""
    c, frame = place
    if c < 0:
        return jnp.zeros(3), jnp.zeros(3), jnp.zeros(3)
    V, rate = frame_twist_rate(_craft(crafts, c), states[c].q, states[c].v, vdots[c], frame)
    return angular(V), linear(rate) + cross(angular(V), linear(V)), angular(rate)


def _craft(crafts: Crafts, c: int) -> Spacecraft:
    if c >= len(crafts):
        raise ModelError(f"A row is on spacecraft number {c}, but there are {len(crafts)}: numbers start at 0.")
    return crafts[c]


def _joint_dof(crafts: Crafts, rows: JointRows) -> tuple[int, int]:
    c, name = rows.place
    layout = _craft(crafts, c).layout
    if name in layout.motor_coordinates(layout.flexible_joints):  # the motor of a flexible joint
        return c, layout.velocity(name).start
    joint = crafts[c].joint(name)
    crafts[c].layout.reject_followers([name])
    if not joint.dofs:
        raise ModelError(
            f"Joint '{name}' of spacecraft '{crafts[c].name}' has no coordinate to be held. "
            f"Joints: {', '.join(crafts[c].layout.moving_joints)}."
        )
    return c, crafts[c].layout.velocity(name).start


def _with_base_at_rest(state: State) -> State:
    """The state with the base origin at rest."""
    return State(p_NB=state.p_NB, quat_NB=state.quat_NB, q=state.q, v=jnp.asarray(state.v).at[:3].set(0.0))


# ---- directions


def _all_six(rows: Rows) -> Rows:
    return rows if isinstance(rows, JointRows) else FrameRows(first=rows.first, second=rows.second)


def _shift(p: Vec3) -> Matrix:
    """Matrix from the twist of a frame at its origin to its twist at a point p of it."""
    return jnp.block([[np.eye(3), -skew(p)], [np.zeros((3, 3)), np.eye(3)]])


def _turn(R: Mat3) -> Matrix:
    return jnp.block([[R, np.zeros((3, 3))], [np.zeros((3, 3)), R]])


def _swing(axis: Vec3, R: Mat3) -> Vec3:
    """Rotation vector of the shortest turn that takes an axis to where R takes it: the error of a hinge."""
    there = R @ axis
    quat = jnp.concatenate([(1.0 + axis @ there)[None], cross(axis, there)])
    return quaternion_log(quat / jnp.sqrt(quat @ quat))


def _stack(parts: list[Vector]) -> Vector:
    return jnp.concatenate([jnp.zeros(0), *parts])
