"""Camera that measures the pose of a target relative to the frame that carries it."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

from freefloat.sensors.imperfection import Imperfection, quantise, sample_number
from freefloat.spatial import Pose
from freefloat.spatial.rotations import quaternion_exp, quaternion_multiply
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import ArrayLike, Flag, Numeric, Quaternion, Scalar, Vec3, is_traced
from freefloat.values.checks import require_array, require_bounds, set_fields

SLOTS = 8  # pictures that may be under way at the same time


@record
class RelativePose:
    """A measured pose X_KT of the target in the camera's axes."""

    position: Vec3  # [m]
    quaternion: Quaternion
    taken: Scalar  # when the picture was taken [s]
    valid: Flag

    @property
    def pose(self) -> Pose:
        """X_KT."""
        return Pose.from_quaternion(self.quaternion, self.position)


@record
class CameraMemory:
    """Pictures that are still being worked on, one in each slot."""

    number: Numeric  # int32: of the latest picture
    positions: Numeric  # (slots, 3)
    quaternions: Numeric  # (slots, 4)
    taken: Numeric  # (slots,) [s]
    valid: Numeric  # (slots,)


@record
class RelativePoseCamera:
    """Rate, latency, noise, bias, quantisation, dropouts, range and field of view."""

    imperfection: Imperfection = Imperfection()
    period: float = static(default=0.25)  # between two pictures [s]
    latency: Numeric | float = 0.0  # from picture to measurement [s]
    noise: Numeric | float = 0.0  # of the position, one sigma [m]
    angle_noise: Numeric | float = 0.0  # of the attitude, one sigma [rad]
    bias: ArrayLike = dataclasses.field(default_factory=lambda: np.zeros(3))  # (3,) of the position, camera axes [m]
    step: Numeric | float = 0.0  # quantisation of the position [m]
    farthest: Numeric | float = np.inf  # range beyond which nothing is seen [m]
    blind_from: Numeric | float = np.inf  # time of its failure [s]

    def __post_init__(self) -> None:
        set_fields(self, bias=require_array("RelativePoseCamera.bias", self.bias, "m", (3,), "three numbers"))
        require_bounds(self, {"period": "s"}, above=0.0)
        require_bounds(self, {"latency": "s", "noise": "m", "angle_noise": "rad", "step": "m"}, least=0.0)
        require_bounds(self, {"farthest": "m", "blind_from": "s"}, least=0.0, allow_infinite=True)
        if not is_traced(self.latency) and np.any(np.asarray(self.latency) >= SLOTS * self.period):
            raise ModelError(
                f"RelativePoseCamera: with a latency of {self.latency:g} s and a picture every {self.period:g} s, more "
                f"than {SLOTS} pictures would be under way, and none would ever arrive. Take fewer pictures."
            )

    def memory(self) -> CameraMemory:
        """No picture yet."""
        return CameraMemory(
            number=np.asarray(-1, np.int32),
            positions=np.zeros((SLOTS, 3)),
            quaternions=np.tile([1.0, 0.0, 0.0, 0.0], (SLOTS, 1)),
            taken=np.full(SLOTS, -np.inf),
            valid=np.zeros(SLOTS, bool),
        )

    def look(self, memory: CameraMemory, X_KT: Pose, t: Scalar) -> CameraMemory:
        """Take a picture if one is due at time t."""
        number = sample_number(t, self.period)
        due = number != memory.number
        position, quaternion, valid = self.measure(X_KT, number, t)
        mine = due & (jnp.arange(SLOTS) == number % SLOTS)
        return CameraMemory(
            number=number,
            positions=jnp.where(mine[:, None], position, memory.positions),
            quaternions=jnp.where(mine[:, None], quaternion, memory.quaternions),
            taken=jnp.where(mine, t, memory.taken),
            valid=jnp.where(mine, valid, memory.valid),
        )

    def measure(self, X_KT: Pose, number: Numeric, t: Scalar) -> tuple[Vec3, Quaternion, Flag]:
        """One picture: position, attitude, and whether the target was seen."""
        noise = self.imperfection.noise(number, 6)
        position = quantise(X_KT.p + self.bias + self.noise * noise[:3], self.step)
        quaternion = quaternion_multiply(X_KT.quaternion, quaternion_exp(self.angle_noise * noise[3:]))
        near = jnp.sqrt(X_KT.p @ X_KT.p) < self.farthest
        return position, quaternion, near & (t < self.blind_from) & ~self.imperfection.lost(number)

    def latest(self, memory: CameraMemory, t: Scalar) -> RelativePose:
        """The newest picture whose latency is over at time t."""
        ready = memory.valid & (memory.taken + self.latency <= t + 1e-9)
        age = jnp.where(ready, memory.taken, -1e30)
        best = ready & (age >= jnp.max(age))
        pick = best.astype(float)
        position, quaternion = pick @ memory.positions, pick @ memory.quaternions
        seen = jnp.any(ready)
        return RelativePose(
            position=position,
            quaternion=jnp.where(seen, quaternion, jnp.array([1.0, 0.0, 0.0, 0.0])),
            taken=jnp.where(seen, jnp.max(age), -jnp.inf),
            valid=seen,
        )
