"""Resolved motion-rate control: with the generalised Jacobian (Yoshida 2003, eq. 6-7), and satellite-based."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np

from freefloat.control.measured import (
    Motion,
    clock_at,
    measured_motion,
    measured_pose,
    measured_positions,
    own_frame_pose,
)
from freefloat.control.paths import Path, require_path
from freefloat.control.rate_software import RateSoftware
from freefloat.dynamics import (
    FreeFloating,
    base_jacobian,
    frame_pose,
    free_floating,
    inertial_frame_pose,
    joint_jacobian,
    spd_solve,
)
from freefloat.dynamics.least_squares import SINGULAR_BELOW, Solution, damped_least_squares
from freefloat.model import Clock, Measurements, Spacecraft, Truth
from freefloat.model.connections import INERTIAL
from freefloat.spatial import Pose, angular, linear, six
from freefloat.spatial.rotations import cross, rotation_log
from freefloat.values import ModelError, SoftwareError, record, static
from freefloat.values.arrays import Matrix, Numeric, Scalar, Vec6, Vector
from freefloat.values.channels import Channel, flag, vector
from freefloat.values.checks import require_all, set_fields
from freefloat.values.tracing import once


@record
class ResolvedMotion(RateSoftware):
    """Moves a frame along a path in inertial space while the base floats: the base's reaction is part of the Jacobian.

    `craft` is the controller's model; it may differ from the spacecraft that is simulated. The path is given in a
    frame F: the moved frame at the start, unless `relative_to` names `N`, or a frame of the own spacecraft (`base`), at
    the start, or a frame that is measured (`client.ring`), as it moves. Joints that the software does not move are
    taken as standing still.
    """

    craft: Spacecraft
    path: Path
    frame: str = static()
    gain: Numeric | float = 0.0  # pose feedback [1/s]
    singular_below: Numeric | float = SINGULAR_BELOW  # singular value under which rates are damped [m, rad]
    joints: tuple[str, ...] = static(default=())  # pyright: ignore[reportIncompatibleMethodOverride]
    relative_to: str = static(default="")  # in whose axes the path is given

    def __post_init__(self) -> None:
        joints, *_ = require_all(
            lambda: require_six_joints("ResolvedMotion", self.craft, self.frame, self.joints),
            lambda: require_path("ResolvedMotion", self.path),
            self._require_period,
        )
        set_fields(self, joints=joints)

    def _require_period(self) -> None:
        if self.follows_target and self.period is None:
            raise SoftwareError(
                f"ResolvedMotion relative to '{self.relative_to}' reads its velocity, so it must be sampled: give it a "
                f"period. Frames of '{self.craft.name}': {', '.join(self.craft.frame_names)}."
            )

    @property
    def follows_target(self) -> bool:
        """Whether the path is given in a frame that is measured and may move."""
        return self.relative_to not in ("", INERTIAL, *self.craft.frame_names)

    def begin(self, y: Measurements) -> Pose:
        """Memory at the start: pose X_NF of the frame in which the path is given."""
        if self.relative_to == INERTIAL:
            return Pose()
        if self.follows_target:
            return measured_pose(y, self.relative_to)
        return own_frame_pose(self.craft, y, self.relative_to or self.frame)

    def path_frame(self, memory: Pose, y: Measurements) -> Pose:
        """Present pose X_NF of the frame in which the path is given."""
        return measured_pose(y, self.relative_to) if self.follows_target else memory

    def transport_twist(self, wanted: Pose, y: Measurements) -> Vec6:
        """Twist of the desired pose because the frame in which the path is given moves, N axes."""
        if not self.follows_target:
            return np.zeros(6)
        spin = jnp.asarray(y[f"{self.relative_to}.rate"])
        arm = wanted.p - y[f"{self.relative_to}.position"]
        return six(y[f"{self.relative_to}.velocity"] + cross(spin, arm), spin)

    def desired_pose(self, start: Pose, t: Scalar) -> Pose:
        """Desired pose X_NE of the frame."""
        return start @ Pose(position=self.path.displacement(t), rotation=self.path.rotation(t))

    def desired_twist(self, start: Pose, t: Scalar, hold: float) -> Vec6:
        """Desired twist of the frame, N axes [m/s, rad/s]."""
        return six(start.R @ self.path.velocity(t, hold), start.R @ self.path.spin(t, hold))

    def pose_error(self, start: Pose, pose: Pose, t: Scalar) -> Vec6:
        """Desired minus actual: position [m] and rotation vector [rad], N axes."""
        return pose_error(self.desired_pose(start, t), pose)

    def rates(self, memory: Pose, y: Measurements, clock: Clock) -> Vector:
        """Joint rates that give the frame the desired twist, whatever momentum there is (eq. 7)."""
        return self.resolve(memory, y, clock).x

    def resolve(self, memory: Pose, y: Measurements, clock: Clock) -> Solution:
        """Joint rates with the status of the solution."""
        motion, origin = measured_motion(self.craft, y), self.path_frame(memory, y)
        twist = self.desired_twist(origin, clock.t, clock.hold)
        if self.follows_target:
            twist = twist + self.transport_twist(self.desired_pose(origin, clock.t), y)
        hand = motion.X_NB @ frame_pose(self.craft, motion.q, self.frame)
        twist = twist + self.gain * self.pose_error(origin, hand, clock.t)
        return resolve_floating(self.craft, motion, self.frame, twist, self.singular_below, self.joints)

    def channels(self) -> tuple[Channel, ...]:
        """Channels for the tracking of the frame."""
        return tracking_channels(self.frame)

    def observe(self, memory: Pose, y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """Values of the channels: true error of the frame from its path, and whether rates are damped."""
        origin, hand = self.path_frame(memory, y), inertial_frame_pose(truth.craft, truth.state, self.frame)
        error = self.pose_error(origin, hand, clock.t)
        resolved = self.resolve(memory, y, clock_at(clock, clock.t))
        return linear(error), angular(error), resolved.singular_value, 1.0 * resolved.damped


@record
class SatelliteStart:
    """Pose of the frame in which a path is given, at the start of satellite-based motion."""

    relative: Pose  # X_BF
    inertial: Pose  # X_NF, from which its error is recorded


@record
class SatelliteBasedMotion(RateSoftware):
    """Moves a frame along a path fixed to the satellite: the conventional law, which ignores the base's motion.

    The path is given in the frame itself at the start, or in another of the own spacecraft (`relative_to="base"`).
    """

    craft: Spacecraft
    path: Path
    frame: str = static()
    singular_below: Numeric | float = SINGULAR_BELOW  # singular value under which rates are damped [m, rad]
    joints: tuple[str, ...] = static(default=())  # pyright: ignore[reportIncompatibleMethodOverride]
    relative_to: str = static(default="")  # in whose axes the path is given

    def __post_init__(self) -> None:
        joints, *_ = require_all(
            lambda: require_six_joints("SatelliteBasedMotion", self.craft, self.frame, self.joints),
            lambda: require_path("SatelliteBasedMotion", self.path),
            lambda: not self.relative_to or self.craft.frame(self.relative_to),
        )
        set_fields(self, joints=joints)

    def begin(self, y: Measurements) -> SatelliteStart:
        """Memory at the start: pose of the frame in which the path is given."""
        given_in = self.relative_to or self.frame
        relative = frame_pose(self.craft, measured_positions(self.craft, y), given_in)
        return SatelliteStart(relative, own_frame_pose(self.craft, y, given_in))

    def rates(self, memory: SatelliteStart, y: Measurements, clock: Clock) -> Vector:
        """Joint rates for the desired twist as if the base stood still (docs/theory-free-floating.md)."""
        return self.resolve(memory, y, clock).x

    def resolve(self, memory: SatelliteStart, y: Measurements, clock: Clock) -> Solution:
        """Joint rates with the status of the solution."""
        R, t, hold = memory.relative.R, clock.t, clock.hold
        twist_B = six(R @ self.path.velocity(t, hold), R @ self.path.spin(t, hold))
        J_m = joint_jacobian(self.craft, measured_positions(self.craft, y), self.frame)
        return damped_least_squares(joint_columns(self.craft, J_m, self.joints), twist_B, self.singular_below)

    def channels(self) -> tuple[Channel, ...]:
        """Channels for the tracking of the frame."""
        return tracking_channels(self.frame)

    def observe(self, memory: SatelliteStart, y: Measurements, clock: Clock, truth: Truth) -> tuple[Numeric, ...]:
        """Values of the channels: error from the path of a base that had not moved, and whether rates are damped."""
        t = clock.t
        wanted = memory.inertial @ Pose(position=self.path.displacement(t), rotation=self.path.rotation(t))
        error = pose_error(wanted, inertial_frame_pose(truth.craft, truth.state, self.frame))
        resolved = self.resolve(memory, y, clock_at(clock, t))
        return linear(error), angular(error), resolved.singular_value, 1.0 * resolved.damped


def resolve_floating(
    craft: Spacecraft,
    motion: Motion,
    frame: str,
    twist: Vec6,
    singular_below: Numeric | float = SINGULAR_BELOW,
    joints: tuple[str, ...] = (),
) -> Solution:
    """Rates of some joints, or of all, that give a frame a twist in N axes while the base floats (eq. 7)."""
    J_g, drift = floating_jacobian(craft, motion, frame)
    return damped_least_squares(joint_columns(craft, J_g, joints), twist - drift, singular_below)


def joint_columns(craft: Spacecraft, J: Matrix, joints: tuple[str, ...]) -> Matrix:
    """Columns of a Jacobian that belong to some joints; all columns where none is named."""
    moving = craft.layout.moving_joints
    return J if joints in ((), moving) else J[:, np.array([moving.index(name) for name in joints], dtype=int)]


@once
def floating_jacobian(craft: Spacecraft, motion: Motion, frame: str) -> tuple[Matrix, Vec6]:
    """Generalised Jacobian J_g and the frame's twist when no joint moves, N axes (eq. 6 and last term of eq. 7)."""
    J_m = joint_jacobian(craft, motion.q, frame, motion.X_NB.R)
    return assemble_floating_jacobian(craft, motion, frame, free_floating(craft, motion.q), J_m)


def assemble_floating_jacobian(
    craft: Spacecraft, motion: Motion, frame: str, body: FreeFloating, J_m: Matrix
) -> tuple[Matrix, Vec6]:
    """J_g and the frame's twist from given matrices: of the spacecraft in base axes, of the hand in N axes."""
    R_NB = motion.X_NB.R
    turned, J_b = body.in_axes(R_NB), base_jacobian(craft, motion.q, frame, R_NB)
    H_b, momentum = inertia_without_wheels(craft, motion, turned.H_b)
    reaction = spd_solve(H_b, jnp.concatenate([turned.H_bm, momentum[:, None]], axis=1))
    return J_m - J_b @ reaction[:, :-1], J_b @ reaction[:, -1]


def inertia_without_wheels(craft: Spacecraft, motion: Motion, H_b: Matrix) -> tuple[Matrix, Vec6]:
    """Inertia and momentum about the base origin without those of the base wheels, N axes."""
    R_NB = motion.X_NB.R
    P, L_0 = linear(motion.momentum), angular(motion.momentum)
    momentum = six(P, L_0 - cross(motion.p_NB, P))
    for k, wheel in enumerate(craft.wheels):
        if wheel.body != "base":
            raise ModelError(
                f"Resolved motion knows wheels on the base only; '{wheel.name}' is on '{wheel.body}'. Mount it on the "
                "base, or give the software a model without it."
            )
        axis = six(np.zeros(3), R_NB @ wheel.axis)
        H_b = H_b - wheel.inertia * jnp.outer(axis, axis)
        momentum = momentum - motion.wheel_momentum[k] * axis
    return H_b, momentum


def pose_error(wanted: Pose, actual: Pose) -> Vec6:
    """Desired minus actual pose: position [m] and rotation vector [rad], in the axes of both poses."""
    return six(wanted.p - actual.p, rotation_log(wanted.R @ actual.R.T))


def tracking_channels(frame: str) -> tuple[Channel, ...]:
    """Channels for the error of a frame that follows a path, and for the status of its Jacobian."""
    return (
        vector(f"{frame}.position_error", f"{frame}: path minus position", "m", "N"),
        vector(f"{frame}.rotation_error", f"{frame}: rotation to the desired attitude", "rad", "N"),
        Channel(f"{frame}.singular_value", f"{frame}: smallest singular value of the Jacobian", "1"),
        flag(f"{frame}.singular", f"{frame}: Jacobian", ("regular", "nearly singular, rates damped")),
    )


def require_six_joints(software: str, craft: Spacecraft, frame: str, joints: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Joints that are to move a frame, all where none is named; an error if they are fewer than six."""
    require_all(
        lambda: craft.frame(frame),
        lambda: craft.layout.require_moving(joints),
        lambda: _require_count(software, craft, frame, joints),
    )
    return tuple(joints) or craft.layout.moving_joints


def _require_count(software: str, craft: Spacecraft, frame: str, joints: tuple[str, ...]) -> None:
    joints = tuple(joints) or craft.layout.moving_joints
    if len(joints) < 6:
        raise ModelError(
            f"{software} needs at least six joints to move '{frame}' in six directions, "
            f"but spacecraft '{craft.name}' has {len(joints)}. "
            "Give an arm with more joints, or command joints directly: ff.control.JointSpline."
        )
