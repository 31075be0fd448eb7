"""Settings by dotted path: what a scenario takes, what it refuses, and what its own file gives back."""

import tomllib

import pytest

from freefloat.cli.running import resolve
from freefloat.scenarios import ScenarioError, find
from freefloat.scenarios.toml import to_toml


def test_a_part_that_was_left_out_can_be_set_field_by_field():
    plain = find("ets7-gjm").variants()["nominal"]
    driven = plain.with_settings({"servo.bandwidth": 30.0, "servo.coulomb": 1.0})
    assert (driven.servo.bandwidth, driven.servo.coulomb) == (30.0, 1.0)
    with pytest.raises(ScenarioError, match=r"servo\.bandwith: Unexpected"):
        plain.with_settings({"servo.bandwith": 30.0})
    with pytest.raises(ScenarioError, match=r"no setting 'path\.speeed'\. Settings in path: length, speed, ramp"):
        plain.with_settings({"path.speeed": 0.02})


@pytest.mark.parametrize("variant", ["nominal", "torque-level", "sampled-4hz"])
def test_the_file_of_a_scenario_gives_it_back(variant, tmp_path):
    scenario = find("ets7-gjm").variants()[variant]
    path = tmp_path / "scenario.toml"
    path.write_text(to_toml(scenario.as_dict()))
    assert tomllib.loads(path.read_text())["scenario"] == "ets7-gjm"
    assert resolve(str(path), [], None) == scenario
