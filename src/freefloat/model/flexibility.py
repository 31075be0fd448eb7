"""A joint with a flexible gear: motor rotor, gear ratio, stiffness, damping, free play and hysteresis."""

from __future__ import annotations

import jax.numpy as jnp

from freefloat.values import record
from freefloat.values.arrays import Numeric, Scalar, is_traced
from freefloat.values.checks import require_all, require_bounds, require_number
from freefloat.values.errors import ModelError


@record
class JointFlexibility:
    """A spring between motor and joint. The motor's position is counted at the joint: rotor angle over gear ratio.

    The rotor turns on the parent body about the joint's axis, `ratio` times as fast as the motor side of the joint. Its
    mass and locked inertia belong to that body, like a wheel's. Torsion is motor minus joint position. With free play
    no torque is carried while the torsion is less than half of it, and teeth push but do not pull. Hysteresis is dry
    friction across the spring: torque over torsion runs around a loop that is twice as high.
    Of a prismatic joint (a spindle) the ratio is in rad/m, stiffness in N/m, damping in N s/m, free play in m.
    """

    stiffness: Numeric | float  # of the gear, at the joint [N m/rad]
    motor_inertia: Numeric | float  # of the rotor about its axis, at the rotor [kg m2]
    ratio: Numeric | float = 1.0  # turns of the rotor per turn of the joint; negative: it turns the other way
    damping: Numeric | float = 0.0  # of the gear, at the joint [N m s/rad]
    motor_damping: Numeric | float = 0.0  # viscous friction of the motor, at the joint [N m s/rad]
    free_play: Numeric | float | None = None  # from flank to flank, at the joint [rad]; None: the teeth always touch
    hysteresis: Numeric | float | None = None  # dry friction in the gear, at the joint [N m]
    smoothing: Numeric | float = 1e-3  # rate of torsion at which hysteresis reaches three quarters of it [rad/s]

    def __post_init__(self) -> None:
        given = {n: u for n, u in (("free_play", "rad"), ("hysteresis", "N m")) if getattr(self, n) is not None}
        require_all(
            lambda: require_bounds(
                self, {"stiffness": "N m/rad", "motor_inertia": "kg m2", "smoothing": "rad/s"}, above=0.0
            ),
            lambda: require_bounds(self, {"damping": "N m s/rad", "motor_damping": "N m s/rad", **given}, least=0.0),
            self._require_ratio,
        )

    def _require_ratio(self) -> None:
        ratio = require_number("JointFlexibility.ratio", self.ratio, "turns of the rotor per turn of the joint")
        if not is_traced(ratio) and float(ratio) == 0.0:
            raise ModelError(
                "JointFlexibility.ratio must not be zero: then the rotor would not turn. Leave it out for 1."
            )

    @property
    def reflected_inertia(self) -> Numeric | float:
        """Inertia of the rotor, referred to the joint [kg m2]."""
        return self.motor_inertia * self.ratio**2

    def spring_torque(self, torsion: Scalar) -> Scalar:
        """Torque of the stiffness from motor to joint [N m]."""
        return self.stiffness * self._wind_up(torsion)

    def energy(self, torsion: Scalar) -> Scalar:
        """Energy stored in the gear [J]."""
        return 0.5 * self.stiffness * self._wind_up(torsion) ** 2

    def loss_torque(self, torsion: Scalar, rate: Scalar) -> Scalar:
        """Torque of damping and hysteresis from motor to joint [N m]; it only dissipates energy."""
        torque = self.damping * rate
        if self.hysteresis is not None:
            torque = torque + self.hysteresis * jnp.tanh(rate / self.smoothing)
        if self.free_play is None:
            return torque
        # Teeth that part let go: no flank pulls.
        spring = self.spring_torque(torsion)
        pushing = jnp.where(spring > 0.0, jnp.maximum(torque, -spring), jnp.minimum(torque, -spring))
        return jnp.where(spring == 0.0, 0.0, pushing)

    def _wind_up(self, torsion: Scalar) -> Scalar:
        """Strain of the spring: the torsion without the free play [rad]."""
        if self.free_play is None:
            return torsion
        return torsion - jnp.clip(torsion, -0.5 * self.free_play, 0.5 * self.free_play)
