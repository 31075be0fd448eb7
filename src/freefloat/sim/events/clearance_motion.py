"""Relative motion of watched pairs of bodies: bounds on how fast, and how unevenly, they can come closer."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.kinematics import body_poses, body_twists
from freefloat.model import State, World
from freefloat.sim.events.clearance_pairs import Pair, WatchedBody, placed_shapes
from freefloat.spatial import angular, linear
from freefloat.values import record
from freefloat.values.arrays import Numeric, Scalar, Vector

_UNEVEN = 2.0  # so many times the mean acceleration: what it may be in between


@record
class PairMotion:
    """Motion of the first body relative to the second, for all watched pairs."""

    velocity: Numeric  # (pairs, 3): of their origins, N axes [m/s]
    turn: Vector  # rates of both bodies together; of one that looks the same from all sides none [rad/s]
    lever: Vector  # no core of a shape reaches farther from the origin of its body [m]

    @property
    def speed(self) -> Vector:
        """Bound on the rate of change of every distance [m/s]."""
        return jnp.sqrt(jnp.sum(self.velocity**2, axis=1)) + self.turn * self.lever

    def rate_fall(self, later: PairMotion, h: Scalar) -> Vector:
        """A bound on how fast the rate of a distance can fall between two instants [m/s2]; see `gap_dips`."""
        change = jnp.sqrt(jnp.sum((later.velocity - self.velocity) ** 2, axis=1))
        turn = jnp.maximum(self.turn, later.turn)
        mean = (change + self.lever * jnp.abs(later.turn - self.turn)) / h
        return _UNEVEN * mean + turn * (turn * self.lever + 2.0 * jnp.maximum(self.speed, later.speed))


def pair_motion(world: World, pairs: tuple[Pair, ...], states: tuple[State, ...]) -> PairMotion:
    """Relative motion of all watched pairs at the given states."""
    bodies = {body: _motion(world, body, states) for body in {body: None for pair in pairs for body in pair}}
    levers = np.array([[_lever(world, body) for body in pair] for pair in pairs])
    counts = levers > 0.0
    rates = jnp.stack([jnp.stack([bodies[body][1] for body in pair]) for pair in pairs])
    return PairMotion(
        velocity=jnp.stack([bodies[a][0] - bodies[b][0] for a, b in pairs]),
        turn=jnp.sum(counts * rates, axis=1),
        lever=jnp.asarray(np.max(levers, axis=1)),
    )


def _motion(world: World, body: WatchedBody, states: tuple[State, ...]) -> tuple[Numeric, Scalar]:
    """Velocity of the origin of a body [m/s], N axes, and the size of its angular rate [rad/s]."""
    craft, state = world.crafts[body.craft], states[body.craft]
    number = craft.body_index(body.body)
    V, X_BL = body_twists(craft, state.q, state.v)[number], body_poses(craft, state.q)[number]
    rate = angular(V)
    return state.X_NB.R @ (X_BL.R @ linear(V)), jnp.sqrt(rate @ rate)


def _lever(world: World, body: WatchedBody) -> float:
    """Largest distance from the origin of a body that the cores of its shapes reach [m]."""
    return max(
        float(np.linalg.norm(shape.position)) + float(np.linalg.norm(core.half))
        for shape, core in placed_shapes(world, body)
    )
