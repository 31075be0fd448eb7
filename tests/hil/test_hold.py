"""The compliance of a gripper: nothing of a common motion is felt, and all power is stored or lost."""

import numpy as np
import pytest

from freefloat.hil.cell import Gripper
from freefloat.hil.cell.gripper import HeldFrame, Hold
from freefloat.hil.cell.rotations import matrix_of, quaternion_exp, rotation_log

GRIPPER = Gripper(stiffness=2e3, damping=30.0, turn_stiffness=40.0, turn_damping=0.7)


def frame(rng, near=None, off=0.01):
    """Somewhere, moving somehow; or near another one, by some `off` [m, rad]."""
    if near is None:
        near, off = HeldFrame(np.zeros(3), np.eye(3), np.zeros(3), np.zeros(3)), 1.0
    p, R = near.p + off * rng.normal(size=3), near.R @ matrix_of(quaternion_exp(off * rng.normal(size=3)))
    return HeldFrame(p, R, rng.normal(size=3), rng.normal(size=3))


def later(one, h):
    """After a short time, at a steady motion."""
    return HeldFrame(
        one.p + h * one.velocity, matrix_of(quaternion_exp(h * one.omega)) @ one.R, one.velocity, one.omega
    )


def test_what_moves_together_feels_nothing(rng):
    ring = frame(rng)
    p_RH, R_RH = 0.1 * rng.normal(size=3), matrix_of(quaternion_exp(rng.normal(size=3)))
    hold = Hold(GRIPPER, ring.at(p_RH, R_RH), ring)
    elsewhere = frame(rng)
    np.testing.assert_allclose(hold.wrench(elsewhere.at(p_RH, R_RH), elsewhere), 0.0, atol=1e-10)


def test_its_power_is_stored_or_lost(rng):
    """P of both bodies = -dU/dt - dampers, with U = k x^2 / 2 + kappa a^2 / 2, by central differences."""
    ring = frame(rng)
    hand = frame(rng, near=ring, off=0.05)
    hold, h = Hold(GRIPPER, hand, ring), 1e-6
    ring, hand = frame(rng, near=ring, off=0.03), frame(rng, near=hand, off=0.03)
    wrench = hold.wrench(hand, ring)
    drift = hand.velocity - ring.velocity - np.cross(ring.omega, hand.p - ring.p)
    power = wrench[:3] @ drift + wrench[3:] @ (hand.omega - ring.omega)
    stored = (energy(hold, later(hand, h), later(ring, h)) - energy(hold, later(hand, -h), later(ring, -h))) / (2 * h)
    turning = hand.omega - ring.omega
    lost = GRIPPER.damping * drift @ drift + GRIPPER.turn_damping * turning @ turning
    assert power == pytest.approx(-stored - lost, rel=1e-6)


def energy(hold, hand, ring):
    rest = ring.at(hold._p, hold._R)
    apart, turn = hand.p - rest.p, rotation_log(rest.R.T @ hand.R)
    return 0.5 * GRIPPER.stiffness * apart @ apart + 0.5 * GRIPPER.turn_stiffness * turn @ turn


def test_the_envelope_counts_distance_and_angle(rng):
    ring = frame(rng)
    gripper = Gripper(envelope=(0.02, 0.1))
    for way, angle, reached in ((0.019, 0.0, True), (0.021, 0.0, False), (0.0, 0.099, True), (0.0, 0.101, False)):
        hand = ring.at(np.array([0.0, way, 0.0]), matrix_of(quaternion_exp(np.array([0.0, 0.0, angle]))))
        assert gripper.reaches(hand, ring) is reached
