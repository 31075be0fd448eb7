"""Lesson 25: a soft capture of a tumbling client.

Envisat turns at 2.5 deg/s; a servicer of 867 kg floats 0.15 m before its ring, a little off in place and rate.
Its software is compliant: springs and dampers between base and Envisat and between tool and ring, made of thrust and
joint torques. The loop has an energy that its dampers take away, whatever Envisat's tumble is. With a wrong model of
Envisat that is no longer so: what is left at the grasp tells how much the model matters.
"""

import dataclasses

import numpy as np

import freefloat as ff
from freefloat.control import CaptureGains, CaptureSchedule, CompliantCapture

servicer, client = ff.library.servicer(), ff.library.envisat()
POSTURE = ff.library.SERVICER_CAPTURE  # [rad]
GRASP = 20.0  # [s]
software = CompliantCapture(
    craft=servicer,
    client=client,
    gains=CaptureGains.of_model(servicer, POSTURE, base_frequency=0.7),  # [rad/s]
    posture=POSTURE,
    schedule=CaptureSchedule(approach=8.0, grasp=GRASP, rigidise=20.4, done=30.0),
    on="servicer",
    period=0.01,  # [s]
)

tumbling = ff.library.envisat_start(spin_deg_s=-2.5)
beside = ff.library.servicer_start(tumbling, joints=POSTURE, gap=0.15)  # co-rotating
off = dataclasses.replace(
    beside,
    p_NB=np.asarray(beside.p_NB) + np.array([0.03, -0.02, 0.02]),  # [m]
    v=np.asarray(beside.v) + np.concatenate([np.zeros(3), np.deg2rad([0.1, -0.1, 0.1]), np.zeros(7)]),  # [rad/s]
)
world = ff.World(servicer=servicer, client=client).connection("grasp", "servicer.tool", "client.ring")


def capture(software: CompliantCapture) -> ff.Run:
    """Flown for 32 s, everything measured exactly."""
    start = {"servicer": off, "client": tumbling}
    return ff.simulate(world, software, state=start, duration=32.0, dt=0.01, record_dt=0.05)


def at(run: ff.Run, channel: str, t: float) -> np.ndarray:
    """The record of a time [s]."""
    return run.values(f"servicer.capture.{channel}")[round(t / 0.05)]


run = capture(software)
print(run)
print(run.events)
for t in (0.0, 8.0, 19.9, 31.0):
    tool, rate = 1e3 * np.linalg.norm(at(run, "tool.position_error", t)), np.abs(at(run, "relative_rate", t)).max()
    print(f"{t:5.1f} s: tool {tool:.3f} mm from its set point, rate error {np.rad2deg(rate):.4f} deg/s")

# The energy falls until the grasp; a step of 10 ms lets it rise by its own error, no more.
energy = run.values("servicer.capture.energy")[: round(GRASP / 0.05)]
rise = max(0.0, float(np.diff(energy).max())) / energy[0]
print(f"checked: largest rise of the energy over its start {rise:.1e} (expected 0 +- 1e-6)")

# Rigidised, both are one body: the arm carries what turns the servicer with Envisat, but for a share of the thrusters'
# spring. Reduced mass 780.5 kg at 2.5 deg/s, centres of mass 4.92 m apart: 7.31 N.
speed = 1e3 * float(np.linalg.norm(at(run, "relative_velocity", 31.5)))
pull = float(np.linalg.norm(run.values("connection.grasp.force")[-1]))
print(f"checked: relative speed once rigidised {speed:.4f} mm/s (expected 0 +- 0.1)")
print(f"checked: pull of the arm {pull:.2f} N (expected 7.31 +- 0.5)")

# A model of Envisat that is wrong about its inertia: the servicer follows a tumble that is not there.
wrong = capture(dataclasses.replace(software, client=client.with_value("base.inertia", np.diag([5e4, 1e5, 1.2e5]))))
exact, bad = (1e3 * float(np.linalg.norm(at(one, "base.position_error", 19.9))) for one in (run, wrong))
print(f"checked: base from its set point before the grasp {exact:.3f} mm (expected 0 +- 0.1)")
print(f"with a wrong inertia of Envisat: {bad:.2f} mm")
