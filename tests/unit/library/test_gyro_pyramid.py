"""The pyramid of four gyros against the closed form of its momentum (Wie, Space Vehicle Dynamics and Control, 7.4)."""

import numpy as np
import pytest

from freefloat.actuators.control_moment_gyros import ControlMomentGyros
from freefloat.dynamics import composite_inertia
from freefloat.dynamics.gyro_axes import singularity_measure
from freefloat.library import PYRAMID_SKEW, with_control_moment_gyro, with_gyro_pyramid
from freefloat.model import Spacecraft
from freefloat.values import ModelError

HUB = Spacecraft.from_base("hub", mass=400.0, inertia=(60.0, 70.0, 50.0))  # [kg], [kg m2]
GYRO = {"spin_inertia": 0.05, "mass": 8.0, "inertia": (0.06, 0.05, 0.04)}  # [kg m2], [kg]
CRAFT = with_gyro_pyramid(HUB, radius=0.3, **GYRO)
GYROS = ControlMomentGyros.of(CRAFT, "gyro")
SPEED = 400.0  # [rad/s]
H = 0.05 * SPEED


def momentum(angles: np.ndarray) -> np.ndarray:
    """In base axes [N m s], of all four at the same speed."""
    state = CRAFT.in_motion(CRAFT.at_rest(angles), wheels=np.full(4, SPEED))
    return np.asarray(GYROS.momentum(CRAFT, state))


def test_momentum_is_the_closed_form(rng):
    c, s = np.cos(PYRAMID_SKEW), np.sin(PYRAMID_SKEW)
    for angles in rng.uniform(-np.pi, np.pi, size=(5, 4)):
        (s1, s2, s3, s4), (c1, c2, c3, c4) = np.sin(angles), np.cos(angles)
        expected = [-c * s1 - c2 + c * s3 + c4, c1 - c * s2 - c3 + c * s4, s * (s1 + s2 + s3 + s4)]
        np.testing.assert_allclose(momentum(angles), H * np.array(expected), atol=1e-13 * H)


def test_directions_are_the_derivative_of_the_momentum(rng):
    angles, step = rng.uniform(-np.pi, np.pi, size=4), 1e-6
    slopes = [(momentum(angles + d) - momentum(angles - d)) / (2 * step * H) for d in step * np.eye(4)]
    np.testing.assert_allclose(GYROS.directions(CRAFT, angles), np.stack(slopes, axis=1), atol=1e-9)


def test_singular_states_are_those_that_are_known():
    """At rest 32/27 with sin^2 = 2/3; zero at the elliptic state (-90, 0, 90, 0) deg and where all are full."""
    measure = lambda angles: float(singularity_measure(GYROS.directions(CRAFT, np.deg2rad(angles))))  # noqa: E731
    assert measure([0.0] * 4) == pytest.approx(32.0 / 27.0, rel=1e-12)
    for angles in ([-90.0, 0.0, 90.0, 0.0], [90.0] * 4):
        assert abs(measure(angles)) < 1e-14
    np.testing.assert_allclose(momentum(np.zeros(4)), 0.0, atol=1e-13 * H)
    np.testing.assert_allclose(
        momentum(np.deg2rad([-90.0, 0.0, 90.0, 0.0])), [2.0 * np.cos(PYRAMID_SKEW) * H, 0.0, 0.0], atol=1e-13 * H
    )
    np.testing.assert_allclose(momentum(np.full(4, np.pi / 2))[2], 4.0 * np.sin(PYRAMID_SKEW) * H, rtol=1e-13)


def test_four_equal_gyros_keep_the_centre_of_mass():
    whole = composite_inertia(CRAFT, np.zeros(4))
    assert float(whole.mass) == pytest.approx(432.0)
    np.testing.assert_allclose(whole.com, 0.0, atol=1e-15)
    assert CRAFT.joint("gyro.2").X_PJ.p == pytest.approx([0.0, 0.3, 0.0])


def test_a_spin_axis_along_the_gimbal_axis_is_rejected():
    with pytest.raises(ModelError, match="must be at a right angle, the cosine between them is 1"):
        with_control_moment_gyro(HUB, "g", gimbal_axis=(0, 0, 1), spin_axis=(0, 0, 2), **GYRO)


def test_limits_go_to_joint_and_wheel():
    craft = with_gyro_pyramid(HUB, "cmg", max_gimbal_rate=1.5, max_torque=0.2, max_momentum=30.0, **GYRO)
    assert float(craft.joint("cmg.3").limits.rate) == 1.5
    wheel = craft.wheels[3]
    assert (wheel.name, wheel.max_torque, wheel.max_momentum) == ("cmg.4.wheel", 0.2, 30.0)
