"""Envisat and its servicer, free: a short rehearsal in the virtual cell.

The numbers of the motion are in tests/reference; `freefloat claims envisat-free` runs every variant, cell included.
"""

from dataclasses import replace

import numpy as np
import pytest

from freefloat.scenarios import ScenarioError
from freefloat.scenarios.envisat import EnvisatFree
from freefloat.scenarios.envisat.relative_poses import RelativePoses
from freefloat.scenarios.rehearsed import rehearse_in_lockstep
from freefloat.scenarios.runner import judge_run, simulate_variant
from freefloat.sim import simulate
from freefloat.values.claims import Claim

VARIANTS = EnvisatFree.variants()


def no_others(name, variant):
    raise AssertionError("no other runs are needed")


@pytest.mark.slow
def test_a_second_in_the_cell_is_the_motion_in_orbit():
    """Relative poses of the encoders within the paper's bounds; Envisat's robot stands still."""
    pytest.importorskip("mujoco")
    scenario = replace(VARIANTS["capture-spin"], duration=1.0)
    facility = scenario.facility()
    run, use = rehearse_in_lockstep(scenario, facility), facility.use
    assert run.completed, run.status
    ordinary = simulate(scenario.build())
    np.testing.assert_array_equal(run.values("servicer.base.position"), ordinary.values("servicer.base.position"))
    distance, angle = RelativePoses.in_cell(run).errors(RelativePoses.in_orbit(run))
    assert distance < 1e-3
    assert angle < 2e-3
    envisat = run.values("cell.client.measured.position")
    assert np.ptp(envisat, axis=0).max() < 1e-6
    assert max(robot.rate.max() for robot in use.robots.values()) < 1.0
    # The servicer's robot does move, as little as it does relative to Envisat.
    assert 1e-4 < np.ptp(run.values("cell.servicer.measured.position"), axis=0).max() < 0.1


def test_a_formulation_that_does_not_exist_is_refused():
    with pytest.raises(ScenarioError, match="formulation"):
        VARIANTS["paper"].with_settings({"formulation": "scaled"})


@pytest.mark.slow
@pytest.mark.parametrize("variant", list(VARIANTS))
def test_claims(variant):
    """Cell included; in the absolute formulation it stops at a limit."""
    run = judge_run(VARIANTS[variant], simulate_variant(VARIANTS[variant], variant), no_others)
    assert len(run.claims) == {"paper": 10, "capture-spin": 16, "absolute": 2}[variant]
    for claim in map(Claim.from_dict, run.claims):
        assert claim.holds is not False, f"{claim.name}: {claim.value} against {claim.statement}"
