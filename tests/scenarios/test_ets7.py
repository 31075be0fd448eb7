"""ETS-VII: the published numbers, and trouble that has a name.

`freefloat claims` runs every variant; here are those that between them use every law.
"""

from dataclasses import replace

import numpy as np
import pytest

from freefloat.scenarios import find
from freefloat.scenarios.ets7.capture import Camera, Ets7Capture, outcome
from freefloat.scenarios.ets7.capture_batches import contrast, scatter
from freefloat.scenarios.performance import judge, simulate_variant
from freefloat.sim import Run
from freefloat.sim.claims import Claim

VARIANTS = [
    ("ets7-gjm", "nominal"),
    ("ets7-gjm", "torque-level-4hz"),
    ("ets7-satellite-based", "nominal"),
    ("ets7-satellite-based", "feed-forward-0.1"),
    ("ets7-rns", "nominal"),
    ("ets7-rns", "ideal"),
    ("ets7-rns", "torque-level"),
    ("ets7-gravity-gradient", "nominal"),
    ("ets7-gravity-gradient", "torque-level"),
    ("ets7-capture", "case-1"),
    ("ets7-capture", "case-2"),
]


@pytest.mark.parametrize(("name", "variant"), VARIANTS)
def test_claims(name: str, variant: str) -> None:
    def simulate(name: str, variant: str) -> Run:
        return simulate_variant(find(name).variants()[variant], variant)

    rows = judge(find(name).variants()[variant], simulate(name, variant), simulate).claims
    assert rows
    for claim in map(Claim.from_dict, rows):
        if claim.relation == "not reproduced":
            assert claim.reason
            assert np.isfinite(claim.ours)
        else:
            assert claim.holds, f"{claim.claim}: {claim.ours} against {claim.statement}"


def test_every_torque_level_variant_is_listed() -> None:
    for name in ("ets7-gjm", "ets7-satellite-based", "ets7-rns", "ets7-gravity-gradient", "ets7-capture"):
        assert any("torque-level" in variant for variant in find(name).variants())


def test_a_target_out_of_reach_is_not_captured_and_the_run_says_so() -> None:
    far = replace(Ets7Capture(), target_distance=3.0, target_direction=(0.0, 0.0, 1.0), duration=20.0)
    run = far.simulate()
    assert run.completed
    assert np.all(np.isfinite(run["joints.position"].values))
    words = Ets7Capture.outcome(run)
    assert words.startswith("Not captured within 20 s: in the coarse approach, with the hand ")


def test_a_capture_says_when_it_was() -> None:
    words = Ets7Capture.outcome(replace(Ets7Capture(), camera=Camera(), duration=30.0).simulate())
    assert words.startswith("Captured after 22.35 s; the fine approach began after 10.3 s")


def test_a_lost_camera_stops_the_hand_and_says_so() -> None:
    blind = replace(Ets7Capture(), camera=Camera(blind_from=5.0), duration=20.0)
    run = blind.simulate()
    lost = next(line for line in run.conditions if "target lost" in line)
    assert lost.startswith(
        "capture.condition: target lost, 0 s to 0.25 s, 6.8 s to 20 s"
    )  # nothing seen yet, then blind
    first = np.linalg.norm(run["hand.position_error"].values[0])
    assert first == pytest.approx(0.4, abs=1e-12)  # the truth, before any picture
    assert run.completed
    assert not np.isfinite(outcome(run).captured)
    assert any("target lost" in line for line in run.conditions)
    assert np.all(np.isfinite(run["joints.position"].values))
    late = run["time"].values > 10.0
    assert np.max(np.abs(run["joints.rate"].values[late])) < 1e-12


def test_scatter_of_random_geometries_and_a_target_out_of_reach() -> None:
    data = scatter(cases=8, seed=3, duration=60.0)
    assert data.sizes["geometry"] == 8
    assert data.attrs["out_of_reach"] >= 0
    assert contrast(data)["geometries"] == 8.0
    assert np.all(np.isfinite(data["case1.attitude"].values))
    assert np.all(np.isfinite(data["case2.attitude"].values))
    assert set(data["status"].values) <= {
        "both captured",
        "case 1 did not capture",
        "case 2 did not capture",
        "neither captured",
    }
    again = scatter(cases=8, seed=3, duration=60.0)
    np.testing.assert_array_equal(data["case1.captured"].values, again["case1.captured"].values)
