"""Case 9 of the validation cases: gravity-gradient libration, exact.

Small pitch: w = n sqrt(3 (Ix - Iz) / Iy). At 20 deg the period of the pendulum in twice the angle is longer by
2 K(sin 20 deg) / pi. Thin rod: pitch sqrt(3) n, roll 2 n. Roll and yaw couple in a quartic (DeBra and Delp, 1961).
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.special import ellipk

from freefloat.dynamics import composite_inertia
from freefloat.effects import CircularOrbit, GravityGradient, co_rotating_state
from freefloat.library import ets7
from freefloat.model import Spacecraft, World
from freefloat.sim import begin, derivative, simulate
from freefloat.sim.system.system import assemble, tick_of
from freefloat.spatial.rotations import quaternion_exp, quaternion_multiply

ORBIT = CircularOrbit(altitude=550e3)
INERTIA = (7000.0, 7500.0, 2000.0)  # [kg m2]


def _satellite(inertia) -> Spacecraft:
    return Spacecraft.from_base("satellite", mass=1000.0, inertia=inertia)


def _period(amplitude_deg: float) -> float:
    """Twice the time between two passages of the orbital frame's attitude, by linear interpolation."""
    craft = _satellite(INERTIA)
    state = co_rotating_state(craft, ORBIT, np.zeros(0))
    tilt = quaternion_exp(jnp.array([0.0, np.deg2rad(amplitude_deg), 0.0]))
    turned = type(state)(
        state.p_NB, np.asarray(quaternion_multiply(jnp.asarray(state.quat_NB), tilt)), state.q, state.v
    )
    gradient = GravityGradient(orbit=ORBIT)
    run = simulate(craft, gradient, state=turned, duration=8600.0, dt=2.0, record_dt=2.0)
    pitch, t = run["orbit.roll_pitch_yaw"].values[:, 1], run["time"].values
    k = np.flatnonzero(pitch[:-1] * pitch[1:] < 0.0)
    crossings = t[k] - pitch[k] * (t[k + 1] - t[k]) / (pitch[k + 1] - pitch[k])
    return float(2.0 * (crossings[2] - crossings[0]) / 2.0)


@pytest.mark.parametrize(("amplitude_deg", "expected"), [(0.01, 4058.0807), (20.0, 4185.2631)])
def test_pitch_libration_period(amplitude_deg: float, expected: float) -> None:
    # Linear interpolation of a sine over 2 s misses a crossing by less than 1e-6 s; the printed digits end at 1e-4.
    assert _period(amplitude_deg) == pytest.approx(expected, abs=2e-3)


def test_printed_periods_are_the_formula() -> None:
    n, (Ix, Iy, Iz) = float(ORBIT.rate), INERTIA
    small = 2 * np.pi / (n * np.sqrt(3 * (Ix - Iz) / Iy))
    assert small == pytest.approx(4058.0807, abs=1e-4)
    assert small * 2 * ellipk(np.sin(np.deg2rad(20.0)) ** 2) / np.pi == pytest.approx(4185.2631, abs=1e-4)


@pytest.mark.parametrize(("transverse", "expected"), [(3.660, 3.75259), (3.378, 3.75265)])  # [kg m2], [deg]
def test_drift_of_ets7_with_an_inertia_that_is_possible_and_one_that_is_not(transverse: float, expected: float) -> None:
    # Both as printed. The second is link 2 with an Ixx that violates the triangle inequality, which the library
    # corrects. Arm locked, the spacecraft is one body, link 2 parallel to the base.
    whole = np.array(composite_inertia(ets7(), np.deg2rad([0.0, 0.0, 10.0, -32.8, 0.0, 0.0])).about_com())
    whole[0, 0] += transverse - 3.660
    craft = _satellite(whole)
    gradient = GravityGradient(orbit=ORBIT)
    run = simulate(
        craft, gradient, state=co_rotating_state(craft, ORBIT, np.zeros(0)), duration=900.0, dt=2.0, record_dt=2.0
    )
    pitch = np.rad2deg(run["orbit.roll_pitch_yaw"].values[-1, 1])
    assert pitch == pytest.approx(expected, abs=5e-6)  # half of the last digit


def _linear_rates(inertia) -> np.ndarray:
    """Eigenvalues, in units of n, of small rotations about the orbital frame, from our own derivative."""
    craft, n = _satellite(inertia), float(ORBIT.rate)
    gradient = GravityGradient(orbit=ORBIT)
    start = co_rotating_state(craft, ORBIT, np.zeros(0))
    system, loop = begin(assemble(World.of(craft), (gradient,), 1.0), (start,))
    rest = np.array([0.0, -n, 0.0])

    def rate(x):
        """theta: rotation from the orbital frame at t = 0, w: body rate; both relative to the frame that turns."""
        theta, w = x[:3], x[3:]
        quat = quaternion_multiply(jnp.asarray(start.quat_NB), quaternion_exp(theta))
        v = jnp.asarray(start.v).at[3:6].set(rest + w)
        plants = loop.plants.with_states([type(start)(start.p_NB, quat, start.q, v)])
        tick, now = tick_of(system, loop), jnp.zeros(())
        (change,) = derivative(system, plants, loop, {}, tick, now, now).crafts
        # To first order: theta' = (rest + w) - exp(-theta) rest, seen in axes that turn with the orbit.
        return jnp.concatenate([w - jnp.cross(rest, theta), change.state.v[3:6]])

    A = np.asarray(jax.jacfwd(rate)(jnp.zeros(6)))
    return np.linalg.eigvals(A) / n


def _quartic(inertia) -> np.ndarray:
    """Roll and yaw: s^4 + (1 + 3 k1 + k1 k3) s^2 + 4 k1 k3 = 0, k1 = (Iy - Iz)/Ix, k3 = (Iy - Ix)/Iz."""
    Ix, Iy, Iz = inertia
    k1, k3 = (Iy - Iz) / Ix, (Iy - Ix) / Iz
    squares = np.roots([1.0, 1.0 + 3.0 * k1 + k1 * k3, 4.0 * k1 * k3])
    return np.concatenate([np.sqrt(squares.astype(complex)), -np.sqrt(squares.astype(complex))])


# One point in each region of the DeBra-Delp chart: Lagrange, DeBra-Delp, and unstable in roll-yaw.
@pytest.mark.parametrize(
    "inertia", [(7000.0, 7500.0, 2000.0), (9.0, 5.5, 5.0), (5.0, 5.5, 9.0), (2000.0, 7500.0, 7000.0)]
)
def test_roll_yaw_quartic(inertia) -> None:
    Ix, Iy, Iz = inertia
    pitch = np.sqrt(complex(-3.0 * (Ix - Iz) / Iy))
    expected = np.concatenate([_quartic(inertia), [pitch, -pitch]])
    found = _linear_rates(inertia)
    # Paired by nearness, because the order of conjugate eigenvalues is rounding's; double roots lose half the digits.
    for value in expected:
        assert np.min(np.abs(found - value)) < 1e-6
    for value in found:
        assert np.min(np.abs(expected - value)) < 1e-6


def test_thin_rod_swings_with_the_classical_rates() -> None:
    rates = np.abs(_linear_rates((1000.0, 1000.0, 1e-3)).imag)
    assert np.min(np.abs(rates - np.sqrt(3.0))) < 1e-5  # pitch; the rod is 1e-6 thick
    assert np.min(np.abs(rates - 2.0)) < 1e-5  # roll
