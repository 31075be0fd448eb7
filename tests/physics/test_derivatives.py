"""Derivatives of the dynamics: the closed form against plain differentiation and against central differences.

Exact derivatives of the same quantity agree to 1e-10 of the largest entry (condition of the mass matrix times
rounding). Central differences with a relative step of 1e-5 are good to 1e-10 of truncation and 1e-11 of rounding,
both times derivatives of order 100: 1e-7.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import analysis, dynamics
from freefloat.analysis.free_linear_model import deviation_rate
from support import trees
from support.compiling import compiled

EXACT = 1e-10
BY_DIFFERENCES = 1e-7
H = 1e-5


def draw(rng, name="small"):
    craft = trees.draw_tree(rng, name)
    v = rng.normal(size=craft.layout.nv)  # wheels as slow as the rest: one scale for all derivatives
    return craft, trees.draw_configuration(rng, craft), v, 5.0 * rng.normal(size=v.size)


def differences(function, x):
    """Jacobian of a function of a vector by central differences."""
    columns = [(np.asarray(function(x + H * e)) - np.asarray(function(x - H * e))) / (2.0 * H) for e in np.eye(x.size)]
    return np.stack(columns, axis=-1)


jacobians = compiled(jax.jacfwd(dynamics.forward_dynamics, argnums=(1, 2, 3)))
plain_derivative = compiled(
    lambda craft, point, direction: jax.jvp(
        lambda *x: dynamics.articulated_forward_dynamics(craft, *x), point, direction
    )[1]
)


def test_derivative_of_forward_dynamics(rng):
    """d vdot = M^-1 (d force - d ID) is the derivative of the articulated-body recursion."""
    craft, q, v, force = draw(rng)
    ours = jacobians(craft, q, v, force)
    for _ in range(5):
        direction = tuple(rng.normal(size=x.size) for x in (q, v, force))
        plain = plain_derivative(craft, (q, v, force), direction)
        mine = sum(J @ dx for J, dx in zip(ours, direction, strict=True))
        assert trees.relative_error(mine, plain) < EXACT
    numeric = (
        differences(lambda x: trees.forward_dynamics(craft, x, v, force), q),
        differences(lambda x: trees.forward_dynamics(craft, q, x, force), v),
        differences(lambda x: trees.forward_dynamics(craft, q, v, x), force),
    )
    for mine, other in zip(ours, numeric, strict=True):
        assert trees.relative_error(mine, other) < BY_DIFFERENCES


def of_masses(craft, masses, q, v, force):
    """Forward dynamics of the spacecraft with other masses."""
    bodies = tuple(dataclasses.replace(b, mass=m) for b, m in zip(craft.bodies, masses, strict=True))
    return dynamics.forward_dynamics(dataclasses.replace(craft, bodies=bodies), q, v, force)


by_masses = compiled(of_masses)
forwards = compiled(lambda c, m, q, v, f: jax.jacfwd(of_masses, argnums=1)(c, jnp.stack(list(m)), q, v, f))
backwards = compiled(
    lambda c, m, q, v, f, weights: jax.grad(lambda *a: weights @ of_masses(*a), argnums=(1, 2, 3, 4))(c, m, q, v, f)
)


def test_derivative_with_respect_to_masses_forwards_and_backwards(rng):
    """Masses are leaves of a spacecraft: a tangent goes through (jacfwd), a cotangent comes back (grad)."""
    craft, q, v, force = draw(rng)
    masses = np.array([body.mass for body in craft.bodies])
    weights = rng.normal(size=v.size)
    J = forwards(craft, masses, q, v, force)
    numeric = differences(lambda m: by_masses(craft, m, q, v, force), masses)
    assert trees.relative_error(J, numeric) < BY_DIFFERENCES
    gradients = backwards(craft, masses, q, v, force, weights)
    expected = (J, *jacobians(craft, q, v, force))
    for gradient, jacobian in zip(gradients, expected, strict=True):
        assert trees.relative_error(gradient, weights @ jacobian) < EXACT


@compiled
def gradient_of_everything(craft, q, v, force, weights):
    """Gradient with respect to the whole spacecraft: every number of it at once."""
    return jax.grad(lambda c: weights @ dynamics.forward_dynamics(c, q, v, force))(craft)


def test_gradient_with_respect_to_every_number_of_a_spacecraft(rng):
    """Along a random direction in the numbers that matter, the gradient predicts the change."""
    craft, q, v, force = draw(rng)
    craft = jax.tree.map(np.asarray, craft)
    weights = rng.normal(size=v.size)
    gradient = gradient_of_everything(craft, q, v, force, weights)
    paths = ("base.com", "link2.mass", "link2.inertia", "joint1.X_PJ.position", "wheel1.inertia")
    moves = {path: 0.1 * rng.normal(size=np.shape(value_at(craft, path))) for path in paths}
    moves["link2.inertia"] = moves["link2.inertia"] + moves["link2.inertia"].T
    slope = sum(np.sum(np.asarray(value_at(gradient, path)) * move) for path, move in moves.items())

    def along(s):
        moved = craft
        for path, move in moves.items():
            moved = replaced(moved, path, value_at(craft, path) + s * move)
        return weights @ trees.forward_dynamics(moved, q, v, force)

    numeric = (along(H) - along(-H)) / (2.0 * H)
    scale = sum(abs(np.sum(np.asarray(value_at(gradient, path)) * move)) for path, move in moves.items())
    assert abs(slope - numeric) < BY_DIFFERENCES * scale


def part_of(craft, name):
    return next(
        (group, k)
        for group in ("bodies", "joints", "wheels")
        for k, part in enumerate(getattr(craft, group))
        if part.name == name
    )


def value_at(craft, path):
    name, *fields = path.split(".")
    group, k = part_of(craft, name)
    found = getattr(craft, group)[k]
    for field in fields:
        found = getattr(found, field)
    return found


def replaced(craft, path, value):
    name, first, *rest = path.split(".")
    group, k = part_of(craft, name)
    parts = list(getattr(craft, group))
    if rest:
        value = dataclasses.replace(getattr(parts[k], first), **{rest[0]: value})
    parts[k] = dataclasses.replace(parts[k], **{first: value})
    return dataclasses.replace(craft, **{group: tuple(parts)})


# ---- linear models

linearise = compiled(analysis.linearise_free)
rate_of_deviation = compiled(deviation_rate)


@pytest.mark.parametrize("name", ["chain of 2", "small"])
def test_linear_model_equals_central_differences(rng, name):
    """1e-7 of the largest entry (issue 2)."""
    craft, _, v, force = draw(rng, name)
    state = dataclasses.replace(trees.draw_state(rng, craft), v=v)
    model = linearise(craft, state, force)
    origin = np.zeros(6 + craft.layout.nq + craft.layout.nv)
    A = differences(lambda dx: rate_of_deviation(craft, state, dx, force), origin)
    B = differences(lambda f: rate_of_deviation(craft, state, origin, f), force)
    trees.report(name, trees.relative_error(model.A, A), trees.relative_error(model.B, B))
    assert trees.relative_error(model.A, A) < BY_DIFFERENCES
    assert trees.relative_error(model.B, B) < BY_DIFFERENCES


# ---- symmetric positive definite systems


def draw_system(rng, size=8, columns=3, condition=1e3):
    """A matrix with that condition number, and right sides."""
    Q, _ = np.linalg.qr(rng.normal(size=(size, size)))
    A = Q @ np.diag(np.geomspace(1.0, condition, size)) @ Q.T
    return (A + A.T) / 2.0, rng.normal(size=(size, columns))


solve = compiled(dynamics.spd_solve)


def test_solution_of_one_and_of_several_right_sides(rng):
    """Rounding times the condition number: 1e3 * 1e-16 and some."""
    A, B = draw_system(rng)
    exact = np.linalg.solve(A, B)
    assert trees.relative_error(solve(A, B), exact) < 1e-12
    assert trees.relative_error(solve(A, B[:, 0]), exact[:, 0]) < 1e-12
    assert solve(A, np.zeros((8, 0))).shape == (8, 0)


def test_nearly_singular_systems_are_solved_as_well_as_can_be(rng):
    """Backward stable: whatever the condition number, the residual is rounding of |A| |x| (here up to 8 rows of it)."""
    for condition in (1e6, 1e10, 1e14):
        A, B = draw_system(rng, condition=condition)
        x = solve(A, B[:, 0])
        assert np.linalg.norm(A @ x - B[:, 0]) < 1e-14 * np.linalg.norm(A) * np.linalg.norm(x)


def test_a_singular_system_does_not_give_an_answer():
    """Two equal rows: no finite numbers come out that someone could take for a solution."""
    A = np.array([[2.0, 2.0], [2.0, 2.0]])
    assert not np.all(np.isfinite(solve(A, np.array([1.0, 0.0]))))


turned = compiled(
    lambda A, S, B, D: jax.jvp(lambda s: dynamics.spd_solve(A + s * S, B + s * D), (jnp.zeros(()),), (jnp.ones(()),))
)
pulled = compiled(lambda A, B, W: jax.grad(lambda A, B: jnp.sum(W * dynamics.spd_solve(A, B)), argnums=(0, 1))(A, B))


@pytest.mark.parametrize("columns", [None, 3])
def test_derivative_of_a_solution(rng, columns):
    """dx = A^-1 (db - dA x), forwards; and its transpose backwards."""
    A, B = draw_system(rng)
    S, _ = draw_system(rng, condition=10.0)
    D, W = rng.normal(size=B.shape), rng.normal(size=B.shape)
    if columns is None:
        B, D, W = B[:, 0], D[:, 0], W[:, 0]
    x, dx = turned(A, S, B, D)
    exact = np.linalg.solve(A, D - S @ np.linalg.solve(A, B))
    assert trees.relative_error(x, np.linalg.solve(A, B)) < 1e-12
    assert trees.relative_error(dx, exact) < 1e-11
    by_A, by_B = pulled(A, B, W)
    assert abs(np.sum(by_A * S) + np.sum(by_B * D) - np.sum(W * exact)) < 1e-11 * np.sum(np.abs(W * exact))
