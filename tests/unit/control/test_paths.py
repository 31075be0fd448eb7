"""Paths: rates are derivatives of positions, means over a hold arrive, splines are smooth; any frame, any joints."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.control import (
    Circle,
    FunctionPath,
    HoldJoints,
    JointMotion,
    JointSpline,
    Line,
    PoseSpline,
    ResolvedMotion,
    SatelliteBasedMotion,
    Turn,
)
from freefloat.control.paths import require_path
from freefloat.dynamics import inertial_frame_pose
from freefloat.library import ets7
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_about, rotation_exp, rotation_log, skew
from freefloat.values import ModelError, SoftwareError

START = (0.0, 0.0, 10.0, -32.8, 0.0, 0.0)  # [deg]
VIA = [
    Pose(),
    Pose.from_rpy_deg((20.0, -60.0, 10.0), (0.2, 0.1, 0.0)),
    Pose.from_rpy_deg((80.0, 10.0, 150.0), (0.3, -0.1, 0.2)),
    Pose.from_rpy_deg((-10.0, 0.0, -120.0), (0.0, 0.0, 0.1)),
]


def wave(t):
    """A figure in the plane that turns about its normal."""
    return Pose(
        position=0.1 * jnp.stack([jnp.sin(t), jnp.sin(2.0 * t), 0.0 * t]),
        rotation=rotation_about(np.eye(3)[2], 0.3 * t),
    )


PATHS = {
    "line": Line(direction=(1, 2, 0), length=0.2, speed=0.02),
    "turn": Turn.by_deg((0, 1, 1), 50.0, 8.0),
    "circle": Circle.by_deg((0.0, 0.3, 0.1), (1, 0, 0), 360.0, 9.0),
    "facing": Circle.by_deg((0.0, 0.3, 0.1), (1, 0, 1), -120.0, 9.0, facing=True),
    "spline": PoseSpline.through(VIA, [3.0, 2.0, 4.0]),
    "passing": PoseSpline.through(VIA, [3.0, 2.0, 4.0], start_velocity=(0.1, 0, 0), end_spin=(0, 0.2, 0.1)),
    "function": FunctionPath(wave, duration=7.0),
}


@pytest.mark.parametrize("name", PATHS)
def test_rates_are_the_derivatives_of_the_pose(name) -> None:
    path = PATHS[name]

    @jax.jit
    def both(t):
        v = jax.jvp(path.displacement, (t,), (jnp.ones(()),))[1]
        R, turning = jax.jvp(lambda t: jnp.asarray(path.rotation(t)), (t,), (jnp.ones(()),))
        return v, path.velocity(t), turning, skew(jnp.asarray(path.spin(t))) @ R

    for t in np.linspace(-0.5, float(path.duration) + 0.5, 23) + 0.0123:
        v, velocity, turning, spun = both(jnp.asarray(t))
        np.testing.assert_allclose(velocity, v, atol=1e-14)
        np.testing.assert_allclose(spun, turning, atol=1e-13)


@pytest.mark.parametrize("name", PATHS)
def test_means_over_a_hold_arrive_exactly(name) -> None:
    path, hold = PATHS[name], 0.25
    velocity, spin = (jax.jit(lambda t, of=of: of(t, hold)) for of in (path.velocity, path.spin))
    p, R = np.asarray(path.displacement(jnp.zeros(()))), np.asarray(path.rotation(jnp.zeros(())))
    for k in range(60):
        p = p + hold * np.asarray(velocity(jnp.asarray(hold * k)))
        R = np.asarray(rotation_exp(hold * jnp.asarray(spin(jnp.asarray(hold * k))))) @ R
    end = jnp.asarray(hold * 60)
    np.testing.assert_allclose(p, path.displacement(end), atol=1e-13)
    np.testing.assert_allclose(R, path.rotation(end), atol=1e-13)


@pytest.mark.parametrize("name", ["spline", "passing"])
def test_a_spline_meets_its_poses_without_a_jump_of_its_acceleration(name) -> None:
    path, at = PATHS[name], np.array([0.0, 3.0, 5.0, 9.0])
    for t, X in zip(at, VIA, strict=True):
        np.testing.assert_allclose(path.displacement(jnp.asarray(t)), X.p, atol=1e-15)
        assert np.linalg.norm(rotation_log(jnp.asarray(path.rotation(jnp.asarray(t)) @ X.R.T))) < 1e-14
    rates = jax.jit(lambda t: jnp.concatenate([path.velocity(t), path.spin(t)]))
    acceleration = jax.jit(jax.jacfwd(rates))
    for t in at[1:-1]:
        before, after = (jnp.asarray(t + e) for e in (-1e-9, 1e-9))
        np.testing.assert_allclose(rates(before), rates(after), atol=1e-8)
        # Zero by construction; the jerk is of the order of 1, so 1e-9 s change it by 1e-9.
        np.testing.assert_allclose(acceleration(before), np.zeros(6), atol=1e-7)
        np.testing.assert_allclose(acceleration(after), np.zeros(6), atol=1e-7)
    ends = np.asarray(rates(jnp.asarray(1e-12))), np.asarray(rates(jnp.asarray(9.0 - 1e-12)))
    given = ([0.1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0.2, 0.1]) if name == "passing" else (np.zeros(6), np.zeros(6))
    np.testing.assert_allclose(ends, given, atol=1e-10)


def test_a_circle_keeps_its_distance_and_closes() -> None:
    circle, centre = PATHS["circle"], np.array([0.0, 0.3, 0.1])
    far = [np.linalg.norm(circle.displacement(jnp.asarray(t)) - centre) for t in np.linspace(0, 9, 11)]
    np.testing.assert_allclose(far, np.linalg.norm(centre), rtol=1e-14)
    np.testing.assert_allclose(circle.displacement(jnp.asarray(9.0)), np.zeros(3), atol=1e-15)
    facing = PATHS["facing"]
    for t in (2.0, 5.0):  # the centre stays where it is in the axes of the hand
        here = facing.pose(jnp.asarray(t))
        np.testing.assert_allclose(here.R.T @ (centre - here.p), centre, atol=1e-15)


@ff.record
class Half:
    """Forgets how it turns."""

    duration: float = 1.0

    def displacement(self, t):
        return jnp.zeros(3)

    def velocity(self, t, hold=0.0):
        return jnp.zeros(3)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (Half(), r"ResolvedMotion.path: Half lacks rotation\(t\), a matrix, spin\(t, hold\) \[rad/s\]. Derive it from"),
        (Half, "got the class Half"),
        (None, "must be a path such as Line, Turn, Circle or PoseSpline, got None"),
    ],
)
def test_a_path_that_lacks_something_is_told_what(path, said) -> None:
    with pytest.raises(ModelError, match=said):
        require_path("ResolvedMotion", path)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: PoseSpline.through([Pose()], []), "two poses or more, got 1"),
        (lambda: PoseSpline.through(VIA, [1.0, 2.0]), "durations must be 3 numbers for 4 poses"),
        (lambda: PoseSpline.through(VIA, [1.0, 2.0, -1.0]), "must be positive"),
        (lambda: Circle.by_deg((0, 0), (1, 0, 0), 90.0, 1.0), "Circle.centre must be three numbers"),
        (lambda: JointSpline.through(ets7(), [{}, {"arm.9": 1.0}], [1.0]), "no joint of this spline 'arm.9'"),
        (lambda: ResolvedMotion(craft=ets7(), frame="hand", path=PATHS["line"], joints=("arm.1",)), "six joints"),
    ],
)
def test_impossible_paths_are_refused(make, said) -> None:
    with pytest.raises(ValueError, match=said):
        make()


def hand_after(software, craft, **options) -> tuple[ff.Run, Pose]:
    run = ff.simulate(craft, software, dt=0.05, **options)
    return run, Pose.from_quaternion(
        jnp.asarray(run["hand.attitude"].values[-1]), jnp.asarray(run["hand.position"].values[-1])
    )


@pytest.mark.parametrize(
    "relative_to", [pytest.param("", marks=pytest.mark.slow), pytest.param("N", marks=pytest.mark.slow), "base"]
)
def test_a_path_is_followed_in_the_frame_it_is_given_in(relative_to) -> None:
    craft = ets7()
    start = craft.at_rest(joints_deg=START, at=Pose.from_rpy_deg((10.0, 20.0, 30.0), (1.0, 0.0, 0.0)))
    hand = inertial_frame_pose(craft, start, "hand")
    origin = {"": hand, "N": Pose(), "base": start.X_NB}[relative_to]
    goal = hand @ Pose.from_rpy_deg((5.0, 0.0, 5.0), (0.05, 0.02, 0.0))
    via = [origin.inverse() @ hand, origin.inverse() @ goal]
    # Continuous it errs by what the step does; held for 0.05 s, by how a joint turns: (0.02 rad/s)^2 x 2 m x 0.05 s.
    period, near = (None, 1e-7) if relative_to == "base" else (0.05, 4e-5)
    path = PoseSpline.through(via, [8.0])
    software = ResolvedMotion(craft, path, frame="hand", relative_to=relative_to, gain=0.5, period=period)
    run, reached = hand_after(software, craft, state=start, duration=9.0)
    np.testing.assert_allclose(reached.p, goal.p, atol=near)
    np.testing.assert_allclose(reached.R, goal.R, atol=near)
    assert np.max(np.abs(run["hand.position_error"].values)) < 10.0 * near


@pytest.mark.slow
def test_a_path_in_a_moving_target_s_frame_follows_the_target() -> None:
    craft, target = ets7(), ff.Spacecraft.from_base("target", mass=50.0, inertia=(5.0, 5.0, 5.0))
    target = target.with_frame("ring", body="base")
    start = craft.at_rest(joints_deg=START)
    hand = inertial_frame_pose(craft, start, "hand")
    drifting = target.in_motion(
        target.at_rest(at=Pose(position=np.asarray(hand.p))), velocity=(0.0, 0.004, 0.0), rate=(0, 0, 0.01)
    )
    path = PoseSpline.through([Pose(rotation=hand.R), Pose(position=(0.02, 0, 0), rotation=hand.R)], [8.0])
    software = ResolvedMotion(craft, path, frame="hand", relative_to="target.ring", gain=1.0, period=0.05, on="chaser")
    world = ff.World(chaser=craft, target=target)
    run = ff.simulate(world, software, state={"chaser": start, "target": drifting}, duration=12.0, dt=0.05)
    # Held for 0.05 s, the twist of the target turns by 5e-4 rad and errs by 1e-6 m/s.
    assert np.max(np.abs(run["chaser.hand.position_error"].values)) < 1e-5
    moved = run["chaser.hand.position"].values[-1] - hand.p
    assert np.linalg.norm(moved) > 0.04
    with pytest.raises(SoftwareError, match="must be sampled: give it a period"):
        dataclasses.replace(software, period=None)


@pytest.mark.slow
def test_satellite_based_paths_may_be_in_base_axes() -> None:
    craft, start = ets7(), ets7().at_rest(joints_deg=START)
    X_BE = inertial_frame_pose(craft, start, "hand")
    shift = np.array([0.0, 0.0, 0.01])
    path = PoseSpline.through([X_BE, Pose(position=X_BE.p + shift, rotation=X_BE.R)], [4.0])
    software = SatelliteBasedMotion(craft, path, frame="hand", relative_to="base")
    held = ff.World.of(craft).hold_base()
    run = ff.simulate(held, software, state=start, duration=5.0, dt=0.05)
    np.testing.assert_allclose(run["hand.position"].values[-1], X_BE.p + shift, atol=1e-8)


@pytest.mark.slow
def test_two_arms_move_one_hand_each() -> None:
    arm = ets7()
    bus = ff.Spacecraft.from_base("bus", mass=2000.0, inertia=(2e3, 2e3, 2e3))
    bus = bus.mount(arm, name="left", at=(0, 3.0, 0)).mount(arm, name="right", at=(0, -3.0, 0))
    ours = tuple(n for n in bus.layout.moving_joints if n.startswith("left."))
    others = tuple(n for n in bus.layout.moving_joints if n not in ours)
    line = Line(direction=(1, 0, 0), length=0.1, speed=0.02, ramp=1.0)
    software = ResolvedMotion(bus, line, frame="left.hand", joints=ours, period=0.05)
    run = ff.simulate(bus, software, HoldJoints(others), joints_deg=(*START, *START), duration=7.0, dt=0.05)
    # Without feedback, held for 0.05 s at 0.01 rad/s and 2 m: 1e-5 m/s for 7 s. Moved by the other arm it would be 2 %.
    assert np.max(np.abs(run["left.hand.position_error"].values)) < 7e-5
    still = run["joints.position"].sel(joint=list(others)).values
    np.testing.assert_array_equal(still, np.broadcast_to(still[0], still.shape))


@pytest.mark.parametrize("degrees", [-30.1, 40.1])
def test_points_beyond_the_limits_of_a_joint_are_refused(degrees) -> None:
    craft = (
        ets7().with_value("arm.2.limits.lower", np.deg2rad(-30.0)).with_value("arm.2.limits.upper", np.deg2rad(40.0))
    )
    with pytest.raises(ModelError, match=rf"asks joint 'arm.2' for {degrees:g} deg, beyond its limits -30 to 40 deg"):
        JointSpline.through(craft, [{}, {"arm.2": degrees}], [1.0])
    JointSpline.through(craft, [{"arm.2": -29.9}, {"arm.2": 39.9}], [1.0])


def test_a_sampled_joint_spline_commands_the_mean_of_the_coming_hold() -> None:
    """At every tick the joints are exactly on the path; commanded by the rate now, they would lag by half a hold."""
    craft, period = ets7(), 0.25
    spline = JointSpline.through(craft, [{"arm.2": 0.0}, {"arm.2": 20.0}, {"arm.2": 5.0}], [1.0, 1.5], joints=["arm.2"])
    sampled = dataclasses.replace(spline, period=period)
    run = ff.simulate(craft, sampled, duration=3.0, dt=0.05, record_dt=period)
    asked = [spline.positions(jnp.asarray(t))[0] for t in run["time"].values]
    np.testing.assert_allclose(run["joints.position"].sel(joint="arm.2").values, asked, atol=1e-14)
    assert np.max(np.abs(np.diff(asked))) > 0.05


def test_joints_follow_a_function_and_points_by_name() -> None:
    craft = ets7()
    motion = JointMotion(
        ("arm.1", "arm.3"), lambda t: jnp.stack([0.1 * jnp.sin(t), 0.02 * t**2]), duration=3.0, period=0.05
    )
    rest = tuple(n for n in craft.layout.moving_joints if n not in motion.joints)
    run = ff.simulate(craft, motion, HoldJoints(rest), duration=4.0, dt=0.05)
    at = run["joints.position"].sel(joint=["arm.1", "arm.3"]).values[-1]
    np.testing.assert_allclose(at, [0.1 * np.sin(3.0), 0.18], atol=1e-13)  # held means arrive exactly
    spline = JointSpline.through(
        craft, [{"arm.2": 10.0}, {"arm.3": 20.0}, {"arm.2": 0.0}], [1.0, 2.0], joints=("arm.2", "arm.3")
    )
    np.testing.assert_allclose(spline.points, np.deg2rad([[10.0, 0.0], [10.0, 20.0], [0.0, 20.0]]))
