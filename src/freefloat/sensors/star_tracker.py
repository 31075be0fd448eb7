"""Star tracker: attitude of the base with noise across and about its boresight, bias and dropouts."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

from freefloat.model.physical_checks import require_rotation
from freefloat.sensors.imperfection import Imperfection, quantise
from freefloat.spatial.rotations import quaternion_exp, quaternion_multiply
from freefloat.values import record
from freefloat.values.arrays import ArrayLike, Flag, Mat3, Numeric, Quaternion
from freefloat.values.checks import require_array, require_bounds, set_fields


@record
class StarTracker:
    """Its boresight is the z axis of its own axes S."""

    imperfection: Imperfection = Imperfection()
    period: Numeric | float = 0.25  # between two attitudes [s]
    cross_noise: Numeric | float = 0.0  # about the axes across the boresight, one sigma [rad]
    roll_noise: Numeric | float = 0.0  # about the boresight, one sigma [rad]
    bias: ArrayLike = dataclasses.field(default_factory=lambda: np.zeros(3))  # (3,) misalignment, base axes [rad]
    step: Numeric | float = 0.0  # quantisation of the error angles [rad]
    R_BS: Mat3 = dataclasses.field(default_factory=lambda: np.eye(3))  # how it is mounted

    def __post_init__(self) -> None:
        set_fields(self, bias=require_array("StarTracker.bias", self.bias, "rad", (3,), "three numbers"))
        require_bounds(self, {"period": "s"}, above=0.0)
        require_bounds(self, {"cross_noise": "rad", "roll_noise": "rad", "step": "rad"}, least=0.0)
        require_rotation("StarTracker.R_BS", self.R_BS)

    def measure(self, quat_NB: Quaternion, sample: Numeric) -> tuple[Quaternion, Flag]:
        """Measured quat_NB, and whether there is one."""
        size = jnp.stack([jnp.asarray(s, dtype=float) for s in (self.cross_noise, self.cross_noise, self.roll_noise)])
        error_B = self.bias + self.R_BS @ (size * self.imperfection.noise(sample, 3))
        measured = quaternion_multiply(jnp.asarray(quat_NB), quaternion_exp(quantise(error_B, self.step)))
        return measured, ~self.imperfection.lost(sample)
