"""Lesson 29: two spacecraft in one orbit, free and latched.

Gravity differs from place to place. Two free spacecraft drift apart by it (Clohessy and Wiltshire). Joined by a latch,
they pull at one another and swing about the vertical like one long body. One effect does both: it acts on every
spacecraft of the world by its place.
"""

import numpy as np

import freefloat as ff
from freefloat.effects import CircularOrbit, GravityGradient, PlaceInOrbit, co_rotating_states, transition_matrix

orbit = CircularOrbit(altitude=550e3)  # [m]
gravity = GravityGradient(orbit)
ball = ff.Spacecraft.from_base("ball", mass=1000.0, inertia=(250.0, 250.0, 250.0))  # [kg], [kg m2]
world = ff.World(chaser=ball, client=ball)

# ---- free: the client starts 40 m below the chaser, at rest in the orbital frame (z to the nadir, x along the flight)
below = np.array([0.0, 0.0, 40.0])  # [m]
start = co_rotating_states(world, orbit, {"chaser": PlaceInOrbit(), "client": PlaceInOrbit(below)})
free = ff.simulate(world, gravity, state=start, duration=1200.0, dt=1.0)
x, _, z = free["client.orbit.position"].values[-1]
exact = np.asarray(transition_matrix(orbit.rate, 1200.0)) @ np.concatenate([below, np.zeros(3)])
print(f"Free: after 20 minutes the client is {x:.1f} m ahead and {z:.1f} m below the chaser.")
# RK4 at 1 s loses 1e-12 of the motion; six digits are printed.
print(f"checked: the client is ahead by {x:.6f} m (expected {exact[0]:.6f} +- 2e-6)")

# ---- latched: 4 m apart, 30 deg from the vertical, both turning with the orbital frame
apart = 4.0 * np.array([np.sin(np.deg2rad(30.0)), 0.0, np.cos(np.deg2rad(30.0))])  # [m]
joined = world.connection("latch", "chaser.base", "client.base", on=True, at=ff.Pose(position=apart))
start = co_rotating_states(joined, orbit, {"chaser": PlaceInOrbit(-0.5 * apart), "client": PlaceInOrbit(0.5 * apart)})
latched = ff.simulate(joined, gravity, state=start, duration=3000.0, dt=1.0)
line = latched["client.orbit.position"].values[-1] - latched["chaser.orbit.position"].values[-1]
angle = np.rad2deg(np.arctan2(line[0], line[2]))
print("Latched: they swing about the vertical, as one long body would; after 3000 s:")
# The reference, by a second code, is printed with four decimals.
print(f"checked: angle from the vertical {angle:.4f} deg (expected 12.7682 +- 1e-4)")
