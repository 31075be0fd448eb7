"""Lesson 31: control-moment gyros turn a satellite.

A wheel that spins is turned by a gimbal. Its momentum changes direction, and the satellite gets what the wheel loses: h
times the gimbal rate. The gimbal's motor has to hold h times the rate of the satellite, which is less. Four gyros in a
pyramid give torque about every axis, except where their directions lie in a plane: there they are singular.
"""

import numpy as np

import freefloat as ff
from freefloat.library import with_gyro_pyramid

# ---- a satellite with four gyros: each is a link on a joint (the gimbal) that carries a wheel

satellite = ff.Spacecraft.from_base("satellite", mass=400.0, inertia=(60.0, 70.0, 50.0))  # [kg], [kg m2]
satellite = with_gyro_pyramid(
    satellite,
    radius=0.3,  # from the z axis [m]
    mass=8.0,  # of gimbal and wheel [kg]
    inertia=(0.06, 0.05, 0.04),  # about spin axis, axis across, gimbal axis [kg m2]
    spin_inertia=0.05,  # of the wheel [kg m2]
    max_gimbal_rate=1.0,  # [rad/s]
)
speed = 400.0  # of the wheels [rad/s]
print(f"{satellite.name}: gimbals {satellite.layout.moving_joints}, each wheel with {0.05 * speed:g} N m s")

# ---- the actuator takes gimbal rates; the steering finds them for the torque that other software wants

gyros = ff.actuators.ControlMomentGyros.of(satellite)
attitude = ff.control.AttitudeHold(
    satellite, stiffness=5.0, damping=30.0, reference=np.array([1.0, 0.0, 0.0, 0.0]), actuator="base torque"
)
steering = ff.control.GyroSteering(satellite, gyros, attitude)

half = np.deg2rad(20.0)  # the satellite is turned by 40 deg about an axis between x and y
turned = ff.Pose.from_quaternion(np.array([np.cos(half), 0.6 * np.sin(half), 0.8 * np.sin(half), 0.0]), np.zeros(3))
start = satellite.in_motion(satellite.at_rest(at=turned), wheels=np.full(4, speed))
run = ff.simulate(satellite, gyros, steering, state=start, duration=60.0, dt=0.05)
print(run.audit)

left = 2.0 * np.rad2deg(np.linalg.norm(run["base.attitude"].values[-1, 1:]))
names = ("joints.rate", "gyros.wanted_torque", "joints.torque")
fastest, torque, motor = (np.max(np.abs(run[name].values)) for name in names)
print(f"turned by 40 deg, {left:.4f} deg are left; gimbal rates up to {fastest:.3f} rad/s")
print(f"largest torque on the satellite {torque:.2f} N m, of a gimbal's motor {motor:.2f} N m")

# ---- check: nothing pushes from outside, and the wheels' motors give no torque

momentum = np.max(np.abs(run["momentum.angular"].values))
spin = run["wheels.absolute_momentum"].values
# RK4 at 50 ms loses about 1e-11 N m s of 20 N m s.
print(f"checked: momentum of the whole {momentum:.1e} N m s (expected 0 +- 1e-8)")
print(f"checked: change of the wheels' spin {np.max(np.abs(spin - spin[0])):.1e} N m s (expected 0 +- 1e-8)")

# ---- check: how far from singular. A has the directions of the four as columns; det(A A^T) is 32/27 at gimbal angle 0

measure = run["gyros.singularity"].values[0]
print(f"checked: det(A A^T) at the start {measure:.9f} (expected 1.185185185 +- 1e-9)")
