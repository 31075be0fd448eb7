"""The magnetometer: the field in base axes, and the usual errors."""

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model import Spacecraft
from freefloat.model.magnetic_field import UniformMagneticField
from freefloat.sensors import Magnetometer
from support import trees
from support.ports import clock_at, truth_of

HUB = Spacecraft.from_base("hub", mass=20.0, inertia=(0.5, 0.6, 0.7))
FIELD = UniformMagneticField(flux_density=(1e-5, -2e-5, 3e-5))  # [T]
ZERO, NOW = jnp.zeros((), jnp.int32), clock_at(0.0)


def test_it_measures_the_field_in_base_axes(rng):
    X_NB = trees.draw_pose(rng)
    measured = Magnetometer(FIELD).measure(truth_of(HUB, HUB.at_rest(at=X_NB)), ZERO, NOW)
    assert list(measured) == ["base.magnetic_field"]
    np.testing.assert_allclose(measured["base.magnetic_field"], np.asarray(X_NB.R).T @ FIELD.flux_density, atol=1e-20)


def test_bias_scale_and_steps():
    sensor = Magnetometer(FIELD, bias=(1e-6, 0.0, 0.0), scale_error=0.01, step=1e-7)
    measured = sensor.measure(truth_of(HUB, HUB.at_rest()), ZERO, NOW)["base.magnetic_field"]
    np.testing.assert_allclose(measured, [1.11e-5, -2.02e-5, 3.03e-5], atol=1e-15)
    # The bias is what it reports without a field: the scale error is of the field alone.
    fine = Magnetometer(FIELD, bias=(1e-6, 0.0, 0.0), scale_error=0.01).measure(truth_of(HUB, HUB.at_rest()), ZERO, NOW)
    np.testing.assert_allclose(fine["base.magnetic_field"], [1.11e-5, -2.02e-5, 3.03e-5], atol=1e-18)


def test_noise_has_its_size():
    sensor, truth = (
        Magnetometer(UniformMagneticField(flux_density=np.zeros(3)), noise=2e-8),
        truth_of(HUB, HUB.at_rest()),
    )
    numbers = jnp.arange(4000, dtype=jnp.int32)
    found = np.asarray(jax.vmap(lambda k: sensor.measure(truth, k, NOW)["base.magnetic_field"])(numbers))
    # The mean is known to 1.6 % of sigma, sigma to 1.1 %; four of each are permitted.
    assert np.all(np.abs(found.mean(axis=0)) < 0.064 * 2e-8)
    np.testing.assert_allclose(found.std(axis=0), 2e-8, rtol=0.045)
