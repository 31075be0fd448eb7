"""Experiment 1 from many start poses: the pose of the flight gives what the scenario gives."""

import numpy as np
import pytest

from freefloat.scenarios import find
from freefloat.scenarios.ets7.start_poses import REGULAR, Scan, start_poses, wrapped
from freefloat.scenarios.measures import roll_pitch_yaw_deg
from freefloat.scenarios.tables import load


def test_a_pose_of_the_batch_is_the_run_of_the_scenario() -> None:
    reports = []
    data = start_poses(Scan(most_deg=20.0, step_deg=20.0, dt=0.2), progress=lambda *report: reports.append(report))
    assert data.sizes["pose"] + data.attrs["out_of_reach"] == data.attrs["poses"] == 27
    assert reports[-1] == (27, 27)
    wanted = (data["joint2"] == 0.0) & (data["joint3"] == 20.0) & (data["joint4"] == -20.0)
    row = int(np.argmax(wanted.values))
    scenario = find("ets7-gjm").variants()["step-0.2"].with_settings({"joints_deg": [0.0, 0.0, 20.0, -20.0, 0.0, 0.0]})
    expected = roll_pitch_yaw_deg(scenario.simulate())[1]
    assert float(data["pitch"][row]) == pytest.approx(expected, abs=1e-9)  # the same steps, in another order of sums
    assert float(data["hand_pitch"][row]) == 0.0
    # The table of the package has the same pose, with the scenario's step: RK4 differs by less than 1e-4 deg.
    table = load("ets7_start_poses.csv")
    same = (table["joint2"] == 0.0) & (table["joint3"] == 20.0) & (table["joint4"] == -20.0)
    assert float(table["pitch"][same.values][0]) == pytest.approx(expected, abs=1e-4)
    assert str(data["way"].values[row]) == REGULAR


def test_angles_are_wrapped() -> None:
    np.testing.assert_array_equal(wrapped(np.array([-240.0, -180.0, 180.0, 20.0])), [120.0, -180.0, -180.0, 20.0])
