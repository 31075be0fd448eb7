"""Software that the families fly."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

import freefloat as ff
from freefloat.values import record, static


@record
class SwingJoint(ff.Software):
    """Prescribes a joint's rate."""

    amplitude: Any  # [rad/s]
    rate: Any  # [rad/s]
    joint: str = static()

    def command(self, memory: Any, y: ff.model.Measurements, clock: ff.Clock) -> ff.JointRates:
        """A sine."""
        return ff.JointRates((self.joint,), jnp.stack([self.amplitude * jnp.sin(self.rate * clock.t)]))


@record
class HoldJoints(ff.Software):
    """Springs and dampers at the last joints, with torques that saturate."""

    stiffness: Any  # [N m/rad]
    damping: Any  # [N m s/rad]
    limit: Any  # [N m]
    first: int = static()  # of the moving joints that it drives
    joints: tuple[str, ...] = static()

    def command(self, memory: Any, y: ff.model.Measurements, clock: ff.Clock) -> ff.JointTorques:
        """Towards zero."""
        angle, rate = y["joints.position"][self.first :], y["joints.rate"][self.first :]
        torque = jnp.clip(-self.stiffness * angle - self.damping * rate, -self.limit, self.limit)
        return ff.JointTorques(self.joints, torque)


@record
class SpinWheels(ff.Software):
    """Torques of all wheels: against the base's rate, and a constant one that fills them."""

    gain: Any  # [N m s/rad]
    torque: Any  # [N m]
    wheels: tuple[str, ...] = static()

    def command(self, memory: Any, y: ff.model.Measurements, clock: ff.Clock) -> ff.WheelTorques:
        """One for each wheel."""
        rates = jnp.resize(y["base.rate"], len(self.wheels))
        return ff.WheelTorques(self.wheels, self.gain * rates + self.torque)


@record
class LatchAt(ff.Software):
    """Asks for a latch from a time on."""

    at: Any  # [s]
    connection: str = static()

    def command(self, memory: Any, y: ff.model.Measurements, clock: ff.Clock) -> ff.Latch:
        """On or off."""
        return ff.Latch(self.connection, clock.t >= self.at)
