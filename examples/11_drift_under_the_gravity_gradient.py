"""Lesson 11: how long may the attitude control be off? (ETS-VII, experiment 4)

The arm sticks out of the satellite, so the inertia is not aligned with the orbit, and the gravity gradient turns it.
"""

import numpy as np

import freefloat as ff
from freefloat.control import HoldJoints

craft = ff.library.ets7()
orbit = ff.effects.CircularOrbit(altitude=550e3)  # [m]
q = np.deg2rad([0.0, 0.0, 10.0, -32.8, 0.0, 0.0])
start = ff.effects.co_rotating_state(craft, orbit, q)

locked = HoldJoints(craft.layout.moving_joints)
tide = ff.effects.GravityGradient(orbit=orbit)
run = ff.simulate(craft, locked, tide, state=start, duration=600.0, dt=1.0)

pitch = np.rad2deg(run["orbit.roll_pitch_yaw"].sel(rpy="pitch"))
lost = float(pitch["time"][np.argmax(pitch.values > 1.0)])
print(f"Torque at the start: {run['orbit.torque'].values[0]} N m")
print(f"checked: 1 deg of drift after {lost:.0f} s (expected 469 +- 1)")
print(f"checked: pitch after ten minutes {float(pitch[-1]):.4f} deg (expected 1.6459 +- 1e-4)")
