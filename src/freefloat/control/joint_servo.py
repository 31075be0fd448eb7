"""Joint servo: motors that follow the joint rates a motion law asks for, with real limits and friction."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.control.laws import Remembering, motion_of, motion_rate, require_motion_law
from freefloat.dynamics import bias, hybrid_dynamics, mass_matrix, spd_solve
from freefloat.model import Spacecraft, State
from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Scalar, Vector
from freefloat.values.channels import Channel, flag
from freefloat.values.checks import require_bounds

TORQUE_LIMIT, RATE_LIMIT, POSITION_LIMIT = 1.0, 2.0, 3.0


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
class ServoMemory:
    """What the servo remembers: the positions its commands add up to."""

    reference: Vector  # joint positions asked for [rad, m]
    rates: Vector  # rates asked for at the last tick
    command: Vector  # rates as commanded and held, where the arm's law is sampled
    at: Scalar  # time of the last tick [s]
    tick: Numeric  # int32: how many ticks there were
    arm: Any  # memory of the arm's law


@record
class JointServo:
    """Computed torque with PD on the joint positions that the arm's law asks for; torque level.

    The motors know `craft` and their own rotors; of the friction they make up for the share `compensation`. Limits come
    from the joints (`limits.effort`, `.rate`, `.lower`, `.upper`). The arm's law is continuous, or commands at
    `command_ticks` of the servo's own ticks and is held in between.
    """

    craft: Spacecraft
    arm: Any  # a motion law
    bandwidth: Numeric | float = 20.0  # natural frequency of the position loop, critically damped [rad/s]
    friction: Friction = Friction()  # of each joint; without rotors it is stiff and needs short steps
    compensation: Numeric | float = 0.0  # share of the friction that the motors know and make up for, 0 to 1
    motor_inertia: Numeric | float | None = None  # of the rotor seen at the joint, gear included [kg m2]
    command_ticks: int = static(default=0)  # 0: continuous
    now: ServoMemory | None = None  # its memory; set by `recall`

    def __post_init__(self) -> None:
        require_motion_law("JointServo.arm", self.arm)
        require_bounds(self, {"bandwidth": "rad/s"}, above=0.0)
        require_bounds(self, {"motor_inertia": "kg m2"} if self.motor_inertia is not None else {}, least=0.0)
        require_bounds(self, {"command_ticks": ""}, least=0.0)
        require_bounds(self, {"compensation": ""}, least=0.0, most=1.0)

    def begin(self, state: State) -> JointServo:
        """Begin the arm's law."""
        arm = self.arm.begin(state)
        n = len(arm.joints)
        start = ServoMemory(
            reference=jnp.asarray(state.q)[self.places],
            rates=jnp.zeros(n),
            command=jnp.zeros(n),
            at=jnp.zeros(()),
            tick=jnp.zeros((), jnp.int32),
            arm=arm.memory() if isinstance(arm, Remembering) else (),
        )
        return dataclasses.replace(self, arm=arm, now=start)

    @property
    def places(self) -> np.ndarray:
        """Indices into q of the joints it moves."""
        return np.array([self.craft.layout.position(j).start for j in self.arm.joints], dtype=int)

    @property
    def fastest_rate(self) -> Numeric | float:
        """Of the position loop [rad/s]."""
        return self.bandwidth

    @property
    def speeds(self) -> np.ndarray:
        """Indices into v of the joints it moves."""
        return np.array(self.craft.layout.indices(self.arm.joints), dtype=int)

    # ---- memory

    def memory(self) -> ServoMemory:
        """Set by `begin`."""
        if self.now is None:
            raise RuntimeError("JointServo has not begun: call begin(state) first, as `simulate` does.")
        return self.now

    def remember(self, memory: ServoMemory, state: State, t: Scalar, hold: float) -> ServoMemory:
        """Add up what was asked for since the last tick; ask again where the arm's tick has come."""
        arm = self.arm
        motion = motion_of(self.craft, state)
        kept = arm.remember(memory.arm, state, t, hold) if isinstance(arm, Remembering) else ()
        arm = arm.recall(kept) if isinstance(arm, Remembering) else arm
        if self.command_ticks:
            fresh = arm.rates(motion, t, hold * self.command_ticks)
            command = jnp.where(memory.tick % self.command_ticks == 0, fresh, memory.command)
            gone, rates = memory.command, command
        else:
            command, rates = memory.command, arm.rates(motion, t, 0.0)
            gone = 0.5 * (memory.rates + rates)
        rates = self._limit_rates(memory.reference, rates)[0]
        elapsed = t - memory.at
        reference = memory.reference + elapsed * self._limit_rates(memory.reference, gone)[0]
        return ServoMemory(reference, rates, command, jnp.asarray(t, dtype=float), memory.tick + 1, kept)

    def recall(self, memory: ServoMemory) -> JointServo:
        """The servo at this memory."""
        arm = self.arm.recall(memory.arm) if isinstance(self.arm, Remembering) else self.arm
        return dataclasses.replace(self, now=memory, arm=arm)

    # ---- acting

    def force(self, state: State, t: Scalar, hold: float) -> Vector:
        """Generalised force: the torque that reaches each joint."""
        torque, _ = self.motors(state, t)
        return jnp.zeros(self.craft.layout.nv).at[self.speeds].set(self._drive_torque(state, torque))

    def motors(self, state: State, t: Scalar) -> tuple[Vector, Vector]:
        """Motor torques, and for each joint which limit it has reached."""
        memory, actual = self.memory(), state.v[self.speeds]
        wanted, acceleration = self._command(state, t)
        rates, at_limit = self._limit_rates(memory.reference, wanted)
        reference = memory.reference + (t - memory.at) * 0.5 * (memory.rates + rates)
        error = reference - state.q[self.places]
        w = self.bandwidth
        acceleration = jnp.where(at_limit > 0.0, 0.0, acceleration) + w**2 * error + 2.0 * w * (rates - actual)
        _, force = hybrid_dynamics(
            self.craft, state.q, state.v, jnp.zeros(self.craft.layout.nv), self.arm.joints, acceleration
        )
        torque = force[self.speeds] - self.compensation * self.friction.torque(actual)
        if self.motor_inertia is not None:
            torque = torque + self.motor_inertia * acceleration
        effort = self._limits("effort")
        limited = jnp.where(jnp.abs(torque) > effort, TORQUE_LIMIT, at_limit)
        return jnp.clip(torque, -effort, effort), limited

    def _command(self, state: State, t: Scalar) -> tuple[Vector, Vector]:
        """Rates asked for, and how they change: held commands do not."""
        if self.command_ticks:
            return self.memory().command, jnp.zeros(len(self.arm.joints))
        motion = motion_of(self.craft, state)
        along = motion_rate(self.craft, state, jnp.zeros(self.craft.layout.nv))
        return jax.jvp(lambda m, time: self.arm.rates(m, time, 0.0), (motion, t), (along, jnp.ones(())))

    def _limit_rates(self, reference: Vector, rates: Vector) -> tuple[Vector, Vector]:
        """Rates within the rate limits that do not lead out of the position limits, and which limit was met."""
        limit = self._limits("rate")
        slower = jnp.clip(rates, -limit, limit)
        leaving = ((reference >= self._limits("upper")) & (slower > 0.0)) | (
            (reference <= self._limits("lower")) & (slower < 0.0)
        )
        met = jnp.where(leaving, POSITION_LIMIT, jnp.where(jnp.abs(rates) > limit, RATE_LIMIT, 0.0))
        return jnp.where(leaving, 0.0, slower), met

    def _limits(self, kind: str) -> Vector:
        joints = (self.craft.joint(name) for name in self.arm.joints)
        return jnp.stack([jnp.asarray(getattr(joint.limits, kind), dtype=float) for joint in joints])

    def _drive_torque(self, state: State, torque: Vector) -> Vector:
        """What is left for the joint after friction and after the rotor's own acceleration.

        The rotor turns with the joint: (S + motor inertia) qdd = torque - bias, S being the inertia of the joints
        on the floating base. Torques of other laws change qdd too little to matter here.
        """
        torque = torque + self.friction.torque(state.v[self.speeds])
        if self.motor_inertia is None:
            return torque
        craft, mine = self.craft, self.speeds
        M, h = mass_matrix(craft, state.q), bias(craft, state.q, state.v)
        rotor = jnp.zeros(craft.layout.nv).at[mine].set(self.motor_inertia)
        force = jnp.zeros(craft.layout.nv).at[mine].set(torque)
        return torque - self.motor_inertia * spd_solve(M + jnp.diag(rotor), force - h)[mine]

    # ---- recording

    def channels(self) -> tuple[Channel, ...]:
        """The arm's channels, and the joints' tracking."""
        names = self.arm.joints
        meanings = ("within limits", "torque limit", "rate limit", "position limit")
        own = (
            Channel("joints.tracking_error", "Joint position asked for minus actual", "rad", "", "servo", names),
            Channel("joints.motor_torque", "Motor torque at the joint", "N m", "", "servo", names),
            Channel("joints.friction", "Friction torque at the joint", "N m", "", "servo", names),
            flag("joints.condition", "Joint servo", meanings, "servo", names),
        )
        return (*own, *(self.arm.channels() if hasattr(self.arm, "channels") else ()))

    def observe(self, craft: Spacecraft, state: State, t: Scalar) -> tuple[Numeric, ...]:
        """Tracking error and limits, then the values of the arm's law."""
        memory = self.memory()
        error = memory.reference + (t - memory.at) * memory.rates - state.q[self.places]
        told = self.arm.observe(craft, state, t) if hasattr(self.arm, "channels") else ()
        torque, limited = self.motors(state, t)
        return (error, torque, self.friction.torque(state.v[self.speeds]), limited, *told)
