"""On-board software without JAX: damps the rate of a servicer, counts its ticks, and tells them."""

import numpy as np


class Damper:
    name = "damper"
    period = 0.03  # [s]
    reads = ("base.rate", "base.attitude")
    commands = {"base.wrench": ()}  # noqa: RUF012
    tells = {"damper.count": np.int32(0)}  # noqa: RUF012

    def __init__(self, gain: float = 300.0) -> None:
        self.gain, self.count = gain, 0

    def begin(self, y) -> None:
        self.count = 0
        self.first = np.array(y["base.attitude"])

    def step(self, t, y):
        self.count += 1
        torque = -self.gain * y["base.rate"] - 2.0 * np.cross(self.first[1:], y["base.attitude"][1:])
        return {"base.wrench": np.concatenate([np.zeros(3), torque]), "damper.count": self.count}


software = Damper
