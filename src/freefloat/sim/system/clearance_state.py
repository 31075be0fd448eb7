"""Which watched pairs of bodies are closer than their limit: the part of a system's state that clearances change."""

from __future__ import annotations

from freefloat.values import record
from freefloat.values.arrays import Numeric, Vector


@record
class ClearanceState:
    """State of all pairs with a limit, one clearance after the other."""

    closed: Numeric  # int32: 1 while a pair is closer than its limit
    closed_at: Vector  # when it last closed [s]
    opened_at: Vector  # when it last opened [s]
    changes: Numeric  # int32: how often it did either
    stopped: Numeric  # int32: steps in which one closed that ends the run
    margins: Vector  # of all pairs of shapes: distance less the limit, or less than that where they are far [m]
    speeds: Vector  # of all pairs: no distance changes faster than this [m/s]
    unseen: Vector  # of all pairs: how much closer than was seen they may have come between two looks [m]
