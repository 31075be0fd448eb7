"""Joint encoder: joint positions with offset, noise and quantisation."""

from __future__ import annotations

from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np

from freefloat.model import Sensor, Spacecraft
from freefloat.model.ports import Clock, Truth
from freefloat.sensors.imperfection import ImperfectSensor, quantise
from freefloat.values import ModelError, record
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.checks import require_bounds


@record
class JointEncoder(ImperfectSensor):
    """Encoders on all joints, all of the same kind; they measure `joints.position`."""

    offset: Vector | float = 0.0  # [rad, m]
    noise: Numeric | float = 0.0  # one sigma [rad, m]
    step: Numeric | float = 0.0  # resolution [rad, m]

    def __post_init__(self) -> None:
        super().__post_init__()
        require_bounds(self, {"offset": "rad, m"})
        require_bounds(self, {"noise": "rad, m", "step": "rad, m"}, least=0.0)

    def check(self, craft: Spacecraft) -> None:
        """Reject a spacecraft without a moving joint."""
        require_moving_joint(self, craft)

    def measure(self, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Measured joint positions [rad, m]."""
        places = np.array(truth.craft.layout.joint_positions, dtype=int)
        positions = jnp.asarray(truth.state.q)[places]
        noise = self.noise * self.draw(truth, number, len(places))
        return {"joints.position": quantise(positions + self.offset + noise, self.step)}


def require_moving_joint(encoder: Sensor, craft: Spacecraft) -> None:
    """Raise an error if a spacecraft with an encoder has no joint that turns or slides."""
    if not craft.layout.moving_joints:
        raise ModelError(f"{encoder.title}: spacecraft '{craft.name}' has no joint that moves. Leave the encoder out.")
