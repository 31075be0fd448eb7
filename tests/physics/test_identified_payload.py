"""ETS-VII with a captured payload: its base and the payload from a gyro and a star tracker, as well as they say."""

import numpy as np
import pytest
from scipy.stats import chi2, kstest

import freefloat as ff
from freefloat.analysis import Identifier, sensor_data
from freefloat.control import JointSpline
from freefloat.sensors import Gyro, Ideal, Imperfection, StarTracker

RATE, CROSS, ROLL = 2e-5, 2e-5, 1e-4  # one sigma of gyro [rad/s] and star tracker, across and about its boresight [rad]
NOISE = {"base.rate": RATE, "base.attitude": (CROSS, CROSS, ROLL)}
BOTH = ["base.inertial", "payload.inertial"]
POINTS = [  # [deg]
    (0.0, 0.0, 10.0, -32.8, 0.0, 0.0),
    (30.0, 20.0, -20.0, 10.0, 40.0, 30.0),
    (-30.0, -20.0, 40.0, -50.0, -40.0, 60.0),
    (5.0, 30.0, 10.0, -32.8, 30.0, -30.0),
    (20.0, 0.0, 10.0, -32.8, 0.0, 0.0),
]
PUSHES = (  # start [s], wrench for 5 s [N, N m]
    (5.0, (0.0, 0.0, 0.0, 20.0, 0.0, 0.0)),
    (15.0, (40.0, 0.0, 0.0, 0.0, 0.0, 0.0)),
    (30.0, (0.0, 0.0, 0.0, 0.0, 20.0, 0.0)),
    (40.0, (0.0, 40.0, 0.0, 0.0, 0.0, 0.0)),
    (55.0, (0.0, 0.0, 0.0, 0.0, 0.0, 20.0)),
    (70.0, (0.0, 0.0, 40.0, 0.0, 0.0, 0.0)),
)


def with_payload(mass: float, base_mass: float) -> ff.Spacecraft:
    """A target in the hand; what is wrong about it is as wrong as its mass."""
    inertia = mass / 400.0 * np.array([[90.0, 5.0, -3.0], [5.0, 70.0, 4.0], [-3.0, 4.0, 80.0]])
    target = ff.Spacecraft.from_base("target", mass=mass, inertia=inertia, com=(0.5, 0.1, -0.05))
    ets7 = ff.library.ets7()
    ets7 = ets7.with_value("base.mass", base_mass)
    ets7 = ets7.with_value("base.inertia", base_mass / 2550.0 * np.asarray(ets7.body("base").inertia))
    return ets7.grasp(target, name="payload", hand="hand")


def excited(craft: ff.Spacecraft, **noise: Imperfection) -> ff.Experiment:
    """The arm swings the payload about while thrusters push the base, one axis after the other."""
    pushes = [ff.WrenchPulse("base", w, start=t, stop=t + 5.0, name=f"push {k}") for k, (t, w) in enumerate(PUSHES)]
    sensors = (
        Gyro(noise=RATE, period=0.5, **noise),
        StarTracker(cross_noise=CROSS, roll_noise=ROLL, period=0.5, **noise),
        Ideal(),
    )
    spline = JointSpline.through(craft, POINTS, durations=[25.0] * 4)
    state = craft.at_rest(joints_deg=POINTS[0])
    return ff.Experiment.of(craft, spline, *pushes, *sensors, duration=100.0, dt=0.25, record_dt=0.5, state=state)


TRUTH = with_payload(400.0, 2550.0)


def ten(body) -> np.ndarray:
    whole = body.spatial_inertia()
    inertia = np.asarray(whole.inertia)
    return np.array([whole.mass, *whole.moment, *np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]])


EXACT = np.concatenate([ten(TRUTH.body("base")), ten(TRUTH.body("payload"))])


@pytest.fixture(scope="module")
def guess() -> Identifier:
    """What is known beforehand: a base that is 4 % too light and a payload that is 25 % too heavy."""
    return Identifier(excited(with_payload(500.0, 2450.0)), BOTH, tuple(NOISE))


def test_base_and_payload_are_recovered_within_the_reported_covariance(guess):
    """As ETS-VII would: noisy rates and attitudes, thrusters, known joint motion; twenty numbers, all of them told."""
    data = sensor_data(excited(TRUTH, imperfection=Imperfection(seed=7)), tuple(NOISE))
    result = guess.fit(data, noise=NOISE)
    assert result.converged
    assert result.rank == 20
    assert result.deviation("payload.mass") < 0.01 * 400.0
    assert result.normalised_error(EXACT) < chi2.ppf(0.999, 20)
    assert result.fit.probability > 1e-3
    assert result.fit.whiteness > 1e-3
    found = result.experiment.world.crafts[0]
    np.testing.assert_allclose(found.body("payload").com, (0.5, 0.1, -0.05), atol=0.01)


def noisy(data: dict[str, np.ndarray], rng: np.random.Generator) -> dict[str, np.ndarray]:
    """The same with noise as gyro and star tracker make it."""
    rate = data["base.rate"] + RATE * rng.normal(size=data["base.rate"].shape)
    w, x = data["base.attitude"][:, :1], data["base.attitude"][:, 1:]
    turn = np.array([CROSS, CROSS, ROLL]) * rng.normal(size=x.shape)
    c, s = np.cos(0.5 * np.linalg.norm(turn, axis=1, keepdims=True)), 0.5 * turn  # sin(a)/a is one to 1e-9
    attitude = np.hstack([w * c - np.sum(x * s, axis=1, keepdims=True), w * s + c * x + np.cross(x, s)])
    return {"time": data["time"], "base.rate": rate, "base.attitude": attitude}


@pytest.mark.slow
def test_errors_of_200_noisy_runs_are_distributed_as_their_covariances_say(rng):
    """Normalised errors are chi-square of 20 degrees: by Kolmogorov, and by exact bounds of their mean."""
    exact = Identifier(excited(TRUTH), BOTH, tuple(NOISE))
    (rate, attitude), _ = exact.sensitivities.along(EXACT, np.zeros((1, 20)))
    clean = {"time": exact.sensitivities.time, "base.rate": rate, "base.attitude": attitude}
    near = Identifier(excited(with_payload(401.0, 2548.0)), BOTH, tuple(NOISE))
    found = [near.fit(noisy(clean, rng), noise=NOISE) for _ in range(200)]
    errors = np.array([one.normalised_error(EXACT) for one in found])
    assert all(one.converged for one in found)
    low, high = chi2.ppf([0.005, 0.995], 200 * 20) / 200.0
    kolmogorov = kstest(errors, chi2(20).cdf).pvalue
    print(f"mean {errors.mean():.3f} ({low:.3f} to {high:.3f}), Kolmogorov {kolmogorov:.3f}")  # noqa: T201
    assert low < errors.mean() < high
    assert kolmogorov > 0.01
    fits = np.array([one.fit.chi_square for one in found])
    assert kstest(fits, chi2(found[0].fit.degrees).cdf).pvalue > 0.01


def planar_ets7() -> ff.Spacecraft:
    """Base and links 2 to 4 of ETS-VII, all centres of mass in the plane y = 0."""
    real = ff.library.ets7()
    inertia = np.asarray(real.body("base").inertia) * (1.0 - np.array([[0, 1, 0], [1, 0, 1], [0, 1, 0]]))
    craft = ff.Spacecraft.from_base("planar", mass=real.body("base").mass, inertia=inertia)
    places = {"arm.2": (-0.79, 0.0, 1.35), "arm.3": (0.0, 0.0, 0.87), "arm.4": (0.63, 0.0, 0.0)}  # [m]
    parent = "base"
    for name, place in places.items():
        link = real.body(name)
        com = np.asarray(link.com) * (1.0, 0.0, 1.0)
        given = {"mass": link.mass, "inertia": link.inertia, "com": com, "axis": (0.0, 1.0, 0.0), "at": place}
        craft, parent = craft.with_link(name, parent=parent, joint="revolute", **given), name
    return craft


def test_a_motion_in_a_plane_does_not_tell_moments_about_axes_in_it():
    """Joints turn about y only: xx, zz and xz of the base do nothing at all. Products with y would tilt it: told."""
    craft = planar_ets7()
    points = [(10.0, -32.8, 20.0), (80.0, 40.0, -30.0)]
    spline = JointSpline.through(craft, points, durations=[20.0])
    state = craft.at_rest(joints_deg=points[0])
    experiment = ff.Experiment.of(craft, spline, duration=20.0, dt=0.25, record_dt=0.5, state=state)
    noise = {"base.rate": RATE, "base.attitude": CROSS}
    result = ff.identify(experiment, sensor_data(experiment, tuple(noise)), ["base.inertial"], noise=noise)
    nothing = {one.names for one in result.untold if np.isinf(one.deviation)}
    assert nothing == {("base.inertia.xx",), ("base.inertia.zz",), ("base.inertia.xz",)}
    assert result.deviation("base.inertia.xy") < 0.01 * result.scale[4]
    assert result.deviation("base.inertia.yz") < 0.01 * result.scale[4]


def test_the_real_arm_in_its_plane_tells_little_of_the_base():
    """The same joints of ETS-VII: its arm is beside the plane, so nothing is without effect, but noise hides much."""
    craft = ff.library.ets7()
    points = [(0.0, 0.0, 10.0, -32.8, 0.0, 0.0), (0.0, 40.0, -30.0, 20.0, 0.0, 0.0)]
    spline = JointSpline.through(craft, points, durations=[20.0])
    state = craft.at_rest(joints_deg=points[0])
    experiment = ff.Experiment.of(craft, spline, duration=20.0, dt=0.25, record_dt=0.5, state=state)
    data = sensor_data(experiment, ("base.rate",))
    result = ff.identify(experiment, data, ["base.inertial"], noise={"base.rate": RATE})
    hidden = {name for one in result.untold for name in one.names}
    assert {"base.inertia.xx", "base.inertia.zz", "base.inertia.xz", "base.mass"} <= hidden
    assert "hidden by the noise" in str(result)
    held = ff.identify(experiment, data, ["base.inertial"], noise={"base.rate": RATE}, prior=1.0)
    assert held.deviation("base.inertia.yy") < 0.2 * held.scale[4]  # what turns in the plane is told nevertheless
    assert "base.inertia.zz is as the prior has it" in str(held)
