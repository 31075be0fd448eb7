"""Magnetic field of the Earth along an orbit: a dipole, which turns with the Earth.

In Earth-fixed axes the potential of degree 1 is V = a^3 (k . r) / r^3 with k = (g11, h11, g10), so that

    B = -grad V = (a / r)^3 (3 (k . u) u - k),   u = r / |r|.

Over the equator of the dipole its size is |k| (a / r)^3, over the poles twice that. All higher
degrees are left out. They fall faster with the distance: the lower the orbit, the more of the field is missing.
"""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

from freefloat.effects.circular_orbit import CircularOrbit
from freefloat.effects.elliptic_orbit import EllipticOrbit
from freefloat.model.magnetic_field import MagneticField
from freefloat.spatial.rotations import rotation_about
from freefloat.values import ModelError, record
from freefloat.values.arrays import ArrayLike, Mat3, Numeric, Scalar, Vec3, is_traced
from freefloat.values.checks import require_array, require_bounds, set_fields

# IGRF-13, epoch 2020.0 (Alken et al., Earth, Planets and Space 73, 2021): g11, h11, g10, at the reference radius.
EARTH_DIPOLE = (-1450.9e-9, 4652.5e-9, -29404.8e-9)  # [T]; 2.98e-5 T together
DIPOLE_RADIUS = 6371.2e3  # a [m]
EARTH_TURN_RATE = 7.292115e-5  # [rad/s]
_X, _Z = np.array([1.0, 0.0, 0.0]), np.array([0.0, 0.0, 1.0])
_R_RADIAL_O = np.array([[0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])  # O in (radial, forward, normal)


@record
class EarthMagneticField(MagneticField):
    """Dipole field of the Earth, seen from an orbit whose frame O gives N its axes at t = 0.

    A CircularOrbit knows no equator: `inclination` and `argument` say how its plane lies and where it begins, an
    EllipticOrbit has both. `coefficients`: of degree 1, in Earth-fixed axes; `EarthMagneticField.axial` has none across
    the Earth's axis.
    """

    orbit: CircularOrbit | EllipticOrbit
    inclination: Numeric | float = 0.0  # of a circular orbit [rad]
    argument: Numeric | float = 0.0  # of a circular orbit: angle from its ascending node at t = 0 [rad]
    longitude: Numeric | float = 0.0  # east longitude of the ascending node at t = 0 [rad]
    coefficients: ArrayLike = dataclasses.field(default_factory=lambda: np.array(EARTH_DIPOLE))  # k [T]
    turn_rate: Numeric | float = EARTH_TURN_RATE  # of the Earth [rad/s]

    def __post_init__(self) -> None:
        if not isinstance(self.orbit, (CircularOrbit, EllipticOrbit)):
            raise ModelError(
                f"EarthMagneticField.orbit must be a CircularOrbit or an EllipticOrbit, got {self.orbit!r}."
            )
        units = {"inclination": "rad", "argument": "rad", "longitude": "rad", "turn_rate": "rad/s"}
        require_bounds(self, units)
        given = require_array(
            "EarthMagneticField.coefficients", self.coefficients, "T", (3,), "three numbers: g11, h11, g10"
        )
        set_fields(self, coefficients=given)
        own = self.inclination, self.argument
        if isinstance(self.orbit, EllipticOrbit) and not is_traced(own) and any(float(angle) != 0.0 for angle in own):
            raise ModelError(
                "EarthMagneticField: an EllipticOrbit has an inclination and a place of its own. Leave inclination and "
                "argument out."
            )

    @staticmethod
    def axial(
        orbit: CircularOrbit | EllipticOrbit,
        inclination: Numeric | float = 0.0,
        argument: Numeric | float = 0.0,
        equator: float = float(np.linalg.norm(EARTH_DIPOLE)),
    ) -> EarthMagneticField:
        """Dipole along the Earth's axis with a field over the equator [T], at the reference radius; to the north."""
        return EarthMagneticField(orbit, inclination, argument, coefficients=np.array([0.0, 0.0, -equator]))

    def R_NE(self, t: Scalar) -> Mat3:
        """Attitude in N of Earth-fixed axes E: x through the meridian of Greenwich, z to the north."""
        orbit = self.orbit
        if isinstance(orbit, EllipticOrbit):
            tilt, along = orbit.inclination, orbit.perigee + orbit.true_anomaly(0.0)
        else:
            tilt, along = self.inclination, self.argument
        R_equator_O = (
            rotation_about(_X, jnp.asarray(tilt, dtype=float))
            @ rotation_about(_Z, jnp.asarray(along, dtype=float))
            @ _R_RADIAL_O
        )  # x of the equatorial axes points to the ascending node
        return R_equator_O.T @ rotation_about(_Z, self.turn_rate * t - self.longitude)

    def at(self, p_N: Vec3, t: Scalar) -> Vec3:
        """Flux density [T] at a place near N's origin [m], N axes."""
        r = self.orbit.X_CO(t).p + p_N
        squared = r @ r
        u, k = r / jnp.sqrt(squared), self.R_NE(t) @ self.coefficients
        return (DIPOLE_RADIUS**2 / squared) ** 1.5 * (3.0 * (k @ u) * u - k)
