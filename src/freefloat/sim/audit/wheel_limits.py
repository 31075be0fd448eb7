"""Check that every driven wheel keeps to its largest momentum; a motor that drives it further violates no balance.

Other torques may spin a full wheel up further: its absolute momentum stays while the body that carries it turns. So
what its carrier's rate changes by is permitted, and what the wheel had at the start.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from freefloat.actuators.wheel_motors import momentum_capacity
from freefloat.sim.audit.audit import AuditEntry
from freefloat.sim.system.system import System

if TYPE_CHECKING:
    from freefloat.values.labelled import LabelledArrays

_LOCATED = 1e-9  # relative: the instant at which a wheel becomes full is located far better


def wheel_limit_entries(system: System, data: LabelledArrays) -> Iterator[AuditEntry]:
    """Audit entry of every driven wheel with a limit: by how much its momentum exceeds it, at the worst record."""
    world, t = system.world, data["time"].values
    for number, name in system.wiring.limited_wheels:
        craft, prefix = world.crafts[number], world.prefix(number)
        most = float(np.asarray(momentum_capacity(craft, (name,)))[0])
        place = craft.wheel_names.index(name)
        spin = float(craft.wheels[place].inertia) * data[f"{prefix}wheels.speed"].values[:, place]
        carried = data[f"{prefix}wheels.absolute_momentum"].values[:, place] - spin
        beyond = np.maximum(np.abs(spin) - most, 0.0)
        worst = int(np.argmax(np.where(np.isfinite(beyond), beyond, np.inf)))
        turned = np.ptp(carried) + np.max(np.abs(np.diff(carried)), initial=0.0)
        permitted = float(beyond[0] + turned + _LOCATED * most)
        words, most_beyond = f"{prefix}{name}: momentum beyond its limit", float(beyond[worst])
        yield AuditEntry(words, "at most", permitted, most_beyond, "N m s", t[worst])
