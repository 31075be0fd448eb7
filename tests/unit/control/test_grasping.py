"""Software that latches and lets go."""

import dataclasses

import jax.numpy as jnp
import numpy as np

import freefloat as ff
from freefloat.control import GraspOnMessage, TimedGrasp

BOX = ff.Spacecraft.from_base("box", mass=10.0, inertia=(1.0, 1.0, 1.0)).with_frame("ring", body="base", at=(0.1, 0, 0))
WORLD = ff.World(one=BOX, two=BOX).connection("latch", "one.ring", "two.ring", reach=(1.0, 1.0))
STATE = {"two": dataclasses.replace(BOX.at_rest(), p_NB=np.array([0.5, 0.0, 0.0]), v=np.array([0, 0.1, 0, 0, 0, 0]))}


@ff.record
class Count(ff.Software):
    """Tells the time."""

    def tell(self, memory, y, clock):
        return {"count.time": 1.0 * clock.t}


def happened(*parts):
    run = ff.simulate(WORLD, *parts, state=STATE, duration=2.0, dt=0.1)
    return [(round(event["time"], 9), event["kind"]) for event in run.events]


def test_at_given_times():
    software = TimedGrasp("latch", at=0.3, release=1.1, period=0.1, on="one")
    assert happened(software) == [(0.3, "latched"), (1.1, "released")]
    assert happened(dataclasses.replace(software, release=jnp.inf)) == [(0.3, "latched")]


def test_when_a_message_says_so():
    software = GraspOnMessage("latch", "count.time", 0.45, release_after=0.7, period=0.1, on="one")
    assert happened(Count(period=0.1, on="one"), software) == [(0.5, "latched"), (1.2, "released")]
