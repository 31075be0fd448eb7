"""Events of a run as plain data, read from the logs in its records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from freefloat.dynamics.relative_rows import row_error
from freefloat.model import State, World
from freefloat.sim.events.clearance_watch import clearance_events
from freefloat.sim.motion.constraint_rows import connection_rows
from freefloat.sim.motion.full_wheels import wheel_events
from freefloat.sim.system.constraint_state import HOLDS
from freefloat.sim.system.event_log import KINDS, ROOM
from freefloat.sim.system.system import System, SystemState
from freefloat.spatial import Pose

_NOTHING = 1e-12  # [N s, N m s]: an impulse that is but rounding
_KEPT = 1e-8  # [m, rad]: what is held is off by less
_SAME = 1e-12  # a start that was moved by less is the one that was asked for

Event = dict[str, Any]  # {"time": [s], "label": text, "name": ..., "kind": ..., ...}


def run_events(system: System, records: SystemState, start: tuple[State, ...]) -> tuple[Event, ...]:
    """Events between the first and the last record in order of time, and remarks about them.

    `start`: the states that were asked for, which may have been moved onto what is held from the start.
    """
    watched = [*clearance_events(system, records), *wheel_events(system, records)]
    watched = tuple(sorted(watched, key=lambda event: event["time"]))
    if not system.world.has_events:
        return watched
    log, found, lost = records.modes.log, [], 0
    counts = np.asarray(log.count)
    for k in range(1, len(counts)):
        new = int(counts[k] - counts[k - 1])
        lost += max(0, new - ROOM)
        for number in range(int(counts[k]) - min(new, ROOM), int(counts[k])):
            found.append(_event(system.world, np.asarray(log.rows)[k, number % ROOM]))
    found = sorted([*found, *watched], key=lambda event: event["time"])
    return (*_moved_start(records, start), *found, *_remarks(system, records, lost))


def _moved_start(records: SystemState, start: tuple[State, ...]) -> list[Event]:
    """An event that says how far the start was moved; an empty list if it was not."""
    if int(records.tick[0]):
        return []
    away = {
        name: max(
            float(np.max(np.abs(getattr(now, name)[0] - getattr(then, name)), initial=0.0)) for now, then in pairs
        )
        for pairs in (list(zip(records.states, start, strict=True)),)
        for name in ("p_NB", "quat_NB", "q", "v")
    }
    placed = max(away["p_NB"], 2.0 * away["quat_NB"], away["q"])
    if placed <= _SAME and away["v"] <= _SAME:
        return []
    words = (
        f"The start was moved onto what holds it: positions by up to {placed:.3g} (m, rad), speeds by up to "
        f"{away['v']:.3g} (m/s, rad/s)"
    )
    return [{"time": 0.0, "label": words, "name": "", "kind": "remark", "condition": True}]


def _event(world: World, row: np.ndarray) -> Event:
    what, kind = int(row[1]), int(row[2])
    n, b = len(world.connections), len(world.brakes)
    event: Event = {"time": float(row[0]), "kind": KINDS[kind], "energy_lost": float(row[3])}
    if n <= what < n + b:
        brake = world.brakes[what - n]
        name = brake.joint if world.single else f"{brake.craft}.{brake.joint}"
        event |= {"name": name, "joint_impulse": float(row[4])}
    else:
        pair = world.connections[what] if what < n else world.contacts[what - n - b]
        first, second = (pair.a, pair.b) if what < n else (pair.b, pair.a)
        impulse = row[4:10]
        event |= {"name": pair.name, "impulse": impulse[:3].tolist(), "angular_impulse": impulse[3:].tolist()}
        for place, sign, before in ((first, -1.0, row[10:16]), (second, 1.0, row[16:22])):
            if place.craft:
                after = before + sign * impulse * (first.craft != second.craft)
                event[f"momentum of {place.craft}"] = {"before": before.tolist(), "after": after.tolist()}
    return event | {"label": _event_text(event)}


def _event_text(event: Event) -> str:
    """Text of an event: name, kind, impulse and energy lost."""
    words = f"{event['name']}: {event['kind']}"
    size = float(np.linalg.norm(event.get("impulse", [event.get("joint_impulse", 0.0)])))
    if size > _NOTHING:
        words += f", impulse {size:.4g} {'N s' if 'impulse' in event else 'N m s'}"
        words += f", {event['energy_lost']:.4g} J lost"
    return words


def _remarks(system: System, records: SystemState, lost: int) -> list[Event]:
    """Remarks on the events: those that are missing, and forces that are not determined."""
    end, found = float(np.asarray(records.tick)[-1]) * system.dt, []
    if lost:
        found.append(f"{lost} events are not listed: {ROOM} of those between two records are kept.")
    redundant = np.asarray(records.modes.redundant)
    if np.any(redundant > 0):
        worst = int(np.argmax(redundant))
        modes, world = records.modes, system.world
        held = [connection.name for i, connection in enumerate(world.connections) if modes.latched[worst][i]]
        held += [brake.joint for i, brake in enumerate(world.brakes) if modes.brakes[worst][i] == HOLDS]
        held += [contact.name for i, contact in enumerate(world.contacts) if modes.touching[worst][i]]
        parted = list(_lost_connections(system.world, records))
        right = "" if parted else "the motion is right, "
        found.append(
            f"{', '.join(held)}: {redundant[worst]} of the directions that are held depend on others and carry no "
            f"force of their own: {right}how the others share the force is not determined."
        )
        found += parted
    unresolved = np.asarray(records.modes.unresolved)
    if steps := int(unresolved[-1] - unresolved[0]):
        found.append(f"In {steps} steps there were more events than are looked for: shorten dt.")
    return [{"time": end, "label": words, "name": "", "kind": "remark", "condition": True} for words in found]


def _lost_connections(world: World, records: SystemState) -> Iterator[str]:
    """Sentences for connections that are latched but not kept, at the last record at which they are latched."""
    modes = records.modes
    for i, connection in enumerate(world.connections):
        on = np.flatnonzero(np.asarray(modes.latched)[:, i])
        if not on.size or connection.held_outside:
            continue
        k = int(on[-1])
        states = tuple(jax.tree.map(lambda x, k=k: np.asarray(x)[k], state) for state in records.states)
        held = Pose.from_quaternion(np.asarray(modes.attitudes)[k, i], np.asarray(modes.positions)[k, i])
        away = float(np.max(np.abs(row_error(world.crafts, states, (connection_rows(world, connection, held),)))))
        if away > _KEPT:
            yield (
                f"{connection.name} is latched but not kept: at the end it is off by {away:.3g} (m, rad). A prescribed "
                "motion, or what else is held, contradicts it: release one of them."
            )


class Events(tuple):
    """Events in order of time: each is a dictionary; printed they are a table."""

    def __str__(self) -> str:
        lines = [f"{'time':>12}  {'what':<24} {'event':<42} {'impulse':>12} {'energy lost':>12}"]
        return "\n".join([*lines, *map(_line, self)])


def _line(event: Event) -> str:
    if "name" not in event or not event["name"]:
        return f"{event['time']:>10.6g} s  {event['label']}"
    line = f"{event['time']:>10.6g} s  {event['name']:<24} {event['kind']:<42}"
    size = float(np.linalg.norm(event.get("impulse", [event.get("joint_impulse", 0.0)])))
    if size < _NOTHING:
        return line.rstrip()
    unit = "N s" if "impulse" in event else "N m s"
    return f"{line} {size:>{11 - len(unit)}.4g} {unit} {event['energy_lost']:>10.4g} J"
