"""Lesson 27: a tumbling client seen by a camera.

A servicer watches Envisat turn. A camera shows it the pose of the launch-adapter ring four times a second, late, noisy,
and every fifth picture is lost. The target filter makes of that where Envisat is and how it turns, and how sure it is,
and tells it under the names that an ideal sensor would use: software written for the truth runs on it unchanged. The
servicer begins with nothing but its first picture and the drawings of Envisat, which may be wrong by a tenth.
"""

import dataclasses

import numpy as np

import freefloat as ff
from freefloat.control import PictureNoise, TargetFilter
from freefloat.sensors import Ideal, Imperfection, RelativePoseCamera

DEG = np.deg2rad(1.0)
NOISE, ANGLE_NOISE = 0.005, 0.3 * DEG  # of a picture [m], [rad]

bus = ff.Spacecraft.from_base("bus", mass=850.0, inertia=(362.0, 604.0, 560.0))  # [kg], [kg m2]
bus = bus.with_frame("eye", body="base", at=ff.Pose(position=(1.0, 0.0, 0.0)))  # [m]
client = ff.library.envisat()
world = ff.World(servicer=bus, client=client)

camera = RelativePoseCamera(
    frame="eye",
    target="client.ring",
    noise=NOISE,
    angle_noise=ANGLE_NOISE,
    imperfection=Imperfection(seed=3, dropout=0.2),
    period=0.25,  # [s]
    latency=0.1,  # [s]
    on="servicer",
)
watch = TargetFilter(
    craft=bus,
    client=client,
    frame="eye",
    target="client.ring",
    noise=PictureNoise(position=NOISE, angle=ANGLE_NOISE),
    period=0.05,  # [s]
    on="servicer",
)

before = dataclasses.replace(bus.in_motion(rate_deg_s=(0.0, 0.1, 0.05)), p_NB=np.array([10.0, 0.0, 0.0]))  # [m]
run = ff.simulate(
    world,
    camera,
    watch,
    Ideal(on="servicer"),  # own attitude, rate and position: star tracker, gyro and navigation without error
    state={"servicer": before, "client": ff.library.envisat_start()},
    duration=60.0,
    dt=0.05,
    record_dt=1.0,
)


def error(name: str) -> np.ndarray:
    """Length of an error of the filter over time."""
    return np.linalg.norm(run[f"servicer.target.{name}_error"].values, axis=-1)


print("time [s]   attitude [deg]   rate [deg/s]   ring [mm]")
for t in (1, 2, 5, 10, 20, 40, 60):
    print(f"{t:6}   {error('angle')[t] / DEG:12.3f} {error('rate')[t] / DEG:14.4f} {1e3 * error('position')[t]:13.1f}")

inside = [
    np.abs(run[f"servicer.target.{name}_error"].values[1:]) <= run[f"servicer.target.{name}_three_sigma"].values[1:]
    for name in ("angle", "position", "rate", "velocity")
]
print(f"checked: share of errors within three sigma {np.mean(inside):.3f} (expected 1.0 +- 0.02)")
print(f"checked: rate wrong after a minute by {error('rate')[-1] / DEG:.3f} deg/s (expected 0.0 +- 0.05)")
