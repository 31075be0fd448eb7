"""Identities that hold between the functions of `dynamics` on any tree, for any numbers.

Unless a test says otherwise: 1e-11 of the largest entry. The quantities are sums of some hundred products in float64
(1e-14); where a system with the mass matrix is solved, its condition number (up to 1e4 here) takes digits.
"""

import dataclasses
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import dynamics
from freefloat.model import State
from freefloat.spatial.rotations import quaternion_multiply
from support import trees
from support.compiling import compiled

TOLERANCE = 1e-11
NAMES = ("chain of 6", "branched 7", "wheels")
every_topology = pytest.mark.parametrize("name", NAMES)


def draw(rng, name):
    """A tree, its q and v, and two more vectors of the size of v."""
    craft = trees.draw_tree(rng, name)
    q, v = trees.draw_configuration(rng, craft), trees.draw_speeds(rng, craft)
    return craft, q, v, rng.normal(size=v.size), 5.0 * rng.normal(size=v.size)


by_mass_matrix = compiled(dynamics.forward_dynamics_by_mass_matrix)
generalized_force_at_hand = compiled(lambda c, q, wrench: dynamics.generalized_force(c, q, "hand", wrench))


@every_topology
def test_forward_dynamics_undoes_inverse_dynamics(rng, name):
    craft, q, v, vdot, _ = draw(rng, name)
    force = trees.inverse_dynamics(craft, q, v, vdot)
    assert trees.relative_error(trees.forward_dynamics(craft, q, v, force), vdot) < TOLERANCE


@every_topology
def test_articulated_bodies_agree_with_the_mass_matrix(rng, name):
    craft, q, v, _, force = draw(rng, name)
    ours, other = trees.forward_dynamics(craft, q, v, force), by_mass_matrix(craft, q, v, force)
    assert trees.relative_error(ours, other) < TOLERANCE


@every_topology
def test_inverse_dynamics_is_mass_matrix_times_acceleration_plus_bias(rng, name):
    craft, q, v, vdot, _ = draw(rng, name)
    total = trees.mass_matrix(craft, q) @ vdot + trees.bias(craft, q, v)
    assert trees.relative_error(trees.inverse_dynamics(craft, q, v, vdot), total) < TOLERANCE


@every_topology
def test_mass_matrix_is_the_metric_of_kinetic_energy_and_holds_the_momentum(rng, name):
    craft, q, v, _, _ = draw(rng, name)
    M = trees.mass_matrix(craft, q)
    assert np.array_equal(M, M.T)
    assert np.linalg.eigvalsh(M)[0] > 0.0
    assert trees.relative_error(trees.kinetic_energy(craft, q, v), 0.5 * v @ M @ v) < TOLERANCE
    assert trees.relative_error(trees.momentum_about_base(craft, q, v), M[:6] @ v) < TOLERANCE


def test_bias_is_quadratic_in_the_speeds(rng):
    """Twice the speeds, four times the bias, exactly to rounding; and none at rest."""
    craft, q, v, _, _ = draw(rng, "branched 7")
    assert trees.relative_error(trees.bias(craft, q, 2.0 * v), 4.0 * trees.bias(craft, q, v)) < 1e-14
    assert not np.any(trees.bias(craft, q, 0.0 * v))


# ---- energy and momentum along the motion


@compiled
def power_two_ways(craft, q, v, force):
    """Rate of the kinetic energy along the flow, and the power of the forces."""
    vdot = dynamics.forward_dynamics(craft, q, v, force)
    joint_rates = v[np.array(craft.layout.joint_velocities, dtype=int)]
    _, rate = jax.jvp(lambda q, v: dynamics.kinetic_energy(craft, q, v), (q, v), (joint_rates, vdot))
    return rate, force @ v


@every_topology
def test_kinetic_energy_changes_by_the_power_of_the_forces(rng, name):
    craft, q, v, _, force = draw(rng, name)
    rate, power = power_two_ways(craft, q, v, force)
    scale = np.sum(np.abs(force * v))  # the power is a sum with both signs
    assert abs(rate - power) < TOLERANCE * scale


def test_the_bias_does_work_when_its_sign_is_wrong(rng):
    """Negative control: M vdot = force + bias (sign flipped) would miss the power by the order of the power itself."""
    craft, q, v, _, force = draw(rng, "chain of 6")
    M, h = trees.mass_matrix(craft, q), trees.bias(craft, q, v)
    rate, power = power_two_ways(craft, q, v, force)
    flipped = rate + v @ M @ np.linalg.solve(M, 2.0 * h)
    assert abs(flipped - power) > 1e-2 * np.sum(np.abs(force * v))


def flow(craft, state, force):
    """Tangent of a state along its motion."""
    spin = jnp.concatenate([jnp.zeros(1), state.v[3:6]])
    return State(
        p_NB=state.X_NB.R @ state.v[:3],
        quat_NB=0.5 * quaternion_multiply(state.quat_NB, spin),
        q=state.v[np.array(craft.layout.joint_velocities, dtype=int)],
        v=dynamics.forward_dynamics(craft, state.q, state.v, force),
    )


@compiled
def momentum_rates(craft, state, force, wrench):
    """Rates of (P, L_0), of the wheels' momentum and of L_b in N axes, under internal forces and a wrench on the hand;
    and that wrench about the inertial origin."""
    total = jnp.asarray(force).at[:6].set(0.0) + dynamics.generalized_force(craft, state.q, "hand", wrench)
    tangent = flow(craft, state, total)

    def momenta(state):
        P_L = dynamics.momentum_about_origin(craft, state)
        about_base = state.X_NB.R @ dynamics.momentum_about_base(craft, state.q, state.v)[3:]
        return P_L, dynamics.wheel_momentum(craft, state.q, state.v), about_base

    (P_L, _, _), rates = jax.jvp(momenta, (state,), (tangent,))
    outside = dynamics.inertial_frame_pose(craft, state, "hand").wrench_to_A(wrench)
    return P_L, rates, outside, total


@every_topology
def test_momentum_changes_by_external_wrenches_only(rng, name):
    """The internal forces are of the order of 5 N m, so they are the scale on which nothing may remain."""
    craft, _, _, _, force = draw(rng, name)
    state = trees.draw_state(rng, craft)
    _, (rate, _, _), outside, _ = momentum_rates(craft, state, force, rng.normal(size=6))
    scale = np.max(np.abs(outside)) + np.max(np.abs(trees.bias(craft, state.q, state.v)))
    assert np.max(np.abs(rate - outside)) < TOLERANCE * scale


def test_momentum_of_a_wheel_changes_by_its_motor_only(rng):
    craft, _, _, _, force = draw(rng, "wheels")
    state = trees.draw_state(rng, craft)
    _, (_, rate, _), _, total = momentum_rates(craft, state, force, rng.normal(size=6))
    assert trees.relative_error(rate, total[list(craft.layout.wheel_velocities)]) < TOLERANCE


def test_momentum_about_the_moving_base_is_not_constant(rng):
    """Negative control: without external wrenches dL_b/dt = -v_b x P, which is not zero when the whole drifts."""
    craft, _, _, _, force = draw(rng, "chain of 6")
    state = trees.draw_state(rng, craft)
    P_L, (rate, _, rate_about_base), _, _ = momentum_rates(craft, state, force, np.zeros(6))
    expected = -np.cross(np.asarray(state.X_NB.R) @ state.v[:3], P_L[:3])
    scale = np.max(np.abs(trees.bias(craft, state.q, state.v)))
    assert np.max(np.abs(rate_about_base - expected)) < TOLERANCE * scale
    assert np.max(np.abs(rate)) < TOLERANCE * scale
    assert np.max(np.abs(rate_about_base)) > 1e-2 * np.max(np.abs(P_L))


@every_topology
def test_a_wrench_does_the_same_work_as_its_generalised_force(rng, name):
    craft, q, v, _, _ = draw(rng, name)
    wrench = rng.normal(size=6)
    force = generalized_force_at_hand(craft, q, wrench)
    twist = trees.at_frame(dynamics.frame_twist, "hand")(craft, q, v)
    assert abs(force @ v - wrench @ twist) < TOLERANCE * np.sum(np.abs(wrench * twist))


# ---- hybrid dynamics

PRESCRIBED = {"chain of 6": ("joint2", "joint5"), "branched 7": ("joint4", "joint1"), "wheels": ("joint2", "wheel2")}


@cache
def hybrid_of(name):
    """`hybrid_dynamics` and `impose_rates` for the prescribed joints of a topology, compiled."""
    names = PRESCRIBED[name]
    return (
        compiled(lambda craft, q, v, force, a: dynamics.hybrid_dynamics(craft, q, v, force, names, a)),
        compiled(lambda craft, q, v, rates: dynamics.impose_rates(craft, q, v, names, rates)),
    )


@every_topology
def test_prescribed_accelerations_give_back_the_torques(rng, name):
    """Forward dynamics under known torques; then its accelerations prescribed, those torques unknown: found again."""
    craft, q, v, _, force = draw(rng, name)
    hybrid, _ = hybrid_of(name)
    given = list(craft.layout.indices(PRESCRIBED[name]))
    vdot = trees.forward_dynamics(craft, q, v, force)
    unknown = force.copy()
    unknown[given] = np.nan  # must not be looked at
    found_vdot, found_force = hybrid(craft, q, v, unknown, vdot[given])
    assert trees.relative_error(found_vdot, vdot) < TOLERANCE
    assert trees.relative_error(found_force, force) < TOLERANCE


@every_topology
def test_torques_found_for_prescribed_accelerations_cause_them(rng, name):
    craft, q, v, _, force = draw(rng, name)
    hybrid, _ = hybrid_of(name)
    given = list(craft.layout.indices(PRESCRIBED[name]))
    wanted = rng.normal(size=len(given))
    vdot, needed = hybrid(craft, q, v, force, wanted)
    assert trees.relative_error(trees.forward_dynamics(craft, q, v, needed), vdot) < TOLERANCE
    assert np.array_equal(vdot[given], wanted)
    others = np.setdiff1d(np.arange(v.size), given)
    assert np.array_equal(needed[others], force[others])


@every_topology
def test_imposed_rates_keep_the_momentum_of_the_free_coordinates(rng, name):
    craft, q, v, _, _ = draw(rng, name)
    _, impose = hybrid_of(name)
    given = list(craft.layout.indices(PRESCRIBED[name]))
    rates = rng.normal(size=len(given))
    after = impose(craft, q, v, rates)
    M = trees.mass_matrix(craft, q)
    free = np.setdiff1d(np.arange(v.size), given)
    assert np.array_equal(after[given], rates)
    assert trees.relative_error((M @ after)[free], (M @ v)[free]) < TOLERANCE
    # The base is free, so the whole keeps (P, L).
    before_after = [trees.momentum_about_base(craft, q, speeds) for speeds in (v, after)]
    assert trees.relative_error(*before_after) < TOLERANCE


def test_imposing_the_rates_that_are_there_changes_nothing(rng):
    craft, q, v, _, _ = draw(rng, "branched 7")
    _, impose = hybrid_of("branched 7")
    given = list(craft.layout.indices(PRESCRIBED["branched 7"]))
    assert np.array_equal(impose(craft, q, v, v[given]), v)


# ---- a base that is held, or moved as wished

held = compiled(dynamics.held_dynamics)


@compiled
def momentum_rate(craft, q, v, vdot):
    """Rate of the momentum about a base that is at rest."""
    qdot = v[np.array(craft.layout.joint_velocities, dtype=int)]
    return jax.jvp(lambda q, v: dynamics.momentum_about_base(craft, q, v), (q, v), (qdot, vdot))[1]


@every_topology
def test_the_stand_holds_against_the_rate_of_momentum(rng, name):
    """The arm loses the momentum that the stand takes: the wrench on the base is the rate of the momentum of all."""
    craft, q, v, _, force = draw(rng, name)
    v[:6] = 0.0
    vdot, found = held(craft, q, v, force)
    assert not np.any(vdot[:6])
    assert np.array_equal(found[6:], force[6:])
    assert trees.relative_error(found[:6], momentum_rate(craft, q, v, vdot)) < TOLERANCE
    assert trees.relative_error(trees.forward_dynamics(craft, q, v, found), vdot) < TOLERANCE


@cache
def with_the_base_of(name, everything):
    """`hybrid_dynamics` and `impose_rates` with the base prescribed, and everything else too."""
    layout = trees.draw_tree(np.random.default_rng(0), name).layout
    names = ("base", *layout.moving_joints, *layout.wheels) if everything else ("base",)
    return (
        np.array(layout.indices(names)),
        compiled(lambda craft, q, v, force, a: dynamics.hybrid_dynamics(craft, q, v, force, names, a)),
        compiled(lambda craft, q, v, rates: dynamics.impose_rates(craft, q, v, names, rates)),
    )


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("name", ["chain of 6", "wheels", "free body"])
def test_the_base_can_be_prescribed_and_so_can_everything(rng, name, everything):
    craft, q, v, wanted, force = draw(rng, name)
    given, hybrid, impose = with_the_base_of(name, everything)
    free = np.setdiff1d(np.arange(v.size), given)
    vdot, found = hybrid(craft, q, v, force, wanted[given])
    assert np.array_equal(vdot[given], wanted[given])
    assert np.array_equal(found[free], force[free])
    back = trees.inverse_dynamics(craft, q, v, vdot)
    scale = np.max(np.abs(back)) + np.max(np.abs(trees.bias(craft, q, v)))
    assert np.max(np.abs(back - found)) < TOLERANCE * scale
    after = impose(craft, q, v, wanted[given])
    M = trees.mass_matrix(craft, q)
    assert np.array_equal(after[given], wanted[given])
    assert np.max(np.abs(M @ (after - v))[free], initial=0.0) < TOLERANCE * np.max(np.abs(M @ v))


# ---- invariance under scaling


def test_more_mass_everywhere_is_more_force(rng):
    """All masses and inertias times 7, all forces times 7: the same acceleration."""
    craft, q, v, _, force = draw(rng, "branched 7")
    heavy = dataclasses.replace(
        craft,
        bodies=tuple(
            dataclasses.replace(body, mass=7.0 * body.mass, inertia=7.0 * body.inertia) for body in craft.bodies
        ),
    )
    light, same = trees.forward_dynamics(craft, q, v, force), trees.forward_dynamics(heavy, q, v, 7.0 * force)
    assert trees.relative_error(same, light) < TOLERANCE
