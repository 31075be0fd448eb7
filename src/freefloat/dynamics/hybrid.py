"""Hybrid dynamics: some joints, or the base, follow a prescribed motion, everything else responds to forces."""

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.inverse import bias
from freefloat.dynamics.mass_matrix import mass_matrix
from freefloat.dynamics.solve import spd_solve
from freefloat.model import Spacecraft
from freefloat.values import ModelError
from freefloat.values.arrays import Vector
from freefloat.values.compiling import compiled_on_call
from freefloat.values.tracing import once

Names = tuple[str, ...]


@compiled_on_call
def hybrid_dynamics(
    craft: Spacecraft, q: Vector, v: Vector, force: Vector, prescribed: Names, acceleration: Vector
) -> tuple[Vector, Vector]:
    """Acceleration and force (vdot, force) when the named joints accelerate as given.

    Entries of `force` at the named joints are results, not inputs.

    `base` is a name too, of six accelerations; its entries of the force are the wrench that moves it so, in base axes.
    """
    given, free = _split_dofs(craft, prescribed)
    force = craft.layout.require_size("force", force)
    _require_one_each("acceleration", acceleration, prescribed, given)
    M, h = mass_matrix(craft, q), bias(craft, q, v)
    vdot_free = spd_solve(M[np.ix_(free, free)], force[free] - h[free] - M[np.ix_(free, given)] @ acceleration)
    vdot = jnp.zeros(craft.layout.nv).at[free].set(vdot_free).at[given].set(acceleration)
    return vdot, jnp.asarray(force).at[given].set((M @ vdot + h)[given])


@compiled_on_call
def held_dynamics(craft: Spacecraft, q: Vector, v: Vector, force: Vector) -> tuple[Vector, Vector]:
    """Acceleration and force (vdot, force) on a test stand: the base does not accelerate, all else responds to forces.

    force[:6] is a result, not an input: the whole wrench on the base about its origin, which for a base at rest is that
    of the stand and of any thruster on the base together.
    """
    return hybrid_dynamics(craft, q, v, force, ("base",), np.zeros(6))


@compiled_on_call
def impose_rates(craft: Spacecraft, q: Vector, v: Vector, prescribed: Names, rates: Vector) -> Vector:
    """Velocity after the named joints jump to given rates: the others keep their generalised momentum."""
    return jump_to_rates(craft, q, v, prescribed, rates)[0]


@once
def jump_to_rates(craft: Spacecraft, q: Vector, v: Vector, prescribed: Names, rates: Vector) -> tuple[Vector, Vector]:
    """Velocity after the named joints jump to given rates, and the impulses at them [N m s, N s].

    The impulses do not depend on drift.
    """
    given, free = _split_dofs(craft, prescribed)
    v = craft.layout.require_size("v", v)
    _require_one_each("rates", rates, prescribed, given)
    M, step = mass_matrix(craft, q), rates - v[given]
    answer = spd_solve(M[np.ix_(free, free)], M[np.ix_(free, given)] @ step)
    impulse = M[np.ix_(given, given)] @ step - M[np.ix_(given, free)] @ answer
    return jnp.asarray(v).at[free].add(-answer).at[given].set(rates), impulse


def _split_dofs(craft: Spacecraft, prescribed: Names) -> tuple[np.ndarray, np.ndarray]:
    """Indices into v of what is prescribed and of everything else."""
    if twice := [name for k, name in enumerate(prescribed) if name in prescribed[:k]]:
        raise ModelError(f"'{twice[0]}' of spacecraft '{craft.name}' is prescribed twice. Name it once.")
    craft.layout.reject_followers(prescribed)
    given = np.array(craft.layout.indices(prescribed), dtype=int)
    return given, np.setdiff1d(np.arange(craft.layout.nv), given)


def _require_one_each(name: str, values: Vector, prescribed: Names, given: np.ndarray) -> None:
    if np.shape(values) != given.shape:
        raise ModelError(
            f"{name} must have {given.size} numbers ({', '.join(prescribed) or 'none'}), got shape {np.shape(values)}."
        )
