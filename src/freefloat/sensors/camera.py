"""Camera that measures the pose of a target relative to the frame that carries it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import inertial_frame_pose
from freefloat.model import Spacecraft
from freefloat.model.part_kinds import Clock, Truth
from freefloat.sensors.imperfection import TargetSensor, quantise
from freefloat.spatial import Pose
from freefloat.spatial.rotations import quaternion_exp, quaternion_multiply
from freefloat.values import record, static
from freefloat.values.arrays import ArrayLike, Numeric, Scalar
from freefloat.values.checks import require_array, require_bounds, set_fields
from freefloat.values.errors import require_name


@record
class RelativePoseCamera(TargetSensor):
    """Measures `camera.position` and `camera.attitude`: X_KT of the target in the camera's axes, K being its frame."""

    frame: str = static()  # that carries it
    target: str = static()  # frame of any spacecraft, such as "client.ring"
    noise: Numeric | float = 0.0  # of the position, one sigma [m]
    angle_noise: Numeric | float = 0.0  # of the attitude, one sigma [rad]
    bias: ArrayLike = dataclasses.field(default_factory=lambda: np.zeros(3))  # (3,) of the position, camera axes [m]
    step: Numeric | float = 0.0  # quantisation of the position [m]
    name: str = static(default="camera", kw_only=True)  # what its measurements are called by
    period: float | None = static(default=0.25, kw_only=True)  # between two pictures [s]

    def __post_init__(self) -> None:
        super().__post_init__()
        require_name("RelativePoseCamera", self.name)
        set_fields(self, bias=require_array("RelativePoseCamera.bias", self.bias, "m", (3,), "three numbers"))
        require_bounds(self, {"noise": "m", "angle_noise": "rad", "step": "m"}, least=0.0)

    def check(self, craft: Spacecraft) -> None:
        """Reject a camera frame that the spacecraft does not have; the target's is checked at the first picture."""
        self.require_known(craft, "frame", (self.frame,), craft.frame_names)

    def measure(self, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Position [m] and attitude of the target in one picture, camera axes, with errors."""
        X_KT, noise = self.true_pose(truth), self.draw(truth, number, 6)
        return {
            "position": quantise(X_KT.p + self.bias + self.noise * noise[:3], self.step),
            "attitude": quaternion_multiply(X_KT.quaternion, quaternion_exp(self.angle_noise * noise[3:])),
        }

    def target_distance(self, truth: Truth) -> Scalar:
        """True distance of the target [m]."""
        p_KT = self.true_pose(truth).p
        return jnp.sqrt(p_KT @ p_KT)

    def true_pose(self, truth: Truth) -> Pose:
        """True pose X_KT of the target in the camera's axes, without errors."""
        number, frame = truth.world.locate(self.target, truth.own)
        craft = truth.world.crafts[number]
        self.require_known(craft, "frame", (frame,), craft.frame_names)
        X_NK = inertial_frame_pose(truth.craft, truth.state, self.frame)
        return X_NK.inverse() @ inertial_frame_pose(craft, truth.states[number], frame)
