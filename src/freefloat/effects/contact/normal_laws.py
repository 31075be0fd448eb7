"""Laws of the normal force at a contact point, from the depth and its rate.

Depth is the overlap of the two shapes [m], its rate is the speed at which they approach [m/s].
"""

from __future__ import annotations

from typing import Any, TypeAlias

import jax.numpy as jnp

from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Numeric, Vector, is_traced
from freefloat.values.checks import require_bounds, require_number


@record
class KelvinVoigt:
    """A spring and a damper side by side: k depth + c rate.

    Before the shapes part, the damper would pull. Where it does not stick (the default), the push ends there.
    """

    stiffness: Numeric | float  # k [N/m]
    damping: Numeric | float = 0.0  # c [N s/m]
    sticks: bool = static(default=False)  # True: it pulls until the shapes part

    def __post_init__(self) -> None:
        require_bounds(self, {"stiffness": "N/m"}, above=0.0)
        require_bounds(self, {"damping": "N s/m"}, least=0.0)

    @staticmethod
    def from_damping_ratio(stiffness: float, ratio: float, mass: float, *, sticks: bool = False) -> KelvinVoigt:
        """Law with c = 2 ratio sqrt(k m), for an effective mass [kg]: m1 m2 / (m1 + m2) of two free balls."""
        require_number("KelvinVoigt: ratio", ratio, "1", least=0.0)
        require_number("KelvinVoigt: mass", mass, "kg", above=0.0)
        return KelvinVoigt(stiffness, 2.0 * ratio * float(stiffness * mass) ** 0.5, sticks=sticks)

    def margin(self, depth: Vector, rate: Vector) -> Vector:
        """Margin [m]: positive while the law pushes (or pulls, if it sticks)."""
        return depth if self.sticks else depth + (self.damping / self.stiffness) * jnp.minimum(rate, 0.0)

    def force(self, depth: Vector, rate: Vector, on: Numeric) -> Vector:
        """Normal force [N] where the law is on, else zero."""
        return jnp.where(on, self.stiffness * depth + self.damping * rate, 0.0)

    def elastic_force(self, depth: Vector) -> Vector:
        """Force of the spring alone [N]."""
        return self.stiffness * depth

    def energy(self, depth: Vector) -> Vector:
        """Energy stored in the spring [J]."""
        return 0.5 * self.stiffness * jnp.maximum(depth, 0.0) ** 2


@record
class HuntCrossley:
    """k depth^n (1 + d rate): without a jump when it begins, and without pull when it ends (Hunt and Crossley, 1975).

    For a Hertzian contact n is 3/2.
    """

    stiffness: Numeric | float  # k [N/m^n]
    damping: Numeric | float = 0.0  # d [s/m]
    exponent: Numeric | float = 1.5  # n

    def __post_init__(self) -> None:
        require_bounds(self, {"stiffness": "N/m^n"}, above=0.0)
        require_bounds(self, {"damping": "s/m"}, least=0.0)
        require_bounds(self, {"exponent": "1"}, least=1.0)

    @staticmethod
    def from_restitution(stiffness: float, restitution: float, speed: float, *, exponent: float = 1.5) -> HuntCrossley:
        """Law whose damping makes two free bodies that meet at a speed [m/s] part at restitution times that speed."""
        from scipy.optimize import brentq

        require_number("HuntCrossley: restitution", restitution, "1", above=0.0, most=1.0)
        require_number("HuntCrossley: speed", speed, "m/s", above=0.0)
        if is_traced(restitution, speed):
            raise ModelError("HuntCrossley.from_restitution needs plain numbers: find the damping before the run.")
        if restitution == 1.0:
            return HuntCrossley(stiffness, 0.0, exponent)
        found: Any = brentq(
            lambda x: _restitution_residual(x, restitution), 1e-12, (1.0 - 1e-15) / restitution, xtol=1e-15
        )
        return HuntCrossley(stiffness, float(found) / speed, exponent)

    def margin(self, depth: Vector, rate: Vector) -> Vector:
        """Margin [m]: positive while the law pushes."""
        return jnp.where(depth > 0.0, depth * jnp.minimum(1.0, 1.0 + self.damping * rate), depth)

    def force(self, depth: Vector, rate: Vector, on: Numeric) -> Vector:
        """Normal force [N] where the law is on, else zero."""
        return jnp.where(on, self.elastic_force(depth) * (1.0 + self.damping * rate), 0.0)

    def elastic_force(self, depth: Vector) -> Vector:
        """Force of the spring alone [N]."""
        return self.stiffness * _power(depth, self.exponent)

    def energy(self, depth: Vector) -> Vector:
        """Energy stored in the spring [J]."""
        return self.stiffness / (self.exponent + 1.0) * _power(depth, self.exponent + 1.0)


def _restitution_residual(x: float, e: float) -> float:
    """x - ln(1 + x) = -e x - ln(1 - e x) for x = d v: zero where a ball that comes with v leaves with e v."""
    import math

    return (x - math.log1p(x)) - (-e * x - math.log1p(-e * x))


def _power(depth: Vector, exponent: Numeric | float) -> Vector:
    inside = depth > 0.0
    return jnp.where(inside, jnp.where(inside, depth, 1.0) ** exponent, 0.0)


NormalLaw: TypeAlias = KelvinVoigt | HuntCrossley
