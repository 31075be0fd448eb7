"""A small capture with two pieces of software that talk: all that software can do, to be run inside and outside."""

import dataclasses

import jax.numpy as jnp
import numpy as np

import freefloat as ff
from freefloat.sensors import Gyro, Ideal, Imperfection

HUB = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 22.0, 25.0)).with_link(
    "rod", parent="base", joint="revolute", axis=(0, 1, 0), mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42)
)
HUB = HUB.with_frame("hand", body="rod", at=(1.0, 0.0, 0.0))  # [m]
CLIENT = ff.Spacecraft.from_base("client", mass=40.0, inertia=(6.0, 7.0, 8.0))  # [kg], [kg m2]
WORLD = ff.World(servicer=HUB, client=CLIENT)


@ff.record
class Sequence(ff.Software):
    """Damps the base by a measured rate and its sum, latches, brakes, and lets go; tells its phase."""

    gain: float = 3.0  # [N m s]
    switches: bool = ff.static(default=False)  # whether it latches, releases and brakes

    def begin(self, y):
        return {"sum": 0.0 * y["base.rate"], "phase": jnp.zeros((), jnp.int32)}

    def remember(self, memory, y, clock):
        late = jnp.where(y.valid("base.rate"), clock.t - y.taken("base.rate"), 0.0)
        phase = (clock.t >= 0.2).astype(jnp.int32) + (clock.t >= 0.5).astype(jnp.int32)
        return {"sum": memory["sum"] + clock.hold * (1.0 + late) * y["base.rate"], "phase": phase}

    def command(self, memory, y, clock):
        torque = -self.gain * y["base.rate"] - 0.1 * y["fast.base.rate"] - memory["sum"]
        phase, push = memory["phase"], ff.BaseWrench(jnp.concatenate([jnp.zeros(3), torque]))
        if not self.switches:
            return push
        brakes = ff.Brake(("rod",), jnp.ones(1) * (phase == 2))
        return push, ff.Latch("grasp", phase == 1), ff.Release("grasp", phase == 2), brakes

    def tell(self, memory, y, clock):
        return {"arm.phase": memory["phase"]}


@ff.record
class Rod(ff.Software):
    """Turns the rod as the phase says."""

    def command(self, memory, y, clock):
        aim = 0.1 * (y["arm.phase"] + 1)
        return ff.JointTorques(("rod",), 2.0 * (aim - y["joints.position"]) - 1.0 * y["joints.rate"])


def experiment(*, switches=False, duration=0.8):
    world = WORLD
    if switches:
        world = world.connection("grasp", "servicer.hand", "client.base", reach=(1.0, 4.0))  # [m], [rad]
        world = world.brake("servicer.rod", slip_torque=0.5)  # [N m]
    gyro = Gyro(on="servicer", noise=1e-3, period=0.02, latency=0.03, imperfection=Imperfection(seed=4))
    fast = Gyro(on="servicer", name="fast", noise=1e-3, period=0.02, imperfection=Imperfection(seed=5))  # at once
    start = {
        "servicer": dataclasses.replace(HUB.at_rest(), v=np.array([0, 0, 0, 0.02, -0.03, 0.05, 0.1])),
        "client": dataclasses.replace(CLIENT.at_rest(), p_NB=np.array([1.2, 0.1, 0.0])),
    }
    talking = Sequence(on="servicer", period=0.04, switches=switches), Rod(on="servicer", period=0.02)
    parts = (*talking, gyro, fast, Ideal(on="servicer"))
    return ff.Experiment.of(world, *parts, state=start, duration=duration, dt=0.01, record_dt=0.02)


def software():
    return ff.outside.host(experiment(), "Sequence", name="sequence")
