"""Plans keep their limits between the instants too, say what is in the way, and can be flown."""

import dataclasses
from functools import cache

import numpy as np
import pytest

import freefloat as ff
from freefloat.model.shapes import Box, Shape
from freefloat.planning import (
    CaptureTask,
    MotionLimits,
    Plan,
    PlanSettings,
    flight_experiment,
    flight_rehearsal,
    plan_capture,
    straight_capture,
)  # fmt: skip
from freefloat.planning.solver import require_ipopt
from freefloat.values import ModelError
from support.small_capture import LIMITS, SETTINGS, small_client, small_task

TUMBLES = ((0.01, -0.02, 0.03), (0.05, 0.03, -0.02), (-0.02, 0.06, 0.01))  # [rad/s], up to 3.7 deg/s


@cache
def planned(spin: tuple[float, float, float] = TUMBLES[0]) -> Plan:
    return plan_capture(small_task(spin=spin), SETTINGS)


@pytest.mark.parametrize("spin", TUMBLES)
def test_a_plan_keeps_every_limit_between_the_instants_and_ends_at_rest_at_the_ring(spin):
    plan = planned(spin)
    assert plan.keeps_limits, plan
    assert plan.margin("grasp").margin > 0.0
    assert plan.iterations > 0
    poses, joints = plan.relative_poses(np.array([0.0, plan.duration]))
    task = small_task(spin=spin)
    np.testing.assert_allclose(np.asarray(poses[0].p), task.relative_start.p_NB, atol=1e-12)
    np.testing.assert_allclose(joints[0], task.start.q, atol=1e-12)


def test_what_the_straight_motion_hits_the_plan_goes_around():
    straight = straight_capture(small_task(), SETTINGS)
    assert planned().keeps_limits, planned()
    assert "clearance client" in [one.name for one in straight.broken_limits]
    assert "panel" in straight.margin("clearance client").where


@pytest.mark.slow
def test_a_wall_before_the_ring_is_named():
    wall = Shape(Box((0.05, 3.0, 3.0)), (0.9, 0.0, 0.0), colour="panel")
    plan = plan_capture(small_task(wall), dataclasses.replace(SETTINGS, rounds=1))
    assert not plan.keeps_limits
    assert any("clearance client" in one and "panel" in one for one in plan.in_the_way), plan


def test_too_little_time_is_named():
    plan = plan_capture(small_task(duration=3.0), dataclasses.replace(SETTINGS, rounds=1))
    assert not plan.keeps_limits
    assert any(one.startswith("base force") for one in plan.in_the_way), plan


def test_a_plan_comes_back_from_its_file(tmp_path):
    plan = planned()
    again = Plan.load(plan.save(tmp_path / "plan.json"))
    assert again.margins == plan.margins
    np.testing.assert_array_equal(again.curve.coefficients, plan.curve.coefficients)
    (tmp_path / "other.json").write_text("{}")
    with pytest.raises(ModelError, match=r"other\.json' is not a plan"):
        Plan.load(tmp_path / "other.json")


def test_a_plan_flown_keeps_its_limits_and_meets_the_ring():
    task, plan = small_task(), planned()
    run = ff.simulate(flight_experiment(task, plan, dt=0.02))
    assert run.audit.holds
    tool, ring = (run.values(f"{name}.position")[-1] for name in ("servicer.tool", "client.ring"))
    assert np.linalg.norm(tool - ring) < 1e-4  # [m]; RK4 at 20 ms, ideal sensors
    assert np.abs(run.values("servicer.flight.force")).max() <= LIMITS.base_force
    assert np.abs(run.values("servicer.joints.torque")).max() <= LIMITS.torque
    assert run.values("clearance").min() >= LIMITS.clearance
    # What the plan said would be needed is what the run used.
    used = plan.margin("base force").value
    assert abs(np.abs(run.values("servicer.flight.force")).max() - used) < 0.05 * LIMITS.base_force


def test_a_plan_for_no_cell_is_not_rehearsed():
    with pytest.raises(ModelError, match="planned for no cell"):
        flight_rehearsal(small_task(), planned())


def test_without_its_solver_planning_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "ipyopt", None)
    with pytest.raises(ModelError, match=r"freefloat\[plan\]"):
        require_ipopt()


def test_impossible_tasks_and_settings_are_refused():
    task = small_task()
    with pytest.raises(ModelError, match="duration must be positive"):
        dataclasses.replace(task, duration=0.0)
    with pytest.raises(ModelError, match="needs 2 angles"):
        dataclasses.replace(task, posture=(0.0,))
    with pytest.raises(ModelError, match="has no frame 'hook'"):
        dataclasses.replace(task, ring="hook")
    with pytest.raises(ModelError, match="moves within itself"):
        CaptureTask(task.servicer, task.servicer, task.start, task.start, 10.0, posture=(0.0, 0.0))
    with pytest.raises(ModelError, match="has no moving joints"):
        CaptureTask(small_client(), small_client(), task.client_start, task.client_start, 10.0, posture=())
    with pytest.raises(ModelError, match="7 control points or more"):
        PlanSettings(points=5)
    with pytest.raises(ModelError, match=r"PlanSettings\.seconds must be positive"):
        PlanSettings(seconds=0.0)
    with pytest.raises(ModelError, match="3 numbers, the arm has 2 joints"):
        dataclasses.replace(LIMITS, rate=(1.0, 1.0, 1.0)).joint("rate", 2)
    with pytest.raises(ModelError, match=r"rate must be positive"):
        dataclasses.replace(LIMITS, rate=-1.0)


def test_an_arm_without_limits_gets_those_of_a_light_weight_robot():
    limits = MotionLimits.of(ff.library.servicer())
    np.testing.assert_allclose(np.rad2deg(limits.upper), [170, 120, 170, 120, 170, 120, 170])
    assert limits.torque == (176.0, 176.0, 100.0, 100.0, 100.0, 38.0, 38.0)


def test_spacecraft_without_shapes_are_one_sentence_each_with_what_to_do():
    """A task without them would stack no distances: `plan_capture` would end in JAX's "Need at least one array"."""
    task = small_task()
    with pytest.raises(ModelError, match=r"'client' has no shapes on its base.*with_shapes\('base'"):
        dataclasses.replace(task, client=task.client.with_shapes("base"))
    bare = task.servicer
    for body in bare.body_names:
        bare = bare.with_shapes(body)
    with pytest.raises(ModelError, match=r"'servicer' has no shapes on any of its bodies.*with_shapes\('lower'"):
        dataclasses.replace(task, servicer=bare)


def test_all_that_is_wrong_with_a_task_is_said_at_once():
    task = small_task()
    wheeled = task.servicer.with_wheel("wheel", axis=(0.0, 0.0, 1.0), inertia=0.01)
    with pytest.raises(ModelError, match=r"(?s)has wheels.*no frame 'hook'.*needs 2 angles.*'client' has no shapes"):
        dataclasses.replace(task, servicer=wheeled, ring="hook", posture=(0.0,), client=task.client.with_shapes("base"))
