"""Whole runs with magnetorquers: the compass needle's period in closed form, energy, and the damping of a tumble."""

from itertools import pairwise

import numpy as np
import pytest
from scipy.special import ellipk

import freefloat as ff
from freefloat.model import UniformMagneticField
from support import trees

SATELLITE = ff.Spacecraft.from_base("cubesat", mass=4.0, inertia=(0.035, 0.034, 0.008))  # [kg], [kg m2]
ORBIT = ff.effects.CircularOrbit(altitude=500e3)
EARTH = ff.effects.EarthMagneticField(ORBIT, inclination=np.deg2rad(97.4))
LARGEST = 0.1  # dipole of a rod [A m2]
TUMBLE = (5.0, -4.0, 6.0)  # [deg/s]


@ff.record
class ConstantDipole(ff.Software):
    """A constant dipole along x [A m2]."""

    size: float

    def command(self, memory, y, clock):
        return ff.PortCommand("torquers.dipole", np.array([self.size, 0.0, 0.0]), unit="A m2")


@pytest.mark.parametrize(("amplitude_deg", "asked"), [(5.0, 0.5), (60.0, 0.5), (60.0, 4.0)])  # [A m2], at most 0.5
def test_a_needle_swings_like_a_pendulum(amplitude_deg, asked):
    """I theta'' = -m B sin(theta): the period is 4 K(sin(amplitude / 2)) sqrt(I / (m B)), exact.

    It starts at rest beside the field, so after one period it is there again: to the square of what RK4 leaves.
    """
    m, B, inertia = 0.5, 4e-5, 0.008  # [A m2], [T], about z [kg m2]
    period = 4.0 * ellipk(np.sin(np.deg2rad(amplitude_deg) / 2.0) ** 2) * np.sqrt(inertia / (m * B))
    rods = ff.actuators.Magnetorquers(UniformMagneticField(flux_density=(B, 0.0, 0.0)), max_dipole=m)
    half = np.deg2rad(amplitude_deg) / 2.0
    start = SATELLITE.at_rest(at=ff.Pose.from_quaternion(np.array([np.cos(half), 0, 0, np.sin(half)]), np.zeros(3)))
    run = ff.simulate(SATELLITE, rods, ConstantDipole(asked), state=start, duration=1.25 * period, dt=period / 2000.0)
    yaw = 2.0 * np.arctan2(run["base.attitude"].values[:, 3], run["base.attitude"].values[:, 0])
    rate, quarter = run["base.rate"].values[:, 2], 500
    np.testing.assert_allclose(yaw[quarter], 0.0, atol=1e-9)
    np.testing.assert_allclose(yaw[2 * quarter], -2.0 * half, atol=1e-9)
    np.testing.assert_allclose(yaw[4 * quarter], 2.0 * half, atol=1e-9)
    fastest = 2.0 * np.sqrt(m * B / inertia) * np.sin(half)  # from the energy
    np.testing.assert_allclose(rate[[quarter, 3 * quarter, 5 * quarter]], fastest * np.array([-1, 1, -1]), rtol=1e-9)


def detumbling(torquers, *, sensor=None, duration: float, dt: float = 0.5) -> ff.Run:
    software = ff.control.BdotDamping(torquers, gain=4e4)
    sensor = sensor or ff.sensors.Magnetometer(EARTH, noise=1e-7, period=1.0)
    return ff.simulate(
        SATELLITE, torquers, sensor, software, state=SATELLITE.in_motion(rate_deg_s=TUMBLE), duration=duration, dt=dt
    )


@pytest.fixture(scope="module")
def two_orbits() -> ff.Run:
    torquers = ff.actuators.Magnetorquers(EARTH, max_dipole=LARGEST)
    return detumbling(torquers, duration=float(round(2.0 * float(ORBIT.period))))


def test_a_tumble_is_damped_within_two_orbits(two_orbits):
    """On average down in each of the first six eighths of an orbit, until it turns with the field, twice an orbit."""
    momentum = np.linalg.norm(two_orbits["momentum.angular"].values, axis=1)
    means = [np.mean(part) for part in np.array_split(momentum, 16)]
    assert all(later < earlier for earlier, later in pairwise(means[:7]))
    assert np.max(means[7:]) < 0.06 * means[0]
    rate = np.linalg.norm(two_orbits["base.rate"].values, axis=1)[-len(momentum) // 4 :]
    trees.report("momentum:", means, "rate at the end over that of the field:", np.mean(rate) / 2.0 / ORBIT.rate)
    assert 0.5 < np.mean(rate) / (2.0 * float(ORBIT.rate)) < 2.0
    assert two_orbits.audit.holds


def test_the_torque_is_across_the_field_and_its_work_is_the_energy(two_orbits):
    """The work of w . (m x B) is integrated beside the state. Tolerance: of RK4 at 0.5 s and 9 deg/s."""
    torque, field = two_orbits["torquers.torque"].values, two_orbits["torquers.magnetic_field"].values
    np.testing.assert_allclose(torque, np.cross(two_orbits["torquers.dipole"].values, field), atol=1e-18)
    assert np.max(np.abs(np.sum(torque * field, axis=1))) < 1e-20
    np.testing.assert_array_equal(two_orbits["com.position"].values, 0.0)  # no force
    energy, work = two_orbits["energy.kinetic"].values, two_orbits["energy.work"].values
    np.testing.assert_allclose(energy - energy[0], work - work[0], atol=1e-6 * energy[0])
    assert energy[-1] < 1e-3 * energy[0]


def test_rods_meet_their_limit_and_say_so(two_orbits):
    dipole = two_orbits["torquers.dipole"].values
    assert np.max(np.abs(dipole)) == LARGEST
    met = two_orbits["torquers.condition"].values == 1.0
    np.testing.assert_array_equal(np.abs(dipole)[met], LARGEST)
    assert np.any(met[:200])
    assert not np.any(met[-500:])


class OutsideDamping:
    """The same law as BdotDamping, in NumPy and outside the compiled loop."""

    name, period = "bdot", 1.0
    reads, commands = {"base.magnetic_field": "T"}, {"torquers.dipole": ("x", "y", "z")}

    def begin(self, y):
        self.last = None

    def step(self, t, y):
        field, before = np.array(y["base.magnetic_field"]), self.last
        self.last = field
        return {"torquers.dipole": np.zeros(3) if before is None else -4e4 * (field - before)}


def test_software_outside_the_loop_damps_alike():
    """Field and dipoles pass through the contract with their units; rounding of the difference quotient is all."""
    torquers, sensor = ff.actuators.Magnetorquers(EARTH), ff.sensors.Magnetometer(EARTH, noise=1e-7, period=1.0)
    start = SATELLITE.in_motion(rate_deg_s=TUMBLE)
    experiment = ff.Experiment.of(SATELLITE, torquers, sensor, state=start, duration=30.0, dt=0.5)
    outside = ff.fly(experiment, OutsideDamping())
    inside = detumbling(torquers, sensor=sensor, duration=30.0)
    np.testing.assert_allclose(outside["base.rate"].values, inside["base.rate"].values, atol=1e-12)


def test_rods_the_other_way_round_spin_it_up():
    """Negative control, and the same for a magnetometer mounted the other way round."""
    wrong = ff.actuators.Magnetorquers(EARTH, -np.eye(3), max_dipole=LARGEST)
    right = ff.control.BdotDamping(ff.actuators.Magnetorquers(EARTH, max_dipole=LARGEST), gain=4e4)
    start = SATELLITE.in_motion(rate_deg_s=TUMBLE)
    sensor = ff.sensors.Magnetometer(EARTH, period=1.0)
    run = ff.simulate(SATELLITE, wrong, sensor, right, state=start, duration=300.0, dt=0.5)
    energy = run["energy.kinetic"].values
    assert energy[-1] > 1.3 * energy[0]
    same = detumbling(wrong, sensor=sensor, duration=300.0)  # software that knows how the rods sit
    assert same["energy.kinetic"].values[-1] < 0.8 * energy[0]
