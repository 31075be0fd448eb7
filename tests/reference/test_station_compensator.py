"""Sensors, filter, margins and modes left out, on the 132-state station with 0.5 % of structural damping."""

import numpy as np
import pytest

from freefloat.control.lqr import (
    DesignError,
    FrequencyResponse,
    SecondOrderModel,
    balanced_truncation,
    close_loop,
    design_kalman,
    design_lqg,
    design_lqr,
    frequency_grid,
    observability,
    robustness,
    simulate_linear,
    spillover,
)
from support.station_matrices import ATTITUDE, INPUTS, RELATIVE, Station


def sensed_station(station: Station) -> SecondOrderModel:
    """Attitude, gyros, joints and five tips as sensors."""
    each, none = np.eye(66), np.zeros((3, 66))
    tips = {
        "bus left tip": station.Bf[:, 6],
        "bus right tip": station.Bf[:, 7],
        "arm 2 tip": station.Bf[:, 9],
        "array 1 tip": station.Bf[:, 10],
        "array 2 tip": station.Bf[:, 11],
    }  # a sensor that is collocated with a force has its column as a row
    Cp = np.vstack([each[:3], none, each[3:6], *tips.values()])
    Cv = np.vstack([none, each[:3], none, np.zeros((5, 66))])
    names = (*ATTITUDE, *(f"{axis} gyro" for axis in ATTITUDE), *RELATIVE, *tips)
    matrices = station.M, station.K, station.Bf, station.G, station.C
    return SecondOrderModel(*matrices, station.coordinates, INPUTS, names, Cp, Cv)


@pytest.fixture(scope="module")
def damped() -> Station:
    return Station(damping=0.005)


@pytest.fixture(scope="module")
def model(damped) -> SecondOrderModel:
    return sensed_station(damped)


@pytest.fixture(scope="module")
def regulator(damped, model):
    return design_lqr(model, *damped.weights())


def test_filter_of_132_states_holds_to_1e_12_and_poles_separate(model, regulator):
    assert observability(model).missed_modes == ()
    kalman = design_kalman(model, np.full(12, 1e-2), 1e-6)
    assert kalman.residual <= 1e-12
    loop = close_loop(model.state_space, design_lqg(regulator, kalman))
    both = np.concatenate([regulator.poles, kalman.poles])
    assert max(np.min(np.abs(both - pole)) / abs(pole) for pole in loop.poles) < 1e-8


def test_gyros_and_tips_without_attitude_sensors_are_refused(model):
    seen = [name for name in model.outputs if name not in RELATIVE]
    places = [model.outputs.index(name) for name in seen]
    blind = model.with_outputs(model.Cp[places], model.Cv[places], seen)
    with pytest.raises(DesignError, match=r"No sensor sees .*free"):
        design_kalman(blind, np.full(12, 1e-2), 1e-6)


def test_regulated_station_has_the_margins_that_theory_promises(model, regulator):
    """Return difference at least one in the units of R, so 60 deg and half the gain in every loop, one at a time."""
    report = robustness(model.state_space, regulator)
    assert report.distance >= 1.0 - 1e-6
    for loop in report.loops:
        assert loop.distance >= 1.0 - 1e-6
        assert loop.phase >= np.pi / 3 - 1e-6
        assert loop.gain_down <= 0.5
        assert loop.gain_up == np.inf
    assert np.rad2deg(report.loop("pitch torque").phase) == pytest.approx(65.6, abs=0.5)  # as one axis alone


def test_a_compensator_on_ten_modes_destabilises_others_and_is_found_out(damped, model):
    few = model.keep_modes(range(10))
    controller = design_lqg(
        design_lqr(few, 1e7, np.diag(damped.weights()[1])), design_kalman(few, np.full(12, 1e-2), 1e-6)
    )
    found = spillover(model, controller)
    assert found.unstable
    assert "arm 1" in found.unstable[0].name
    assert any("array" in change.name for change in found.unstable)
    assert all(int(change.name.split(",")[0].split()[1]) > 10 for change in found.unstable)
    with pytest.raises(DesignError, match="it has no margins"):
        robustness(model.state_space, controller)
    loop = close_loop(model.state_space, controller).submodel(outputs=("arm 2 tip",))
    start, growth = np.zeros(len(loop.A)), found.unstable[0].pole.real
    start[:3] = 1e-3
    motion = np.abs(simulate_linear(loop, start, 0.02, 40.0).values[:, 0])
    seen = np.log(np.max(motion[1800:]) / np.max(motion[1300:1500])) / (500 * 0.02)
    assert seen == pytest.approx(growth, rel=0.03)


def test_balanced_truncation_of_the_station_keeps_its_bound(model):
    full = model.state_space
    found = balanced_truncation(full, 60)
    assert found.kept_unstable == 12  # attitude and joints
    grid = frequency_grid(full)
    grid = grid[grid > 0.05][::11]  # below, the undamped librations swallow the digits
    both = [FrequencyResponse(each).on(grid) for each in (full, found.model)]
    worst = np.max(np.linalg.norm(both[0] - both[1], 2, axis=(1, 2)))
    assert 0.01 * found.bound < worst <= found.bound
