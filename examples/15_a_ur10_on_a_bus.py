"""Lesson 15: a UR10 from its file on a 500 kg bus with panels and wheels: mounted, started and moved by name.

The arm's flange follows a path through poses that are given in space, while wheels hold the bus and the panels swing.
"""

import tempfile
from pathlib import Path

import numpy as np

import freefloat as ff
from freefloat.control import AttitudeHold, PoseSpline

ROBOTS = Path(__file__).parent / "data" / "robots"

# ---- the parts: a bus with three wheels, two panels with their first bending mode, the arm

bus, arm = ff.read_urdf(ROBOTS / "bus.urdf"), ff.read_urdf(ROBOTS / "ur10.urdf")
panel = ff.flex.beam(
    length=4.0, mass=15.0, bending_stiffness=600.0, modes={"z": 1}, damping_ratio=0.005
)  # [m], [kg], [N m2]
craft = bus.mount(panel, name="left", at=ff.Pose.from_rpy_deg((0.0, 0.0, 90.0), (0.0, 0.5, 0.0)))
craft = craft.mount(panel, name="right", at=ff.Pose.from_rpy_deg((0.0, 0.0, -90.0), (0.0, -0.5, 0.0)))
craft = craft.mount(arm, name="ur10", at=(0.3, 0.0, 0.5)).with_point_mass("camera", mass=1.5, to="ur10.flange")
print(f"{craft.mass:g} kg, joints that move: {', '.join(craft.layout.moving_joints)}")

# ---- where it starts, and a path through poses in space

start = craft.at_rest(joints_deg={"ur10.lift": -70, "ur10.elbow": 110, "ur10.wrist_1": -40, "ur10.wrist_2": 90})
first = ff.dynamics.inertial_frame_pose(craft, start, "ur10.flange")
poses = [
    first,
    ff.Pose(position=first.p + np.array([0.1, 0.3, 0.1]), rotation=first.R),
    ff.Pose(position=first.p + np.array([0.2, 0.0, 0.2]), rotation=first.R) @ ff.Pose.from_rpy_deg((0, 0, 40)),
]
path = PoseSpline.through(poses, [6.0, 6.0])  # [s]
software = ff.ResolvedMotion(craft, path, frame="ur10.flange", relative_to="N", gain=2.0, period=0.1)  # [1/s], [s]
wheels = AttitudeHold(craft=craft, stiffness=40.0, damping=200.0, period=0.1)  # [N m/rad], [N m s/rad]
run = ff.simulate(craft, software, wheels, state=start, duration=20.0, dt=0.05)

# ---- what happened

off = 1e3 * np.linalg.norm(run["ur10.flange.position_error"].values, axis=1)  # [mm]
tips = 1e3 * np.abs(run["left.tip.displacement"].values[:, 2])  # [mm]
turned = np.rad2deg(np.linalg.norm(run["base.roll_pitch_yaw"].values, axis=1))
print(f"flange off its path by {off.max():.2f} mm at most, {off[-1]:.3f} mm at the end")
print(f"the bus turned by {turned.max():.2f} deg, the tip of a panel moved by {tips.max():.1f} mm")
print(*run.conditions, run.audit, sep="\n")
where = np.linalg.norm(run["ur10.flange.position"].values[-1] - poses[-1].p)
page = ff.page(run, Path(tempfile.gettempdir()) / "ur10.html")
print(f"page: {page}\n")

print(f"checked: mass of all parts {float(craft.mass):.3f} kg (expected 563.935 +- 1e-9)")
print(f"checked: flange from its last pose {1e3 * where:.3f} mm (expected 0 +- 0.01)")
print(f"checked: largest turn of the bus {turned.max():.4f} deg (expected 0.3575 +- 1e-3)")
print(f"checked: largest swing of a tip {tips.max():.3f} mm (expected 1.127 +- 0.01)")
