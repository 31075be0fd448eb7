"""The limited values of a motion at one instant: forces, distances, approach; a function of the curve there.

One function of 3 x 13 numbers (values, rates, accelerations) serves every instant and every tumble, so that its
derivatives are compiled once.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from freefloat.dynamics.closest_points import length
from freefloat.dynamics.inverse import inverse_dynamics
from freefloat.dynamics.kinematics import body_poses, frame_pose
from freefloat.dynamics.nominal_motion import NominalMotion
from freefloat.dynamics.relative import nominal_share, nominal_share_rate
from freefloat.model import Spacecraft, State
from freefloat.planning.charts import relative_motion
from freefloat.planning.covers import Balls, Obstacle, body_distance, soft_minimum
from freefloat.spatial import Pose
from freefloat.spatial.rotations import quaternion_of
from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Vector


@record
class PlanningScene:
    """The servicer, its pose chart relative to the client, and the obstacles."""

    craft: Spacecraft
    chart: Any  # of the base's pose
    X_TG: Pose  # where the tool shall be, in the client's frame
    tool: str = static()
    balls: tuple[Balls, ...]  # of every body with shapes
    client: tuple[Obstacle, ...]
    own: tuple[Obstacle, ...]  # of the servicer's base, for the arm
    arm: tuple[tuple[str, tuple[str, ...]], ...] = static()  # outer bodies, each with the inner ones it may meet

    @property
    def numbers(self) -> int:
        """Count of numbers of a curve."""
        return self.chart.count + self.craft.layout.nq

    def split(self, y: Vector) -> tuple[tuple[Vector, Vector, Vector], tuple[Vector, Vector, Vector]]:
        """Numbers, rates and accelerations of the base, and of the joints."""
        n, k = self.numbers, self.chart.count
        kinds = (y[:n], y[n : 2 * n], y[2 * n :])
        return tuple(x[:k] for x in kinds), tuple(x[k:] for x in kinds)  # pyright: ignore[reportReturnType]


@record
class InstantValues:
    """All limited values at an instant."""

    force: Vector  # wrench on the base, in its axes, then torques of the joints [N, N m]
    clearances: Vector  # of every body from the client, smooth lower bounds [m]
    own_clearances: Vector  # of the arm's outer bodies from the servicer itself [m]
    cone: Numeric  # how far the tool is outside of the approach cone, per unit of its slope [m]
    alignment: Numeric  # cosine of the angle between the tool's axis and the ring's


def instant_values(scene: PlanningScene, y: Vector, nominal: Vector, cone: Vector) -> InstantValues:
    """All limited values at one instant, from the curve y there and the client's twist and its rate (12).

    `cone` is the slope of the approach cone and its radius at the ring [m].
    """
    base, joints = scene.split(y)
    X_TB, V_TB, Vdot_TB = relative_motion(scene.chart, *base)
    poses = [X_TB @ X_BL for X_BL in body_poses(scene.craft, joints[0])]
    X_GE = scene.X_TG.inverse() @ X_TB @ frame_pose(scene.craft, joints[0], scene.tool)
    ahead = -X_GE.p[2]  # z of the ring points into the client
    return InstantValues(
        force=_force(scene.craft, (X_TB, V_TB, Vdot_TB), joints, nominal),
        clearances=_clearances(scene, poses),
        own_clearances=_own_clearances(scene, poses),
        cone=jnp.sqrt(X_GE.p[0] ** 2 + X_GE.p[1] ** 2 + 1e-8) - cone[1] - cone[0] * ahead,
        alignment=X_GE.R[2, 2],
    )


def end_error(scene: PlanningScene, numbers: Vector) -> Vector:
    """Deviation of the tool from the grasp (6): position [m] and twice the vector part of the quaternion [rad]."""
    k = scene.chart.count
    X_GE = scene.X_TG.inverse() @ scene.chart.pose(numbers[:k]) @ frame_pose(scene.craft, numbers[k:], scene.tool)
    return jnp.concatenate([jnp.asarray(X_GE.p), 2.0 * quaternion_of(X_GE.R)[1:]])


def _force(
    craft: Spacecraft, base: tuple[Pose, Vector, Vector], joints: tuple[Any, Any, Any], nominal: Vector
) -> Vector:
    """Generalised force by inverse dynamics at the speeds in orbit (eq. 18 of the relative dynamics)."""
    X_TB, V_TB, Vdot_TB = base
    q, rates, accelerations = joints
    client = NominalMotion(jnp.zeros(3), jnp.array([1.0, 0.0, 0.0, 0.0]), nominal[:6], nominal[6:])
    relative = State(X_TB.p, X_TB.quaternion, q, jnp.concatenate([V_TB, rates]))
    v = jnp.concatenate([V_TB + nominal_share(client, relative), rates])
    vdot = jnp.concatenate([Vdot_TB + nominal_share_rate(client, relative), accelerations])
    return inverse_dynamics(craft, q, v, vdot)


def _clearances(scene: PlanningScene, poses: list[Pose]) -> Vector:
    places = dict(zip(scene.craft.body_names, poses, strict=True))
    return jnp.stack([body_distance(balls, places[balls.body], scene.client) for balls in scene.balls])


def _own_clearances(scene: PlanningScene, poses: list[Pose]) -> Vector:
    """Clearances of each outer body of the arm from the servicer's base and from the inner bodies of the arm [m]."""
    places = dict(zip(scene.craft.body_names, poses, strict=True))
    X_BT, balls = poses[0].inverse(), {cover.body: cover for cover in scene.balls}
    found = []
    for name, inner in scene.arm:
        nearest = [body_distance(balls[name], X_BT @ places[name], scene.own)]
        nearest += [_body_gap(balls[name], places[name], balls[other], places[other]) for other in inner]
        found.append(soft_minimum(jnp.stack(nearest)))
    return jnp.stack(found) if found else jnp.zeros(0)


def _body_gap(a: Balls, X_TA: Pose, b: Balls, X_TB: Pose) -> Numeric:
    gaps = [
        length(X_TA.apply(jnp.asarray(p)) - X_TB.apply(jnp.asarray(q))) - r - s
        for p, r in zip(a.centres, a.radii, strict=True)
        for q, s in zip(b.centres, b.radii, strict=True)
    ]
    return soft_minimum(jnp.stack(gaps))


def row_values(scene: PlanningScene, y: Vector, nominal: Vector, cone: Vector, limits: Vector) -> Vector:
    """All limited values of an instant as one vector; forces as shares of their limits."""
    now = instant_values(scene, y, nominal, cone)
    return jnp.concatenate(
        [now.force / limits, now.clearances, now.own_clearances, jnp.stack([now.cone, now.alignment])]
    )


def row_names(scene: PlanningScene) -> tuple[str, ...]:
    """Names of the rows."""
    axes = [f"base {kind} {axis}" for kind in ("force", "torque") for axis in "xyz"]
    return (
        *axes,
        *(f"joint torque {name}" for name in scene.craft.layout.moving_joints),
        *(f"clearance {balls.body} - client" for balls in scene.balls),
        *(f"clearance {name} - servicer" for name, _ in scene.arm),
        "approach cone",
        "approach angle",
    )
