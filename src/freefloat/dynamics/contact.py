"""Impacts of contacts that push but do not pull, with restitution and friction, several at once.

Compression is a plastic impact (see `coulomb`). Then each contact gives back e times its normal impulse, rubbing with
at most mu times that. Giving back is cut short where it would give more energy than compression took: energy is never
gained. If that closes a contact again, a last plastic impact ends it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.coulomb import Blocks, plastic_contacts, rubbing_impulses, safe_root
from freefloat.dynamics.impact import Impact, impact_of
from freefloat.dynamics.redundant_rows import factorise_rows
from freefloat.dynamics.relative_rows import Crafts, FrameRows, Rows, States, row_count, row_velocity
from freefloat.dynamics.row_response import Prescribed, row_response
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Matrix, Numeric, Scalar, Vector
from freefloat.values.checks import require_quantity
from freefloat.values.compiling import compiled_on_call

_APPROACH = 1e-12  # of the fastest approach: what rounding leaves of a contact that is closed


def contact_impact(
    crafts: Crafts,
    states: States,
    contacts: Sequence[FrameRows],
    restitution: Numeric | float = 0.0,
    friction: Numeric | float = 0.0,
    *,
    held: Sequence[Rows] = (),
    held_active: Numeric | None = None,
    prescribed: Prescribed = (),
    active: Numeric | None = None,
) -> Impact:
    """Impact of contacts that touch now: each has the rows `normal(n)` or, for friction, `contact(n)`.

    The normal points from the first frame to the second, so a contact approaches while its first row is negative; one
    that separates, or whose flag in `active` is off, does nothing. Restitution (0 to 1) and friction (0 and up): one
    number for all or one for each contact. Rows that are `held` stay so, but for those whose flag in `held_active` is
    off. The result lists the held rows first.
    """
    _require_contacts(contacts)
    count = len(contacts)
    if active is not None and np.shape(active) != (count,):
        raise ModelError(f"active must have a flag for each of the {count} contacts, got shape {np.shape(active)}.")
    e = require_quantity("restitution", restitution, "", least=0.0, most=1.0)
    mu = require_quantity("friction", friction, "", least=0.0)
    return _contact_impact(
        crafts, states, contacts, held, prescribed, e=e, mu=mu, active=active, held_active=held_active
    )


@compiled_on_call
def _contact_impact(
    crafts: Crafts,
    states: States,
    contacts: Sequence[FrameRows],
    held: Sequence[Rows],
    prescribed: Prescribed,
    *,
    e: Numeric | float,
    mu: Numeric | float,
    active: Numeric | None,
    held_active: Numeric | None,
) -> Impact:
    blocks, count = _blocks(contacts), len(contacts)
    e, mu = jnp.broadcast_to(e, (count,)), jnp.broadcast_to(mu, (count,))
    every = (*held, *contacts)
    h = row_count(held)
    flags = None
    if held_active is not None:
        flags = jnp.concatenate([jnp.asarray(held_active), jnp.ones(row_count(contacts), bool)])
    response = row_response(crafts, states, every, prescribed, flags)
    before = row_velocity(crafts, states, every)
    before = before if flags is None else jnp.where(flags, before, 0.0)
    # Held rows respond to all impulses of the contacts.
    keeper = factorise_rows(response.W[:h, :h], response.mobility)
    across = keeper.solve(response.W[:h, h:])
    start = keeper.solve(before[:h])
    W = response.W[h:, h:] - response.W[h:, :h] @ across
    on = jnp.ones(count, bool) if active is None else jnp.asarray(active)
    x = _impulses(W, before[h:] - response.W[h:, :h] @ start, _Contacts(blocks, e, mu, on))
    impulse = jnp.concatenate([-start - across @ x, x])
    return impact_of(crafts, states, response, before, impulse)


@record
class _Contacts:
    blocks: Blocks = static()
    restitution: Vector
    friction: Vector
    active: Numeric


def _impulses(W: Matrix, g: Vector, contacts: _Contacts) -> Vector:
    """Impulses of compression, of restitution, and of a last plastic impact where that closes a contact again."""
    blocks, mu, active = contacts.blocks, contacts.friction, contacts.active
    normals = np.array([at.start for at in blocks], dtype=int)
    compression = plastic_contacts(W, g, mu, active, blocks)
    y = g + W @ compression
    back = rubbing_impulses(W, y, contacts.restitution * compression[normals], mu, blocks)
    x = compression + _largest_share(W, g, compression, back) * back
    y = g + W @ x
    # Rounding must not close a contact that has just been solved.
    small = _APPROACH * jnp.max(jnp.abs(g), initial=0.0)
    closing = y.at[normals].set(jnp.where(jnp.abs(y[normals]) > small, y[normals], 0.0))
    return x + plastic_contacts(W, closing, mu, active, blocks)


def _largest_share(W: Matrix, g: Vector, compression: Vector, back: Vector) -> Scalar:
    """The largest share, up to one, of the impulse given back at which no energy is gained."""
    lost = -(compression @ g + 0.5 * compression @ (W @ compression))
    rate, curvature = back @ (g + W @ compression), 0.5 * back @ (W @ back)
    # lost = rate s + curvature s^2 at the share s at which nothing is lost any more.
    root = safe_root(rate * rate + 4.0 * curvature * jnp.maximum(lost, 0.0))
    denominator = rate + root
    largest = 2.0 * jnp.maximum(lost, 0.0) / jnp.where(denominator > 0.0, denominator, 1.0)
    gains = rate + curvature > lost
    return jnp.where(gains & (denominator > 0.0), jnp.minimum(largest, 1.0), 1.0)


def _blocks(contacts: Sequence[FrameRows]) -> Blocks:
    ends = np.cumsum([0, *(contact.count for contact in contacts)])
    return tuple(slice(int(a), int(b)) for a, b in pairwise(ends))


def _require_contacts(contacts: Sequence[FrameRows]) -> None:
    for contact in contacts:
        if not isinstance(contact, FrameRows) or contact.count not in (1, 3):
            raise ModelError(f"A contact has the directions normal(n) or contact(n), got {contact!r}.")
    if not contacts:
        raise ModelError("contact_impact needs at least one contact: FrameRows(first, second, normal((1, 0, 0))).")
