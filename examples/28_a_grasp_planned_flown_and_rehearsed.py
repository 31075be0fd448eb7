"""Lesson 28: a grasp is planned, flown in simulation, and rehearsed by two robots.

Envisat tumbles; a servicer with a folded arm shall bring its tool before the ring in 30 s and be at rest there with it.
The motion of base and arm is found by optimisation within all limits, those of the cell's robots too. On-board software
then follows it, first in simulation, where every balance is audited, then in the virtual cell.
"""

import numpy as np

import freefloat as ff
from freefloat.hil.cell import CellSettings, ServoSettings, envisat_cell, envisat_start
from freefloat.planning import CellRoom, flight_experiment, flight_rehearsal, plan_capture, straight_capture

client, servicer = ff.library.envisat(), ff.library.servicer()
tumbling = client.in_motion(rate_deg_s=(0.5, -2.5, 0.8))
facing = ff.library.servicer_start(tumbling, gap=0.6)  # turning with Envisat, the arm folded, its tool looking away

servo = ServoSettings(lag="second", bandwidth=10.0, delay=8e-3)  # [Hz], [s]
cell = envisat_cell(CellSettings(servo=servo, arm_stiffness=100.0, arm_damping=4.0), distance=4.9)  # [m]
task = ff.CaptureTask(
    servicer,
    client,
    facing,
    tumbling,
    duration=30.0,  # [s]
    gap=0.05,  # [m], left between tool and ring
    cell=CellRoom.of(cell, envisat_start()["client"]),
)

# Straight from start to goal, in pose and joints: what would it break?
straight = straight_capture(task)
for broken in straight.broken:
    print("straight:", broken)

# The same ends, planned.
plan = plan_capture(task)
print(plan)
print(f"checked: limits that the plan breaks {len(plan.broken)} (expected 0 +- 0)")

# Flown: feed-forward of the plan, feedback on what is measured.
run = ff.simulate(flight_experiment(task, plan))
print(run.audit)
tool, ring = (run.values(f"{name}.position")[-1] for name in ("servicer.tool", "client.ring"))
print(f"checked: tool from ring at the end {np.linalg.norm(tool - ring):.6f} m (expected 0.05 +- 1e-4)")
nearest, limit = float(run.values("clearance").min()), task.bounds.clearance
print(f"Nearest in the run: {nearest:.3f} m; {limit:g} m are asked for.")

# Rehearsed: both robots make the motion relative to Envisat's own; beyond a limit the cell would stop.
rehearsed = ff.rehearse(flight_rehearsal(task, plan), cell)
print(rehearsed.status, {name: f"{100 * one.rate.max():.0f} % of its rates" for name, one in cell.use.robots.items()})
print(f"checked: time reached in the cell within its limits {rehearsed.values('time')[-1]:.3f} s (expected 30 +- 1e-6)")
