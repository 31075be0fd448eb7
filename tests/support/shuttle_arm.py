"""The planar Shuttle arm at the moment of impact (posture, speeds and cases of our reference set), for tests."""

import dataclasses

import numpy as np

import freefloat as ff
from freefloat.dynamics import GRASP, FrameRows, frame_jacobian, inertial_frame_pose
from freefloat.model import Spacecraft, State

JOINTS = ("shoulder", "elbow", "wrist")
POSTURE_DEG = {"shoulder": 60.0, "elbow": -90.0, "wrist": 30.0}
SPIN = np.pi / 60.0  # 0.5 rpm [rad/s]
_SLANT = np.deg2rad(22.7)

# velocity of the hand (x, y) and its rate, velocity of the payload's contact point (x, y) and its spin [m/s, rad/s]
CASES = {
    "T-soft-a": ((0.0, 0.052), 0.0, (0.0, SPIN), -SPIN),
    "T-soft-b": ((0.0, SPIN), -SPIN, (0.0, SPIN), -SPIN),
    "T-hard": ((0.0, 0.052), 0.0, (-0.1 * np.sin(_SLANT), 0.1 * np.cos(_SLANT)), -SPIN),
    "N-soft": ((-0.1, 0.0), 0.0, (-0.1, 0.0), 0.0),
    "N-hard": ((-0.1, 0.0), 0.0, (-0.25, 0.0), 0.0),
}
PLANAR = tuple(GRASP[k] for k in (0, 1, 5))  # all that moves in the plane


def grasp_rows(directions=PLANAR) -> tuple[FrameRows, ...]:
    """Rows between the payload (0) and the hand (1): impulses along them act on the arm."""
    return (FrameRows((0, "grip"), (1, "hand"), directions),)


def at_impact(case: str, modes: int = 1) -> tuple[tuple[Spacecraft, ...], tuple[State, ...]]:
    """(payload, arm) and their states just before."""
    hand, turn, contact, spin = CASES[case]
    arm, payload = ff.library.srms(modes=modes, planar=True), ff.library.srms_payload(planar=True)
    rest = arm.at_rest(joints_deg=POSTURE_DEG)
    X_NE, at = inertial_frame_pose(arm, rest, "hand"), list(arm.layout.indices(JOINTS))
    J = np.asarray(frame_jacobian(arm, rest.q, "hand"))[:, at]  # the hand is aligned with N
    v = np.zeros(arm.layout.nv)
    v[at] = np.linalg.solve(J[[0, 1, 5]], [*hand, turn])
    centre = np.asarray(X_NE.p) + np.array([1.0, 0.0, 0.0])  # the payload's radius ahead [m]
    moving = np.array([contact[0], contact[1] + spin, 0.0, 0.0, 0.0, spin])
    return (payload, arm), (
        dataclasses.replace(payload.at_rest(), p_NB=centre, v=moving),
        dataclasses.replace(rest, v=v),
    )
