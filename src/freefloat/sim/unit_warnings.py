"""Warnings for numbers of an experiment that are possible but probably in another unit: name, value and likely unit.

Every bound is far beyond what is built: a slip between degrees and radians is a factor of 57, between millimetres and
metres 1000, of an inertia in kg mm2 a factor of 1e6. A number inside the bounds may be wrong too, undetected.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from freefloat.actuators import Thrusters
from freefloat.control.paths import Line, Path
from freefloat.model import ModalBody, RigidBody, Spacecraft, State
from freefloat.sim.system.system import System

_TURN = 2.0 * np.pi  # [rad]: joints turn once at most, unless their limits say more
_SPIN = 20.0  # [rad/s]: three turns a second, twice the fastest spin-stabilised satellites
_JOINT_RATE = 20.0  # [rad/s]: no arm's joint is as fast; wheels are not looked at
_SPEED = 20e3  # [m/s]: nothing near the Earth is as fast, even seen from its centre
_REACHES = 5.0  # lengths of the arm: twice is the most that a hand can go
_GYRATION = 10.0  # sizes of a body: of a solid one it is below one
_LARGEST, _SMALLEST = 100.0, 1e-3  # [m]: radius of gyration of a body whose size nothing says; the space station has 30
_HEAVY = 1.0  # [kg]: lighter bodies may be as small as a millimetre
_OFFSET, _LONG = 300.0, 30.0  # of a joint's distance over the usual one, and in metres: as in the lint of robot files
_THRUST = 50.0  # [m/s2]: five times the acceleration of the Earth, more than a launcher has


class UnitWarning(UserWarning):
    """A number is probably in another unit."""


def unit_warnings(system: System, start: tuple[State, ...]) -> tuple[str, ...]:
    """One sentence for each number that is probably in another unit."""
    found: list[str] = []
    for craft, state in zip(system.world.crafts, start, strict=True):
        found += [
            *_body_warnings(craft),
            *_offset_warnings(craft),
            *_joint_warnings(craft, state),
            *_speed_warnings(craft, state),
        ]
    for software in system.software:
        found += _path_warnings(software)
    for actuator in system.actuators:
        if isinstance(actuator, Thrusters):
            found += _thrust_warnings(actuator, system.spacecraft_of(actuator))
    return tuple(found)


def _body_warnings(craft: Spacecraft) -> Iterator[str]:
    for body in craft.bodies:
        mass, inertia = float(body.mass), np.asarray(body.inertia)
        if isinstance(body, ModalBody) or mass <= 0.0 or not np.any(inertia):
            continue
        gyration, size = float(np.sqrt(np.trace(inertia) / (2.0 * mass))), _size(craft, body)
        named = f"Body '{body.name}' of '{craft.name}': its inertia of {np.max(np.diag(inertia)):.4g} kg m2"
        if gyration > max(_GYRATION * size, _LARGEST):
            yield (f"{named} puts its {mass:.4g} kg {gyration:.3g} m from its centre. Was it in kg mm2? Give kg m2.")
        elif gyration < _SMALLEST and mass > _HEAVY:
            yield (
                f"{named} puts its {mass:.4g} kg within {1e3 * gyration:.3g} mm of its centre. Was the mass in "
                "g? Give kg and kg m2."
            )


def _size(craft: Spacecraft, body: RigidBody) -> float:
    """Distance [m] of the farthest known point of a body from its origin: centre of mass, joints, frames and shapes."""
    places = [np.asarray(body.com), *(np.asarray(j.X_PJ.p) for j in craft.joints if j.parent == body.name)]
    places += [np.asarray(frame.X_BF.p) for frame in craft.frames if frame.body == body.name]
    places += [np.asarray(shape.position, dtype=float) for shape in body.shapes]
    return max(float(np.linalg.norm(place)) for place in places)


def _offset_warnings(craft: Spacecraft) -> Iterator[str]:
    offsets = {joint.name: float(np.linalg.norm(np.asarray(joint.X_PJ.p))) for joint in craft.joints}
    usual = float(np.median([x for x in offsets.values() if x > 0.0] or [0.0]))
    for name, offset in offsets.items():
        if offset > _OFFSET * _LONG or (offset > _LONG and len(offsets) > 1 and offset > _OFFSET * usual):
            yield (
                f"Joint '{name}' of '{craft.name}' sits {offset:.4g} m from the body that carries it. Was that in mm? "
                "Lengths are in m."
            )


def _joint_warnings(craft: Spacecraft, state: State) -> Iterator[str]:
    for name in craft.layout.moving_joints:
        joint = craft.joint(name)
        at = float(np.asarray(state.q)[craft.layout.position(name)][0])
        rate = float(np.asarray(state.v)[craft.layout.velocity(name)][0])
        inside = float(joint.limits.lower) > -np.inf and float(joint.limits.lower) <= at <= float(joint.limits.upper)
        if joint.kind == "revolute" and abs(at) > _TURN + 1e-9 and not inside:
            yield (
                f"Joint '{name}' of '{craft.name}' starts at {at:.4g} rad, {abs(at) / _TURN:.1f} turns. Was that in "
                "degrees? Give joints_deg=..., or the angle in rad."
            )
        if joint.kind == "revolute" and abs(rate) > _JOINT_RATE:
            yield (
                f"Joint '{name}' of '{craft.name}' starts with {rate:.4g} rad/s. Was that in deg/s? Give "
                "joints_deg_s=..., or the rate in rad/s."
            )


def _speed_warnings(craft: Spacecraft, state: State) -> Iterator[str]:
    speed, spin = (float(np.linalg.norm(np.asarray(state.v)[at])) for at in (slice(0, 3), slice(3, 6)))
    if spin > _SPIN:
        yield (
            f"Spacecraft '{craft.name}' starts with {spin:.4g} rad/s, {spin / _TURN:.1f} turns a second. Was that in "
            "deg/s? Give rate_deg_s=..., or the rate in rad/s."
        )
    if speed > _SPEED:
        yield (
            f"Spacecraft '{craft.name}' starts with {speed:.4g} m/s, faster than anything that stays near the Earth. "
            "Was that in mm/s? Give m/s."
        )


def _path_warnings(software: Any) -> Iterator[str]:
    software = getattr(software, "follow", software)
    path, craft, frame = (getattr(software, name, None) for name in ("path", "craft", "frame"))
    if not isinstance(path, Path) or not isinstance(craft, Spacecraft) or getattr(software, "follows_target", False):
        return
    reach, away = _reach(craft, str(frame)), _farthest(path)
    if away > _REACHES * reach:
        yield (
            f"{software.title}.path leads '{frame}' {away:.4g} m away, and the arm of '{craft.name}' "
            f"reaches {reach:.3g} m. Was that in mm? Lengths are in m."
        )


def _farthest(path: Path) -> float:
    """Largest distance of a path from its start [m]; for a line its length, without compiling its profile."""
    if isinstance(path, Line):
        return abs(float(path.length))
    times = np.linspace(0.0, float(path.duration), 9)
    return max(float(np.linalg.norm(np.asarray(path.displacement(t)))) for t in times)


def _reach(craft: Spacecraft, frame: str) -> float:
    """Largest distance of a frame from the first joint that carries it [m]; infinite if a joint slides."""
    place = craft.frame(frame)
    index, length = craft.body_index(place.body), float(np.linalg.norm(np.asarray(place.X_BF.p)))
    while index:
        joint = craft.joints[index - 1]
        if joint.kind in ("prismatic", "rail"):
            return np.inf
        index, before = craft.parents[index], length
        length += float(np.linalg.norm(np.asarray(joint.X_PJ.p)))
        if not index:
            return before or length
    return np.inf  # on the base itself: no arm moves it


def _thrust_warnings(thrusters: Any, craft: Spacecraft) -> Iterator[str]:
    for nozzle in thrusters.nozzles:
        thrust, mass = float(nozzle.thrust), float(craft.mass)
        if thrust > _THRUST * mass:
            yield (
                f"Thruster '{nozzle.name}' of '{craft.name}' has {thrust:.4g} N, which gives its {mass:.4g} kg "
                f"{thrust / mass:.3g} m/s2. Was that in mN? Give N."
            )
