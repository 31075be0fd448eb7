"""Motion profiles, paths and joint splines: rates are the derivatives of positions, limits are kept."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat.control import JointSpline, Line, Quintic, Trapezoid, Turn
from freefloat.control.profiles import mean_rate
from freefloat.library import ets7
from freefloat.model import JointLimits, Spacecraft
from freefloat.values import ModelError

PROFILES = [Trapezoid(length=0.2, speed=0.01), Quintic(length=0.7, duration=40.0)]
PEAKS = {Trapezoid: 0.01, Quintic: 15.0 / 8.0 * 0.7 / 40.0}  # [m/s]


@pytest.mark.parametrize("profile", PROFILES)
def test_rate_is_the_derivative_of_the_way(profile) -> None:
    for t in np.linspace(-1.0, float(profile.duration) + 1.0, 37) + 0.0123:
        slope = jax.grad(profile.distance)(jnp.asarray(t))
        np.testing.assert_allclose(profile.rate(jnp.asarray(t)), slope, atol=1e-14)
    assert float(profile.distance(jnp.asarray(1e3))) == pytest.approx(profile.length, rel=1e-14)
    assert float(profile.distance(jnp.asarray(-1.0))) == 0.0
    fastest = float(jax.vmap(profile.rate)(jnp.linspace(0, profile.duration, 4001)).max())
    assert fastest == pytest.approx(PEAKS[type(profile)], rel=1e-9)


@pytest.mark.parametrize("profile", PROFILES)
def test_held_mean_rates_arrive_exactly(profile) -> None:
    held = sum(0.25 * float(mean_rate(profile, jnp.asarray(0.25 * k), 0.25)) for k in range(200))
    assert held == pytest.approx(profile.length, rel=1e-13)


def test_quintic_within_limits_is_the_shortest() -> None:
    by_rate = Quintic.within(0.3, rate=0.04)
    assert by_rate.duration == pytest.approx(14.0625)  # 14.1 s, as in the capture
    accelerated = Quintic.within(0.3, rate=10.0, acceleration=0.01)
    fastest = jax.vmap(jax.grad(accelerated.rate))(jnp.linspace(1e-3, accelerated.duration - 1e-3, 20001)).max()
    assert float(fastest) == pytest.approx(0.01, rel=1e-6)


def test_turn_rotates_about_its_axis() -> None:
    turn = Turn(axis=(0.0, 2.0, 0.0), profile=Quintic(length=np.pi / 2, duration=1.0))
    np.testing.assert_allclose(turn.rotation(jnp.asarray(2.0)) @ np.array([0, 0, 1.0]), [1, 0, 0], atol=1e-15)
    np.testing.assert_allclose(turn.spin(jnp.asarray(0.5)), [0, 1.875 * np.pi / 2, 0], rtol=1e-12)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Line(direction=(0, 0, 0), length=1.0, speed=0.1), "not all zero"),
        (
            lambda: Line(direction=(1, 0, 0), length=0.01, speed=0.1),
            "shorter than its two ramps, 0.2 m or rad at 0.1 m/s",
        ),
        (
            lambda: Line(direction=(1, 0, 0), length=1.0, speed=-0.1),
            "speed of a trapezoid must be positive, got -0.1 m/s",
        ),
        (lambda: Trapezoid(length=1.0, speed=0.1, ramp=np.nan), r"ramp of a trapezoid must be finite \[s\]"),
        (lambda: Quintic(length=1.0, duration=0.0), "duration of a quintic must be positive, got 0 s"),
        (lambda: JointSpline.through(ets7(), [[0.0] * 6]), "Give durations|2 or more"),
        (lambda: JointSpline.through(ets7(), [[0.0] * 6, [1.0] * 6]), "Give durations"),
        (lambda: JointSpline.through(ets7(), [[0.0] * 5, [1.0] * 5], [1.0]), "needs 6 numbers"),
    ],
)
def test_impossible_motions_are_refused_with_a_remedy(make, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


def _door() -> Spacecraft:
    hub = Spacecraft.from_base("hub", mass=10.0, inertia=(1.0, 1.0, 1.0))
    limits = JointLimits(lower=-0.1, upper=1.0, rate=0.2)
    return hub.with_link("door", parent="base", joint="revolute", mass=1.0, inertia=(0.1, 0.1, 0.1), limits=limits)


def test_spline_keeps_to_the_joints_own_limits() -> None:
    with pytest.raises(ModelError, match="beyond its limits"):
        JointSpline.through(_door(), [[0.0], [90.0]])
    spline = JointSpline.through(_door(), [[0.0], [45.0]])
    rates = jax.vmap(lambda t: spline.rates_at(t))(jnp.linspace(0.0, float(spline.duration), 2001))
    assert float(jnp.max(jnp.abs(rates))) == pytest.approx(0.2, rel=1e-6)


def test_spline_passes_its_via_points_smoothly(rng: np.random.Generator) -> None:
    points = rng.uniform(-60, 60, (4, 6))
    spline = JointSpline.through(ets7(), points, [3.0, 2.0, 4.0])
    for t, point in zip((0.0, 3.0, 5.0, 9.0), points, strict=True):
        np.testing.assert_allclose(np.rad2deg(spline.positions(jnp.asarray(t))), point, atol=1e-10)
    # Rates are continuous, and the derivative of the positions, also across the via points.
    for t in (1.0, 2.999999, 3.000001, 6.0):
        _, slope = jax.jvp(spline.positions, (jnp.asarray(t),), (jnp.ones(()),))
        np.testing.assert_allclose(spline.rates_at(jnp.asarray(t)), slope, atol=1e-12)
    before, after = (spline.rates_at(jnp.asarray(5.0 + d)) for d in (-1e-7, 1e-7))
    np.testing.assert_allclose(before, after, atol=1e-6)
