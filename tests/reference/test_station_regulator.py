"""LQR of the 132-state station against the reference numbers of its specification (sections 5 to 7)."""

import numpy as np
import pytest
from scipy import linalg

from freefloat.control.lqr import (
    DesignError,
    SecondOrderModel,
    StateSpace,
    controllability,
    design_lqr,
    lyapunov_cost,
    mean_period,
    overshoot,
    settling_time,
    simulate_linear,
    spillover,
)
from support.station_matrices import ATTITUDE, INPUTS, RELATIVE, Station

FIVE = np.deg2rad(5.0)
TIPS = {"bus left": 3, "bus right": 3, "arm 1": 1, "arm 2": 1, "array 1": 21, "array 2": 21}


def model_of(station: Station) -> SecondOrderModel:
    return SecondOrderModel(station.M, station.K, station.Bf, station.G, station.C, station.coordinates, INPUTS)


@pytest.fixture(scope="module")
def station() -> Station:
    return Station()


@pytest.fixture(scope="module")
def model(station):
    return model_of(station)


@pytest.fixture(scope="module")
def regulator(station, model):
    return design_lqr(model, *station.weights())


@pytest.fixture(scope="module")
def bent_start(station) -> np.ndarray:
    p = station.bent(**{name.replace(" ", "_"): 0.01 for name in TIPS})
    p[:3] = FIVE
    return np.concatenate([p, np.zeros(66)])


# ---- the Riccati equation


@pytest.mark.parametrize("method", ["schur", "doubling"])
def test_riccati_of_132_states_holds_to_1e_12(station, model, method):
    found = design_lqr(model, *station.weights(), method=method)
    assert found.residual <= 1e-12
    eigenvalues = np.linalg.eigvalsh(found.P)
    assert eigenvalues[[0, -1]] == pytest.approx([4.5e4, 1.3e14], rel=1e-2)
    # both ways reach the same gain
    assert found.entry("pitch torque", "pitch") == pytest.approx(3127.083, abs=1e-3)


@pytest.mark.slow
def test_riccati_of_428_states_holds_to_1e_12_and_agrees_with_doubling():
    fine = Station(bus=8, arm=4, array=4)
    by_schur, by_doubling = (design_lqr(model_of(fine), *fine.weights(), method=m) for m in ("schur", "doubling"))
    assert max(by_schur.residual, by_doubling.residual) <= 1e-12
    scale = np.max(np.abs(by_schur.gain), axis=1, keepdims=True)
    assert np.max(np.abs(by_schur.gain - by_doubling.gain) / scale) < 1e-6
    assert by_schur.entry("pitch torque", "pitch rate") == pytest.approx(242562.6, rel=1e-5)


def test_plain_scipy_without_scaling_is_wrong_without_a_word(station, model):
    """The negative control that the guards exist for."""
    plain, (Q, R) = model.state_space, station.weights()
    try:
        P = linalg.solve_continuous_are(plain.A, plain.B, Q, R, balanced=False)
    except np.linalg.LinAlgError:
        return
    assert np.max(np.linalg.eigvals(plain.A - plain.B @ np.linalg.solve(R, plain.B.T @ P)).real) > 0.0


def test_the_station_as_plain_a_and_b_gives_the_same_gain_or_none(station, model, regulator):
    """Without modal scaling the equation is worse by orders, but what passes the guards is right."""
    whole = model.state_space
    try:
        found = design_lqr(StateSpace(whole.A, whole.B, None, None, whole.states, whole.inputs), *station.weights())
    except DesignError as refusal:
        assert "condition" in str(refusal)  # noqa: PT017
        return
    assert found.residual > regulator.residual
    scale = np.max(np.abs(regulator.gain), axis=1, keepdims=True)
    assert np.max(np.abs(found.gain - regulator.gain) / scale) < 1e-5


def test_units_of_the_station_do_not_matter(station, regulator, rng):
    """Every coordinate in units of its own, up to a million times larger or smaller: the same gain in those units."""
    units = 10.0 ** rng.uniform(-6, 6, size=66)
    M, K, G = (units[:, None] * matrix * units for matrix in (station.M, station.K, station.G))
    other = SecondOrderModel(M, K, units[:, None] * station.Bf, G, None, station.coordinates, INPUTS)
    both = np.tile(units, 2)
    Q, R = station.weights()
    found = design_lqr(other, both[:, None] * Q * both, R)
    scale = np.max(np.abs(regulator.gain), axis=1, keepdims=True)
    assert np.max(np.abs(found.gain / both - regulator.gain) / scale) < 1e-6


def test_the_station_that_tides_make_unstable_is_stabilised():
    tidal = Station(tides=True)
    found = design_lqr(model_of(tidal), *tidal.weights())
    assert found.residual <= 1e-12
    assert np.max(found.poles.real) < -3e-3


def test_damping_of_the_station_before_and_after_by_name(model, regulator):
    changes = spillover(model, regulator).changes
    assert not any(change.unstable or change.worse for change in changes)
    least = min((change for change in changes if change.pole.imag > 0.0), key=lambda change: change.damping)
    assert least.damping == pytest.approx(1.96e-4, rel=3e-3)
    assert "array 1 + array 2, 17.674 rad/s" in least.name
    assert least.decay_before == 0.0


# ---- gains and poles


def test_gains_of_the_station(regulator):
    assert regulator.entry("pitch torque", "pitch") == pytest.approx(3127.083, abs=1e-3)
    assert regulator.entry("pitch torque", "pitch rate") == pytest.approx(242562.56, abs=0.01)
    assert regulator.entry("yaw torque", "yaw") == pytest.approx(0.0593, abs=5e-5)
    assert regulator.entry("yaw torque", "yaw rate") == pytest.approx(6.992, abs=5e-4)
    assert regulator.entry("roll torque", "roll") == pytest.approx(28.25, abs=5e-3)
    assert regulator.entry("roll torque", "roll rate") == pytest.approx(497.1, abs=0.05)


def test_pitch_gains_are_those_of_one_axis(station, regulator):
    """J th'' + k th = u: K1 = -k + sqrt(k^2 + q/r), K2 = sqrt(q/r + 2 J K1)."""
    k, J, q = station.K[2, 2], station.J0[2, 2], 1e7
    K1 = -k + np.sqrt(k**2 + q)
    K2 = np.sqrt(q + 2 * J * K1)
    assert pytest.approx((3127.0836, 242562.365), abs=1e-3) == (K1, K2)
    assert regulator.entry("pitch torque", "pitch") / K1 - 1 == pytest.approx(-2e-7, abs=5e-8)
    assert regulator.entry("pitch torque", "pitch rate") / K2 - 1 == pytest.approx(8e-7, abs=5e-8)
    central = Station(base_at=(0.0, 0.0))
    alone = design_lqr(model_of(central), *central.weights())
    k, J = central.K[2, 2], central.J0[2, 2]
    K1 = -k + np.sqrt(k**2 + q)
    assert alone.entry("pitch torque", "pitch") == pytest.approx(K1, rel=1e-9)
    assert alone.entry("pitch torque", "pitch rate") == pytest.approx(np.sqrt(q + 2 * J * K1), rel=2e-7)


def test_poles_of_the_closed_station(regulator):
    poles = regulator.poles
    assert np.min(poles.real) == pytest.approx(-214.1, abs=0.05)
    assert np.max(poles.real) == pytest.approx(-3.458e-3, abs=5e-7)
    assert np.sum(np.abs(poles.imag) < 1e-9) == 6
    for wanted in (-8.438e-3 + 8.455e-3j, -1.289e-2 + 1.304e-2j, -5.936e-2 + 5.948e-2j, -0.2261 + 0.2270j):
        assert np.min(np.abs(poles - wanted)) < 1e-3 * abs(wanted)
    oscillating = poles[poles.imag > 1e-9]
    ratio = -oscillating.real / np.abs(oscillating)
    assert np.min(ratio) == pytest.approx(1.96e-4, rel=3e-3)
    assert oscillating[np.argmin(ratio)].imag == pytest.approx(17.67, abs=0.01)
    assert np.max(ratio) == pytest.approx(0.851, abs=5e-4)


# ---- motion


def test_cost_of_the_recovery_is_x0_P_x0(regulator, bent_start):
    assert regulator.cost(bent_start) == pytest.approx(1.665862e7, rel=1e-6)
    by_lyapunov = lyapunov_cost(regulator.model, regulator.gain, regulator.Q, regulator.R, bent_start)
    assert by_lyapunov == pytest.approx(regulator.cost(bent_start), rel=1e-6)


def test_recovery_times_of_the_station(regulator, bent_start):
    tips = [f"{name} {k}" for name, k in TIPS.items()]
    motion = simulate_linear(
        regulator.closed_loop.submodel(outputs=[*ATTITUDE, *RELATIVE, *tips]), bent_start, 0.01, 600.0
    )
    times = motion.times
    two_percent = [settling_time(times, motion[axis], 0.02 * FIVE) for axis in ATTITUDE]
    assert two_percent == pytest.approx([497.1, 90.8, 325.6], abs=0.06)
    narrow = [settling_time(times, motion[axis], np.deg2rad(0.05)) for axis in ATTITUDE]
    assert narrow == pytest.approx([548.8, 117.8, 358.7], abs=0.06)
    assert [100 * overshoot(motion[axis]) for axis in ATTITUDE] == pytest.approx([4.40, 7.95, 4.48], abs=6e-3)
    elastic = [settling_time(times, motion[tip], 2e-4) for tip in tips]
    assert elastic[:2] == pytest.approx([7.42, 9.39], abs=0.011)
    assert elastic[2:] == pytest.approx([58.6, 61.6, 412.7, 412.7], abs=0.08)
    assert np.max(np.abs(motion["array 1 21"])) == pytest.approx(2.80e-2, rel=2e-3)
    largest = [np.max(np.abs(motion[name])) for name in RELATIVE]
    assert largest == pytest.approx([5.06e-3, 3.19e-3, 8.64e-4], rel=2e-3)


def test_peak_efforts_of_the_recovery(regulator, bent_start):
    peaks = np.max(np.abs(simulate_linear(regulator.commands, bent_start, 2e-4, 1.0).values), axis=0)
    expected = [47.95, 273.06, 0.064, 0.022, 2.5e-3, 1697, 1707, 0.036, 0.052, 0.087, 0.081]
    assert peaks[1:] == pytest.approx(expected, rel=2e-2)  # some have two digits only
    assert peaks[[1, 2, 6, 7]] == pytest.approx([47.95, 273.06, 1697, 1707], rel=5e-4)
    slow = simulate_linear(regulator.commands.submodel(outputs=("yaw torque command",)), bent_start, 0.05, 600.0)
    assert np.max(np.abs(slow.values)) == pytest.approx(5.2e-3, rel=1e-2)


def test_libration_of_the_open_station(model):
    start = np.zeros(132)
    start[:3] = FIVE
    motion = simulate_linear(model.state_space.submodel(outputs=ATTITUDE), start, 5.0, 3 * 5553.62)
    assert np.rad2deg(np.max(np.abs(motion.values), axis=0)) == pytest.approx([7.332, 5.003, 5.000], abs=5e-4)
    assert mean_period(motion.times, motion["pitch"]) == pytest.approx(3238.70, abs=5e-3)


@pytest.fixture(scope="module")
def travelling_start(station) -> np.ndarray:
    p, v = station.bent(bus_left=1e-3, bus_right=1e-3, array_1=1e-3, array_2=1e-3), np.zeros(66)
    p[:3], v[5] = np.deg2rad(0.05), 0.1
    return np.concatenate([p, v])


def watching(station: Station, plain: StateSpace) -> StateSpace:
    """Attitude, carriage, the arm's tip in body axes, and the elastic tips of both arms as outputs."""
    tip = np.concatenate([np.zeros(3), station.arm_row(2, 10.0)])  # [m]
    elastic = [plain.states.index(name) for name in ("arm 1 1", "arm 2 1")]
    rows = np.vstack([np.eye(66)[[0, 1, 2, 5]], tip, np.eye(66)[elastic]])
    names = (*ATTITUDE, "zeta", "tip", "w1", "w2")
    C = np.hstack([rows, np.zeros((7, 66))])
    return StateSpace(plain.A, plain.B, C, None, plain.states, plain.inputs, names, scaling=plain.scaling)


def degrees_after_a_minute(motion) -> list[float]:
    return [float(np.rad2deg(motion[axis][6000] - motion[axis][0])) for axis in ATTITUDE]


def test_one_minute_of_the_arm_travelling_without_control(station, model, travelling_start):
    free = simulate_linear(watching(station, model.state_space), travelling_start, 0.01, 60.0)
    assert free["zeta"][-1] == pytest.approx(6.0, abs=1e-3)
    assert degrees_after_a_minute(free) == pytest.approx([4.8e-4, -2.9e-4, -4.5e-4], abs=6e-6)
    assert np.rad2deg(np.max(np.abs(free["roll"] - free["roll"][0]))) == pytest.approx(5.7e-4, abs=6e-6)
    largest = [np.max(np.abs(free[name])) for name in ("tip", "w1", "w2")]
    assert largest == pytest.approx([1.02e-3, 7.6e-4, 5.8e-4], rel=1e-2)


def test_one_minute_of_the_arm_travelling_under_control(station, regulator, travelling_start):
    held = simulate_linear(watching(station, regulator.closed_loop), travelling_start, 0.01, 300.0)
    assert degrees_after_a_minute(held) == pytest.approx([-0.0094, -0.0534, -0.0176], abs=6e-5)
    assert np.max(np.abs(held["zeta"])) == pytest.approx(0.0430, abs=5e-5)
    assert settling_time(held.times, held["zeta"], 0.01) == pytest.approx(3.68, abs=0.011)
    settled = [settling_time(held.times, held[axis], np.deg2rad(0.005)) for axis in ATTITUDE]
    assert settled == pytest.approx([219.2, 27.9, 144.0], abs=0.06)
    largest = [np.max(np.abs(held[name])) for name in ("tip", "w1", "w2")]
    assert largest == pytest.approx([3.4e-3, 2.2e-4, 2.6e-4], rel=2e-2)


def test_the_arm_starting_from_rest_keeps_momentum(station, model):
    v = np.linalg.solve(station.M, station.Bf[:, 5])
    start = np.concatenate([np.zeros(66), 0.1 * v / v[5]])
    motion = simulate_linear(model.state_space.submodel(outputs=[*ATTITUDE, "zeta"]), start, 0.01, 60.0)
    assert np.rad2deg([motion[axis][-1] for axis in ATTITUDE]) == pytest.approx([5.38e-4, -1.03e-4, -1.12e-4], abs=6e-7)
    assert motion["zeta"][-1] == pytest.approx(5.9967, abs=5e-5)


# ---- the controllability trap


def elastic_measures(station: Station) -> np.ndarray:
    found = controllability(model_of(station))
    return found.measures[found.frequencies > 0.1]


def test_forces_at_mid_chord_are_refused_naming_the_twelve_modes():
    middle = Station(force_chord=0.0)
    with pytest.raises(DesignError, match=r"No input reaches 12 modes.*array 1 tip") as refused:
        design_lqr(model_of(middle), *middle.weights())
    told = [float(name.split(",")[-1].split()[0]) for name in refused.value.modes]
    known = [0.4999, 1.8398, 4.2188, 4.913, 5.936, 9.267, 13.058, 16.460, 17.674, 18.928, 21.651, 33.630]
    assert told == pytest.approx(known, rel=1e-4)
    assert all("array" in name for name in refused.value.modes)
    found = controllability(model_of(middle))
    assert len(found.missed_modes) == 12
    measures = np.sort(found.measures)
    assert measures[11] < 1e-9  # rounding
    assert measures[12] == pytest.approx(3.9e-5, rel=2e-2)


def test_corner_and_quarter_chord_reach_every_mode(station):
    assert np.min(elastic_measures(station)) == pytest.approx(7.8e-3, rel=1e-2)
    quarter = Station(force_chord=2.5)
    assert np.min(elastic_measures(quarter)) == pytest.approx(6.4e-3, rel=1e-2)
    found = design_lqr(model_of(quarter), *quarter.weights())
    assert np.max(found.poles.real) == pytest.approx(-1.352e-3, abs=1e-6)


def test_mid_chord_with_damping_can_be_stabilised():
    damped = Station(force_chord=0.0, damping=0.005)
    found = design_lqr(model_of(damped), *damped.weights())
    assert np.max(found.poles.real) == pytest.approx(-2.5e-3, rel=1e-2)
