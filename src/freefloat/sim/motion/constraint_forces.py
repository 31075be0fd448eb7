"""What connections, brakes and contacts do to the motion at an instant: forces that hold, brakes that slip."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp

from freefloat.dynamics.constrained import held_motion, row_forces
from freefloat.dynamics.inner_motion import free_of_drift
from freefloat.dynamics.relative_rows import Rows, row_count
from freefloat.model import State, World
from freefloat.sim.motion.constraint_rows import between_spacecraft, brake_dof, rows_of
from freefloat.sim.system.constraint_state import ConstraintState, Holding, active_rows, slip_signs
from freefloat.sim.system.system import System, SystemState
from freefloat.values import record
from freefloat.values.arrays import Numeric, Vec6, Vector
from freefloat.values.tracing import cond

Alone = Callable[[int], tuple[Vector, Vector]]  # (vdot without drift, force) of a spacecraft that nothing holds


@record
class Together:
    """Accelerations of all spacecraft, and what holds them."""

    vdots: tuple[Vector, ...]
    forces: tuple[Vector, ...]  # generalised, those of the rows included
    pulls: tuple[Vector, ...]  # generalised, those of the rows alone
    wrenches: tuple[Vec6, ...]  # that others give each spacecraft, about the inertial origin, N axes [N, N m]
    multipliers: Vector  # force along each row [N, N m]


def accelerate_together(
    system: System,
    states: tuple[State, ...],
    loop: SystemState,
    forces: tuple[Vector, ...],
    accelerations: tuple[Vector, ...],
    alone: Alone,
    *,
    holding: Holding | None = None,
) -> Together:
    """Accelerations under generalised forces, with whatever is held now; nothing held costs nothing.

    `holding`: what is held, where that is known beforehand.
    """
    world, modes = system.world, loop.constraints
    active = active_rows(world, modes)

    def free() -> Together:
        found = [alone(c) for c in range(len(states))]
        return Together(
            vdots=tuple(free_of_drift(vdot, state.v) for (vdot, _), state in zip(found, states, strict=True)),
            forces=tuple(force for _, force in found),
            pulls=tuple(jnp.zeros_like(force) for _, force in found),
            wrenches=tuple(jnp.zeros(6) for _ in found),
            multipliers=jnp.zeros_like(active),
        )

    def held(rows: tuple[Rows, ...], flags: Numeric | None) -> Together:
        found = held_motion(
            world.crafts,
            states,
            forces,
            rows,
            prescribed=prescribed_names(system),
            accelerations=tuple(
                jnp.concatenate([jnp.zeros(6 * world.is_held(c)), a]) for c, a in enumerate(accelerations)
            ),
            active=flags,
        )
        pulls = row_forces(world.crafts, states, rows, found.multipliers)
        return Together(
            vdots=found.vdots,
            forces=tuple(force + pull for force, pull in zip(found.forces, pulls, strict=True)),
            pulls=pulls,
            wrenches=tuple(
                state.X_NB.wrench_to_A(pull[:6])
                for state, pull in zip(states, exchanged(world, states, rows, found.multipliers, pulls), strict=True)
            ),
            multipliers=jnp.zeros_like(active).at[: row_count(rows)].set(found.multipliers),
        )

    def anything() -> Together:
        return held(*held_rows(world, states, modes, "anything"))

    if holding == "nothing":
        return free()
    if holding == "connection":
        return held(*held_rows(world, states, modes, holding))
    return anything() if holding else cond(jnp.any(active > 0.0), anything, free)


def held_rows(
    world: World, states: tuple[State, ...], modes: ConstraintState, holding: Holding
) -> tuple[tuple[Rows, ...], Numeric | None]:
    """The rows that may be held, and flags of those that are; None where all of them are, which is cheaper."""
    rows = rows_of(world, states, modes)
    return (rows[:1], None) if holding == "connection" else (rows, active_rows(world, modes) > 0.0)


def prescribed_names(system: System) -> tuple[tuple[str, ...], ...]:
    """What follows a prescribed motion in each spacecraft, a held base included."""
    return tuple((*(("base",) * system.world.is_held(c)), *joints) for c, joints in enumerate(system.wiring.prescribed))


def slip_forces(world: World, loop: SystemState) -> tuple[Vector, ...]:
    """Generalised forces of brakes that slip: their slip torque, against the motion."""
    forces = [jnp.zeros(craft.layout.nv) for craft in world.crafts]
    signs = slip_signs(loop.constraints)
    for i, brake in enumerate(world.brakes):
        if brake.slip_torque is not None:
            c = world.names.index(brake.craft)
            at = brake_dof(world, brake)
            forces[c] = forces[c].at[at].add(-signs[i] * brake.slip_torque)
    return tuple(forces)


def exchanged(
    world: World, states: tuple[State, ...], rows: tuple[Rows, ...], multipliers: Vector, pulls: tuple[Vector, ...]
) -> tuple[Vector, ...]:
    """The part of the rows' generalised forces `pulls` that comes from other spacecraft."""
    between = between_spacecraft(rows)
    return pulls if between.all() else row_forces(world.crafts, states, rows, between * multipliers)
