"""A wrist sensor's statistics, and what it takes off for the tool."""

import numpy as np
import pytest

from freefloat.hil.cell import SensorSettings
from freefloat.hil.cell.wrist_sensor import ToolLoad, WristSensor
from freefloat.values import ModelError

CYCLE = 4e-3  # [s]
NOTHING = ToolLoad(0.0, np.zeros(3), np.zeros((3, 3)), np.zeros(3))


def samples(settings, count=8000, seed=0, felt=None):
    sensor = WristSensor(settings, "client", CYCLE, seed)
    felt = np.zeros(6) if felt is None else felt
    return np.array([sensor.read(felt, NOTHING, np.zeros(6)) for _ in range(count)])


def test_noise_has_the_mean_and_spread_that_were_set():
    values = samples(SensorSettings(noise=(0.5, 0.02)))
    spread = np.repeat([0.5, 0.02], 3)
    # Mean and spread of 8000 samples scatter by 1/89 and 1/126 of the spread: five times that.
    assert np.all(np.abs(values.mean(axis=0)) < 5 * spread / np.sqrt(8000))
    np.testing.assert_allclose(values.std(axis=0), spread, rtol=0.04)
    assert np.abs(np.corrcoef(values.T) - np.eye(6)).max() < 0.056


def test_bias_is_drawn_once_and_drift_grows_with_the_root_of_time():
    biases = np.array([samples(SensorSettings(bias=(2.0, 0.1)), 2, seed) for seed in range(400)])
    np.testing.assert_array_equal(biases[:, 0], biases[:, 1])
    np.testing.assert_allclose(biases[:, 0].std(axis=0), np.repeat([2.0, 0.1], 3), rtol=0.15)
    ends = np.array([samples(SensorSettings(drift=(1.0, 0.1)), 40, seed)[-1] for seed in range(400)])
    np.testing.assert_allclose(ends.std(axis=0), 0.4 * np.repeat([1.0, 0.1], 3), rtol=0.15)  # after 0.16 s


def test_readings_come_in_steps_and_stay_within_the_range():
    felt = np.array([0.26, -0.24, 150.0, -150.0, 0.0, 0.03])
    value = samples(SensorSettings(resolution=(0.1, 0.05), range=(100.0, 10.0)), 1, felt=felt)[0]
    np.testing.assert_allclose(value, [0.3, -0.2, 100.0, -10.0, 0.0, 0.05], atol=1e-12)
    sensor = WristSensor(SensorSettings(range=(100.0, 10.0)), "client", CYCLE, 0)
    assert sensor.is_overloaded(felt)
    assert not sensor.is_overloaded(0.05 * felt)


def test_taring_takes_off_the_bias_down_to_the_noise_of_its_mean():
    settings = SensorSettings(noise=(0.1, 0.01), bias=(5.0, 0.5), tare_samples=400)
    sensor = WristSensor(settings, "client", CYCLE, 3)
    sensor.tare(np.zeros(6), NOTHING)
    mean = np.mean([sensor.read(np.zeros(6), NOTHING, np.zeros(6)) for _ in range(4000)], axis=0)
    assert np.all(np.abs(mean) < 5 * np.repeat([0.1, 0.01], 3) / 20)


def test_what_is_not_passed_on_reads_zero():
    settings = SensorSettings(passed=(True, False, False, False, False, True))
    assert samples(settings, 1, felt=np.ones(6))[0].tolist() == [1, 0, 0, 0, 0, 1]


def test_errors_depend_on_seed_and_name_only():
    settings = SensorSettings(noise=(1.0, 1.0), drift=(1.0, 1.0))
    np.testing.assert_array_equal(samples(settings, 50, 1), samples(settings, 50, 1))
    assert not np.array_equal(samples(settings, 50, 1), samples(settings, 50, 2))
    other = WristSensor(settings, "servicer", CYCLE, 1).read(np.zeros(6), NOTHING, np.zeros(6))
    assert not np.array_equal(samples(settings, 1, 1)[0], other)


def test_weight_and_inertia_of_a_rigid_tool(rng):
    """Against the momentum of a cloud of mass points that moves as a rigid body."""
    masses, points = rng.uniform(0.1, 1.0, 8), rng.normal(size=(8, 3))
    m, com = masses.sum(), masses @ points / masses.sum()
    inertia = np.einsum("k,kab->ab", masses, np.array([p @ p * np.eye(3) - np.outer(p, p) for p in points]))
    load = ToolLoad(m, com, inertia, rng.normal(size=3))
    v, w, dv, dw = rng.normal(size=(4, 3))
    accelerations = dv + np.cross(w, v) + np.cross(dw, points) + np.cross(w, np.cross(w, points))
    force = masses @ accelerations
    torque = (masses[:, None] * np.cross(points, accelerations)).sum(axis=0)
    wrench = load.inertia_wrench(np.concatenate([v, w]), np.concatenate([dv, dw]))
    np.testing.assert_allclose(wrench, np.concatenate([force, torque]), rtol=1e-12)
    pulled = masses[:, None] * load.gravity
    weight = np.concatenate([pulled.sum(axis=0), np.cross(points, pulled).sum(axis=0)])
    np.testing.assert_allclose(load.weight(), weight, rtol=1e-12)


def test_impossible_sensors():
    with pytest.raises(ModelError, match=r"SensorSettings\.noise must be a pair"):
        SensorSettings(noise=0.1)
    with pytest.raises(ModelError, match=r"SensorSettings\.resolution must be at least 0"):
        SensorSettings(resolution=(-1.0, 0.0))
    with pytest.raises(ModelError, match=r"SensorSettings\.passed must say yes or no of six components"):
        SensorSettings(passed=(True,))
