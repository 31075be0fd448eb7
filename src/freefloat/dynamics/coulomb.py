"""Impulses of contacts that push and rub: unilateral normals with Coulomb friction, in the space of the rows.

A contact has one row (its normal) or three (normal, two across). With mobility W, velocity g before and y = g + W x
after, a plastic impact has for each contact

    0 <= x_n,  0 <= y_n,  x_n y_n = 0,  and  y_t = 0 with |x_t| <= mu x_n (stick)  or  x_t = -mu x_n y_t / |y_t| (slip).

One contact is solved directly: open, stick, or the slip direction by bisection of one angle. Several are solved one
after the other in sweeps until nothing changes (block Gauss-Seidel), a bounded number of times.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.solve import spd_solve
from freefloat.values.arrays import Mat3, Matrix, Numeric, Scalar, Vec3, Vector

Blocks: TypeAlias = tuple[slice, ...]  # rows of each contact
_SWEEPS, _STILL = 500, 1e-15  # at most; change of the impulses, of their size, at which the sweeps end
_ANGLES, _HALVINGS = np.linspace(-np.pi, np.pi, 33), 60


def plastic_contacts(W: Matrix, g: Vector, friction: Vector, active: Numeric, blocks: Blocks) -> Vector:
    """Impulses x of a plastic impact at all contacts that are active; friction mu, one for each."""

    def local(k: int, rest: Vector) -> Vector:
        own, mu = W[blocks[k], blocks[k]], friction[k]
        x = jnp.maximum(-rest / own[0, 0], 0.0) if rest.shape == (1,) else _contact_impulse(own, rest, mu)
        return jnp.where(active[k], x, 0.0)

    return _sweep(W, g, blocks, local)


def rubbing_impulses(W: Matrix, y: Vector, pushes: Vector, friction: Vector, blocks: Blocks) -> Vector:
    """Impulses with given normal parts `pushes` (one for each contact) whose friction takes the most energy."""

    def local(k: int, rest: Vector) -> Vector:
        own, push = W[blocks[k], blocks[k]], pushes[k][None]
        if rest.shape == (1,):
            return push
        return jnp.concatenate(
            [push, _minimise_in_disc(own[1:, 1:], rest[1:] + own[1:, 0] * push, friction[k] * push[0])]
        )

    return _sweep(W, y, blocks, local)


def _sweep(W: Matrix, g: Vector, blocks: Blocks, local: Callable[[int, Vector], Vector]) -> Vector:
    """Solve contact by contact until nothing changes; one contact needs one solution."""

    def sweep_once(x: Vector) -> Vector:
        for k, at in enumerate(blocks):
            rest = g[at] + W[at] @ x - W[at, at] @ x[at]
            x = x.at[at].set(local(k, rest))
        return x

    start = jnp.zeros_like(g)
    if len(blocks) <= 1:
        return sweep_once(start)

    def is_unfinished(loop: tuple[Numeric, Vector, Scalar]) -> Numeric:
        count, x, change = loop
        return (count < _SWEEPS) & (change > _STILL * jnp.max(jnp.abs(x)))

    def next_sweep(loop: tuple[Numeric, Vector, Scalar]) -> tuple[Numeric, Vector, Scalar]:
        count, x, _ = loop
        new = sweep_once(x)
        return count + 1, new, jnp.max(jnp.abs(new - x))

    return jax.lax.while_loop(is_unfinished, next_sweep, (jnp.zeros((), int), start, jnp.full((), jnp.inf)))[1]


# ---- one contact


def _contact_impulse(W: Mat3, r: Vec3, mu: Scalar) -> Vec3:
    """Impulse of one contact that opens, sticks or slips; r is its velocity after the impulses of all others."""
    sticking = -spd_solve(W, r)
    sticks = (sticking[0] >= 0.0) & (_length(sticking[1:]) <= mu * sticking[0])
    closed = jnp.where(sticks, sticking, _slipping_impulse(W, r, mu))
    return jnp.where(r[0] < 0.0, closed, 0.0)


def _slipping_impulse(W: Mat3, r: Vec3, mu: Scalar) -> Vec3:
    """Impulse of a contact that slips in a direction d with friction -mu x_n d; d is the direction in which it slips.

    The part of the slip velocity across d must vanish; times a positive factor it is a trigonometric polynomial of d.
    Where friction is so large that no direction fits, the contact only pushes.
    """

    def impulse(angle: Scalar) -> tuple[Vec3, Scalar]:
        d = jnp.stack([jnp.cos(angle), jnp.sin(angle)])
        yields = W[0, 0] - mu * (W[0, 1:] @ d)
        push = -r[0] / jnp.where(yields > 0.0, yields, 1.0)
        x = push * jnp.concatenate([jnp.ones(1), -mu * d])
        slip = (r + W @ x)[1:] @ d
        return x, jnp.where((yields > 0.0) & (push > 0.0), slip, -jnp.inf)

    def across(angle: Scalar) -> Scalar:
        d = jnp.stack([jnp.cos(angle), jnp.sin(angle)])
        left = jnp.stack([-d[1], d[0]])
        return left @ (r[1:] * (W[0, 0] - mu * (W[0, 1:] @ d)) - r[0] * (W[1:, 0] - mu * (W[1:, 1:] @ d)))

    ends = jnp.asarray(jax.vmap(across)(_ANGLES))
    flat = ends[:-1] == ends[1:]
    share = jnp.clip(ends[:-1] / jnp.where(flat, 1.0, ends[:-1] - ends[1:]), 0.0, 1.0)
    _, slips = jax.vmap(impulse)(_ANGLES[:-1] + share * np.diff(_ANGLES))
    slips = jnp.where(ends[:-1] * ends[1:] <= 0.0, slips, -jnp.inf)
    low, high, slip = _ANGLES[0], _ANGLES[1], -jnp.inf
    for k in range(len(_ANGLES) - 1):
        better = slips[k] > slip
        low, high = jnp.where(better, _ANGLES[k], low), jnp.where(better, _ANGLES[k + 1], high)
        slip = jnp.where(better, slips[k], slip)

    def halve(_: Numeric, ends: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        low, high = ends
        middle = 0.5 * (low + high)
        beyond = across(low) * across(middle) > 0.0
        return jnp.where(beyond, middle, low), jnp.where(beyond, high, middle)

    low, high = jax.lax.fori_loop(0, _HALVINGS, halve, (jnp.asarray(low), jnp.asarray(high)))
    x, slip = impulse(_polish(across, 0.5 * (low + high)))
    only_pushing = jnp.maximum(-r[0] / W[0, 0], 0.0) * np.eye(3)[0]
    return jnp.where(slip > -1e-9 * _length(r[1:]), x, only_pushing)


def _minimise_in_disc(W: Matrix, r: Vector, radius: Scalar) -> Vector:
    """The x in |x| <= radius that minimises x W x / 2 + x r: inside, or on the edge by bisection of a multiplier."""
    inside = -spd_solve(W, r)
    trace = W[0, 0] + W[1, 1]

    def edge(damping: Scalar) -> Vector:
        return -spd_solve(W + damping * np.eye(2), r)

    def halve(_: Numeric, ends: tuple[Scalar, Scalar]) -> tuple[Scalar, Scalar]:
        low, high = ends
        middle = 0.5 * (low + high)
        outside = _length(edge(middle)) > radius
        return jnp.where(outside, middle, low), jnp.where(outside, high, middle)

    safe = jnp.where(radius > 0.0, radius, 1.0)
    ends = (jnp.zeros(()), _length(r) / safe + trace)
    _, damping = jax.lax.fori_loop(0, 2 * _HALVINGS, halve, ends)
    damping = _polish(lambda at: edge(at) @ edge(at) - radius * radius, damping)
    on_edge = jnp.where(radius > 0.0, edge(damping), 0.0)
    return jnp.where(_length(inside) <= radius, inside, on_edge)


def _length(x: Vector) -> Scalar:
    return safe_root(x @ x)


def safe_root(x: Scalar) -> Scalar:
    """Square root of x, zero where x is negative; its derivative at zero is zero."""
    positive = x > 0.0
    return jnp.where(positive, jnp.sqrt(jnp.where(positive, x, 1.0)), 0.0)


def _polish(function: Callable[[Scalar], Scalar], root: Scalar) -> Scalar:
    """A root after a step of Newton, which also gives it the derivative that the bisection does not have."""
    root = jax.lax.stop_gradient(root)
    value, slope = jax.jvp(function, (root,), (jnp.ones(()),))
    slope = jax.lax.stop_gradient(slope)
    return root - jnp.where(slope == 0.0, 0.0, value / jnp.where(slope == 0.0, 1.0, slope))
