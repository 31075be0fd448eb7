"""A contact through a pure delay in one dimension: spec/001 4 E, cases 24. Exact values from the Lambert function.

Settings of the published table: d penetration in the simulation, y(t) = d(t - T) on the hardware, F = -k y where y > 0;
v0 = 0.05 m/s, d(0) = -v0 T, a straight line before; dt = 0.1 ms, v from the force at the middle of the step, d by the
trapezoid; e = |v| / v0 at the first step after contact with y <= 0 and v < 0. The controller acts every millisecond.
"""

import numpy as np
import pytest

from freefloat.hil import critical_delay, delay_margin, restitution
from freefloat.hil.delayed_contact import reduced_mass
from freefloat.hil.passivity import correct_wrench, observe_energy

MU = 780.55  # [kg]
V0 = 0.05  # [m/s]
DELAYS = (1e-3, 5e-3, 10e-3, 20e-3)  # [s]
# Simulated e without controller, and the worst with it, as published.
TABLE = {1e4: ((1.0056, 1.0285, 1.0578, 1.1188), 1.0004), 1e5: ((1.0179, 1.0929, 1.1938, 1.4199), 1.0032)}


class Controller:
    """The law in one dimension as it is written: alpha = min(-W / (Ts v^2), 0.5 mu / Ts)."""

    def __init__(self, period=1e-3):
        self.period, self.energy, self.push = period, 0.0, 0.0

    def renew(self, force, rate_hw, rate_sim):
        self.energy += force * (rate_hw - rate_sim) * self.period
        alpha = 0.0
        if self.energy < 0.0 and abs(rate_sim) > 1e-6:
            alpha = min(-self.energy / (self.period * rate_sim**2), 0.5 * MU / self.period)
        self.push = -alpha * rate_sim
        self.energy += alpha * rate_sim**2 * self.period


def fine_loop(k, delay, b=0.0, gated=True, controlled=False, dt=1e-4):
    """e of a contact stepped at 0.1 ms, the controller's push held for a millisecond."""
    lag, every = round(delay / dt), round(1e-3 / dt)
    d, v = [-V0 * (delay + (lag - n) * dt) for n in range(lag + 1)], [V0] * (lag + 1)
    pc, touched = Controller(), False

    def force(y, rate):
        pushes = k * y + b * rate
        return -pushes if pushes > 0.0 and (y > 0.0 or (b and not gated)) else 0.0

    for n in range(200_000):
        y, rate = d[-1 - lag], v[-1 - lag]
        touched = touched or y > 0.0
        if touched and y <= 0.0 and v[-1] < 0.0:
            return -v[-1] / V0
        if controlled and n % every == 0:
            pc.renew(force(y, rate), rate, v[-1])
        after = v[-1] + dt * (force(y + 0.5 * dt * rate, rate) + pc.push) / MU
        d.append(d[-1] + 0.5 * dt * (v[-1] + after))
        v.append(after)
    raise AssertionError("the contact never ended")


def coarse_loop(k, delay, held=False, period=1e-3):
    """The whole loop at 1 ms: v first, then d with the new v; `held`: d as under a force that is held."""
    lag = round(delay / period)
    d, v = [-V0 * (delay + (lag - n) * period) for n in range(lag + 1)], [V0] * (lag + 1)
    pc, touched = Controller(period), False
    for _ in range(20_000):
        y, rate = d[-1 - lag], v[-1 - lag]
        touched = touched or y > 0.0
        if touched and y <= 0.0 and v[-1] < 0.0:
            return -v[-1] / V0
        force = -k * y if y > 0.0 else 0.0
        pc.renew(force, rate, v[-1])
        after = v[-1] + period * (force + pc.push) / MU
        d.append(d[-1] + period * (0.5 * (v[-1] + after) if held else after))
        v.append(after)
    raise AssertionError("the contact never ended")


@pytest.mark.parametrize("k", TABLE)
def test_restitution_is_the_exact_one_and_the_published_one(k) -> None:
    exact = [restitution(MU, k, delay) for delay in DELAYS]
    simulated = [fine_loop(k, delay) for delay in DELAYS]
    np.testing.assert_allclose(simulated, TABLE[k][0], rtol=0.0, atol=6e-5)  # as many digits as are published
    np.testing.assert_allclose(simulated, exact, rtol=0.0, atol=1e-3)  # sampling of where contact begins and ends


def test_exact_values_of_case_24() -> None:
    exact = [restitution(MU, 1e5, delay) for delay in DELAYS]
    np.testing.assert_allclose(exact, (1.0179, 1.0929, 1.1938, 1.4198), rtol=0.0, atol=6e-5)
    assert restitution(MU, 1e5, 0.0) == 1.0
    small = 1e-6  # [s]; e tends to exp(pi w T / 2)
    assert abs(restitution(MU, 1e5, small) - np.exp(0.5 * np.pi * np.sqrt(1e5 / MU) * small)) < 1e-9
    assert abs(reduced_mass(867.0, 7827.867) - MU) < 0.01


@pytest.mark.parametrize("k", TABLE)
def test_with_the_controller_the_worst_is_the_published_one(k) -> None:
    found = [fine_loop(k, delay, controlled=True) for delay in DELAYS]
    assert abs(max(found) - TABLE[k][1]) < 1e-4
    assert np.argmax(found) == 3  # at 20 ms


def test_with_the_controller_nothing_comes_back_faster_than_1_02_times() -> None:
    for k in (1e4, 1e5, 1e6):
        for delay in DELAYS:
            assert fine_loop(k, delay, controlled=True) <= 1.02
            assert coarse_loop(k, delay) <= 1.02


def test_damping_of_the_contact_itself() -> None:
    found = [fine_loop(1e5, delay, b=1e5 * delay) for delay in (5e-3, 10e-3)]
    np.testing.assert_allclose(found, (1.0017, 1.0072), rtol=0.0, atol=6e-5)
    before_touch = [fine_loop(1e5, delay, b=1e5 * delay, gated=False) for delay in (5e-3, 10e-3)]
    np.testing.assert_allclose(before_touch, (1.0001, 1.0008), rtol=0.0, atol=6e-5)


def test_the_whole_loop_at_a_millisecond() -> None:
    worst = [max(coarse_loop(k, delay) for delay in DELAYS) for k in (1e4, 1e5)]
    np.testing.assert_allclose(worst, (1.0004, 1.0031), rtol=0.0, atol=1e-4)
    held = [max(coarse_loop(k, delay, held=True) for delay in DELAYS) for k in (1e4, 1e5)]
    np.testing.assert_allclose(held, (1.0033, 1.0123), rtol=0.0, atol=1e-4)
    # A force that is held is half a step late, which the observer does not see: with stiff contact the bound is lost.
    assert max(coarse_loop(1e6, delay, held=True) for delay in DELAYS) > 1.02


def test_critical_delay_of_a_contact_that_pulls_and_pushes() -> None:
    found = [1e3 * critical_delay(MU, 1e5, b) for b in (500.0, 1000.0, 2000.0)]
    np.testing.assert_allclose(found, (4.9947, 9.9573, 19.6602), rtol=0.0, atol=6e-5)
    assert critical_delay(MU, 1e5, 0.0) == 0.0
    assert abs(critical_delay(MU, 1e5, 1.0) - 1e-5) < 1e-9  # b / k


@pytest.mark.parametrize("share", [0.95, 1.05])
def test_below_the_critical_delay_it_decays_and_above_it_grows(share) -> None:
    k, b, dt = 1e5, 1000.0, 1e-5
    delay = share * critical_delay(MU, k, b)
    lag = round(delay / dt)
    d, v = np.zeros(60_000 + lag + 1), np.zeros(60_000 + lag + 1)
    d[: lag + 1], v[lag] = 1e-3, 0.0
    for n in range(lag, len(d) - 1):
        v[n + 1] = v[n] - dt * (k * d[n - lag] + b * v[n - lag]) / MU
        d[n + 1] = d[n] + 0.5 * dt * (v[n] + v[n + 1])
    early, late = np.max(np.abs(d[lag + 10_000 : lag + 30_000])), np.max(np.abs(d[-20_000:]))
    assert bool(late < early) is (share < 1.0)


def test_six_dimensions_are_one_where_only_one_moves(rng) -> None:
    # Lam = mu: the same wrench and the same energy from both laws, to rounding.
    for _ in range(8):
        energy, force, rate_hw, rate_sim = rng.normal(size=4) * (1.0, 100.0, 0.05, 0.05)
        along = np.array([1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
        mobility = np.diag([1.0 / MU, 1.0 / MU, 1.0 / MU, 1e-3, 1e-3, 1e-3])
        pc = Controller()
        pc.energy = energy
        pc.renew(force, rate_hw, rate_sim)
        seen = observe_energy(np.asarray(energy), force * along, rate_hw * along, rate_sim * along, 1e-3)
        made = correct_wrench(seen, force * along, rate_sim * along, mobility, 1e-3, 0.5)
        np.testing.assert_allclose(np.asarray(made.wrench), (force + pc.push) * along, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(float(made.energy), pc.energy, rtol=1e-12, atol=1e-12)


def test_a_margin_says_what_is_to_be_expected() -> None:
    margin = delay_margin(MU, 1e5, 1000.0, 4e-3)
    assert abs(margin.margin - (critical_delay(MU, 1e5, 1000.0) - 4e-3)) < 1e-15
    assert "9.957 ms" in str(margin)
    with pytest.raises(ValueError, match="stiffness of a contact must be positive"):
        restitution(MU, 0.0, 1e-3)
