"""Lesson 32: a small satellite stops tumbling with three coils and a magnetometer.

A coil with the dipole m in the Earth's field B makes the torque m x B: across the field, and no force. Software that
knows nothing but the measured field lets the coils work against its change, m = -k dB/dt ("B-dot"). That takes energy
at every instant, k |w x B|^2, until the satellite turns with the field: twice in an orbit over the poles.
"""

import numpy as np

import freefloat as ff

satellite = ff.Spacecraft.from_base("cubesat", mass=4.0, inertia=(0.035, 0.034, 0.008))  # [kg], [kg m2]

# ---- the Earth's field along an orbit: a dipole, tilted by 9.4 deg, which turns with the Earth

orbit = ff.effects.CircularOrbit(altitude=500e3)  # [m]
earth = ff.effects.EarthMagneticField(orbit, inclination=np.deg2rad(97.4))
axial = ff.effects.EarthMagneticField.axial(orbit, inclination=np.pi / 2)  # along the Earth's axis, over the poles
here, period = np.zeros(3), float(orbit.period)
equator, pole = (np.linalg.norm(axial.at(here, np.float64(t))) for t in (0.0, period / 4.0))
print(f"field at 500 km: {1e6 * equator:.2f} uT over the equator, {1e6 * pole:.2f} uT over a pole")
print(f"checked: field over the pole by that over the equator {pole / equator:.9f} (expected 2 +- 1e-9)")

# ---- coils, a magnetometer, and the software between them

coils = ff.actuators.Magnetorquers(earth, max_dipole=0.1)  # along x, y, z [A m2]
magnetometer = ff.sensors.Magnetometer(earth, noise=1e-7, period=1.0)  # [T], [s]
# A good gain is 2 n (1 + sin i) I / B^2, with the smallest moment of inertia I and a mean field B.
n, B = float(orbit.rate), 3e-5  # [rad/s], [T]
gain = 2.0 * n * (1.0 + np.sin(np.deg2rad(97.4))) * 0.008 / B**2  # [A m2 s/T]
software = ff.control.BdotDamping(coils, gain=gain)

start = satellite.in_motion(rate_deg_s=(5.0, -4.0, 6.0))
duration = float(round(2.0 * period))  # two orbits [s]
run = ff.simulate(satellite, coils, magnetometer, software, state=start, duration=duration, dt=0.5)
print(run.audit)

momentum = np.linalg.norm(run["momentum.angular"].values, axis=1)
print("\nmean momentum in each quarter of an orbit [mN m s]:")
print("  " + "  ".join(f"{1e3 * np.mean(part):.3f}" for part in np.array_split(momentum, 8)))
rate = np.rad2deg(np.linalg.norm(run["base.rate"].values, axis=1))
print(f"it turned with {rate[0]:.2f} deg/s and turns with {np.mean(rate[-400:]):.2f} deg/s at the end")
print(f"the field turns with {np.rad2deg(2.0 * n):.2f} deg/s on average")

# ---- check: the torque is across the field; its work is the change of energy

torque, field = run["torquers.torque"].values, run["torquers.magnetic_field"].values
sizes = np.linalg.norm(torque, axis=1) * np.linalg.norm(field, axis=1)
along = np.max(np.abs(np.sum(torque * field, axis=1)) / np.maximum(sizes, 1e-30))
energy, work = run["energy.kinetic"].values, run["energy.work"].values - run["energy.work"].values[0]
print(f"checked: cosine between torque and field {along:.1e} (expected 0 +- 1e-12)")  # rounding
# The step of 0.5 s errs by 1e-8 of the energy.
print(f"checked: energy lost less work {(energy[-1] - energy[0] - work[-1]) / energy[0]:.1e} (expected 0 +- 1e-7)")
# The noise is the same on every machine; how the tumble ends depends a little on rounding.
print(f"checked: momentum left {np.mean(momentum[-400:]) / momentum[0]:.3f} of the start (expected 0.017 +- 0.002)")
