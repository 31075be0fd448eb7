"""Axes of control-moment gyros: spin axes, and the directions in which gimbal rates change their momentum."""

import jax.numpy as jnp

from freefloat.dynamics.kinematics import body_poses
from freefloat.model import Spacecraft
from freefloat.values.arrays import Matrix, Scalar, Vector


def spin_axes(craft: Spacecraft, q: Vector, wheels: tuple[str, ...]) -> Matrix:
    """Spin axis of each wheel as a column, base axes."""
    poses = body_poses(craft, q)
    found = [craft.wheels[craft.wheel_names.index(name)] for name in wheels]
    return jnp.stack([poses[craft.body_index(wheel.body)].R @ wheel.axis for wheel in found], axis=1)


def gyro_directions(craft: Spacecraft, q: Vector, gimbals: tuple[str, ...], wheels: tuple[str, ...]) -> Matrix:
    """Rate of each spin axis per unit gimbal rate, gimbal axis x spin axis, as a column, base axes."""
    poses, spins = body_poses(craft, q), spin_axes(craft, q, wheels)
    joints = [craft.joint_names.index(name) for name in gimbals]
    gimbal_axes = jnp.stack([poses[index + 1].R @ craft.joints[index].axis for index in joints], axis=1)
    return jnp.cross(gimbal_axes, spins, axis=0)


def singularity_measure(directions: Matrix) -> Scalar:
    """det(A A^T) of the directions A (3, gyros): zero where no gimbal rates make a torque about some axis."""
    x, y, z = directions @ directions.T
    return x @ jnp.cross(y, z)
