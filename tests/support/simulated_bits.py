"""One short run, and all its numbers as one word: for processes that shall agree to the last bit."""

import dataclasses
import hashlib

import numpy as np

import freefloat as ff


def simulated_bits(number: int = 0) -> str:
    """The same run whatever the number; it only tells calls apart."""
    hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0)).with_link(
        "rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42)
    )
    state = dataclasses.replace(hub.at_rest(joints=(0.3,)), v=np.arange(1.0, 8.0))
    run = ff.simulate(hub, state=state, duration=1.0)
    digest = hashlib.sha256()
    for channel in run.channels:
        digest.update(np.ascontiguousarray(run.values(channel)).tobytes())
    return digest.hexdigest()
