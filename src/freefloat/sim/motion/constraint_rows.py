"""The rows of a world's connections, brakes and contacts, as `dynamics` takes them, and their errors and gaps."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.relative_rows import (
    INERTIAL,
    CraftPlace,
    FrameRows,
    JointRows,
    Rows,
    relative_pose,
    row_error,
    row_velocity,
)
from freefloat.dynamics.row_directions import GRASP, POINT, Directions, hinge, normal
from freefloat.dynamics.row_directions import contact as contact_directions
from freefloat.model import Connection, Contact, JointBrake, State, World
from freefloat.model import Place as NamedPlace
from freefloat.model.part_kinds import Approach
from freefloat.sim.system.constraint_state import ConstraintState
from freefloat.spatial import Pose
from freefloat.values.arrays import Numeric, Scalar, Vector

_Z = np.array([0.0, 0.0, 1.0])
_TOUCHES = 1e-300  # [m]: the gap of a contact that has just bounced


def place_of(world: World, place: NamedPlace) -> CraftPlace:
    """A frame as `dynamics` names it: number of the spacecraft and name of the frame."""
    return (world.names.index(place.craft), place.frame) if place.craft else INERTIAL


def rows_of(world: World, states: tuple[State, ...], modes: ConstraintState) -> tuple[Rows, ...]:
    """Rows of all connections, brakes and contacts, in this order."""
    held = [
        Pose.from_quaternion(jnp.asarray(modes.attitudes[i]), modes.positions[i]) for i in range(len(world.connections))
    ]
    connections = [
        connection_rows(world, connection, pose) for connection, pose in zip(world.connections, held, strict=True)
    ]
    brakes = []
    for brake in world.brakes:  # held where it stands: what holds has no rate, and so does not drift
        c = world.names.index(brake.craft)
        moved = world.crafts[c].layout.motor_coordinate(brake.joint)  # brakes sit on the motors of flexible joints
        at = world.crafts[c].layout.position(moved).start
        brakes.append(JointRows((c, moved), states[c].q[at]))
    return (*connections, *brakes, *(contact_rows(world, contact) for contact in world.contacts))


def connection_rows(world: World, connection: Connection, held: Pose) -> FrameRows:
    """Rows of a connection whose frame b is held in a pose relative to frame a (relative to N if a is fixed in N)."""
    return FrameRows(place_of(world, connection.a), place_of(world, connection.b), _directions(connection), held)


def meant_pose(connection: Connection) -> Pose:
    """Nominal pose of a connection, from which its reach is measured, in the frame that its rows use."""
    return connection.at if connection.a.X_NF is None else connection.a.X_NF @ connection.at


def present_pose(world: World, states: tuple[State, ...], connection: Connection) -> Pose:
    """Present pose of frame b of a connection in its frame a, which it would hold if it latched now."""
    return relative_pose(world.crafts, states, place_of(world, connection.a), place_of(world, connection.b))


def _directions(connection: Connection) -> Directions:
    if connection.holds == "hinge":
        return hinge(_Z if connection.a.X_NF is None else np.asarray(connection.a.X_NF.R) @ _Z)
    return GRASP if connection.holds == "all" else POINT


def connection_error(world: World, states: tuple[State, ...], connection: Connection) -> tuple[Scalar, Scalar]:
    """Distance [m] and angle [rad] of a connection's frames from their nominal pose, in the held directions."""
    error = row_error(world.crafts, states, (connection_rows(world, connection, meant_pose(connection)),))
    turned = error[3:]
    return jnp.sqrt(error[:3] @ error[:3]), jnp.sqrt(turned @ turned) if turned.size else jnp.zeros(())


def out_of_reach(world: World, states: tuple[State, ...], connection: Connection) -> Scalar:
    """Error of a connection over its reach, less one: negative within reach, zero at its edge."""
    away, turned = connection_error(world, states, connection)
    return jnp.maximum(away / connection.reach[0], turned / connection.reach[1]) - 1.0


# ---- contacts


def contact_rows(world: World, contact: Contact) -> FrameRows:
    """The normal row of a contact: its error is the gap, its velocity the rate of the gap."""
    n, start = _Z, contact.radius * _Z
    if contact.b.X_NF is not None:
        n = np.asarray(contact.b.X_NF.R) @ _Z
        start = contact.b.X_NF.p + contact.radius * n
    return FrameRows(place_of(world, contact.b), place_of(world, contact.a), normal(n), Pose(position=start))


def impact_rows(world: World, contact: Contact) -> FrameRows:
    """Rows of a contact at an impact: the normal and, with friction, two tangential ones, at the point that touches."""
    rows = contact_rows(world, contact)
    if isinstance(contact.friction, float) and contact.friction == 0.0:
        return rows
    n, *across = (np.array(row[:3]) for row in contact_directions(rows.directions[0][:3]))
    # The point that touches is a radius below the origin of frame a, so that turning moves it too.
    rubbing = [(*t.tolist(), *(-float(contact.radius) * np.cross(n, t)).tolist()) for t in across]
    return FrameRows(rows.first, rows.second, (rows.directions[0], *rubbing), rows.held)


def between_spacecraft(rows: tuple[Rows, ...]) -> np.ndarray:
    """1 for each row between spacecraft or within one; 0 for rows to a frame that is fixed in N."""
    flags = [
        0.0 if isinstance(group, FrameRows) and -1 in (group.first[0], group.second[0]) else 1.0
        for group in rows
        for _ in range(group.count)
    ]
    return np.array(flags)


def gaps(world: World, states: tuple[State, ...]) -> tuple[Vector, Vector]:
    """Gap of every contact [m], negative where it overlaps, and its rate [m/s]."""
    rows = tuple(contact_rows(world, contact) for contact in world.contacts)
    return row_error(world.crafts, states, rows), row_velocity(world.crafts, states, rows)


def contact_approach(world: World, states: tuple[State, ...], modes: ConstraintState) -> Approach:
    """Approach of all contacts that do not rest; the frame is at the centre of the sphere, so the lever is zero."""
    gap, rate = gaps(world, states)
    whole = tuple(
        FrameRows(rows.first, rows.second) for contact in world.contacts for rows in (contact_rows(world, contact),)
    )
    velocity = row_velocity(world.crafts, states, whole).reshape(-1, 6).T
    free = jnp.where(modes.touching == 1, -1.0, jnp.maximum(gap, _TOUCHES))
    return Approach(free, rate, velocity, jnp.zeros_like(gap))


def brake_rates(world: World, states: tuple[State, ...]) -> Numeric:
    """Rate of every joint that has a brake [rad/s, m/s]."""
    found = [
        jnp.asarray(states[c].v)[brake_dof(world, brake)]
        for brake in world.brakes
        for c in (world.names.index(brake.craft),)
    ]
    return jnp.stack(found) if found else jnp.zeros(0)


def brake_dof(world: World, brake: JointBrake) -> int:
    """Index into v of the joint that a brake holds, or of its motor if the joint is flexible."""
    layout = world.crafts[world.names.index(brake.craft)].layout
    return layout.velocity(layout.motor_coordinate(brake.joint)).start
