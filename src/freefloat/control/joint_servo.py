"""Joint servo: motor torques that follow the joint rates of other software, within the joints' limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.control.measured import clock_at, measured_positions, measured_speeds, value_and_rate
from freefloat.control.rate_software import RateSoftware, require_rate_software
from freefloat.dynamics import hybrid_dynamics
from freefloat.effects.joint_friction import Friction
from freefloat.model import Clock, JointTorques, Measurements, Software, Spacecraft, Truth
from freefloat.model.part_kinds import ticks_in
from freefloat.values import record
from freefloat.values.arrays import Numeric, Scalar, Vector
from freefloat.values.channels import Channel, flag
from freefloat.values.checks import require_bounds, set_fields
from freefloat.values.tracing import cond

RATE_LIMIT, POSITION_LIMIT = 1.0, 2.0


@record
class ServoMemory:
    """Memory of the servo: the integral of its commanded rates, and the commands."""

    reference: Vector  # commanded joint positions [rad, m]
    rates: Vector  # rates commanded at the last tick
    command: Vector  # rates as commanded and held, where the arm's software is sampled
    at: Scalar  # time of the last tick [s]
    arm: Any  # memory of the arm's software


@record
class JointServo(Software[ServoMemory]):
    """Computed torque with PD on the joint positions that the arm's software commands; torque level.

    `craft` is the servo's model, rotors included; it compensates the share `compensation` of the friction. Limits of
    rate and position come from the model's joints. The arm's software is continuous, or commands with its own `period`
    and is held in between. The servo takes gears as stiff: with a `MotorEncoder` it measures the motors and controls
    these.
    """

    craft: Spacecraft
    arm: RateSoftware
    bandwidth: Numeric | float = 20.0  # natural frequency of the position loop, critically damped [rad/s]
    friction: Friction = Friction()  # of each joint, in the servo's model
    compensation: Numeric | float = 0.0  # share of that friction that the motors compensate, 0 to 1

    def __post_init__(self) -> None:
        require_rate_software("JointServo.arm", self.arm)
        set_fields(self, craft=self.craft.with_stiff_joints())
        require_bounds(self, {"bandwidth": "rad/s"}, above=0.0)
        require_bounds(self, {"compensation": ""}, least=0.0, most=1.0)
        if self.arm.period is not None and self.period is not None:
            ticks_in(f"{self.arm.title} asked by a servo", self.arm.period, self.period)

    @property
    def fastest_rate(self) -> Numeric | float:
        """Rate of the position loop [rad/s]."""
        return self.bandwidth

    # ---- memory

    def begin(self, y: Measurements) -> ServoMemory:
        """Memory at the start: the measured joint positions as reference, and rates of zero."""
        n = len(self.arm.joints)
        return ServoMemory(
            reference=measured_positions(self.craft, y)[_position_indices(self.craft, self.arm)],
            rates=jnp.zeros(n),
            command=jnp.zeros(n),
            at=jnp.zeros(()),
            arm=self.arm.begin(y),
        )

    def remember(self, memory: ServoMemory, y: Measurements, clock: Clock) -> ServoMemory:
        """Memory after this tick: reference integrated since the last one, new commands at the arm's ticks."""
        kept = self.arm.remember(memory.arm, y, clock)
        if self.arm.period is None:
            command, rates = memory.command, self.arm.rates(kept, y, clock_at(clock, clock.t))
            gone = 0.5 * (memory.rates + rates)
        else:
            command = rates = self._sampled_command(memory.command, kept, y, clock)
            gone = memory.command
        rates = self._limit_rates(memory.reference, rates)[0]
        elapsed = clock.t - memory.at
        reference = memory.reference + elapsed * self._limit_rates(memory.reference, gone)[0]
        return ServoMemory(reference, rates, command, jnp.asarray(clock.t, dtype=float), kept)

    def _sampled_command(self, held: Vector, kept: Any, y: Measurements, clock: Clock) -> Vector:
        """Rates that a sampled arm commands from now on; a branch, so that nothing is computed between its ticks."""
        period = self.arm.period
        assert period is not None
        due = clock.tick % ticks_in(self.arm.title, period, clock.dt) == 0
        asked = Clock(t=clock.t, tick=clock.tick, dt=clock.dt, hold=period)
        return cond(due, lambda: jnp.asarray(self.arm.rates(kept, y, asked)), lambda: held)

    # ---- commands

    def command(self, memory: ServoMemory, y: Measurements, clock: Clock) -> JointTorques:
        """Torques of the motors, as if these had no limits."""
        q, v = measured_positions(self.craft, y), measured_speeds(self.craft, y)
        speeds = np.array(self.craft.layout.indices(self.arm.joints), dtype=int)
        actual, w = v[speeds], self.bandwidth
        wanted, acceleration = self._commanded_rates(memory, y, clock)
        rates, at_limit = self._limit_rates(memory.reference, wanted)
        reference = memory.reference + (clock.t - memory.at) * 0.5 * (memory.rates + rates)
        error = reference - q[_position_indices(self.craft, self.arm)]
        acceleration = jnp.where(at_limit > 0.0, 0.0, acceleration) + w**2 * error + 2.0 * w * (rates - actual)
        nothing = jnp.zeros(self.craft.layout.nv)
        _, force = hybrid_dynamics(self.craft, q, v, nothing, self.arm.joints, acceleration)
        return JointTorques(self.arm.joints, force[speeds] - self.compensation * self.friction.torque(actual))

    def _commanded_rates(self, memory: ServoMemory, y: Measurements, clock: Clock) -> tuple[Vector, Vector]:
        """Commanded rates and their rates of change, which are zero for held commands."""
        if self.arm.period is not None:
            return memory.command, jnp.zeros(len(self.arm.joints))
        now = clock_at(clock, clock.t)
        return value_and_rate(lambda later, then: self.arm.rates(memory.arm, later, then), y, now)

    def _limit_rates(self, reference: Vector, rates: Vector) -> tuple[Vector, Vector]:
        """Rates within the rate limits that do not leave the position limits, and the limit that was reached."""
        limit = self._joint_limits("rate")
        slower = jnp.clip(rates, -limit, limit)
        leaving = ((reference >= self._joint_limits("upper")) & (slower > 0.0)) | (
            (reference <= self._joint_limits("lower")) & (slower < 0.0)
        )
        met = jnp.where(leaving, POSITION_LIMIT, jnp.where(jnp.abs(rates) > limit, RATE_LIMIT, 0.0))
        return jnp.where(leaving, 0.0, slower), met

    def _joint_limits(self, kind: str) -> Vector:
        joints = (self.craft.joint(name) for name in self.arm.joints)
        return jnp.stack([jnp.asarray(getattr(joint.limits, kind), dtype=float) for joint in joints])

    # ---- messages and channels

    def tell(self, memory: ServoMemory, y: Measurements, clock: Clock) -> Mapping[str, Numeric]:
        """Messages of the arm's software."""
        return self.arm.tell(memory.arm, y, clock)

    def channels(self) -> tuple[Channel, ...]:
        """Channels for the joints' tracking, then those of the arm's software."""
        names, meanings = self.arm.joints, ("within limits", "rate limit", "position limit")
        return (
            Channel("joints.tracking_error", "Joint position asked for minus actual", "rad", "", "servo", names),
            flag("servo.condition", "Joint servo", meanings, "servo", names),
            *self.arm.channels(),
        )

    def observe(self, memory: ServoMemory, y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """Values of the channels: tracking error and limits, then those of the arm's software."""
        asked = memory.reference + (clock.t - memory.at) * memory.rates
        error = asked - jnp.asarray(truth.state.q)[_position_indices(truth.craft, self.arm)]
        limited = self._limit_rates(memory.reference, self._commanded_rates(memory, y, clock)[0])[1]
        return (error, limited, *self.arm.observe(memory.arm, y, clock, truth))


def _position_indices(craft: Spacecraft, arm: RateSoftware) -> np.ndarray:
    """Indices into q of the joints that an arm's software moves."""
    return np.array([craft.layout.position(joint).start for joint in arm.joints], dtype=int)
