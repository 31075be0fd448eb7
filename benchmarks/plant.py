"""The plant alone: one RK4 step of a free spacecraft, and random states of it."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import elastic_force, forward_dynamics
from freefloat.dynamics.state_rate import state_rate
from freefloat.model import Spacecraft, State
from freefloat.sim.motion.integrators import rk4_step
from freefloat.sim.system.craft_state import CraftState, CraftStateRate, Ledger
from freefloat.sim.system.world_state import WorldRate, WorldState

DT = 0.01  # [s]


def plant_step(craft: Spacecraft) -> tuple[Callable[[CraftState], CraftState], CraftState]:
    """One RK4 step of the free spacecraft, nothing else, and a state to start from."""

    def rate(plants: WorldState, *_: object) -> WorldRate:
        (plant,) = plants
        state = plant.state
        vdot = forward_dynamics(craft, state.q, state.v, elastic_force(craft, state.q))
        books = jax.tree.map(jnp.zeros_like, plant.ledger)
        return WorldRate((CraftStateRate(state=state_rate(craft, state, vdot), ledger=books),))

    q, v, _ = sample(craft)
    state = State(p_NB=np.zeros(3), quat_NB=np.array([1.0, 0.0, 0.0, 0.0]), q=q, v=0.1 * v)
    return lambda plant: rk4_step(rate, WorldState((plant,)), jnp.zeros(()), DT)[0], CraftState(
        state=state, ledger=Ledger.empty()
    )


def sample(craft: Spacecraft, count: int | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Random q, v and force."""
    rng = np.random.default_rng(0)
    lead = () if count is None else (count,)
    nq, nv = craft.layout.nq, craft.layout.nv
    return rng.uniform(-1, 1, (*lead, nq)), rng.normal(size=(*lead, nv)), rng.normal(size=(*lead, nv))
