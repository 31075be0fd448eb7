"""Magnetometer: magnetic field at the base with bias, white noise, scale error and quantisation."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from freefloat.model.magnetic_field import MagneticField
from freefloat.model.part_kinds import Clock, Truth
from freefloat.sensors.imperfection import ImperfectSensor, quantise
from freefloat.values import record
from freefloat.values.arrays import ArrayLike, Numeric
from freefloat.values.checks import require_array, require_bounds, set_fields


@record
class Magnetometer(ImperfectSensor):
    """Magnetometer with three axes along those of the base; it measures `base.magnetic_field`."""

    magnetic_field: MagneticField
    bias: ArrayLike = dataclasses.field(default_factory=lambda: np.zeros(3))  # (3,) [T]
    noise: Numeric | float = 0.0  # one sigma of a sample [T]
    scale_error: Numeric | float = 0.0  # relative
    step: Numeric | float = 0.0  # quantisation [T]

    def __post_init__(self) -> None:
        super().__post_init__()
        set_fields(self, bias=require_array("Magnetometer.bias", self.bias, "T", (3,), "three numbers"))
        require_bounds(self, {"scale_error": ""}, above=-1.0)
        require_bounds(self, {"noise": "T", "step": "T"}, least=0.0)

    def measure(self, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Measured flux density at the base, base axes [T]."""
        flux_density = self.magnetic_field.seen_from(truth.state.X_NB, clock.t)
        noise = self.noise * self.draw(truth, number, 3)
        return {"base.magnetic_field": quantise((1.0 + self.scale_error) * flux_density + self.bias + noise, self.step)}
