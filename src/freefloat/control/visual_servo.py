"""Visual servo: the target's pose from pictures of a camera on the hand, predicted between them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np

from freefloat.control.measured import measured_pose, own_frame_pose
from freefloat.model import Clock, Measurements, Software, Spacecraft
from freefloat.model.part_kinds import ticks_in
from freefloat.spatial import Pose
from freefloat.spatial.rotations import quaternion_conjugate, quaternion_exp, quaternion_log, quaternion_multiply
from freefloat.values import record, static
from freefloat.values.arrays import ArrayLike, Flag, Numeric, Quaternion, Scalar, Vec3
from freefloat.values.checks import require_array, require_bounds, set_fields

TICK_ROUNDING = 1e-9  # [s]; ticks are rounded sums, and an age that is just at its limit is not beyond it


@record
class PastPoses:
    """Poses of the camera in N at the latest ticks; each tick replaces the oldest."""

    positions: Numeric  # (slots, 3) [m]
    quaternions: Numeric  # (slots, 4)
    times: Numeric  # (slots,) [s]; minus infinity where nothing is kept yet

    @staticmethod
    def empty(slots: int) -> PastPoses:
        """Memory without any pose."""
        upright = jnp.zeros((slots, 4)).at[:, 0].set(1.0)
        return PastPoses(jnp.zeros((slots, 3)), upright, jnp.full(slots, -jnp.inf))

    def with_pose(self, pose: Pose, t: Scalar, number: Numeric) -> PastPoses:
        """Memory with the pose at time t, which is that of tick `number`."""
        mine = jnp.arange(len(self.times)) == number % len(self.times)
        return PastPoses(
            jnp.where(mine[:, None], pose.p, self.positions),
            jnp.where(mine[:, None], pose.quaternion, self.quaternions),
            jnp.where(mine, t, self.times),
        )

    def at(self, t: Scalar) -> tuple[Pose, Flag]:
        """Pose at a past tick, and whether it is still stored."""
        then = (jnp.abs(self.times - t) < TICK_ROUNDING).astype(float)
        known = jnp.any(then > 0.0)
        quaternion = jnp.where(known, then @ self.quaternions, jnp.array([1.0, 0.0, 0.0, 0.0]))
        return Pose.from_quaternion(quaternion, then @ self.positions), known


@record
class TrackerMemory:
    """Past poses of the camera, and the target at the last picture that was used."""

    past: PastPoses
    position: Vec3  # of the target, N [m]
    quaternion: Quaternion
    used: Scalar  # when that picture was taken [s]; minus infinity before the first


@record
class TargetTracker(Software[TrackerMemory]):
    """Estimates the target from a camera on `frame`; each new picture corrects the estimate by the share `share`.

    The target's velocity is taken as known, as in the published experiment, and it does not turn. After `patience`
    without a picture the target is lost. Other software reads the estimate as if `target` were measured.

    The camera's poses at the last `slots` ticks are stored, to find where a picture was taken. A picture is used if it
    was taken at one of them: choose a `period` that divides the camera's, and `slots` of them longer than its latency.
    """

    craft: Spacecraft
    frame: str = static()  # that carries the camera
    target: str = static()  # name under which the estimate is reported, such as "target.grip"
    camera: str = static(default="camera")  # name of the camera's measurements
    velocity: ArrayLike = dataclasses.field(default_factory=lambda: np.zeros(3))  # (3,) of the target, N [m/s]
    share: Numeric | float = 0.5  # of each new picture in the estimate
    patience: Numeric | float = 2.0  # [s]
    slots: int = static(default=16)

    def __post_init__(self) -> None:
        self.craft.frame(self.frame)
        set_fields(self, velocity=require_array("TargetTracker.velocity", self.velocity, "m/s", (3,), "x, y, z"))
        require_bounds(self, {"share": ""}, above=0.0, most=1.0)
        require_bounds(self, {"patience": "s"}, above=0.0)
        require_bounds(self, {"slots": ""}, least=1.0)

    def begin(self, y: Measurements) -> TrackerMemory:
        """Memory at the start, before the first picture."""
        upright = jnp.array([1.0, 0.0, 0.0, 0.0])
        return TrackerMemory(PastPoses.empty(self.slots), jnp.zeros(3), upright, jnp.asarray(-jnp.inf))

    def remember(self, memory: TrackerMemory, y: Measurements, clock: Clock) -> TrackerMemory:
        """Memory with the camera's present pose, and with the latest picture if it is new."""
        ticks = 1 if self.period is None else ticks_in(self.title, self.period, clock.dt)
        past = memory.past.with_pose(own_frame_pose(self.craft, y, self.frame), clock.t, clock.tick // ticks)
        taken, valid = y.taken(f"{self.camera}.position"), y.valid(f"{self.camera}.position")
        X_NK, known = past.at(jnp.where(valid, taken, 0.0))
        seen = X_NK @ measured_pose(y, self.camera)
        return self._corrected_memory(memory, past, seen, taken, valid & known & (taken > memory.used))

    def _corrected_memory(
        self, memory: TrackerMemory, past: PastPoses, seen: Pose, taken: Scalar, new: Flag
    ) -> TrackerMemory:
        first = ~jnp.isfinite(memory.used)
        elapsed = jnp.where(first | ~new, 0.0, taken - jnp.where(first, 0.0, memory.used))
        predicted = memory.position + self.velocity * elapsed
        share = jnp.where(first, 1.0, self.share)
        step = quaternion_log(quaternion_multiply(quaternion_conjugate(memory.quaternion), seen.quaternion))
        turned = quaternion_multiply(memory.quaternion, quaternion_exp(share * step))
        turned = turned / jnp.sqrt(turned @ turned)
        return TrackerMemory(
            past,
            position=jnp.where(new, predicted + share * (seen.p - predicted), memory.position),
            quaternion=jnp.where(new, turned, memory.quaternion),
            used=jnp.where(new, taken, memory.used),
        )

    def tell(self, memory: TrackerMemory, y: Measurements, clock: Clock) -> Mapping[str, Numeric]:
        """Messages with the estimate, predicted to now with the target's velocity."""
        known = jnp.isfinite(memory.used)
        age = clock.t - jnp.where(known, memory.used, 0.0)
        return {
            f"{self.target}.position": memory.position + self.velocity * age,
            f"{self.target}.attitude": memory.quaternion,
            f"{self.target}.velocity": jnp.asarray(self.velocity),
            f"{self.target}.rate": jnp.zeros(3),
            f"{self.target}.valid": known & (age <= self.patience + TICK_ROUNDING),
        }
