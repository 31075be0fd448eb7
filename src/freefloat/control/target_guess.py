"""Guess of a target's state before the first picture."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

from freefloat.control.target_motion import ERROR_COUNT, ERRORS, TargetState
from freefloat.values import ModelError, record
from freefloat.values.arrays import ArrayLike, Numeric, Quaternion, Vec3, Vector
from freefloat.values.checks import require_array, require_bounds, set_fields


@record
class TargetGuess:
    """State of a target before the first picture, and its errors (one sigma, the same in all directions).

    Without a pose the filter begins at its first picture. Centre of mass and inertia are those of the client's model.
    """

    position: ArrayLike | None = None  # (3,) p_NT of the frame that is looked at, at t = 0 [m]
    attitude: ArrayLike | None = None  # (4,) quat_NB of the client's base, at t = 0
    rate: ArrayLike = dataclasses.field(default_factory=lambda: np.zeros(3))  # (3,) base axes [rad/s]
    velocity: ArrayLike = dataclasses.field(default_factory=lambda: np.zeros(3))  # (3,) of the centre of mass, N [m/s]
    shape: ArrayLike = dataclasses.field(default_factory=lambda: np.zeros(5))  # (5,) stretch of the client's model
    angle_sigma: Numeric | float = np.deg2rad(20.0)  # [rad]
    rate_sigma: Numeric | float = np.deg2rad(5.0)  # [rad/s]
    position_sigma: Numeric | float = 1.0  # [m]
    velocity_sigma: Numeric | float = 0.1  # [m/s]
    com_sigma: Numeric | float = 0.05  # of the model's centre of mass [m]
    shape_sigma: Numeric | float = 0.1  # of the logs of lengths, and of shears: about a tenth in each inertia ratio

    def __post_init__(self) -> None:
        if (self.position is None) != (self.attitude is None):
            raise ModelError("TargetGuess needs position and attitude together, or neither: then a picture gives both.")
        shapes = {"position": ("m", 3), "attitude": ("", 4), "rate": ("rad/s", 3), "velocity": ("m/s", 3)}
        for name, (unit, size) in {**shapes, "shape": ("", 5)}.items():
            if (given := getattr(self, name)) is not None:
                array = require_array(f"TargetGuess.{name}", given, unit, (size,), f"{size} numbers")
                set_fields(self, **{name: array})
        units = {"angle": "rad", "rate": "rad/s", "position": "m", "velocity": "m/s", "com": "m", "shape": ""}
        require_bounds(self, {f"{name}_sigma": unit for name, unit in units.items()}, above=0.0)

    def variances(self) -> Vector:
        """Variances of all errors (20,)."""
        variances = jnp.zeros(ERROR_COUNT)
        for name, place in ERRORS.items():
            variances = variances.at[place].set(getattr(self, f"{name}_sigma") ** 2)
        return variances

    def state(self, quaternion: Quaternion, position: Vec3, com: Vec3) -> TargetState:
        """Guessed state at a pose (quat_NB, p_NT) with a centre of mass."""
        rate, velocity, shape = (jnp.asarray(x) for x in (self.rate, self.velocity, self.shape))
        unit = quaternion / jnp.sqrt(quaternion @ quaternion)
        return TargetState(unit, position, rate, velocity, com, shape)
