"""Lesson 28: a grasp is planned, flown in simulation, and rehearsed by two robots until a gripper holds the ring.

Envisat tumbles; a servicer with a folded arm shall bring its tool to the ring in 30 s and be at rest there with it.
The motion of base and arm is found by optimisation within all limits, those of the cell's robots too. On-board software
then follows it, first in simulation, where every balance is audited, then in the virtual cell, where a gripper closes.
"""

import numpy as np

import freefloat as ff
from freefloat.hil.cell import CellSettings, Gripper, ServoSettings, envisat_cell, envisat_start
from freefloat.planning import CellRoom, flight_experiment, flight_rehearsal, plan_capture, straight_capture

client, servicer = ff.library.envisat(), ff.library.servicer()
tumbling = client.in_motion(rate_deg_s=(0.5, -2.5, 0.8))
facing = ff.library.servicer_start(tumbling, gap=0.6)  # turning with Envisat, the arm folded, its tool looking away

settings = CellSettings(
    servo=ServoSettings(lag="second", bandwidth=25.0, delay=8e-3),  # [Hz], [s]
    arm_stiffness=500.0,  # [N m/rad]
    arm_damping=10.0,  # [N m s/rad]
)
soft = Gripper(stiffness=2000.0, damping=100.0, turn_stiffness=20.0, turn_damping=1.0)  # [N/m], [N s/m], [N m/rad], ...
cell = envisat_cell(settings, gripper=soft, distance=4.9)  # [m]
room = CellRoom.of(cell, envisat_start()["client"])
task = ff.CaptureTask(servicer, client, facing, tumbling, duration=30.0, cell=room)  # [s]

# Straight from start to goal, in pose and joints: what would it break?
straight = straight_capture(task)
for broken in straight.broken_limits:
    print("straight:", broken)

# The same ends, planned.
plan = plan_capture(task)
print(plan)
print(f"checked: limits that the plan breaks {len(plan.broken_limits)} (expected 0 +- 0)")

# Flown: feed-forward of the plan, feedback on what is measured.
run = ff.simulate(flight_experiment(task, plan))
print(run.audit)
tool, ring = (run.values(f"{name}.position")[-1] for name in ("servicer.tool", "client.ring"))
print(f"checked: tool from ring at the end {np.linalg.norm(tool - ring):.6f} m (expected 0 +- 1e-4)")
print(f"Nearest in the run: {run.values('clearance').min():.3f} m; {task.bounds.clearance:g} m are asked for.")

# Rehearsed: both robots make the motion relative to Envisat's own, then the gripper holds for two seconds.
rehearsed = ff.rehearse(flight_rehearsal(task, plan, hold=2.0), cell)
print(rehearsed.status)
for name, used in cell.use.robots.items():
    print(f"{name}: {100 * used.rate.max():.1f} % of its rates, {100 * used.room.min():.0f} % of a range left")
print("Nearest: {} {:.3f} m".format(*cell.use.nearest))
print(f"checked: time reached in the cell {rehearsed.values('time')[-1]:.3f} s (expected 32 +- 1e-6)")
print(f"checked: gripper holds {rehearsed.values('cell.servicer.gripper.holds')[-1]:.0f} (expected 1 +- 0)")
