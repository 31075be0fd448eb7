"""How a flexible body carries what is mounted on it: pose and twist of a node, or of a carriage on its rail.

The frame at a node turns by Rz Ry Rx of the small angles that the modes give it there. The order only matters to
second order, but twists must be the exact derivative of the pose that is used: otherwise energy is not conserved
(Cyril, Jaar and Misra 1993).
"""

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.model import Node, Rail
from freefloat.spatial import Pose, six
from freefloat.spatial.rotations import rotation_about
from freefloat.values import record
from freefloat.values.arrays import Mat3, Matrix, Numeric, Scalar, Vec3, Vector

_X, _Y, _Z = np.eye(3)


@record
class Mount:
    """A mounting frame in the body's frame, and its twist per unit rate of each coordinate, in its own axes."""

    pose: Pose
    columns: Matrix


def node_mount(node: Node, b: Vector) -> Mount:
    """The frame at a node, moved by modal coordinates b."""
    bent = node.foreshortening @ b  # (3, modes)
    position = node.position + (node.translation + 0.5 * bent) @ b
    return _mount(position, node.rotation @ b, node.translation + bent, node.rotation)


def rail_mount(rail: Rail, b: Vector, station: Scalar) -> Mount:
    """The frame of a carriage at a station of the rail; the coordinates are b, then the station."""

    def place(coordinates: Vector) -> tuple[Vec3, Vec3]:
        b, s = coordinates[:-1], coordinates[-1]
        position = hermite(rail, rail.position, rail.position_slope, s)
        translation = hermite(rail, rail.translation, rail.translation_slope, s)
        rotation = hermite(rail, rail.rotation, rail.rotation_slope, s)
        return position + translation @ b, rotation @ b

    at = jnp.concatenate([b, jnp.reshape(station, (1,))])
    position, angles = place(at)
    return _mount(position, angles, *jax.jacfwd(place)(at))


def hermite(rail: Rail, values: Numeric, slopes: Numeric, s: Scalar) -> Numeric:
    """Cubic interpolation between the two stations around s; beyond the ends the outer cubic goes on."""
    last = values.shape[0] - 2
    x = (s - rail.start) / rail.spacing
    index = jnp.clip(jnp.floor(jax.lax.stop_gradient(x)), 0, last).astype(jnp.int32)
    r = x - index
    here, there = jnp.asarray(values)[index], jnp.asarray(values)[index + 1]
    slope_here, slope_there = (jnp.asarray(slopes)[index + k] * rail.spacing for k in (0, 1))
    return (
        (1.0 - r) ** 2 * (1.0 + 2.0 * r) * here
        + r**2 * (3.0 - 2.0 * r) * there
        + r * (1.0 - r) ** 2 * slope_here
        - r**2 * (1.0 - r) * slope_there
    )


def _mount(position: Vec3, angles: Vec3, moving: Matrix, turning: Matrix) -> Mount:
    """Mount from position, angles and their derivatives by the coordinates."""
    Rx, Ry = rotation_about(_X, angles[0]), rotation_about(_Y, angles[1])
    R = rotation_about(_Z, angles[2]) @ Ry @ Rx
    return Mount(pose=Pose(position=position, rotation=R), columns=six(R.T @ moving, _rates_to_body(Rx, Ry) @ turning))


def _rates_to_body(Rx: Mat3, Ry: Mat3) -> Mat3:
    """Angular rate in body axes per unit rate of each angle of Rz Ry Rx."""
    return jnp.stack([_X, Rx.T @ _Y, Rx.T @ (Ry.T @ _Z)], axis=1)
