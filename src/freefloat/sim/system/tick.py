"""The tick of a state: its number and its time."""

from __future__ import annotations

import dataclasses

from freefloat.sim.system.system import System, SystemState
from freefloat.values.arrays import Flag, Numeric, Scalar


@dataclasses.dataclass(frozen=True)
class Tick:
    """When the present step began, and the number of its tick."""

    t: Scalar  # [s]
    number: Numeric  # int32
    whole: Flag | bool = True  # False in the later parts of a tick that is integrated in parts


def tick_of(system: System, loop: SystemState, parts: Numeric | None = None) -> Tick:
    """Time and tick of a state; `parts` as in `step`."""
    if parts is None:
        return Tick(loop.tick * system.dt, loop.tick)
    return Tick(loop.tick * (system.dt / parts), loop.tick // parts, loop.tick % parts == 0)
