"""Lesson 17: a Canadarm on a bus that is hardly heavier than the arm: two kinds of software draw the same line.

One knows how the bus answers (generalised Jacobian), the other takes the bus as standing still. On so light a bus the
second is not a little off: its line is another one.
"""

import tempfile
from pathlib import Path

import numpy as np

import freefloat as ff
from freefloat.control import SatelliteBasedMotion

ROBOTS = Path(__file__).parent / "data" / "robots"
POSE = {"arm.shoulder_pitch": 70.0, "arm.elbow_pitch": -110.0, "arm.wrist_pitch": 40.0}  # [deg]

bus, arm = ff.read_urdf(ROBOTS / "bus.urdf"), ff.read_urdf(ROBOTS / "canadarm.urdf")
panel = ff.flex.beam(
    length=4.0, mass=15.0, bending_stiffness=600.0, modes={"z": 1}, damping_ratio=0.005
)  # [m], [kg], [N m2]
craft = bus.mount(panel, name="left", at=ff.Pose.from_rpy_deg((0.0, 0.0, 90.0), (0.0, 0.5, 0.0)))
craft = craft.mount(panel, name="right", at=ff.Pose.from_rpy_deg((0.0, 0.0, -90.0), (0.0, -0.5, 0.0)))
craft = craft.mount(arm, name="arm", at=(0.0, 0.0, 0.6))
print(f"the bus has {float(bus.mass):g} kg, the arm {float(arm.mass):.1f} kg")

line = ff.Line(direction=(1.0, 0.0, 0.0), length=0.3, speed=0.02, ramp=3.0)  # [m], [m/s], [s]
candidates = {
    "knows the reaction": ff.ResolvedMotion(craft, line, frame="arm.hand", gain=2.0, period=0.1),  # [1/s], [s]
    "takes the bus as fixed": SatelliteBasedMotion(craft, line, frame="arm.hand", period=0.1),
}
runs, off = {}, {}
for name, software in candidates.items():
    run = runs[name] = ff.simulate(craft, software, joints_deg=POSE, duration=24.0, dt=0.05)
    error = np.linalg.norm(run["arm.hand.position_error"].values, axis=1)
    off[name] = float(error.max())
    turned = np.rad2deg(2.0 * np.arccos(np.abs(run["base.attitude"].values[-1, 0])))
    print(
        f"{name}: hand off by {1e3 * off[name]:.2f} mm, bus turned by {turned:.2f} deg, audit holds: {run.audit.holds}"
    )
page = ff.compare(list(runs.values()), Path(tempfile.gettempdir()) / "canadarm.html", names=list(runs))
print(f"page: {page}\n")

knowing, blind = off.values()
print(f"checked: off its line with the reaction known {1e3 * knowing:.3f} mm (expected 0.027 +- 0.003)")
print(f"checked: off its line with the bus taken as fixed {blind:.4f} m (expected 0.1592 +- 5e-4)")
