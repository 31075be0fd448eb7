"""Rate gyro: angular rate of the base with bias, white noise, scale error and quantisation."""

from __future__ import annotations

import dataclasses

import numpy as np

from freefloat.sensors.imperfection import Imperfection, quantise
from freefloat.values import record
from freefloat.values.arrays import ArrayLike, Numeric, Vec3
from freefloat.values.checks import require_array, require_bounds, set_fields


@record
class Gyro:
    """Three axes in base axes."""

    imperfection: Imperfection = Imperfection()
    bias: ArrayLike = dataclasses.field(default_factory=lambda: np.zeros(3))  # (3,) [rad/s]
    noise: Numeric | float = 0.0  # one sigma of a sample [rad/s]
    scale_error: Numeric | float = 0.0  # relative
    step: Numeric | float = 0.0  # quantisation [rad/s]

    def __post_init__(self) -> None:
        set_fields(self, bias=require_array("Gyro.bias", self.bias, "rad/s", (3,), "three numbers"))
        require_bounds(self, {"scale_error": ""}, above=-1.0)
        require_bounds(self, {"noise": "rad/s", "step": "rad/s"}, least=0.0)

    def measure(self, rate_B: Vec3, sample: Numeric) -> Vec3:
        """Measured rate, base axes [rad/s]."""
        noisy = (1.0 + self.scale_error) * rate_B + self.bias + self.noise * self.imperfection.noise(sample, 3)
        return quantise(noisy, self.step)
