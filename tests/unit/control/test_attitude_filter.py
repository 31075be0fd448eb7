"""The attitude filter in a loop made by hand: a tumbling hub, a gyro, a star tracker."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.control.attitude_filter import AttitudeEstimate, AttitudeFilter
from freefloat.model import Spacecraft, State
from freefloat.sensors import Gyro, IdealMeasurements, Imperfection, StarTracker
from freefloat.spatial.rotations import quaternion_exp, quaternion_log
from freefloat.values import ModelError
from support.ports import Told, clock_at, truth_of

HUB = Spacecraft.from_base("hub", mass=500.0, inertia=(250.0, 250.0, 250.0))  # [kg], [kg m2]
RATE = np.array([1e-3, -2e-3, 5e-4])  # [rad/s]
BIAS, STAR_NOISE = np.array([2e-5, -1e-5, 3e-5]), 1e-4
GYRO = Gyro(bias=BIAS, noise=1e-5, imperfection=Imperfection(seed=5), period=0.1)
STARS = StarTracker(
    cross_noise=STAR_NOISE, roll_noise=STAR_NOISE, imperfection=Imperfection(seed=5, dropout=0.3), period=0.3
)
FILTER = AttitudeFilter.steady(
    star_period=0.3, star_noise=STAR_NOISE, gyro_noise=1e-5 * 0.1**0.5, bias_walk=2e-7, period=0.1
)


def hub_at(t) -> State:
    """It turns at a constant rate."""
    v = jnp.zeros(6).at[3:].set(RATE)
    return State(jnp.zeros(3), quaternion_exp(RATE * t), jnp.zeros(0), v)


def follow(software: AttitudeFilter, stars: StarTracker, ticks: int) -> tuple[np.ndarray, ...]:
    """What the filter's channels say at every tick."""

    def step(carried, k):
        gyro_memory, star_memory, estimate = carried
        clock = clock_at(0.1 * k, hold=0.1, dt=0.1)
        truth = truth_of(HUB, hub_at(clock.t))
        gyro_memory = GYRO.sense(gyro_memory, truth, k, clock)
        new = stars.sense(star_memory, truth, k // 3, clock)
        star_memory = jax.tree.map(lambda a, b: jnp.where(k % 3 == 0, a, b), new, star_memory)
        y = Told(clock, (GYRO, gyro_memory), (stars, star_memory))
        estimate = software.remember(estimate, y, clock)
        return (gyro_memory, star_memory, estimate), software.observe(estimate, y, clock, truth)

    clock, truth = clock_at(0.0), truth_of(HUB, hub_at(jnp.zeros(())))
    memories = GYRO.begin(truth, clock), stars.begin(truth, clock)
    start = software.begin(Told(clock, (GYRO, memories[0]), (stars, memories[1])))
    _, channels = jax.lax.scan(step, (*memories, start), jnp.arange(ticks, dtype=jnp.int32))
    return tuple(np.asarray(channel) for channel in channels)


def test_filter_finds_attitude_and_bias_with_lost_stars() -> None:
    error, bias, condition = follow(FILTER, STARS, 6000)
    assert np.sqrt(np.mean(error[4000:] ** 2)) < 0.5 * STAR_NOISE  # better than a single star fix
    np.testing.assert_allclose(bias[-1], BIAS, atol=6e-6)
    assert not np.any(condition)


def test_late_stars_are_carried_on_by_the_gyro() -> None:
    error, bias, _ = follow(FILTER, dataclasses.replace(STARS, latency=0.6), 6000)
    # A fix 0.6 s old is 1.4e-3 rad behind: without carrying it on the estimate would be, too.
    assert np.sqrt(np.mean(error[4000:] ** 2)) < 0.5 * STAR_NOISE
    np.testing.assert_allclose(bias[-1], BIAS, atol=6e-6)


def test_without_stars_the_gyro_goes_on_alone_and_says_so() -> None:
    blind = dataclasses.replace(STARS, imperfection=Imperfection(dropout=1.0))
    error, bias, condition = follow(FILTER, blind, 600)
    np.testing.assert_array_equal(bias, 0.0)
    np.testing.assert_array_equal(np.flatnonzero(condition)[0], 101)  # after ten seconds of patience
    # The error grows by the bias. Both turn with the hub, by 0.14 rad at the end: 0.14 x 2e-3 rad are left open.
    np.testing.assert_allclose(error[-1] - error[0], BIAS * 59.9, atol=3e-4)


def test_perfect_sensors_leave_nothing_to_correct() -> None:
    clock = clock_at(0.1, hold=0.1)
    y0, y1 = (IdealMeasurements.of(HUB, hub_at(t), t) for t in (jnp.asarray(0.0), jnp.asarray(0.1)))
    first = FILTER.remember(FILTER.begin(y0), y0, clock_at(0.0, hold=0.1))
    second = FILTER.remember(first, y1, clock)
    told = FILTER.tell(second, y1, clock)
    assert set(told) == {"base.attitude", "base.rate"}
    np.testing.assert_allclose(told["base.attitude"], y1["base.attitude"], atol=1e-15)
    np.testing.assert_allclose(told["base.rate"], RATE, atol=1e-15)


def test_a_star_fix_counts_once() -> None:
    class Fix:
        def __getitem__(self, name):
            return {"base.rate": jnp.zeros(3), "base.attitude": quaternion_exp(jnp.array([1e-3, 0.0, 0.0]))}[name]

        def valid(self, name):
            return jnp.asarray(True)

        def taken(self, name):
            return jnp.asarray(0.0)

    software = AttitudeFilter(attitude_gain=0.5, bias_gain=0.0, period=0.1)
    start = dataclasses.replace(software.begin(Fix()), quaternion=jnp.array([1.0, 0.0, 0.0, 0.0]))
    once: AttitudeEstimate = software.remember(start, Fix(), clock_at(0.0))
    twice = software.remember(once, Fix(), clock_at(0.1))
    np.testing.assert_allclose(quaternion_log(once.quaternion), [5e-4, 0.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(twice.quaternion, once.quaternion, atol=1e-15)
    assert float(twice.fixed_at) == 0.0


def test_the_filter_must_be_sampled() -> None:
    with pytest.raises(ModelError, match="give it the gyro's period"):
        AttitudeFilter()
