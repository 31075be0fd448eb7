"""Dotted paths to numbers of an experiment: of spacecraft, effects, sensors and software, and of the start.

`chaser.base.mass`, `camera.noise`, `CaptureApproach.limits.gain` are numbers of the system, with the names that `vary`
uses. `start.target.position` is where a spacecraft starts: position, attitude, velocity, rate, joints, joint_rates and
wheels. One entry of an array has a letter, a number or a name: `chaser.base.com.x`, `chaser.base.inertia.xy`,
`start.chaser.joints.arm.2`.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from freefloat.campaign.errors import CampaignError
from freefloat.model.layout import Layout
from freefloat.sim import Experiment
from freefloat.sim.system.varied_numbers import number_names

_MOST_LISTED = 4  # paths in a message


_LETTERS = ("x", "y", "z")
_START = "start"


@dataclass(frozen=True)
class NumberLocation:
    """Some entries of one array of an experiment; entries that must stay equal, as in an inertia, are one group."""

    path: str
    leaf: int  # index among all arrays of (system, start)
    groups: tuple[tuple[int, ...], ...]  # indices in the flat array
    names: tuple[str, ...]  # of each group
    turns: bool = False  # an attitude: the draw is a rotation vector [rad], and groups are its axes


class NumberCatalogue:
    """All numbers of an experiment, to be found by their paths."""

    def __init__(self, experiment: Experiment) -> None:
        tree = experiment.system, experiment.start
        self.leaves = [np.asarray(leaf) for leaf in jax.tree.leaves(tree)]
        self.structure = jax.tree.structure(tree)
        by_path: dict[str, list[NumberLocation]] = {}
        for place in (*_system_places(experiment), *_start_places(experiment, self.leaves)):
            by_path.setdefault(place.path, []).append(place)
        self._places = by_path
        names = number_names(experiment.system).values()
        self.runs = tuple(
            k for k, name in enumerate(names) if name.endswith(".run") and self.leaves[k].dtype.kind in "iu"
        )

    def find(self, path: str) -> NumberLocation:
        """Find the number with this path; the error for an unknown path suggests similar ones."""
        if not isinstance(path, str):
            raise CampaignError(f"A path is a text such as 'chaser.base.mass', got {path!r}.")
        whole, entry = path, ""
        while whole and whole not in self._places:
            whole, _, word = whole.rpartition(".")
            entry = f"{word}.{entry}" if entry else word
        if not whole:
            raise CampaignError(f"There is no number '{path}' in this experiment. {self._hint(path)}")
        if len(self._places[whole]) > 1:
            raise CampaignError(
                f"More than one number of this experiment is called '{whole}'. Give one of the parts a name."
            )
        place = self._places[whole][0]
        return place if not entry else _entry_location(place, entry)

    def _hint(self, path: str) -> str:
        close = difflib.get_close_matches(path, self._places, n=4, cutoff=0.5)
        some = ", ".join(list(self._places)[:_MOST_LISTED])
        hint = f"Did you mean {', '.join(close)}?" if close else f"Paths look like {some}."
        return (
            f"{hint} Numbers of the experiment are dispersed, settings of its scenario are not; names, periods and "
            "other things that shape the code are no numbers."
        )


def _entry_location(place: NumberLocation, entry: str) -> NumberLocation:
    if entry not in place.names:
        raise CampaignError(f"'{place.path}' has no entry '{entry}'. Entries: {', '.join(place.names) or 'none'}.")
    k = place.names.index(entry)
    return NumberLocation(f"{place.path}.{entry}", place.leaf, (place.groups[k],), (entry,), place.turns)


def _system_places(experiment: Experiment) -> Iterator[NumberLocation]:
    names = number_names(experiment.system).values()
    for k, (name, leaf) in enumerate(zip(names, jax.tree.leaves(experiment.system), strict=True)):
        value = np.asarray(leaf)
        if value.dtype != np.float64 or name.endswith(".axis"):
            continue  # whole numbers select the code that runs, and an axis must keep unit length
        if name.endswith(".rotation") and value.shape == (3, 3):
            yield NumberLocation(name, k, ((0,), (1,), (2,)), _LETTERS, turns=True)
        else:
            yield NumberLocation(name, k, *_entries(name, value.shape))


def _entries(name: str, shape: tuple[int, ...]) -> tuple[tuple[tuple[int, ...], ...], tuple[str, ...]]:
    """Groups of entries of an array and their names."""
    if shape == ():
        return ((0,),), ("",)
    if shape == (3, 3) and name.endswith("inertia"):
        pairs = [(i, j) for i in range(3) for j in range(i, 3)]
        groups = tuple(tuple(sorted({3 * i + j, 3 * j + i})) for i, j in pairs)
        return groups, tuple(_LETTERS[i] + _LETTERS[j] for i, j in pairs)
    numbers = tuple((k,) for k in range(int(np.prod(shape))))
    if shape == (3,):
        return numbers, _LETTERS
    return numbers, tuple(".".join(map(str, place)) for place in np.ndindex(*shape))


def _start_places(experiment: Experiment, leaves: Sequence[np.ndarray]) -> Iterator[NumberLocation]:
    """Every number of each spacecraft's start."""
    world, first = experiment.world, len(leaves) - len(jax.tree.leaves(experiment.start))
    for c, craft in enumerate(world.crafts):
        layout: Any = craft.layout
        prefix = f"{_START}." if world.single else f"{_START}.{world.names[c]}."
        position, attitude, q, v = range(first + 4 * c, first + 4 * c + 4)
        yield NumberLocation(f"{prefix}position", position, ((0,), (1,), (2,)), _LETTERS)
        yield NumberLocation(f"{prefix}attitude", attitude, ((0,), (1,), (2,)), _LETTERS, turns=True)
        yield NumberLocation(f"{prefix}velocity", v, ((0,), (1,), (2,)), _LETTERS)
        yield NumberLocation(f"{prefix}rate", v, ((3,), (4,), (5,)), _LETTERS)
        moving = layout.moving_joints
        if moving:
            motors = _motors(layout, layout.joint_positions, layout.motor_positions)
            yield NumberLocation(f"{prefix}joints", q, motors, moving)
            motors = _motors(layout, layout.joint_velocities, layout.motor_velocities)
            yield NumberLocation(f"{prefix}joint_rates", v, motors, moving)
        if layout.wheels:
            yield NumberLocation(f"{prefix}wheels", v, tuple((k,) for k in layout.wheel_velocities), layout.wheels)


def _motors(layout: Layout, joints: Sequence[int], motors: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Entries of the joints; the motor of a flexible joint starts with it, so that no gear spring is loaded."""
    own = dict(zip(layout.flexible_joints, motors, strict=True))
    return tuple((k, own[name]) if name in own else (k,) for name, k in zip(layout.moving_joints, joints, strict=True))
