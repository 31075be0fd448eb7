"""Mounting robots and panels, point masses, starts by name, and numbers that cannot be true."""

import dataclasses
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics import frame_pose, mass_matrix
from freefloat.dynamics.kinematics import frame_jacobian
from freefloat.effects import JointSpring
from freefloat.model import Clock, JointLimits
from freefloat.model.dotted_paths import all_paths, value_at
from freefloat.sim import StartWarning
from freefloat.values import ModelError

LEFT = ff.Pose.from_rpy_deg((0.0, 0.0, 90.0), (0.0, 0.6, 0.1))


def bus_with_panel() -> ff.Spacecraft:
    bus = ff.Spacecraft.from_base("bus", mass=500.0, inertia=(90.0, 110.0, 100.0))
    bus = bus.with_wheel("wheel.x", axis=(1.0, 0.0, 0.0), inertia=0.02)
    panel = ff.flex.beam(length=4.0, mass=20.0, bending_stiffness=400.0, modes=2)
    return bus.mount(panel, name="panel", at=LEFT)


def arm() -> ff.Spacecraft:
    arm = ff.Spacecraft.from_base("arm", mass=4.0, inertia=(0.02, 0.02, 0.02))
    for name, parent, axis in (("shoulder", "base", (0, 0, 1)), ("elbow", "shoulder", (0, 1, 0))):
        limits = JointLimits(lower=-2.0, upper=2.0)
        link = {"joint": "revolute", "mass": 3.0, "com": (0.2, 0, 0), "inertia": (0.01, 0.05, 0.05), "limits": limits}
        arm = arm.with_link(name, parent=parent, at=(0.4, 0.0, 0.0), axis=axis, **link)
    return arm.with_frame("hand", body="elbow", at=(0.4, 0.0, 0.0))


@pytest.mark.parametrize(("to", "at"), [("base", (0.3, -0.2, 0.5)), ("panel.tip", (0.0, 0.1, 0.0)), ("arm.hand", LEFT)])
def test_a_point_mass_adds_its_momentum_and_nothing_else(to, at) -> None:
    """M grows by m J^T J, J being the velocity of the point per unit of every coordinate."""
    plain = bus_with_panel().mount(arm(), name="arm")
    plain = plain.with_frame(
        "point", body=plain.frame(to).body, node=plain.frame(to).node, at=plain.frame(to).X_BF @ ff.spatial.as_pose(at)
    )
    loaded = plain.with_point_mass("ballast", mass=7.0, to=to, at=at)
    assert loaded.layout.nv == plain.layout.nv
    q = np.random.default_rng(3).normal(size=plain.layout.nq) * 0.1
    J = np.asarray(frame_jacobian(plain, q, "point"))[:3]
    grown = np.asarray(mass_matrix(loaded, q) - mass_matrix(plain, q))
    np.testing.assert_allclose(grown, 7.0 * J.T @ J, rtol=0.0, atol=1e-11)  # of a matrix of size 500
    heavier = loaded.with_value("ballast.mass", 14.0)
    np.testing.assert_allclose(np.asarray(mass_matrix(heavier, q) - mass_matrix(plain, q)), 2.0 * grown, atol=1e-11)
    with pytest.raises(ModelError, match="mass must be positive"):
        loaded.with_value("ballast.mass", -1.0)


def test_two_arms_and_one_on_a_panel() -> None:
    craft = (
        bus_with_panel().mount(arm(), name="left", at=(0.5, 0.3, 0.0)).mount(arm(), name="right", at=(0.5, -0.3, 0.0))
    )
    craft = craft.mount(arm(), name="third", to="panel.tip")
    assert craft.layout.moving_joints == tuple(
        f"{a}.{j}" for a in ("left", "right", "third") for j in ("shoulder", "elbow")
    )
    q = craft.at_rest(joints_deg={"left.elbow": 30.0}).q
    bent = np.array(q)
    bent[craft.layout.position("panel.modes").start] = 0.1
    moved = frame_pose(craft, bent, "third.hand").p - frame_pose(craft, q, "third.hand").p
    assert np.linalg.norm(moved) > 0.01  # the arm is carried by the node
    np.testing.assert_array_equal(frame_pose(craft, bent, "left.hand").p, frame_pose(craft, q, "left.hand").p)
    away = np.asarray(frame_pose(craft, q, "left.hand").p - frame_pose(craft, q, "right.hand").p)
    # Both stretched, but the left one pitched by 30 degrees in its last 0.4 m.
    np.testing.assert_allclose(away, [0.4 * (np.cos(np.pi / 6) - 1.0), 0.6, -0.2], atol=1e-14)


def test_what_is_mounted_may_turn_with_damping_limits_and_a_spring() -> None:
    limits = JointLimits(lower=-1.0, upper=1.0)
    craft = bus_with_panel().mount(
        arm(), name="boom", joint="revolute", damping=2.0, friction=0.3, rotor_inertia=0.1, limits=limits
    )
    joint = craft.joint("boom")
    assert (joint.damping, joint.friction, joint.rotor_inertia, joint.limits.upper) == (2.0, 0.3, 0.1, 1.0)
    spring, state = JointSpring("boom", stiffness=8.0), craft.at_rest(joints={"boom": 0.25})
    force = spring.force(craft, state, Clock(t=jnp.zeros(()), tick=jnp.zeros((), int), dt=0.1))
    assert float(force[craft.layout.velocity("boom")][0]) == -2.0
    with pytest.raises(ModelError, match=r"Joint 'boom' is fixed: it has no damping. Say joint='revolute'"):
        bus_with_panel().mount(arm(), name="boom", damping=2.0)


def test_a_link_may_sit_on_a_frame_or_a_node() -> None:
    link = {"joint": "revolute", "mass": 1.0, "inertia": (0.1, 0.1, 0.1), "friction": 0.2}
    craft = bus_with_panel().with_link("lid", parent="panel.tip", at=(0.1, 0.0, 0.0), **link)
    assert (craft.joint("lid").parent, craft.joint("lid").node, craft.joint("lid").friction) == ("panel", "tip", 0.2)
    craft = craft.with_frame("door", body="base", at=LEFT).with_link("leaf", parent="door", at=(0.1, 0.0, 0.0), **link)
    np.testing.assert_allclose(craft.joint("leaf").X_PJ.p, LEFT.apply(np.array([0.1, 0.0, 0.0])), atol=1e-16)


def test_starts_are_said_by_name() -> None:
    craft, at = bus_with_panel().mount(arm(), name="arm"), ff.Pose.from_rpy_deg((0.0, 0.0, 90.0), (1.0, 2.0, 3.0))
    start = craft.at_rest(joints_deg={"arm.elbow": 90.0}, at=at)
    np.testing.assert_allclose(start.quat_NB, [np.sqrt(0.5), 0, 0, np.sqrt(0.5)], atol=1e-15)
    moving = craft.in_motion(
        start,
        velocity=(0.1, 0.0, 0.0),
        rate_deg_s=(0.0, 0.0, 180.0),
        joints_deg_s={"arm.elbow": 18.0},
        wheels={"wheel.x": 60.0},
    )
    v, layout = np.zeros(craft.layout.nv), craft.layout
    v[0], v[5], v[layout.velocity("arm.elbow")], v[layout.velocity("wheel.x")] = 0.1, np.pi, np.pi / 10.0, 60.0
    np.testing.assert_allclose(moving.v, v, rtol=1e-15)
    again = craft.in_motion(moving, joints={"arm.shoulder": 1.0})  # what is not named keeps its speed
    assert again.v[layout.velocity("arm.elbow")] == moving.v[layout.velocity("arm.elbow")]
    slope = jax.grad(lambda w: craft.in_motion(start, joints={"arm.elbow": w}).v @ jnp.asarray(v))(0.3)
    assert float(slope) == pytest.approx(np.pi / 10.0, rel=1e-15)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"joints": {"elbow": 1.0}}, "no moving joint 'elbow'. Moving joints: arm.shoulder, arm.elbow"),
        ({"wheels": {"wheel.y": 1.0}}, "no wheel 'wheel.y'. Wheels: wheel.x"),
        ({"rate": (0, 0, 1), "rate_deg_s": (0, 0, 1)}, "rate and rate_deg_s both say how fast it is"),
        ({"velocity": (1.0,)}, r"velocity must be 3 numbers \(x, y, z\)"),
    ],
)
def test_wrong_speeds_are_refused_by_name(given, said) -> None:
    with pytest.raises(ModelError, match=said):
        bus_with_panel().mount(arm(), name="arm").in_motion(**given)


def test_a_start_beyond_the_limits_is_said_and_a_start_at_them_is_not() -> None:
    craft = arm()
    with pytest.warns(
        StartWarning, match="Joint 'elbow' of 'arm' starts at 150 deg, beyond its limits -114.6 to 114.6"
    ):
        run = ff.simulate(craft, joints_deg={"elbow": 150.0}, duration=0.1)
    assert any("starts at 150 deg" in sentence for sentence in run.audit.warnings)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        ff.simulate(craft, joints_deg={"elbow": float(np.rad2deg(2.0))}, duration=0.1)


def test_every_number_of_a_flexible_spacecraft_has_one_path() -> None:
    craft = bus_with_panel().mount(arm(), name="arm")
    paths = all_paths(craft)
    assert len(paths) == len(set(paths)) == len(jax.tree.leaves(craft))
    for path in paths:
        assert np.all(value_at(craft.with_value(path, value_at(craft, path)), path) == value_at(craft, path))
    assert craft.with_value("panel.joint.damping", 0.0).joint("panel").damping == 0.0
    with pytest.raises(
        ModelError, match=r"more than one number 'panel.damping'. Say panel.body.damping or panel.joint"
    ):
        craft.with_value("panel.damping", 1.0)
    moved = craft.with_value("panel.tip.position", (5.0, 0.0, 0.0))
    np.testing.assert_array_equal(moved.body("panel").node("tip").position, [5.0, 0.0, 0.0])


def test_numbers_of_a_world_are_changed_by_name() -> None:
    world = ff.World(servicer=bus_with_panel(), client=arm()).with_value("client.base.mass", 9.0)
    assert (world.craft("client").body("base").mass, world.craft("servicer").body("base").mass) == (9.0, 500.0)
    with pytest.raises(ModelError, match=r"'base.mass': say of which spacecraft, 'servicer.base.mass'"):
        world.with_value("base.mass", 9.0)


def test_numbers_that_bypass_the_checks_are_found_before_a_run() -> None:
    craft = arm()
    traced = jax.jit(lambda mass: mass_matrix(craft.with_value("base.mass", mass), jnp.zeros(2))[0, 0])
    assert float(traced(-30.0)) == -24.0  # unknown while it is traced: nobody can refuse it
    wrong = jax.tree.map(lambda x: -x if np.shape(x) == (3, 3) else x, craft)
    with pytest.raises(ModelError, match="Body 'base': inertia must be positive definite"):
        wrong.check()
    with pytest.raises(ModelError, match="Body 'base': inertia must be positive definite"):
        ff.simulate(wrong, duration=1.0)
    base = dataclasses.replace(craft.bodies[0], inertia=np.diag([1.0, 1.0, 3.0]))
    thin = dataclasses.replace(craft, bodies=(base, *craft.bodies[1:]))
    with pytest.raises(ModelError, match="triangle inequality"):
        thin.check()
    assert thin.with_point_mass("rim", mass=50.0, at=(0, 0, 1.0)).check()  # fixed together they can be
    assert craft.check() is craft
