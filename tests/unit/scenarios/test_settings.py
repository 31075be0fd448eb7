"""Settings by dotted path: what a scenario takes, what it refuses, and what its own file gives back."""

import tomllib

import pytest

from freefloat.cli.run import resolve
from freefloat.report.toml import to_toml
from freefloat.scenarios import ScenarioError, find


def test_a_part_that_was_left_out_can_be_set_field_by_field():
    plain = find("ets7-gjm").variants()["nominal"]
    driven = plain.with_settings({"servo.bandwidth": 30.0, "servo.coulomb": 1.0})
    assert (driven.servo.bandwidth, driven.servo.coulomb) == (30.0, 1.0)
    with pytest.raises(ScenarioError, match=r"servo\.bandwith: Unexpected"):
        plain.with_settings({"servo.bandwith": 30.0})
    with pytest.raises(
        ScenarioError,
        match=r"no setting 'path\.speeed'\. Did you mean 'path\.speed'\? Settings in path: length, speed, ramp",
    ):
        plain.with_settings({"path.speeed": 0.02})


@pytest.mark.parametrize("variant", ["nominal", "torque-level", "sampled-4hz"])
def test_the_file_of_a_scenario_gives_it_back(variant, tmp_path):
    scenario = find("ets7-gjm").variants()[variant]
    path = tmp_path / "scenario.toml"
    path.write_text(to_toml({**scenario.as_dict(), "variant": variant}))
    assert tomllib.loads(path.read_text())["scenario"] == "ets7-gjm"
    assert resolve(str(path), [], None) == (scenario, variant)


def test_the_variant_is_passed_on_and_not_guessed(tmp_path):
    nominal = find("ets7-gjm").variants()["nominal"]
    assert resolve("ets7-gjm", [], None) == (nominal, "nominal")
    assert resolve("ets7-gjm", ["duration=22"], None) == (nominal, "nominal")  # nothing has changed
    # The settings of another variant, but nobody said so: its reference numbers are not claimed.
    assert resolve("ets7-gjm", ["dt=0.1"], None)[1] == "custom"
    assert resolve("ets7-gjm", [], "step-0.1")[1] == "step-0.1"
    path = tmp_path / "scenario.toml"
    path.write_text(to_toml({**nominal.as_dict(), "variant": "custom", "duration": 24.0}))
    assert resolve(str(path), [], None)[1] == "custom"
