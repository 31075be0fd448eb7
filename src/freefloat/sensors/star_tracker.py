"""Star tracker: attitude of the base with noise across and about its boresight, bias and dropouts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np

from freefloat.model.part_kinds import Clock, Truth
from freefloat.model.physical_checks import require_rotation
from freefloat.sensors.imperfection import ImperfectSensor, quantise
from freefloat.spatial.rotations import quaternion_exp, quaternion_multiply
from freefloat.values import record, static
from freefloat.values.arrays import ArrayLike, Mat3, Numeric
from freefloat.values.checks import require_array, require_bounds, set_fields


@record
class StarTracker(ImperfectSensor):
    """Star tracker whose boresight is the z axis of its own axes S; it measures `base.attitude`."""

    cross_noise: Numeric | float = 0.0  # about the axes across the boresight, one sigma [rad]
    roll_noise: Numeric | float = 0.0  # about the boresight, one sigma [rad]
    bias: ArrayLike = dataclasses.field(default_factory=lambda: np.zeros(3))  # (3,) misalignment, base axes [rad]
    step: Numeric | float = 0.0  # quantisation of the error angles [rad]
    R_BS: Mat3 = dataclasses.field(default_factory=lambda: np.eye(3))  # how it is mounted
    period: float | None = static(default=0.25, kw_only=True)  # between two attitudes [s]

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, bias=require_array("StarTracker.bias", self.bias, "rad", (3,), "three numbers"))
        require_bounds(self, {"cross_noise": "rad", "roll_noise": "rad", "step": "rad"}, least=0.0)
        require_rotation("StarTracker.R_BS", self.R_BS)

    def measure(self, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Measured attitude of the base, quat_NB."""
        size = jnp.stack([jnp.asarray(s, dtype=float) for s in (self.cross_noise, self.cross_noise, self.roll_noise)])
        noise = self.draw(truth, number, 3)
        error_B = self.bias + self.R_BS @ (size * noise)
        quat_NB = jnp.asarray(truth.state.quat_NB)
        return {"base.attitude": quaternion_multiply(quat_NB, quaternion_exp(quantise(error_B, self.step)))}
