"""Forces of the structure itself: elasticity and damping of flexible bodies and of gears, damping of joints."""

import jax.numpy as jnp

from freefloat.dynamics.tree import modal_coordinates
from freefloat.model import Joint, ModalBody, Spacecraft
from freefloat.model.flexibility import JointFlexibility
from freefloat.values.arrays import Scalar, Vector
from freefloat.values.compiling import compiled_on_call


@compiled_on_call
def elastic_force(craft: Spacecraft, q: Vector) -> Vector:
    """Generalised force (nv) of the stiffness of flexible bodies and gears."""
    force = jnp.zeros(craft.layout.nv)
    for body in flexible_bodies(craft):
        at = craft.layout.velocities[f"{body.name}.modes"]
        force = force.at[at].set(-(body.stiffness @ modal_coordinates(craft, body, q)))
    for joint, gear in flexible_joints(craft):
        torque = gear.spring_torque(torsion(craft, q, joint))
        force = _with_gear_torque(craft, joint, force, torque)
    return force


@compiled_on_call
def elastic_energy(craft: Spacecraft, q: Vector) -> Scalar:
    """Energy stored in flexible bodies and gears [J]."""
    energy = jnp.zeros(())
    for body in flexible_bodies(craft):
        b = modal_coordinates(craft, body, q)
        energy += 0.5 * b @ (body.stiffness @ b)
    for joint, gear in flexible_joints(craft):
        energy += gear.energy(torsion(craft, q, joint))
    return energy


@compiled_on_call
def damping_force(craft: Spacecraft, q: Vector, v: Vector) -> Vector:
    """Generalised force (nv) of damping in joints, gears and flexible bodies; q matters where gears have free play."""
    q, v = craft.layout.require_size("q", q, "q"), craft.layout.require_size("v", v)
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
    for joint, gear in flexible_joints(craft):
        own, motor = craft.layout.velocities[joint.name].start, craft.layout.velocities[joint.motor].start
        force = _with_gear_torque(craft, joint, force, gear.loss_torque(torsion(craft, q, joint), v[motor] - v[own]))
        force = force.at[motor].add(-gear.motor_damping * v[motor])
    return force


def flexible_bodies(craft: Spacecraft) -> tuple[ModalBody, ...]:
    """The bodies that have modes."""
    return tuple(body for body in craft.bodies if isinstance(body, ModalBody) and body.modes)


def flexible_joints(craft: Spacecraft) -> tuple[tuple[Joint, JointFlexibility], ...]:
    """The joints whose gears give way."""
    return tuple((joint, joint.flexibility) for joint in craft.joints if joint.flexibility is not None)


def torsion(craft: Spacecraft, q: Vector, joint: Joint) -> Scalar:
    """Motor minus joint position of a flexible joint [rad, m]."""
    q, at = craft.layout.require_size("q", q, "q"), craft.layout.positions
    return q[at[joint.motor].start] - q[at[joint.name].start]


def _with_gear_torque(craft: Spacecraft, joint: Joint, force: Vector, torque: Scalar) -> Vector:
    """The force with a torque added that the motor exerts on the joint through the gear."""
    at = craft.layout.velocities
    return force.at[at[joint.name].start].add(torque).at[at[joint.motor].start].add(-torque)
