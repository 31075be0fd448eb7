"""Six-vectors in the order (linear, angular): twists and wrenches. The only place that slices them."""

import jax.numpy as jnp

from freefloat.spatial.rotations import cross
from freefloat.values.arrays import Columns3, Columns6, Vec6


def six(linear_part: Columns3, angular_part: Columns3) -> Columns6:
    """Six-vector from its linear and its angular part."""
    return jnp.concatenate([linear_part, angular_part])


def linear(V: Columns6) -> Columns3:
    """Velocity of a twist, force of a wrench."""
    return V[:3]


def angular(V: Columns6) -> Columns3:
    """Angular rate of a twist, torque of a wrench."""
    return V[3:]


def cross_motion(V: Vec6, W: Vec6) -> Vec6:
    """Product ad_V W: rate of a twist W fixed in a frame that moves with V (docs/notation.md)."""
    v, w = linear(V), angular(V)
    return six(cross(w, linear(W)) + cross(v, angular(W)), cross(w, angular(W)))


def cross_force(V: Vec6, F: Vec6) -> Vec6:
    """Product -ad_V^T F: rate of a wrench or momentum F fixed in a frame that moves with V."""
    v, w = linear(V), angular(V)
    return six(cross(w, linear(F)), cross(w, angular(F)) + cross(v, linear(F)))
