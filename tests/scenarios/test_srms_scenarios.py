"""Payload impacts on the Shuttle arm: claims of the variants that are quick, and settings that cannot be.

`freefloat claims srms-normal srms-tangential` runs every variant.
"""

from dataclasses import replace

import numpy as np
import pytest

from freefloat.scenarios import ScenarioError, find
from freefloat.scenarios.runner import judge_run, simulate_variant
from freefloat.scenarios.srms import SrmsNormal, SrmsTangential
from freefloat.scenarios.srms.claims import latch_event
from freefloat.sim import Run, simulate
from freefloat.values.claims import Claim


def _simulate(name: str, variant: str) -> Run:
    return simulate_variant(find(name).variants()[variant], variant)


@pytest.mark.parametrize(
    ("name", "variant"), [pytest.param("srms-normal", "hard", marks=pytest.mark.slow), ("srms-tangential", "soft")]
)
def test_claims(name: str, variant: str) -> None:
    run = judge_run(find(name).variants()[variant], _simulate(name, variant), _simulate)
    assert len(run.claims) >= 20
    for claim in map(Claim.from_dict, run.claims):
        assert claim.holds, f"{claim.name}: {claim.value} against {claim.statement}"
    assert run.description.outcome.startswith("Grasped after 0 s with an impulse of ")
    (grasp,) = run.events
    assert grasp["label"].startswith("grasp: latched, impulse ")
    for who, sign in (("shuttle", -1.0), ("payload", 1.0)):
        momentum = grasp[f"momentum of {who}"]
        gained = np.subtract(momentum["after"], momentum["before"])
        np.testing.assert_allclose(gained, sign * np.array([*grasp["impulse"], *grasp["angular_impulse"]]), atol=1e-9)


@pytest.mark.slow
def test_braked_joints_latch_by_the_gap_and_lose_more() -> None:
    """The payload drifts for a second; then the latch closes, with the energy of our reference."""
    braked = SrmsNormal.variants()["braked"]
    run = simulate(replace(braked, duration=1.1).build())
    grasp = latch_event(run)
    assert grasp["time"] == pytest.approx(1.0, abs=1e-8)
    assert grasp["energy_lost"] == pytest.approx(3.442780, rel=1e-6)
    joints = run["shuttle.joints.position"].values
    np.testing.assert_allclose(joints, np.broadcast_to(joints[0], joints.shape), atol=1e-12)


@pytest.mark.slow
def test_free_joints_have_no_torque() -> None:
    """Whatever the payload pulls at the hand: the grasp is a force along the arm, not a torque of its joints."""
    run = simulate(replace(SrmsNormal(), duration=0.05, dt=1e-3).build())
    assert np.abs(run["connection.grasp.force"].values).max() > 100.0  # [N]
    np.testing.assert_allclose(run["shuttle.joints.torque"].values, 0.0, atol=1e-9)


def test_the_spatial_arm_begins_where_the_planar_one_does() -> None:
    """Without anything across, the spatial arm meets its payload in its x-z plane with the same velocities."""
    for scenario in (SrmsNormal(), SrmsTangential()):
        flat, spatial = scenario.build().start, replace(scenario, spatial=True).build().start
        np.testing.assert_allclose(spatial[1].v[[0, 2, 4]], flat[1].v[[0, 1, 5]] * [1.0, 1.0, -1.0], atol=1e-15)
        np.testing.assert_allclose(spatial[1].v[[1, 3, 5]], 0.0, atol=1e-15)
        world = replace(scenario, spatial=True).world()
        joints = list(world.crafts[0].layout.joint_velocities)
        pitch, across = spatial[0].v[joints][[1, 2, 3]], spatial[0].v[joints][[0, 4, 5]]
        np.testing.assert_allclose(
            pitch, flat[0].v[list(scenario.world().crafts[0].layout.joint_velocities)], rtol=1e-9
        )
        np.testing.assert_allclose(across, 0.0, atol=1e-14)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"payload_across": 0.1}, "cannot follow a payload out of its plane: set spatial=true"),
        ({"approach": 1.0}, "Only braked joints stand still"),
        ({"joints": "braked"}, "Braked joints do not move the hand"),
    ],
)
def test_impacts_that_cannot_be(settings: dict, said: str) -> None:
    with pytest.raises(ScenarioError, match=said):
        SrmsNormal().with_settings(settings)
