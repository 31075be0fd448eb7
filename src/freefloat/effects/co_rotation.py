"""Start states of a free drift in orbit: where spacecraft are in the orbital frame, and how they move in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import composite_inertia, frame_pose
from freefloat.effects.circular_orbit import CircularOrbit
from freefloat.effects.elliptic_orbit import EllipticOrbit
from freefloat.model import Spacecraft, State, World
from freefloat.spatial import six
from freefloat.spatial.rotations import cross, quaternion_of, rotation_fault
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import ArrayLike, is_traced
from freefloat.values.checks import require_array, set_fields
from freefloat.values.suggestions import did_you_mean

Orbit = CircularOrbit | EllipticOrbit
CENTRE = "com"


@record
class PlaceInOrbit:
    """Where a spacecraft is in the orbital frame O at t = 0, and how it moves as seen in that turning frame.

    Position and velocity are those of its centre of mass, or of the frame that `of` names, such as "base". By default
    it is on the orbit, aligned with O and at rest in it; its joints are at q and stand still.
    """

    position: ArrayLike = (0.0, 0.0, 0.0)  # O axes [m]
    attitude: ArrayLike | None = None  # R_OB of its base (3, 3); None: aligned
    velocity: ArrayLike = (0.0, 0.0, 0.0)  # O axes [m/s]
    rate: ArrayLike = (0.0, 0.0, 0.0)  # of its base against O, base axes [rad/s]
    q: ArrayLike | None = None  # joints and modes; None: zero
    of: str = static(default=CENTRE)

    def __post_init__(self) -> None:
        units = {"position": "m", "velocity": "m/s", "rate": "rad/s"}
        found = {
            name: require_array(f"PlaceInOrbit.{name}", getattr(self, name), unit, (3,), "x, y, z")
            for name, unit in units.items()
        }
        attitude = np.eye(3) if self.attitude is None else self.attitude
        R_OB = require_array("PlaceInOrbit.attitude", attitude, "", (3, 3), "a rotation matrix R_OB")
        if not is_traced(R_OB) and (fault := rotation_fault(np.asarray(R_OB))):
            raise ModelError(f"PlaceInOrbit.attitude must be a rotation matrix R_OB: {fault}.")
        set_fields(self, **found, attitude=R_OB)


def co_rotating_state(
    craft: Spacecraft, orbit: Orbit, q: ArrayLike | None = None, attitude: ArrayLike | None = None
) -> State:
    """State that turns with the orbital frame at t = 0, aligned with it or at an attitude R_OB (3, 3) in it.

    The centre of mass, not the base, is at the origin of N and rests there: it is on the orbit.
    """
    return state_in_orbit(craft, orbit, PlaceInOrbit(q=q, attitude=attitude))


def co_rotating_states(world: World, orbit: Orbit, places: Mapping[str, PlaceInOrbit]) -> dict[str, State]:
    """States at t = 0 of all spacecraft of a world, by name, for `simulate(world, ..., state=...)`."""
    if not isinstance(world, World):
        raise ModelError(f"co_rotating_states needs a World, got {type(world).__name__}. For one: co_rotating_state.")
    if not isinstance(places, Mapping):
        raise ModelError(f"Give places by name, {{'{world.names[0]}': PlaceInOrbit(...)}}, got {places!r}.")
    if unknown := [name for name in places if name not in world.names]:
        meant = did_you_mean(unknown[0], world.names)
        raise ModelError(f"The world has no spacecraft '{unknown[0]}'. Spacecraft: {', '.join(world.names)}.{meant}")
    if missing := [name for name in world.names if name not in places]:
        raise ModelError(f"Say where '{missing[0]}' is in orbit: places needs {', '.join(world.names)}.")
    if wrong := [name for name, place in places.items() if not isinstance(place, PlaceInOrbit)]:
        raise ModelError(f"The place of '{wrong[0]}' must be a PlaceInOrbit(...), got {places[wrong[0]]!r}.")
    return {name: state_in_orbit(world.craft(name), orbit, places[name]) for name in world.names}


def state_in_orbit(craft: Spacecraft, orbit: Orbit, place: PlaceInOrbit) -> State:
    """State of a spacecraft at a place in orbit at t = 0, when N and O coincide."""
    if not isinstance(craft, Spacecraft):
        raise ModelError(f"A spacecraft is needed, got {type(craft).__name__}. For a world: co_rotating_states.")
    if not isinstance(orbit, Orbit):
        raise ModelError(f"The orbit must be a CircularOrbit or an EllipticOrbit, got {orbit!r}.")
    state = craft.at_rest(place.q)
    R_OB, turning = jnp.asarray(place.attitude), orbit.angular_velocity(0.0)
    point = composite_inertia(craft, state.q).com if place.of == CENTRE else frame_pose(craft, state.q, place.of).p
    rate = R_OB.T @ turning + place.rate
    velocity = R_OB.T @ (place.velocity + cross(turning, place.position))
    twist = six(velocity - cross(rate, point), rate)
    return craft.require_state(
        dataclasses.replace(
            state,
            p_NB=place.position - R_OB @ point,
            quat_NB=quaternion_of(R_OB),
            v=jnp.asarray(state.v).at[:6].set(twist),
        )
    )
