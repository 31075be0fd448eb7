"""Lesson 13: software of your own in a world of two spacecraft, and a run that is continued.

A chaser keeps two metres from the ring of a client that tumbles. Its software sees measurements only: those of a
perfect camera, then those of a noisy one, half a second late. A run that ended goes on as if it had never stopped.
"""

import dataclasses

import jax.numpy as jnp
import numpy as np

import freefloat as ff
from freefloat.sensors import Ideal, RelativePoseCamera
from freefloat.spatial.rotations import rotation_matrix

chaser = ff.Spacecraft.from_base("chaser", mass=50.0, inertia=(4.0, 4.0, 4.0))  # [kg], [kg m2]
client = ff.Spacecraft.from_base("client", mass=400.0, inertia=(80.0, 120.0, 100.0))
client = client.with_frame("ring", body="base", at=(-0.5, 0.0, 0.0))
world = ff.World(chaser=chaser, client=client)
tumbling = dataclasses.replace(
    client.at_rest(), p_NB=np.array([4.0, 0.0, 0.0]), v=np.array([0.0, 0.01, 0.0, 0.01, 0.02, 0.0])
)


@ff.record
class KeepStation(ff.Software):
    """Pushes the chaser to a place in front of what the camera sees; damped by its own measured velocity."""

    def command(self, memory, y, clock):
        off = y["camera.position"] - jnp.array([2.0, 0.0, 0.0])  # base axes [m]
        force = 2.0 * off - 20.0 * y["base.velocity"]  # [N/m], [N s/m]
        torque = -8.0 * y["base.rate"]  # [N m s/rad]
        return ff.BaseWrench(jnp.concatenate([jnp.where(y.valid("camera.position"), force, 0.0), torque]))


def experiment(noise: float, latency: float, duration: float = 120.0) -> ff.Experiment:
    """The software at 4 Hz on a camera that is as good as one likes."""
    camera = RelativePoseCamera(frame="base", target="client.ring", noise=noise, latency=latency, on="chaser")
    parts = camera, Ideal(on="chaser"), KeepStation(period=0.25, on="chaser")
    return ff.Experiment.of(world, *parts, duration=duration, dt=0.05, state={"client": tumbling})


def distance(run: ff.Run) -> float:
    """From the ring at the end [m]."""
    place = rotation_matrix(run["chaser.base.attitude"].values[-1])[:, 0] * 2.0 + run["chaser.base.position"].values[-1]
    return float(np.linalg.norm(run["client.ring.position"].values[-1] - place))


perfect, real = (ff.simulate(experiment(*camera)) for camera in ((0.0, 0.0), (5e-3, 0.5)))
momentum = real["world.momentum.linear"].values[-1] - real["world.momentum.linear"].values[0]
missing = float(np.linalg.norm(momentum - real["world.impulse.linear"].values[-1]))
print(
    f"Off its place at the end: {distance(perfect):.3f} m with a perfect camera, {distance(real):.3f} m with a real one"
)
print(f"checked: momentum that nobody pushed {missing:.2e} N s (expected 0 +- 1e-9)")

half = ff.simulate(experiment(5e-3, 0.5, duration=60.0))
rest = ff.continue_run(half, experiment(5e-3, 0.5, duration=60.0))
different = int(np.sum(rest["chaser.state.v"].values[-1] != real["chaser.state.v"].values[-1]))
print(f"checked: speeds that differ from those of the run in one go {different} (expected 0 +- 0)")
print(f"checked: distance from its place {distance(real):.3f} m (expected 0.132 +- 0.002)")
