"""Lesson 4: a solar array from a plate. Modes, what they weigh, two arrays on a spacecraft, and a slew that rings."""

import numpy as np

import freefloat as ff

# ---- a thin plate, clamped along the edge x = 0, with its lowest four modes out of some hundred of its mesh

array = ff.flex.plate(
    size=(8.0, 3.0),  # [m]: away from the spacecraft, across
    mass=60.0,  # [kg]
    bending_rigidity=400.0,  # E h^3 / 12 (1 - nu^2) [N m]
    modes=4,
    damping_ratio=0.002,
    places={"corner": (8.0, 1.5)},
)
print(f"'{array.name}', {array.modes} modes, nodes {array.node_names}; how much mass and inertia they carry:")
print(ff.flex.effective_mass(array), "\n")

# The first mode is all of the bending that counts: 61 % of the mass, 97 % of the inertia about the root edge (ry).
# The second is torsion (rx). Nothing moves in the plane of the plate, where it is rigid.

# ---- on a spacecraft: arrays to both sides, x of each plate along +y and -y of the base

craft = ff.Spacecraft.from_base("satellite", mass=900.0, inertia=(420.0, 380.0, 500.0))  # [kg], [kg m2]
craft = craft.mount(array, name="right", at=ff.Pose.from_rpy_deg((0.0, 0.0, 90.0), (0.0, 0.8, 0.0)))
craft = craft.mount(array, name="left", at=ff.Pose.from_rpy_deg((0.0, 0.0, -90.0), (0.0, -0.8, 0.0)))

clamped = array.frequencies() / (2.0 * np.pi)
floating = ff.dynamics.natural_frequencies(craft) / (2.0 * np.pi)
print("root held:       ", clamped.round(4), "Hz")
print("on the satellite:", floating[0::2].round(4), "Hz")
print("                 ", floating[1::2].round(4), "Hz\n")

# Every frequency of an array splits into two: both arrays together, and against each other. The satellite gives way,
# so none is lower than with the root held. Bending against each other turns the satellite about x, where it has much
# less inertia than the arrays: the two of that pair are far apart. Torsion against each other moves nothing else.
bending = floating[1]  # both tips against each other [Hz]

# ---- a slew about x: torque one way, then the other way. Stop it when the vibration happens to stand still, or not.


def slew(half, angle=0.01):
    """Turn by so many radians in two halves of `half` seconds each, then wait."""
    M = np.asarray(ff.dynamics.mass_matrix(craft, np.zeros(craft.layout.nq)))
    torque = np.array([0.0, 0.0, 0.0, angle * M[3, 3] / half**2, 0.0, 0.0])  # as if everything were rigid
    push = ff.WrenchPulse(frame="base", wrench=torque, stop=half)
    brake = ff.WrenchPulse(frame="base", wrench=-torque, start=half, stop=2.0 * half)
    run = ff.simulate(craft, push, brake, duration=10.0 * half, dt=half / 400.0, record_dt=half / 40.0)
    tip = 1e3 * run["right.tip.displacement"].sel(xyz="z")  # [mm]
    return run, float(abs(tip).max()), float(abs(tip.sel(time=slice(2.0 * half, None))).max())


period = 1.0 / bending  # [s]
results = {}
for name, half in (("one period", period), ("one period and a half", 1.5 * period)):
    run, during, after = results[name] = slew(half)
    turned = np.rad2deg(run["base.roll_pitch_yaw"].sel(rpy="roll").values[-1])
    print(f"halves of {name} ({half:.2f} s): ends at {turned:.4f} deg, tip {during:.2f} mm, afterwards {after:.2f} mm")
# What is left in the quiet case is in the higher modes, and a little damping.
quiet, loud = results["one period"][2], results["one period and a half"][2]
print(f"\n{results['one period and a half'][0].audit}\n")

# The mesh of 8 x 8 elements is part of the number: 16 x 16 give 6e-4 less. The last printed digit decides.
print(f"checked: first frequency, root held {clamped[0]:.5f} Hz (expected 0.10782 +- 1e-5)")
print(f"checked: bending against each other, floating {bending:.5f} Hz (expected 0.26421 +- 1e-5)")
print(f"checked: rest of the vibration, quiet against loud, {quiet / loud:.4f} (expected 0.0078 +- 1e-4)")
