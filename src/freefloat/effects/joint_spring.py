"""A spring in a joint: a hinge that drives a panel open, a cable that is twisted."""

from __future__ import annotations

import jax.numpy as jnp

from freefloat.model import Spacecraft, State
from freefloat.model.following import joint_place, joint_position
from freefloat.model.part_kinds import Clock, Effect
from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Scalar, Vector
from freefloat.values.channels import Channel
from freefloat.values.checks import require_bounds


@record
class JointSpring(Effect):
    """A linear spring: torque -k (q - rest). In a joint that follows another, it acts on that one by the ratio."""

    joint: str = static()
    stiffness: Numeric | float  # k [N m/rad, N/m]
    rest: Numeric | float = 0.0  # where it pulls to [rad, m]

    def __post_init__(self) -> None:
        require_bounds(self, {"stiffness": "N m/rad, N/m"}, least=0.0)
        require_bounds(self, {"rest": "rad, m"})

    def check(self, craft: Spacecraft) -> None:
        """Reject a joint that the spacecraft does not have or that cannot move."""
        if self.joint not in craft.layout.leaders:
            self.require_moving(craft, (self.joint,))

    def stretch(self, craft: Spacecraft, state: State) -> Scalar:
        """Distance of the joint from rest [rad, m]."""
        return joint_position(craft, jnp.asarray(state.q), self.joint) - self.rest

    def energy(self, craft: Spacecraft, state: State) -> Scalar:
        """Energy stored in the spring [J]."""
        return 0.5 * self.stiffness * self.stretch(craft, state) ** 2

    def pushed_frames(self, craft: Spacecraft) -> tuple[str, ...]:
        """No frame: it acts between two bodies."""
        return ()

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> Vector:
        """Generalised force: a torque at the joint."""
        place, ratio = joint_place(craft, self.joint)
        torque = -self.stiffness * self.stretch(craft, state)
        return jnp.zeros(craft.layout.nv).at[place].set(torque if ratio is None else ratio * torque)

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Channel with the energy of the spring."""
        return (
            Channel(self.channel_name(f"{self.joint}.spring_energy"), f"Energy of the spring in {self.joint}", "J"),
        )

    def observe(self, craft: Spacecraft, state: State, clock: Clock) -> tuple[Numeric, ...]:
        """Value of the channel: the energy of the spring."""
        return (self.energy(craft, state),)
