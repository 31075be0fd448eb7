"""An elliptic orbit, with the drift that an oblate planet gives it, and its local frame O.

O has z to the nadir and y against the orbit normal, as on a circular orbit; x completes them, forward and horizontal.
O turns faster near the perigee: its rate is h / r^2, not constant.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.effects.circular_orbit import EARTH_GRAVITY, EARTH_RADIUS
from freefloat.spatial import Pose
from freefloat.spatial.rotations import axial, rotation_about
from freefloat.values import ModelError, record
from freefloat.values.arrays import Mat3, Numeric, Scalar, Vec3, is_traced
from freefloat.values.checks import require_bounds

EARTH_J2 = 1.08262668e-3  # second zonal harmonic
_X, _Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
# x of O is u + 90 deg, y against the normal, z to the nadir; columns are axes of O in (radial, forward, normal).
_R_RADIAL_O = np.array([[0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])
_HALLEY = 6  # steps to solve Kepler's equation: cubic, so six are plenty up to an eccentricity of 0.95


@record
class EllipticOrbit:
    """Mean elements at t = 0, angles in radians. N is the inertial frame that coincides with O then, moving along.

    `j2` adds the secular drift of node, perigee and mean anomaly (first order in J2, no periodic terms); EARTH_J2.
    """

    semi_major_axis: Numeric | float  # [m]
    eccentricity: Numeric | float = 0.0
    inclination: Numeric | float = 0.0  # [rad]
    perigee: Numeric | float = 0.0  # argument, from the ascending node [rad]
    mean_anomaly: Numeric | float = 0.0  # at t = 0 [rad]
    j2: Numeric | float = 0.0
    gravity: Numeric | float = EARTH_GRAVITY  # mu [m3/s2]
    body_radius: Numeric | float = EARTH_RADIUS  # equatorial [m]

    def __post_init__(self) -> None:
        require_bounds(self, {"semi_major_axis": "m", "gravity": "m3/s2", "body_radius": "m"}, above=0.0)
        require_bounds(self, {"eccentricity": "1"}, least=0.0, most=0.95)
        require_bounds(self, {"inclination": "rad", "perigee": "rad", "mean_anomaly": "rad", "j2": "1"})
        if is_traced(self.semi_major_axis, self.eccentricity, self.body_radius):
            return
        lowest = float(self.semi_major_axis * (1.0 - self.eccentricity) - self.body_radius)
        if lowest < 0.0:
            raise ModelError(
                f"EllipticOrbit: its perigee is {-lowest:g} m below the surface. Give the semi-major axis from the "
                "centre [m] and a smaller eccentricity."
            )

    # ---- rates of the elements

    @property
    def mean_motion(self) -> Scalar:
        """Mean motion of the ellipse without drift [rad/s]."""
        return jnp.sqrt(self.gravity / self.semi_major_axis**3)

    @property
    def period(self) -> Scalar:
        """Time from perigee to perigee [s]."""
        return 2.0 * jnp.pi / (self.mean_motion + self.anomaly_drift)

    @property
    def _oblateness(self) -> Scalar:
        p = self.semi_major_axis * (1.0 - self.eccentricity**2)
        return 1.5 * self.mean_motion * self.j2 * (self.body_radius / p) ** 2

    @property
    def node_drift(self) -> Scalar:
        """Drift rate of the ascending node [rad/s]."""
        return -self._oblateness * jnp.cos(self.inclination)

    @property
    def perigee_drift(self) -> Scalar:
        """Drift rate of the argument of the perigee [rad/s]."""
        return self._oblateness * (2.0 - 2.5 * jnp.sin(self.inclination) ** 2)

    @property
    def anomaly_drift(self) -> Scalar:
        """Drift rate of the mean anomaly, in addition to the mean motion [rad/s]."""
        return self._oblateness * jnp.sqrt(1.0 - self.eccentricity**2) * (1.0 - 1.5 * jnp.sin(self.inclination) ** 2)

    # ---- position and attitude

    def true_anomaly(self, t: Scalar | float) -> Scalar:
        """True anomaly: angle from the perigee [rad]."""
        e = self.eccentricity
        E = eccentric_anomaly(self.mean_anomaly + (self.mean_motion + self.anomaly_drift) * t, e)
        return 2.0 * jnp.arctan2(jnp.sqrt(1.0 + e) * jnp.sin(0.5 * E), jnp.sqrt(1.0 - e) * jnp.cos(0.5 * E))

    def distance(self, t: Scalar | float) -> Scalar:
        """Distance from the centre [m]."""
        e = self.eccentricity
        return self.semi_major_axis * (1.0 - e**2) / (1.0 + e * jnp.cos(self.true_anomaly(t)))

    def tidal_rate(self, t: Scalar | float) -> Scalar:
        """Root of mu / r^3, the strength of the gravity gradient [rad/s]."""
        return jnp.sqrt(self.gravity / self.distance(t) ** 3)

    def R_NO(self, t: Scalar | float) -> Mat3:
        """Attitude R_NO of the orbital frame."""
        return self._R_EO(jnp.zeros(())).T @ self._R_EO(t)

    def _R_EO(self, t: Scalar | float) -> Mat3:
        """Attitude of the orbital frame in equatorial axes E."""
        along = self.perigee + self.perigee_drift * t + self.true_anomaly(t)
        node, tilt = (
            rotation_about(_Z, self.node_drift * t),
            rotation_about(_X, jnp.asarray(self.inclination, dtype=float)),
        )
        return node @ tilt @ rotation_about(_Z, along) @ _R_RADIAL_O

    def nadir(self, t: Scalar | float) -> Vec3:
        """Unit vector to the centre, N axes."""
        return self.R_NO(t) @ _Z

    def X_CO(self, t: Scalar | float) -> Pose:
        """Pose of the orbital frame in the inertial frame at the centre of the body, which has N's axes."""
        return Pose(position=-self.distance(t) * self.nadir(t), rotation=self.R_NO(t))

    def angular_velocity(self, t: Scalar | float) -> Vec3:
        """Angular velocity of the orbital frame, O axes [rad/s]; along -y except for the drift of the node."""
        t = jnp.asarray(t, dtype=float)
        R, R_dot = jax.jvp(self.R_NO, (t,), (jnp.ones(()),))
        return 0.5 * axial((R.T @ R_dot).T)

    def angular_acceleration(self, t: Scalar | float) -> Vec3:
        """Angular acceleration of the orbital frame, O axes [rad/s2]."""
        t = jnp.asarray(t, dtype=float)
        return jax.jvp(self.angular_velocity, (t,), (jnp.ones(()),))[1]


def eccentric_anomaly(mean: Numeric | float, eccentricity: Numeric | float) -> Numeric:
    """Eccentric anomaly E of Kepler's equation M = E - e sin E, between -pi and pi [rad]."""
    e = eccentricity
    M = mean - 2.0 * jnp.pi * jnp.round(mean / (2.0 * jnp.pi))
    E = M + e * jnp.sin(M) / jnp.sqrt(1.0 - 2.0 * e * jnp.cos(M) + e**2)
    for _ in range(_HALLEY):
        s, c = e * jnp.sin(E), e * jnp.cos(E)
        f, slope = E - s - M, 1.0 - c
        E = E - f * slope / (slope**2 - 0.5 * f * s)
    return E
