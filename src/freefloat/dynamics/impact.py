"""Impacts along rows that hold both ways: a grasp, a latch, a point that sticks, a brake.

With g = J v the velocity of the rows before, the impulse is -(1 + e) Lambda g and the velocity after is -e g: nothing
is left for e = 0, a plastic impact (Cyril, Jaar and Misra 1993, eq. 37-39). The impulse works at the mean of the
velocities before and after, so the energy lost never is a difference of large energies, however fast all of it drifts.
"""

from __future__ import annotations

from collections.abc import Sequence

import jax.numpy as jnp

from freefloat.dynamics.relative_rows import Crafts, Rows, States, row_velocity
from freefloat.dynamics.row_response import Prescribed, RowResponse, prescribed_impulses, row_response
from freefloat.values import record
from freefloat.values.arrays import Matrix, Numeric, Scalar, Vector
from freefloat.values.checks import require_quantity
from freefloat.values.compiling import compiled_on_call


@record
class Impact:
    """Result of an impact."""

    speeds: tuple[Vector, ...]  # v of each spacecraft after it
    impulse: Vector  # along each row [N s, N m s]: on the second frame, and its opposite on the first
    effective_mass: Matrix  # Lambda (rows, rows): what is hit; zero at rows that depend on others
    before: Vector  # velocity of each row [m/s, rad/s]
    after: Vector
    energy_lost: Scalar  # in the rows [J]
    prescribed: tuple[Vector, ...]  # generalised impulses (nv) that keep prescribed joints at their rates
    rank: Numeric  # number of independent rows

    @property
    def work_of_prescribed(self) -> Scalar:
        """Work of the impulses that keep prescribed joints, and a held base, at their rates [J]."""
        return sum((p @ v for p, v in zip(self.prescribed, self.speeds, strict=True)), start=jnp.zeros(()))


def row_impact(
    crafts: Crafts,
    states: States,
    rows: Sequence[Rows],
    restitution: Numeric | float = 0.0,
    *,
    prescribed: Prescribed = (),
    active: Numeric | None = None,
) -> Impact:
    """The impact that takes the rows from velocity g to -e g; restitution e from 0 to 1, one for all rows or each.

    Rows that are held already take part with e = 0. Different e on rows that move may gain energy: then use one.
    Prescribed joints keep their rates. Rows that depend on others carry no impulse of their own; if they contradict
    them, something is left in `after`.
    """
    e = require_quantity("restitution", restitution, "", least=0.0, most=1.0)
    return _row_impact(crafts, states, rows, e, prescribed, active)


@compiled_on_call
def _row_impact(
    crafts: Crafts,
    states: States,
    rows: Sequence[Rows],
    e: Numeric | float,
    prescribed: Prescribed,
    active: Numeric | None,
) -> Impact:
    response = row_response(crafts, states, rows, prescribed, active)
    before = row_velocity(crafts, states, rows)
    if active is not None:
        before = jnp.where(jnp.asarray(active), before, 0.0)
    impulse = -response.solver.solve((1.0 + e) * before)
    return impact_of(crafts, states, response, before, impulse)


def impact_of(crafts: Crafts, states: States, response: RowResponse, before: Vector, impulse: Vector) -> Impact:
    """Result of impulses along rows, at given velocities of the rows before them."""
    changes = response.answers(impulse)
    after = before + response.velocity(changes)
    return Impact(
        speeds=tuple(state.v + change for state, change in zip(states, changes, strict=True)),
        impulse=impulse,
        effective_mass=response.effective_mass,
        before=before,
        after=after,
        energy_lost=-0.5 * impulse @ (before + after),
        prescribed=prescribed_impulses(crafts, states, response, changes, impulse),
        rank=response.rank,
    )
