"""Forces of the structure itself: elasticity and damping of flexible bodies, damping of joints."""

import jax.numpy as jnp

from freefloat.dynamics.tree import modal_coordinates
from freefloat.model import ModalBody, Spacecraft
from freefloat.values.arrays import Scalar, Vector
from freefloat.values.compiling import compiled_on_call


@compiled_on_call
def elastic_force(craft: Spacecraft, q: Vector) -> Vector:
    """Generalised force (nv) of the flexible bodies' stiffness."""
    force = jnp.zeros(craft.layout.nv)
    for body in flexible_bodies(craft):
        at = craft.layout.velocities[f"{body.name}.modes"]
        force = force.at[at].set(-(body.stiffness @ modal_coordinates(craft, body, q)))
    return force


@compiled_on_call
def elastic_energy(craft: Spacecraft, q: Vector) -> Scalar:
    """Energy stored in the flexible bodies [J]."""
    energy = jnp.zeros(())
    for body in flexible_bodies(craft):
        b = modal_coordinates(craft, body, q)
        energy += 0.5 * b @ (body.stiffness @ b)
    return energy


@compiled_on_call
def damping_force(craft: Spacecraft, v: Vector) -> Vector:
    """Generalised force (nv) of viscous damping in joints and flexible bodies."""
    v = craft.layout.require_size("v", v)
    force = jnp.zeros(craft.layout.nv)
    for joint in craft.joints:
        if joint.dofs:
            at = craft.layout.velocities[joint.name]
            force = force.at[at].set(-joint.damping * v[at])
        elif joint.follows is not None:
            # Its rate is the ratio times the leader's, and so is the share of its torque that reaches the leader.
            at = craft.layout.velocities[joint.follows.leader]
            force = force.at[at].add(-joint.damping * joint.follows.ratio**2 * v[at])
    for body in flexible_bodies(craft):
        at = craft.layout.velocities[f"{body.name}.modes"]
        force = force.at[at].set(-(body.damping @ v[at]))
    return force


def flexible_bodies(craft: Spacecraft) -> tuple[ModalBody, ...]:
    """The bodies that have modes."""
    return tuple(body for body in craft.bodies if isinstance(body, ModalBody) and body.modes)
