"""Lesson 33: actuators of your own: magnetorquers, and a control-moment gyro with gimbal and spin.

An actuator names the ports that it accepts, and makes forces or prescribed motion of what is commanded there. One class
in one file is all: the loop, the audit, channels, input ports and outside software know it from then on.
(The library has both, with more: `actuators.Magnetorquers`, `actuators.ControlMomentGyros`.)
"""

import jax.numpy as jnp
import numpy as np

import freefloat as ff

FIELD = np.array([3e-5, 0.0, 0.0])  # of the Earth, inertial axes [T]


@ff.record
class Torquers(ff.Actuator):
    """Three coils in a magnetic field that stands still."""

    def accepts(self, craft):
        return (ff.CommandPort("torquers.dipole", "A m2", ("x", "y", "z")),)

    def force(self, truth, memory, u, clock):
        B = truth.state.X_NB.R.T @ FIELD
        return jnp.zeros(truth.craft.layout.nv).at[3:6].set(jnp.cross(u["torquers.dipole"], B))


@ff.record
class Gyro(ff.Actuator):
    """A wheel on a gimbal: the gimbal takes the rate that is commanded, the wheel the torque."""

    def accepts(self, craft):
        return (
            ff.CommandPort("gyro.gimbal_rate", "rad/s", ("gimbal",), drives=("gimbal",)),
            ff.CommandPort("gyro.spin_torque", "N m", ("rotor",), drives=("rotor",)),
        )

    def prescribes(self, craft, parts):
        return parts["gyro.gimbal_rate"]

    def rates(self, craft, memory, u, clock):
        return jnp.clip(u["gyro.gimbal_rate"], -1.0, 1.0)  # [rad/s]

    def force(self, truth, memory, u, clock):
        layout = truth.craft.layout
        return jnp.zeros(layout.nv).at[layout.velocity("rotor")].set(u["gyro.spin_torque"])


# A compass needle: a dipole along x swings about the field with the rate sqrt(m B / I).
needle = ff.Spacecraft.from_base("needle", mass=10.0, inertia=(0.2, 0.3, 0.3))  # [kg], [kg m2]
tilted = needle.at_rest(at=ff.Pose.from_rpy_deg((0.0, 0.0, np.degrees(1e-3)), (0.0, 0.0, 0.0)))  # by 1 mrad about z
inputs = {"command.torquers.dipole": [2.0, 0.0, 0.0]}  # [A m2]
swing = ff.simulate(needle, Torquers(), state=tilted, duration=800.0, dt=0.1, record_dt=0.1, inputs=inputs)
yaw, t = swing.values("base.roll_pitch_yaw")[:, 2] + 1e-3, swing.values("time")
rises = t[1:][(yaw[:-1] < 0.0) & (yaw[1:] >= 0.0)]
expected = 2.0 * np.pi * np.sqrt(0.3 / (2.0 * 3e-5))
print(f"checked: period of the needle {np.mean(np.diff(rises)):.2f} s (expected {expected:.2f} +- 0.1)")  # a record

# A gyro turns its momentum from x to y within two seconds; a heavy base takes the difference.
craft = ff.Spacecraft.from_base("bus", mass=1e5, inertia=(1e6, 1e6, 1e6)).with_link(
    "gimbal", parent="base", joint="revolute", mass=1.0, inertia=(0.2, 0.2, 0.2), axis=(0.0, 0.0, 1.0)
)
craft = craft.with_wheel("rotor", body="gimbal", axis=(1.0, 0.0, 0.0), inertia=0.1)
spinning = craft.in_motion(wheels={"rotor": 500.0})  # [rad/s]: 50 N m s
turn = ff.simulate(
    craft, Gyro(), state=spinning, duration=2.0, dt=0.01, inputs={"command.gyro.gimbal_rate": [np.pi / 4]}
)
print(turn.audit)
rate = turn.values("base.rate")[-1]
print(f"checked: base about x {1e6 * rate[0]:.3f} N m s (expected 50 +- 0.01)")  # by how much the base turned meanwhile
print(f"checked: base about y {1e6 * rate[1]:.3f} N m s (expected -50 +- 0.01)")

# Its wheel is a wheel like any other: limits, the search for the instant at which it is full, and failures hold for it.
dead = ff.actuators.DeadWheel(wheel="rotor", at=1.0)
inputs = {"command.gyro.spin_torque": [0.5]}
spun = ff.simulate(craft, Gyro(), dead, state=spinning, duration=2.0, dt=0.01, inputs=inputs)
gained = 0.1 * (spun.values("wheels.speed")[-1, 0] - 500.0)
print(f"checked: momentum gained before the motor died {gained:.6f} N m s (expected 0.5 +- 1e-5)")
