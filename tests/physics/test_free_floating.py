"""The free-floating matrices of Yoshida 2003, eq. 1-9, against the sums of the paper written out body by body.

The sums here start from poses by SciPy's rotations and use nothing of `dynamics`. Tolerance 1e-12 of the largest
entry: sums of some hundred products. Where a system with H_b is solved (condition up to 1e3): 1e-11.
"""

from dataclasses import dataclass

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from freefloat import dynamics
from support import trees
from support.compiling import compiled

SUMS = 1e-12
SOLVED = 1e-11
NAMES = ("chain of 6", "branched 7", "wheels")
every_topology = pytest.mark.parametrize("name", NAMES)


def cross(a):
    """Matrix of the cross product."""
    return np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])


@dataclass
class Sums:
    """Eq. 1 in N axes, the base origin at the inertial origin: everything as sums over bodies."""

    mass: float
    r_0g: np.ndarray
    H_b: np.ndarray
    H_bm: np.ndarray
    H_m: np.ndarray
    H_bw: np.ndarray
    J_m: np.ndarray  # of the hand
    r_h: np.ndarray
    H_tilde_b: np.ndarray
    H_tilde_bm: np.ndarray


def written_out(craft, q, R_NB) -> Sums:
    moving = craft.layout.moving_joints
    count, bodies = len(moving), craft.bodies
    R, o = [R_NB], [np.zeros(3)]  # attitude and origin of each body
    above = [[]]  # of each body: the moving joints that carry it, as (column, kind, axis, point)
    for joint in craft.joints:
        p = craft.body_index(joint.parent)
        R_joint = R[p] @ np.asarray(joint.X_PJ.R)
        point = o[p] + R[p] @ np.asarray(joint.X_PJ.p)
        k = R_joint @ np.asarray(joint.axis)
        carried = list(above[p])
        if joint.kind == "fixed":
            R.append(R_joint), o.append(point)
        else:
            value = q[moving.index(joint.name)]
            carried.append((moving.index(joint.name), joint.kind, k, point))
            turns = joint.kind == "revolute"
            R.append(R_joint @ Rotation.from_rotvec(value * np.asarray(joint.axis)).as_matrix() if turns else R_joint)
            o.append(point if turns else point + value * k)
        above.append(carried)

    def jacobian(joints, point):
        J_T, J_R = np.zeros((3, count)), np.zeros((3, count))
        for column, kind, k, joint_point in joints:
            if kind == "revolute":
                J_T[:, column], J_R[:, column] = np.cross(k, point - joint_point), k
            else:
                J_T[:, column] = k
        return J_T, J_R

    M = sum(body.mass for body in bodies)
    r = [o_i + R_i @ np.asarray(body.com) for o_i, R_i, body in zip(o, R, bodies, strict=True)]
    r_0g = sum(body.mass * r_i for body, r_i in zip(bodies, r, strict=True)) / M
    H_w, J_Tw, H_wq, H_m = np.zeros((3, 3)), np.zeros((3, count)), np.zeros((3, count)), np.zeros((count, count))
    for body, R_i, r_i, joints in zip(bodies, R, r, above, strict=True):
        m, I = body.mass, R_i @ np.asarray(body.inertia) @ R_i.T
        J_T, J_R = jacobian(joints, r_i)
        H_w += I - m * cross(r_i) @ cross(r_i)
        J_Tw += m * J_T
        H_wq += I @ J_R + m * cross(r_i) @ J_T
        H_m += J_R.T @ I @ J_R + m * J_T.T @ J_T
    axes = [R[craft.body_index(w.body)] @ np.asarray(w.axis) * w.inertia for w in craft.wheels]
    hand = craft.frame("hand")
    at = craft.body_index(hand.body)
    r_h = o[at] + R[at] @ np.asarray(hand.X_BF.p)
    return Sums(
        mass=M,
        r_0g=r_0g,
        H_b=np.block([[M * np.eye(3), -M * cross(r_0g)], [M * cross(r_0g), H_w]]),
        H_bm=np.vstack([J_Tw, H_wq]),
        H_m=H_m,
        H_bw=np.array([np.concatenate([np.zeros(3), a]) for a in axes]).reshape(-1, 6).T,
        J_m=np.vstack(jacobian(above[at], r_h)),
        r_h=r_h,
        H_tilde_b=H_w + M * cross(r_0g) @ cross(r_0g),
        H_tilde_bm=H_wq - cross(r_0g) @ J_Tw,
    )


@compiled
def of_the_package(craft, q, R_NB):
    body = dynamics.free_floating(craft, q, R_NB)
    return (
        body,
        body.angular_inertia,
        body.angular_coupling,
        dynamics.base_jacobian(craft, q, "hand", R_NB),
        dynamics.joint_jacobian(craft, q, "hand", R_NB),
        dynamics.generalized_jacobian(craft, q, "hand", R_NB),
        dynamics.reaction_null_space(craft, q),
    )


def draw(rng, name):
    craft = trees.draw_tree(rng, name)
    return craft, trees.draw_configuration(rng, craft), trees.draw_rotation(rng)


@every_topology
def test_matrices_equal_the_sums_of_the_paper(rng, name):
    craft, q, R_NB = draw(rng, name)
    sums = written_out(craft, q, R_NB)
    body, angular_inertia, angular_coupling, J_b, J_m, _, _ = of_the_package(craft, q, R_NB)
    assert trees.relative_error(body.mass, sums.mass) < SUMS
    assert trees.relative_error(body.com, sums.r_0g) < SUMS  # with its sign
    assert trees.relative_error(body.H_b, sums.H_b) < SUMS
    assert trees.relative_error(body.H_bm, sums.H_bm) < SUMS
    assert trees.relative_error(body.H_m, sums.H_m) < SUMS
    assert trees.relative_error(body.H_bw, sums.H_bw) < SUMS
    assert trees.relative_error(angular_inertia, sums.H_tilde_b) < SUMS
    assert trees.relative_error(angular_coupling, sums.H_tilde_bm) < SUMS
    assert trees.relative_error(J_m, sums.J_m) < SUMS
    assert trees.relative_error(J_b, np.block([[np.eye(3), -cross(sums.r_h)], [np.zeros((3, 3)), np.eye(3)]])) < SUMS


def test_the_sign_of_the_centre_of_mass_would_be_noticed(rng):
    """Negative control: r_0g with the other sign changes H_b at first order; H~_b, even in it, would not show it."""
    craft, q, R_NB = draw(rng, "chain of 6")
    sums = written_out(craft, q, R_NB)
    body, *_ = of_the_package(craft, q, R_NB)
    assert trees.relative_error(-body.com, sums.r_0g) > 1.0
    wrong = np.block(
        [[sums.mass * np.eye(3), sums.mass * cross(sums.r_0g)], [-sums.mass * cross(sums.r_0g), sums.H_b[3:, 3:]]]
    )
    assert trees.relative_error(body.H_b, wrong) > 1e-2


@every_topology
def test_generalised_jacobian_is_eq_6(rng, name):
    craft, q, R_NB = draw(rng, name)
    sums = written_out(craft, q, R_NB)
    *_, J_g, _ = of_the_package(craft, q, R_NB)
    J_b = np.block([[np.eye(3), -cross(sums.r_h)], [np.zeros((3, 3)), np.eye(3)]])
    assert trees.relative_error(J_g, sums.J_m - J_b @ np.linalg.solve(sums.H_b, sums.H_bm)) < SOLVED


base_twist = compiled(
    lambda c, q, R_NB, rates, momentum, wheels: dynamics.free_floating(c, q, R_NB).base_twist(rates, momentum, wheels)
)
drift_twist = compiled(lambda c, q, R_NB, momentum, wheels: dynamics.drift_twist(c, q, "hand", momentum, wheels, R_NB))
inertial_hand_twist = trees.at_frame(dynamics.inertial_frame_twist, "hand")


@every_topology
def test_base_twist_follows_eq_4_with_momentum_and_wheels(rng, name):
    """w_b = H~_b^-1 (L_g - H~_bm qdot - h_w), v_b = P/M + r_0g x w_b - J_Tw qdot / M, for any momentum."""
    craft, q, R_NB = draw(rng, name)
    sums = written_out(craft, q, R_NB)
    rates, wheels = rng.normal(size=len(q)), 300.0 * rng.normal(size=len(craft.wheels))
    P, L_b = 20.0 * rng.normal(size=3), 20.0 * rng.normal(size=3)
    L_g = L_b - np.cross(sums.r_0g, P)
    h_w = sums.H_bw[3:] @ wheels
    w_b = np.linalg.solve(sums.H_tilde_b, L_g - sums.H_tilde_bm @ rates - h_w)
    v_b = P / sums.mass + np.cross(sums.r_0g, w_b) - sums.H_bm[:3] @ rates / sums.mass
    ours = base_twist(craft, q, R_NB, rates, np.concatenate([P, L_b]), wheels)
    assert trees.relative_error(ours, np.concatenate([v_b, w_b])) < SOLVED


@every_topology
def test_hand_moves_by_generalised_jacobian_and_drift(rng, name):
    """Eq. 7 read forwards: at any momentum, with wheels turning, the hand's twist is J_g qdot + drift."""
    craft, _, _ = draw(rng, name)
    state = trees.draw_state(rng, craft)
    R_NB = np.asarray(state.X_NB.R)
    about_base = trees.momentum_about_base(craft, state.q, state.v)
    momentum = np.concatenate([R_NB @ about_base[:3], R_NB @ about_base[3:]])
    rates = state.v[list(craft.layout.joint_velocities)]
    wheels = state.v[list(craft.layout.wheel_velocities)]
    *_, J_g, _ = of_the_package(craft, state.q, R_NB)
    drift = drift_twist(craft, state.q, R_NB, momentum, wheels)
    exact = inertial_hand_twist(craft, state)
    # The wheels' momentum is hundreds of times that of the hand's motion: it cancels, and takes digits along.
    scale = np.max(np.abs(exact)) + np.max(np.abs(J_g @ rates)) + np.max(np.abs(drift))
    assert np.max(np.abs(J_g @ rates + drift - exact)) < SOLVED * scale
    assert np.max(np.abs(drift)) > 1e-2  # and it is not nothing


def test_wheels_count_in_the_drift(rng):
    """Negative control: leaving out h_w misses by what the wheels hold."""
    craft, q, R_NB = draw(rng, "wheels")
    wheels = 300.0 * rng.normal(size=len(craft.wheels))
    momentum = rng.normal(size=6)
    ours = drift_twist(craft, q, R_NB, momentum, wheels)
    assert trees.relative_error(drift_twist(craft, q, R_NB, momentum, 0.0 * wheels), ours) > 1e-2


# ---- the reaction null space


@pytest.mark.parametrize("name", ["chain of 6", "branched 7"])
def test_reaction_null_space(rng, name):
    """An orthogonal projector of rank n - 3 whose moves leave the base's attitude alone (eq. 8, 9).

    H~ H~^T is solved, so the condition number of H~ (up to 100) enters squared: 1e-10."""
    craft, q, R_NB = draw(rng, name)
    _, _, H, _, _, _, N = of_the_package(craft, q, np.eye(3))
    n = len(q)
    assert np.max(np.abs(N - N.T)) < 1e-10
    assert np.max(np.abs(N @ N - N)) < 1e-10
    assert np.linalg.matrix_rank(N, tol=1e-6) == n - 3
    assert np.trace(N) == pytest.approx(n - 3, abs=1e-9)
    rates = N @ rng.normal(size=n)
    assert np.linalg.norm(rates) > 1e-2
    assert np.max(np.abs(H @ rates)) < 1e-10 * np.max(np.abs(H))
    # What it means: at zero momentum the base does not turn, though it moves.
    twist = base_twist(craft, q, R_NB, rates, np.zeros(6), np.zeros(0))
    assert np.max(np.abs(twist[3:])) < 1e-10
    assert np.max(np.abs(twist[:3])) > 1e-4
    # The rest of joint space does turn it.
    turning = base_twist(craft, q, R_NB, rng.normal(size=n) - rates, np.zeros(6), np.zeros(0))
    assert np.max(np.abs(turning[3:])) > 1e-4


def test_reaction_null_space_with_momentum(rng):
    """With L_g the base turns as if frozen: w_b = H~_b^-1 L_g, whatever moves the null space makes."""
    craft, q, R_NB = draw(rng, "chain of 6")
    sums = written_out(craft, q, R_NB)
    *_, N = of_the_package(craft, q, R_NB)
    momentum = rng.normal(size=6)
    twist = base_twist(craft, q, R_NB, N @ rng.normal(size=len(q)), momentum, np.zeros(0))
    frozen = np.linalg.solve(sums.H_tilde_b, momentum[3:] - np.cross(sums.r_0g, momentum[:3]))
    assert trees.relative_error(twist[3:], frozen) < 1e-9
