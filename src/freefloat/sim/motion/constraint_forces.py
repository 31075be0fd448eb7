"""Forces of connections, brakes and contacts at an instant: those that hold, and torques of brakes that slip."""

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

FreeMotion = Callable[[int], tuple[Vector, Vector]]  # (vdot without drift, force) of a spacecraft that nothing holds


@record
class ConstrainedMotion:
    """Accelerations of all spacecraft, and the forces of what is held."""

    vdots: tuple[Vector, ...]
    forces: tuple[Vector, ...]  # generalised, those of the rows included
    pulls: tuple[Vector, ...]  # generalised, those of the rows alone
    wrenches: tuple[Vec6, ...]  # that others give each spacecraft, about the inertial origin, N axes [N, N m]
    multipliers: Vector  # force along each row [N, N m]


def constrained_accelerations(
    system: System,
    states: tuple[State, ...],
    state: SystemState,
    forces: tuple[Vector, ...],
    accelerations: tuple[Vector, ...],
    alone: FreeMotion,
    *,
    holding: Holding | None = None,
) -> ConstrainedMotion:
    """Accelerations under generalised forces with the rows that are held now; if none is, no rows are computed.

    `holding`: what is held, where that is known beforehand.
    """
    world, modes = system.world, state.modes
    active = active_rows(world, modes)

    def free_motion() -> ConstrainedMotion:
        found = [alone(c) for c in range(len(states))]
        return ConstrainedMotion(
            vdots=tuple(
                free_of_drift(vdot, craft_state.v) for (vdot, _), craft_state in zip(found, states, strict=True)
            ),
            forces=tuple(force for _, force in found),
            pulls=tuple(jnp.zeros_like(force) for _, force in found),
            wrenches=tuple(jnp.zeros(6) for _ in found),
            multipliers=jnp.zeros_like(active),
        )

    def motion_with_rows(rows: tuple[Rows, ...], flags: Numeric | None) -> ConstrainedMotion:
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
        return ConstrainedMotion(
            vdots=found.vdots,
            forces=tuple(force + pull for force, pull in zip(found.forces, pulls, strict=True)),
            pulls=pulls,
            wrenches=tuple(
                craft_state.X_NB.wrench_to_A(pull[:6])
                for craft_state, pull in zip(
                    states, exchanged_forces(world, states, rows, found.multipliers, pulls), strict=True
                )
            ),
            multipliers=jnp.zeros_like(active).at[: row_count(rows)].set(found.multipliers),
        )

    def maybe_constrained() -> ConstrainedMotion:
        return motion_with_rows(*held_rows(world, states, modes, "anything"))

    if holding == "nothing":
        return free_motion()
    if holding == "connection":
        return motion_with_rows(*held_rows(world, states, modes, holding))
    return maybe_constrained() if holding else cond(jnp.any(active > 0.0), maybe_constrained, free_motion)


def held_rows(
    world: World, states: tuple[State, ...], modes: ConstraintState, holding: Holding
) -> tuple[tuple[Rows, ...], Numeric | None]:
    """The rows that may be held, and flags of those that are; None in place of flags if all are, which is cheaper."""
    rows = rows_of(world, states, modes)
    return (rows[:1], None) if holding == "connection" else (rows, active_rows(world, modes) > 0.0)


def prescribed_names(system: System) -> tuple[tuple[str, ...], ...]:
    """Names of the joints with prescribed rates in each spacecraft, with "base" for a held base."""
    return tuple((*(("base",) * system.world.is_held(c)), *joints) for c, joints in enumerate(system.wiring.prescribed))


def slip_forces(world: World, state: SystemState) -> tuple[Vector, ...]:
    """Generalised forces of brakes that slip on each spacecraft: their slip torque, against the motion."""
    forces = [jnp.zeros(craft.layout.nv) for craft in world.crafts]
    signs = slip_signs(state.modes)
    for i, brake in enumerate(world.brakes):
        if brake.slip_torque is not None:
            c = world.names.index(brake.craft)
            at = brake_dof(world, brake)
            forces[c] = forces[c].at[at].add(-signs[i] * brake.slip_torque)
    return tuple(forces)


def exchanged_forces(
    world: World, states: tuple[State, ...], rows: tuple[Rows, ...], multipliers: Vector, pulls: tuple[Vector, ...]
) -> tuple[Vector, ...]:
    """The part of the rows' generalised forces `pulls` that comes from other spacecraft."""
    between = between_spacecraft(rows)
    return pulls if between.all() else row_forces(world.crafts, states, rows, between * multipliers)
