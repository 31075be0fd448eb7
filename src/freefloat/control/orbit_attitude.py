"""Attitude against the orbital frame, from measurements against the stars: for regulators in orbit."""

from __future__ import annotations

from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np

from freefloat.effects.circular_orbit import CircularOrbit
from freefloat.model import Clock, Measurements, Software
from freefloat.spatial.rotations import quaternion_of, rotation_exp, rotation_log, rotation_matrix
from freefloat.values import ModelError, record
from freefloat.values.arrays import Mat3, Matrix, Numeric, Quaternion, Scalar, Vec3, Vector, is_traced
from freefloat.values.channels import Channel, vector
from freefloat.values.checks import require_array, set_fields
from freefloat.values.compiling import compiled_on_call

_ORTHOGONAL = 1e-6  # products of its rows may be off by this: six printed digits


@record
class OrbitAttitude(Software[tuple[()]]):
    """Reports `orbit.rotation`, by which the base has turned from its attitude in orbit, and `orbit.rate`, base axes.

    R_OB = attitude exp(rotation); the rate is that of the base against the orbital frame. It reads `base.attitude` and
    `base.rate` of any sensor or filter, and uses the orbit and the time. It gives no command.
    """

    orbit: CircularOrbit
    attitude: Matrix  # R_OB to be held (3, 3)

    def __post_init__(self) -> None:
        words = "a rotation matrix R_OB"
        given = require_array("OrbitAttitude.attitude", self.attitude, "", (3, 3), words)
        if not is_traced(given) and not _is_rotation(given):
            raise ModelError(
                f"OrbitAttitude.attitude must be {words}: its rows are no right-handed unit axes. Make it from angles "
                "[deg] by Pose.from_rpy_deg(...).R, or from a quaternion by Pose.from_quaternion(...).R."
            )
        set_fields(self, attitude=given)

    def rotation(self, y: Measurements, clock: Clock) -> Vec3:
        """Rotation vector of the base from its desired attitude, base axes [rad]."""
        R_NB, R_NO = rotation_matrix(jnp.asarray(y["base.attitude"])), self.orbit.R_NO(clock.t)
        return rotation_log(jnp.asarray(self.attitude).T @ R_NO.T @ R_NB)

    def rate(self, y: Measurements, clock: Clock) -> Vec3:
        """Angular rate of the base against the orbital frame, base axes [rad/s]."""
        turning = jnp.array([0.0, -1.0, 0.0]) * self.orbit.rate  # of O, in N and in O alike
        return jnp.asarray(y["base.rate"]) - rotation_matrix(jnp.asarray(y["base.attitude"])).T @ turning

    def command(self, memory: tuple[()], y: Measurements, clock: Clock) -> tuple[()]:
        """No command."""
        return ()

    def tell(self, memory: tuple[()], y: Measurements, clock: Clock) -> Mapping[str, Numeric]:
        """Messages with rotation and rate, for the software after it."""
        return {"orbit.rotation": self.rotation(y, clock), "orbit.rate": self.rate(y, clock)}

    def channels(self) -> tuple[Channel, ...]:
        """Channels for rotation and rate."""
        return (
            vector("orbit.rotation", "Rotation from the attitude in orbit", "rad", "B"),
            vector("orbit.rate", "Rate against the orbital frame", "rad/s", "B"),
        )

    def observe(self, memory: tuple[()], y: Measurements, clock: Clock, truth: object) -> tuple[Vector, Vector]:
        """Values of the channels: rotation and rate as measured now."""
        return self.rotation(y, clock), self.rate(y, clock)


def _is_rotation(given: Matrix) -> bool:
    R = np.asarray(given)
    return bool(np.max(np.abs(R @ R.T - np.eye(3))) < _ORTHOGONAL and np.linalg.det(R) > 0.0)


def attitude_at(orbit: CircularOrbit, attitude: Mat3, rotation: Vec3, t: float = 0.0) -> np.ndarray:
    """quat_NB of a base that is turned by a rotation vector [rad] from its attitude R_OB in orbit, at a time [s]."""
    return np.asarray(_turned_attitude(orbit, np.asarray(attitude), np.asarray(rotation), np.asarray(t)))


@compiled_on_call
def _turned_attitude(orbit: CircularOrbit, attitude: Mat3, rotation: Vec3, t: Scalar) -> Quaternion:
    return quaternion_of(orbit.R_NO(t) @ attitude @ rotation_exp(rotation))
