"""Attitude control of the base by reaction wheels: PD, and feed-forward of the arm's reaction."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.control.measured import ReplacedMeasurements, clock_at, measured_positions
from freefloat.control.rate_software import RateSoftware, require_rate_software
from freefloat.dynamics import free_floating, spd_solve
from freefloat.effects import CircularOrbit, EllipticOrbit
from freefloat.model import BaseWrench, Clock, Measurements, Software, Spacecraft, Truth, WheelTorques
from freefloat.spatial import six
from freefloat.spatial.rotations import (
    quaternion_conjugate,
    quaternion_log,
    quaternion_multiply,
    quaternion_of,
    rotation_matrix,
)
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Matrix, Numeric, Quaternion, Scalar, Vec3, Vector, is_traced
from freefloat.values.channels import Channel, vector
from freefloat.values.checks import require_all, require_bounds

_ACTUATORS = ("wheels", "base torque")


@record
class HoldMemory:
    """Memory of attitude control."""

    reference: Quaternion  # quat_NB to hold, or quat_OB in an orbit
    arm: Any  # memory of the software whose reaction is fed forward; () where there is none


@record
class AttitudeHold(Software[HoldMemory]):
    """Holds an attitude of the base: tau = -K_p (rotation from the reference) - K_d rate [+ feed-forward].

    With an `orbit` both are counted from the orbital frame O, so the base keeps pointing to the nadir. The torque is
    commanded to the wheels of the base, as if they had no limits (docs/theory-free-floating.md), or with
    `actuator="base torque"` put on the base itself. It is off while the message `off_message` of other software, such
    as "capture.distance", is below `off_below`.
    """

    craft: Spacecraft
    stiffness: Numeric | float = 10.0  # K_p [N m/rad]
    damping: Numeric | float = 400.0  # K_d [N m s/rad]
    feed_forward: RateSoftware | None = None  # software whose reaction is compensated in advance
    reference: Quaternion | None = None  # quat_NB, in an orbit quat_OB; None: the attitude of the start
    off_message: str = static(default="")  # empty: always on
    off_below: Numeric | float = 0.0
    orbit: CircularOrbit | EllipticOrbit | None = None  # hold against its frame O; None: against N
    actuator: str = static(default="wheels")  # or "base torque"

    def __post_init__(self) -> None:
        require_all(
            self._require_actuator,
            lambda: require_bounds(self, {"stiffness": "N m/rad", "damping": "N m s/rad"}, least=0.0),
            lambda: self.feed_forward is None or require_rate_software("AttitudeHold.feed_forward", self.feed_forward),
        )

    def _require_actuator(self) -> None:
        if self.actuator not in _ACTUATORS:
            raise ModelError(f"AttitudeHold has no actuator '{self.actuator}'. Choose {' or '.join(_ACTUATORS)}.")
        if self.actuator == "wheels":
            wheel_mixing(self.craft)

    def begin(self, y: Measurements) -> HoldMemory:
        """Memory with the given reference attitude, or with the present one where none is given."""
        reference = y["base.attitude"] if self.reference is None else self.reference
        return HoldMemory(jnp.asarray(reference), () if self.feed_forward is None else self.feed_forward.begin(y))

    def remember(self, memory: HoldMemory, y: Measurements, clock: Clock) -> HoldMemory:
        """Memory with that of the arm's software after this tick."""
        if self.feed_forward is None:
            return memory
        return HoldMemory(memory.reference, self.feed_forward.remember(memory.arm, y, clock))

    def torque(self, reference: Quaternion, quat_NB: Quaternion, rate_B: Vec3) -> Vec3:
        """PD torque on the base, base axes [N m]."""
        turned = quaternion_multiply(quaternion_conjugate(jnp.asarray(reference)), jnp.asarray(quat_NB))
        # The rotation vector from the reference to the base has the same components in both.
        return -self.stiffness * quaternion_log(turned) - self.damping * rate_B

    def command(self, memory: HoldMemory, y: Measurements, clock: Clock) -> WheelTorques | BaseWrench:
        """Torques of the wheels' motors, or a torque on the base."""
        wanted = self.torque(memory.reference, *self._relative_attitude(y, clock.t))
        if self.feed_forward is not None:
            wanted = wanted + arm_reaction(self.craft, self.feed_forward, memory.arm, y, clock)
        if self.off_message:
            wanted = jnp.where(y[self.off_message] < self.off_below, 0.0, 1.0) * wanted
        if self.actuator == "base torque":
            return BaseWrench(six(jnp.zeros(3), wanted))
        names = tuple(wheel.name for wheel in self.craft.wheels_on("base"))
        return WheelTorques(names, wheel_mixing(self.craft) @ wanted)

    def _relative_attitude(self, y: Measurements, t: Scalar) -> tuple[Quaternion, Vec3]:
        """Attitude and rate of the base (base axes) against its reference frame: N, or O of the orbit."""
        quat_NB, rate = jnp.asarray(y["base.attitude"]), y["base.rate"]
        if self.orbit is None:
            return quat_NB, rate
        R_NO = self.orbit.R_NO(t)
        carried = rotation_matrix(quat_NB).T @ (R_NO @ self.orbit.angular_velocity(t))
        return quaternion_multiply(quaternion_conjugate(quaternion_of(R_NO)), quat_NB), rate - carried

    def channels(self) -> tuple[Channel, ...]:
        """Channel with the angular momentum of the arm."""
        return (vector("arm.momentum", "Arm: angular momentum about the centre of mass", "N m s", "B"),)

    def observe(self, memory: HoldMemory, y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """Value of the channel: angular momentum of the arm, which the wheels have to take up."""
        craft, state = truth.craft, truth.state
        rates = state.v[np.array(craft.layout.joint_velocities, dtype=int)]
        return (free_floating(craft, state.q).angular_coupling @ rates,)


def wheel_mixing(craft: Spacecraft) -> Matrix:
    """Matrix (wheels, 3) from a torque on the base, base axes, to the motor torques of smallest norm."""
    wheels = craft.wheels_on("base")
    axes = np.zeros((0, 3)) if not wheels else jnp.stack([jnp.asarray(w.axis) for w in wheels])  # rows
    if is_traced(axes):
        return -spd_solve(axes.T @ axes, axes.T).T
    if np.linalg.matrix_rank(np.asarray(axes)) < 3:
        raise ModelError(
            f"Spacecraft '{craft.name}' has {len(wheels)} wheels on its base, whose axes do not span three "
            "directions. Add wheels with Spacecraft.with_wheel, take ets7(wheels=True), or give the software another "
            "actuator: AttitudeHold(actuator='base torque')."
        )
    return -np.linalg.pinv(np.asarray(axes)).T


def arm_momentum(craft: Spacecraft, arm: RateSoftware, memory: Any, y: Measurements, clock: Clock) -> Vec3:
    """Angular momentum H~_bm qdot that an arm's software makes about the centre of mass, base axes [N m s]."""
    still = jnp.zeros(len(craft.layout.moving_joints))
    rates = still.at[_moving_joint_indices(craft, arm)].set(arm.rates(memory, y, clock))
    return free_floating(craft, measured_positions(craft, y)).angular_coupling @ rates


def arm_reaction(craft: Spacecraft, arm: RateSoftware, memory: Any, y: Measurements, clock: Clock) -> Vec3:
    """Reaction d/dt (H~_bm qdot) of the arm on the base, base axes [N m], or its mean over the coming hold.

    The mean follows the joints over the hold by the midpoint rule, the base standing still.
    """
    here, t, hold, places = jnp.asarray(y["joints.position"]), clock.t, clock.hold, _moving_joint_indices(craft, arm)

    def rates(positions: Vector, time: Scalar) -> Vector:
        return arm.rates(memory, ReplacedMeasurements(y, {"joints.position": positions}), clock_at(clock, time))

    def momentum(positions: Vector, time: Scalar) -> Vec3:
        return arm_momentum(
            craft, arm, memory, ReplacedMeasurements(y, {"joints.position": positions}), clock_at(clock, time)
        )

    if hold > 0.0:
        middle = here.at[places].add(hold / 2.0 * rates(here, t))
        end = here.at[places].add(hold * rates(middle, t + hold / 2.0))
        return (momentum(end, t + hold) - momentum(here, t)) / hold
    along = jnp.zeros_like(here).at[places].set(rates(here, t))
    return jax.jvp(momentum, (here, t), (along, jnp.ones(())))[1]


def _moving_joint_indices(craft: Spacecraft, arm: RateSoftware) -> np.ndarray:
    """Indices of an arm's joints among the moving ones."""
    return np.array([craft.layout.moving_joints.index(joint) for joint in arm.joints], dtype=int)
