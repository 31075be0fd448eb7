"""Margins against closed forms and simulated loops; modes that a controller does not know of."""

import numpy as np
import pytest

from freefloat.control.lqr import (
    DesignError,
    SecondOrderModel,
    StateSpace,
    close_loop,
    design_kalman,
    design_lqg,
    design_lqr,
    robustness,
    sample,
    simulate_linear,
    spillover,
)
from freefloat.control.lqr.margins import RobustnessReport
from freefloat.values import ModelError


def gain_only(value: float, names=("y1",), inputs=("u1",)) -> StateSpace:
    """u = -value y."""
    return StateSpace(np.zeros((0, 0)), np.zeros((0, 1)), np.zeros((1, 0)), [[-value]], (), names, inputs)


def three_lags() -> StateSpace:
    """1/(s + 1)^3."""
    return StateSpace(np.diag([1.0, 1.0], 1) - np.eye(3), [[0.0], [0.0], [1.0]], [[1.0, 0.0, 0.0]])


def chain(count: int, damping: float) -> SecondOrderModel:
    """Masses and springs in a row, free to drift; force on the first, sensor on the last."""
    springs = np.diff(np.eye(count), axis=0)
    K = springs.T @ springs
    names = tuple(f"mass {k + 1}" for k in range(count))
    last = {"Cp": np.eye(count)[-1:], "outputs": ("last",)}
    return SecondOrderModel(np.eye(count), K, np.eye(count)[:, :1], None, damping * K, names, ("force",), **last)


# ---- closed forms


@pytest.mark.parametrize("value", [1.0, 2.0, 5.0])
def test_three_lags_have_the_gain_margin_of_the_textbook(value):
    """1/(s+1)^3 is real at sqrt(3), where it is -1/8."""
    (loop,) = robustness(three_lags(), gain_only(value)).loops
    assert loop.gain_up == pytest.approx(8.0 / value, rel=1e-6)
    assert loop.gain_down == 0.0
    if value > 1.0:
        w = np.sqrt(value ** (2 / 3) - 1)
        phase = np.pi - 3 * np.arctan(w)
        assert loop.phase == pytest.approx(phase, rel=1e-6)
        assert (loop.delay, loop.delay_frequency) == pytest.approx((phase / w, w), rel=1e-6)


def test_a_loop_may_be_nearest_to_instability_by_a_lead():
    """4 s^2/(s + 1)^2 has the size of one at 1/sqrt(3) rad/s, and an angle of 120 deg: 60 deg more are too much."""
    A, B = np.array([[-2.0, -1.0], [1.0, 0.0]]), np.array([[1.0], [0.0]])
    plant = StateSpace(A, B, 4.0 * np.array([[-2.0, -1.0]]), [[4.0]])  # s^2 = (s + 1)^2 - 2 s - 1
    (loop,) = robustness(plant, gain_only(1.0)).loops
    assert loop.phase == pytest.approx(np.pi / 3.0, rel=1e-6)
    assert loop.delay == pytest.approx((2.0 * np.pi - np.pi / 3.0) * np.sqrt(3.0), rel=1e-6)


def test_phase_and_gains_of_a_disk_are_its_points():
    """(1 + a d/2)/(1 - a d/2) with |d| = 1: the real points are the gains, those on the unit circle the phases."""
    report = RobustnessReport((), distance=0.5, disk=0.7, delay=np.inf, delay_frequency=np.nan, decay=1.0)
    assert report.disk_gain == pytest.approx(tuple((1 + 0.35 * d) / (1 - 0.35 * d) for d in (-1, 1)))
    turned = (1 + 0.35j) / (1 - 0.35j)
    assert (abs(turned), np.angle(turned)) == pytest.approx((1.0, report.disk_phase))


def test_an_unstable_loop_has_no_margins():
    with pytest.raises(DesignError, match="grows at"):
        robustness(three_lags(), gain_only(9.0))


def test_margins_of_a_regulated_free_axis():
    """L = (K1 + K2 s)/(J s^2): crossing from a quadratic, phase from an arctangent; |1 + L| >= 1 always."""
    J = 3.0
    axis = SecondOrderModel([[J]], [[0.0]], [[1.0]])
    regulator = design_lqr(axis, [4.0, 1.0], 0.5)
    K1, K2 = regulator.gain[0]
    w = np.sqrt((K2**2 + np.sqrt(K2**4 + 4 * J**2 * K1**2)) / (2 * J**2))
    report = robustness(axis.state_space, regulator)
    (loop,) = report.loops
    assert loop.phase == pytest.approx(np.arctan2(K2 * w, K1), rel=1e-6)
    assert loop.delay == pytest.approx(loop.phase / w, rel=1e-6)
    assert report.delay == pytest.approx(loop.delay, rel=1e-6)
    assert loop.gain_up == np.inf
    assert loop.distance >= 1.0 - 1e-9
    assert loop.phase > np.pi / 3
    assert "all together" in str(report)


def test_an_axis_that_falls_over_by_itself_needs_a_least_gain():
    """J th'' - th = u: with less than 1/K1 of its gain the regulator lets it fall, without swinging."""
    axis = SecondOrderModel([[3.0]], [[-1.0]], [[1.0]])
    regulator = design_lqr(axis, [4.0, 1.0], 0.5)
    (loop,) = robustness(axis.state_space, regulator).loops
    assert loop.gain_down == pytest.approx(1.0 / regulator.gain[0, 0], rel=1e-9)
    assert loop.gain_up == np.inf


def test_a_sampled_loop_has_a_largest_gain():
    """x' = u, u = -k x every T: x(k+1) = (1 - kT) x(k), stable below k = 2/T, at the Nyquist frequency."""
    plant = sample(StateSpace([[0.0]], [[1.0]]), 0.1)
    (loop,) = robustness(plant, design_lqr(plant, 1.0, 1.0)).loops
    k = design_lqr(plant, 1.0, 1.0).gain[0, 0]
    assert loop.gain_up == pytest.approx(20.0 / k, rel=1e-9)
    assert loop.gain_down == 0.0


def test_disk_margin_of_three_lags_is_that_of_a_scan():
    """2 / max |S - T| on a fine grid; gains inside the disk are stable, a gain margin outside is not."""
    report, w = robustness(three_lags(), gain_only(4.0)), np.geomspace(1e-3, 1e3, 200001)
    L = 4.0 / (1j * w + 1) ** 3
    assert report.disk == pytest.approx(2.0 / np.max(np.abs((1 - L) / (1 + L))), rel=2e-3)
    low, high = report.disk_gain
    assert low < 1.0 < high < report.loops[0].gain_up


def test_two_loops_that_are_one_in_other_units_keep_their_margin():
    """Two equal axes, the second commanded in kilonewtons: the disk does not see units."""
    axes = SecondOrderModel(np.eye(2), np.zeros((2, 2)), np.diag([1.0, 1e3]))
    alone = SecondOrderModel([[1.0]], [[0.0]], [[1.0]])
    both = robustness(axes.state_space, design_lqr(axes, 1.0, [1.0, 1e6]))
    one = robustness(alone.state_space, design_lqr(alone, 1.0, 1.0))
    assert (both.disk, both.distance) == pytest.approx((one.disk, one.distance), rel=1e-6)


# ---- sampled loops with delay


def grows(plant: StateSpace, controller: StateSpace, delay: float) -> bool:
    """Whether the simulated loop is larger in the last tenth than in the one before it."""
    assert controller.period is not None
    late = sample(plant, controller.period, delay)
    loop = close_loop(late, controller)
    start = np.zeros(len(loop.A))
    start[0] = 1.0
    size = np.abs(simulate_linear(loop, start, controller.period, 8000 * controller.period).values[:, 0])
    return bool(np.max(size[-800:]) > np.max(size[-1600:-800]))


def test_delay_margin_of_a_sampled_compensator_is_where_the_simulated_loop_begins_to_grow():
    plant, period = chain(2, 0.05).state_space, 0.05
    sampled = sample(plant, period)
    regulator = design_lqr(sampled, 1.0, 1.0)
    controller = design_lqg(regulator, design_kalman(sampled, 1.0, 0.01))
    predicted = robustness(sampled, controller).delay
    low, high = 0.5 * predicted, 1.5 * predicted
    assert not grows(plant, controller, low)
    assert grows(plant, controller, high)
    for _ in range(7):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if grows(plant, controller, middle) else (middle, high)
    assert predicted == pytest.approx(0.5 * (low + high), rel=0.02)


# ---- spillover


def test_modes_left_out_of_the_design_are_found_unstable_and_seen_to_grow():
    full = chain(6, 1e-3)
    few = full.keep_modes(range(3))
    controller = design_lqg(design_lqr(few, 1.0, 0.1), design_kalman(few, 1.0, 0.01))
    found = spillover(full, controller)
    assert found.unstable
    assert all(int(change.name.split(",")[0].split()[1]) > 3 for change in found.unstable)
    worst = found.unstable[0]
    assert worst.name in str(found)
    loop = close_loop(full.state_space, controller)
    growth = worst.pole.real
    start = np.zeros(len(loop.A))
    start[0] = 1.0
    step, long = 0.1, 40.0 / growth
    size = np.abs(simulate_linear(loop, start, step, long).values[:, 0])
    half = len(size) // 2
    first, second = np.max(size[half - half // 8 : half]), np.max(size[-(half // 8) :])
    seen = np.log(second / first) / (step * (len(size) - half))
    assert seen == pytest.approx(growth, rel=0.05)


def test_a_controller_that_knows_every_mode_spills_over_nowhere():
    full = chain(6, 1e-3)
    whole = design_lqg(design_lqr(full, 1.0, 0.1), design_kalman(full, 1.0, 0.01))
    assert spillover(full, whole).unstable == ()


def test_periods_and_names_of_plant_and_controller_must_agree():
    plant = chain(2, 0.05).state_space
    sampled = sample(plant, 0.1)
    controller = design_lqg(design_lqr(sampled, 1.0, 1.0), design_kalman(sampled, 1.0, 1.0))
    with pytest.raises(ModelError, match=r"Plant \(continuous\) and controller \(0.1 s\) differ"):
        robustness(plant, controller)
    with pytest.raises(ModelError, match=r"no output 'y1'\. Outputs: last"):
        robustness(plant, gain_only(1.0, inputs=("force",)))
