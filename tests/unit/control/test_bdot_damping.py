"""Damping from the change of the measured field, in a loop made by hand."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.actuators.magnetorquers import Magnetorquers
from freefloat.control import BdotDamping
from freefloat.model import Spacecraft, State
from freefloat.model.magnetic_field import UniformMagneticField
from freefloat.sensors import IdealMeasurements, Magnetometer
from freefloat.spatial.rotations import quaternion_exp
from freefloat.values import ModelError
from support.ports import Told, clock_at, commands_to, truth_of

HUB = Spacecraft.from_base("hub", mass=20.0, inertia=(0.5, 0.6, 0.7))
FIELD = UniformMagneticField(flux_density=(1e-5, -2e-5, 3e-5))  # [T]
TORQUERS = Magnetorquers(FIELD)
SOFTWARE = BdotDamping(TORQUERS, gain=1e5)
SENSOR = Magnetometer(FIELD, period=0.1)


def turned(rate: np.ndarray, t: float) -> State:
    """It turns with a constant rate."""
    v = jnp.zeros(6).at[3:].set(rate)
    return State(jnp.zeros(3), quaternion_exp(jnp.asarray(rate * t)), jnp.zeros(0), v)


def dipole_after(rate: np.ndarray, samples: int, software: BdotDamping = SOFTWARE, sensor=SENSOR) -> np.ndarray:
    """Dipole after some samples, 0.1 s apart."""
    number = lambda k: jnp.asarray(k, jnp.int32)  # noqa: E731
    memory, held = None, sensor.begin(truth_of(HUB, turned(rate, 0.0)), clock_at(0.0, dt=0.1))
    for k in range(samples):
        clock, truth = clock_at(0.1 * k, hold=0.1, dt=0.1), truth_of(HUB, turned(rate, 0.1 * k))
        held = sensor.sense(held, truth, number(k), clock)
        y = Told(clock, (sensor, held))
        memory = software.remember(software.begin(y) if memory is None else memory, y, clock)
        dipole = software.command(memory, y, clock).values
    return np.asarray(dipole)


def test_one_measurement_has_no_rate():
    np.testing.assert_array_equal(dipole_after(np.array([0.0, 0.1, 0.0]), 1), 0.0)


def test_dipole_is_against_the_change_of_the_field():
    """m = -k dB/dt = k w x B, at the middle between two samples: the difference is of second order in 0.1 s."""
    rate = np.array([0.02, -0.01, 0.03])
    R_NB = np.asarray(turned(rate, 0.15).X_NB.R)
    expected = 1e5 * np.cross(rate, R_NB.T @ FIELD.flux_density)
    found = dipole_after(rate, 3)
    np.testing.assert_allclose(found, expected, atol=1e-5 * np.linalg.norm(expected))
    assert np.max(np.abs(found + expected)) > np.linalg.norm(expected)  # negative control


def test_the_torque_takes_energy_as_the_closed_form_says():
    """w . (m x B) = -k |w x B|^2, exact for the exact rate of the field."""
    rate, B = np.array([0.02, -0.01, 0.03]), np.asarray(FIELD.flux_density)
    y = IdealMeasurements.of(HUB, HUB.at_rest())
    memory = dataclasses.replace(SOFTWARE.begin(y), rate=jnp.asarray(-np.cross(rate, B)))
    u = commands_to(TORQUERS, HUB, SOFTWARE.command(memory, y, clock_at(0.0)))
    torque = TORQUERS.torque(truth_of(HUB, HUB.at_rest()), u, clock_at(0.0))
    power = rate @ np.asarray(torque)
    np.testing.assert_allclose(power, -1e5 * np.sum(np.cross(rate, B) ** 2), rtol=1e-12)
    assert abs(np.asarray(torque) @ B) < 1e-12 * np.linalg.norm(torque) * np.linalg.norm(B)


def test_a_measurement_that_is_not_new_changes_nothing():
    """A slow sensor: between its samples the rate stays, also the time over which the next one is counted."""
    slow = dataclasses.replace(SENSOR, period=0.2)
    rate = np.array([0.0, 0.0, 0.05])
    held = slow.begin(truth_of(HUB, turned(rate, 0.0)), clock_at(0.0, dt=0.1))
    found, memory = [], None
    for k in range(5):
        clock, truth = clock_at(0.1 * k, hold=0.1, dt=0.1), truth_of(HUB, turned(rate, 0.1 * k))
        if k % 2 == 0:
            held = slow.sense(held, truth, jnp.asarray(k // 2, jnp.int32), clock)
        y = Told(clock, (slow, held))
        memory = SOFTWARE.remember(SOFTWARE.begin(y) if memory is None else memory, y, clock)
        found.append(np.asarray(memory.rate))
    np.testing.assert_array_equal(found[1], 0.0)
    np.testing.assert_array_equal(found[3], found[2])
    B = np.asarray(turned(rate, 0.1).X_NB.R).T @ FIELD.flux_density
    np.testing.assert_allclose(found[2], -np.cross(rate, B), atol=1e-5 * 0.05 * np.linalg.norm(B))


def test_a_lost_measurement_is_no_measurement():
    lost = dataclasses.replace(SENSOR, imperfection=dataclasses.replace(SENSOR.imperfection, dropout=1.0))
    np.testing.assert_array_equal(dipole_after(np.array([0.0, 0.1, 0.0]), 4, sensor=lost), 0.0)


def test_a_negative_gain_is_rejected():
    with pytest.raises(ModelError, match=r"BdotDamping\.gain must be at least 0"):
        BdotDamping(TORQUERS, gain=-1.0)
