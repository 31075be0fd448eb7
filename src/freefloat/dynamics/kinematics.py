"""Where everything is and how it moves: poses, twists and Jacobians of any frame."""

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.deformation import Mount
from freefloat.dynamics.tree import base_entries, edge_drifts, edges, mount_of, select_entries
from freefloat.model import Frame, ModalBody, Spacecraft, State
from freefloat.spatial import Pose, angular, cross_motion, linear, six
from freefloat.values import ModelError
from freefloat.values.arrays import Matrix, Numeric, Vec6, Vector
from freefloat.values.compiling import compiled_on_call


@compiled_on_call
def body_poses(craft: Spacecraft, q: Vector) -> tuple[Pose, ...]:
    """Poses X_BL of the frames of all bodies in the base frame, in tree order."""
    poses = [Pose()]
    for edge, parent in zip(edges(craft, q), craft.parents[1:], strict=True):
        poses.append(poses[parent] @ edge.X_PB)
    return tuple(poses)


@compiled_on_call
def body_twists(craft: Spacecraft, q: Vector, v: Vector) -> tuple[Vec6, ...]:
    """Body twists V_NL of all bodies, each in its own axes, in tree order."""
    twists = [base_entries(craft, v)]
    for edge, parent in zip(edges(craft, q), craft.parents[1:], strict=True):
        twists.append(edge.X_PB.twist_to_B(twists[parent]) + edge.columns @ select_entries(v, edge.dofs))
    return tuple(twists)


@compiled_on_call
def frame_pose(craft: Spacecraft, q: Vector, frame: str) -> Pose:
    """Pose X_BF of a named frame in the base frame."""
    at = craft.frame(frame)
    pose = frame_mount(craft, at, q).pose
    index = craft.body_index(at.body)
    links = edges(craft, q)
    while index:
        pose = links[index - 1].X_PB @ pose
        index = craft.parents[index]
    return pose


def frame_mount(craft: Spacecraft, frame: Frame, q: Vector) -> Mount:
    """Pose of a frame in the frame of its body, with its twist per unit modal rate where it sits on a node."""
    body = craft.body(frame.body)
    if not frame.node or not isinstance(body, ModalBody):
        return Mount(pose=frame.X_BF, columns=np.zeros((6, 0)))
    node = mount_of(craft, body, frame.node, q)
    return Mount(pose=node.pose @ frame.X_BF, columns=frame.X_BF.twist_to_B(node.columns))


def modal_dofs(craft: Spacecraft, frame: Frame) -> np.ndarray:
    """Indices into v of the modal rates that move a frame in its body."""
    flexible = frame.node and craft.body(frame.body).modes
    return np.array(craft.layout.indices([f"{frame.body}.modes"]) if flexible else (), dtype=int)


@compiled_on_call
def inertial_body_poses(craft: Spacecraft, state: State) -> tuple[Numeric, Numeric]:
    """Positions (bodies, 3) [m] and quaternions (bodies, 4) of every body in N, in tree order: what a picture needs."""
    poses = [state.X_NB @ X_BL for X_BL in body_poses(craft, state.q)]
    return jnp.stack([jnp.asarray(pose.p) for pose in poses]), jnp.stack([pose.quaternion for pose in poses])


@compiled_on_call
def inertial_frame_pose(craft: Spacecraft, state: State, frame: str) -> Pose:
    """Pose X_NF of a named frame in the inertial frame."""
    return state.X_NB @ frame_pose(craft, state.q, frame)


@compiled_on_call
def frame_jacobian(craft: Spacecraft, q: Vector, frame: str, beyond: str = "") -> Matrix:
    """Jacobian J (6, nv) with V_NF = J v, the body twist of a named frame in its own axes.

    With `beyond` a body that carries the frame, only of the motion relative to that body.
    """
    at = craft.frame(frame)
    last = frame_mount(craft, at, q)
    X_LF = last.pose  # from the body we stand on to the frame
    J = jnp.zeros((6, craft.layout.nv)).at[:, modal_dofs(craft, at)].set(last.columns)
    index = craft.body_index(at.body)
    stop = craft.body_index(beyond) if beyond else -1
    links = edges(craft, q)
    while index and index != stop:
        edge = links[index - 1]
        J = J.at[:, np.array(edge.dofs, dtype=int)].add(X_LF.twist_to_B(edge.columns))
        X_LF = edge.X_PB @ X_LF
        index = craft.parents[index]
    return J if index == stop else J.at[:, :6].set(X_LF.twist_to_B(jnp.eye(6)))


@compiled_on_call
def frame_twist(craft: Spacecraft, q: Vector, v: Vector, frame: str) -> Vec6:
    """Body twist V_NF of a named frame, in its own axes."""
    at = craft.frame(frame)
    last = frame_mount(craft, at, q)
    carried = last.pose.twist_to_B(body_twists(craft, q, v)[craft.body_index(at.body)])
    return carried + last.columns @ v[modal_dofs(craft, at)]


def frame_twist_rate(craft: Spacecraft, q: Vector, v: Vector, vdot: Vector, frame: str) -> tuple[Vec6, Vec6]:
    """Body twist V_NF of a named frame and its rate, component by component in the frame's own axes."""
    at, links = craft.frame(frame), edges(craft, q)
    twists, rates = [v[:6]], [vdot[:6]]
    for edge, drift, parent in zip(links, edge_drifts(craft, q, v), craft.parents[1:], strict=True):
        relative = edge.columns @ select_entries(v, edge.dofs)
        twists.append(edge.X_PB.twist_to_B(twists[parent]) + relative)
        rates.append(
            edge.X_PB.twist_to_B(rates[parent])
            + edge.columns @ select_entries(vdot, edge.dofs)
            + cross_motion(twists[-1], relative)
            + drift
        )
    body, modes, last = craft.body_index(at.body), modal_dofs(craft, at), frame_mount(craft, at, q)
    relative = last.columns @ v[modes]
    twist = last.pose.twist_to_B(twists[body]) + relative
    rate = last.pose.twist_to_B(rates[body]) + last.columns @ vdot[modes] + cross_motion(twist, relative)
    if modes.size:  # the columns of a node turn with the modes
        qdot = select_entries(v, craft.layout.coordinates)
        rate = rate + jax.jvp(lambda q: frame_mount(craft, at, q).columns @ v[modes], (q,), (qdot,))[1]
    return twist, rate


@compiled_on_call
def inertial_frame_twist(craft: Spacecraft, state: State, frame: str) -> Vec6:
    """Velocity of a frame's origin and its angular rate, both in N axes."""
    R_NF = inertial_frame_pose(craft, state, frame).R
    V_NF = frame_twist(craft, state.q, state.v, frame)
    return six(R_NF @ linear(V_NF), R_NF @ angular(V_NF))


@compiled_on_call
def generalized_force(craft: Spacecraft, q: Vector, frame: str, wrench: Vec6) -> Vector:
    """Generalised force (nv) of a wrench that acts at a named frame, in that frame's axes: J^T F."""
    if np.shape(wrench) != (6,):
        raise ModelError(f"A wrench at '{frame}' must have 6 numbers (force, torque), got shape {np.shape(wrench)}.")
    return frame_jacobian(craft, q, frame).T @ wrench
