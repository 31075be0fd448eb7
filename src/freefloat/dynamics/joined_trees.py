"""Spacecraft that a grasp joins into one: all six directions held at a base are a fixed joint of one tree.

Solved so, a grasp costs hardly more than the tree that results, and there is nothing to invert. Rows that cannot become
joints (closed chains, single directions, a grasp by something that is no base) stay rows, of the trees that are left.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import jax.numpy as jnp

from freefloat.dynamics.kinematics import generalized_force
from freefloat.dynamics.relative_rows import CraftPlace, Crafts, FrameRows, JointRows, Rows, States
from freefloat.dynamics.row_directions import GRASP
from freefloat.dynamics.row_response import Prescribed
from freefloat.model import Spacecraft, State
from freefloat.spatial import Pose
from freefloat.values.arrays import Vector


@dataclasses.dataclass(frozen=True)
class TreeMember:
    """A spacecraft as part of a tree; the root of a tree has an empty name."""

    tree: int
    name: str
    q: slice  # in the tree's q
    v: slice  # of all but its base, in the tree's v

    def frame(self, frame: str) -> str:
        """Name in the tree of a frame of the spacecraft."""
        if not self.name:
            return frame
        return self.name if frame == "base" else f"{self.name}.{frame}"


@dataclasses.dataclass(frozen=True)
class JoinedTrees:
    """Trees that spacecraft form, the rows that are left, and which row mounts which spacecraft."""

    crafts: Crafts  # the trees
    orders: tuple[tuple[int, ...], ...]  # the spacecraft of each tree, the root first, in the order of its coordinates
    members: tuple[TreeMember, ...]  # one for each spacecraft
    mounts: tuple[tuple[int, int], ...]  # (row, spacecraft that it mounts), those that carry nothing first
    rest: tuple[int, ...]  # rows that are left
    rows: tuple[Rows, ...]  # the same, in the names of the trees

    def states(self, states: States) -> States:
        """States of the trees: the poses of mounted bases follow from them."""
        return tuple(
            State(
                p_NB=states[root].p_NB,
                quat_NB=states[root].quat_NB,
                q=jnp.concatenate([states[c].q for c in order]),
                v=self._speeds([state.v for state in states], order),
            )
            for order in self.orders
            for root in order[:1]
        )

    def forces(self, states: States, forces: Sequence[Vector], *, base: bool = True) -> list[Vector]:
        """Generalised forces on the trees; without `base` only the contributions of forces on mounted bases."""
        found = []
        for tree, (craft, order) in enumerate(zip(self.crafts, self.orders, strict=True)):
            q = self.states(states)[tree].q
            total = self._speeds(forces, order) if base else jnp.zeros(craft.layout.nv)
            for c in order[1:]:
                total = total + generalized_force(craft, q, self.members[c].name, jnp.asarray(forces[c])[:6])
            found.append(total)
        return found

    def prescribed_names(self, prescribed: Prescribed) -> tuple[tuple[str, ...], ...]:
        """Names in the trees of prescribed coordinates."""
        names = tuple(prescribed) or ((),) * len(self.members)
        return tuple(
            tuple(
                name if not self.members[c].name else f"{self.members[c].name}.{name}"
                for c in order
                for name in names[c]
            )
            for order in self.orders
        )

    def accelerations(self, accelerations: Sequence[Vector]) -> tuple[Vector, ...]:
        """Prescribed accelerations of each tree, in the order of its prescribed coordinates."""
        if not accelerations:
            return ()
        return tuple(jnp.concatenate([jnp.asarray(accelerations[c]) for c in order]) for order in self.orders)

    @staticmethod
    def _speeds(values: Sequence[Vector], order: Sequence[int]) -> Vector:
        root, *others = order
        return jnp.concatenate([jnp.asarray(values[root]), *(jnp.asarray(values[c])[6:] for c in others)])


def join_trees(crafts: Crafts, rows: Sequence[Rows], prescribed: Prescribed = ()) -> JoinedTrees:
    """Mount spacecraft on one another wherever a grasp holds a base that nothing else prescribes."""
    names = tuple(prescribed) or ((),) * len(crafts)
    trees: list[Spacecraft] = list(crafts)
    orders, called = [[c] for c in range(len(crafts))], [{c: ""} for c in range(len(crafts))]
    root, mounts, rest = list(range(len(crafts))), [], []
    hosts: dict[int, int] = {}
    for k, connection in enumerate(rows):
        found = _mountable(crafts, connection, root, names)
        if found is None:
            rest.append(k)
            continue
        host, child, X_HB = found
        above = root[host[0]]
        label = f"craft{child}"
        to = _name_in(called[above][host[0]], host[1])
        trees[above] = trees[above].mount(trees[child], name=label, to=to, at=X_HB)
        for c in orders[child]:
            root[c] = above
            inner = called[child][c]
            called[above][c] = f"{label}.{inner}" if inner else label
        orders[above] = orders[above] + orders[child]
        orders[child] = []
        mounts.append((k, child))
        hosts[child] = host[0]
    left = [c for c in range(len(crafts)) if orders[c]]
    members = _members(crafts, left, orders, called)
    return JoinedTrees(
        crafts=tuple(trees[c] for c in left),
        orders=tuple(tuple(orders[c]) for c in left),
        members=members,
        mounts=tuple(sorted(mounts, key=lambda mount: -_depth(hosts, mount[1]))),
        rest=tuple(rest),
        rows=tuple(_rename_rows(rows[k], members) for k in rest),
    )


def _depth(hosts: dict[int, int], c: int) -> int:
    """Number of spacecraft that carry a spacecraft."""
    return 1 + _depth(hosts, hosts[c]) if c in hosts else 0


def _mountable(
    crafts: Crafts, rows: Rows, root: list[int], prescribed: Sequence[tuple[str, ...]]
) -> tuple[CraftPlace, int, Pose] | None:
    """Host frame, spacecraft to be mounted there, and its base in that frame; None if rows must stay rows."""
    if not isinstance(rows, FrameRows) or rows.directions != GRASP or min(rows.first[0], rows.second[0]) < 0:
        return None
    for host, (child, frame), held in (
        (rows.first, rows.second, rows.held),
        (rows.second, rows.first, rows.held.inverse()),
    ):
        grip = crafts[child].frame(frame)
        loose = root[child] == child and root[host[0]] != child and "base" not in prescribed[child]
        if loose and crafts[child].body_index(grip.body) == 0 and not grip.node and grip.body == "base":
            return host, child, held @ grip.X_BF.inverse()
    return None


def _members(
    crafts: Crafts, left: list[int], orders: list[list[int]], called: list[dict[int, str]]
) -> tuple[TreeMember, ...]:
    found: dict[int, TreeMember] = {}
    for tree, base in enumerate(left):
        q, v = 0, 6
        for c in orders[base]:
            nq, nv = crafts[c].layout.nq, crafts[c].layout.nv - 6
            found[c] = TreeMember(tree=tree, name=called[base][c], q=slice(q, q + nq), v=slice(v, v + nv))
            q, v = q + nq, v + nv
    return tuple(found[c] for c in range(len(crafts)))


def _rename_rows(rows: Rows, members: tuple[TreeMember, ...]) -> Rows:
    def place(at: CraftPlace) -> CraftPlace:
        return at if at[0] < 0 else (members[at[0]].tree, members[at[0]].frame(at[1]))

    if isinstance(rows, JointRows):
        member = members[rows.place[0]]
        return dataclasses.replace(rows, place=(member.tree, _name_in(member.name, rows.place[1], "")))
    return dataclasses.replace(rows, first=place(rows.first), second=place(rows.second))


def _name_in(member: str, name: str, base: str = "base") -> str:
    if not member:
        return name
    return member if name == base else f"{member}.{name}"
