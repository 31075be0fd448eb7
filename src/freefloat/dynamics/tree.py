"""The tree at a configuration: how each body hangs on its parent, and what it brings along.

Every recursion of this package walks these two lists. A body brings a rigid inertia and, where it carries
wheels (or modes), generalised speeds of its own: then its inertia is an extended one.
"""

import jax.numpy as jnp
import numpy as np

from freefloat.model import Spacecraft
from freefloat.spatial import Pose, SpatialInertia, record, six, static
from freefloat.spatial.arrays import Matrix, Vector


@record
class Edge:
    """How a body hangs on its parent."""

    dofs: tuple[int, ...] = static()  # indices into v
    X_PB: Pose  # body frame in the parent's frame
    columns: Matrix  # (6, dofs): body twist per unit rate of each dof, body axes


@record
class ExtendedInertia:
    """Inertia of one body with the generalised speeds that live on it."""

    dofs: tuple[int, ...] = static()  # indices into v
    rigid: SpatialInertia
    coupling: Matrix  # (6, dofs): momentum of the body per unit own speed, about its origin
    own: Matrix  # (dofs, dofs): inertia of the own speeds


def edges(craft: Spacecraft, q: Vector) -> tuple[Edge, ...]:
    """One edge for each body but the base, in tree order."""
    found = []
    for joint in craft.joints:
        at, speed = craft.layout.positions[joint.name], craft.layout.velocities[joint.name]
        dofs = tuple(range(speed.start, speed.stop))
        placement = joint.placement(q[at.start] if dofs else np.zeros(()))
        columns = joint.column()[:, None] if dofs else np.zeros((6, 0))
        found.append(Edge(dofs=dofs, X_PB=placement, columns=columns))
    return tuple(found)


def extended_inertias(craft: Spacecraft) -> tuple[ExtendedInertia, ...]:
    """One for each body, the base first. A wheel couples by its axial inertia about its axis (spec 003, section 2)."""
    found = []
    for body in craft.bodies:
        wheels = craft.wheels_on(body.name)
        dofs = craft.layout.indices([w.name for w in wheels])
        columns = [six(np.zeros(3), wheel.inertia * wheel.axis) for wheel in wheels]
        found.append(
            ExtendedInertia(
                dofs=dofs,
                rigid=body.spatial_inertia(),
                coupling=jnp.stack(columns, axis=1) if wheels else np.zeros((6, 0)),
                own=jnp.diag(jnp.stack([jnp.asarray(w.inertia) for w in wheels])) if wheels else np.zeros((0, 0)),
            )
        )
    return tuple(found)


def pick(v: Vector, dofs: tuple[int, ...]) -> Vector:
    """The entries of a vector of generalised speeds or forces that belong to some dofs."""
    return v[np.array(dofs, dtype=int)]
