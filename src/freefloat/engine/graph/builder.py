"""Makes nodes: equal expressions become the same node, and each is simplified when it is made.

Only rewrites that keep the value up to rounding are done. Those that assume finite numbers
(``x*0 = 0``, ``x-x = 0``, ``x*(1/x) = 1``) carry the structural zeros of a model through to the
end, and hide a NaN on the way; ``x + 0`` as ``x`` keeps a minus sign of zero that IEEE arithmetic
drops. ``strict_nan`` switches all of these off for debugging, and divides by division.
"""

from __future__ import annotations

from .memory import Memory


class Builder(Memory):
    """All nodes of one traced function, with all methods that make new nodes from old ones.

    Each layer of the inheritance is one kind of rewrite: ``Interner`` shares equal nodes, then
    ``Booleans``, ``Floats``, ``Integers`` and ``Memory`` simplify theirs.
    """
