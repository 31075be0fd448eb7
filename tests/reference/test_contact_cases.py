"""Compliant contact against closed forms: restitution, friction on an incline, a ball that slides and then rolls."""

import numpy as np
import pytest

from support import touching
from support.touching import BALLS, BODY, MASS, RADIUS, G

RATIO, E, SPEED = 0.2, 0.7, 0.5


@pytest.fixture(scope="module")
def bounces():
    return touching.bounce(ratio=RATIO, restitution=E, speed=SPEED)


def closed_form(name):
    """Speed after over speed before.

    sticky: half a damped period, exp(-zeta pi / sqrt(1 - zeta^2)). loose: until the force is zero, at the phase
    2 acos(zeta). hertz: x - ln(1 + x) = -e x - ln(1 - e x) with x = d v, from which its damping was found.
    """
    root = np.sqrt(1.0 - RATIO**2)
    return {
        "sticky": np.exp(-RATIO * np.pi / root),
        "loose": np.exp(-2.0 * RATIO * np.arccos(RATIO) / root),
        "hertz": E,
    }[name]


@pytest.mark.parametrize("name", BALLS.names)
def test_restitution(bounces, name):
    after = bounces[f"{name}.base.velocity"].values[-1, 2] / SPEED
    assert after == pytest.approx(closed_form(name), abs=1e-8)  # 1e-6 is asked for; steps err by 1e-10


@pytest.mark.parametrize("name", BALLS.names)
def test_deepest_point(bounces, name):
    """Of the damped oscillator v / w exp(-zeta phi / root), phi = acos(zeta); of Hunt-Crossley from its energy."""
    deepest = -np.min(bounces[f"contact.{name}.gap"].values)
    if name == "hertz":
        law = touching.HuntCrossley.from_restitution(1e6, E, SPEED)
        x = law.damping * SPEED
        work = MASS * (x - np.log1p(x)) / law.damping**2  # integral of k depth^(3/2) up to the deepest point
        expected = (2.5 * work / 1e6) ** 0.4
    else:
        w = np.sqrt(1e5 / MASS)
        expected = SPEED / w * np.exp(-RATIO * np.arccos(RATIO) / np.sqrt(1.0 - RATIO**2))
    # Records are 1 ms apart: the deepest one is off by up to (w dt / 2)^2 / 2.
    assert 0.0 <= 1.0 - deepest / expected < 0.5 * (0.5 * 1e-3 * np.sqrt(1e5 / MASS)) ** 2


def test_energy_lost_is_what_was_booked(bounces):
    before = 3.0 * 0.5 * MASS * SPEED**2
    after = bounces["world.energy.kinetic"].values[-1]
    assert bounces["interactions.dissipated"].values[-1] == pytest.approx(before - after, abs=1e-8)
    assert bounces["interactions.stored"].values[-1] == 0.0
    assert bounces.audit.holds


@pytest.mark.slow
def test_steps_of_any_length_give_the_same(bounces):
    """Pieces of steps follow the error, not the step; a step as long as the whole contact does as well."""
    coarse = touching.bounce(ratio=RATIO, restitution=E, speed=SPEED, dt=0.02)
    for name in BALLS.names:
        ours, its = (run[f"{name}.base.velocity"].values[-1, 2] for run in (coarse, bounces))
        assert ours == pytest.approx(its, abs=1e-9)


# ---- friction: the incline takes long, because a block touches at eight corners


@pytest.fixture(scope="module")
def incline():
    """By the share of the angle of slip, atan(mu)."""
    angle = np.arctan(0.4)
    return {share: touching.slide(share * angle) for share in (0.99, 1.01, 1.5)}


@pytest.mark.slow
def test_a_block_holds_below_the_angle_of_slip(incline):
    """It gives way while its bristles bend; then it stands still, and stays."""
    run = incline[0.99]
    t, x = run["time"].values, run["base.position"].values[:, 0]
    assert np.linalg.norm(run["base.velocity"].values[-1]) < 1e-9
    assert x[-1] == pytest.approx(x[t > 0.3][0], abs=1e-10)
    assert run["contact.contact.slipping"].values[-1] == 0.0


@pytest.mark.slow
@pytest.mark.parametrize("share", [1.01, 1.5])
def test_a_block_slides_above_it(incline, share):
    """x = x1 + v1 t + g (sin - mu cos) t^2 / 2, counted from when its bristles have bent; and its heat is mu N x."""
    run, angle = incline[share], share * np.arctan(0.4)
    first = int(np.searchsorted(run["time"].values, 0.1))
    t = run["time"].values[first:] - run["time"].values[first]
    x, heat = (run[name].values[first:] for name in ("base.position", "interactions.dissipated"))
    speed, a = run["base.velocity"].values[first, 0], G * (np.sin(angle) - 0.4 * np.cos(angle))
    np.testing.assert_allclose(x[:, 0] - x[0, 0], speed * t + 0.5 * a * t**2, atol=1e-9)
    assert np.all(run["contact.contact.slipping"].values[first:] == 4.0)
    np.testing.assert_allclose(heat - heat[0], 0.4 * MASS * G * np.cos(angle) * (x[:, 0] - x[0, 0]), atol=1e-8)


def rolling(stiffness, dt=1e-3):
    """A ball set down with a speed of 1 m/s that does not turn."""
    depth = (MASS * G / stiffness) ** (2.0 / 3.0)
    start = touching.at(BODY, (0.0, 0.0, RADIUS - depth), (1.0, 0.0, 0.0))
    return depth, touching.rub(np.zeros(3), start, G, stiffness=stiffness, duration=0.15, dt=dt)


@pytest.fixture(scope="module")
def rolls():
    return [rolling(k) for k in (1e8, 1e10)]


def test_a_ball_slides_until_it_rolls_with_five_sevenths_of_its_speed(rolls):
    """Slip ends at 2 v / (7 mu g). Friction's lever is the radius less half the depth: the error follows that."""
    until = 2.0 / (7.0 * 0.3 * G)  # [s]
    errors = []
    for depth, run in rolls:
        t, slips = run["time"].values, run["contact.contact.slipping"].values
        assert t[slips > 0.0][-1] <= until <= t[slips > 0.0][-1] + 2e-3
        speed = np.linalg.norm(run["base.velocity"].values[-1])
        errors.append(abs(speed - 5.0 / 7.0))
        assert errors[-1] < depth / RADIUS
        lost = run["interactions.dissipated"].values[-1]
        assert lost == pytest.approx(MASS / 7.0, rel=2.0 * depth / RADIUS + 1e-5)  # 2/7 of the energy
    assert errors[1] < 1e-5
