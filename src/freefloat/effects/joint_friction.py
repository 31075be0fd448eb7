"""Friction in joints: Coulomb, smoothed around standstill, and viscous."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.model import Spacecraft, State
from freefloat.model.following import joint_place
from freefloat.model.part_kinds import Clock, Effect
from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.channels import Channel
from freefloat.values.checks import require_bounds
from freefloat.values.errors import ModelError


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
        """Friction torque at a joint rate [N m, N], against the motion."""
        return -self.coulomb * jnp.tanh(rate / self.smoothing) - self.viscous * rate


@record
class JointFriction(Effect):
    """Friction between the bodies that a joint connects. Give it a name where a spacecraft has two kinds of it.

    A joint that follows another is among its joints only by name.
    """

    friction: Friction
    joints: tuple[str, ...] = static(default=())  # none: all that have a coordinate

    @staticmethod
    def stated(craft: Spacecraft, *, smoothing: float = 1e-3) -> JointFriction:
        """Dry friction as the joints of a spacecraft give it, such as from robot files; smoothing in rad/s or m/s."""
        joints = [joint for joint in craft.joints if joint.kind != "fixed" and float(joint.friction) > 0.0]
        if not joints:
            raise ModelError(f"No joint of spacecraft '{craft.name}' states friction. Leave JointFriction out.")
        coulomb = np.array([float(joint.friction) for joint in joints])
        return JointFriction(Friction(coulomb=coulomb, smoothing=smoothing), tuple(joint.name for joint in joints))

    def check(self, craft: Spacecraft) -> None:
        """Reject joints that the spacecraft does not have or that cannot move."""
        self.require_moving(craft, (joint for joint in self.joints if joint not in craft.layout.leaders))

    def names(self, craft: Spacecraft) -> tuple[str, ...]:
        """Names of the joints with this friction."""
        return self.joints or craft.layout.moving_joints

    def torques(self, craft: Spacecraft, state: State) -> Vector:
        """Friction torque of each of its joints [N m, N]."""
        rates, ratios = jnp.asarray(state.v)[self._coordinate_indices(craft)], self._ratios(craft)
        return self.friction.torque(rates if ratios is None else ratios * rates)

    def pushed_frames(self, craft: Spacecraft) -> tuple[str, ...]:
        """No frame: it acts between two bodies."""
        return ()

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> Vector:
        """Generalised force: a torque at each joint."""
        torques, ratios, nothing = self.torques(craft, state), self._ratios(craft), jnp.zeros(craft.layout.nv)
        if ratios is None:
            return nothing.at[self._coordinate_indices(craft)].set(torques)
        return nothing.at[self._coordinate_indices(craft)].add(ratios * torques)  # several may share a coordinate

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Channel with the friction torques."""
        name, axis = self.channel_name("joints.friction"), self.channel_name("friction_joint")
        return (Channel(name, "Friction torque at the joint", "N m", "", axis, self.names(craft)),)

    def observe(self, craft: Spacecraft, state: State, clock: Clock) -> tuple[Numeric, ...]:
        """Value of the channel: the friction torques."""
        return (self.torques(craft, state),)

    def _coordinate_indices(self, craft: Spacecraft) -> np.ndarray:
        return np.array([joint_place(craft, name)[0] for name in self.names(craft)], dtype=int)

    def _ratios(self, craft: Spacecraft) -> Vector | None:
        """Rate of each joint per unit rate of the coordinate that moves it; None where all have their own."""
        ratios = [joint_place(craft, name)[1] for name in self.names(craft)]
        if all(ratio is None for ratio in ratios):
            return None
        return jnp.stack([jnp.asarray(1.0 if ratio is None else ratio, dtype=float) for ratio in ratios])
