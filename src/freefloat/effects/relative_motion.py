"""Relative motion near a circular orbit (Clohessy and Wiltshire, 1960), in the orbital frame O of the chaser.

With x along the flight, y against the orbit normal and z to the nadir:
    x'' = 2 n z',   y'' = -n^2 y,   z'' = 3 n^2 z - 2 n x'.
"""

from __future__ import annotations

import jax.numpy as jnp

from freefloat.values import record
from freefloat.values.arrays import ArrayLike, Mat6, Scalar
from freefloat.values.checks import require_array, require_quantity, set_fields


@record
class RelativeState:
    """Position and velocity of a target relative to the chaser's orbital frame, as seen in that turning frame."""

    position: ArrayLike  # (3,) [m], O axes
    velocity: ArrayLike  # (3,) [m/s], O axes

    def __post_init__(self) -> None:
        position = require_array("RelativeState.position", self.position, "m", (3,), "x, y, z")
        set_fields(
            self,
            position=position,
            velocity=require_array("RelativeState.velocity", self.velocity, "m/s", (3,), "x, y, z"),
        )


def transition_matrix(rate: Scalar | float, t: Scalar | float) -> Mat6:
    """Exact solution: matrix from (position, velocity) at 0 to those at time t, O axes."""
    n = require_quantity("The rate of the orbit", rate, "rad/s", above=0.0)
    s, c = jnp.sin(n * t), jnp.cos(n * t)
    # Rows and columns: x y z vx vy vz.
    return jnp.array(
        [
            [1.0, 0.0, 6.0 * (n * t - s), (4.0 * s - 3.0 * n * t) / n, 0.0, 2.0 * (1.0 - c) / n],
            [0.0, c, 0.0, 0.0, s / n, 0.0],
            [0.0, 0.0, 4.0 - 3.0 * c, -2.0 * (1.0 - c) / n, 0.0, s / n],
            [0.0, 0.0, 6.0 * n * (1.0 - c), 4.0 * c - 3.0, 0.0, 2.0 * s],
            [0.0, -n * s, 0.0, 0.0, c, 0.0],
            [0.0, 0.0, 3.0 * n * s, -2.0 * s, 0.0, c],
        ]
    )


def relative_drift(start: RelativeState, rate: Scalar | float, t: Scalar | float) -> RelativeState:
    """State of a target after a free drift of time t."""
    after = transition_matrix(rate, t) @ jnp.concatenate([start.position, start.velocity])
    return RelativeState(position=after[:3], velocity=after[3:])
