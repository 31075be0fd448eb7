"""Closed chains against Pinocchio's constrained dynamics (proximal, converged): a four-bar and a grasp by two arms."""

import dataclasses

import numpy as np
import pytest

from freefloat import dynamics
from freefloat.dynamics import GRASP, POINT, FrameRows, held_motion, hinge, return_to_rows, row_error, row_velocity
from freefloat.model import Spacecraft, State
from freefloat.spatial import Pose
from support.trees import draw_body, draw_pose, draw_rotation

pin = pytest.importorskip("pinocchio")


def in_pinocchio(crafts):
    """All spacecraft in one model, each on a free-flyer; joint and placement of every body."""
    model, places = pin.Model(), []
    model.gravity = pin.Motion.Zero()
    for c, craft in enumerate(crafts):
        carried = {}
        for body, joint in zip(craft.bodies, (None, *craft.joints), strict=True):
            if joint is None:
                added = model.addJoint(0, pin.JointModelFreeFlyer(), pin.SE3.Identity(), f"{c}.base")
            else:
                at = pin.SE3(np.asarray(joint.X_PJ.R), np.asarray(joint.X_PJ.p))
                kind = pin.JointModelRevoluteUnaligned(np.asarray(joint.axis))
                added = model.addJoint(carried[joint.parent], kind, at, f"{c}.{joint.name}")
            inertia = pin.Inertia(float(body.mass), np.asarray(body.com), np.asarray(body.inertia))
            model.appendBodyToJoint(added, inertia, pin.SE3.Identity())
            carried[body.name] = added
        places.append(carried)
    return model, places


def configuration(states):
    """Positions and speeds; quaternions are scalar-last there."""
    q = [np.concatenate([s.p_NB, np.roll(s.quat_NB, -1), s.q]) for s in states]
    return np.concatenate(q), np.concatenate([s.v for s in states])


def their_acceleration(crafts, states, forces, rows, kind):
    """Constrained accelerations with the same frames held."""
    model, places = in_pinocchio(crafts)
    contacts = []
    for one in rows:
        joints, poses = [], []
        for c, name in (one.first, one.second):
            frame = crafts[c].frame(name)
            joints.append(places[c][frame.body])
            poses.append(pin.SE3(np.asarray(frame.X_BF.R), np.asarray(frame.X_BF.p)))
        contacts.append(pin.RigidConstraintModel(kind, model, joints[0], poses[0], joints[1], poses[1], pin.LOCAL))
    data, datas = model.createData(), [contact.createData() for contact in contacts]
    pin.initConstraintDynamics(model, data, contacts, datas)
    settings = pin.ProximalSettings(1e-14, 1e-10, 200)  # accuracy, damping, iterations
    q, v = configuration(states)
    return pin.constraintDynamics(model, data, q, v, np.concatenate(forces), contacts, datas, settings)


def close_up(crafts, states, rows):
    """A consistent start: positions and speeds brought onto the rows."""
    for _ in range(30):
        states = return_to_rows(crafts, states, rows).states
    np.testing.assert_allclose(row_error(crafts, states, rows), 0.0, atol=1e-12)
    np.testing.assert_allclose(row_velocity(crafts, states, rows), 0.0, atol=1e-11)
    return tuple(State(**{f.name: np.asarray(getattr(s, f.name)) for f in dataclasses.fields(s)}) for s in states)


def compare(crafts, states, forces, rows, kind, independent):
    found = held_motion(crafts, states, forces, rows)
    assert found.rank == independent
    theirs = their_acceleration(crafts, states, forces, rows, kind)
    ours = np.concatenate(found.vdots)
    error = np.max(np.abs(ours - theirs)) / np.max(np.abs(theirs))
    print("largest difference:", error)  # noqa: T201
    assert error < 1e-8  # theirs ends when its multipliers move by less than 1e-14 of damped steps
    return ours


def four_bar(rng):
    """A floating base, three links about parallel axes, and a pin on the base for the last one's tip."""
    craft = Spacecraft.from_base("bars", **draw_body(rng, (5.0, 9.0)))
    lengths, parent, at = (0.6, 1.0, 0.8), "base", (0.2, 0.1, 0.0)
    for k, length in enumerate(lengths):
        craft = craft.with_link(f"bar{k}", parent=parent, joint="revolute", at=at, **draw_body(rng, (1.0, 2.0)))
        parent, at = f"bar{k}", (length, 0.0, 0.0)
    craft = craft.with_frame("tip", body="bar2", at=(lengths[2], 0.0, 0.0))
    return craft.with_frame("pin", body="base", at=(1.1, 0.3, 0.0))


def test_a_four_bar_linkage(rng):
    """The plane makes one of three rows redundant; one freedom is left to the three joints."""
    craft = four_bar(rng)
    start = craft.at_rest(joints=(1.2, -0.9, -1.4))
    start = dataclasses.replace(start, v=rng.normal(size=9))
    rows = (FrameRows((0, "pin"), (0, "tip"), POINT),)
    states = close_up((craft,), (start,), rows)
    forces = (rng.normal(size=9),)
    ours = compare((craft,), states, forces, rows, pin.ContactType.CONTACT_3D, 2)
    # A hinge has three redundant rows there and does the same.
    turning = (FrameRows((0, "pin"), (0, "tip"), hinge((0.0, 0.0, 1.0))),)
    found = held_motion((craft,), states, forces, turning)
    assert found.rank == 2
    np.testing.assert_allclose(found.vdots[0], ours, atol=1e-9 * np.max(np.abs(ours)))
    freedoms = np.linalg.matrix_rank(np.asarray(dynamics.row_jacobian((craft,), states, rows)[0])[:, 6:], tol=1e-9)
    assert freedoms == 2


def two_armed(rng):
    """A base with two arms of six joints, and a body with two handles between the hands."""
    craft = Spacecraft.from_base("servicer", **draw_body(rng, (50.0, 80.0)))
    for arm in ("left", "right"):
        parent = "base"
        for k in range(6):
            craft = craft.with_link(
                f"{arm}{k}",
                parent=parent,
                joint="revolute",
                at=draw_pose(rng),
                axis=rng.normal(size=3),
                **draw_body(rng, (2.0, 5.0)),
            )
            parent = f"{arm}{k}"
        craft = craft.with_frame(f"{arm}.hand", body=parent, at=draw_pose(rng))
    state = craft.at_rest(rng.uniform(-1, 1, 12))
    state = dataclasses.replace(state, v=rng.normal(size=18))
    client = Spacecraft.from_base("client", **draw_body(rng, (20.0, 30.0)))
    free = State(p_NB=rng.normal(size=3), quat_NB=np.array([1.0, 0, 0, 0]), q=np.zeros(0), v=rng.normal(size=6))
    for arm in ("left", "right"):
        X = dynamics.relative_pose((craft, client), (state, free), (1, "base"), (0, f"{arm}.hand"))
        at = Pose(position=np.asarray(X.p), rotation=np.asarray(X.R))
        client = client.with_frame(f"{arm}.handle", body="base", at=at)
    return (craft, client), (state, free)


@pytest.mark.slow
def test_a_body_held_by_two_arms(rng):
    """Twelve rows, a loop through two spacecraft: one grasp becomes a joint, the other stays rows."""
    crafts, states = two_armed(rng)
    rows = tuple(FrameRows((0, f"{arm}.hand"), (1, f"{arm}.handle"), GRASP) for arm in ("left", "right"))
    states = close_up(crafts, states, rows)
    forces = tuple(rng.normal(size=c.layout.nv) for c in crafts)
    compare(crafts, states, forces, rows, pin.ContactType.CONTACT_6D, 12)
    by_rows = dynamics.held_motion_by_rows(crafts, states, forces, rows)
    found = held_motion(crafts, states, forces, rows)
    np.testing.assert_allclose(found.multipliers, by_rows.multipliers, atol=1e-8 * np.max(np.abs(by_rows.multipliers)))


def test_a_body_held_to_space_does_not_move(rng):
    body = Spacecraft.from_base("body", **draw_body(rng, (5.0, 9.0)))
    state = dataclasses.replace(body.at_rest(), quat_NB=np.array([1.0, 0, 0, 0]))
    pose = Pose(rotation=draw_rotation(rng)).inverse()
    body = body.with_frame("grip", body="base", at=pose)
    held = FrameRows(
        dynamics.INERTIAL, (0, "grip"), held=dynamics.relative_pose((body,), (state,), dynamics.INERTIAL, (0, "grip"))
    )
    force = rng.normal(size=6)
    found = held_motion((body,), (state,), (force,), (held,))
    np.testing.assert_allclose(found.vdots[0], 0.0, atol=1e-15)
    pushed = dynamics.row_forces((body,), (state,), (held,), found.multipliers)[0]
    np.testing.assert_allclose(pushed, -force, atol=1e-14)
