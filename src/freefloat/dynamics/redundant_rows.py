"""Symmetric positive semidefinite systems of rows that may depend on one another, as two arms on one body make them."""

from __future__ import annotations

import jax.numpy as jnp

from freefloat.dynamics.solve import scale_column
from freefloat.values import record
from freefloat.values.arrays import Matrix, Numeric, Scalar, Vector

_DEPENDENT = 1e-10  # of a row's own mobility: what is left of one that depends on those before it
_IMMOBILE = 1e-24  # of the mobility per unit lever arm: a row that only rounding moves has 1e-32


@record
class RowFactor:
    """Factors L D L^T of W = J M^-1 J^T, first row first; rows that depend on those before them are left out."""

    columns: tuple[Vector, ...]  # of L, below the diagonal
    reciprocals: Vector  # 1 / D; zero for a row that is left out
    kept: Vector  # 1 where a row counts, 0 where it is left out

    @property
    def rank(self) -> Numeric:
        """Number of independent rows."""
        return jnp.sum(self.kept)

    def solve(self, b: Numeric) -> Numeric:
        """Solution x of W x = b, zero at rows that are left out; b (k) or (k, m)."""
        reduced, rest = [], b
        for column in self.columns:
            reduced.append(rest[0])
            rest = rest[1:] - scale_column(column, rest[0])
        x = jnp.zeros((0, *b.shape[1:]))
        for k in range(len(reduced) - 1, -1, -1):
            x = jnp.concatenate([(reduced[k] * self.reciprocals[k] - self.columns[k] @ x)[None], x])
        return x

    def inverse(self) -> Matrix:
        """Effective mass Lambda: W^-1 over the independent rows, zero elsewhere."""
        return self.solve(jnp.diag(self.kept))


def factorise_rows(W: Matrix, mobility: Scalar) -> RowFactor:
    """Factorise W (k, k); `mobility` of the most mobile dof is the scale on which rounding counts as zero."""
    own, reciprocals, columns, kept = jnp.diagonal(W), [], [], []
    for k in range(W.shape[0]):
        counts = W[0, 0] > jnp.maximum(_DEPENDENT * own[k], _IMMOBILE * mobility)
        reciprocals.append(jnp.where(counts, 1.0 / jnp.where(counts, W[0, 0], 1.0), 0.0))
        kept.append(jnp.where(counts, 1.0, 0.0))
        columns.append(W[0, 1:] * reciprocals[-1])
        W = W[1:, 1:] - jnp.outer(columns[-1], W[0, 1:])
    stack = jnp.stack if kept else lambda _: jnp.zeros(0)
    return RowFactor(columns=tuple(columns), reciprocals=stack(reciprocals), kept=stack(kept))
