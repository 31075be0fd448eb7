"""The capture of ETS-VII by a second code that shares nothing with freefloat (tests/plain_ets7.py).

The printed numbers leave room for interpretation, so they cannot say whether the code does what it says. This can.
"""

import jax.numpy as jnp
import numpy as np
import pytest

import plain_ets7
from freefloat.dynamics import free_floating, generalized_jacobian
from freefloat.library import ets7
from freefloat.scenarios.ets7.capture import Ets7Capture, outcome


@pytest.mark.parametrize("seed", range(3))
def test_inertia_coupling_and_generalised_jacobian(seed: int) -> None:
    q = np.random.default_rng(seed).uniform(-2.0, 2.0, 6)
    plain, ours = plain_ets7.arm(q), free_floating(ets7(), jnp.asarray(q))
    np.testing.assert_allclose(ours.angular_inertia, plain.inertia, rtol=1e-12, atol=1e-9)
    np.testing.assert_allclose(ours.angular_coupling, plain.coupling, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(generalized_jacobian(ets7(), jnp.asarray(q), "hand"), plain.generalized, atol=1e-12)


def test_centre_of_mass_and_locked_inertia_as_printed() -> None:
    np.testing.assert_allclose(plain_ets7.arm(np.zeros(6)).com, (-0.022556, -0.009262, 0.101898), atol=5e-7)
    whole = free_floating(ets7(), jnp.asarray(np.deg2rad([0.0, 0.0, 10.0, -32.8, 0.0, 0.0]))).angular_inertia
    printed = [[6725.81, 38.37, 179.98], [38.37, 4101.86, 14.07], [179.98, 14.07, 7142.20]]  # [kg m2]
    np.testing.assert_allclose(whole, printed, atol=5e-3)  # half of the last digit


@pytest.mark.parametrize(("variant", "duration"), [("case-1", 30.0), ("case-2", 100.0)])
def test_capture(variant: str, duration: float) -> None:
    scenario = Ets7Capture.variants()[variant]
    ours = outcome(scenario.simulate())
    switched, captured, attitude = plain_ets7.Capture(case=scenario.case).run(duration)
    # One step of 0.05 s; the integrators differ in third order, and wheels that have an inertia of their own in 1e-4.
    assert ours.switched == pytest.approx(switched, abs=0.051)
    assert ours.captured == pytest.approx(captured, abs=0.051)
    assert ours.attitude == pytest.approx(attitude, rel=2e-3)


def test_without_a_limit_of_the_hand_case_1_switches_early() -> None:
    # The law as printed limits closing in only. It switches at 8.4 s, where 9.8 s is printed.
    switched, captured, attitude = plain_ets7.Capture(case=1, hand_speed=np.inf).run(30.0)
    assert (switched, captured) == pytest.approx((8.4, 21.0), abs=0.051)
    assert attitude == pytest.approx(0.2245, abs=5e-4)


def test_without_limits_of_joints_and_hand_case_2_captures_late() -> None:
    _, captured, attitude = plain_ets7.Capture(case=2, joint_rate=np.inf, hand_speed=np.inf).run(100.0)
    assert captured == pytest.approx(86.35, abs=0.051)
    assert attitude == pytest.approx(1.343, abs=2e-3)
