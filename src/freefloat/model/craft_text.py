"""What `print` shows of a spacecraft and of a world: masses, tree, joints with limits and units, wheels, frames."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from freefloat.model.modal import ModalBody
from freefloat.model.parts import Joint, Wheel
from freefloat.values.arrays import is_traced
from freefloat.values.short_text import cut, number_text

if TYPE_CHECKING:
    from freefloat.model.spacecraft import Spacecraft
    from freefloat.model.world import World

MOST_LINES = 40
_WIDE = 118  # characters of a line
_LEAST_BODIES = 3  # that are shown of each spacecraft, however many there are
_DEG = 180.0 / np.pi


def craft_headline(craft: Spacecraft) -> str:
    """Name, mass and numbers of parts in one line."""
    layout = craft.layout
    counts = (
        (len(craft.bodies), "body", "bodies"),
        (len(layout.moving_joints), "moving joint", "moving joints"),
        (sum(body.modes for body in craft.bodies), "mode", "modes"),
        (len(craft.wheels), "wheel", "wheels"),
    )
    parts = [f"{count} {singular if count == 1 else plural}" for count, singular, plural in counts if count]
    return f"Spacecraft '{craft.name}': {', '.join([f'{number_text(craft.mass)} kg', *parts])}"


def craft_lines(craft: Spacecraft, most: int = MOST_LINES) -> list[str]:
    """The spacecraft as at most so many lines: one of each body with its joint, then wheels and frames."""
    tail = [*_wheel_lines(craft), *_frame_lines(craft)]
    rows = _body_rows(craft)
    room = max(most - 1 - len(tail), _LEAST_BODIES)
    left_out = len(rows) - room + 1 if len(rows) > room else 0
    shown = rows[: len(rows) - left_out]
    wide = max(len(tree) for tree, _, _ in shown)
    lines = [f"{tree:<{wide}}  {mass:>11}  {joint}".rstrip() for tree, mass, joint in shown]
    lines += [f"… and {left_out} bodies more"] if left_out else []
    return [craft_headline(craft), *(cut(line, _WIDE) for line in (*lines, *tail))]


def world_headline(world: World) -> str:
    """Names and mass of the spacecraft in one line."""
    return f"World of {len(world.names)} spacecraft: {', '.join(world.names)}; {number_text(world.mass)} kg"


def world_lines(world: World, most: int = MOST_LINES) -> list[str]:
    """The world as at most so many lines: what holds spacecraft together, then each spacecraft."""
    if world.single:
        links = link_lines(world)
        return [*craft_lines(world.crafts[0], most - len(links)), *links]
    held = [f"held base: {', '.join(world.held)}"] if world.held else []
    head = [world_headline(world), *held, *link_lines(world)]
    named = list(zip(world.names, world.crafts, strict=True))
    if (room := most - len(head) - len(named)) // len(named) < _LEAST_BODIES + 3:
        return [*head, *(cut(f"{name}: {craft_headline(craft)}", _WIDE) for name, craft in named)][:most]
    for number, (name, craft) in enumerate(named):
        lines = craft_lines(craft, room // (len(named) - number))
        room -= len(lines)
        head += [f"{name}:", *(f"  {line}" for line in lines)]
    return head


def link_lines(world: World) -> list[str]:
    """One line of each connection, contact and brake, of ten at most."""
    lines = [
        f"connection '{link.name}': {link.a.title} and {link.b.title}, holds {link.holds}"
        f"{', on from the start' if link.on else ''}{', automatic' if link.automatic else ''}"
        for link in world.connections
    ]
    lines += [f"contact '{touch.name}': {touch.a.title} on {touch.b.title}" for touch in world.contacts]
    lines += [f"brake of joint '{brake.joint}' of '{brake.craft}'" for brake in world.brakes]
    return lines if len(lines) <= 10 else [*lines[:9], f"… and {len(lines) - 9} connections, contacts and brakes more"]


# ---- lines of a spacecraft


def _body_rows(craft: Spacecraft) -> list[tuple[str, str, str]]:
    """Place in the tree, mass and joint of every body, each right after its parent's other descendants."""
    children: dict[int, list[int]] = {}
    for child, parent in enumerate(craft.parents):
        children.setdefault(parent, []).append(child)
    rows: list[tuple[str, str, str]] = []

    def add(index: int, lead: str, below: str) -> None:
        body = craft.bodies[index]
        joint = "" if index == 0 else joint_text(craft.joints[index - 1], body.name)
        rows.append((lead + body.name, f"{number_text(body.mass)} kg", ", ".join(filter(None, (joint, _flex(body))))))
        below_it = children.get(index, [])
        for child in below_it:
            last = child == below_it[-1]
            add(child, f"{below}{'└─ ' if last else '├─ '}", f"{below}{'   ' if last else '│  '}")

    add(0, "", "")
    return rows


def joint_text(joint: Joint, body: str) -> str:
    """Kind of a joint, its name where the body has another, its limits with units, what it follows, its gear."""
    turns = joint.kind == "revolute"
    name = "" if joint.name == body else f" '{joint.name}'"
    gear = "" if joint.flexibility is None else f"gear {number_text(joint.flexibility.stiffness)} N m{'/rad' * turns}"
    follows = ""
    if joint.follows is not None:
        follows = f"follows {joint.follows.leader} by {number_text(joint.follows.ratio)}"
    at = f"at node {joint.node}" if joint.node else ""
    return ", ".join(
        filter(None, (f"{joint.kind}{name}{_axis_text(joint)}", *_limit_texts(joint, turns), follows, gear, at))
    )


def _axis_text(joint: Joint) -> str:
    """Axis of a joint that moves about or along x, y or z of its frame."""
    if joint.kind not in ("revolute", "prismatic") or is_traced(joint.axis):
        return ""
    axis = np.asarray(joint.axis, dtype=float)
    main = int(np.argmax(np.abs(axis)))
    if abs(axis[main]) < 1.0 - 1e-9:  # a unit vector: it is none of the three
        return ""
    return f" {'about' if joint.kind == 'revolute' else 'along'} {'-' * bool(axis[main] < 0.0)}{'xyz'[main]}"


def _limit_texts(joint: Joint, turns: bool) -> list[str]:
    """The limits of a joint that are finite, in degrees or metres."""
    limits, unit, factor = joint.limits, "deg" if turns else "m", _DEG if turns else 1.0
    texts = []
    if joint.kind != "fixed" and (_finite(limits.lower) or _finite(limits.upper)):
        low, high = (number_text(factor * end, 4) for end in (limits.lower, limits.upper))
        texts.append(f"{low} to {high} {unit}")
    if _finite(limits.rate):
        texts.append(f"{number_text(factor * limits.rate, 4)} {unit}/s")
    if _finite(limits.effort):
        texts.append(f"{number_text(limits.effort, 4)} {'N m' if turns else 'N'}")
    return texts


def _finite(value: object) -> bool:
    return is_traced(value) or bool(np.isfinite(np.asarray(value, dtype=float)))


def _flex(body: object) -> str:
    """Number and lowest frequency of a flexible body's modes."""
    if not isinstance(body, ModalBody) or not body.modes:
        return ""
    lowest = "" if is_traced(body) else f" from {number_text(body.frequencies()[0] / (2.0 * np.pi), 3)} Hz"
    return f"flexible: {body.modes} mode{'s' * (body.modes != 1)}{lowest}"


def _wheel_lines(craft: Spacecraft) -> list[str]:
    """One line of the wheels of each body that carries some."""
    carriers = dict.fromkeys(wheel.body for wheel in craft.wheels)
    return [
        f"wheels on {body}: {_in_short(_wheel_text(wheel) for wheel in craft.wheels_on(body))}" for body in carriers
    ]


def _wheel_text(wheel: Wheel) -> str:
    limits = [
        f"{number_text(value, 4)} {unit}"
        for value, unit in ((wheel.max_torque, "N m"), (wheel.max_momentum, "N m s"))
        if _finite(value)
    ]
    return f"{wheel.name} ({', '.join(limits)})" if limits else wheel.name


def _frame_lines(craft: Spacecraft) -> list[str]:
    frames = [f"{frame.name} on {frame.body}{f' at {frame.node}' * bool(frame.node)}" for frame in craft.frames]
    nodes = [f"{body.name}.{node}" for body in craft.bodies if isinstance(body, ModalBody) for node in body.node_names]
    named = (("frames", frames), ("nodes", nodes))
    return [f"{kind}: {_in_short(texts)}" for kind, texts in named if texts]


def _in_short(texts: Iterable[str], most: int = 8) -> str:
    """Texts separated by commas; of many the first ones."""
    every = list(texts)
    return ", ".join(every) if len(every) <= most else f"{', '.join(every[:most])}, … {len(every)} in all"
