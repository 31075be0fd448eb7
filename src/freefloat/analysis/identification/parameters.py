"""What can be estimated: numbers of an experiment by dotted path, each with its unit and the size it is measured by."""

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
class Place:
    """Where parameters stand among the leaves of (system, start), and how leaves are made from them; no values."""

    leaves: tuple[int, ...]
    make: Callable[..., Any]  # (old leaves, values) -> new leaves


@dataclass(frozen=True)
class Group:
    """Parameters that enter together."""

    path: str
    names: tuple[str, ...]
    units: tuple[str, ...]
    nominal: tuple[float, ...]
    scale: tuple[float, ...]  # the size of a change that matters; never zero
    place: Place


@dataclass(frozen=True)
class Placement:
    """How a vector of parameters enters an experiment, whatever their values: code for one set serves all."""

    places: tuple[tuple[int, Place], ...]  # how many numbers, and where

    def put(self, system: System, start: tuple[State, ...], values: Vector) -> tuple[System, tuple[State, ...]]:
        """System and start with other values; without a start, what stands in it is left out."""
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
    """All that is estimated, in order."""

    groups: tuple[Group, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """Of every number."""
        return tuple(name for group in self.groups for name in group.names)

    @property
    def units(self) -> tuple[str, ...]:
        """Of every number."""
        return tuple(unit for group in self.groups for unit in group.units)

    @property
    def nominal(self) -> np.ndarray:
        """As the experiment has them."""
        return np.array([value for group in self.groups for value in group.nominal])

    @property
    def scale(self) -> np.ndarray:
        """What a change of each is measured by."""
        return np.array([value for group in self.groups for value in group.scale])

    @property
    def placement(self) -> Placement:
        """How they enter."""
        return Placement(tuple((len(group.names), group.place) for group in self.groups))


def find_parameters(experiment: Experiment, paths: Sequence[str]) -> Parameters:
    """Parameters by path; unknown ones, and numbers that are asked for twice, are refused by name."""
    if isinstance(paths, str) or not paths:
        raise ModelError(f"parameters must be a list of dotted paths, such as ['base.mass'], got {paths!r}.")
    known = _Numbers(experiment)
    found = Parameters(tuple(known.group(str(path)) for path in paths))
    for k, group in enumerate(found.groups):
        for other in found.groups[:k]:
            if not _may_stand_together(group, other):
                raise ModelError(f"Parameters '{other.path}' and '{group.path}' share a number. Keep one of them.")
    return found


def _may_stand_together(a: Group, b: Group) -> bool:
    """Whether two groups change different things: other leaves, other entries of one, or frequencies and ratios."""
    if set(a.names) & set(b.names):
        return False
    entries = all(isinstance(group.place.make, partial) and group.place.make.func in _ENTRIES for group in (a, b))
    modal = {group.path.rpartition(".")[2] for group in (a, b)} == {FREQUENCIES, RATIOS}
    return entries or modal or not set(a.place.leaves) & set(b.place.leaves)


class _Numbers:
    """Every number of an experiment, by name."""

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
        """The parameters that a path means."""
        owner, _, kind = path.rpartition(".")
        body, key = self.bodies.get(owner, (None, ""))
        if kind == INERTIAL and body is not None:
            rigid = isinstance(body, RigidBody)
            fields, make = (
                (_RIGID, inertial_numbers.make_leaves) if rigid else (_FLEXIBLE, inertial_numbers.make_flexible_leaves)
            )
            places = tuple(self.keys[key + field] for field in fields)
            return Group(path, *inertial_numbers.described(owner, body), Place(places, make))
        if kind in _RIGID and isinstance(body, ModalBody):
            return self._flexible(path, body, key)
        if kind in (FREQUENCIES, RATIOS) and isinstance(body, ModalBody):
            places = tuple(self.keys[key + field] for field in ("stiffness", "damping"))
            described, make = modal_numbers.described(path, body, ratios=kind == RATIOS)
            return Group(path, *described, Place(places, make))
        if path in self._starts():
            return self._starts()[path]
        if path in self.places:
            return self._leaf(path)
        return self._within(path)

    def _leaf(self, path: str) -> Group:
        place = self.places[path]
        leaf, unit = self.leaves[place], _UNITS.get(path.rpartition(".")[2], "SI")
        if leaf.dtype != np.float64 or not np.all(np.isfinite(leaf)):
            raise ModelError(
                f"'{path}' is {leaf.tolist()}, which cannot be estimated: it must be finite and real (1.0, not 1)."
            )
        if path.endswith(".inertia") and leaf.shape == (3, 3):
            return Group(path, *inertial_numbers.central(path, leaf), Place((place,), inertial_numbers.make_tensor))
        owner, _, kind = path.rpartition(".")
        if kind == "com" and owner in self.bodies:
            body = self.bodies[owner][0]
            size = inertial_numbers.gyration(float(body.mass), np.asarray(body.inertia)) or 1.0
            return Group(path, *inertial_numbers.centre(path, leaf, size), Place((place,), _reshape))
        values, size = leaf.ravel(), float(np.max(np.abs(leaf), initial=0.0)) or 1.0
        numbers = "xyz" if leaf.shape == (3,) else range(1, leaf.size + 1)
        names = (path,) if leaf.ndim == 0 else tuple(f"{path}.{k}" for k in numbers)
        scale = tuple(abs(float(x)) or size for x in values)
        return Group(path, names, (unit,) * leaf.size, tuple(map(float, values)), scale, Place((place,), _reshape))

    def _flexible(self, path: str, body: ModalBody, key: str) -> Group:
        """Mass, centre of mass or inertia of a flexible body at rest."""
        field, mass, inertia = path.rpartition(".")[2], float(body.mass), np.asarray(body.inertia)
        if field == "mass":
            described: inertial_numbers.Described = ((path,), ("kg",), (mass,), (mass,))
        elif field == "com":
            size = inertial_numbers.gyration(mass, inertia) or 1.0
            described = inertial_numbers.centre(path, np.asarray(body.com), size)
        else:
            described = inertial_numbers.central(path, inertia)
        places = tuple(self.keys[key + name] for name in _FLEXIBLE)
        return Group(path, *described, Place(places, partial(inertial_numbers.set_flexible, field=field)))

    def _starts(self) -> dict[str, Group]:
        """Speeds of each base at the start."""
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
                found[path] = Group(path, names, (unit,) * 3, values, (size,) * 3, Place((numbers[c].v,), make))
        return found

    def _within(self, path: str) -> Group:
        """One entry of a vector or an inertia, `base.com.x`, `arm.2.inertia.xy`; an error says what there is."""
        owner, _, entry = path.rpartition(".")
        whole = self._whole(owner)
        if whole is not None and (k := _entry_number(whole, entry)) is not None:
            own, place = slice(k, k + 1), Place(whole.place.leaves, _entry_maker(whole.place.make, k))
            return Group(path, whole.names[own], whole.units[own], whole.nominal[own], whole.scale[own], place)
        groups = [f"{name}.{INERTIAL}" for name in self.bodies]
        for name, (body, _) in self.bodies.items():
            flexible = (*_RIGID, FREQUENCIES, RATIOS) if isinstance(body, ModalBody) else ()
            groups += [f"{name}.{kind}" for kind in flexible]
        known = [*groups, *self._starts(), *self.places]
        close = difflib.get_close_matches(path, known, n=4, cutoff=0.4)
        hint = f"Did you mean {', '.join(close)}?" if close else f"Paths look like {known[0]} or {known[-1]}."
        raise ModelError(f"There is no parameter '{path}' in this experiment. {hint}")

    def _whole(self, path: str) -> Group | None:
        """The vector or inertia of that name, if there is one that can be taken apart."""
        owner, _, kind = path.rpartition(".")
        flexible = kind in _RIGID and isinstance(self.bodies.get(owner, (None, ""))[0], ModalBody)
        return self.group(path) if flexible or path in self.places or path in self._starts() else None


def _with_kind(key: str, name: str) -> str:
    """The path of a number whose short one another part has too: `panel.joint.damping`, `panel.body.damping`."""
    kinds = {"bodies": "body", "joints": "joint", "wheels": "wheel", "frames": "frame"}
    owner, _, field = name.rpartition(".")
    return ".".join((owner, *(kind for group, kind in kinds.items() if f".{group}[" in key), field))


def _reshape(old: list[jax.Array], values: Vector) -> list[jax.Array]:
    return [values.reshape(old[0].shape)]


def _set_entries(old: list[jax.Array], values: Vector, *, entries: slice) -> list[jax.Array]:
    return [old[0].at[entries].set(values)]


def _set_entry(old: list[jax.Array], values: Vector, *, entry: int) -> list[jax.Array]:
    """An array with one other number, counted through its rows."""
    return [old[0].ravel().at[entry].set(values[0]).reshape(old[0].shape)]


def _entry_number(whole: Group, entry: str) -> int | None:
    """Which of a group is meant: by its letters, or by its number, the first being 1."""
    for k, name in enumerate(whole.names):
        if len(whole.names) > 1 and entry in (name.removeprefix(f"{whole.path}."), str(k + 1)):
            return k
    return None


def _entry_maker(make: Callable[..., Any], k: int) -> Callable[..., Any]:
    """How one entry of a group enters, the others as they are."""
    if make is inertial_numbers.make_tensor:
        return partial(inertial_numbers.set_tensor_entry, entry=k)
    if isinstance(make, partial) and make.func is inertial_numbers.set_flexible:
        return partial(make, entry=k)
    first = make.keywords["entries"].start if isinstance(make, partial) else 0
    return partial(_set_entry, entry=first + k)


_ENTRIES = (_set_entries, _set_entry, inertial_numbers.set_tensor_entry, inertial_numbers.set_flexible)
