"""Bringing an arm to rest by its motors, from encoders alone: joint by joint, or without reaction on the base."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import free_floating, spd_solve
from freefloat.model import Clock, JointTorques, Measurements, Software, Spacecraft
from freefloat.values import SoftwareError, record
from freefloat.values.arrays import Matrix, Numeric, Vector
from freefloat.values.checks import require_bounds, set_fields

_NO_DIRECTION = 1e-9  # of the size of H: what is left of a row that depends on the others


@record
class JointMemory:
    """Joint positions and estimated rates from the encoders so far."""

    start: Vector  # positions at the start [rad, m]
    last: Vector  # positions at the last tick [rad, m]
    rates: Vector  # estimated [rad/s, m/s]


@record
class EncoderSoftware(Software[JointMemory]):
    """Software that estimates joint rates from joint positions; it must be sampled. Subclasses write `torques`."""

    craft: Spacecraft  # the software's model
    smoothing: Numeric | float = 0.02  # time constant of the estimated rates [s]

    def __post_init__(self) -> None:
        require_bounds(self, {"smoothing": "s"}, least=0.0)
        set_fields(self, craft=self.craft.with_stiff_joints())
        if self.period is None:
            raise SoftwareError(f"{self.title} takes differences between ticks: give it a period, such as period=0.01.")

    def begin(self, y: Measurements) -> JointMemory:
        """Memory at the start: the measured positions, and rates of zero."""
        here = jnp.asarray(y["joints.position"])
        return JointMemory(here, here, jnp.zeros_like(here))

    def remember(self, memory: JointMemory, y: Measurements, clock: Clock) -> JointMemory:
        """Memory with rates from the difference of two readings, smoothed."""
        here = jnp.asarray(y["joints.position"])
        seen = (here - memory.last) / clock.hold
        share = jnp.where(clock.tick > 0, clock.hold / (clock.hold + self.smoothing), 0.0)
        return JointMemory(memory.start, here, memory.rates + share * (seen - memory.rates))

    def torques(self, memory: JointMemory) -> Vector:
        """Torques of the joint motors [N m, N]."""
        raise NotImplementedError

    def command(self, memory: JointMemory, y: Measurements, clock: Clock) -> JointTorques:
        """Command with the torques of the joint motors."""
        return JointTorques(self.craft.layout.moving_joints, self.torques(memory))


@record
class JointHold(EncoderSoftware):
    """Holds every joint at its position at the start, with a spring and a damper at each."""

    stiffness: Vector | float = 0.0  # [N m/rad, N/m]
    damping: Vector | float = 0.0  # [N m s/rad, N s/m]

    def __post_init__(self) -> None:
        EncoderSoftware.__post_init__(self)
        require_bounds(self, {"stiffness": "N m/rad", "damping": "N m s/rad"}, least=0.0)

    def torques(self, memory: JointMemory) -> Vector:
        """PD torques of the joint motors [N m, N]."""
        return -self.stiffness * (memory.last - memory.start) - self.damping * memory.rates


@record
class ReactionlessDamping(EncoderSoftware):
    """Damps joint motion in the reaction null space and leaves motion that carries angular momentum alone.

    tau = -rate (M* - H^T (H M*^-1 H^T)^-1 H) qdot, with M* the joint inertia of the floating spacecraft and H its
    angular coupling: of a rigid arm, H qddot is zero, so the base is not turned. The matrix is symmetric and not
    negative: motors at the joints can only take energy out, whatever bends between them.
    """

    rate: Numeric | float = 0.5  # of decay [1/s]

    def __post_init__(self) -> None:
        EncoderSoftware.__post_init__(self)
        require_bounds(self, {"rate": "1/s"}, least=0.0)
        if self.craft.layout.modal_velocities:
            raise SoftwareError(
                f"ReactionlessDamping plans with a rigid model, and '{self.craft.name}' bends. Give it its rigid "
                "model: craft.rigid()."
            )

    def torques(self, memory: JointMemory) -> Vector:
        """Damping torques in the reaction null space [N m, N]."""
        q = jnp.zeros(self.craft.layout.nq).at[np.array(self.craft.layout.joint_positions)].set(memory.last)
        return -self.rate * null_space_inertia(self.craft, q) @ memory.rates


def floating_joint_inertia(craft: Spacecraft, q: Vector) -> Matrix:
    """M* = H_m - H_bm^T H_b^-1 H_bm (n, n): joint inertia of a free-floating spacecraft."""
    body = free_floating(craft, q)
    return body.H_m - body.H_bm.T @ spd_solve(body.H_b, body.H_bm)


def null_space_inertia(craft: Spacecraft, q: Vector) -> Matrix:
    """M* - H^T (H M*^-1 H^T)^-1 H (n, n): the part of M* whose motion does not turn the base.

    Taken row by row (Gram-Schmidt): a row of H that adds no direction, as in a planar arm, takes none away.
    """
    M, H = floating_joint_inertia(craft, q), free_floating(craft, q).angular_coupling
    response = spd_solve(M, H.T)  # (n, 3) joint motion per unit torque of each row
    smallest, left = _NO_DIRECTION**2 * jnp.sum(H * response.T), M
    for k in range(3):
        new = left @ response[:, k]
        size = new @ response[:, k]
        counts = size > smallest
        left = left - jnp.outer(new, new) * jnp.where(counts, 1.0 / jnp.where(counts, size, 1.0), 0.0)
    return left
