"""Response of spacecraft to impulses along rows: W = J M^-1 J^T and its inverse, the effective mass Lambda.

M is block diagonal over the spacecraft, flexible states included. Prescribed joints, and a held base, do not respond.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.factorisation import Factor, factorise
from freefloat.dynamics.inverse import inverse_dynamics
from freefloat.dynamics.redundant_rows import RowFactor, factorise_rows
from freefloat.dynamics.relative_rows import Crafts, Rows, States, row_count, row_jacobian
from freefloat.model import Spacecraft
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Matrix, Numeric, Scalar, Vector

Prescribed: TypeAlias = Sequence[tuple[str, ...]]  # names for each spacecraft; "base" is one; empty: nothing at all


@record
class RowResponse:
    """Rows and the response of the spacecraft to impulses along them."""

    given: tuple[tuple[int, ...], ...] = static()  # prescribed dofs of each spacecraft
    J: tuple[Matrix, ...]  # (rows, nv) of each spacecraft
    factors: tuple[Factor, ...]  # of each mass matrix
    reduced: tuple[Matrix, ...]  # J^T of each spacecraft after elimination, see `factorisation`
    W: Matrix  # (rows, rows) mobility: velocity along the rows per unit impulse along them [1/kg, ...]
    mobility: Scalar  # of the most mobile dof [1/kg, 1/(kg m2)]
    solver: RowFactor  # of W

    @property
    def rank(self) -> Numeric:
        """Number of independent rows."""
        return self.solver.rank

    @property
    def effective_mass(self) -> Matrix:
        """Effective mass Lambda = W^-1 along the rows [kg, kg m, kg m2]; zero at rows that depend on others."""
        return self.solver.inverse()

    def velocity(self, speeds: Sequence[Vector]) -> Vector:
        """Velocity J v along the rows at given speeds."""
        return _sum([J @ v for J, v in zip(self.J, speeds, strict=True)], self.W.shape[0])

    def answers(self, impulse: Vector) -> tuple[Vector, ...]:
        """Change M^-1 J^T impulse of each spacecraft's speeds."""
        return tuple(f.expand(z @ impulse) for f, z in zip(self.factors, self.reduced, strict=True))


def row_response(
    crafts: Crafts, states: States, rows: Sequence[Rows], prescribed: Prescribed = (), active: Numeric | None = None
) -> RowResponse:
    """Response to rows at given states. Rows that are not `active` (flags, one for each row) have no effect."""
    given = prescribed_dofs(crafts, prescribed)
    J = row_jacobian(crafts, states, rows)
    if active is not None:
        if np.shape(active) != (row_count(rows),):
            raise ModelError(
                f"active must have a flag for each of the {row_count(rows)} rows, got shape {np.shape(active)}."
            )
        J = tuple(jnp.where(jnp.asarray(active)[:, None], block, 0.0) for block in J)
    factors = tuple(factorise(craft, state.q, g) for craft, state, g in zip(crafts, states, given, strict=True))
    reduced = tuple(factor.reduce(block.T) for factor, block in zip(factors, J, strict=True))
    W = symmetric_sum([z.T @ (f.weights[:, None] * z) for f, z in zip(factors, reduced, strict=True)])
    mobility = jnp.max(jnp.concatenate([jnp.zeros(1), *(factor.weights for factor in factors)]))
    solver = factorise_rows(W, mobility)
    return RowResponse(given=given, J=J, factors=factors, reduced=reduced, W=W, mobility=mobility, solver=solver)


def prescribed_dofs(crafts: Crafts, prescribed: Prescribed) -> tuple[tuple[int, ...], ...]:
    """Indices into v of the prescribed coordinates of each spacecraft."""
    names = tuple(prescribed) or ((),) * len(crafts)
    if len(names) != len(crafts):
        raise ModelError(
            f"prescribed must name the joints of each of the {len(crafts)} spacecraft, got {len(names)} tuples."
        )
    for craft, own_names in zip(crafts, names, strict=True):
        craft.layout.reject_followers(own_names)
    return tuple(craft.layout.indices(own_names) for craft, own_names in zip(crafts, names, strict=True))


def prescribed_impulses(
    crafts: Crafts, states: States, response: RowResponse, changes: Sequence[Vector], impulse: Vector
) -> tuple[Vector, ...]:
    """Generalised impulses (nv) of each spacecraft that keep prescribed dofs at their rates while the rows push."""
    found = []
    for craft, state, given, J, change in zip(crafts, states, response.given, response.J, changes, strict=True):
        found.append(_prescribed_impulse(craft, state.q, given, change, J.T @ impulse))
    return tuple(found)


def _prescribed_impulse(craft: Spacecraft, q: Vector, given: tuple[int, ...], change: Vector, push: Vector) -> Vector:
    if not given:
        return jnp.zeros(craft.layout.nv)
    at, still = np.array(given, dtype=int), np.zeros(craft.layout.nv)
    return jnp.zeros(craft.layout.nv).at[at].set((inverse_dynamics(craft, q, still, change) - push)[at])


def symmetric_sum(parts: list[Matrix]) -> Matrix:
    """Sum of symmetric matrices, rebuilt from the upper triangle: compiled code never computes the other half."""
    total = sum(parts[1:], start=parts[0])
    size = total.shape[0]
    return total * np.triu(np.ones((size, size))) + (total * np.triu(np.ones((size, size)), 1)).T


def _sum(parts: list[Vector], size: int) -> Vector:
    return sum(parts, start=jnp.zeros(size))
