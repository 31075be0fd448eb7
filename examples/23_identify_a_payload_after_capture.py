"""Lesson 23: what has the arm caught? Mass, centre of mass and inertia of a payload from gyro and star tracker.

Run it: python examples/23_identify_a_payload_after_capture.py

ETS-VII holds a target whose data sheet is wrong. The arm swings it about while thrusters push the base, and nothing is
measured but the base's rate and attitude, with noise. Least squares with exact derivatives finds the ten inertial
numbers of the payload, says how well, and says of a lazier motion what it cannot tell.
"""

import numpy as np

import freefloat as ff
from freefloat.analysis import sensor_data
from freefloat.control import JointSpline
from freefloat.sensors import Gyro, Ideal, Imperfection, StarTracker

RATE, ANGLE = 2e-5, 5e-5  # one sigma of gyro [rad/s] and star tracker [rad]
NOISE = {"base.rate": RATE, "base.attitude": ANGLE}
LIVELY = [  # joint angles [deg]
    (0.0, 0.0, 10.0, -32.8, 0.0, 0.0),
    (30.0, 20.0, -20.0, 10.0, 40.0, 30.0),
    (-30.0, -20.0, 40.0, -50.0, -40.0, 60.0),
]
PLANAR = [LIVELY[0], (0.0, 40.0, -30.0, 20.0, 0.0, 0.0), (0.0, -20.0, 40.0, -32.8, 0.0, 0.0)]


def holding(mass: float, com: tuple[float, float, float], inertia: float) -> ff.Spacecraft:
    """ETS-VII with a payload in its hand; `inertia` about its centre of mass, about each axis [kg m2]."""
    target = ff.Spacecraft.from_base("target", mass=mass, com=com, inertia=(inertia, inertia, inertia))
    return ff.library.ets7().grasp(target, name="payload", hand="hand")


def experiment(craft: ff.Spacecraft, points: list[tuple[float, ...]]) -> ff.Experiment:
    """Known commands: joint angles, and a push of 20 N m about each axis."""
    torques = np.eye(6)[3:] * 20.0  # [N m]
    pushes = [
        ff.WrenchPulse("base", w, start=5.0 + 15.0 * k, stop=10.0 + 15.0 * k, name="xyz"[k])
        for k, w in enumerate(torques)
    ]
    flaws = Imperfection(seed=23)
    gyro = Gyro(noise=RATE, period=0.5, imperfection=flaws)
    tracker = StarTracker(cross_noise=ANGLE, roll_noise=ANGLE, period=0.5, imperfection=flaws)
    parts = JointSpline.through(craft, points, durations=[25.0, 25.0]), *pushes, gyro, tracker, Ideal()
    start = craft.at_rest(joints_deg=points[0])
    return ff.Experiment.of(craft, *parts, state=start, duration=50.0, dt=0.25, record_dt=0.5)


truth, sheet = holding(430.0, (0.55, 0.1, -0.05), 80.0), holding(350.0, (0.4, 0.0, 0.0), 60.0)

data = sensor_data(experiment(truth, LIVELY), tuple(NOISE))
result = ff.identify(experiment(sheet, LIVELY), data, ["payload.inertial"], noise=NOISE)
print(result)
print()

body = truth.body("payload").spatial_inertia()
upper = np.array([[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]])
exact = np.array([body.mass, *body.moment, *np.asarray(body.inertia)[upper[0], upper[1]]])
mass, error = result["payload.mass"], result.normalised_error(exact)
print(f"checked: mass of the payload {mass:.2f} kg (expected 430 +- {4.0 * result.deviation('payload.mass'):.2f})")
print(f"checked: normalised error of all ten {error:.2f} (expected 10 +- 19.6)")  # chi-square: 29.6 in one of 1000

lazy = sensor_data(experiment(truth, PLANAR), tuple(NOISE))
planar = ff.identify(experiment(sheet, PLANAR), lazy, ["payload.inertial"], noise=NOISE)
gain = planar.deviation("payload.inertia.zz") / result.deviation("payload.inertia.zz")
print(f"in one plane zz is known {gain:.0f} times worse")
