"""Gravity gradient on the spacecraft as it stands: torque on the whole, and what its joints and modes feel.

The tidal potential of a spacecraft with inertia I about its centre of mass, c being the unit vector to the centre of
the orbit, is V = n^2 (3 c^T I c - tr I) / 2. Its torque is 3 n^2 c x I c (Yoshida 2003, eq. 10), its force on the
whole is zero, and every joint and mode feels -dV/dq.
"""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import composite_inertia
from freefloat.effects.circular_orbit import CircularOrbit
from freefloat.effects.elliptic_orbit import EllipticOrbit
from freefloat.model import Spacecraft, State
from freefloat.model.ports import Clock, Effect
from freefloat.spatial import six
from freefloat.spatial.rotations import cross, roll_pitch_yaw
from freefloat.values import record
from freefloat.values.arrays import Mat3, Numeric, Scalar, Vec3, Vector
from freefloat.values.channels import Channel, vector


def gravity_gradient_torque(inertia: Mat3, nadir: Vec3, rate: Scalar) -> Vec3:
    """3 n^2 c x I c [N m], in the axes of the inertia (about the centre of mass) and of the nadir vector."""
    return 3.0 * rate**2 * cross(nadir, inertia @ nadir)


def tidal_potential(craft: Spacecraft, q: Vector, nadir: Vec3, rate: Scalar) -> Scalar:
    """Potential energy [J] of the configuration in the gravity gradient; nadir in base axes."""
    inertia = composite_inertia(craft, q).about_com()
    return 0.5 * rate**2 * (3.0 * nadir @ inertia @ nadir - jnp.trace(inertia))


@record
class GravityGradient(Effect):
    """The gravity gradient of an orbit. `factor` 0 switches it off and still reports the attitude."""

    orbit: CircularOrbit | EllipticOrbit
    factor: Numeric | float = 1.0

    def torque(self, craft: Spacecraft, state: State, t: Scalar) -> Vec3:
        """On the whole spacecraft, base axes [N m]."""
        inertia = composite_inertia(craft, state.q).about_com()
        nadir = state.X_NB.R.T @ self.orbit.nadir(t)
        return self.factor * gravity_gradient_torque(inertia, nadir, self.orbit.tidal_rate(t))

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> Vector:
        """Generalised force: a couple on the whole, and the joints' and modes' share."""
        nadir, layout = state.X_NB.R.T @ self.orbit.nadir(clock.t), craft.layout
        rate = self.orbit.tidal_rate(clock.t)
        slope = jax.grad(lambda q: tidal_potential(craft, q, nadir, rate))(jnp.asarray(state.q))
        couple = six(jnp.zeros(3), self.torque(craft, state, clock.t))
        moving = np.array(layout.coordinates, dtype=int)
        return jnp.zeros(layout.nv).at[:6].set(couple).at[moving].set(-self.factor * slope)

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Torque and attitude."""
        names = ("roll", "pitch", "yaw")
        return (
            vector("orbit.torque", "Gravity-gradient torque", "N m", "B"),
            Channel("orbit.roll_pitch_yaw", "Attitude in the orbital frame (Z-Y-X)", "rad", "O", "rpy", names),
        )

    def observe(self, craft: Spacecraft, state: State, clock: Clock) -> tuple[Numeric, ...]:
        """Torque, and attitude relative to the orbital frame."""
        R_ON = self.orbit.R_NO(clock.t).T
        return self.torque(craft, state, clock.t), roll_pitch_yaw(R_ON @ state.X_NB.R)
