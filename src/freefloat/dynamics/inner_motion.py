"""Motion about the centre of mass, wheels apart: what is left when the drift and the wheels' spin are taken away.

Nothing here depends on the velocity of the base origin: no digits are lost for a spacecraft at 7500 m/s.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.kinematics import body_poses, body_twists
from freefloat.dynamics.mass_matrix import mass_matrix
from freefloat.dynamics.momentum import kinetic_energy, momentum_about_base
from freefloat.dynamics.tree import extended_inertias
from freefloat.model import Spacecraft
from freefloat.spatial import angular, linear, six
from freefloat.spatial.rotations import cross
from freefloat.values import record
from freefloat.values.arrays import Scalar, Vec3, Vector
from freefloat.values.tracing import once


@record
class InnerMotion:
    """Motion about the centre of mass C; all vectors in base axes."""

    com: Vec3  # p_BC [m]
    com_velocity: Vec3  # of C relative to the base origin, which may itself move [m/s]
    angular_momentum: Vec3  # about C, wheels and all [N m s]
    energy: Scalar  # kinetic, about C, of all but the wheels' spin [J]


@once
def inner_motion(craft: Spacecraft, q: Vector, v: Vector) -> InnerMotion:
    """The motion about the centre of mass (Koenig); the spin of the wheels counts in the angular momentum only."""
    quiet, (com, velocity) = without_drift_and_spin(craft, q, v), motion_of_com(craft, q, v)
    P = craft.mass * velocity
    return InnerMotion(
        com=com,
        com_velocity=velocity,
        angular_momentum=angular(momentum_about_base(craft, q, quiet)) - cross(com, P) + spin_momentum(craft, q, v),
        energy=kinetic_energy(craft, q, quiet) - 0.5 * P @ velocity,
    )


def inner_energy(craft: Spacecraft, q: Vector, v: Vector) -> Scalar:
    """Kinetic energy about the centre of mass, the wheels' spin apart [J]; for use where the mass matrix is known."""
    _, velocity = motion_of_com_by_mass_matrix(craft, q, v)
    return kinetic_energy(craft, q, without_drift_and_spin(craft, q, v)) - 0.5 * craft.mass * velocity @ velocity


@once
def motion_of_com(craft: Spacecraft, q: Vector, v: Vector) -> tuple[Vec3, Vec3]:
    """Position of the centre of mass in the base frame, and its velocity relative to the base origin, base axes."""
    if not craft.layout.nq:
        com = first_moment(craft, q) / craft.mass
        return com, cross(angular(v[:6]), com)
    qdot = v[np.array(craft.layout.coordinates, dtype=int)]
    moment, change = jax.jvp(lambda at: first_moment(craft, at), (jnp.asarray(q),), (qdot,))
    com = moment / craft.mass
    return com, change / craft.mass + cross(angular(v[:6]), com)


@once
def motion_of_com_by_mass_matrix(craft: Spacecraft, q: Vector, v: Vector) -> tuple[Vec3, Vec3]:
    """`motion_of_com` from the momentum rows of the mass matrix: at no cost where that is needed anyway."""
    rows = mass_matrix(craft, q)[:3] / craft.mass
    return jnp.stack([rows[1, 5], rows[2, 3], rows[0, 4]]), rows @ without_drift(v)


def first_moment(craft: Spacecraft, q: Vector) -> Vec3:
    """Sum of mass times position, base frame [kg m]."""
    bodies = zip(extended_inertias(craft, q), body_poses(craft, q), strict=True)
    return sum((X_BL.R @ body.rigid.moment + body.rigid.mass * X_BL.p for body, X_BL in bodies), start=jnp.zeros(3))


def without_drift_and_spin(craft: Spacecraft, q: Vector, v: Vector) -> Vector:
    """Speeds of the same motion with the base origin at rest and no wheel turning about its axis in space."""
    v = without_drift(v)
    if not craft.wheels:
        return v
    wheels = np.array(craft.layout.indices([w.name for w in craft.wheels]), dtype=int)
    return v.at[wheels].set(-jnp.stack(_carried_spins(craft, q, v)))


def without_drift(v: Vector) -> Vector:
    """Speeds of the same motion with the base origin at rest."""
    return jnp.asarray(v).at[:3].set(0.0)


@once
def speeds_about_com(craft: Spacecraft, q: Vector, v: Vector, velocity: Vec3) -> Vector:
    """Speeds whose product with the generalised force is the power that goes into the inner motion.

    `velocity`: of the centre of mass relative to the base origin, base axes.
    """
    return without_drift_and_spin(craft, q, v).at[:3].set(-velocity)


@once
def spin_momentum(craft: Spacecraft, q: Vector, v: Vector) -> Vec3:
    """Sum of the wheels' axial momenta I (speed + axis . rate), as a vector in base axes [N m s]."""
    total = jnp.zeros(3)
    if not craft.wheels:
        return total
    poses = body_poses(craft, q)
    for wheel, carried in zip(craft.wheels, _carried_spins(craft, q, v), strict=True):
        spin = wheel.inertia * (v[craft.layout.velocity(wheel.name).start] + carried)
        total = total + poses[craft.body_index(wheel.body)].R @ (spin * wheel.axis)
    return total


def free_of_drift(rate: Vector, v: Vector) -> Vector:
    """Acceleration at v from that of the same motion with the base origin at rest: body axes turn under v."""
    turning = six(cross(angular(v[:6]), linear(v[:6])), np.zeros(3))
    return rate.at[:6].add(-turning)


def _carried_spins(craft: Spacecraft, q: Vector, v: Vector) -> list[Scalar]:
    """Rate of each wheel's carrier about the wheel's axis [rad/s]."""
    twists = body_twists(craft, q, v)
    return [wheel.axis @ angular(twists[craft.body_index(wheel.body)]) for wheel in craft.wheels]
