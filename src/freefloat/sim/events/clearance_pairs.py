"""Pairs of bodies whose clearance is watched: the choice of pairs, their shapes, and their distances."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterator
from itertools import combinations, product
from typing import NamedTuple

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.kinematics import body_poses
from freefloat.dynamics.shape_distance import Core, Placed, PlacedPairs, pair_order, solid_distances
from freefloat.engine import compile_varied
from freefloat.model import Clearance, ModalBody, State, World
from freefloat.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Shape, Solid
from freefloat.sim.system.system import System
from freefloat.spatial import Pose
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.channels import Channel
from freefloat.values.errors import ModelError

_TOUCHING = 1e-9  # [m]: bodies that are this close at the start are built so


class WatchedBody(NamedTuple):
    """A watched body: the number of its spacecraft and its name."""

    craft: int
    body: str


Pair = tuple[WatchedBody, WatchedBody]


# ---- shapes


def core_of(solid: Solid) -> Core | None:
    """The core of a solid for `shape_distance`; None for solids that only `coal` can measure."""
    if isinstance(solid, Box):
        return Core(0.5 * np.array(solid.size), 0.0)
    if isinstance(solid, (Capsule, Cylinder)):  # a cylinder is in the capsule of its radius and length
        return Core(np.array([0.0, 0.0, 0.5 * solid.length]), solid.radius)
    if isinstance(solid, Ellipsoid) and len(set(solid.radii)) == 1:
        return Core(np.zeros(3), solid.radii[0])
    return None


def shapes_of(world: World, body: WatchedBody, part: Clearance) -> tuple[Shape, ...]:
    """Shapes of a body that a clearance considers."""
    return tuple(shape for shape in _body_shapes(world, body) if not part.simple or core_of(shape.solid) is not None)


def _body_shapes(world: World, watched: WatchedBody) -> tuple[Shape, ...]:
    body = world.crafts[watched.craft].body(watched.body)
    return () if isinstance(body, ModalBody) else body.shapes


def is_simple(world: World, pair: Pair, part: Clearance) -> bool:
    """Whether compiled code can measure the distance of a pair."""
    return all(core_of(shape.solid) is not None for body in pair for shape in shapes_of(world, body, part))


# ---- distances


def pair_distances(world: World, pairs: tuple[Pair, ...], states: tuple[State, ...]) -> Vector:
    """Distance of every pair [m], negative where the bodies overlap."""
    return smallest_of_pairs(*_distances(world, pairs, states, None)) if pairs else jnp.zeros(0)


def shape_margins(
    world: World, pairs: tuple[Pair, ...], limits: Vector, states: tuple[State, ...]
) -> tuple[Vector, np.ndarray]:
    """Distance of all shapes of every pair less its limit, and the number of the pair that each belongs to.

    The distance is signed; for shapes that are farther apart than the limit it is only a bound.
    """
    found, owners = _distances(world, pairs, states, limits)
    return found - limits[owners], owners


def smallest_of_pairs(values: Vector, owners: np.ndarray) -> Vector:
    """The smallest value of every pair, from the values of its shapes."""
    return jnp.stack([jnp.min(values[np.flatnonzero(owners == k)]) for k in range(int(np.max(owners)) + 1)])


def _distances(
    world: World, pairs: tuple[Pair, ...], states: tuple[State, ...], limits: Vector | None
) -> tuple[Vector, np.ndarray]:
    """Distances between the shapes of all pairs [m], and the number of the pair that each belongs to."""
    placed, groups = _placed_cores(world, pairs, states), defaultdict(list)
    for k, (a, b) in enumerate(pairs):
        for first, other in product(placed[a], placed[b]):
            both = pair_order(first, other)
            groups[both[0][0].kind, both[1][0].kind].append((k, both))
    found, owners = [], []
    for group in groups.values():
        numbers = np.array([k for k, _ in group])
        beyond = None if limits is None else limits[numbers]
        found.append(solid_distances(PlacedPairs.of([both for _, both in group]), beyond))
        owners.append(numbers)
    return jnp.concatenate(found), np.concatenate(owners)


def _placed_cores(world: World, pairs: tuple[Pair, ...], states: tuple[State, ...]) -> dict[WatchedBody, list[Placed]]:
    """Cores of the shapes of every body in the pairs, and their poses in N."""
    bodies = {c: body_poses(world.crafts[c], states[c].q) for c in {body.craft for pair in pairs for body in pair}}
    found = {}
    for body in {body: None for pair in pairs for body in pair}:
        X_NB = states[body.craft].X_NB @ bodies[body.craft][world.crafts[body.craft].body_index(body.body)]
        found[body] = [
            (core, X_NB @ Pose(position=np.array(shape.position), rotation=np.array(shape.rotation)))
            for shape, core in placed_shapes(world, body)
        ]
    return found


def placed_shapes(world: World, body: WatchedBody) -> list[tuple[Shape, Core]]:
    """Shapes of a body that compiled code can measure, with their cores."""
    return [(shape, core) for shape in _body_shapes(world, body) if (core := core_of(shape.solid)) is not None]


# ---- which pairs


def with_chosen_pairs(system: System, start: tuple[State, ...]) -> System:
    """The system with all pairs of its clearances named: the given ones after a check, else the chosen ones."""
    if not system.clearances:
        return system
    world = system.world
    chosen = []
    for part in system.clearances:
        pairs = tuple(_named_pair(system, part, pair) for pair in part.pairs) or _choose_pairs(system, part, start)
        names = tuple((_body_name(world, a), _body_name(world, b)) for a, b in pairs)
        if part.limit is not None:
            _require_simple(world, part, pairs)
        chosen.append(dataclasses.replace(part, pairs=names, ignore=()))
    return dataclasses.replace(system, clearances=tuple(chosen))


def watched_pairs(system: System, part: Clearance) -> tuple[Pair, ...]:
    """The pairs of bodies of a clearance."""
    return tuple(_named_pair(system, part, pair) for pair in part.pairs)


def _named_pair(system: System, part: Clearance, pair: tuple[str, str]) -> Pair:
    a, b = (_watched_body(system, part, name) for name in pair)
    if a == b:
        raise ModelError(f"{part.title}: '{pair[0]}' and '{pair[1]}' are the same body. Name two.")
    return a, b


def _watched_body(system: System, part: Clearance, name: str) -> WatchedBody:
    world, own = system.world, system.craft_index(part)
    craft, body = world.locate(name, own)
    if not world.single and not part.on and body == name:
        raise ModelError(f"{part.title}: say of which spacecraft '{name}' is, '{world.names[0]}.{name}'.")
    watched = WatchedBody(craft, body)
    if body not in world.crafts[craft].body_names:
        known = ", ".join(world.crafts[craft].body_names)
        raise ModelError(f"{part.title}: '{world.names[craft]}' has no body '{body}'. Bodies: {known}.")
    if not shapes_of(world, watched, part):
        flexible = isinstance(world.crafts[craft].body(body), ModalBody)
        remedy = (
            "Fix a rigid body with shapes to it." if flexible else f"Give it some: craft.with_shapes('{body}', ...)."
        )
        raise ModelError(f"{part.title}: body '{body}' of '{world.names[craft]}' has no shapes. {remedy}")
    return watched


def _choose_pairs(system: System, part: Clearance, start: tuple[State, ...]) -> tuple[Pair, ...]:
    """All pairs that can come closer and do not touch at the start."""
    world = system.world
    crafts = (system.craft_index(part),) if part.on else range(len(world.crafts))
    bodies = [
        WatchedBody(c, name)
        for c in crafts
        for name in world.crafts[c].body_names
        if shapes_of(world, WatchedBody(c, name), part)
    ]
    left_out = {frozenset(_named_pair(system, part, pair)) for pair in part.ignore}
    pairs = tuple(
        pair for pair in combinations(bodies, 2) if frozenset(pair) not in left_out and not _share_joint(world, *pair)
    )
    simple = tuple(pair for pair in pairs if is_simple(world, pair, part))
    apart = dict(zip(simple, compiled_distances(world, simple, start), strict=True))
    found = tuple(pair for pair in pairs if apart.get(pair, np.inf) > _TOUCHING)
    if not found:
        raise ModelError(
            f"{part.title}: there is no pair of bodies with shapes that can come closer. Give bodies shapes, "
            "craft.with_shapes(...), or name pairs."
        )
    return found


def compiled_distances(world: World, pairs: tuple[Pair, ...], states: tuple[State, ...]) -> np.ndarray:
    """Distances of all pairs [m] at a state that is not traced."""
    if not pairs:
        return np.zeros(0)

    def distances(world: World, states: tuple[State, ...]) -> Vector:
        return pair_distances(world, pairs, states)

    return np.asarray(compile_varied(distances, world, states)(states))


def _share_joint(world: World, a: WatchedBody, b: WatchedBody) -> bool:
    """Whether two bodies share a joint, or do not move relative to each other."""
    if a.craft != b.craft:
        return False
    craft = world.crafts[a.craft]
    groups = []
    for index, joint in enumerate((None, *craft.joints)):
        fixed = joint is not None and joint.kind == "fixed" and not craft.bodies[craft.parents[index]].modes
        groups.append(groups[craft.parents[index]] if fixed else index)
    first, second = (groups[craft.body_index(body.body)] for body in (a, b))
    if first == second:
        return True
    carried = {(groups[craft.parents[i]], groups[i]) for i in range(1, len(craft.bodies))}
    return (first, second) in carried or (second, first) in carried


def _require_simple(world: World, part: Clearance, pairs: tuple[Pair, ...]) -> None:
    for pair in pairs:
        if not is_simple(world, pair, part):
            worst = next(
                (body, shape) for body in pair for shape in shapes_of(world, body, part) if core_of(shape.solid) is None
            )
            raise ModelError(
                f"{part.title}: '{_body_name(world, worst[0])}' has a {type(worst[1].solid).__name__}, which compiled "
                "code does not measure, so its limit cannot be watched. Say simple=True to leave such solids out, give "
                "the body boxes, balls and capsules, or leave limit out."
            )


def _body_name(world: World, body: WatchedBody) -> str:
    return world.prefix(body.craft) + body.body


def pair_titles(part: Clearance) -> tuple[str, ...]:
    """Titles of the pairs of a clearance, "a - b"."""
    return tuple(f"{a} - {b}" for a, b in part.pairs)


# ---- channels


def clearance_channels(system: System, states: tuple[State, ...]) -> Iterator[tuple[Channel, Numeric]]:
    """Channels with the distances of all pairs; zero for those that `coal` measures after the run."""
    for part in system.clearances:
        pairs = watched_pairs(system, part)
        simple = tuple(pair for pair in pairs if is_simple(system.world, pair, part))
        known = dict(zip(simple, pair_distances(system.world, simple, states), strict=True)) if simple else {}
        values = jnp.stack([jnp.asarray(known.get(pair, 0.0), float) for pair in pairs])
        label = "Distance between bodies"
        yield Channel(part.channel, label, "m", "", part.channel_name("pair"), pair_titles(part)), values
