"""Impacts with exact answers."""

import dataclasses

import numpy as np
import pytest
from scipy.linalg import eigh

from freefloat.dynamics import INERTIAL, FrameRows, contact_impact, mass_matrix, normal, row_impact, row_jacobian
from freefloat.flex import beam
from freefloat.model import Spacecraft


@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_point_mass_hits_the_tip_of_a_free_rod(e):
    """Rod M = 3 kg, L = 2 m; m = 1 kg at 1 m/s. Momentum and the lever arm give everything in closed form."""
    rod = Spacecraft.from_base("rod", mass=3.0, inertia=(1e-3, 1.0, 1.0)).with_frame("tip", body="base", at=(1.0, 0, 0))
    ball = Spacecraft.from_base("ball", mass=1.0, inertia=(1e-3, 1e-3, 1e-3))
    flying = dataclasses.replace(ball.at_rest(), p_NB=np.array([1.0, 0, 0]), v=np.array([0, 1.0, 0, 0, 0, 0]))
    crafts, states = (ball, rod), (flying, rod.at_rest())
    rows = (FrameRows((0, "base"), (1, "tip"), normal((0, 1, 0))),)
    for found in (row_impact(crafts, states, rows, e), contact_impact(crafts, states, rows, e)):
        np.testing.assert_allclose(found.impulse, [3.0 / 7.0 * (1.0 + e)], rtol=1e-14)
        np.testing.assert_allclose(found.speeds[1][5], 3.0 / 7.0 * (1.0 + e), rtol=1e-14)
        np.testing.assert_allclose(found.speeds[1][1], 1.0 / 7.0 * (1.0 + e), rtol=1e-14)
        np.testing.assert_allclose(found.energy_lost, 3.0 / 14.0 * (1.0 - e**2), atol=1e-15)


def catch(modes):
    """A clamped beam of unit length, mass and stiffness at rest, and a unit mass that reaches its tip at unit speed."""
    held = Spacecraft.from_base("wall", mass=1.0, inertia=(1.0, 1.0, 1.0)).mount(
        beam(length=1.0, mass=1.0, bending_stiffness=1.0, modes={"y": modes}), name="beam"
    )
    ball = Spacecraft.from_base("ball", mass=1.0, inertia=(1.0, 1.0, 1.0))
    flying = dataclasses.replace(ball.at_rest(), p_NB=np.array([1.0, 0, 0]), v=np.array([0, 1.0, 0, 0, 0, 0]))
    rows = (FrameRows((0, "base"), (1, "beam.tip"), normal((0, 1, 0))),)
    return (ball, held), (flying, held.at_rest()), rows


@pytest.mark.parametrize("modes", [1, 2, 5])
def test_the_loss_of_a_catch_by_a_cantilever(modes):
    """Exactly 1 / (1 + 4 n) of the energy with n modes: each tip-normalised mode is a quarter of the beam's mass."""
    found = row_impact(*catch(modes), prescribed=((), ("base",)))
    np.testing.assert_allclose(found.energy_lost / 0.5, 1.0 / (1.0 + 4.0 * modes), rtol=1e-12)


@pytest.mark.parametrize(
    ("modes", "highest", "rtol"), [(1, 0.508773, 1e-6), (40, 0.517758, 1e-6), (60, 0.517759, 1e-6)]
)
def test_how_far_a_caught_mass_bends_the_cantilever(modes, highest, rtol):
    """First maximum of the tip after the catch, mass ratio 1: 0.517759 at t = 0.9211 with many modes."""
    crafts, states, rows = catch(modes)
    at = np.array(crafts[1].layout.indices(["beam.modes"]))
    J = np.asarray(row_jacobian(crafts, states, rows)[1])[0, at]
    body = crafts[1].body("beam")
    M = np.asarray(mass_matrix(crafts[1], states[1].q))[np.ix_(at, at)] + np.outer(J, J)  # the unit mass rides on it
    squared, shapes = eigh(np.asarray(body.stiffness), M)
    after = np.linalg.solve(M, J)  # the plastic catch: all momentum goes into the modes
    if modes == 1:
        found = row_impact(crafts, states, rows, prescribed=((), ("base",)))
        np.testing.assert_allclose(found.speeds[1][at], after, rtol=1e-12)
    t = np.linspace(0.85, 1.0, 15001)
    tip = (J @ shapes) * (shapes.T @ M @ after) / np.sqrt(squared) @ np.sin(np.outer(np.sqrt(squared), t))
    np.testing.assert_allclose(np.max(tip), highest, rtol=rtol)
    np.testing.assert_allclose(1.0 - after @ M @ after, 1.0 / (1.0 + 4.0 * modes), rtol=1e-10)  # the loss, of T = 1/2
    if modes > 1:  # the top is flat: 2e-4 beside it the tip is lower by 3e-8
        assert abs(t[np.argmax(tip)] - 0.9211) < 2e-4


def test_a_ball_on_a_wall_turns_back():
    """A wall is a frame of space: a free mass comes back at e times its speed, whatever it weighs."""
    ball = Spacecraft.from_base("ball", mass=3.0, inertia=(1.0, 1.0, 1.0))
    flying = dataclasses.replace(ball.at_rest(), v=np.array([0.3, 0.0, -2.0, 0.0, 0.0, 0.5]))
    found = contact_impact((ball,), (flying,), (FrameRows(INERTIAL, (0, "base"), normal((0, 0, 1))),), 0.9)
    np.testing.assert_allclose(found.speeds[0], [0.3, 0.0, 1.8, 0.0, 0.0, 0.5], atol=1e-15)
    np.testing.assert_allclose(found.impulse, [3.0 * 2.0 * 1.9])
