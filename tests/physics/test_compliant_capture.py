"""The compliant capture as a passive loop: its energy falls by what its dampers take, whatever the client's tumble is.

Tolerances: 1e-9 relative, where a mass matrix is solved.
"""

import dataclasses
from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import library
from freefloat.control import CaptureGains, CompliantCapture, CompliantCaptureMemory, MeetingState, PoseSpring
from freefloat.dynamics import (
    composite_inertia,
    forward_dynamics,
    frame_jacobian,
    frame_pose,
    inverse_kinematics,
    unforced_twist_rate,
)
from freefloat.spatial import Pose, angular, linear
from freefloat.spatial.rotations import quaternion_exp, quaternion_multiply
from freefloat.values import ModelError
from support.compiling import compiled

POSTURE = np.array(library.SERVICER_CAPTURE)
SERVICER, CLIENT = library.servicer(), library.envisat()
BODY = jax.tree.map(np.asarray, composite_inertia(CLIENT, np.zeros(0)))
SYNCHRONISING, APPROACHING, HELD = 3.0, 20.0, 40.0  # [s]


@cache
def software() -> CompliantCapture:
    return CompliantCapture(SERVICER, CLIENT, CaptureGains.of_model(SERVICER, POSTURE), POSTURE)


def draw_meeting(rng) -> MeetingState:
    """Anywhere near the set points, anyhow moving."""
    set_point = software().reference.base_set_point(jnp.asarray(0.0))
    turn = quaternion_exp(0.2 * rng.normal(size=3))
    return MeetingState(
        p_TB=np.asarray(set_point.p) + 0.1 * rng.normal(size=3),
        quat_TB=np.asarray(quaternion_multiply(set_point.quaternion, turn)),
        q=POSTURE + 0.2 * rng.normal(size=7),
        V_T=0.05 * rng.normal(size=6),
        v=0.1 * rng.normal(size=13),
    )


def along_the_motion(here: MeetingState, vdot) -> MeetingState:
    """Rate of a meeting: the servicer accelerates as said, the client moves freely."""
    spin = jnp.concatenate([jnp.zeros(1), angular(here.V_TB)])
    return MeetingState(
        p_TB=here.X_TB.R @ linear(here.V_TB),
        quat_TB=0.5 * quaternion_multiply(here.quat_TB, spin),
        q=here.v[6:],
        V_T=unforced_twist_rate(BODY, here.V_T),
        v=vdot,
    )


@compiled
def power(capture, memory, here, wrench, t):
    """Wdot along the motion with a wrench at the tool; -s^T D s; and what the wrench and a missing co-rotation give."""
    J = frame_jacobian(SERVICER, here.q, "tool")
    force = capture.force(memory, here, t) + J.T @ wrench
    vdot = forward_dynamics(SERVICER, here.q, here.v, force)
    rate = jax.jvp(
        lambda here, t: capture.energy(memory, here, t), (here, t), (along_the_motion(here, vdot), jnp.ones(()))
    )[1]
    v_r, rates = capture.reference.speeds_and_rates(here, t)
    s, missing = here.v - v_r, capture.schedule.arm_rotation_share(t) * capture.co_rotation_force(here, v_r, rates)
    slack = dataclasses.replace(here, v=here.v - s)
    damped = capture.compliance_force(memory, here, s, t) - capture.compliance_force(memory, slack, jnp.zeros(13), t)
    return rate, s @ damped, s @ (J.T @ wrench - missing)


def held(joints) -> CompliantCaptureMemory:
    """Grasped where the set points are."""
    base = software().reference.base_set_point(jnp.asarray(HELD))
    return CompliantCaptureMemory(joints, np.asarray(base.p), np.asarray(base.quaternion), np.asarray(True))


def holding_on(here: MeetingState) -> MeetingState:
    """The same with a tool whose origin does not move as the client sees it; it may turn."""
    J = np.asarray(frame_jacobian(SERVICER, here.q, "tool"))
    carried = np.asarray(here.X_TB.twist_to_B(here.V_T))
    s = here.v - np.concatenate([carried, np.zeros(7)])
    moving = np.asarray(software().held_twist(here, J, s))
    return dataclasses.replace(here, v=np.concatenate([carried + moving, here.v[6:]]))


@pytest.mark.parametrize("t", [SYNCHRONISING, APPROACHING, HELD])
def test_energy_falls_by_what_the_dampers_take(rng, t):
    """Once the joints' springs have taken over, while the tool holds on."""
    for _ in range(5):
        here, memory = draw_meeting(rng), held(POSTURE)
        here = holding_on(here) if t == HELD else here
        rate, damped, given = power(software(), memory, here, rng.normal(size=6), t)
        assert damped < 0.0
        np.testing.assert_allclose(rate, damped + given, rtol=1e-9, atol=1e-9)


def test_a_tool_that_slips_breaks_the_balance_of_held_springs(rng):
    """Negative control: joints alone do not know where the base is once the tool has slipped."""
    here, memory = draw_meeting(rng), held(POSTURE)
    rate, damped, given = power(software(), memory, here, np.zeros(6), HELD)
    assert abs(rate - damped - given) > 1e-2 * abs(damped)


def test_a_wrong_model_of_the_client_or_the_servicer_gives_energy(rng):
    """Negative control: the identity is one of the model, not of anything."""
    here, memory = draw_meeting(rng), held(POSTURE)
    wrong = (
        dataclasses.replace(software(), client=CLIENT.with_value("base.inertia", np.diag([1e4, 2e4, 3e4]))),
        dataclasses.replace(software(), craft=SERVICER.with_value("base.mass", 700.0)),
    )
    for one in wrong:
        rate, damped, _ = power(one, memory, here, np.zeros(6), SYNCHRONISING)
        assert abs(rate - damped) > 1e-3 * abs(damped)


# ---- springs and what is asked for at an instant


@compiled
def spring_power(spring, X_DE, V):
    """Rate of the spring's energy along a twist, and the power of its wrench."""

    def later(s):
        return spring.energy(X_DE @ Pose.exp(s * V))

    return jax.jvp(later, (jnp.zeros(()),), (jnp.ones(()),))[1], spring.spring_wrench(X_DE) @ V


def test_a_pose_spring_gives_up_its_energy_along_a_twist(rng):
    """At any angle; with the wrong sign it would be twice the power off."""
    spring = PoseSpring(np.arange(1.0, 7.0), np.ones(6))
    for size in (1e-7, 0.1, 1.0, 2.5):
        X_DE = Pose.exp(jnp.asarray(size * rng.normal(size=6)))
        rate, given = spring_power(spring, X_DE, rng.normal(size=6))
        np.testing.assert_allclose(rate, -given, rtol=1e-9, atol=1e-12)
        assert abs(rate - given) > abs(rate)


@compiled
def asked(capture, memory, here, t):
    return capture.force(memory, here, t)


def test_a_steady_push_moves_the_tool_by_the_stiffness_and_the_base_not_at_all():
    """A wrench at the tool is balanced where the tool is off by F / K: joints and thrust take it, at rest."""
    push = np.array([2.0, -1.0, 3.0, 0.0, 0.0, 0.0])  # [N], tool axes
    capture, t = software(), 0.0
    off = push[:3] / np.asarray(capture.gains.tool.stiffness)[:3]
    X_BE = frame_pose(SERVICER, POSTURE, "tool")
    moved = Pose(np.asarray(X_BE.p) + np.asarray(X_BE.R) @ off, np.asarray(X_BE.R))
    found = inverse_kinematics(SERVICER, "tool", moved, POSTURE)
    assert found.reached
    base = capture.reference.base_set_point(jnp.asarray(t))
    here = MeetingState(np.asarray(base.p), np.asarray(base.quaternion), found.q, np.zeros(6), np.zeros(13))
    force = asked(capture, held(POSTURE), here, t)
    J = np.asarray(frame_jacobian(SERVICER, found.q, "tool"))
    # Inverse kinematics ends within 1e-10 m and rad; stiffness 1e2 N/m, lever 2 m.
    np.testing.assert_allclose(force + J.T @ push, 0.0, atol=1e-6)


def test_what_is_asked_for_does_not_jump_where_a_phase_begins(rng):
    """For one and the same motion: what changes around a time shrinks with the time; a jump would stay."""
    capture, here = software(), draw_meeting(rng)
    memory, schedule = held(here.q + 0.01), capture.schedule
    begins = [getattr(schedule, name) for name in ("approach", "grasp", "rigidise", "done")]
    ends = [schedule.grasp + schedule.exchange, schedule.rigidise + schedule.handover]
    for time in (*begins, *ends):
        changes = [
            np.max(np.abs(asked(capture, memory, here, time + step) - asked(capture, memory, here, time - step)))
            for step in (1e-3, 1e-4)
        ]
        assert changes[1] < 0.2 * changes[0] + 1e-9


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"grasped": "client.rim"}, "Frames of spacecraft 'envisat': "),
        ({"posture": (0.0, 1.0)}, "7 joint positions"),
        ({"arm_share": 1.5}, "arm_share must be at most 1"),
        ({"craft": CLIENT}, "six or more joints"),
    ],
)
def test_impossible_captures_are_refused(changes, said):
    with pytest.raises(ModelError, match=said):
        dataclasses.replace(software(), **changes)
