"""Magnetic fields as torquers and magnetometers see them. The Earth's is in `effects.earth_magnetic_field`."""

from __future__ import annotations

from freefloat.spatial import Pose
from freefloat.values import record
from freefloat.values.arrays import ArrayLike, Scalar, Vec3
from freefloat.values.checks import require_array, set_fields


@record
class MagneticField:
    """A magnetic field around N's origin, as a function of place and time. Subclasses write `at`."""

    def at(self, p_N: Vec3, t: Scalar) -> Vec3:
        """Flux density [T] at a place in N [m], N axes."""
        raise NotImplementedError

    def seen_from(self, X_NB: Pose, t: Scalar) -> Vec3:
        """Flux density [T] at the origin of a frame B, in its axes."""
        return X_NB.R.T @ self.at(X_NB.p, t)


@record
class UniformMagneticField(MagneticField):
    """A field that is the same everywhere and at all times, as in a coil cage on the ground."""

    flux_density: ArrayLike  # (3,) N axes [T]

    def __post_init__(self) -> None:
        given = require_array("UniformMagneticField.flux_density", self.flux_density, "T", (3,), "three numbers")
        set_fields(self, flux_density=given)

    def at(self, p_N: Vec3, t: Scalar) -> Vec3:
        """Flux density [T], N axes."""
        return self.flux_density
