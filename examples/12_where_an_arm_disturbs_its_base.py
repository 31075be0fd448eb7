"""Lesson 12: maps over a plane of joint angles: how much the arm disturbs its base, and where it is singular."""

import numpy as np

import freefloat as ff
from freefloat.analysis import disturbance_map, singularity_map

craft = ff.library.ets7()
q = np.deg2rad([0.0, 0.0, 10.0, -32.8, 0.0, 0.0])
plane = {"arm.2": np.deg2rad(np.linspace(-90, 90, 37)), "arm.3": np.deg2rad(np.linspace(-90, 90, 37))}

disturbance = disturbance_map(craft, q, plane)
calm = disturbance["largest"].where(disturbance["largest"] == disturbance["largest"].min(), drop=True)
print("Least disturbing posture [deg]:", {k: float(np.rad2deg(v[0])) for k, v in calm.coords.items() if k in plane})

singular = singularity_map(craft, q, plane, "hand")
gap = singular["kinematic"] - singular["dynamic"]
print("The floating base changes the smallest singular value by at most", f"{float(abs(gap).max()):.3f}")

page = ff.map_page([disturbance, singular], "runs/ets7-map.html")  # heat maps; open it in a browser
print("Look at them:", page)

here = disturbance.sel({"arm.2": 0.0, "arm.3": np.deg2rad(10.0)}, method="nearest")
print(f"checked: base rate per unit joint rate {float(here['largest']):.4f} rad/rad (expected 0.0443 +- 0.0005)")
