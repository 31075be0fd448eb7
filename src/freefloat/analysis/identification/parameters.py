"""Numbers of an experiment that can be estimated, by dotted path, each with its unit and the size of a change."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.analysis.identification import inertial_numbers, modal_numbers
from freefloat.model import ModalBody, RigidBody, State
from freefloat.sim.experiment import Experiment
from freefloat.sim.system.system import System
from freefloat.sim.system.varied_numbers import number_names
from freefloat.values.arrays import Vector
from freefloat.values.errors import ModelError

_RIGID, _FLEXIBLE = ("mass", "com", "inertia"), ("mass", "moment", "second_moment")  # numbers of a body
INERTIAL, FREQUENCIES, RATIOS = "inertial", "frequencies", "damping_ratios"
_START = {"start.base.velocity": (slice(0, 3), "m/s"), "start.base.rate": (slice(3, 6), "rad/s")}
_UNITS = {
    "mass": "kg",
    "com": "m",
    "inertia": "kg m2",
    "damping": "N m s/rad",
    "friction": "N m",
    "coulomb": "N m",
    "viscous": "N m s/rad",
    "stiffness": "N m/rad",
    "rotor_inertia": "kg m2",
    "motor_inertia": "kg m2",
    "wrench": "N, N m",
}


@dataclass(frozen=True)
class ParameterLeaves:
    """Indices of the leaves of (system, start) that hold some parameters, and the function that makes these leaves."""

    leaves: tuple[int, ...]
    make: Callable[..., Any]  # (old leaves, values) -> new leaves


@dataclass(frozen=True)
class Group:
    """Parameters that enter the experiment together, such as the three numbers of a centre of mass."""

    path: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    nominal: tuple[float, ...]
    scale: tuple[float, ...]  # the size of a change that matters; never zero
    place: ParameterLeaves


@dataclass(frozen=True)
class Placement:
    """How a vector of parameters enters an experiment, without values: compiled code serves every set of values."""

    places: tuple[tuple[int, ParameterLeaves], ...]  # how many numbers, and where

    def insert_values(
        self, system: System, start: tuple[State, ...], values: Vector
    ) -> tuple[System, tuple[State, ...]]:
        """System and start with these parameter values; parameters of the start are skipped if `start` is empty."""
        leaves, tree = jax.tree.flatten((system, start))
        first = 0
        for count, place in self.places:
            own, first = values[first : first + count], first + count
            if max(place.leaves) < len(leaves):
                new = place.make([jnp.asarray(leaves[k]) for k in place.leaves], own)
                for k, leaf in zip(place.leaves, new, strict=True):
                    leaves[k] = leaf
        return jax.tree.unflatten(tree, leaves)


@dataclass(frozen=True)
class Parameters:
    """All estimated parameters, in order."""

    groups: tuple[Group, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Name of every number."""
        return tuple(name for group in self.groups for name in group.names)

    @property
    def units(self) -> tuple[str, ...]:
        """Unit of every number."""
        return tuple(unit for group in self.groups for unit in group.units)

    @property
    def nominal(self) -> np.ndarray:
        """Values that the experiment itself has."""
        return np.array([value for group in self.groups for value in group.nominal])

    @property
    def scale(self) -> np.ndarray:
        """Size by which a change of each number is measured."""
        return np.array([value for group in self.groups for value in group.scale])

    @property
    def placement(self) -> Placement:
        """How the parameters enter the experiment."""
        return Placement(tuple((len(group.names), group.place) for group in self.groups))


def find_parameters(experiment: Experiment, paths: Sequence[str]) -> Parameters:
    """Parameters by path; an error names unknown paths and numbers that occur twice."""
    if isinstance(paths, str) or not paths:
        raise ModelError(f"parameters must be a list of dotted paths, such as ['base.mass'], got {paths!r}.")
    known = _ExperimentNumbers(experiment)
    found = Parameters(tuple(known.group(str(path)) for path in paths))
    for k, group in enumerate(found.groups):
        for other in found.groups[:k]:
            if not _are_independent(group, other):
                raise ModelError(f"Parameters '{other.path}' and '{group.path}' share a number. Keep one of them.")
    return found


def _are_independent(a: Group, b: Group) -> bool:
    """Whether two groups share no number: other leaves, other entries of one leaf, or frequencies and ratios."""
    if set(a.names) & set(b.names):
        return False
    entries = all(isinstance(group.place.make, partial) and group.place.make.func in _ENTRIES for group in (a, b))
    modal = {group.path.rpartition(".")[2] for group in (a, b)} == {FREQUENCIES, RATIOS}
    return entries or modal or not set(a.place.leaves) & set(b.place.leaves)


class _ExperimentNumbers:
    """All numbers of an experiment, by name."""

    def __init__(self, experiment: Experiment) -> None:
        self.system, self.start = experiment.system, experiment.start
        self.leaves = [np.asarray(leaf) for leaf in jax.tree.leaves((self.system, self.start))]
        keys = number_names(self.system)
        self.keys = {key: k for k, key in enumerate(keys)}
        shared = Counter(keys.values())
        self.places = {
            name if shared[name] == 1 else _with_kind(key, name): self.keys[key] for key, name in keys.items()
        }
        self.bodies = {
            self.system.world.prefix(c) + body.name: (body, f".world.crafts[{c}].bodies[{b}].")
            for c, craft in enumerate(self.system.world.crafts)
            for b, body in enumerate(craft.bodies)
        }

    def group(self, path: str) -> Group:
        """Group of parameters that belongs to a path."""
        owner, _, kind = path.rpartition(".")
        body, key = self.bodies.get(owner, (None, ""))
        if kind == INERTIAL and body is not None:
            rigid = isinstance(body, RigidBody)
            fields, make = (
                (_RIGID, inertial_numbers.make_leaves) if rigid else (_FLEXIBLE, inertial_numbers.make_flexible_leaves)
            )
            places = tuple(self.keys[key + field] for field in fields)
            return Group(path, *inertial_numbers.inertial_columns(owner, body), ParameterLeaves(places, make))
        if kind in _RIGID and isinstance(body, ModalBody):
            return self._flexible_group(path, body, key)
        if kind in (FREQUENCIES, RATIOS) and isinstance(body, ModalBody):
            places = tuple(self.keys[key + field] for field in ("stiffness", "damping"))
            columns, make = modal_numbers.modal_columns(path, body, ratios=kind == RATIOS)
            return Group(path, *columns, ParameterLeaves(places, make))
        if path in self._start_groups():
            return self._start_groups()[path]
        if path in self.places:
            return self._leaf_group(path)
        return self._entry_group(path)

    def _leaf_group(self, path: str) -> Group:
        place = self.places[path]
        leaf, unit = self.leaves[place], _UNITS.get(path.rpartition(".")[2], "SI")
        if leaf.dtype != np.float64 or not np.all(np.isfinite(leaf)):
            raise ModelError(
                f"'{path}' is {leaf.tolist()}, which cannot be estimated: it must be finite and real (1.0, not 1)."
            )
        if path.endswith(".inertia") and leaf.shape == (3, 3):
            return Group(
                path,
                *inertial_numbers.inertia_columns(path, leaf),
                ParameterLeaves((place,), inertial_numbers.make_tensor),
            )
        owner, _, kind = path.rpartition(".")
        if kind == "com" and owner in self.bodies:
            body = self.bodies[owner][0]
            size = inertial_numbers.gyration_radius(float(body.mass), np.asarray(body.inertia)) or 1.0
            return Group(path, *inertial_numbers.com_columns(path, leaf, size), ParameterLeaves((place,), _reshape))
        values, size = leaf.ravel(), float(np.max(np.abs(leaf), initial=0.0)) or 1.0
        numbers = "xyz" if leaf.shape == (3,) else range(1, leaf.size + 1)
        names = (path,) if leaf.ndim == 0 else tuple(f"{path}.{k}" for k in numbers)
        scale = tuple(abs(float(x)) or size for x in values)
        return Group(
            path, names, (unit,) * leaf.size, tuple(map(float, values)), scale, ParameterLeaves((place,), _reshape)
        )

    def _flexible_group(self, path: str, body: ModalBody, key: str) -> Group:
        """Group of the mass, centre of mass or inertia of an undeformed flexible body."""
        field, mass, inertia = path.rpartition(".")[2], float(body.mass), np.asarray(body.inertia)
        if field == "mass":
            columns: inertial_numbers.NumberColumns = ((path,), ("kg",), (mass,), (mass,))
        elif field == "com":
            size = inertial_numbers.gyration_radius(mass, inertia) or 1.0
            columns = inertial_numbers.com_columns(path, np.asarray(body.com), size)
        else:
            columns = inertial_numbers.inertia_columns(path, inertia)
        places = tuple(self.keys[key + name] for name in _FLEXIBLE)
        return Group(path, *columns, ParameterLeaves(places, partial(inertial_numbers.set_flexible, field=field)))

    def _start_groups(self) -> dict[str, Group]:
        """Groups of the velocity and rate of each base at the start, by path."""
        found, world = {}, self.system.world
        first = len(jax.tree.leaves(self.system))
        numbers = jax.tree.unflatten(
            jax.tree.structure(self.start), range(first, first + len(jax.tree.leaves(self.start)))
        )
        for c, state in enumerate(self.start):
            for name, (entries, unit) in _START.items():
                path = name if world.single else f"start.{world.names[c]}.{name.removeprefix('start.')}"
                values = tuple(map(float, np.asarray(state.v)[entries]))
                names, size = tuple(f"{path}.{axis}" for axis in "xyz"), float(np.linalg.norm(values)) or 1e-2
                make = partial(_set_entries, entries=entries)
                found[path] = Group(
                    path, names, (unit,) * 3, values, (size,) * 3, ParameterLeaves((numbers[c].v,), make)
                )
        return found

    def _entry_group(self, path: str) -> Group:
        """Group of one entry of a vector or inertia, `base.com.x`, `arm.2.inertia.xy`; an error lists similar paths."""
        owner, _, entry = path.rpartition(".")
        whole = self._whole_group(owner)
        if whole is not None and (k := _entry_number(whole, entry)) is not None:
            own, place = slice(k, k + 1), ParameterLeaves(whole.place.leaves, _entry_maker(whole.place.make, k))
            return Group(path, whole.names[own], whole.units[own], whole.nominal[own], whole.scale[own], place)
        groups = [f"{name}.{INERTIAL}" for name in self.bodies]
        for name, (body, _) in self.bodies.items():
            flexible = (*_RIGID, FREQUENCIES, RATIOS) if isinstance(body, ModalBody) else ()
            groups += [f"{name}.{kind}" for kind in flexible]
        known = [*groups, *self._start_groups(), *self.places]
        close = difflib.get_close_matches(path, known, n=4, cutoff=0.4)
        hint = f"Did you mean {', '.join(close)}?" if close else f"Paths look like {known[0]} or {known[-1]}."
        raise ModelError(f"There is no parameter '{path}' in this experiment. {hint}")

    def _whole_group(self, path: str) -> Group | None:
        """Group of the vector or inertia at a path whose entries can be estimated one by one; None if there is none."""
        owner, _, kind = path.rpartition(".")
        flexible = kind in _RIGID and isinstance(self.bodies.get(owner, (None, ""))[0], ModalBody)
        return self.group(path) if flexible or path in self.places or path in self._start_groups() else None


def _with_kind(key: str, name: str) -> str:
    """Path of a number with the kind of its part, if the short path is ambiguous: `panel.joint.damping`."""
    kinds = {"bodies": "body", "joints": "joint", "wheels": "wheel", "frames": "frame"}
    owner, _, field = name.rpartition(".")
    return ".".join((owner, *(kind for group, kind in kinds.items() if f".{group}[" in key), field))


def _reshape(old: list[jax.Array], values: Vector) -> list[jax.Array]:
    return [values.reshape(old[0].shape)]


def _set_entries(old: list[jax.Array], values: Vector, *, entries: slice) -> list[jax.Array]:
    return [old[0].at[entries].set(values)]


def _set_entry(old: list[jax.Array], values: Vector, *, entry: int) -> list[jax.Array]:
    """Leaf of an array in which one number is replaced, counted row by row."""
    return [old[0].ravel().at[entry].set(values[0]).reshape(old[0].shape)]


def _entry_number(whole: Group, entry: str) -> int | None:
    """Index of an entry of a group, given by its letters or by its number from 1; None if there is none."""
    for k, name in enumerate(whole.names):
        if len(whole.names) > 1 and entry in (name.removeprefix(f"{whole.path}."), str(k + 1)):
            return k
    return None


def _entry_maker(make: Callable[..., Any], k: int) -> Callable[..., Any]:
    """Function that sets one entry of a group and keeps the others."""
    if make is inertial_numbers.make_tensor:
        return partial(inertial_numbers.set_tensor_entry, entry=k)
    if isinstance(make, partial) and make.func is inertial_numbers.set_flexible:
        return partial(make, entry=k)
    first = make.keywords["entries"].start if isinstance(make, partial) else 0
    return partial(_set_entry, entry=first + k)


_ENTRIES = (_set_entries, _set_entry, inertial_numbers.set_tensor_entry, inertial_numbers.set_flexible)
