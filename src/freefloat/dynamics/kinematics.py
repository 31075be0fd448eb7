"""Where everything is and how it moves: poses, twists and Jacobians of any frame."""

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.tree import edges, pick
from freefloat.model import Spacecraft, State
from freefloat.spatial import Pose, angular, linear, six
from freefloat.spatial.arrays import Matrix, Vec6, Vector


def body_poses(craft: Spacecraft, q: Vector) -> tuple[Pose, ...]:
    """X_BL of every body's frame in the base frame, in tree order."""
    poses = [Pose()]
    for edge, parent in zip(edges(craft, q), craft.parents[1:], strict=True):
        poses.append(poses[parent] @ edge.X_PB)
    return tuple(poses)


def body_twists(craft: Spacecraft, q: Vector, v: Vector) -> tuple[Vec6, ...]:
    """V_NL of every body, each in its own axes, in tree order."""
    twists = [v[:6]]
    for edge, parent in zip(edges(craft, q), craft.parents[1:], strict=True):
        twists.append(edge.X_PB.twist_to_B(twists[parent]) + edge.columns @ pick(v, edge.dofs))
    return tuple(twists)


def frame_pose(craft: Spacecraft, q: Vector, frame: str) -> Pose:
    """X_BF of a named frame in the base frame."""
    at = craft.frame(frame)
    pose = at.X_BF
    index = craft.body_index(at.body)
    links = edges(craft, q)
    while index:
        pose = links[index - 1].X_PB @ pose
        index = craft.parents[index]
    return pose


def inertial_frame_pose(craft: Spacecraft, state: State, frame: str) -> Pose:
    """X_NF of a named frame in the inertial frame."""
    return state.X_NB @ frame_pose(craft, state.q, frame)


def frame_jacobian(craft: Spacecraft, q: Vector, frame: str) -> Matrix:
    """J (6, nv) with V_NF = J v: body twist of a named frame, in its own axes."""
    at = craft.frame(frame)
    X_LF = at.X_BF  # from the body we stand on to the frame
    J = jnp.zeros((6, craft.layout.nv))
    index = craft.body_index(at.body)
    links = edges(craft, q)
    while index:
        edge = links[index - 1]
        J = J.at[:, np.array(edge.dofs, dtype=int)].set(X_LF.twist_to_B(edge.columns))
        X_LF = edge.X_PB @ X_LF
        index = craft.parents[index]
    return J.at[:, :6].set(X_LF.twist_to_B(jnp.eye(6)))


def frame_twist(craft: Spacecraft, q: Vector, v: Vector, frame: str) -> Vec6:
    """V_NF: body twist of a named frame, in its own axes."""
    at = craft.frame(frame)
    return at.X_BF.twist_to_B(body_twists(craft, q, v)[craft.body_index(at.body)])


def inertial_frame_twist(craft: Spacecraft, state: State, frame: str) -> Vec6:
    """Velocity of a frame's origin and its angular rate, both in N axes."""
    R_NF = inertial_frame_pose(craft, state, frame).R
    V_NF = frame_twist(craft, state.q, state.v, frame)
    return six(R_NF @ linear(V_NF), R_NF @ angular(V_NF))


def generalized_force(craft: Spacecraft, q: Vector, frame: str, wrench: Vec6) -> Vector:
    """Generalised force (nv) of a wrench that acts at a named frame, in that frame's axes: J^T F."""
    return frame_jacobian(craft, q, frame).T @ wrench
