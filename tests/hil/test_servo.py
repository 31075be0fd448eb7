"""From commands to references: exact responses of averaging, delay and lag."""

import numpy as np
import pytest

from freefloat.hil.cell import ServoSettings
from freefloat.hil.cell.servo import RobotServo
from freefloat.values import ModelError

CYCLE, SUBSTEPS = 4e-3, 8  # [s]


def response(settings, angle, rate, cycles):
    """References at all substeps for a command known at all times: times [s] and angles."""
    servo = RobotServo(settings, CYCLE, SUBSTEPS)
    servo.start(np.array([angle(0.0)]))
    rows = [servo.references(np.array([angle(t)]), np.array([rate(t)])) for t in CYCLE * np.arange(1, cycles + 1)]
    times = CYCLE / SUBSTEPS * np.arange(1, SUBSTEPS * cycles + 1)
    return times, *(np.concatenate([one[k][1:, 0] for one in rows]) for k in range(3))


@pytest.mark.parametrize("delay", [0.0, 8e-3, 10e-3, 10.7e-3])
def test_without_lag_a_smooth_command_arrives_a_delay_later(delay):
    def angle(t):
        return np.sin(5.0 * max(t, 0.0)) ** 4

    def rate(t):
        return 20.0 * np.sin(5.0 * max(t, 0.0)) ** 3 * np.cos(5.0 * max(t, 0.0))

    times, q, v, _ = response(ServoSettings(delay=delay), angle, rate, 300)
    # Cubic between commands: the fourth derivative, 25000 at most, times cycle^4 / 384, and of the rate sqrt(3)/216.
    np.testing.assert_allclose(q, [angle(t - delay) for t in times], rtol=0, atol=25000 * CYCLE**4 / 384)
    np.testing.assert_allclose(v, [rate(t - delay) for t in times], rtol=0, atol=25000 * CYCLE**3 * 3**0.5 / 216)


def test_averaging_delays_a_ramp_by_half_its_length():
    _, q, v, _ = response(ServoSettings(averaging=5), lambda t: t, lambda t: 1.0, 50)
    assert q[-1] == pytest.approx(50 * CYCLE - 2 * CYCLE, abs=1e-12)
    assert v[-1] == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("lag", ["first", "second"])
def test_the_step_response_is_that_of_the_lag(lag):
    """The command jumps within one cycle, as a cubic; from then on the lag alone is seen."""
    settings = ServoSettings(lag=lag, bandwidth=2.5)
    times, q, v, a = response(settings, lambda t: float(t > 0.0), lambda t: 0.0, 200)
    w, d, t = 2 * np.pi * 2.5, 0.7, times - CYCLE / 2  # the cubic jump acts in its middle
    damped = w * np.sqrt(1 - d**2)
    second = 1 - np.exp(-d * w * t) * (np.cos(damped * t) + d * w / damped * np.sin(damped * t))
    exact = 1 - np.exp(-w * t) if lag == "first" else second
    later = times > 2 * CYCLE
    np.testing.assert_allclose(q[later], exact[later], atol=2e-4)
    # Rates and accelerations are derivatives of what is told: central differences are off by h^2/6 of the third one.
    off = 2.0 * (CYCLE / SUBSTEPS) ** 2 / 6.0
    np.testing.assert_allclose(np.gradient(q, times)[20:-1], v[20:-1], rtol=0, atol=off * w**3)
    np.testing.assert_allclose(np.gradient(v, times)[20:-1], a[20:-1], rtol=0, atol=off * w**4)


@pytest.mark.parametrize(("lag", "share", "late_deg"), [("first", 2**-0.5, 45.0), ("second", 1 / 1.4, 90.0)])
def test_frequency_response_at_the_bandwidth(lag, share, late_deg):
    f = 2.5  # [Hz]
    w = 2 * np.pi * f
    settings = ServoSettings(lag=lag, bandwidth=f)
    times, q, _, _ = response(settings, lambda t: np.sin(w * t), lambda t: w * np.cos(w * t), 1000)
    late = times > 2.0
    basis = np.column_stack([np.sin(w * times[late]), np.cos(w * times[late])])
    (a, b), *_ = np.linalg.lstsq(basis, q[late], rcond=None)
    assert np.hypot(a, b) == pytest.approx(share, rel=1e-4)
    assert -np.rad2deg(np.arctan2(b, a)) == pytest.approx(late_deg, abs=0.01)


def test_impossible_servos():
    with pytest.raises(ModelError, match=r"There is no lag 'third'\. Choose one of: none, first, second"):
        ServoSettings(lag="third")
    with pytest.raises(ModelError, match=r"ServoSettings\.bandwidth must be positive"):
        ServoSettings(bandwidth=0.0)
    with pytest.raises(ModelError, match=r"ServoSettings\.delay must be at least 0"):
        ServoSettings(delay=-1e-3)
    with pytest.raises(ModelError, match=r"ServoSettings\.averaging must be a whole number, at least 1, got 2\.5"):
        ServoSettings(averaging=2.5)
