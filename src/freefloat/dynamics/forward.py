"""Forward dynamics: the acceleration that forces cause."""

import jax

from freefloat.dynamics.articulated import articulated_forward_dynamics
from freefloat.dynamics.inverse import bias, inverse_dynamics
from freefloat.dynamics.mass_matrix import mass_matrix
from freefloat.dynamics.solve import spd_solve
from freefloat.model import Spacecraft
from freefloat.values.arrays import Vector
from freefloat.values.compiling import compiled_on_call


@jax.custom_jvp
@compiled_on_call
def forward_dynamics(craft: Spacecraft, q: Vector, v: Vector, force: Vector) -> Vector:
    """Acceleration vdot (nv) under a generalised force (nv); base wrench in body axes, joint and motor torques.

    Its derivative comes from the inverse dynamics at the same point, d vdot = M^-1 (d force - d ID), which is
    several times cheaper than differentiating the recursion.
    """
    if craft.is_rigid and not craft.has_followers:  # joints that share a coordinate do not give way one by one
        return articulated_forward_dynamics(craft, q, v, force)
    return forward_dynamics_by_mass_matrix(craft, q, v, force)


@forward_dynamics.defjvp
def _(primals: tuple, tangents: tuple) -> tuple[Vector, Vector]:
    craft, q, v, force = primals
    *moving, dforce = tangents
    # The mass matrix is needed anyway, so the acceleration comes from it here: one factorisation serves all columns.
    M = mass_matrix(craft, q)
    vdot = spd_solve(M, force - bias(craft, q, v))
    _, imbalance = jax.jvp(lambda c, q, v: inverse_dynamics(c, q, v, vdot), (craft, q, v), tuple(moving))
    return vdot, spd_solve(M, dforce - imbalance)


@compiled_on_call
def forward_dynamics_by_mass_matrix(craft: Spacecraft, q: Vector, v: Vector, force: Vector) -> Vector:
    """Acceleration vdot (nv) from the mass matrix and the bias: an independent second way."""
    return spd_solve(mass_matrix(craft, q), craft.layout.require_size("force", force) - bias(craft, q, v))
