"""Attitude control of the base by reaction wheels: PD with the wheels' limits, and feed-forward of the arm."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.control.laws import Motion, motion_of, require_motion_law
from freefloat.dynamics import free_floating, spd_solve, wheel_momentum
from freefloat.model import Spacecraft, State
from freefloat.spatial import angular
from freefloat.spatial.rotations import quaternion_conjugate, quaternion_log, quaternion_multiply
from freefloat.values import ModelError, record
from freefloat.values.arrays import Matrix, Numeric, Quaternion, Scalar, Vec3, Vector, is_traced
from freefloat.values.channels import Channel, flag, vector
from freefloat.values.checks import require_bounds

TORQUE_LIMIT, MOMENTUM_LIMIT = 1.0, 2.0
_LIMITED = 1e-9  # relative distance from a wheel's limit at which it counts as reached


@record
class AttitudeHold:
    """Holds the base attitude of the start: tau = -K_p (rotation from the reference) - K_d rate [+ feed-forward].

    The torque is made by the wheels of the base, each within its `max_torque`, and none beyond its `max_momentum`
    (docs/theory-free-floating.md).
    """

    craft: Spacecraft
    stiffness: Numeric | float = 10.0  # K_p [N m/rad]
    damping: Numeric | float = 400.0  # K_d [N m s/rad]
    feed_forward: Any = None  # a motion law whose reaction is compensated before it shows, or None
    reference: Quaternion = dataclasses.field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))  # quat_NB
    switch: Any = None  # a function of state and time that gives 0 to switch the torque off, or None

    def __post_init__(self) -> None:
        wheel_mixing(self.craft)
        require_bounds(self, {"stiffness": "N m/rad", "damping": "N m s/rad"}, least=0.0)
        if self.feed_forward is not None:
            require_motion_law("AttitudeHold.feed_forward", self.feed_forward)

    def begin(self, state: State) -> AttitudeHold:
        """Hold the attitude of now."""
        arm = None if self.feed_forward is None else self.feed_forward.begin(state)
        return dataclasses.replace(self, reference=state.quat_NB, feed_forward=arm)

    def torque(self, quat_NB: Quaternion, rate_B: Vec3) -> Vec3:
        """The PD torque on the base, without limits, base axes [N m]."""
        turned = quaternion_multiply(quaternion_conjugate(jnp.asarray(self.reference)), jnp.asarray(quat_NB))
        # The rotation vector from the reference to the base has the same components in both.
        return -self.stiffness * quaternion_log(turned) - self.damping * rate_B

    def force(self, state: State, t: Scalar, hold: float) -> Vector:
        """Generalised force: the wheels' motor torques."""
        return self.wheels(state, t, hold)[0]

    def wheels(self, state: State, t: Scalar, hold: float) -> tuple[Vector, Vector]:
        """Generalised force and, for each wheel, which limit it has reached."""
        wanted = self.torque(state.quat_NB, angular(state.V_NB))
        if self.feed_forward is not None:
            wanted = wanted + arm_reaction(self.craft, self.feed_forward, state, t, hold)
        active = 1.0 if self.switch is None else self.switch(state, t)
        return wheel_force(self.craft, state, active * wanted)

    def channels(self) -> tuple[Channel, ...]:
        """What this law adds to a run."""
        momentum = vector("arm.momentum", "Arm: angular momentum about the centre of mass", "N m s", "B")
        return wheel_channel(self.craft), momentum

    def observe(self, craft: Spacecraft, state: State, t: Scalar) -> tuple[Numeric, ...]:
        """Which wheels are at a limit, and what the arm asks of them."""
        rates = state.v[np.array(craft.layout.joint_velocities, dtype=int)]
        return self.wheels(state, t, 0.0)[1], free_floating(craft, state.q).angular_coupling @ rates


def wheel_channel(craft: Spacecraft) -> Channel:
    """Condition of each wheel of the base."""
    meanings = ("within limits", "torque limit", "momentum limit")
    names = tuple(w.name for w in craft.wheels_on("base"))
    return flag("wheels.condition", "Reaction wheels", meanings, "base_wheel", names)


def wheel_mixing(craft: Spacecraft) -> Matrix:
    """(wheels, 3): motor torques for a torque on the base in base axes, of the smallest norm."""
    wheels = craft.wheels_on("base")
    axes = np.zeros((0, 3)) if not wheels else jnp.stack([jnp.asarray(w.axis) for w in wheels])  # rows
    if is_traced(axes):
        return -spd_solve(axes.T @ axes, axes.T).T
    if np.linalg.matrix_rank(np.asarray(axes)) < 3:
        raise ModelError(
            f"Spacecraft '{craft.name}' has {len(wheels)} wheels on its base, whose axes do not span three "
            "directions. Add wheels with Spacecraft.with_wheel, or ets7(wheels=True)."
        )
    return -np.linalg.pinv(np.asarray(axes)).T


def wheel_force(craft: Spacecraft, state: State, torque_B: Vec3) -> tuple[Vector, Vector]:
    """Generalised force of the base wheels for a torque on the base, limits kept; which limit each has reached."""
    wheels = craft.wheels_on("base")
    wanted = wheel_mixing(craft) @ torque_B
    limit = jnp.stack([jnp.asarray(w.max_torque, dtype=float) for w in wheels])
    capacity = jnp.stack([jnp.asarray(w.max_momentum, dtype=float) for w in wheels])
    spin = wheel_momentum(craft, state.q, state.v)[np.array([craft.wheel_names.index(w.name) for w in wheels])]
    torque = jnp.clip(wanted, -limit, limit)
    # A full wheel can only be slowed down.
    full = (jnp.abs(spin) >= capacity) & (spin * torque > 0.0)
    torque = jnp.where(full, 0.0, torque)
    at_limit = jnp.abs(wanted) > limit * (1.0 + _LIMITED)
    condition = jnp.where(full, MOMENTUM_LIMIT, jnp.where(at_limit, TORQUE_LIMIT, 0.0))
    places = np.array(craft.layout.indices([w.name for w in wheels]), dtype=int)
    return jnp.zeros(craft.layout.nv).at[places].set(torque), condition


def arm_momentum(craft: Spacecraft, arm: Any, motion: Motion, t: Scalar, hold: float) -> Vec3:
    """H~_bm qdot in base axes [N m s]: angular momentum that an arm's law makes about the centre of mass."""
    names = craft.layout.moving_joints
    rates = jnp.zeros(len(names)).at[np.array([names.index(j) for j in arm.joints])].set(arm.rates(motion, t, hold))
    return free_floating(craft, motion.q).angular_coupling @ rates


def arm_reaction(craft: Spacecraft, arm: Any, state: State, t: Scalar, hold: float) -> Vec3:
    """d/dt (H~_bm qdot) in base axes [N m], or its mean over the coming `hold` seconds: what the base will feel.

    The mean follows the joints over the hold by the midpoint rule, the base standing still.
    """
    motion = motion_of(craft, state)
    places = np.array([craft.layout.position(j).start for j in arm.joints], dtype=int)

    def advance(m: Motion, rates: Vector, h: float) -> Motion:
        return dataclasses.replace(m, q=jnp.asarray(m.q).at[places].add(h * rates))

    if hold > 0.0:
        middle = advance(motion, arm.rates(motion, t, 0.0), hold / 2.0)
        end = advance(motion, arm.rates(middle, t + hold / 2.0, 0.0), hold)
        before = arm_momentum(craft, arm, motion, t, 0.0)
        return (arm_momentum(craft, arm, end, t + hold, 0.0) - before) / hold
    rates = jnp.zeros_like(motion.q).at[places].set(arm.rates(motion, t, 0.0))
    along = dataclasses.replace(jax.tree.map(jnp.zeros_like, motion), q=rates)
    return jax.jvp(lambda m, time: arm_momentum(craft, arm, m, time, 0.0), (motion, t), (along, jnp.ones(())))[1]
