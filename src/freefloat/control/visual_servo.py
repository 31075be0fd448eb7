"""Visual servo: the target's pose from a camera on the hand, carried forward between pictures."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.control.target import DriftingTarget, TargetEstimate
from freefloat.dynamics import inertial_frame_pose
from freefloat.model import Spacecraft, State
from freefloat.sensors import CameraMemory, RelativePoseCamera
from freefloat.spatial import Pose
from freefloat.spatial.rotations import quaternion_conjugate, quaternion_exp, quaternion_log, quaternion_multiply
from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Quaternion, Scalar, Vec3

_SLOTS = 16  # past poses of the camera that are kept, to know where it was when a picture was taken


@record
class EyeMemory:
    """Pictures under way, where the camera was when they were taken, and the estimate."""

    camera: CameraMemory
    X_p: Numeric  # (slots, 3): camera positions of past pictures, N
    X_quat: Numeric  # (slots, 4)
    X_time: Numeric  # (slots,) [s]
    position: Vec3  # of the target at the last used picture, N
    quaternion: Quaternion
    used: Scalar  # when that picture was taken [s]


@record
class CameraEye:
    """Estimates the target from a camera on `frame`; each new picture corrects the estimate by the share `share`.

    The target's velocity is taken as known, as in the published experiment. After `patience` without a picture the
    target is lost.
    """

    camera: RelativePoseCamera
    target: DriftingTarget  # the truth that the camera looks at
    frame: str = static()
    share: Numeric | float = 0.5  # of each new picture in the estimate
    patience: Numeric | float = 2.0  # [s]

    def begin(self, state: State) -> CameraEye:
        """Nothing to remember."""
        return self

    def memory(self) -> EyeMemory:
        """Nothing seen yet."""
        upright = np.array([1.0, 0.0, 0.0, 0.0])
        never = np.asarray(-np.inf)
        past = (np.zeros((_SLOTS, 3)), np.tile(upright, (_SLOTS, 1)), np.full(_SLOTS, -np.inf))
        return EyeMemory(self.camera.memory(), *past, np.zeros(3), upright, never)

    def look(self, memory: EyeMemory, craft: Spacecraft, state: State, t: Scalar) -> EyeMemory:
        """Take a picture where one is due, and use the newest that is ready."""
        X_NK = inertial_frame_pose(craft, state, self.frame)
        camera = self.camera.look(memory.camera, X_NK.inverse() @ self.target.pose(t), t)
        fresh = (camera.number != memory.camera.number) & (jnp.arange(_SLOTS) == camera.number % _SLOTS)
        X_p = jnp.where(fresh[:, None], X_NK.p, memory.X_p)
        X_quat = jnp.where(fresh[:, None], X_NK.quaternion, memory.X_quat)
        X_time = jnp.where(fresh, t, memory.X_time)
        picture = self.camera.latest(camera, t)
        # Where the camera was when the picture was taken.
        then = (jnp.abs(X_time - jnp.where(picture.valid, picture.taken, 0.0)) < 1e-9).astype(float)
        known = jnp.any(then > 0.0)
        quat = jnp.where(known, then @ X_quat, jnp.array([1.0, 0.0, 0.0, 0.0]))
        seen = Pose.from_quaternion(quat, then @ X_p) @ picture.pose
        new = picture.valid & known & (picture.taken > memory.used)
        return self._correct(memory, camera, (X_p, X_quat, X_time), seen, picture.taken, new)

    def _correct(
        self, memory: EyeMemory, camera: CameraMemory, past: tuple, seen: Pose, taken: Scalar, new: Any
    ) -> EyeMemory:
        first = ~jnp.isfinite(memory.used)
        elapsed = jnp.where(first | ~new, 0.0, taken - jnp.where(first, 0.0, memory.used))
        predicted = memory.position + self.target.velocity * elapsed
        share = jnp.where(first, 1.0, self.share)
        step = quaternion_log(quaternion_multiply(quaternion_conjugate(memory.quaternion), seen.quaternion))
        turned = quaternion_multiply(memory.quaternion, quaternion_exp(share * step))
        turned = turned / jnp.sqrt(turned @ turned)
        return EyeMemory(
            camera,
            *past,
            position=jnp.where(new, predicted + share * (seen.p - predicted), memory.position),
            quaternion=jnp.where(new, turned, memory.quaternion),
            used=jnp.where(new, taken, memory.used),
        )

    def estimate(self, memory: EyeMemory, t: Scalar) -> TargetEstimate:
        """The estimate carried forward to time t with the target's velocity."""
        known = jnp.isfinite(memory.used)
        age = t - jnp.where(known, memory.used, 0.0)
        position = memory.position + self.target.velocity * age
        return TargetEstimate(
            pose=Pose.from_quaternion(jnp.asarray(memory.quaternion), position),
            velocity=jnp.asarray(self.target.velocity),
            lost=~known | (age > self.patience),
        )
