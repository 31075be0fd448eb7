"""Description of a system as plain data: gains and settings of every part by name, the start, and limits."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import numpy as np

from freefloat.model import (
    Actuator,
    Clearance,
    Effect,
    Failure,
    Interaction,
    Part,
    Place,
    Quantity,
    Sensor,
    Software,
    Spacecraft,
    State,
    World,
)
from freefloat.sensors.ideal import Ideal
from freefloat.sim.record.description import Description
from freefloat.sim.system.system import System
from freefloat.spatial import angular, linear

_KINDS = {
    "effect": Effect,
    "actuator": Actuator,
    "sensor": (Sensor, Ideal),
    "software": Software,
    "failure": Failure,
    "clearance": Clearance,
    "interaction": Interaction,
    "quantity": Quantity,
}
_LISTED = 24  # numbers of an array that are listed one by one


def describe_system(system: System, start: tuple[State, ...]) -> Description:
    """Description of a system: its parts with their settings, start and limits; a scenario adds its own texts."""
    world, beginnings, limits = system.world, dict[str, Any](), dict[str, Any]()
    for c, (craft, state) in enumerate(zip(world.crafts, start, strict=True)):
        beginnings |= {world.prefix(c) + name: value for name, value in _start(craft, state).items()}
        limits |= {world.prefix(c) + name: value for name, value in _limits(craft).items()}
    return Description(
        title=", ".join(world.names),
        parts=(*(_part_in_system(system, part) for part in system.parts), *_held_parts(world)),
        start=beginnings,
        limits=limits,
    )


def _part_in_system(system: System, part: Part) -> dict[str, Any]:
    """Description of a part; of an actuator with those of its ports that nobody commands."""
    about = describe_part(part, system.spacecraft_of(part))
    if not isinstance(part, Actuator):
        return about
    prefix = system.world.prefix(system.craft_index(part))
    names = [prefix + port.name for port in part.accepts(system.spacecraft_of(part))]
    resting = [name for name in names if name in system.wiring.resting]
    return about | ({"at rest, since nobody commands it": ", ".join(resting)} if resting else {})


def describe_part(part: Part, craft: Spacecraft) -> dict[str, Any]:
    """A part's class, what kind of part it is, and every number in it by dotted path."""
    kind = next((name for name, base in _KINDS.items() if isinstance(part, base)), "part")
    settings = {name: value for name, value in _settings(part, "", craft) if value is not None and value != ""}
    return {"part": type(part).__name__, "kind": kind, **settings}


def _held_parts(world: World) -> Iterator[dict[str, Any]]:
    """Connections, brakes and contacts of a world with their settings."""
    for kind, some in (("connection", world.connections), ("brake", world.brakes), ("contact", world.contacts)):
        for part in some:
            own = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
            places = {name: value.title for name, value in own.items() if isinstance(value, Place)}
            plain = {name: _plain(value) for name, value in own.items() if name not in (*places, "at")}
            yield {"part": type(part).__name__, "kind": kind, **plain, **places}


def _settings(record: Any, prefix: str, craft: Spacecraft) -> Iterator[tuple[str, Any]]:
    for name, value in _entries(record):
        path = f"{prefix}{name}"
        if isinstance(value, Spacecraft):
            yield path, _model_text(value, craft)
        elif dataclasses.is_dataclass(value) or (isinstance(value, (Mapping, tuple)) and not _is_numbers(value)):
            yield path, type(value).__name__
            yield from _settings(value, f"{path}.", craft)
        else:
            yield path, _plain(value)


def _entries(record: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(record, Mapping):
        yield from ((str(key), value) for key, value in record.items())
    elif isinstance(record, tuple):
        yield from ((str(number), value) for number, value in enumerate(record, start=1))
    elif dataclasses.is_dataclass(record):
        yield from ((field.name, getattr(record, field.name)) for field in dataclasses.fields(record))


def _is_numbers(value: Any) -> bool:
    return isinstance(value, tuple) and all(isinstance(entry, (int, float, str, np.ndarray)) for entry in value)


def _model_text(model: Spacecraft, craft: Spacecraft) -> str:
    """Text that says which model of a spacecraft software uses: the simulated one, or one of its own."""
    mine, real = jax.tree.flatten(model), jax.tree.flatten(craft)
    same = mine[1] == real[1] and all(map(np.array_equal, mine[0], real[0]))
    mass = float(model.mass)
    return f"{model.name}, as simulated" if same else f"{model.name}, a model of its own, {mass:.7g} kg"


def _plain(value: Any) -> Any:
    """A value as plain data; a long array as its shape and a fingerprint, so that a difference shows."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if callable(value):
        return getattr(value, "__qualname__", type(value).__name__)
    try:
        numbers = np.asarray(value)
    except (TypeError, ValueError):
        return type(value).__name__
    if numbers.dtype.kind not in "fiubU":
        return type(value).__name__
    if numbers.size <= _LISTED:
        return numbers.tolist()
    fingerprint = hashlib.sha256(np.ascontiguousarray(numbers).tobytes()).hexdigest()[:8]
    return f"array {numbers.shape}, fingerprint {fingerprint}"


def _start(craft: Spacecraft, start: State) -> dict[str, Any]:
    """Position and speeds of a spacecraft at the start, by name; zeros are left out."""
    layout = craft.layout
    values = {
        "base position [m]": start.p_NB,
        "base attitude (w, x, y, z)": start.quat_NB,
        "base velocity, base axes [m/s]": linear(start.V_NB),
        "base rate, base axes [rad/s]": angular(start.V_NB),
        **{f"{name} position": start.q[layout.position(name)] for name in layout.order("q")},
        **{f"{name} rate": start.v[layout.velocity(name)] for name in layout.order("v")[1:]},
    }
    return {name: np.asarray(value).tolist() for name, value in values.items() if np.any(value)}


def _limits(craft: Spacecraft) -> dict[str, Any]:
    """Finite limits of joints and wheels, by name."""
    parts = [(joint.name, joint.limits, ("lower", "upper", "rate", "effort")) for joint in craft.joints]
    parts += [(wheel.name, wheel, ("max_torque", "max_momentum")) for wheel in craft.wheels]
    values = {f"{name} {what}": float(getattr(part, what)) for name, part, names in parts for what in names}
    return {name: value for name, value in values.items() if np.isfinite(value)}
