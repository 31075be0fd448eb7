"""Verdicts on the package's own rehearsals in their virtual cells: healthy ones are a go, planted defects are named."""

import json
import re

import pytest
from typer.testing import CliRunner

from freefloat.cli.app import app
from freefloat.values.verdicts import Verdict

pytestmark = pytest.mark.slow  # minutes in MuJoCo; what is judged, and how, is tested on an ideal cell


def rehearsed(scenario, out, *options):
    pytest.importorskip("mujoco")
    words = ["rehearse", scenario, *options, "--out", str(out), "--quiet"]
    done = CliRunner().invoke(app, words, catch_exceptions=False)
    return done.exit_code, Verdict.from_dict(json.loads((out / "verdict.json").read_text()))


@pytest.mark.parametrize("scenario", ["envisat-free", "goddard-hil", "envisat-capture"])
def test_a_healthy_one_is_a_go_and_judged_the_same_again(scenario, tmp_path) -> None:
    status, verdict = rehearsed(scenario, tmp_path / "cell")
    assert (status, verdict.go) == (0, True), verdict.reasons(9)
    again = CliRunner().invoke(app, ["verdict", str(tmp_path / "cell")], catch_exceptions=False)
    assert again.exit_code == 0, again.output
    assert "The same verdict as signed." in again.output


# Scenario, how the defect is set, which criterion must be the first against a go, and what it must say.
PLANTED = {
    "a wrong inertia": (
        "envisat-capture", ["client_inertia_error=0.2"],
        "inertia of client", r"about x is 1\.20\d* ± 0\.\d+ times the declared",
    ),
    "a delay above the critical one": (
        "envisat-capture", ["delay_ms=150", "compensate_delay=false"],
        "delay left", r"1[5-9]\d\.?\d* ms are left.*on 118\.3 kg bears 49\.3 ms",
    ),
    "a workspace too small": (
        "envisat-capture", ["workspace_scale=0.5"],
        "ran to its end", r"robot '\w+': a joint will be at .* It is joint a\d\. The workspace is too small",
    ),
    "no relative formulation": (
        "envisat-free", ["formulation=absolute", "spin_deg_s=-2.5"],
        "ran to its end", r"servicer: joint a\d beyond its \w+ limit.* near the end of their reach",
    ),
}  # fmt: skip


@pytest.mark.parametrize("defect", PLANTED)
def test_a_planted_defect_is_a_no_go_that_names_it(defect, tmp_path) -> None:
    scenario, settings, name, words = PLANTED[defect]
    status, verdict = rehearsed(scenario, tmp_path / "cell", *(word for one in settings for word in ("--set", one)))
    assert (status, verdict.go) == (1, False)
    assert verdict.against[0].name == name
    assert re.search(words, verdict.against[0].reason), verdict.against[0].reason
