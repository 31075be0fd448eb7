"""The engine on the real plant: native code against plain JAX, and against itself for every width and batch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import engine
from freefloat.dynamics import forward_dynamics
from freefloat.dynamics.state_rate import state_rate
from freefloat.library import ets7
from freefloat.sim.motion.integrators import rk4_step
from freefloat.sim.system.craft_state import CraftState, CraftStateRate, Ledger
from freefloat.sim.system.world_state import WorldRate, WorldState

CRAFT = ets7()
COUNT = 37  # no multiple of any SIMD width


def plant_step(plant):
    """One RK4 step of 10 ms, plant only."""

    def rate(plants, *_):
        (p,) = plants
        vdot = forward_dynamics(CRAFT, p.state.q, p.state.v, jnp.zeros(12))
        nothing = jax.tree.map(jnp.zeros_like, p.ledger)
        return WorldRate((CraftStateRate(state=state_rate(CRAFT, p.state, vdot), ledger=nothing),))

    return rk4_step(rate, WorldState((plant,)), jnp.zeros(()), 0.01)[0]


def starts(rng, count):
    plant = CraftState(state=CRAFT.at_rest(), ledger=Ledger.empty())
    many = jax.tree.map(lambda x: np.broadcast_to(x, (count, *np.shape(x))).copy(), plant)
    many.state.q[:] = rng.uniform(-1.0, 1.0, many.state.q.shape)
    many.state.v[:] = 0.2 * rng.normal(size=many.state.v.shape)
    return many


def at(plants, k):
    return jax.tree.map(lambda x: x[k], plants)


@pytest.fixture(scope="module")
def native():
    return engine.compile(plant_step, CraftState(state=CRAFT.at_rest(), ledger=Ledger.empty()))


def test_forward_dynamics_equals_plain_jax(rng):
    q, v, force = rng.uniform(-3, 3, (COUNT, 6)), rng.normal(size=(COUNT, 12)), 10 * rng.normal(size=(COUNT, 12))
    ours = engine.compile(lambda *a: forward_dynamics(CRAFT, *a), q[0], v[0], force[0]).batch(q, v, force)
    expected = jax.jit(jax.vmap(lambda *a: forward_dynamics(CRAFT, *a)))(q, v, force)
    scale = np.max(np.abs(expected), axis=1, keepdims=True)
    assert np.max(np.abs(ours - expected) / scale) < 1e-12  # 2000 operations, conditioned by the light wrist


def test_a_thousand_steps_equal_plain_jax(rng, native):
    start = at(starts(rng, 1), 0)
    ours = native.rollout(start, steps=1000).state
    expected = jax.jit(lambda p: jax.lax.fori_loop(0, 1000, lambda _, s: plant_step(s), p))(start)
    for a, b in zip(jax.tree.leaves(ours.state), jax.tree.leaves(expected.state), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-10)  # rounding grows with the motion's own divergence


@pytest.mark.parametrize("width", [1, 2, 4, 8])
def test_every_width_and_thread_count_gives_the_same_bits(rng, native, width):
    plants = starts(rng, COUNT)
    other = engine.compile(plant_step, at(plants, 0), width=width)
    one_by_one = [native.rollout(at(plants, k), steps=20).state for k in (0, 17, COUNT - 1)]
    for threads in (1, 2):
        many = other.rollout_batch(plants, steps=20, threads=threads).state
        for k, alone in zip((0, 17, COUNT - 1), one_by_one, strict=True):
            for a, b in zip(jax.tree.leaves(at(many, k)), jax.tree.leaves(alone), strict=True):
                np.testing.assert_array_equal(a, b)
