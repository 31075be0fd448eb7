"""What every sensor shares: its seed, its number among the sensors, quantisation and dropouts."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.sensors.noise import DRAWS, normal, uniform
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Numeric, Vector, is_traced
from freefloat.values.checks import require_bounds


@record
class Imperfection:
    """Randomness is keyed by (seed, run, sensor, sample): nothing is remembered, and every run can be repeated."""

    seed: Numeric | int = 0
    run: Numeric | int = 0  # number of the run in a campaign
    sensor: int = static(default=0)  # number of the sensor: two with the same number make the same errors
    dropout: Numeric | float = 0.0  # share of the samples that are lost

    def __post_init__(self) -> None:
        require_bounds(self, {"dropout": ""}, least=0.0, most=1.0)
        for name in ("seed", "run", "sensor"):
            value = getattr(self, name)
            if not is_traced(value) and np.asarray(value).dtype.kind not in "iu":
                raise ModelError(f"Imperfection.{name} must be a whole number, got {value!r}.")

    def noise(self, sample: Numeric, count: int) -> Vector:
        """Independent numbers of unit variance for one sample."""
        return normal(self.seed, self.run, self.sensor * DRAWS + 1, sample, count)

    def lost(self, sample: Numeric) -> Numeric:
        """Whether a sample is lost (bool)."""
        return uniform(self.seed, self.run, self.sensor * DRAWS, sample)[0] < self.dropout


def quantise(values: Vector, step: Numeric | float) -> Vector:
    """Rounded to whole steps; a step of zero leaves the values as they are."""
    safe = jnp.where(jnp.asarray(step) > 0.0, step, 1.0)
    return jnp.where(jnp.asarray(step) > 0.0, safe * jnp.round(values / safe), values)


def sample_number(t: Numeric, period: Numeric | float) -> Numeric:
    """Which sample is the latest at time t (int32)."""
    return jnp.floor(t / period + 1e-6).astype(jnp.int32)
