"""Random spatial arms with flexible booms, and payloads that meet their hands."""

import numpy as np

from freefloat.dynamics import inertial_frame_pose
from freefloat.flex import beam
from freefloat.model import Spacecraft, State
from freefloat.spatial import Pose
from support.trees import draw_body, draw_rotation

BOOMS = (1, 3)


def draw_arm(rng) -> Spacecraft:
    """Six joints about any axes; two booms of about the Shuttle arm's size that bend in both planes."""
    craft = Spacecraft.from_base("arm", mass=rng.uniform(2e4, 1e5), inertia=rng.uniform(0.8, 1.2, 3) * 1e6)
    parent = "base"
    for k in range(6):
        if k in BOOMS:
            size = {"length": rng.uniform(5, 8), "mass": rng.uniform(60, 150)}
            part = beam(**size, bending_stiffness=rng.uniform(2e6, 5e6), modes=1)
        else:
            part = Spacecraft.from_base("part", **draw_body(rng, (10.0, 60.0)))
        place = Pose(position=rng.uniform(-1, 1, 3), rotation=draw_rotation(rng))
        axis = rng.normal(size=3)
        axis = axis / np.linalg.norm(axis)
        craft = craft.mount(part, name=f"part{k}", to=parent, at=place, joint="revolute", axis=axis)
        parent = f"part{k}.tip" if k in BOOMS else f"part{k}"
    return craft.with_frame("hand", body="part5", at=Pose(position=(0.7, 0.1, 0.0), rotation=draw_rotation(rng)))


def draw_meeting(rng):
    """Payload (0) and arm (1), contact points together, both moving."""
    arm = draw_arm(rng)
    axes = draw_rotation(rng)
    inertia = axes @ np.diag(rng.uniform(0.5, 0.9, 3) * 1e4) @ axes.T
    payload = Spacecraft.from_base("payload", mass=rng.uniform(2e3, 1e4), inertia=(inertia + inertia.T) / 2)
    payload = payload.with_frame("grip", body="base", at=rng.uniform(-1, 1, 3))
    quat = rng.normal(size=4)
    q = rng.uniform(-1, 1, arm.layout.nq)
    for name in arm.layout.modes:
        q[arm.layout.positions[name]] *= 0.02
    state = State(p_NB=rng.normal(size=3), quat_NB=quat / np.linalg.norm(quat), q=q, v=0.05 * rng.normal(size=16))
    X = inertial_frame_pose(arm, state, "hand") @ payload.frame("grip").X_BF.inverse()
    other = State(p_NB=np.asarray(X.p), quat_NB=np.asarray(X.quaternion), q=np.zeros(0), v=0.1 * rng.normal(size=6))
    return (payload, arm), (other, state)
