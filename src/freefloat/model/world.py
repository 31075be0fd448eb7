"""The world: named spacecraft in one run. A target is a spacecraft like any other."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

import numpy as np

from freefloat.model import craft_text
from freefloat.model.connections import INERTIAL, Connection, Contact, Holds, JointBrake, Place
from freefloat.model.placement import require_pose
from freefloat.model.spacecraft import Spacecraft
from freefloat.model.state import State
from freefloat.spatial import Pose, PoseLike
from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Scalar
from freefloat.values.checks import set_fields
from freefloat.values.errors import ModelError, unknown_name
from freefloat.values.short_text import TextDisplay
from freefloat.values.suggestions import did_you_mean

_TAKEN = ("base", "bodies", "com", "command", "energy", "impulse", "joints", "momentum", "state", "wheels", "world")


@record
class World(TextDisplay):
    """Spacecraft by name: `World(servicer=chaser, client=envisat)`.

    Frames and channels are named as `client.ring`; with a single spacecraft the prefix is left out.
    """

    names: tuple[str, ...] = static()
    crafts: tuple[Spacecraft, ...]
    held: tuple[str, ...] = static(default=())  # spacecraft whose base a test stand holds still
    connections: tuple[Connection, ...] = ()
    brakes: tuple[JointBrake, ...] = ()
    contacts: tuple[Contact, ...] = ()

    def __init__(self, **spacecraft: Spacecraft) -> None:
        if not spacecraft:
            raise ModelError("A world needs at least one spacecraft: World(servicer=craft).")
        for name, craft in spacecraft.items():
            if not isinstance(craft, Spacecraft):
                raise ModelError(f"World: '{name}' must be a Spacecraft, got {craft!r}.")
            if name in _TAKEN or not name.isidentifier():
                raise ModelError(
                    f"World: a spacecraft cannot be called '{name}': names are words, and not those of channels. "
                    "Choose another name."
                )
        for name in spacecraft:
            if owners := [
                o for o, craft in spacecraft.items() if name in {f.partition(".")[0] for f in craft.frame_names}
            ]:
                raise ModelError(
                    f"World: '{owners[0]}' has a frame or body that is called like the spacecraft '{name}', so "
                    f"'{name}.position' could be either. Choose another name."
                )
        set_fields(self, names=tuple(spacecraft), crafts=tuple(spacecraft.values()), held=())
        set_fields(self, connections=(), brakes=(), contacts=())

    def __repr__(self) -> str:
        return f"<{craft_text.world_headline(self)}>"

    def __str__(self) -> str:
        return "\n".join(craft_text.world_lines(self))

    @staticmethod
    def of(craft: Spacecraft | World) -> World:
        """A world with this one spacecraft; a world is returned unchanged."""
        if isinstance(craft, World):
            return craft
        if not isinstance(craft, Spacecraft):
            raise ModelError(f"A Spacecraft or a World is needed, got {craft!r}.")
        world = World(alone=craft)
        set_fields(world, names=(craft.name,))
        return world

    def hold_base(self, name: str = "") -> World:
        """Copy of the world in which the base of a spacecraft is held still, as on a test stand."""
        known = self.names[self.index(name)]
        return self._with(held=tuple(dict.fromkeys((*self.held, known))))

    def _with(self, **changes: Any) -> World:
        world = object.__new__(World)
        set_fields(world, **{field.name: getattr(self, field.name) for field in dataclasses.fields(self)} | changes)
        return world

    # ---- what holds spacecraft together or keeps them apart

    def connection(
        self,
        name: str,
        a: str | Pose,
        b: str | Pose,
        *,
        holds: Holds = "all",
        on: bool = False,
        automatic: bool = False,
        reach: tuple[float, float] = (0.05, 0.1),
        at: PoseLike = Pose(),  # noqa: B008
    ) -> World:
        """Copy of the world with two frames that can be held together: a grasp, a latch, a berth, a closed chain.

        Frames are named as `servicer.hand`; `N`, or a pose in N, stands still in space. The connection holds `all`, a
        `point`, or a `hinge` about z of frame a, in the pose that the frames have when it latches: at a command
        `Latch(name)`, or, if it is `automatic`, as soon as they are closer than the reach ([m], [rad]) to `at`, the
        pose of frame b in frame a. A connection that is `on` from the start holds that pose.
        """
        pose, first, second = require_pose(f"Connection '{name}': at", at), self.place(a, name), self.place(b, name)
        if not second.craft and first.craft:  # what stands still goes first
            if holds == "hinge":
                raise ModelError(f"Connection '{name}': a hinge turns about z of frame a. Name '{b}' first.")
            first, second, pose = second, first, pose.inverse()
        new = Connection(name, first, second, holds, on, automatic, reach, pose)
        return self._with(connections=(*self.connections, self._require_new(new)))

    def hold_outside(self, *names: str) -> World:
        """Copy of the world in which connections are held from outside, such as by the gripper of a facility.

        They latch and release as usual, but without an impulse and without a force: those come in at ports.
        """
        known = [connection.name for connection in self.connections]
        if unknown := [name for name in names if name not in known]:
            meant = did_you_mean(unknown[0], known)
            raise ModelError(
                f"The world has no connection '{unknown[0]}'. Connections: {', '.join(known) or 'none'}.{meant}"
            )
        held = (
            dataclasses.replace(connection, held_outside=connection.held_outside or connection.name in names)
            for connection in self.connections
        )
        return self._with(connections=tuple(held))

    def brake(self, joint: str, *, slip_torque: float | Numeric | None = None, on: bool = False) -> World:
        """Copy of the world with a brake on a joint; the brake slips at its slip torque [N m, N]."""
        number, rest = self.locate(joint)
        if not self.single and rest == joint:
            raise ModelError(f"Brake of '{joint}': say of which spacecraft, '{self.names[0]}.{joint}'.")
        layout = self.crafts[number].layout
        layout.reject_followers([rest])
        if rest not in layout.moving_joints:
            raise unknown_name(self.names[number], "moving joint", rest, layout.moving_joints)
        if any((self.names[number], rest) == (other.craft, other.joint) for other in self.brakes):
            raise ModelError(f"Joint '{joint}' has a brake already. Give it one.")
        return self._with(brakes=(*self.brakes, JointBrake(self.names[number], rest, slip_torque, on)))

    def contact(
        self,
        name: str,
        a: str | Pose,
        b: str | Pose,
        *,
        radius: float | Numeric = 0.0,
        restitution: float | Numeric = 0.0,
        friction: float | Numeric = 0.0,
    ) -> World:
        """Copy of the world in which a sphere at frame a can touch the x-y plane of frame b, from the side of its z.

        A sphere without radius [m] is a point. It bounces by the restitution, 0 to 1; friction is Coulomb's
        coefficient, and acts at impacts.
        """
        new = Contact(name, self.place(a, name), self.place(b, name), radius, restitution, friction)
        return self._with(contacts=(*self.contacts, self._require_new(new)))

    @property
    def has_events(self) -> bool:
        """True if the world has connections, brakes or contacts."""
        return bool(self.connections or self.brakes or self.contacts)

    def place(self, at: str | Pose, owner: str) -> Place:
        """The frame that a name, or a pose in N, stands for; `owner` is named in errors."""
        if isinstance(at, Pose):
            return Place("", INERTIAL, at)
        if not isinstance(at, str):
            raise ModelError(f"'{owner}': a frame is called by its name, or is a pose in N, got {at!r}.")
        if at == INERTIAL:
            return Place("", INERTIAL, Pose())
        number, rest = self.locate(at)
        if not self.single and rest == at:
            raise ModelError(f"'{owner}': say of which spacecraft '{at}' is, '{self.names[0]}.{at}'.")
        self.crafts[number].frame(rest)  # raises an error for an unknown frame
        return Place(self.names[number], rest)

    def _require_new(self, part: Connection | Contact) -> Any:
        if part.name in [other.name for other in (*self.connections, *self.contacts)]:
            raise ModelError(f"The world has two connections or contacts called '{part.name}'. Give one another name.")
        return part

    def with_value(self, path: str, value: Any) -> World:
        """Copy of the world with one number replaced, by its dotted path `client.base.mass`; alone: `base.mass`."""
        number, rest = self.locate(str(path))
        if not self.single and rest == path:
            raise ModelError(
                f"'{path}': say of which spacecraft, '{self.names[0]}.{path}'. Or: {', '.join(self.names)}."
            )
        changed = self.crafts[number].with_value(rest, value)
        return self._with(crafts=(*self.crafts[:number], changed, *self.crafts[number + 1 :]))

    # ---- names

    @property
    def single(self) -> bool:
        """True if there is one spacecraft, whose name may be left out."""
        return len(self.names) == 1

    def index(self, name: str = "") -> int:
        """Number of a spacecraft; the empty name stands for the only spacecraft."""
        if not name and self.single:
            return 0
        if name not in self.names:
            fault = f"no spacecraft '{name}'" if name else "several spacecraft: say which one with on=..."
            meant = did_you_mean(name, self.names)
            raise ModelError(f"The world has {fault}. Spacecraft: {', '.join(self.names)}.{meant}")
        return self.names.index(name)

    def craft(self, name: str = "") -> Spacecraft:
        """The spacecraft of that name."""
        return self.crafts[self.index(name)]

    def prefix(self, index: int) -> str:
        """Prefix of the names of a spacecraft's frames and channels."""
        return "" if self.single else f"{self.names[index]}."

    def is_held(self, index: int) -> bool:
        """True if a test stand holds the base of that spacecraft."""
        return self.names[index] in self.held

    def locate(self, name: str, own: int = 0) -> tuple[int, str]:
        """Number of a spacecraft and local name, from a full name `client.ring`; without prefix it belongs to `own`."""
        first, _, rest = name.partition(".")
        return (self.names.index(first), rest) if rest and first in self.names and not self.single else (own, name)

    # ---- states

    @property
    def mass(self) -> Scalar | float:
        """Mass of all spacecraft together [kg]."""
        return sum(craft.mass for craft in self.crafts)

    def require_states(self, states: Iterable[State]) -> tuple[State, ...]:
        """The states, one for each spacecraft; raises an error if one of them is not valid."""
        given = tuple(states)
        if len(given) != len(self.crafts):
            raise ModelError(
                f"The world has {len(self.crafts)} spacecraft ({', '.join(self.names)}), got {len(given)}."
            )
        return tuple(craft.require_state(state) for craft, state in zip(self.crafts, given, strict=True))

    def at_rest(self) -> tuple[State, ...]:
        """States of all spacecraft at rest at the inertial origin."""
        return tuple(craft.at_rest(np.zeros(craft.layout.nq)) for craft in self.crafts)
