"""What all sensors with errors share: seeds, keys, quantisation and dropouts."""

from __future__ import annotations

import dataclasses
import zlib

import jax.numpy as jnp
import numpy as np

from freefloat.model.part_kinds import Clock, Sensor, Truth
from freefloat.sensors.noise import DRAWS, normal, uniform
from freefloat.values import ModelError, record
from freefloat.values.arrays import Flag, Numeric, Scalar, Vector, is_traced
from freefloat.values.checks import require_bounds

_KEYS = 2**32 // DRAWS - 1  # so that key * DRAWS + DRAWS fits into 32 bits


@record
class Imperfection:
    """Random errors keyed by (seed, run, sensor, sample): nothing is stored, and every run can be repeated."""

    seed: Numeric | int = 0
    run: Numeric | int = 0  # number of the run in a campaign
    dropout: Numeric | float = 0.0  # share of the samples that are lost

    def __post_init__(self) -> None:
        require_bounds(self, {"dropout": ""}, least=0.0, most=1.0)
        for name in ("seed", "run"):
            value = getattr(self, name)
            if not is_traced(value) and np.asarray(value).dtype.kind not in "iu":
                raise ModelError(f"Imperfection.{name} must be a whole number, got {value!r}.")

    def noise(self, key: int, number: Numeric, count: int) -> Vector:
        """Independent random numbers of unit variance for one sample of the sensor with that key."""
        return normal(self.seed, self.run, key * DRAWS + 1, number, count)

    def is_lost(self, key: int, number: Numeric) -> Numeric:
        """Whether a sample of the sensor with that key is lost (bool)."""
        return uniform(self.seed, self.run, key * DRAWS, number)[0] < self.dropout


def noise_key(sensor: Sensor, truth: Truth) -> int:
    """Key of a sensor's errors, from its spacecraft, class and name: two sensors of one name make the same errors.

    Where spacecraft of one model share a world, each has errors of its own, by its name there.
    """
    models = [craft.name for craft in truth.world.crafts]
    owner = truth.craft.name + f":{truth.world.names[truth.own]}" * (models.count(truth.craft.name) > 1)
    words = f"{owner}:{type(sensor).__name__}:{sensor.name}"
    return zlib.crc32(words.encode()) % _KEYS


@record
class ImperfectSensor(Sensor):
    """A sensor with noise and dropouts of its own. Subclasses write `measure`."""

    imperfection: Imperfection = dataclasses.field(default=Imperfection(), kw_only=True)

    def draw(self, truth: Truth, number: Numeric, count: int) -> Vector:
        """Independent random numbers of unit variance for one sample of this sensor."""
        return self.imperfection.noise(noise_key(self, truth), number, count)

    def seen(self, truth: Truth, number: Numeric, clock: Clock) -> Flag:
        """Whether a sample gives a measurement: it is not lost."""
        return ~self.imperfection.is_lost(noise_key(self, truth), number)


@record
class TargetSensor(ImperfectSensor):
    """A sensor that sees a target up to a distance. Subclasses write `measure` and `target_distance`."""

    farthest: Numeric | float = dataclasses.field(default=np.inf, kw_only=True)  # beyond it nothing is measured [m]

    def __post_init__(self) -> None:
        super().__post_init__()
        require_bounds(self, {"farthest": "m"}, least=0.0, allow_infinite=True)

    def target_distance(self, truth: Truth) -> Scalar:
        """True distance of the target [m]."""
        raise NotImplementedError

    def seen(self, truth: Truth, number: Numeric, clock: Clock) -> Flag:
        """Whether a sample gives a measurement: the target is near enough and the sample is not lost."""
        near = self.target_distance(truth) < self.farthest
        return near & super().seen(truth, number, clock)


def quantise(values: Numeric, step: Numeric | float) -> Numeric:
    """Values rounded to whole steps; a step of zero leaves them as they are."""
    safe = jnp.where(jnp.asarray(step) > 0.0, step, 1.0)
    return jnp.where(jnp.asarray(step) > 0.0, safe * jnp.round(values / safe), values)
