"""Damping of a tumble by magnetorquers, from a magnetometer alone ("B-dot").

Seen from a base that turns with w, a field that changes slowly in N changes by dB/dt = -w x B. The dipole m = -k dB/dt
makes the torque m x B = -k |B|^2 (the part of w across B), which takes the power w . (m x B) = -k |w x B|^2. Along B
nothing is damped at an instant; B turns twice in an orbit over the poles, and so every axis has its turn.
"""

from __future__ import annotations

import jax.numpy as jnp

from freefloat.actuators.magnetorquers import Magnetorquers
from freefloat.model import Clock, Measurements, PortCommand, Software
from freefloat.values import record, static
from freefloat.values.arrays import Flag, Numeric, Scalar, Vec3
from freefloat.values.checks import require_bounds

_FIELD = "base.magnetic_field"


@record
class FieldMemory:
    """Latest measurement of the field, and how fast it changed."""

    flux_density: Vec3  # base axes [T]
    taken: Scalar  # [s]
    known: Flag  # whether there is a measurement
    rate: Vec3  # from the one before [T/s]


@record
class BdotDamping(Software[FieldMemory]):
    """Dipoles against the change of the measured field: m = -gain dB/dt, from two measurements each.

    For an orbit of mean motion n and inclination i, 2 n (1 + sin i) I / B^2 with the smallest moment of inertia I is a
    good gain (Avanzini and Giulietti, J. Guidance, Control, and Dynamics 35, 2012). The period must be well below that
    of the tumble: at half of a turn from sample to sample the difference has the wrong sign.
    """

    torquers: Magnetorquers
    gain: Numeric | float  # k [A m2 s/T]
    period: float | None = static(default=1.0, kw_only=True)  # between two ticks [s]

    def __post_init__(self) -> None:
        require_bounds(self, {"gain": "A m2 s/T"}, least=0.0)

    def begin(self, y: Measurements) -> FieldMemory:
        """Memory without a measurement."""
        return FieldMemory(jnp.zeros(3), jnp.zeros(()), jnp.asarray(False), jnp.zeros(3))

    def remember(self, memory: FieldMemory, y: Measurements, clock: Clock) -> FieldMemory:
        """Memory with the newest measurement; without a new one the rate stays as it is."""
        now, taken = jnp.asarray(y[_FIELD]), y.taken(_FIELD)
        fresh = y.valid(_FIELD) & (~memory.known | (taken > memory.taken))
        both = fresh & memory.known
        passed = jnp.where(both, taken - memory.taken, 1.0)
        return FieldMemory(
            flux_density=jnp.where(fresh, now, memory.flux_density),
            taken=jnp.where(fresh, taken, memory.taken),
            known=memory.known | fresh,
            rate=jnp.where(both, (now - memory.flux_density) / passed, memory.rate),
        )

    def command(self, memory: FieldMemory, y: Measurements, clock: Clock) -> PortCommand:
        """Dipole of each rod."""
        dipoles = self.torquers.allocate(-self.gain * memory.rate)
        return PortCommand(self.torquers.port, dipoles, unit="A m2")
