"""What connections, brakes and contacts do to the motion at an instant: forces that hold, brakes that slip."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp

from freefloat.dynamics.constrained import held_motion, row_forces
from freefloat.dynamics.inner_motion import free_of_drift
from freefloat.dynamics.relative_rows import Rows
from freefloat.model import State, World
from freefloat.sim.constraint_rows import between_spacecraft, rows_of
from freefloat.sim.constraint_state import active_rows, slip_signs
from freefloat.sim.system import System, SystemState
from freefloat.values import record
from freefloat.values.arrays import Vec6, Vector

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
    anything: bool | None = None,
) -> Together:
    """Accelerations under generalised forces, with whatever is held now; nothing held costs nothing.

    `anything`: whether anything is held, where that is known beforehand.
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

    def held() -> Together:
        rows = rows_of(world, states, modes)
        found = held_motion(
            world.crafts,
            states,
            forces,
            rows,
            prescribed=prescribed_names(system),
            accelerations=tuple(
                jnp.concatenate([jnp.zeros(6 * world.is_held(c)), a]) for c, a in enumerate(accelerations)
            ),
            active=active > 0.0,
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
            multipliers=found.multipliers,
        )

    if anything is not None:
        return held() if anything else free()
    return jax.lax.cond(jnp.any(active > 0.0), held, free)


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
            at = world.crafts[c].layout.velocity(brake.joint).start
            forces[c] = forces[c].at[at].add(-signs[i] * brake.slip_torque)
    return tuple(forces)


def exchanged(
    world: World, states: tuple[State, ...], rows: tuple[Rows, ...], multipliers: Vector, pulls: tuple[Vector, ...]
) -> tuple[Vector, ...]:
    """The part of the rows' generalised forces `pulls` that comes from other spacecraft."""
    between = between_spacecraft(rows)
    return pulls if between.all() else row_forces(world.crafts, states, rows, between * multipliers)
