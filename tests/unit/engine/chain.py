"""A serial arm on a fixed base, in ordinary vector-style JAX: a function as large as real dynamics."""

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np

JOINTS = 3
AXES = np.eye(3)[[2, 1, 0]]
OFFSET = np.array([0.1, 0.0, 0.4])  # [m] from joint to joint
CENTRE = np.array([0.02, 0.01, 0.2])  # [m] from joint to centre of mass
INERTIA = np.diag([0.3, 0.32, 0.05])  # [kg m^2] about the centre of mass
MASS = 4.0  # [kg]


def rotation(axis, angle):
    """Rodrigues' formula, child to parent."""
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    return np.eye(3) + jnp.sin(angle) * K + (1 - jnp.cos(angle)) * (K @ K)


def inverse_dynamics(q, v, a):
    """Joint torques of given accelerations by the recursive Newton-Euler passes."""
    w = wd = acc = jnp.zeros(3)
    forces, frames = [], []
    for k in range(JOINTS):
        R = rotation(AXES[k], q[k])
        acc = R.T @ (acc + jnp.cross(wd, OFFSET) + jnp.cross(w, jnp.cross(w, OFFSET)))
        wd = R.T @ wd + AXES[k] * a[k] + jnp.cross(R.T @ w, AXES[k] * v[k])
        w = R.T @ w + AXES[k] * v[k]
        force = MASS * (acc + jnp.cross(wd, CENTRE) + jnp.cross(w, jnp.cross(w, CENTRE)))
        moment = INERTIA @ wd + jnp.cross(w, INERTIA @ w) + jnp.cross(CENTRE, force)
        forces.append((force, moment))
        frames.append(R)
    torques, f, n = [None] * JOINTS, jnp.zeros(3), jnp.zeros(3)
    for k in range(JOINTS - 1, -1, -1):
        f, n = f + forces[k][0], n + forces[k][1]
        torques[k] = AXES[k] @ n
        f, n = frames[k] @ f, frames[k] @ n
        n = n + jnp.cross(OFFSET, f)
    return jnp.stack(torques)


def forward_dynamics(q, v, tau):
    """Joint accelerations: mass matrix by differentiation, then a Cholesky solve."""
    bias = inverse_dynamics(q, v, jnp.zeros(JOINTS))
    M = jax.jacfwd(lambda a: inverse_dynamics(q, v, a))(jnp.zeros(JOINTS))
    return jsl.cho_solve(jsl.cho_factor((M + M.T) / 2), tau - bias)


def step(state, tau):
    """One Runge-Kutta step of the arm, with a counter."""
    h = 1e-3  # [s]
    q0, v0 = state["q"], state["v"]

    def stage(carry, weights):
        q, v, dq, dv = carry
        a = forward_dynamics(q, v, tau)
        q1, v1 = q0 + weights[0] * h * v, v0 + weights[0] * h * a
        return (q1, v1, dq + weights[1] * h * v, dv + weights[1] * h * a), None

    weights = jnp.array([[0.5, 1 / 6], [0.5, 1 / 3], [1.0, 1 / 3], [0.0, 1 / 6]])
    (_, _, q, v), _ = jax.lax.scan(stage, (q0, v0, q0, v0), weights)
    return {"q": q, "v": v, "tick": state["tick"] + 1}


def start(n, seed=1):
    """States and torques of n instances."""
    rng = np.random.default_rng(seed)
    state = {"q": rng.normal(size=(n, JOINTS)), "v": rng.normal(size=(n, JOINTS)), "tick": np.arange(n, dtype=np.int32)}
    return state, rng.normal(size=(n, JOINTS))


def one(state, k=0):
    """One instance of many."""
    return {name: leaf[k] for name, leaf in state.items()}
