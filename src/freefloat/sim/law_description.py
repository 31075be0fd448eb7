"""What acted in a run, from where and within which limits, as plain data: gains and settings of every law by name."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Iterator, Mapping
from typing import Any

import jax
import numpy as np

from freefloat.model import Spacecraft, State
from freefloat.sim.description import Description
from freefloat.sim.system import Sampled, System, inner_law
from freefloat.spatial import angular, linear

_LISTED = 24  # numbers of an array that are told one by one


def describe_system(system: System, start: State) -> Description:
    """Laws with their gains, start and limits; what the scenario says of itself is added by whoever knows it."""
    craft = system.craft
    return Description(
        title=craft.name,
        laws=tuple(describe_law(law, craft) for law in system.laws),
        start=_start(craft, start),
        limits=_limits(craft),
    )


def describe_law(law: Any, craft: Spacecraft) -> dict[str, Any]:
    """A law's class, the period for which it holds its answer [s], and every number in it by dotted path."""
    inner = inner_law(law)
    period = {"period": law.period} if isinstance(law, Sampled) else {}
    return {"law": type(inner).__name__, **period, **dict(_settings(inner, "", craft))}


def _settings(record: Any, prefix: str, craft: Spacecraft) -> Iterator[tuple[str, Any]]:
    for name, value in _entries(record):
        path = f"{prefix}{name}"
        if isinstance(value, Spacecraft):
            yield path, _model(value, craft)
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


def _model(model: Spacecraft, craft: Spacecraft) -> str:
    """Which spacecraft a law believes in."""
    mine, real = jax.tree.flatten(model), jax.tree.flatten(craft)
    same = mine[1] == real[1] and all(map(np.array_equal, mine[0], real[0]))
    mass = float(model.mass)
    return f"{model.name}, as simulated" if same else f"{model.name}, a model of its own, {mass:.7g} kg"


def _plain(value: Any) -> Any:
    """A number, a word, a short list; a long array by its shape and a fingerprint, so that a difference shows."""
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
    """Where it starts and how it moves; what is zero is left out."""
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
    """Only those that limit something."""
    parts = [(joint.name, joint.limits, ("lower", "upper", "rate", "effort")) for joint in craft.joints]
    parts += [(wheel.name, wheel, ("max_torque", "max_momentum")) for wheel in craft.wheels]
    values = {f"{name} {what}": float(getattr(part, what)) for name, part, names in parts for what in names}
    return {name: value for name, value in values.items() if np.isfinite(value)}
