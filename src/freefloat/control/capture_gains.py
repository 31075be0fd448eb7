"""Springs, dampers and limits of a compliant capture."""

from __future__ import annotations

from functools import partial

import numpy as np

from freefloat.control.pose_spring import PoseSpring
from freefloat.dynamics import frame_jacobian, mass_matrix
from freefloat.model import Spacecraft
from freefloat.values import ModelError, record
from freefloat.values.arrays import ArrayLike, Numeric
from freefloat.values.checks import require_all, require_bounds, require_quantity, set_fields

_JOINT_UNITS = {"joint_damping": "N m s/rad", "held_stiffness": "N m/rad", "held_damping": "N m s/rad"}


@record
class CaptureGains:
    """Springs and dampers from base and tool to the client, and of the joints."""

    base: PoseSpring  # of the base to its set point
    tool: PoseSpring  # of the tool to its set point, until the grasp
    joint_damping: ArrayLike  # one for each joint, always [N m s/rad]
    held_stiffness: ArrayLike  # of each joint about its position at the grasp, from then on [N m/rad]
    held_damping: ArrayLike  # with it [N m s/rad]

    def __post_init__(self) -> None:
        given = require_all(
            *(
                partial(require_quantity, f"CaptureGains.{name}", getattr(self, name), unit, least=0.0)
                for name, unit in _JOINT_UNITS.items()
            )
        )
        set_fields(self, **dict(zip(_JOINT_UNITS, given, strict=True)))

    @staticmethod
    def of_model(
        craft: Spacecraft,
        posture: ArrayLike,
        frame: str = "tool",
        *,
        base_frequency: float = 0.5,  # [rad/s]
        tool_frequency: float = 3.0,  # [rad/s]
        held_frequency: float = 10.0,  # [rad/s]
    ) -> CaptureGains:
        """Gains of critically damped springs that give base, tool and held joints of a model the given frequencies.

        The inertia at the tool is that of the free-floating arm, (J M^-1 J^T)^-1, in the posture.
        """
        q = np.asarray(posture, dtype=float)
        M, J = np.asarray(mass_matrix(craft, q)), np.asarray(frame_jacobian(craft, q, frame))
        joints = np.diag(M)[np.array(craft.layout.joint_velocities, dtype=int)]
        return CaptureGains(
            base=PoseSpring.of_inertia(np.diag(M)[:6], base_frequency),
            tool=PoseSpring.of_inertia(np.diag(np.linalg.inv(J @ np.linalg.solve(M, J.T))), tool_frequency),
            joint_damping=joints * 1.0,  # [1/s]: motion without a spring, the swivel of a redundant arm, comes to rest
            held_stiffness=held_frequency**2 * joints,
            held_damping=2.0 * held_frequency * joints,
        )

    def require_joints(self, count: int) -> None:
        """Raise an error if the gains are for another number of joints."""
        for name in _JOINT_UNITS:
            if np.shape(getattr(self, name)) != (count,):
                raise ModelError(f"CaptureGains.{name} must be {count} numbers, one for each joint of the arm.")


@record
class CaptureLimits:
    """Largest commands of the software."""

    thrust: Numeric | float = 50.0  # along each axis of the base [N]
    torque: Numeric | float = 50.0  # about each axis of the base [N m]
    joints: ArrayLike | float = 200.0  # of a joint's motor [N m], one number or one for each

    def __post_init__(self) -> None:
        require_bounds(self, {"thrust": "N", "torque": "N m", "joints": "N m"}, above=0.0)
