"""Positions and velocities of the Shuttle arm and its payload when they meet.

All vectors are given in the plane: x along the hand, the normal of the payload's side; y along the side; z across. The
spatial arm pitches in its x-z plane, so the plane is rotated for it.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from freefloat.model import Spacecraft, State
    from freefloat.spatial import Pose

SHUTTLE, PAYLOAD, GRASP = "shuttle", "payload", "grasp"
_PLANAR_DEG = {"shoulder": 60.0, "elbow": -90.0, "wrist": 30.0}
_SPATIAL_DEG = {"shoulder.pitch": 60.0, "elbow": -90.0, "wrist.pitch": 30.0}
_TO_SPATIAL = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, -1.0], [0.0, 1.0, 0.0]])  # R from plane axes to those of the arm
_INWARD = np.array([1.0, 0.0, 0.0])  # from the payload's grip to its centre [m]


@dataclass(frozen=True)
class ContactVelocities:
    """Velocities at the moment of contact, (normal, tangent, across) and rates about (n, t, across)."""

    hand: np.ndarray  # [m/s]
    hand_rate: np.ndarray  # [rad/s]
    contact: np.ndarray  # of the payload's grip [m/s]
    spin: np.ndarray  # of the payload [rad/s]


def posture(arm: Spacecraft, *, spatial: bool) -> State:
    """State of the arm at rest in the posture of the contact: booms at 60 and -30 deg, the hand along x."""
    return arm.at_rest(joints_deg=_SPATIAL_DEG if spatial else _PLANAR_DEG)


def arm_at_contact(arm: Spacecraft, meeting: ContactVelocities, *, spatial: bool) -> State:
    """State of the arm at contact: base at rest, booms straight, joint rates that give the hand its velocity."""
    from freefloat.dynamics import frame_jacobian

    rest = posture(arm, spatial=spatial)
    R, joints = _axes(spatial), list(arm.layout.joint_velocities)
    twist = np.concatenate([R @ meeting.hand, R @ meeting.hand_rate])  # the hand's axes are those of N
    J = np.asarray(frame_jacobian(arm, rest.q, "hand"))[:, joints]
    v = np.zeros(arm.layout.nv)
    v[joints] = np.linalg.lstsq(J, twist, rcond=None)[0]
    return dataclasses.replace(rest, v=v)


def payload_before_contact(hand: Pose, meeting: ContactVelocities, *, spatial: bool, early: float) -> State:
    """State of the free payload `early` seconds before its grip meets the hand."""
    from freefloat.model import State
    from freefloat.spatial import Pose
    from freefloat.spatial.rotations import rotation_exp

    R = _axes(spatial)
    spin, contact = R @ meeting.spin, R @ meeting.contact
    velocity = contact + np.cross(spin, _INWARD)  # of the centre; inward is x for both arms
    turned = np.asarray(rotation_exp(-early * spin))
    centre = Pose(position=np.asarray(hand.p) + _INWARD - early * velocity, rotation=turned)
    twist = np.concatenate([turned.T @ velocity, turned.T @ spin])
    return State(p_NB=np.asarray(centre.p), quat_NB=np.asarray(centre.quaternion), q=np.zeros(0), v=twist)


def latch_pose(meeting: ContactVelocities, reach: float, *, spatial: bool) -> Pose:
    """Pose of the latch one reach beyond the contact, so that the gap closes when the grip meets the hand."""
    from freefloat.spatial import Pose

    approach = _axes(spatial) @ (meeting.contact - meeting.hand)
    length = float(np.linalg.norm(approach))
    return Pose(position=reach * approach / length)


def _axes(spatial: bool) -> np.ndarray:
    return _TO_SPATIAL if spatial else np.eye(3)
