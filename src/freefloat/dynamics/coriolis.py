"""The Coriolis matrix, from the bias: C v = h, and Mdot - 2 C is skew.

The bias is quadratic in the speeds, so that its derivative gives Christoffel's symbols. Base twists do not commute;
what that adds is half of M ad_V on the columns of the base (the connection of Levi-Civita in body axes). Other
matrices have the same product C v: only that enters the equations of motion.
"""

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.inverse import bias
from freefloat.dynamics.mass_matrix import mass_matrix
from freefloat.model import Spacecraft
from freefloat.spatial import cross_motion
from freefloat.values.arrays import Matrix, Vector
from freefloat.values.compiling import compiled_on_call


@compiled_on_call
def coriolis_product(craft: Spacecraft, q: Vector, v: Vector, x: Vector) -> Vector:
    """Product C(q, v) x (nv) of the Coriolis matrix and a vector; with x = v it is the bias."""
    q, v, x = jnp.asarray(q), jnp.asarray(v), jnp.asarray(x)
    _, change = jax.jvp(lambda v: bias(craft, q, v), (v,), (x,))
    turned = jnp.concatenate([cross_motion(v[:6], x[:6]), np.zeros(craft.layout.nv - 6)])
    return 0.5 * (change + mass_matrix(craft, q) @ turned)


@compiled_on_call
def coriolis_matrix(craft: Spacecraft, q: Vector, v: Vector) -> Matrix:
    """Coriolis matrix C (nv, nv) with C v = `bias` and Mdot = C + C^T."""
    q, v = jnp.asarray(q), jnp.asarray(v)
    ad = jax.vmap(lambda x: cross_motion(v[:6], x), 1, 1)(jnp.eye(6))
    base = (mass_matrix(craft, q)[:, :6] @ ad, np.zeros((craft.layout.nv, craft.layout.nv - 6)))
    return 0.5 * (jax.jacfwd(lambda v: bias(craft, q, v))(v) + jnp.concatenate(base, axis=1))
