"""Lesson 10: the same 200 mm, drawn in space and drawn on the satellite (ETS-VII, experiments 1 and 2).

Software that knows how the base answers keeps the hand on its line with the wheels off. Software that only knows the
satellite leaves the attitude error of the satellite in the hand, however hard small wheels work.
"""

import numpy as np

import freefloat as ff
from freefloat.control import AttitudeHold, SatelliteBasedMotion

START = (0.0, 0.0, 10.0, -32.8, 0.0, 0.0)  # joint angles [deg]
line = ff.Line(direction=(1.0, 0.0, 0.0), length=0.2, speed=0.01)  # [m], [m/s]

craft = ff.library.ets7(wheels=True)
for wheel in craft.wheel_names:
    craft = craft.with_value(f"{wheel}.max_torque", 0.05)  # [N m]

conventional = SatelliteBasedMotion(craft=craft, frame="hand", path=line)
wheels = AttitudeHold(craft=craft, period=0.05)
run = ff.simulate(craft, conventional, wheels, joints_deg=START, duration=60.0, dt=0.05)
on_satellite = np.rad2deg(np.linalg.norm(run["hand.rotation_error"], axis=1).max())
print("Conditions of the run:", *run.conditions, sep="\n  ")

commanded = ff.ResolvedMotion(craft=ff.library.ets7(), frame="hand", path=line, period=0.25)  # 4 Hz, as in flight
run = ff.simulate(ff.library.ets7(), commanded, joints_deg=START, duration=22.0, dt=0.05)
in_space = np.rad2deg(np.linalg.norm(run["hand.rotation_error"], axis=1).max())

print(f"checked: satellite-based hand error {on_satellite:.4f} deg (expected 0.361 +- 0.002)")
print(f"checked: generalised Jacobian hand error {in_space:.3e} deg (expected 4.1e-4 +- 1e-5)")
