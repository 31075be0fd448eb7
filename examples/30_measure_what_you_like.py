"""Lesson 30: measure what you like: a quantity and a sensor of your own, an accelerometer, and the force in a joint.

A quantity is one small class: its channel, with unit and axes, and its value. It is then recorded, software reads it
by its name, and software outside finds its unit in its contract. A sensor under the same name takes its place, with
errors: the software does not change.
"""

import jax.numpy as jnp
import numpy as np

import freefloat as ff
from freefloat.dynamics import inertial_frame_pose
from freefloat.sensors import Accelerometer, Ideal, JointWrench, SpecificForce

STAR = np.array([0.8, 0.6, 0.0])  # a direction in N
hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0))  # [kg], [kg m2]
hub = hub.with_link("load", parent="base", joint="fixed", at=(1.0, 0.0, 0.0), mass=25.0, inertia=(1.0, 1.0, 1.0))
hub = (
    hub.with_wheel("wheel", axis=(0.0, 0.0, 1.0), inertia=0.1)
    .with_frame("eye", body="base")
    .with_frame("imu", body="base", at=(0.0, 0.5, 0.0))
)


def aim(truth):
    """Angle about z from the x axis of the frame `eye` to the star [rad]."""
    x, y, _ = inertial_frame_pose(truth.craft, truth.state, "eye").R.T @ STAR
    return jnp.arctan2(y, x)


@ff.record
class Aim(ff.Quantity):
    """The angle to the star."""

    def channels(self, craft):
        return (ff.Channel("aim", "Angle to the star", "rad"),)

    def value(self, truth, name):
        return aim(truth)


@ff.record
class StarSensor(ff.sensors.ImperfectSensor):
    """Measures that angle, with noise."""

    noise: float = 1e-3  # [rad]

    def measure(self, truth, number, clock):
        return {"aim": aim(truth) + self.noise * self.draw(truth, number, 1)[0]}


@ff.record
class FaceTheStar(ff.Software):
    """Turns the hub by its wheel until it looks at the star."""

    def command(self, memory, y, clock):
        return ff.WheelTorques(("wheel",), (60.0 * y["base.rate"][2] - 40.0 * y["aim"])[None])


point, star = FaceTheStar(period=0.1), StarSensor(period=0.1)
ideal = ff.simulate(hub, Aim(), point, duration=60.0, dt=0.1)
real = ff.simulate(hub, Aim(), point, star, Ideal(("base.rate",)), duration=60.0, dt=0.1)
print(f"The star is at {ideal.values('aim')[0]:.4f} rad first; recorded in {ideal['aim'].units}.")
# The loop's poles have real parts of about -0.7/s: after 60 s rounding is left.
print(f"checked: ideal, angle at the end {ideal.values('aim')[-1]:.6f} rad (expected 0 +- 1e-6)")
# The loop follows its sensor's noise of 1e-3 rad, but not quickly: some tenths of it are left.
print(f"checked: with the sensor, angle at the end {real.values('aim')[-1]:.6f} rad (expected 0 +- 2e-3)")
contract = ff.outside.host(ff.Experiment.of(hub, Aim(), point, duration=1.0, dt=0.1), "FaceTheStar").contract
print("In its contract:", next(field for field in contract.reads if field.name == "aim"))

# A push of 5 N through the centre of mass: everything is carried along at F/m, and the joint carries its load's share.
push = ff.WrenchPulse("base", (5.0, 0.0, 0.0, 0.0, 0.0, 0.0))
felt = ff.simulate(hub, push, SpecificForce("imu"), JointWrench("load"), Accelerometer("imu"), duration=1.0, dt=0.1)
print(f"checked: acceleration {felt.values('imu.specific_force')[-1, 0]:.6f} m/s2 (expected 0.04 +- 1e-9)")
print(f"checked: force in the joint {felt.values('load.force')[-1, 0]:.6f} N (expected 1 +- 1e-9)")
