"""What a control-moment gyro gives and what it costs: its torque h x gimbal rate on the base, and its gimbal motor's.

A gimbal with the inertias (I_s, I_t, I_g) about spin axis s, the axis t = g x s across and gimbal axis g, whose wheel
has no motor torque, so that its absolute spin momentum h is constant. In the gimbal's axes, with w the base's rate,
Euler's equations of gimbal and wheel give

    torque on them:  dH/dt + (w + gimbal rate g) x H,   H = (I_s - I_w) w_s s + h s + I_t w_t t + I_g (w_g + rate) g

On a base at rest this is h rate t + I_g (acceleration) g: the base gets the opposite, and the motor only the second.
On a base that turns the motor also holds h w_t: the gain is rate / w_t, large as long as the base turns slowly.
"""

import numpy as np
import pytest

import freefloat as ff
from freefloat import dynamics
from support import trees
from support.compiling import compiled

SPIN, INERTIA = 0.05, np.array([0.11, 0.08, 0.09])  # of the wheel; of the gimbal with it, about s, t, g [kg m2]

inverse_dynamics = compiled(dynamics.inverse_dynamics)
momentum_about_base = compiled(dynamics.momentum_about_base)


def craft_with_gyro(R_BG: np.ndarray, base: float) -> ff.Spacecraft:
    """A round base [kg m2] that carries one gyro at its centre of mass."""
    craft = ff.Spacecraft.from_base("base with a gyro", mass=2.0 * base, inertia=(base,) * 3)
    craft = craft.with_link(
        "gimbal", parent="base", joint="revolute", at=ff.Pose(rotation=R_BG), mass=8.0, inertia=INERTIA
    )
    return craft.with_wheel("wheel", body="gimbal", axis=(1.0, 0.0, 0.0), inertia=SPIN)


def torques(craft, gimbal, rate, gimbal_rate, speed, rate_change=(0.0, 0.0, 0.0), gimbal_change=0.0):
    """Torque that moves the base (3), of the gimbal motor and of the wheel's, with no torque of the wheel's motor."""
    R_BG = np.asarray(craft.joint("gimbal").placement(np.float64(gimbal)).R)
    s, t = R_BG[:, 0], R_BG[:, 1]
    speed_change = -s @ np.asarray(rate_change) - gimbal_rate * (t @ rate)  # keeps the absolute spin
    v = np.concatenate([np.zeros(3), rate, [gimbal_rate, speed]])
    vdot = np.concatenate([-np.zeros(3), rate_change, [gimbal_change, speed_change]])
    force = inverse_dynamics(craft, np.array([gimbal]), v, vdot)
    return np.asarray(force)[3:6], float(force[6]), float(force[7])


def test_gyro_on_a_base_at_rest_multiplies_torque(rng):
    """Exact: base torque -(h rate t + I_g acceleration g), gimbal motor I_g acceleration. Tolerance: float64 sums."""
    R_BG, angle, speed = trees.draw_rotation(rng), 0.7, 600.0
    craft = craft_with_gyro(R_BG, 50.0)
    _, t, g = np.asarray(craft.joint("gimbal").placement(np.float64(angle)).R).T
    for gimbal_rate, change in ((0.8, 0.0), (-0.8, 0.0), (0.8, 2.5)):
        base, motor, wheel = torques(craft, angle, np.zeros(3), gimbal_rate, speed, gimbal_change=change)
        h = SPIN * speed
        np.testing.assert_allclose(base, h * gimbal_rate * t + INERTIA[2] * change * g, atol=1e-12 * h)
        np.testing.assert_allclose(motor, INERTIA[2] * change, atol=1e-12 * h)
        np.testing.assert_allclose(wheel, 0.0, atol=1e-12 * h)


def test_gyro_on_a_base_that_turns(rng):
    """Euler's equations as above, for random rates and accelerations; the gimbal motor alone, and all of it."""
    for _ in range(5):
        R_BG, angle = trees.draw_rotation(rng), rng.uniform(-np.pi, np.pi)
        craft, speed = craft_with_gyro(R_BG, 50.0), rng.uniform(-600.0, 600.0)
        rate, rate_change, gimbal_rate, change = 0.1 * rng.normal(size=3), rng.normal(size=3), *rng.normal(size=2)
        R = np.asarray(craft.joint("gimbal").placement(np.float64(angle)).R)
        ws, wt, wg = R.T @ rate
        as_, at, ag = R.T @ rate_change
        h = SPIN * (speed + ws)
        Is, It, Ig = INERTIA - np.array([SPIN, 0.0, 0.0])
        H = np.array([Is * ws + h, It * wt, Ig * (wg + gimbal_rate)])
        # Rates of the components of w along axes that turn with the gimbal.
        dH = np.array([Is * (as_ + gimbal_rate * wt), It * (at - gimbal_rate * ws), Ig * (ag + change)])
        expected = dH + np.cross([ws, wt, wg + gimbal_rate], H)
        base, motor, wheel = torques(craft, angle, rate, gimbal_rate, speed, rate_change, change)
        own = 50.0 * rate_change  # of the round base itself
        scale = 1e-12 * (abs(h) + 50.0)
        np.testing.assert_allclose(base - own, R @ expected, atol=scale)
        np.testing.assert_allclose(motor, expected[2], atol=scale)
        np.testing.assert_allclose(motor, Ig * (ag + change) - h * wt + (It - Is) * ws * wt, atol=scale)
        np.testing.assert_allclose(wheel, 0.0, atol=scale)


def test_gain_is_gimbal_rate_over_base_rate():
    """Base turning about t with w: output torque h rate, gimbal motor h w; on the other axis the motor rests."""
    craft, h = craft_with_gyro(np.eye(3), 50.0), SPIN * 600.0
    for w in (1e-3, 0.02):
        base, motor, _ = torques(craft, 0.0, np.array([0.0, w, 0.0]), 1.0, 600.0)
        gyroscopic = base[1] / motor  # the base torque about t, by the motor's
        np.testing.assert_allclose(gyroscopic, -1.0 / w, rtol=1e-12)
        _, motor, _ = torques(craft, 0.0, np.array([w, 0.0, 0.0]), 1.0, 600.0)
        assert abs(motor) < 1e-12 * h


@pytest.mark.parametrize("wrong", ["spin", "gimbal"])
def test_the_sense_of_spin_and_gimbal_rate_matter(wrong):
    """Negative control: either of them the other way round turns the torque round, both together do not."""
    craft = craft_with_gyro(np.eye(3), 50.0)
    right, *_ = torques(craft, 0.0, np.zeros(3), 1.0, 600.0)
    turned, *_ = torques(
        craft, 0.0, np.zeros(3), 1.0 if wrong == "spin" else -1.0, -600.0 if wrong == "spin" else 600.0
    )
    both, *_ = torques(craft, 0.0, np.zeros(3), -1.0, -600.0)
    np.testing.assert_allclose(turned, -right, atol=1e-12)
    np.testing.assert_allclose(both, right, atol=1e-12)
    np.testing.assert_allclose(right, [0.0, SPIN * 600.0, 0.0], atol=1e-12)


def test_a_heavy_base_gets_the_torque_and_momentum_is_kept():
    """Whole system free: dH/dt of the base is minus h rate t, so base and gyro together keep their momentum."""
    craft = craft_with_gyro(np.eye(3), 1e6)
    run = ff.simulate(
        craft,
        ff.control.JointSpline.through(craft, [(0.0,), (57.29577951308232,)], durations=[2.0]),
        state=craft.in_motion(wheels={"wheel": 600.0}),
        duration=2.0,
        dt=0.005,
    )
    gained = 1e6 * run["base.rate"].values[-1]
    h = SPIN * 600.0
    # The spin turned by 1 rad about z: the base got h (x - x cos 1 - y sin 1). Its own rate, h / 1e6, changes that by
    # as much in relative terms.
    np.testing.assert_allclose(gained, h * np.array([1.0 - np.cos(1.0), -np.sin(1.0), 0.0]), atol=1e-4 * h)
    momentum = run["momentum.angular"].values
    assert np.max(np.abs(momentum - momentum[0])) < 1e-9 * h  # RK4 at 5 ms
