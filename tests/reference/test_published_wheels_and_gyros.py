"""cases.md 27 and 28: wheels and variable-speed control-moment gyros against numbers that Basilisk prints.

Source: repository AVSLab/basilisk, src/simulation/dynamics/reactionWheels/_UnitTest and VSCMGs/_UnitTest, the
integrated tests, rows `BalancedWheels`: hub, devices, start and attitude after 1 s, as modified Rodrigues parameters.
Its equations: Alcorn, Allard and Schaub, AAS 17-205 and 17-206. A gyro there is a gimbal and a wheel with one centre of
mass, on the gimbal axis; here it is a link on a revolute joint, which carries a wheel. In the rows for wheels the mass
of a wheel is part of the hub.

What its authors leave open: they compare to 1e-7 relative, and gravity acts on them at the centre of mass alone. The
torques of 0.2, 0.1, -0.5 N m in the wheels' script are clipped at 0.2 N m, the largest of that wheel (`u_max`), which
only its library of wheels says. Both rows were reached with a second code as well (RK4 on the momentum balance about
the centre of mass, 1 ms): to 8e-12 and 4e-14. The rows with jitter need wheels out of balance, which are not modelled.
"""

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from support import kepler, trees

RPM = 2.0 * np.pi / 60.0  # [rad/s]
SPIN = 100.0 / (6000.0 * RPM)  # inertia of each wheel about its axis: 100 N m s at 6000 rpm [kg m2]
HUB = {"mass": 750.0, "com": (-0.0002, 0.0001, 0.1), "inertia": (900.0, 800.0, 600.0)}  # [kg], [m], [kg m2]
RATE = np.array([0.08, 0.01, 0.0])  # at the start, in axes that coincide with N [rad/s]
EARTH = 3.986004415e14  # of the source [m3/s2]
PLACE = np.array([-4020338.690396649, 7490566.741852513, 5248299.211589362])  # of the centre of mass [m]
VELOCITY = np.array([-5199.77710904224, -3436.681645356935, 1041.576797498721])  # [m/s]

WHEEL_SPEEDS = np.array([500.0, 200.0, -150.0]) * RPM
WHEELS = np.array([1.99853994e-02, 2.45647716e-03, 8.45356279e-06])  # printed

TILT = np.deg2rad(54.75)  # as in the source [rad]
GIMBAL_AXES = np.array([[0, 0, 1], [np.cos(TILT), 0, np.sin(TILT)], [-np.cos(TILT), 0, np.sin(TILT)]])
SPIN_AXES = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, -1.0, 0]])
PLACES = np.array([[0.1, 0.002, -0.02], [0.0, -0.05, 0.0], [-0.1, 0.05, 0.05]])  # [m]
SPEEDS = np.array([2000.0, 350.0, -900.0]) * RPM
GIMBAL_RATES = np.array([0.06, 0.011, -0.003])  # [rad/s]
GYRO = np.array([0.1 + SPIN, 0.2 + SPIN / 2.0, 0.3 + SPIN / 2.0])  # gimbal and wheel: spin, across, gimbal [kg m2]
GYROS = np.array([0.0185829763256, 0.00212563436704, -0.00118728497031])  # printed
GYROS_PLACE = np.array([-4025537.664298894, 7487128.570444949, 5249339.643828076])  # printed, of the base frame [m]


def hub_with_wheels(max_torque: float = 0.2) -> ff.Spacecraft:
    """Hub with three wheels along its axes."""
    craft = ff.Spacecraft.from_base("hub", **HUB)
    for name, axis in zip("xyz", np.eye(3), strict=True):
        craft = craft.with_wheel(name, axis=axis, inertia=SPIN, max_torque=max_torque)
    return craft


def hub_with_gyros(gimbal_axes=GIMBAL_AXES) -> ff.Spacecraft:
    """Hub with three gyros; a gimbal's own axes are spin axis, axis across, gimbal axis."""
    craft = ff.Spacecraft.from_base("hub", **HUB)
    for number, (gimbal, spin, place) in enumerate(zip(gimbal_axes, SPIN_AXES, PLACES, strict=True)):
        R_BG = np.stack([spin, np.cross(gimbal, spin), gimbal], axis=1)
        craft = craft.with_link(
            f"gimbal{number}",
            parent="base",
            joint="revolute",
            at=ff.Pose(position=place, rotation=R_BG),
            axis=(0.0, 0.0, 1.0),
            mass=12.0,  # [kg]
            inertia=GYRO,
        )
        craft = craft.with_wheel(f"wheel{number}", body=f"gimbal{number}", axis=(1.0, 0.0, 0.0), inertia=SPIN)
    return craft


def centre_at_rest(craft: ff.Spacecraft, wheels, joints=()) -> ff.State:
    """State with the given rates, the centre of mass at rest at the origin: N falls with it."""
    com = np.asarray(ff.dynamics.centre_of_mass(craft, np.zeros(craft.layout.nq)))
    start = craft.at_rest(at=ff.Pose(position=-com))
    return craft.in_motion(start, velocity=-np.cross(RATE, com), rate=RATE, joints=joints, wheels=wheels)


def rodrigues(run: ff.Run) -> np.ndarray:
    """Modified Rodrigues parameters of the base at the end."""
    quat = run["base.attitude"].values[-1]
    return quat[1:] / (1.0 + quat[0])


@ff.record
class HalfTime(ff.Software):
    """Wheel torques [N m] for the first half of a second."""

    torques: np.ndarray

    def command(self, memory, y, clock):
        return ff.WheelTorques(wheels=("x", "y", "z"), torques=jnp.where(clock.t < 0.25, self.torques, 0.0))


def with_driven_wheels(craft: ff.Spacecraft, signs=(1.0, 1.0, 1.0)) -> np.ndarray:
    state = centre_at_rest(craft, np.array(signs) * WHEEL_SPEEDS)
    software = HalfTime(np.array([0.2, 0.1, -0.5]), period=0.5)
    return rodrigues(ff.simulate(craft, software, state=state, duration=1.0, dt=1e-3))


def test_wheels_turn_the_hub_as_published():
    """Tolerance: half of the last printed digit of the largest number; RK4 at 1 ms errs by less than 1e-13 here."""
    missed = with_driven_wheels(hub_with_wheels()) - WHEELS
    trees.report("wheels:", missed)
    assert np.max(np.abs(missed)) < 5e-11


def test_wheels_without_their_limit_or_the_other_way_round_miss():
    """Negative controls: the limit that the script does not show, and the sense of one spin."""
    assert np.max(np.abs(with_driven_wheels(hub_with_wheels(np.inf)) - WHEELS)) > 4e-5
    assert np.max(np.abs(with_driven_wheels(hub_with_wheels(), (-1.0, 1.0, 1.0)) - WHEELS)) > 1e-5


def with_gyros(craft: ff.Spacecraft, *parts, speeds=SPEEDS, rates=GIMBAL_RATES, dt=1e-3) -> ff.Run:
    return ff.simulate(craft, *parts, state=centre_at_rest(craft, speeds, rates), duration=1.0, dt=dt)


@pytest.fixture(scope="module")
def gyros() -> ff.Run:
    return with_gyros(hub_with_gyros())


def test_gyros_turn_the_hub_as_published(gyros):
    """Tolerance: a few of the last printed digit (1e-13); the source has the same method and step, 1 ms."""
    missed = rodrigues(gyros) - GYROS
    trees.report("gyros:", missed)
    assert np.max(np.abs(missed)) < 2e-13


def test_gyros_leave_the_hub_near_the_published_place(gyros):
    """Gravity acts on the centre of mass, which follows Kepler; the base frame is off it by what we simulate.

    The printed place is missed by 6.4e-6 m, by the second code in the same way: why, its page does not say. So this
    holds to 1e-5 m, not to the printed 1e-9 m; the source itself compares to 1e-7 of the place, 0.4 m.
    """
    off = gyros["base.position"].values[-1]
    missed = kepler.propagate(EARTH, PLACE, VELOCITY, 1.0) + off - GYROS_PLACE
    trees.report("place:", missed)
    assert np.max(np.abs(missed)) < 1e-5
    assert np.max(np.abs(off)) > 0.09  # [m]; it is no small part of it


def test_gyros_the_other_way_round_miss():
    """Negative controls: one spin, one gimbal rate, one gimbal axis with the other sign."""
    sign = np.array([1.0, -1.0, 1.0])
    craft = hub_with_gyros()
    turned = hub_with_gyros(GIMBAL_AXES * sign[:, None])
    for run in (with_gyros(craft, speeds=sign * SPEEDS), with_gyros(craft, rates=sign * GIMBAL_RATES)):
        assert np.max(np.abs(rodrigues(run) - GYROS)) > 1e-6
    assert np.max(np.abs(rodrigues(with_gyros(turned)) - GYROS)) > 1e-6


def test_the_gravity_gradient_that_the_source_leaves_out_would_show(gyros):
    """3 mu / r^3 n x I n, as it is at the start, turns the hub by 1.3e-8 in these parameters."""
    craft, r = hub_with_gyros(), np.linalg.norm(PLACE)
    inertia = np.asarray(ff.dynamics.composite_inertia(craft, np.zeros(3)).about_com())
    torque = 3.0 * EARTH / r**3 * np.cross(PLACE / r, inertia @ PLACE / r)  # [N m]
    push = ff.WrenchPulse(frame="base", wrench=np.append(np.zeros(3), torque), start=0.0, stop=1.0)
    moved = np.max(np.abs(rodrigues(with_gyros(craft, push)) - rodrigues(gyros)))
    trees.report("gradient:", moved)
    assert 1e-8 < moved < 1e-7
