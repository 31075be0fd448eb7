"""A circular orbit and its local frame O: z to the nadir, x along the flight, y against the orbit normal."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_about
from freefloat.values import ModelError, record
from freefloat.values.arrays import Mat3, Numeric, Scalar, Vec3, is_traced
from freefloat.values.checks import require_bounds

EARTH_GRAVITY = 3.986004418e14  # [m3/s2]
EARTH_RADIUS = 6378.137e3  # equatorial [m]
_ATMOSPHERE = 80e3  # [m]; nothing completes an orbit of the Earth below
_Y, _Z = np.array([0.0, 1.0, 0.0]), np.array([0.0, 0.0, 1.0])


@record
class CircularOrbit:
    """Altitude and constants. N is the inertial frame that coincides with O at t = 0, its origin moving along."""

    altitude: Numeric | float  # above the radius [m]
    gravity: Numeric | float = EARTH_GRAVITY  # mu [m3/s2]
    body_radius: Numeric | float = EARTH_RADIUS  # [m]

    def __post_init__(self) -> None:
        require_bounds(self, {"gravity": "m3/s2", "body_radius": "m"}, above=0.0)
        require_bounds(self, {"altitude": "m"}, least=0.0)
        around_earth = not is_traced(self.altitude, self.body_radius) and self.body_radius == EARTH_RADIUS
        if around_earth and self.altitude < _ATMOSPHERE:
            raise ModelError(
                f"CircularOrbit.altitude is {self.altitude:g} m, where the atmosphere lets nothing orbit. "
                "Give metres: 550 km is altitude=550e3."
            )

    @property
    def radius(self) -> Numeric | float:
        """Distance from the centre [m]."""
        return self.altitude + self.body_radius

    @property
    def rate(self) -> Scalar:
        """Mean motion n [rad/s]."""
        return jnp.sqrt(self.gravity / self.radius**3)

    @property
    def period(self) -> Scalar:
        """Time of one revolution [s]."""
        return 2.0 * jnp.pi / self.rate

    def distance(self, t: Scalar | float) -> Numeric | float:
        """Distance from the centre [m]; on a circular orbit the radius at any time."""
        return self.radius

    def tidal_rate(self, t: Scalar | float) -> Scalar:
        """Root of mu / r^3, the strength of the gravity gradient [rad/s]; the mean motion at any time."""
        return self.rate

    def angular_velocity(self, t: Scalar | float) -> Vec3:
        """Angular velocity of the orbital frame, O axes [rad/s]."""
        return -self.rate * _Y

    def R_NO(self, t: Scalar | float) -> Mat3:
        """Attitude R_NO of the orbital frame: it turns with -n about y."""
        return rotation_about(_Y, -self.rate * t)

    def nadir(self, t: Scalar | float) -> Vec3:
        """Unit vector to the centre, N axes."""
        return self.R_NO(t) @ _Z

    def X_CO(self, t: Scalar | float) -> Pose:
        """Pose of the orbital frame in the inertial frame at the centre of the body, which has N's axes."""
        return Pose(position=-self.radius * self.nadir(t), rotation=self.R_NO(t))
