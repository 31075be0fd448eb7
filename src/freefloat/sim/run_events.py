"""Events of a run as plain data, read out of the logs that its records carry."""

from __future__ import annotations

from typing import Any

import numpy as np

from freefloat.model import World
from freefloat.sim.event_log import KINDS, ROOM, SLIPS, STICKS
from freefloat.sim.system import System, SystemState

Event = dict[str, Any]  # {"time": [s], "label": text, "name": ..., "kind": ..., ...}


def run_events(system: System, records: SystemState) -> tuple[Event, ...]:
    """Everything that happened between the first and the last record, in order of time, and what did not fit."""
    if not system.world.has_events:
        return ()
    log, found, lost = records.constraints.log, [], 0
    counts = np.asarray(log.count)
    for k in range(1, len(counts)):
        new = int(counts[k] - counts[k - 1])
        lost += max(0, new - ROOM)
        for number in range(int(counts[k]) - min(new, ROOM), int(counts[k])):
            found.append(_event(system.world, np.asarray(log.rows)[k, number % ROOM]))
    found.sort(key=lambda event: event["time"])
    return (*found, *_remarks(system, records, lost))


def _event(world: World, row: np.ndarray) -> Event:
    what, kind = int(row[1]), int(row[2])
    n, b = len(world.connections), len(world.brakes)
    event: Event = {"time": float(row[0]), "kind": KINDS[kind], "energy_lost": float(row[3])}
    if n <= what < n + b:
        brake = world.brakes[what - n]
        name = brake.joint if world.single else f"{brake.craft}.{brake.joint}"
        event |= {"name": name, "joint_impulse": float(row[4])}
    else:
        one = world.connections[what] if what < n else world.contacts[what - n - b]
        first, second = (one.a, one.b) if what < n else (one.b, one.a)
        impulse = row[4:10]
        event |= {"name": one.name, "impulse": impulse[:3].tolist(), "angular_impulse": impulse[3:].tolist()}
        for place, sign, before in ((first, -1.0, row[10:16]), (second, 1.0, row[16:22])):
            if place.craft:
                after = before + sign * impulse * (first.craft != second.craft)
                event[f"momentum of {place.craft}"] = {"before": before.tolist(), "after": after.tolist()}
    return event | {"label": _label(event, kind)}


def _label(event: Event, kind: int) -> str:
    """In words."""
    words = f"{event['name']}: {event['kind']}"
    size = float(np.linalg.norm(event.get("impulse", [event.get("joint_impulse", 0.0)])))
    if size > 0.0 and kind not in (SLIPS, STICKS):
        words += f", impulse {size:.4g} {'N s' if 'impulse' in event else 'N m s'}"
        words += f", {event['energy_lost']:.4g} J lost"
    return words


def _remarks(system: System, records: SystemState, lost: int) -> list[Event]:
    """What a reader must know about the events themselves."""
    end, found = float(np.asarray(records.tick)[-1]) * system.dt, []
    if lost:
        found.append(f"{lost} events did not fit between two records and are not listed. Record more often.")
    redundant = np.asarray(records.constraints.redundant)
    if np.any(redundant > 0):
        worst = int(np.argmax(redundant))
        held = [one.name for i, one in enumerate(system.world.connections) if records.constraints.latched[worst][i]]
        found.append(
            f"{', '.join(held)}: {redundant[worst]} of the directions that are held depend on others and carry no "
            "force of their own: the motion is right, how the others share the force is not determined."
        )
    unresolved = np.asarray(records.constraints.unresolved)
    if steps := int(unresolved[-1] - unresolved[0]):
        found.append(f"In {steps} steps there were more events than are looked for: shorten dt.")
    return [{"time": end, "label": words, "name": "", "kind": "remark", "condition": True} for words in found]
