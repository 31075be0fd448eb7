"""Mass matrix by composite inertias: the natural orthogonal complement, from the leaves (Cyril et al. 1993)."""

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.tree import edges, extended_inertias, rotor_inertias
from freefloat.model import Spacecraft
from freefloat.values.arrays import Matrix, Vector
from freefloat.values.compiling import compiled_on_call


@compiled_on_call
def mass_matrix(craft: Spacecraft, q: Vector) -> Matrix:
    """Mass matrix M (nv, nv) with kinetic energy v^T M v / 2; base rows in body axes about the base origin."""
    links, inertias, nv = edges(craft, q), extended_inertias(craft, q), craft.layout.nv
    composite = [body.rigid for body in inertias]
    M = jnp.diag(rotor_inertias(craft))
    # Column k of a body's `momenta`: momentum about its origin per unit speed of dof k, of all that hangs on it.
    momenta = []
    for body in inertias:
        own = np.array(body.dofs, dtype=int)
        momenta.append(jnp.zeros((6, nv)).at[:, own].set(body.coupling))
        M = M.at[np.ix_(own, own)].add(body.own)
    for i in range(len(links), 0, -1):
        edge, parent = links[i - 1], craft.parents[i]
        dofs = np.array(edge.dofs, dtype=int)
        # What the edge's motion exchanges with everything outboard, and its own inertia.
        M = M.at[:, dofs].add((edge.columns.T @ momenta[i]).T)
        momenta[i] = momenta[i].at[:, dofs].add(composite[i] @ edge.columns)
        M = M.at[dofs].add(edge.columns.T @ momenta[i])
        # To the parent's frame.
        momenta[parent] = momenta[parent] + edge.X_PB.wrench_to_A(momenta[i])
        composite[parent] = composite[parent] + composite[i].to_A(edge.X_PB)
    return M.at[:, :6].add(momenta[0].T).at[:6].add(momenta[0]).at[:6, :6].add(composite[0].matrix())
