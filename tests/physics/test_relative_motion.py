"""Relative dynamics as identities, on random trees with random nominal motions.

Equation numbers are those of the paper on relative dynamics (2021). Tolerances: 1e-9 relative where a mass matrix is
solved, else rounding; where a time step comes in, its order is measured.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import dynamics, engine
from freefloat.dynamics import FrameMotion, NominalMotion, RelativeMotion, TwofoldMotion
from freefloat.dynamics.state_steps import frame_rate, step_states
from freefloat.flex import beam
from freefloat.model import Spacecraft, State
from freefloat.spatial import Pose, angular, linear
from freefloat.values import ModelError
from support.trees import compiled_once, draw_pose, draw_state, draw_tree, forward_dynamics, relative_error, report

TREES = ("free body", "chain of 2", "small")


def draw_flexible(rng) -> Spacecraft:
    """A hub with a joint, a bending beam on it, and a wheel."""
    hub = Spacecraft.from_base("flexible", mass=30.0, inertia=(3.0, 4.0, 5.0), com=(0.1, 0.0, 0.2))
    panel = beam(length=2.0, mass=3.0, bending_stiffness=50.0, modes=2)
    craft = hub.mount(panel, name="panel", joint="revolute", at=draw_pose(rng))
    return craft.with_frame("hand", body="base", at=draw_pose(rng)).with_wheel("wheel", axis=(0, 0, 1), inertia=0.01)


def draw_craft(rng, name) -> tuple[Spacecraft, State]:
    if name == "flexible":
        craft = draw_flexible(rng)
        q, v = 0.1 * rng.normal(size=craft.layout.nq), rng.normal(size=craft.layout.nv)
        return craft, dataclasses.replace(craft.at_rest(q), p_NB=rng.normal(size=3), v=v)
    craft = draw_tree(rng, name)
    return craft, draw_state(rng, craft)


def draw_nominal(rng) -> NominalMotion:
    """Anywhere, moving and accelerating anyhow: nobody's free motion."""
    quat = rng.normal(size=4)
    return NominalMotion(rng.normal(size=3), quat / np.linalg.norm(quat), rng.normal(size=6), rng.normal(size=6))


def seen_from(nominal, state) -> State:
    return jax.tree.map(np.asarray, compiled_once(dynamics.relative_state)(nominal, state))


# ---- the Coriolis matrix


def mass_matrix_rate(craft, q, qdot):
    return jax.jvp(lambda q: dynamics.mass_matrix(craft, q), (q,), (qdot,))[1]


@pytest.mark.parametrize("name", [*TREES, "flexible"])
def test_coriolis_matrix_gives_the_bias_and_the_rate_of_the_mass_matrix(rng, name):
    """C v = h and C + C^T = Mdot, so that Mdot - 2 C is skew."""
    craft, state = draw_craft(rng, name)
    C = np.asarray(dynamics.coriolis_matrix(craft, state.q, state.v))
    assert relative_error(C @ state.v, dynamics.bias(craft, state.q, state.v)) < 1e-12
    qdot = state.v[np.array(craft.layout.coordinates, dtype=int)]
    Mdot = compiled_once(mass_matrix_rate)(craft, state.q, qdot)
    assert np.max(np.abs(C + C.T - Mdot)) < 1e-12 * np.max(np.abs(C))


def test_coriolis_matrix_of_a_body_about_its_centre_of_mass_has_the_paper_s_product():
    """C(V) V = -ad_V^T M V, and the printed [[m w^, 0], [0, -(I w)^]] has the same product."""
    craft = Spacecraft.from_base("body", mass=7.0, inertia=(1.0, 2.0, 2.5))
    V = np.array([0.3, -0.2, 0.5, 0.7, -0.4, 0.1])
    v, w = V[:3], V[3:]
    printed = np.r_[7.0 * np.cross(w, v), -np.cross(np.array([1.0, 2.0, 2.5]) * w, w)]
    C = np.asarray(dynamics.coriolis_matrix(craft, np.zeros(0), V))
    np.testing.assert_allclose(C @ V, printed, atol=1e-15)
    np.testing.assert_allclose(C, -C.T, atol=1e-15)


# ---- kinematics: (5)-(7), (15), (23), (29)


@pytest.mark.parametrize("name", ["branched 7", "flexible"])
def test_the_state_in_orbit_comes_back(rng, name):
    craft, state = draw_craft(rng, name)
    nominal = draw_nominal(rng)
    back = dynamics.absolute_state(nominal, seen_from(nominal, state))
    assert relative_error(back.p_NB, state.p_NB) < 1e-14
    assert relative_error(back.X_NB.R, state.X_NB.R) < 1e-14
    assert relative_error(back.v, state.v) < 1e-14
    np.testing.assert_array_equal(back.q, state.q)
    assert craft.layout.nv == len(back.v)


def relative_state_rate(craft, nominal, state, vdot):
    """The relative state and its rate, number by number, along both motions in orbit."""
    Z = State(nominal.position, nominal.quaternion, jnp.zeros(0), nominal.twist)
    Zdot = dynamics.component_rates(Z, frame_rate(Z, nominal.twist_rate))
    moving = dynamics.component_rates(state, dynamics.state_rate(craft, state, vdot))

    def relative(Z, state):
        return dynamics.relative_state(NominalMotion(Z.p_NB, Z.quat_NB, Z.v, jnp.zeros(6)), state)

    return jax.jvp(relative, (Z, state), (Zdot, moving))


@pytest.mark.parametrize("name", [*TREES, "flexible"])
def test_relative_acceleration_is_the_rate_of_the_relative_speeds(rng, name):
    """The map to the cell differentiated along both motions in orbit: nothing of eq. (7) or (18) is used for it."""
    craft, state = draw_craft(rng, name)
    nominal, force = draw_nominal(rng), rng.normal(size=craft.layout.nv)
    vdot = forward_dynamics(craft, state.q, state.v, force)
    seen, changing = compiled_once(relative_state_rate)(craft, nominal, state, vdot)
    ours = dynamics.relative_acceleration(craft, nominal, seen, force)
    assert relative_error(ours, changing.v) < 1e-9
    # And the pose changes by the relative twist: p' = R v.
    assert relative_error(np.asarray(seen.X_NB.R) @ linear(seen.V_NB), changing.p_NB) < 1e-12


@pytest.mark.parametrize("name", ["chain of 2", "flexible"])
def test_speeds_in_the_cell_are_bounded_within_reach(rng, name):
    """Eq. (29) with its condition: |DV| <= |V_NZ| + |p| |omega_NZ|; it grows with p, so reach must be bounded."""
    _, state = draw_craft(rng, name)
    nominal = draw_nominal(rng)
    for far in (0.1, 1.0, 100.0):
        seen = seen_from(nominal, dataclasses.replace(state, p_NB=nominal.position + far * np.array([0.6, 0.0, 0.8])))
        DV = np.asarray(dynamics.nominal_share(nominal, seen))
        spin = np.linalg.norm(angular(nominal.twist))
        bound = np.linalg.norm(nominal.twist) + np.linalg.norm(seen.p_NB) * spin
        assert np.linalg.norm(DV) <= bound
        assert np.linalg.norm(seen.V_NB) <= np.linalg.norm(state.V_NB) + np.linalg.norm(DV) + 1e-12
    assert np.linalg.norm(DV) > 0.1 * far * spin  # far out it does grow: no bound without the condition


def test_starts_that_contradict_each_other_are_refused_with_the_remedy(rng):
    """A robot at rest away from Z, while the client has the nominal twist: eq. (6) cannot hold."""
    craft = draw_tree(rng, "free body")
    client = craft.in_motion(velocity=(0.1, 0.0, 0.0), rate=(0.0, -0.04, 0.01))
    nominal = FrameMotion(client.p_NB, client.quat_NB, client.V_NB)
    at_rest = craft.at_rest()
    TwofoldMotion.start(nominal, [client], [at_rest])  # g_c = E and V_c = 0: the paper's start
    elsewhere = craft.at_rest(at=Pose(position=(1.0, 0.0, 0.5)))
    with pytest.raises(ModelError, match=r"eq\. 5.*placement on the left"):
        TwofoldMotion.start(nominal, [client], [elsewhere])
    # With g_n(0) so that the poses agree, V_t(0) = V_n(0) and V_c(0) = 0 contradict (6).
    X_NZ = client.X_NB @ elsewhere.X_NB.inverse()
    shifted = FrameMotion(np.asarray(X_NZ.p), client.quat_NB, client.V_NB)
    with pytest.raises(ModelError, match=r"eq\. 6.*placement on the left"):
        TwofoldMotion.start(shifted, [client], [elsewhere])


# ---- robots: (3), (8)-(10), (14), (16), (17), (20), (22)


def with_other_base(rng, craft) -> Spacecraft:
    """The same arm on a robot of its own inertia."""
    robot = craft.with_value("base.mass", 3.0 * craft.body("base").mass)
    return robot.with_value("base.inertia", 0.5 * np.asarray(craft.body("base").inertia) + 4.0 * np.eye(3))


@pytest.mark.parametrize("name", ["free body", "chain of 2", "branched 7"])
def test_a_robot_of_any_inertia_moves_as_the_relative_dynamics_say(rng, name):
    """Impedance form: (9), (16) corrected and (22) put into the robot's own equations (3), (14) and (20)."""
    craft, state = draw_craft(rng, name)
    robot, nominal, gravity = with_other_base(rng, craft), draw_nominal(rng), np.array([0.3, -0.2, -9.81])
    seen, torque = seen_from(nominal, state), rng.normal(size=craft.layout.nv - 6)
    touch = np.asarray(dynamics.generalized_force(craft, state.q, "hand", rng.normal(size=6)))
    thrust = np.r_[rng.normal(size=6), torque]
    wanted = dynamics.relative_acceleration(craft, nominal, seen, thrust + touch)
    for carrier in (robot, craft):
        wrench = dynamics.robot_wrench((craft, carrier), nominal, seen, thrust + touch, touch)
        arm = dynamics.arm_torque(craft, nominal, seen, torque, gravity).total
        weight = np.asarray(dynamics.gravity_force(craft, seen.q, np.asarray(seen.X_NB.R).T @ gravity))
        on_ground = np.r_[wrench, np.asarray(arm) + weight[6:]] + touch
        assert relative_error(forward_dynamics(carrier, seen.q, seen.v, on_ground), wanted) < 1e-9


def test_equal_inertias_give_the_admittance_forms_as_printed(rng):
    """M_s = M_b: eq. (17) term by term; and (10) for a body."""
    for name in ("free body", "branched 7"):
        craft, state = draw_craft(rng, name)
        nominal, force = draw_nominal(rng), rng.normal(size=craft.layout.nv)
        seen = seen_from(nominal, state)
        touch = np.asarray(dynamics.generalized_force(craft, state.q, "hand", rng.normal(size=6)))
        M_b = np.asarray(dynamics.mass_matrix(craft, seen.q))[:6, :6]
        coriolis = np.asarray(dynamics.bias(craft, seen.q, seen.v) - dynamics.bias(craft, state.q, state.v))[:6]
        printed = coriolis + force[:6] - M_b @ np.asarray(dynamics.nominal_share_rate(nominal, seen))
        ours = dynamics.robot_wrench((craft, craft), nominal, seen, force + touch, touch)
        assert relative_error(ours, printed) < 1e-9


def test_arm_torque_solved_with_all_equations_gives_the_arm_in_orbit(rng):
    """(13), (18), (20), (22) as one linear system for (Vdot_b, Vdot_s, qdd, tau_q): (19) holds, qdd is the orbit's."""
    craft, state = draw_craft(rng, "branched 7")
    n, nominal, gravity = craft.layout.nv - 6, draw_nominal(rng), np.array([0.0, 0.0, -9.81])
    seen = seen_from(nominal, state)
    torque, thrust = rng.normal(size=n), rng.normal(size=6)
    touch = np.asarray(dynamics.generalized_force(craft, state.q, "hand", rng.normal(size=6)))
    M = np.asarray(dynamics.mass_matrix(craft, seen.q))
    orbit, ground = (np.asarray(dynamics.bias(craft, seen.q, v)) for v in (state.v, seen.v))
    G = np.asarray(dynamics.gravity_force(craft, seen.q, np.asarray(seen.X_NB.R).T @ gravity))[6:]
    M_b, M_bq, M_q, E, O = M[:6, :6], M[:6, 6:], M[6:, 6:], np.eye(n), np.zeros
    DVdot = np.asarray(dynamics.nominal_share_rate(nominal, seen))
    A = np.block(
        [
            [M_b, O((6, 6)), M_bq, O((6, n))],  # (13)
            [O((6, 6)), M_b, M_bq, O((6, n))],  # (18)
            [O((n, 6)), M_bq.T, M_q, -E],  # (20)
            [M_bq.T, -M_bq.T, O((n, n)), E],  # (22)
        ]
    )
    base = thrust + touch[:6] - orbit[:6]
    b = np.concatenate([base, base - M_b @ DVdot, touch[6:] + G - ground[6:], torque - G + ground[6:] - orbit[6:]])
    Vdot_b, Vdot_s, qdd, tau_q = np.split(np.linalg.solve(A, b), (6, 12, 12 + n))
    # (19)
    assert relative_error(M_bq.T @ Vdot_b + M_q @ qdd + orbit[6:], torque + touch[6:]) < 1e-10
    in_orbit = forward_dynamics(craft, state.q, state.v, np.r_[thrust, torque] + touch)
    assert relative_error(np.r_[Vdot_b, qdd], in_orbit) < 1e-9
    both = dynamics.orbit_and_relative_acceleration(craft, nominal, state, seen, np.r_[thrust, torque] + touch)
    assert relative_error(np.r_[Vdot_s, qdd], both[1]) < 1e-9
    ours = dynamics.arm_torque(craft, nominal, seen, torque, gravity)
    assert relative_error(ours.total, tau_q) < 1e-9
    # The two Coriolis terms as they are written in (22), by the matrix C.
    C_s, C_b = (np.asarray(dynamics.coriolis_matrix(craft, seen.q, v))[6:] for v in (seen.v, state.v))
    assert relative_error(ours.joint_coriolis, (C_s - C_b)[:, 6:] @ seen.v[6:]) < 1e-11
    assert relative_error(ours.base_coriolis, C_s[:, :6] @ seen.v[:6] - C_b[:, :6] @ state.v[:6]) < 1e-11


def test_gravity_force_is_the_slope_of_the_potential(rng):
    """G = -dU/dq, U = -m g . p_C, with gravity fixed in the cell."""
    craft, state = draw_craft(rng, "branched 7")
    gravity, R = np.array([0.5, -0.3, -9.7]), np.asarray(state.X_NB.R)
    ours = dynamics.gravity_force(craft, state.q, R.T @ gravity)
    slope = compiled_once(jax.jacfwd(dynamics.centre_of_mass, argnums=1))(craft, state.q)
    assert relative_error(ours[6:], craft.mass * gravity @ R @ slope) < 1e-12
    assert relative_error(ours[:3], craft.mass * R.T @ gravity) < 1e-14


# ---- energy: (25)-(28)


def test_energy_of_the_client_from_the_cell_changes_by_the_power_of_what_pushes(rng):
    """W_c = (V_c + DV)^T M (V_c + DV) / 2 along the relative dynamics: dW_c/dt = V_t . F_t, none without a force."""
    craft, state = draw_craft(rng, "free body")
    M, nominal = np.asarray(dynamics.mass_matrix(craft, state.q)), draw_nominal(rng)
    seen = seen_from(nominal, state)
    V_t = seen.v + np.asarray(dynamics.nominal_share(nominal, seen))
    assert relative_error(V_t, state.v) < 1e-14
    for force in (rng.normal(size=6), np.zeros(6)):
        vdot = np.asarray(dynamics.relative_acceleration(craft, nominal, seen, force))
        rate = V_t @ M @ (vdot + np.asarray(dynamics.nominal_share_rate(nominal, seen)))
        assert abs(rate - V_t @ force) < 1e-11 * np.abs(V_t) @ np.abs(M) @ np.abs(V_t)


def test_power_between_tool_and_grasp_is_the_same_in_the_cell_only_where_they_coincide(rng):
    """(27) to (28): V_b, qd and V_t against V_a - V_c in the cell; exact at one point, off by DV elsewhere."""
    servicer, state = draw_craft(rng, "branched 7")
    client = draw_tree(rng, "free body")
    nominal, wrench = draw_nominal(rng), rng.normal(size=6)
    tool = dynamics.inertial_frame_pose(servicer, state, "hand")
    twist = np.asarray(dynamics.frame_twist(servicer, state.q, state.v, "hand"))
    for offset, coincide in ((Pose(), True), (Pose(position=(0.0, 0.1, 0.0)), False)):
        grasp = client.frame("hand").X_BF
        X_NT = tool @ offset @ grasp.inverse()
        at_grasp = State(np.asarray(X_NT.p), np.asarray(X_NT.quaternion), np.zeros(0), rng.normal(size=6))
        # In orbit: power of F_e on the tool and of -F_e on the client at its grasp frame.
        in_orbit = (twist - np.asarray(grasp.twist_to_B(at_grasp.v))) @ wrench
        ours, theirs = seen_from(nominal, state), seen_from(nominal, at_grasp)
        V_a = np.asarray(dynamics.frame_twist(servicer, ours.q, ours.v, "hand"))
        in_cell = (V_a - np.asarray(grasp.twist_to_B(theirs.v))) @ wrench
        error = abs(in_cell - in_orbit) / abs(in_orbit)
        report("coincide" if coincide else "apart", error)
        assert error < 1e-12 if coincide else error > 1e-3


# ---- integrated


def test_relative_to_any_nominal_motion_the_motion_in_orbit_is_the_same(rng):
    """A nominal motion that nobody flies: its twist wanders as a sine. Differences shrink with the fourth order."""
    craft, state = draw_craft(rng, "chain of 2")
    state = dataclasses.replace(state, v=0.3 * state.v)
    swing, force = 0.4 * rng.normal(size=6), rng.normal(size=craft.layout.nv)
    quat = np.array([1.0, 0.0, 0.0, 0.0])
    nominal = FrameMotion(np.zeros(3), quat, 0.2 * rng.normal(size=6))

    def nominal_rate(motion, t):
        return swing * jnp.cos(3.0 * t)

    def loads(states, t):
        return [force * jnp.sin(2.0 * t + states[0].q[0])]

    def orbit(motion, dt):
        def rates(states, t):
            vdot = dynamics.forward_dynamics(craft, states[0].q, states[0].v, loads(states, t)[0])
            return (dynamics.state_rate(craft, states[0], vdot),)

        return RelativeMotion(motion.time + dt, motion.nominal, step_states(rates, motion.states, motion.time, dt))

    first = RelativeMotion.start(nominal, [state])
    unmoved = RelativeMotion(first.time, first.nominal, (state,))
    cell = engine.compile(
        lambda m, dt: dynamics.relative_step([craft], nominal_rate, loads, m, dt), first, np.zeros(())
    )
    above = engine.compile(orbit, unmoved, np.zeros(()))

    def apart(dt):
        steps = round(1.0 / dt)
        end = cell.rollout(first, np.float64(dt), steps=steps).state
        there = above.rollout(unmoved, np.float64(dt), steps=steps).state.states[0]
        Z = NominalMotion(end.nominal.p_NB, end.nominal.quat_NB, end.nominal.v, np.zeros(6))
        back = dynamics.absolute_state(Z, end.states[0])
        return max(relative_error(back.p_NB, there.p_NB), relative_error(back.v, there.v))

    errors = [apart(dt) for dt in (0.02, 0.01, 0.001)]
    report(errors)
    assert 10.0 < errors[0] / errors[1] < 30.0
    assert errors[2] < 1e-9
