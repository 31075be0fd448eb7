"""The capture of Envisat. docs/envisat-capture.md flies it with ideal sensors; `freefloat claims` flies all of it."""

from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np
import pytest

from freefloat.scenarios import ScenarioError
from freefloat.scenarios.envisat import EnvisatCapture
from freefloat.scenarios.envisat.capture_claims import orbit_claims
from freefloat.scenarios.envisat.capture_measures import relative_motion_in_cell, rotation_matrices
from freefloat.scenarios.runner import judge_run, simulate_variant
from freefloat.sim import Run
from freefloat.spatial.rotations import rotation_matrix
from freefloat.values.claims import Claim

VARIANTS = EnvisatCapture.variants()
IDEAL = VARIANTS["ideal-sensors"]


def no_others(name, variant):
    raise AssertionError("no other runs are needed")


@pytest.fixture(scope="module")
def simulated():
    return simulate_variant(IDEAL, "ideal-sensors")


@pytest.mark.slow
def test_the_simulated_capture_holds_its_claims(simulated):
    assert simulated.audit.holds
    claims = orbit_claims(IDEAL, simulated)
    assert len(claims) == 7
    for claim in claims:
        assert claim.holds, f"{claim.name}: {claim.value} against {claim.statement}"


@pytest.mark.slow
def test_the_energy_of_the_loop_falls_until_the_grasp(simulated):
    """Commands are held for 4 ms, which gives back a little: a millionth of what was there at the start."""
    time, energy = simulated.values("time"), simulated.values("servicer.capture.energy")
    before = energy[time < IDEAL.times.grasp]
    assert np.diff(before).max() < 1e-6 * before[0]
    assert before[-1] < 1e-6 * before[0]


@pytest.mark.slow
def test_rigidised_the_arm_carries_what_turns_the_servicer(simulated):
    """m omega^2 r of the servicer about the common centre of mass, its thrusters off but for what the springs ask."""
    pull = np.linalg.norm(simulated.values("connection.grasp.force")[-1])
    omega = np.linalg.norm(simulated.values("client.base.rate")[-1])
    way = np.linalg.norm(simulated.values("servicer.com.position")[-1] - simulated.values("client.com.position")[-1])
    servicer, client = 867.0, 7827.867  # [kg]
    assert pull == pytest.approx(servicer * client / (servicer + client) * omega**2 * way, rel=0.05)


def test_a_planted_defect_enters_the_rehearsal_only():
    planted = replace(IDEAL, client_inertia_error=0.2, workspace_scale=0.5, compensate_delay=False)
    declared, flown = planted.build().world, planted.rehearsal().experiment.world
    right, wrong = (np.asarray(world.craft("client").bodies[0].inertia) for world in (declared, flown))
    assert wrong[0, 0] == pytest.approx(1.2 * right[0, 0], rel=1e-12)
    np.testing.assert_array_equal(np.delete(wrong.ravel(), 0), np.delete(right.ravel(), 0))
    assert planted.rehearsal().limits.joint_margin > 0.5
    assert planted.rehearsal().compensation is None
    assert IDEAL.rehearsal().limits.joint_margin == 0.0


def test_settings_that_cannot_be_are_refused():
    for path, value in (("workspace_scale", 1.5), ("delay_ms", -1.0), ("sensors.camera_dropout", 1.0)):
        with pytest.raises(ScenarioError, match=path):
            VARIANTS["paper"].with_settings({path: value})


def test_motion_in_the_cell_is_that_of_one_robot_seen_from_the_other(rng):
    """A common motion of the floor axes, whatever it is, cancels: both as one body have none."""

    quat = rng.normal(size=(2, 4))
    quat /= np.linalg.norm(quat, axis=1, keepdims=True)
    R = rotation_matrices(quat)
    np.testing.assert_allclose(R[0], rotation_matrix(quat[0]), atol=1e-14)
    p, omega, velocity = rng.normal(size=(2, 3)), rng.normal(size=3), rng.normal(size=3)
    arrays = {}
    for k, name in enumerate(("servicer", "client")):
        moving = R[k].T @ (velocity + np.cross(omega, p[k]))
        arrays[f"cell.{name}.measured.position"] = p[k : k + 1]
        arrays[f"cell.{name}.measured.attitude"] = quat[k : k + 1]
        arrays[f"cell.{name}.measured.twist"] = np.concatenate([moving, R[k].T @ omega])[None]
    for part in relative_motion_in_cell(cast(Run, SimpleNamespace(values=arrays.__getitem__))):
        np.testing.assert_allclose(part, 0.0, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("variant", list(VARIANTS))
def test_claims(variant):
    """Cell included."""
    pytest.importorskip("mujoco")
    run = judge_run(VARIANTS[variant], simulate_variant(VARIANTS[variant], variant), no_others)
    assert len(run.claims) == 20
    for claim in map(Claim.from_dict, run.claims):
        assert claim.holds, f"{claim.name}: {claim.value} against {claim.statement}"
