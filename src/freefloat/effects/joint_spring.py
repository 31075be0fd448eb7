"""A spring in a joint: a hinge that drives a panel open, a cable that is twisted."""

from __future__ import annotations

import jax.numpy as jnp

from freefloat.model import Spacecraft, State
from freefloat.model.ports import Clock, Effect
from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Scalar, Vector
from freefloat.values.channels import Channel
from freefloat.values.checks import require_bounds


@record
class JointSpring(Effect):
    """A linear spring: torque -k (q - rest)."""

    joint: str = static()
    stiffness: Numeric | float  # k [N m/rad, N/m]
    rest: Numeric | float = 0.0  # where it pulls to [rad, m]

    def __post_init__(self) -> None:
        require_bounds(self, {"stiffness": "N m/rad, N/m"}, least=0.0)
        require_bounds(self, {"rest": "rad, m"})

    def check(self, craft: Spacecraft) -> None:
        """Its joint."""
        self.require_known(craft, "moving joint", (self.joint,), craft.layout.moving_joints)

    def stretch(self, craft: Spacecraft, state: State) -> Scalar:
        """How far the joint is from rest [rad, m]."""
        return jnp.asarray(state.q)[craft.layout.position(self.joint).start] - self.rest

    def energy(self, craft: Spacecraft, state: State) -> Scalar:
        """Stored in the spring [J]."""
        return 0.5 * self.stiffness * self.stretch(craft, state) ** 2

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> Vector:
        """Generalised force: a torque at the joint."""
        place = craft.layout.velocity(self.joint).start
        return jnp.zeros(craft.layout.nv).at[place].set(-self.stiffness * self.stretch(craft, state))

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Its energy."""
        return (Channel(self.tells(f"{self.joint}.spring_energy"), f"Energy of the spring in {self.joint}", "J"),)

    def observe(self, craft: Spacecraft, state: State, clock: Clock) -> tuple[Numeric, ...]:
        """Its energy."""
        return (self.energy(craft, state),)
