"""Inverse dynamics by the recursive Newton-Euler pass; the bias is its value at zero acceleration."""

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.tree import edges, extended_inertias, pick
from freefloat.model import Spacecraft
from freefloat.spatial import cross_force, cross_motion
from freefloat.spatial.arrays import Vector


def inverse_dynamics(craft: Spacecraft, q: Vector, v: Vector, vdot: Vector) -> Vector:
    """Generalised force (nv) that gives the acceleration vdot: M vdot + bias; base wrench in body axes."""
    links, inertias, parents = edges(craft, q), extended_inertias(craft), craft.parents
    force = [jnp.zeros(())] * craft.layout.nv

    # Outward: twists and their rates (in each body's axes).
    twists, rates = [v[:6]], [vdot[:6]]
    for edge, parent in zip(links, parents[1:], strict=True):
        relative = edge.columns @ pick(v, edge.dofs)
        twist = edge.X_PB.twist_to_B(twists[parent]) + relative
        twists.append(twist)
        rates.append(
            edge.X_PB.twist_to_B(rates[parent]) + edge.columns @ pick(vdot, edge.dofs) + cross_motion(twist, relative)
        )

    # Each body: rate of its momentum, and the force on its own speeds.
    wrenches = []
    for body, twist, rate in zip(inertias, twists, rates, strict=True):
        momentum = body.rigid @ twist + body.coupling @ pick(v, body.dofs)
        own_rate = pick(vdot, body.dofs)
        wrenches.append(body.rigid @ rate + body.coupling @ own_rate + cross_force(twist, momentum))
        for k, dof in enumerate(body.dofs):
            force[dof] = body.coupling[:, k] @ rate + body.own[k] @ own_rate

    # Inward: what each joint must carry.
    for i in range(len(links), 0, -1):
        edge = links[i - 1]
        for k, dof in enumerate(edge.dofs):
            force[dof] = edge.columns[:, k] @ wrenches[i]
        wrenches[parents[i]] = wrenches[parents[i]] + edge.X_PB.wrench_to_A(wrenches[i])
    return jnp.concatenate([wrenches[0], jnp.stack(force[6:])]) if len(force) > 6 else wrenches[0]


def bias(craft: Spacecraft, q: Vector, v: Vector) -> Vector:
    """Velocity-dependent generalised force: Coriolis, centrifugal and gyroscopic terms."""
    return inverse_dynamics(craft, q, v, np.zeros(craft.layout.nv))
