"""The rows of a world's connections, brakes and contacts, as `dynamics` takes them, and how close things are."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.relative_rows import (
    INERTIAL,
    FrameRows,
    JointRows,
    Place,
    Rows,
    relative_pose,
    row_error,
    row_velocity,
)
from freefloat.dynamics.row_directions import GRASP, POINT, Directions, contact, hinge, normal
from freefloat.model import Connection, Contact, JointBrake, State, World
from freefloat.model import Place as NamedPlace
from freefloat.model.ports import Approach
from freefloat.sim.system.constraint_state import ConstraintState
from freefloat.spatial import Pose
from freefloat.values.arrays import Numeric, Scalar, Vector

_Z = np.array([0.0, 0.0, 1.0])
_TOUCHES = 1e-300  # [m]: the gap of a contact that has just bounced


def place_of(world: World, place: NamedPlace) -> Place:
    """A frame as `dynamics` calls it."""
    return (world.names.index(place.craft), place.frame) if place.craft else INERTIAL


def rows_of(world: World, states: tuple[State, ...], modes: ConstraintState) -> tuple[Rows, ...]:
    """Of all connections, brakes and contacts, in this order."""
    held = [
        Pose.from_quaternion(jnp.asarray(modes.attitudes[i]), modes.positions[i]) for i in range(len(world.connections))
    ]
    connections = [connection_rows(world, one, pose) for one, pose in zip(world.connections, held, strict=True)]
    brakes = []
    for brake in world.brakes:  # held where it stands: what holds has no rate, and so does not drift
        c = world.names.index(brake.craft)
        moved = world.crafts[c].layout.drive(brake.joint)  # brakes sit on the motors of flexible joints
        at = world.crafts[c].layout.position(moved).start
        brakes.append(JointRows((c, moved), states[c].q[at]))
    return (*connections, *brakes, *(contact_rows(world, one) for one in world.contacts))


def connection_rows(world: World, one: Connection, held: Pose) -> FrameRows:
    """Rows of a connection whose frame b is held in a pose relative to frame a (of N, where a stands still)."""
    return FrameRows(place_of(world, one.a), place_of(world, one.b), _directions(one), held)


def meant_pose(one: Connection) -> Pose:
    """The pose from which a connection's reach is counted, as the rows have it."""
    return one.at if one.a.X_NF is None else one.a.X_NF @ one.at


def present_pose(world: World, states: tuple[State, ...], one: Connection) -> Pose:
    """The pose that a connection would hold if it latched now."""
    return relative_pose(world.crafts, states, place_of(world, one.a), place_of(world, one.b))


def _directions(one: Connection) -> Directions:
    if one.holds == "hinge":
        return hinge(_Z if one.a.X_NF is None else np.asarray(one.a.X_NF.R) @ _Z)
    return GRASP if one.holds == "all" else POINT


def apart(world: World, states: tuple[State, ...], one: Connection) -> tuple[Scalar, Scalar]:
    """How far the frames of a connection are from where they are meant to be, in what it holds [m], [rad]."""
    error = row_error(world.crafts, states, (connection_rows(world, one, meant_pose(one)),))
    turned = error[3:]
    return jnp.sqrt(error[:3] @ error[:3]), jnp.sqrt(turned @ turned) if turned.size else jnp.zeros(())


def out_of_reach(world: World, states: tuple[State, ...], one: Connection) -> Scalar:
    """Negative within reach, zero at its edge."""
    away, turned = apart(world, states, one)
    return jnp.maximum(away / one.reach[0], turned / one.reach[1]) - 1.0


# ---- contacts


def contact_rows(world: World, one: Contact) -> FrameRows:
    """The normal row: its error is the gap, its velocity the rate of the gap."""
    n, start = _Z, one.radius * _Z
    if one.b.X_NF is not None:
        n = np.asarray(one.b.X_NF.R) @ _Z
        start = one.b.X_NF.p + one.radius * n
    return FrameRows(place_of(world, one.b), place_of(world, one.a), normal(n), Pose(position=start))


def impact_rows(world: World, one: Contact) -> FrameRows:
    """Rows of a contact at an impact: the normal and, where it rubs, two across it, at the point that touches."""
    rows = contact_rows(world, one)
    if isinstance(one.friction, float) and one.friction == 0.0:
        return rows
    n, *across = (np.array(row[:3]) for row in contact(rows.directions[0][:3]))
    # The point that touches is a radius below the origin of frame a, so that turning moves it too.
    rubbing = [(*t.tolist(), *(-float(one.radius) * np.cross(n, t)).tolist()) for t in across]
    return FrameRows(rows.first, rows.second, (rows.directions[0], *rubbing), rows.held)


def between_spacecraft(rows: tuple[Rows, ...]) -> np.ndarray:
    """1 for each row between spacecraft, or within one; 0 for those that hold on to what stands still."""
    flags = [
        0.0 if isinstance(one, FrameRows) and -1 in (one.first[0], one.second[0]) else 1.0
        for one in rows
        for _ in range(one.count)
    ]
    return np.array(flags)


def gaps(world: World, states: tuple[State, ...]) -> tuple[Vector, Vector]:
    """Gap of every contact [m], negative where it overlaps, and its rate [m/s]."""
    rows = tuple(contact_rows(world, one) for one in world.contacts)
    return row_error(world.crafts, states, rows), row_velocity(world.crafts, states, rows)


def contact_approach(world: World, states: tuple[State, ...], modes: ConstraintState) -> Approach:
    """How all contacts approach that do not rest; of a sphere the centre is the frame, so there is no lever."""
    gap, rate = gaps(world, states)
    whole = tuple(FrameRows(rows.first, rows.second) for one in world.contacts for rows in (contact_rows(world, one),))
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
    """Index into v, of its spacecraft, of what a brake holds: of the motor where the joint is flexible."""
    layout = world.crafts[world.names.index(brake.craft)].layout
    return layout.velocity(layout.drive(brake.joint)).start
