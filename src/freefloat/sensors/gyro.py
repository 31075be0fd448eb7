"""Rate gyro: angular rate of the base with bias, white noise, scale error and quantisation."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from freefloat.model.part_kinds import Clock, Truth
from freefloat.sensors.imperfection import ImperfectSensor, quantise
from freefloat.spatial import angular
from freefloat.values import record
from freefloat.values.arrays import ArrayLike, Numeric
from freefloat.values.checks import require_array, require_bounds, set_fields


@record
class Gyro(ImperfectSensor):
    """Rate gyro with three axes along those of the base; it measures `base.rate`."""

    bias: ArrayLike = dataclasses.field(default_factory=lambda: np.zeros(3))  # (3,) [rad/s]
    noise: Numeric | float = 0.0  # one sigma of a sample [rad/s]
    scale_error: Numeric | float = 0.0  # relative
    step: Numeric | float = 0.0  # quantisation [rad/s]

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, bias=require_array("Gyro.bias", self.bias, "rad/s", (3,), "three numbers"))
        require_bounds(self, {"scale_error": ""}, above=-1.0)
        require_bounds(self, {"noise": "rad/s", "step": "rad/s"}, least=0.0)

    def measure(self, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Measured angular rate of the base, base axes [rad/s]."""
        noise = self.noise * self.draw(truth, number, 3)
        noisy = (1.0 + self.scale_error) * angular(truth.state.V_NB) + self.bias + noise
        return {"base.rate": quantise(noisy, self.step)}
