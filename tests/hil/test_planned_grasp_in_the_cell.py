"""A planned motion to Envisat's ring, made by the robots of the virtual cell to its end, where the gripper closes."""

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("ipyopt")

import freefloat as ff
from freefloat.hil.cell import CellSettings, Gripper, SensorSettings, ServoSettings, envisat_cell, envisat_start
from freefloat.planning import CaptureTask, CellRoom, PlanSettings, flight_rehearsal, plan_capture

HOLD = 1.0  # [s]


def cell():
    settings = CellSettings(
        servo=ServoSettings(lag="second", bandwidth=25.0, delay=8e-3),
        sensor=SensorSettings(noise=(0.05, 0.003), bias=(2.0, 0.1), range=(500.0, 200.0), tare_samples=1000),
        arm_stiffness=500.0,
        arm_damping=10.0,
    )
    return envisat_cell(settings, gripper=Gripper(2000.0, 100.0, 20.0, 1.0), distance=4.9)


@pytest.mark.slow
def test_the_cell_makes_the_planned_motion_within_its_limits_and_the_gripper_holds():
    facility, client = cell(), ff.library.envisat()
    tumbling = client.in_motion(rate_deg_s=(0.5, -2.5, 0.8))
    start = ff.library.servicer_start(tumbling, gap=0.6)
    room = CellRoom.of(facility, envisat_start()["client"])
    task = CaptureTask(ff.library.servicer(), client, start, tumbling, 30.0, cell=room)
    plan = plan_capture(task, PlanSettings(explain=False, seconds=600.0))
    assert plan.keeps_limits, plan

    run = ff.rehearse(flight_rehearsal(task, plan, hold=HOLD), facility)
    assert run.completed, run.status
    assert run.audit.holds
    for used in facility.use.robots.values():
        assert used.room.min() > 0.0
        assert max(used.rate.max(), used.acceleration.max()) < 1.0
    # The robot is as fast as the plan said; the servo's lag and the grasp change that little.
    said = plan.margin("cell rate")
    assert facility.use.robots["servicer"].rate.max() == pytest.approx(said.value / said.limit, rel=0.05)
    assert np.abs(run.values("servicer.flight.force")).max() <= task.bounds.base_force

    tool, ring = (run.values(f"{name}.position") for name in ("servicer.tool", "client.ring"))
    apart, t = np.linalg.norm(tool - ring, axis=1), run.values("time")
    holds = run.values("cell.servicer.gripper.holds")
    assert apart[t >= plan.duration].max() < 1e-3  # [m], of the 30 mm in which the gripper closes
    assert not holds[t < plan.duration].any()
    assert holds[-1] == 1.0
