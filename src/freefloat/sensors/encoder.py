"""Joint encoder: joint positions with offset, noise and quantisation."""

from __future__ import annotations

from freefloat.sensors.imperfection import Imperfection, quantise
from freefloat.values import record
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.checks import require_bounds


@record
class JointEncoder:
    """One for each joint, all of the same kind."""

    imperfection: Imperfection = Imperfection()
    offset: Vector | float = 0.0  # [rad, m]
    noise: Numeric | float = 0.0  # one sigma [rad, m]
    step: Numeric | float = 0.0  # resolution [rad, m]

    def __post_init__(self) -> None:
        require_bounds(self, {"offset": "rad, m"})
        require_bounds(self, {"noise": "rad, m", "step": "rad, m"}, least=0.0)

    def measure(self, positions: Vector, sample: Numeric) -> Vector:
        """Measured joint positions."""
        return quantise(
            positions + self.offset + self.noise * self.imperfection.noise(sample, positions.shape[0]), self.step
        )
