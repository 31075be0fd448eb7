"""Gravity on spacecraft near a point in orbit: force and torque on each, and generalised forces on joints and modes.

The orbit is that of N's origin, so a mass at r from it has the acceleration g(R + r) - g(R). To first order in r, with
M the mass of a spacecraft, I its inertia about its centre of mass at r_C, and c the unit vector to the centre of the
orbit, its potential is

    V = n^2 (3 c^T I c - tr I) / 2 + M n^2 (r_C . r_C - 3 (c . r_C)^2) / 2,   n^2 = mu / R^3.

Its torque about the centre of mass is 3 n^2 c x I c (Yoshida 2003, eq. 10), its force M n^2 (3 c c^T - 1) r_C, and
the generalised force on every joint and mode is -dV/dq. Both, and the full field, are in `relative_gravity`.
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import body_poses, composite_inertia
from freefloat.dynamics.tree import extended_inertias
from freefloat.effects.circular_orbit import CircularOrbit
from freefloat.effects.elliptic_orbit import EllipticOrbit
from freefloat.effects.neglected_gravity import neglected_gravity_warning
from freefloat.effects.relative_gravity import FullField, LinearField, LumpedMass, second_order_term
from freefloat.model import Field, RigidBody, Spacecraft, State, World
from freefloat.model.part_kinds import Clock
from freefloat.spatial import six
from freefloat.spatial.rotations import cross, roll_pitch_yaw
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Numeric, Scalar, Vec3, Vector, is_traced
from freefloat.values.channels import Channel, vector
from freefloat.values.checks import require_bounds
from freefloat.values.labelled import LabelledArrays

Lumps = tuple[LumpedMass, ...]
FIELDS = ("linear", "full")


@record
class GravityGradient(Field):
    """Gravity relative to N's origin, which moves along the orbit, on every spacecraft of the world.

    `field`: "linear" is of first order in the distance from N's origin; "full" of all orders in it, and of second order
    in the size of each body. A run with the linear field warns where it leaves out more than `accuracy` in position.
    `factor` 0 switches it off and still reports the attitude.
    """

    orbit: CircularOrbit | EllipticOrbit
    factor: Numeric | float = 1.0
    field: str = static(default="linear")
    accuracy: Numeric | float = 0.1  # [m]

    def __post_init__(self) -> None:
        if not isinstance(self.orbit, (CircularOrbit, EllipticOrbit)):
            raise ModelError(f"{self.title}: orbit must be a CircularOrbit or an EllipticOrbit, got {self.orbit!r}.")
        if self.field not in FIELDS:
            raise ModelError(f"{self.title}: there is no field '{self.field}'. Choose one of: {', '.join(FIELDS)}.")
        require_bounds(self, {"factor": "1"})
        require_bounds(self, {"accuracy": "m"}, above=0.0)

    def check_world(self, world: World) -> None:
        """Reject an orbit with J2 for several spacecraft: drifts of elements do not give their relative motion."""
        j2 = getattr(self.orbit, "j2", 0.0)
        if not world.single and not is_traced(j2) and float(j2) != 0.0:
            raise ModelError(
                f"{self.title}: j2 = {float(j2):g} moves the elements of one orbit, but not {', '.join(world.names)} "
                "against one another. Leave j2 out of EllipticOrbit for a world of several, or simulate one of them."
            )

    def torque(self, craft: Spacecraft, state: State, t: Scalar) -> Vec3:
        """Torque on the whole spacecraft about its centre of mass, base axes [N m]."""
        _, pushes, com = self._potential_and_forces(craft, state, t)
        about_com = [cross(lump.com - com, force) + couple for lump, force, couple in pushes]
        return self.factor * sum(about_com[1:], start=about_com[0])

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> Vector:
        """Generalised force: a force and a torque on the base, and the parts of joints and modes."""
        layout = craft.layout
        potential, pushes, _ = self._potential_and_forces(craft, state, clock.t)
        slope = jax.grad(potential)(jnp.asarray(state.q))
        wrench = sum((six(force, cross(lump.com, force) + couple) for lump, force, couple in pushes), jnp.zeros(6))
        moving = np.array(layout.coordinates, dtype=int)
        return jnp.zeros(layout.nv).at[:6].set(self.factor * wrench).at[moving].set(-self.factor * slope)

    def _potential_and_forces(
        self, craft: Spacecraft, state: State, t: Scalar
    ) -> tuple[Callable[[Vector], Scalar], list[tuple[LumpedMass, Vec3, Vec3]], Vec3]:
        """Potential of q; force and couple on each lump at its centre of mass; centre of mass of the whole."""
        R_BN = state.X_NB.R.T
        base, nadir, rate = R_BN @ state.p_NB, R_BN @ self.orbit.nadir(t), self.orbit.tidal_rate(t)
        whole = composite_inertia(craft, state.q)
        if self.field == "linear":  # all that it needs to know of a spacecraft is its inertia as it stands
            field, lumps = LinearField(nadir, rate), (LumpedMass(whole.mass, whole.com, whole.about_com()),)

            def potential(q: Vector) -> Scalar:
                return field.potential(composite_inertia(craft, q), base)
        else:
            field, lumps = FullField(nadir, rate, self.orbit.distance(t)), body_lumps(craft, state.q)

            def potential(q: Vector) -> Scalar:
                each = (field.potential(lump, base + lump.com) for lump in body_lumps(craft, q))
                return sum(each, jnp.zeros(()))

        pushes = [(lump, field.force(lump, base + lump.com), field.couple(lump, base + lump.com)) for lump in lumps]
        return potential, pushes, whole.com

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Channels for torque, attitude and place in orbit, and for what the linear field leaves out."""
        names = ("roll", "pitch", "yaw")
        common = (
            vector("orbit.torque", "Gravity-gradient torque", "N m", "B"),
            Channel("orbit.roll_pitch_yaw", "Attitude in the orbital frame (Z-Y-X)", "rad", "O", "rpy", names),
            vector("orbit.position", "Centre of mass in the orbital frame", "m", "O"),
        )
        left_out = vector("orbit.neglected", "Gravity of second order, left out by the linear field", "m/s2", "N")
        return (*common, left_out) if self.field == "linear" else common

    def observe(self, craft: Spacecraft, state: State, clock: Clock) -> tuple[Numeric, ...]:
        """Values of the channels: torque, attitude and place relative to the orbital frame."""
        orbit, t = self.orbit, clock.t
        R_ON, place = orbit.R_NO(t).T, state.X_NB.apply(composite_inertia(craft, state.q).com)
        common = self.torque(craft, state, t), roll_pitch_yaw(R_ON @ state.X_NB.R), R_ON @ place
        if self.field != "linear":
            return common
        left_out = second_order_term(orbit.nadir(t), orbit.tidal_rate(t), orbit.distance(t), place)
        return *common, self.factor * left_out

    def domain_warnings(self, craft: Spacecraft, data: LabelledArrays, prefix: str) -> tuple[str, ...]:
        """Warnings where the linear field is not good enough for the accuracy."""
        if self.field != "linear":
            return ()
        name = prefix.removesuffix(".") or craft.name
        return neglected_gravity_warning(name, self.orbit, data, prefix, float(self.accuracy))


def body_lumps(craft: Spacecraft, q: Vector) -> Lumps:
    """Mass, centre of mass and inertia of each body that has mass, as it is deformed, base axes."""
    found = []
    for body, inertia, X in zip(craft.bodies, extended_inertias(craft, q), body_poses(craft, q), strict=True):
        if not (isinstance(body, RigidBody) and body.massless):
            rigid = inertia.rigid
            found.append(LumpedMass(rigid.mass, X.apply(rigid.com), X.R @ rigid.about_com() @ X.R.T))
    return tuple(found)
