"""Trees that swing: smooth random internal torques, and many steps of any length in one compiled function."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model import Clock, Effect, Spacecraft, State, World
from freefloat.sim import begin, derivative
from freefloat.sim.motion.integrators import rk4_step
from freefloat.sim.system.craft_state import CraftState, Ledger
from freefloat.sim.system.system import Tick, assemble
from freefloat.sim.system.world_state import WorldRate, WorldState
from freefloat.values import record
from freefloat.values.arrays import Matrix, Scalar, Vector
from support.compiling import compiled


@record
class SmoothTorques(Effect):
    """A few sines of different frequency on every joint and wheel, none on the base: internal by construction."""

    amplitude: Matrix  # (nv, sines) [N m, N]
    frequency: Matrix  # [rad/s]
    phase: Matrix  # [rad]

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> Vector:
        return jnp.sum(self.amplitude * jnp.sin(self.frequency * clock.t + self.phase), axis=1)


def draw_swinging(rng: np.random.Generator, craft: Spacecraft) -> tuple[Spacecraft, SmoothTorques]:
    """The spacecraft with friction in its joints (2 N m s/rad), and torques of about 1 N m that keep it moving."""
    shape = (craft.layout.nv, 3)
    amplitude = rng.normal(size=shape)
    amplitude[:6] = 0.0
    torques = SmoothTorques(
        amplitude=amplitude,
        frequency=rng.uniform(0.3, 1.5, size=shape),
        phase=rng.uniform(-np.pi, np.pi, size=shape),
    )
    joints = tuple(dataclasses.replace(joint, damping=2.0) for joint in craft.joints)
    return dataclasses.replace(craft, joints=joints), torques


def starting(state: State) -> CraftState:
    """A plant whose books are empty."""
    return jax.tree.map(np.asarray, CraftState(state=state, ledger=Ledger.empty()))


def rates_of(craft: Spacecraft, effects: tuple, state: State) -> Callable[..., WorldRate]:
    """Rates of the one plant of a spacecraft under effects, for an integrator."""
    # The system's own tick is not used here: the step is an argument.
    system, loop = begin(assemble(World.of(craft), effects, 1.0), (state,))
    tick = Tick(jnp.zeros(()), loop.tick)
    return lambda plants, *times: derivative(system, plants, loop, {}, tick, *times)


def _advance(
    craft: Spacecraft, effects: tuple, plant: CraftState, t: Scalar, h: Scalar, steps: jax.Array
) -> CraftState:
    rate, plants = rates_of(craft, effects, plant.state), WorldState((plant,))

    def advance_once(k: jax.Array, now: WorldState) -> WorldState:
        return rk4_step(rate, now, t + k * h, h)

    return jax.lax.fori_loop(0, steps, advance_once, plants)[0]


_compiled_advance = compiled(_advance)


def advance(craft: Spacecraft, effects: tuple, plant: CraftState, t: float, h: float, steps: int) -> CraftState:
    """So many RK4 steps of length h from time t; one compilation serves every step length and number of steps."""
    return _compiled_advance(craft, effects, plant, np.float64(t), np.float64(h), np.int32(steps))
