"""Mass matrix by composite inertias: the natural orthogonal complement, from the leaves (spec 004, section 2)."""

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.tree import edges, extended_inertias
from freefloat.model import Spacecraft
from freefloat.spatial.arrays import Matrix, Vector


def mass_matrix(craft: Spacecraft, q: Vector) -> Matrix:
    """M (nv, nv) with kinetic energy v^T M v / 2; base rows in body axes about the base origin."""
    links, inertias = edges(craft, q), extended_inertias(craft)
    composite = [body.rigid for body in inertias]
    # Momentum about a body's origin per unit speed of every dof below it, as columns, with the dofs they belong to.
    momenta = [body.coupling for body in inertias]
    below = [body.dofs for body in inertias]
    M = jnp.zeros((craft.layout.nv, craft.layout.nv))
    for body in inertias:
        M = _add(M, body.dofs, body.dofs, body.own)
    for i in range(len(links), 0, -1):
        edge, parent = links[i - 1], craft.parents[i]
        # The joint's own momentum, and what its motion exchanges with everything outboard.
        carried = composite[i] @ edge.columns
        M = _add(M, edge.dofs, edge.dofs, edge.columns.T @ carried)
        M = _add_pair(M, edge.dofs, below[i], edge.columns.T @ momenta[i])
        # To the parent's frame.
        outboard = jnp.concatenate([carried, momenta[i]], axis=1)
        momenta[parent] = jnp.concatenate([momenta[parent], edge.X_PB.wrench_to_A(outboard)], axis=1)
        below[parent] = below[parent] + edge.dofs + below[i]
        composite[parent] = composite[parent] + composite[i].seen_from(edge.X_PB)
    base = tuple(range(6))
    M = _add(M, base, base, composite[0].matrix())
    return _add_pair(M, base, below[0], momenta[0])


def _add(M: jax.Array, rows: tuple[int, ...], columns: tuple[int, ...], block: Matrix) -> jax.Array:
    if not rows or not columns:
        return M
    return M.at[np.ix_(rows, columns)].add(block)


def _add_pair(M: jax.Array, rows: tuple[int, ...], columns: tuple[int, ...], block: Matrix) -> jax.Array:
    return _add(_add(M, rows, columns, block), columns, rows, block.T)
