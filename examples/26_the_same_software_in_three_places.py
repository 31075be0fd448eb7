"""Lesson 26: on-board software inside the simulation, beside it, and in a process of its own; then it is killed.

Software stops the spin of a satellite with its wheels: compiled into the loop, as an object that sees measurements
only, and in another process behind a local socket. Its torques must be the same to the last bit: what was tested flies.
"""

import dataclasses
import os
import signal
import sys

import numpy as np

import freefloat as ff

WHEELS = ("wx", "wy", "wz")
satellite = ff.Spacecraft.from_base("satellite", mass=150.0, inertia=(20.0, 25.0, 30.0))  # [kg], [kg m2]
for wheel, axis in zip(WHEELS, np.eye(3), strict=True):
    satellite = satellite.with_wheel(wheel, body="base", axis=tuple(axis), inertia=0.05)  # [kg m2]


@ff.record
class Stop(ff.Software):
    """Torques against the measured rate and its sum."""

    gain: float = 8.0  # [N m s]
    sum_gain: float = 0.5  # [N m]

    def begin(self, y):
        return 0.0 * y["base.rate"]

    def remember(self, memory, y, clock):
        return memory + clock.hold * y["base.rate"]

    def command(self, memory, y, clock):
        return ff.WheelTorques(WHEELS, self.gain * y["base.rate"] + self.sum_gain * memory)


def experiment():
    spinning = dataclasses.replace(satellite.at_rest(), v=np.array([0, 0, 0, 0.02, -0.03, 0.05, 0, 0, 0]))  # [rad/s]
    gyro = ff.sensors.Gyro(noise=1e-4, period=0.1)  # [rad/s], [s]
    return ff.Experiment.of(satellite, Stop(period=0.1), gyro, state=spinning, duration=20.0, dt=0.05, record_dt=0.1)


def software():
    """What `freefloat software` runs: the software as an object of its own."""
    return ff.outside.host(experiment(), "Stop", name="stop")


class KillsItself:
    """Plain Python, no JAX: answers nothing in particular, and is killed at 5 s."""

    name, period, reads, commands = "doomed", 0.1, ("base.rate",), {"wheels.torque": WHEELS}

    def begin(self, y):
        return None

    def step(self, t, y):
        if t > 4.95:
            os.kill(os.getpid(), signal.SIGKILL)
        return {"wheels.torque": 8.0 * y["base.rate"]}


def process(*words: str) -> ff.outside.SoftwareLink:
    return ff.outside.SoftwareLink(command=(sys.executable, *words), patience=120.0)


if __name__ == "__main__" and "--doomed" in sys.argv:
    ff.outside.serve(KillsItself())
elif __name__ == "__main__":
    inside = ff.simulate(experiment())
    beside = ff.fly(experiment(), ff.ExternalSoftware(software(), instead_of="Stop"))
    program = process("-m", "freefloat", "software", __file__)
    apart = ff.fly(experiment(), ff.ExternalSoftware(program, instead_of="Stop"))
    for where, run in (("beside it", beside), ("in a process of its own", apart)):
        off = np.abs(run.values("wheels.torque") - inside.values("wheels.torque")).max()
        print(f"checked: torques {where} differ from those inside by {off:g} N m (expected 0 +- 0)")
    killed = ff.fly(experiment(), ff.ExternalSoftware(process(__file__, "--doomed"), instead_of="Stop"), check=False)
    print(killed.status)
    print(f"checked: the run until then reaches {killed.values('time')[-1]:.3f} s (expected 5 +- 1e-9)")
