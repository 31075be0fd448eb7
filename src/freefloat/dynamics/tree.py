"""The tree at a configuration: how each body hangs on its parent, and which inertia it adds.

Every recursion of this package walks these two lists. A body adds an inertia and, where it has modes or carries
wheels or motors of flexible joints, generalised speeds of its own: its inertia is an extended one.
"""

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.deformation import Mount, node_mount, rail_mount
from freefloat.model import Joint, ModalBody, RigidBody, Spacecraft
from freefloat.model.motors import Motor
from freefloat.spatial import Pose, SpatialInertia, angular, six
from freefloat.spatial.rotations import axial
from freefloat.values import record, static
from freefloat.values.arrays import Matrix, Scalar, Vec6, Vector, is_traced
from freefloat.values.tracing import once

Dofs = tuple[int, ...]


@record
class Edge:
    """How a body hangs on its parent: by its joint, and by the parent's modes where the parent is flexible."""

    dofs: Dofs = static()  # indices into v
    X_PB: Pose  # body frame in the parent's frame
    columns: Matrix  # (6, dofs): body twist per unit rate of each dof, body axes


@record
class ExtendedInertia:
    """Inertia of one body with the generalised speeds that live on it."""

    dofs: Dofs = static()  # indices into v
    rigid: SpatialInertia
    coupling: Matrix  # (6, dofs): momentum of the body per unit own speed, about its origin
    own: Matrix  # (dofs, dofs): inertia of the own speeds


# ---- edges


@once
def edges(craft: Spacecraft, q: Vector) -> tuple[Edge, ...]:
    """One edge for each body but the base, in tree order."""
    q = craft.layout.require_size("q", q, "q")
    return tuple(_edge(craft, joint, q) for joint in craft.joints)


@once
def edge_drifts(craft: Spacecraft, q: Vector, v: Vector) -> tuple[Vec6, ...]:
    """Rate of each edge's relative twist at zero acceleration, from columns that change with the configuration."""
    qdot = select_entries(v, craft.layout.coordinates)
    drifts = []
    for joint in craft.joints:
        if joint.kind != "rail" and not craft.body(joint.parent).modes:
            drifts.append(np.zeros(6))  # a rigid joint's columns are constant in the axes of the body it carries
            continue
        relative = lambda q, joint=joint: _relative_twist(_edge(craft, joint, q), v)  # noqa: E731
        drifts.append(jax.jvp(relative, (q,), (qdot,))[1])
    return tuple(drifts)


def _relative_twist(edge: Edge, v: Vector) -> Vec6:
    return edge.columns @ select_entries(v, edge.dofs)


def _edge(craft: Spacecraft, joint: Joint, q: Vector) -> Edge:
    layout, parent = craft.layout, craft.body(joint.parent)
    follows = joint.follows
    own = joint.name if follows is None else follows.leader  # whose coordinate moves this joint
    at, dofs = layout.positions[own], layout.indices([own])
    position = q[at.start] if dofs else np.zeros(())
    columns = joint.column()[:, None] if dofs else np.zeros((6, 0))
    if follows is not None:
        position, columns = jnp.asarray(follows.ratio * position + follows.offset), follows.ratio * columns
    placement = joint.placement(position)
    if not isinstance(parent, ModalBody) or (joint.kind != "rail" and not joint.node):
        return Edge(dofs=dofs, X_PB=placement, columns=columns)
    # On a flexible parent: the parent's modes move the joint, or the rail moves the carriage.
    if joint.kind == "rail" and parent.rail is not None:
        mount = rail_mount(parent.rail, modal_coordinates(craft, parent, q), q[at.start])
        columns = np.zeros((6, 0))
    else:
        mount = mount_of(craft, parent, joint.node, q)
    return Edge(
        dofs=_modal_dofs(craft, parent) + dofs,
        X_PB=mount.pose @ placement,
        columns=jnp.concatenate([placement.twist_to_B(mount.columns), columns], axis=1),
    )


def mount_of(craft: Spacecraft, body: ModalBody, node: str, q: Vector) -> Mount:
    """The frame at a node of a flexible body."""
    return node_mount(body.node(node), modal_coordinates(craft, body, q))


def _modal_dofs(craft: Spacecraft, body: ModalBody) -> Dofs:
    return craft.layout.indices([f"{body.name}.modes"]) if body.modes else ()


def modal_coordinates(craft: Spacecraft, body: ModalBody, q: Vector) -> Vector:
    """The modal coordinates of a flexible body."""
    if not body.modes:
        return np.zeros(0)
    return craft.layout.require_size("q", q, "q")[craft.layout.positions[f"{body.name}.modes"]]


# ---- inertias


@once
def extended_inertias(craft: Spacecraft, q: Vector) -> tuple[ExtendedInertia, ...]:
    """Extended inertia of each body, the base first."""
    found = []
    for body in craft.bodies:
        if isinstance(body, RigidBody):
            found.append(_rigid_inertia(craft, body))
        else:
            found.append(flexible_inertia(craft, body, modal_coordinates(craft, body, q)))
    return tuple(found)


def _rigid_inertia(craft: Spacecraft, body: RigidBody) -> ExtendedInertia:
    """Inertia of a rigid body; each wheel couples by its axial inertia about its axis (docs/theory-free-floating.md).

    A motor that turns at `ratio` times the rate of its coordinate couples by as much more, and has its square.
    """
    wheels = craft.wheels_on(body.name)
    columns = [six(np.zeros(3), wheel.inertia * wheel.axis) for wheel in wheels]
    inertias = [jnp.asarray(wheel.inertia) for wheel in wheels]
    for motor in craft.motors_on(body.name):
        columns.append(six(np.zeros(3), motor.coupling * motor.axis))
        inertias.append(jnp.asarray(motor.inertia))
    names = [w.name for w in wheels] + [m.name for m in craft.motors_on(body.name)]
    return ExtendedInertia(
        dofs=craft.layout.indices(names),
        rigid=body.spatial_inertia(),
        coupling=jnp.stack(columns, axis=1) if columns else np.zeros((6, 0)),
        own=jnp.diag(jnp.stack(inertias)) if inertias else np.zeros((0, 0)),
    )


def flexible_inertia(craft: Spacecraft, body: ModalBody, b: Vector) -> ExtendedInertia:
    """Inertia of a flexible body deformed by modal coordinates b, with the motors of the joints that it carries."""
    inertia = _modal_inertia(body, _modal_dofs(craft, body), b)
    for motor in craft.motors_on(body.name):
        inertia = _with_motor(inertia, motor, craft.layout.indices([motor.name]), body, b)
    return inertia


def _with_motor(inertia: ExtendedInertia, motor: Motor, dofs: Dofs, body: ModalBody, b: Vector) -> ExtendedInertia:
    """The inertia with a motor added: at a node it couples with the rate about its axis there, modes included."""
    axis, bending = motor.axis, np.zeros(inertia.own.shape[0])
    if motor.node:
        mount = node_mount(body.node(motor.node), b)
        axis = mount.pose.R @ motor.axis
        bending = jnp.zeros(inertia.own.shape[0]).at[: body.modes].set(motor.axis @ angular(mount.columns))
    row = motor.coupling * bending
    return ExtendedInertia(
        dofs=inertia.dofs + dofs,
        rigid=inertia.rigid,
        coupling=jnp.concatenate([inertia.coupling, six(np.zeros(3), motor.coupling * axis)[:, None]], axis=1),
        own=jnp.block([[inertia.own, row[:, None]], [row[None, :], jnp.reshape(jnp.asarray(motor.inertia), (1, 1))]]),
    )


def _modal_inertia(body: ModalBody, dofs: Dofs, b: Vector) -> ExtendedInertia:
    """Inertia of a flexible body deformed by b, to second order in (b, b') (docs/theory-flexible.md)."""
    # Foreshortening enters the rigid part with one half of b b, the coupling with b.
    short_moment = jnp.tensordot(b, body.short_moment, axes=1)  # (modes, 3)
    pairs = jnp.tensordot(b, body.pair_moment, axes=1)  # (modes, 3, 3)
    short_mixed = jnp.tensordot(b, body.short_mixed_moment, axes=1)  # (modes, 3, 3)
    stretched = jnp.tensordot(b, body.mixed_moment + 0.5 * short_mixed, axes=1)
    P = body.second_moment + stretched + stretched.T + jnp.tensordot(b, pairs, axes=1)
    rigid = SpatialInertia(
        mass=body.mass,
        moment=body.moment + body.modal_moment @ b + 0.5 * (b @ short_moment),
        inertia=jnp.trace(P) * np.eye(3) - P,
    )
    turning = axial(body.mixed_moment + pairs + short_mixed)  # (modes, 3): int u x du/db dm
    return ExtendedInertia(
        dofs=dofs, rigid=rigid, coupling=six(body.modal_moment + short_moment.T, turning.T), own=body.modal_mass
    )


@once
def rotor_inertias(craft: Spacecraft) -> Vector:
    """Inertias (nv) that motor rotors and gears add to each joint's own rate; zero for everything else."""
    found: list[Scalar | float] = [0.0] * craft.layout.nv
    for joint in craft.joints:
        if joint.dofs:
            found[craft.layout.velocities[joint.name].start] += joint.rotor_inertia
        elif joint.follows is not None:
            # It turns at the ratio times the leader's rate, and its energy is that of the square.
            leader = craft.layout.velocities[joint.follows.leader].start
            found[leader] += joint.rotor_inertia * joint.follows.ratio**2
    return jnp.stack(found) if is_traced(found) else np.array(found, dtype=float)


def base_entries(craft: Spacecraft, v: Vector, name: str = "v") -> Vec6:
    """The base's six entries of a vector of generalised speeds, rates or forces, which must have the right size."""
    return craft.layout.require_size(name, v)[:6]


def select_entries(v: Vector, dofs: Dofs) -> Vector:
    """The entries of a vector of generalised speeds or forces that belong to some dofs."""
    return v[np.array(dofs, dtype=int)]
