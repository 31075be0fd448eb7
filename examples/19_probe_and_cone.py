"""Lesson 19: a probe slides into a cone, and latches close on its tip.

The client comes at 5 cm/s, 6 cm off the axis. Its drogue, a hollow cone, meets the tip of the servicer's probe, which
slides along the wall and rubs. Contact is compliant, and much too stiff for the step of 5 ms: steps in which it touches
are made of shorter ones. Near the floor of the cone latches close, which takes half a second; then both are one. Every
joule is in the books: kinetic, stored in the contact, lost in it, lost when the latches hold.
"""

import dataclasses

import numpy as np

import freefloat as ff
from freefloat.control import MechanicalGrasp, ProbeAndDrogue
from freefloat.effects.contact import Bristles, ContactCone, KelvinVoigt, Probe

servicer = ff.Spacecraft.from_base("servicer", mass=400.0, inertia=(80.0, 90.0, 100.0))  # [kg], [kg m2]
servicer = servicer.with_frame("tip", body="base", at=ff.Pose.from_rpy_deg((0, 90, 0), (1.0, 0.0, 0.0)))  # z ahead
client = ff.Spacecraft.from_base("client", mass=200.0, inertia=(30.0, 40.0, 50.0))
client = client.with_frame("drogue", body="base", at=ff.Pose.from_rpy_deg((0, -90, 0), (-0.5, 0.0, 0.0)))

contact = ff.CompliantContact(
    "servicer.tip",
    Probe(radius=0.03, length=0.4, shaft=0.015),  # [m]
    "client.drogue",
    ContactCone(mouth=0.15, depth=0.2, throat=0.02),  # [m]
    KelvinVoigt(stiffness=1e6, damping=2e4),  # [N/m], [N s/m]
    Bristles(friction=0.1, stiffness=1e6, damping=2e3),  # [N/m], [N s/m]
    name="docking",
)
drogue = ProbeAndDrogue(  # the same cone; latches up to 6 cm above its floor
    angle=0.3, closing_time=0.5, mouth=0.15, depth=0.2, throat=0.02, latches=0.06
)  # [rad], [s], [m]
latches = MechanicalGrasp("latch", drogue, "client.drogue", "tip", on="servicer", period=0.05)

facing = ff.Pose(rotation=np.diag([-1.0, 1.0, -1.0]))  # z of tip and drogue look at one another
world = ff.World(servicer=servicer, client=client)
world = world.connection("latch", "client.drogue", "servicer.tip", at=facing, reach=(0.1, 0.3))  # [m], [rad]
coming = dataclasses.replace(
    client.at_rest(), p_NB=np.array([1.75, 0.06, 0.0]), v=np.array([-0.05, 0, 0, 0, 0, 0])
)  # [m], [m/s]
run = ff.simulate(world, contact, latches, state={"client": coming}, duration=10.0, dt=0.005)
print(run)
print(run.events)

t, push = run["time"].values, run["contact.docking.push"].values
touched = t[push > 0.0]
print(f"It touches first at {touched[0]:.2f} s and is pushed by up to {np.max(push):.0f} N.")
apart = run["client.drogue.position"].values - run["servicer.tip.position"].values
off, deep = 1e3 * np.linalg.norm(apart[0, 1:]), 1e3 * apart[-1, 0]
print(f"The tip was {off:.0f} mm off the axis, and is held {deep:.1f} mm above the floor.")

energies = ("world.energy.kinetic", "interactions.stored", "interactions.dissipated", "connections.energy_lost")
total = sum(run[name].values for name in energies)
print(f"checked: energy that is in no book {np.max(np.abs(total - total[0])):.1e} J (expected 0 +- 1e-7)")
momentum = run["world.momentum.linear"].values
print(f"checked: momentum that changed {np.max(np.abs(momentum - momentum[0])):.1e} N s (expected 0 +- 1e-9)")
rubbed = 1e3 * run["interactions.dissipated"].values[-1]
print(f"checked: energy lost in contact {rubbed:.2f} mJ (expected 25.58 +- 0.01)")
