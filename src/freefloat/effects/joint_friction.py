"""Friction in joints: Coulomb, smoothed around standstill, and viscous."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.model import Spacecraft, State
from freefloat.model.ports import Clock, Effect
from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.channels import Channel
from freefloat.values.checks import require_bounds


@record
class Friction:
    """Friction of every joint: Coulomb, smoothed around standstill, and viscous."""

    coulomb: Numeric | float = 0.0  # [N m]
    viscous: Numeric | float = 0.0  # [N m s/rad]
    smoothing: Numeric | float = 1e-3  # rate at which Coulomb friction reaches three quarters of its value [rad/s]

    def __post_init__(self) -> None:
        require_bounds(self, {"coulomb": "N m", "viscous": "N m s/rad"}, least=0.0)
        require_bounds(self, {"smoothing": "rad/s"}, above=0.0)

    def torque(self, rate: Vector) -> Vector:
        """Against the motion."""
        return -self.coulomb * jnp.tanh(rate / self.smoothing) - self.viscous * rate


@record
class JointFriction(Effect):
    """Friction between the bodies that a joint connects. Give it a name where a spacecraft has two kinds of it."""

    friction: Friction
    joints: tuple[str, ...] = static(default=())  # none: all that move

    def check(self, craft: Spacecraft) -> None:
        """Its joints."""
        self.require_known(craft, "moving joint", self.joints, craft.layout.moving_joints)

    def names(self, craft: Spacecraft) -> tuple[str, ...]:
        """Joints with this friction."""
        return self.joints or craft.layout.moving_joints

    def torques(self, craft: Spacecraft, state: State) -> Vector:
        """Of each of its joints [N m, N]."""
        return self.friction.torque(jnp.asarray(state.v)[self._places(craft)])

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> Vector:
        """Generalised force: a torque at each joint."""
        return jnp.zeros(craft.layout.nv).at[self._places(craft)].set(self.torques(craft, state))

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Its torques."""
        name, axis = self.tells("joints.friction"), self.tells("friction_joint")
        return (Channel(name, "Friction torque at the joint", "N m", "", axis, self.names(craft)),)

    def observe(self, craft: Spacecraft, state: State, clock: Clock) -> tuple[Numeric, ...]:
        """Its torques."""
        return (self.torques(craft, state),)

    def _places(self, craft: Spacecraft) -> np.ndarray:
        return np.array(craft.layout.indices(self.names(craft)), dtype=int)
