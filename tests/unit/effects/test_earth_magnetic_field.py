"""Dipole field of the Earth: its size and direction over equator and poles, and how it turns with orbit and Earth."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.effects import EARTH_RADIUS, CircularOrbit, EllipticOrbit
from freefloat.effects.earth_magnetic_field import (
    DIPOLE_RADIUS,
    EARTH_DIPOLE,
    EARTH_TURN_RATE,
    EarthMagneticField,
)
from freefloat.model.magnetic_field import UniformMagneticField
from freefloat.spatial import Pose
from freefloat.values import ModelError
from support.compiling import compiled

HERE, START = np.zeros(3), jnp.zeros(())
LOW = CircularOrbit(altitude=500e3)
SIZE = float(np.linalg.norm(EARTH_DIPOLE))  # [T]
AT_LOW = SIZE * (DIPOLE_RADIUS / (EARTH_RADIUS + 500e3)) ** 3


def test_field_over_the_equator_points_north_and_has_the_size_of_the_reference_field():
    """IGRF-13 of 2020: the dipole is 2.98e-5 T at 6371.2 km. North is against y of O on an equatorial orbit."""
    assert pytest.approx(2.98e-5, abs=5e-8) == SIZE
    ground = CircularOrbit(altitude=0.0, body_radius=DIPOLE_RADIUS)
    np.testing.assert_allclose(EarthMagneticField.axial(ground).at(HERE, START), [0.0, -SIZE, 0.0], atol=1e-20)


def test_field_over_a_pole_is_twice_as_strong_and_points_down_in_the_north():
    polar = EarthMagneticField.axial(LOW, inclination=np.pi / 2)
    quarter = LOW.period / 4.0
    north, south = (LOW.R_NO(t).T @ polar.at(HERE, t) for t in (quarter, 3.0 * quarter))
    np.testing.assert_allclose(north, [0.0, 0.0, 2.0 * AT_LOW], atol=1e-12 * SIZE)
    np.testing.assert_allclose(south, [0.0, 0.0, -2.0 * AT_LOW], atol=1e-12 * SIZE)
    # At the ascending node it points along the flight, to the north.
    np.testing.assert_allclose(polar.at(HERE, START), [AT_LOW, 0.0, 0.0], atol=1e-12 * SIZE)


def test_field_falls_with_the_third_power_of_the_distance():
    """By another orbit, and by a place beside the orbit's own, which is above it [m]."""
    field = EarthMagneticField.axial(LOW)
    above = field.at(np.array([0.0, 0.0, -1000e3]), START)
    higher = EarthMagneticField.axial(CircularOrbit(altitude=1500e3)).at(HERE, START)
    np.testing.assert_allclose(above, higher, atol=1e-12 * SIZE)
    ratio = (EARTH_RADIUS + 500e3) / (EARTH_RADIUS + 1500e3)
    np.testing.assert_allclose(above, ratio**3 * field.at(HERE, START), atol=1e-12 * SIZE)


def test_field_has_no_sources_and_no_currents():
    """div B = 0 and rot B = 0, from derivatives with respect to the place; times the radius it is below rounding."""
    field = EarthMagneticField(LOW, inclination=1.1, argument=0.4, longitude=2.0)
    gradient = np.asarray(jax.jacfwd(lambda p: field.at(p, jnp.asarray(700.0)))(jnp.array([1e3, 2e3, -5e3])))
    assert abs(np.trace(gradient)) * LOW.radius < 1e-13 * SIZE
    assert np.max(np.abs(gradient - gradient.T)) * LOW.radius < 1e-13 * SIZE


def test_a_circle_given_as_an_ellipse_has_the_same_field():
    ellipse = EllipticOrbit(semi_major_axis=LOW.radius, inclination=0.9, perigee=0.3, mean_anomaly=0.5)
    circle = EarthMagneticField(LOW, inclination=0.9, argument=0.8, longitude=-1.0)
    for t in (0.0, 1234.5):
        now = jnp.asarray(t)
        np.testing.assert_allclose(
            EarthMagneticField(ellipse, longitude=-1.0).at(HERE, now), circle.at(HERE, now), atol=1e-12 * SIZE
        )
    with pytest.raises(ModelError, match="has an inclination and a place of its own"):
        EarthMagneticField(ellipse, inclination=0.9)


def test_a_tilted_dipole_turns_with_the_earth_to_the_east():
    """A place over the equator that turns with the Earth sees a constant field; one that does not, sees it change."""
    synchronous = CircularOrbit(altitude=(3.986004418e14 / EARTH_TURN_RATE**2) ** (1 / 3) - EARTH_RADIUS)
    field = EarthMagneticField(synchronous, longitude=0.7)
    seen = [synchronous.R_NO(t).T @ field.at(HERE, jnp.asarray(t)) for t in (0.0, 20000.0, 50000.0)]
    for later in seen[1:]:
        np.testing.assert_allclose(later, seen[0], atol=1e-12 * SIZE)
    backwards = EarthMagneticField(synchronous, longitude=0.7, turn_rate=-EARTH_TURN_RATE)
    other = synchronous.R_NO(20000.0).T @ backwards.at(HERE, jnp.asarray(20000.0))
    assert np.max(np.abs(other - seen[0])) > 1e-3 * np.linalg.norm(seen[0])


def test_the_magnetic_pole_of_the_north_lies_in_greenland():
    """IGRF-13: geomagnetic pole 80.65 N (geodetic), 72.68 W in 2020; there the field points down."""
    pole = -np.array(EARTH_DIPOLE) / SIZE
    flattening = 1.0 / 298.257223563  # of the ellipsoid that geodetic latitudes are counted on (WGS 84)
    geodetic = np.arctan(pole[2] / np.hypot(*pole[:2]) / (1.0 - flattening) ** 2)
    assert np.rad2deg(geodetic) == pytest.approx(80.65, abs=0.005)  # half of the last printed digit
    assert np.rad2deg(np.arctan2(pole[1], pole[0])) == pytest.approx(-72.68, abs=0.005)
    over = EarthMagneticField(
        CircularOrbit(altitude=500e3), inclination=np.pi / 2, argument=np.arcsin(pole[2]), longitude=np.deg2rad(-72.68)
    )
    np.testing.assert_allclose(over.at(HERE, START), [0.0, 0.0, 2.0 * AT_LOW], atol=1e-4 * SIZE)


def test_native_code_has_the_same_field(rng):
    field = EarthMagneticField(LOW, inclination=1.1, argument=0.4, longitude=2.0)
    place, t = 1e3 * rng.normal(size=3), np.asarray(3456.7)
    ours = compiled(field.at)(place, t)
    np.testing.assert_allclose(ours, field.at(jnp.asarray(place), jnp.asarray(t)), atol=1e-13 * SIZE)


def test_a_frame_sees_the_field_in_its_own_axes():
    field = UniformMagneticField(flux_density=(1e-5, 2e-5, 3e-5))
    quarter = Pose(rotation=np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]]))  # x to y of N
    np.testing.assert_allclose(field.seen_from(quarter, START), [2e-5, -1e-5, 3e-5])
