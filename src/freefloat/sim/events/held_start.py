"""Start of a world in which something is held: a start that fits is solved for, or an error gives the reason."""

from __future__ import annotations

import dataclasses
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.manifold import return_to_rows
from freefloat.engine import compile, compile_varied
from freefloat.model import Connection, State, World
from freefloat.sim.motion.constraint_rows import brake_rates, connection_error, gaps, meant_pose, out_of_reach, rows_of
from freefloat.sim.system.constraint_state import BACKWARD, FORWARD, HOLDS, OFF, ConstraintState, active_rows
from freefloat.sim.system.system import System
from freefloat.spatial import Pose
from freefloat.spatial.rotations import quaternion_of
from freefloat.values import ModelError
from freefloat.values.arrays import Numeric, Scalar, Vector, is_traced

_FITS = 1e-10  # [m], [rad]: how well a start is solved
_ROUNDS = 50
_DEEP = 1e-9  # [m]: how far a contact may overlap at the start


class UnknownStart(ModelError):
    """Raised for a start that has to be solved for or checked, but whose numbers are being traced."""


def start_held(system: System, states: tuple[State, ...]) -> tuple[tuple[State, ...], ConstraintState | tuple[()]]:
    """States that fit what is held from the start, and the state of constraints, () in a world without any."""
    world = system.world
    if not world.has_events:
        return states, ()
    modes, traced = ConstraintState.begin(world), is_traced(states, world)
    if traced and any(held_part.on for held_part in (*world.connections, *world.brakes)):
        raise UnknownStart("A world in which something is held from the start begins with numbers that are known.")
    poses = [meant_pose(connection) for connection in world.connections]
    modes = dataclasses.replace(
        modes,
        latched=np.array([int(connection.on) for connection in world.connections], np.int32),
        positions=_stack_rows([pose.p for pose in poses], 3),
        attitudes=_stack_rows([_quaternion(pose) for pose in poses], 4),
        brakes=_brake_modes(world, states),
    )
    if traced:  # whether anything overlaps or is within reach cannot be checked
        return states, jax.tree.map(jnp.asarray, modes)
    _require_apart(world, states)
    _require_still(world, states)
    _require_within_reach(world, states)
    if any(connection.on for connection in world.connections):
        states, rank = _solve(world, states, modes)
        redundant = int(np.sum(np.asarray(active_rows(world, modes)))) - rank
        modes = dataclasses.replace(modes, redundant=np.asarray(redundant, np.int32))
    return states, jax.tree.map(jnp.asarray, modes)


def _stack_rows(rows: list[Any], size: int) -> Numeric:
    if is_traced(rows):
        return jnp.stack([jnp.asarray(row) for row in rows])
    return np.array([np.asarray(row) for row in rows]).reshape(-1, size)


def _quaternion(pose: Pose) -> Numeric:
    if is_traced(pose):
        return quaternion_of(pose.R)
    R = np.asarray(pose.R)
    return np.eye(4)[0] if np.array_equal(R, np.eye(3)) else np.asarray(compile(quaternion_of, R)(R))


def require_free_joints(system: System) -> None:
    """Raise an error for a brake on a joint whose rate is prescribed."""
    for c, names in enumerate(system.wiring.prescribed):
        stuck = [joint for _, joint in system.stuck_joints(c)]  # their brakes are never used
        for brake in system.world.brakes:
            if (
                brake.joint not in stuck
                and system.world.names[c] == brake.craft
                and system.world.crafts[c].layout.motor_coordinate(brake.joint) in names
            ):
                raise ModelError(
                    f"Joint '{brake.joint}' has a brake, but software prescribes its rate: both cannot be. Drive it by "
                    "torques, or leave the brake away."
                )


def _require_apart(world: World, states: tuple[State, ...]) -> None:
    """Raise an error if contacts overlap at the start."""
    if not world.contacts:
        return
    found = np.asarray(compile_varied(_gaps, world, states)(states))
    for contact, gap in zip(world.contacts, found, strict=True):
        if gap < -_DEEP:
            raise ModelError(
                f"Contact '{contact.name}': '{contact.a.title}' is {-gap:g} m below the surface at the start. Start it "
                "above."
            )


def _gaps(world: World, states: tuple[State, ...]) -> Vector:
    return gaps(world, states)[0]


def _brake_modes(world: World, states: tuple[State, ...]) -> Numeric:
    """Modes of the brakes at the start: one that is on and can slip does so if its joint moves."""
    if not any(brake.on for brake in world.brakes):
        return np.zeros(len(world.brakes), np.int32)
    rates = np.asarray(brake_rates(world, states))
    slips = np.array([brake.slips for brake in world.brakes]) & (rates != 0.0)
    modes = np.where(slips, np.where(rates > 0.0, FORWARD, BACKWARD), HOLDS)
    return np.where([brake.on for brake in world.brakes], modes, OFF).astype(np.int32)


def _require_still(world: World, states: tuple[State, ...]) -> None:
    rates = np.asarray(brake_rates(world, states))
    for brake, rate in zip(world.brakes, rates, strict=True):
        if brake.on and not brake.slips and rate != 0.0:
            raise ModelError(
                f"The brake of joint '{brake.joint}' is on from the start, but the joint moves at {rate:g} rad/s "
                "(or m/s). Start it at rest, or brake it by a command."
            )


def _require_within_reach(world: World, states: tuple[State, ...]) -> None:
    for number, connection in enumerate(world.connections):
        if not connection.on and not connection.automatic:
            continue
        away, turned, beyond = map(float, compile_varied(partial(_start_error, number), world, states)(states))
        if connection.on and beyond > 0.0:
            raise ModelError(
                f"Connection '{connection.name}' is on from the start, but its frames are "
                f"{_error_text(connection, away, turned)} from where they are held (reach "
                f"{float(connection.reach[0]):g} m, {float(connection.reach[1]):g} rad). Start them closer, or say "
                "where they are held, at=Pose(...)."
            )
        if connection.automatic and not connection.on and beyond <= 0.0:
            raise ModelError(
                f"Connection '{connection.name}' latches by itself and is within its reach at the start. Start it "
                "on=True, or farther away."
            )


def _start_error(number: int, world: World, states: tuple[State, ...]) -> tuple[Scalar, Scalar, Scalar]:
    connection = world.connections[number]
    return (*connection_error(world, states, connection), out_of_reach(world, states, connection))


def _error_text(connection: Connection, away: float, turned: float) -> str:
    return f"{away:.4g} m" + (f" and {turned:.4g} rad" if connection.holds != "point" else "")


def _solve(world: World, states: tuple[State, ...], modes: ConstraintState) -> tuple[tuple[State, ...], int]:
    """States that fit what is held, by mass-weighted steps of positions and speeds; and number of independent rows."""
    program = compile_varied(_projection_step, world, states, modes)
    error = np.zeros(0)
    for _ in range(_ROUNDS):
        moved, error, rank = program(states, modes)
        if np.max(np.abs(error), initial=0.0) <= _FITS:
            return jax.tree.map(jnp.asarray, moved), int(rank)
        if not all(np.all(np.isfinite(x)) for x in jax.tree.leaves(moved)):
            break
        states = moved
    names = [connection.name for connection in world.connections if connection.on]
    raise ModelError(
        f"The connections {', '.join(names)} contradict one another: no posture near the start meets all of them, "
        f"{np.max(np.abs(error)):.3g} m (or rad) is left. Leave one out, or start where they fit."
    )


def _projection_step(
    world: World, states: tuple[State, ...], modes: ConstraintState
) -> tuple[tuple[State, ...], Vector, Scalar]:
    prescribed = tuple(("base",) * world.is_held(c) for c in range(len(states)))
    rows, active = rows_of(world, states, modes), active_rows(world, modes) > 0.0
    found = return_to_rows(world.crafts, states, rows, prescribed=prescribed, active=active)
    return found.states, found.error, found.rank
