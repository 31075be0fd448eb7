"""Lesson 20: an arm whose gear winds up swings farther than its motor, and closer to what is beside it.

Run it: python examples/20_a_gear_that_winds_up_and_how_close_it_comes.py

The motor brings the arm to 80 degrees and stands. A ball is at 90 degrees. With a stiff gear the arm stops beside it;
with a real one it swings on, and the clearance that was planned is not the clearance that is left.
"""

import numpy as np

import freefloat as ff
from freefloat.control import JointSpline
from freefloat.model.shapes import Shape

LENGTH, RADIUS, BALL, AWAY = 2.0, 0.05, 0.1, 1.5  # of the arm; of the ball, and how far it is from the joint [m]
INERTIA, STIFFNESS = 7.0, 400.0  # of the arm about its joint [kg m2], of the gear [N m/rad]

hub = ff.Spacecraft.from_base("hub", mass=500.0, inertia=(100.0, 100.0, 100.0))  # [kg], [kg m2]
hub = hub.with_shapes("base", Shape.ball((0.0, AWAY, 0.0), BALL))  # an antenna, say, on the hub
bar = {"com": (1.0, 0.0, 0.0), "mass": 5.0, "inertia": (0.1, 2.0, INERTIA - 5.0)}
gear = ff.JointFlexibility(stiffness=STIFFNESS, motor_inertia=1e-4, ratio=100.0, damping=1.0)


def arm(flexibility):
    craft = hub.with_link("arm", parent="base", joint="revolute", flexibility=flexibility, **bar)
    return craft.with_shapes("arm", Shape.capsule((0.0, 0.0, 0.0), (LENGTH, 0.0, 0.0), RADIUS))


def closest(flexibility):
    craft = arm(flexibility)
    spline = JointSpline.through(craft, [(0.0,), (80.0,)], durations=[2.0])  # [deg], [s]
    watched = ff.Clearance(pairs=(("base", "arm"),))
    run = ff.simulate(ff.World.of(craft).hold_base(), spline, watched, duration=4.0, dt=2e-3)
    print(f"{'gear' if flexibility else 'stiff'}: {np.min(run['clearance'].values):.4f} m")
    return np.min(run["clearance"].values)


stiff, wound = closest(None), closest(gear)
planned = AWAY * np.sin(np.deg2rad(10.0)) - RADIUS - BALL
print(f"checked: clearance with a stiff gear {stiff:.6f} m (expected {planned:.6f} +- 1e-6)")
print(f"the gear takes {1e3 * (stiff - wound):.1f} mm of it")

# The motor stands, so the arm swings on the gear alone.
modes = ff.analysis.vibration_modes(arm(gear), held=True, locked=("arm",))
expected = np.sqrt(STIFFNESS / INERTIA) / (2.0 * np.pi)
print(f"checked: frequency on the gear {modes.hz[0]:.9f} Hz (expected {expected:.9f} +- 1e-9)")
