"""Equations of motion that fit on a page, worked out by hand. Tolerance 1e-13: a dozen operations on numbers near 1."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import analysis, dynamics
from freefloat.dynamics.impact import row_impact
from freefloat.dynamics.relative_rows import FrameRows
from freefloat.dynamics.row_directions import normal
from freefloat.dynamics.state_rate import component_rates, state_rate
from freefloat.model import Spacecraft, State
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_exp, rotation_matrix, skew
from support import trees
from support.compiling import compiled

TOLERANCE = 1e-13
M0, I0 = 20.0, 10.0  # base [kg], [kg m2]
M1, D = 5.0, 1.0  # rod [kg], its centre from the joint [m]
I1 = M1 * (2.0 * D) ** 2 / 12.0  # about its centre [kg m2]
VX, VY, WZ, QD = 0, 1, 5, 6  # planar speeds among (v, w, qdot)
PLANAR = [VX, VY, WZ, QD]


linearise, wheel_momentum = compiled(analysis.linearise_free), compiled(dynamics.wheel_momentum)
held_dynamics = compiled(dynamics.held_dynamics)


def close(ours, exact):
    np.testing.assert_allclose(np.asarray(ours), exact, rtol=0.0, atol=TOLERANCE * max(1.0, np.max(np.abs(exact))))


# ---- one rod on a hinge at the base's centre of mass


@pytest.fixture
def hinge() -> Spacecraft:
    return (
        Spacecraft.from_base("hinge", mass=M0, inertia=(I0, I0, I0))
        .with_link(
            "rod",
            parent="base",
            joint="revolute",
            mass=M1,
            com=(D, 0.0, 0.0),
            inertia=(1e-3, I1, I1),
            axis=(0.0, 0.0, 1.0),
        )
        .with_frame("tip", body="rod", at=Pose(position=(2.0 * D, 0.0, 0.0)))
    )


def test_a_hinge_on_a_test_stand(hinge):
    """A rod on a held base: qdd = torque / I about the hinge; the stand bears the torque and what moves its centre."""
    q, qd, torque = 0.7, 1.3, 2.0  # [rad], [rad/s], [N m]
    c, s = np.cos(q), np.sin(q)
    v, force = np.zeros(7), np.zeros(7)
    v[QD], force[QD] = qd, torque
    vdot, found = held_dynamics(hinge, np.array([q]), v, force)
    qdd = torque / (I1 + M1 * D**2)
    close(vdot, [0.0] * 6 + [qdd])
    push = M1 * D * np.array([-s * qdd - c * qd**2, c * qdd - s * qd**2])
    close(found, [*push, 0.0, 0.0, 0.0, torque, torque])


def test_mass_matrix_of_a_hinge(hinge):
    q = 0.7  # [rad]
    c, s = np.cos(q), np.sin(q)
    m, swing = M0 + M1, I1 + M1 * D**2
    exact = np.array(
        [
            [m, 0.0, -M1 * D * s, -M1 * D * s],
            [0.0, m, M1 * D * c, M1 * D * c],
            [-M1 * D * s, M1 * D * c, I0 + swing, swing],
            [-M1 * D * s, M1 * D * c, swing, swing],
        ]
    )
    close(trees.mass_matrix(hinge, np.array([q]))[np.ix_(PLANAR, PLANAR)], exact)


def test_bias_of_a_hinge(hinge):
    """In base axes: the base's origin is carried with w x v, the rod's centre also drawn inwards by (w + qd)^2 d."""
    q, vx, vy, w, qd = 0.7, 0.3, -0.2, 0.5, -0.9
    v = np.zeros(7)
    v[PLANAR] = vx, vy, w, qd
    r = D * np.array([np.cos(q), np.sin(q)])
    carried = w * np.array([-vy, vx])
    fx, fy = (M0 + M1) * carried - M1 * (w + qd) ** 2 * r
    torque = M1 * (r[0] * carried[1] - r[1] * carried[0])
    close(trees.bias(hinge, np.array([q]), v)[PLANAR], (fx, fy, torque, torque))


def test_motor_of_a_hinge_turns_both_ways(hinge):
    """From rest: tau = J (w_dot + qdd) for the rod and -tau = I0 w_dot for the base, J = I1 + mu d^2 about their common
    centre of mass: the hinge is at the base's centre, so only the reduced mass mu counts."""
    tau = 3.0  # [N m]
    J = I1 + M0 * M1 / (M0 + M1) * D**2
    force = np.zeros(7)
    force[QD] = tau
    vdot = trees.forward_dynamics(hinge, np.array([0.7]), np.zeros(7), force)
    close(vdot[[WZ, QD]], (-tau / I0, tau / J + tau / I0))


def test_pose_and_jacobian_of_a_tip(hinge):
    q = 0.7
    tip = trees.at_frame(dynamics.frame_pose, "tip")(hinge, np.array([q]))
    close(tip.position, (2.0 * D * np.cos(q), 2.0 * D * np.sin(q), 0.0))
    # In the tip's own axes: the base moves it along the turned axes, base rate and joint rate across.
    J = trees.at_frame(dynamics.frame_jacobian, "tip")(hinge, np.array([q]))
    c, s = np.cos(q), np.sin(q)
    close(J[:, PLANAR], np.array([[c, s, 0, 0], [-s, c, 2 * D, 2 * D], *np.zeros((3, 4)), [0, 0, 1, 1]]))


# ---- one body


def test_the_tangent_of_a_state_is_how_it_moves(rng):
    """Speeds are in base axes: the origin moves with R v, the attitude by R' = R skew(w), joints at their rates."""
    turn = np.asarray(rotation_exp(jnp.asarray(rng.normal(size=3))))
    craft = Spacecraft.from_base("ball", mass=3.0, inertia=(1.0, 1.0, 1.0))
    state = dataclasses.replace(craft.at_rest(at=Pose(rotation=turn)), v=rng.normal(size=6))
    along = state_rate(craft, state, np.zeros(6))
    numbers = component_rates(state, along)
    close(along.velocity, turn @ state.v[:3])
    close(numbers.p_NB, turn @ state.v[:3])
    moved = jax.jvp(rotation_matrix, (jnp.asarray(state.quat_NB),), (numbers.quat_NB,))[1]
    close(moved, turn @ np.asarray(skew(jnp.asarray(state.v[3:]))))


def test_two_balls_bounce():
    """2 kg at 3 m/s into 1 kg at rest, restitution 0.5: the closed forms of momentum and restitution."""
    balls = [Spacecraft.from_base("ball", mass=m, inertia=(1.0, 1.0, 1.0)) for m in (2.0, 1.0)]
    fast = dataclasses.replace(balls[0].at_rest(), v=3.0 * np.eye(6)[0])
    rows = FrameRows((0, "base"), (1, "base"), normal((1.0, 0.0, 0.0)))
    found = row_impact(tuple(balls), (fast, balls[1].at_rest()), (rows,), 0.5)
    reduced = 2.0 / 3.0  # [kg]
    close(found.impulse, [1.5 * reduced * 3.0])
    close(found.speeds[0], 1.5 * np.eye(6)[0])
    close(found.speeds[1], 3.0 * np.eye(6)[0])
    close(found.energy_lost, 0.5 * reduced * 3.0**2 * (1.0 - 0.5**2))


def test_blow_on_the_end_of_a_free_rod():
    """A force f across one end of a rod: that end gives way with 4 f/m, the other end with -2 f/m."""
    rod = (
        Spacecraft.from_base("rod", mass=3.0, inertia=(0.01, 1.0, 1.0))  # [kg], m L^2/12 with L = 2 m
        .with_frame("struck", body="base", at=Pose(position=(1.0, 0.0, 0.0)))
        .with_frame("other", body="base", at=Pose(position=(-1.0, 0.0, 0.0)))
    )
    f = 6.0  # [N]
    push = compiled(lambda c, q, F: dynamics.generalized_force(c, q, "struck", F))
    force = push(rod, np.zeros(0), np.array([0.0, f, 0.0, 0.0, 0.0, 0.0]))
    close(force, (0.0, f, 0.0, 0.0, 0.0, f))
    vdot = trees.forward_dynamics(rod, np.zeros(0), np.zeros(6), force)
    for frame, expected in (("struck", 4.0 * f / 3.0), ("other", -2.0 * f / 3.0)):
        J = trees.at_frame(dynamics.frame_jacobian, frame)(rod, np.zeros(0))
        close((J @ vdot)[1], expected)


def test_euler_equations_off_the_centre_of_mass():
    """The frame of a body may be anywhere: spinning about an axis beside its centre needs the centripetal force."""
    body = Spacecraft.from_base("off", mass=4.0, inertia=(1.0, 2.0, 3.0), com=(0.5, 0.0, 0.0))
    w = 2.0  # [rad/s] about z, a principal axis
    bias = trees.bias(body, np.zeros(0), np.array([0.0, 0.0, 0.0, 0.0, 0.0, w]))
    close(bias, (-4.0 * w**2 * 0.5, 0.0, 0.0, 0.0, 0.0, 0.0))
    # About a skew axis: w x I w about the centre, (I3 - I2) wy wz and so on.
    centred = Spacecraft.from_base("centred", mass=4.0, inertia=(1.0, 2.0, 3.0))
    wx, wy, wz = 0.3, 0.5, -0.7
    bias = trees.bias(centred, np.zeros(0), np.array([0.0, 0.0, 0.0, wx, wy, wz]))
    close(bias[3:], ((3.0 - 2.0) * wy * wz, (1.0 - 3.0) * wz * wx, (2.0 - 1.0) * wx * wy))


def test_momentum_about_three_points():
    """A body of 2 kg at (1, 2, 0) m, moving with (0, 3, 0) m/s and spinning with 0.5 rad/s about z, base turned by 90
    degrees about z: L about the origin is r x P plus its spin; about the base and about its centre the spin alone."""
    body = Spacecraft.from_base("body", mass=2.0, inertia=(1.0, 1.0, 1.0))
    half = np.sqrt(0.5)
    # (0, 3, 0) in N is (3, 0, 0) in base axes.
    state = State(
        p_NB=np.array([1.0, 2.0, 0.0]),
        quat_NB=np.array([half, 0.0, 0.0, half]),
        q=np.zeros(0),
        v=np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.5]),
    )
    about_origin = trees.compiled_once(dynamics.momentum_about_origin)(body, state)
    close(about_origin, (0.0, 6.0, 0.0, 0.0, 0.0, 1.0 * 6.0 + 0.5))
    close(trees.momentum_about_base(body, state.q, state.v), (6.0, 0.0, 0.0, 0.0, 0.0, 0.5))
    # With the frame 1 m beside the centre, only L_g is still the spin.
    beside = Spacecraft.from_base("beside", mass=2.0, inertia=(1.0, 1.0, 1.0), com=(0.0, 1.0, 0.0))
    v = np.array([3.0 + 0.5, 0.0, 0.0, 0.0, 0.0, 0.5])  # its centre moves with (3, 0, 0) in base axes
    close(trees.momentum_about_base(beside, state.q, v), (6.0, 0.0, 0.0, 0.0, 0.0, 0.5 - 6.0))
    close(trees.compiled_once(dynamics.momentum_about_com)(beside, state.q, v), (6.0, 0.0, 0.0, 0.0, 0.0, 0.5))
    close(trees.centre_of_mass(beside, state.q), (0.0, 1.0, 0.0))


# ---- a slider


@pytest.fixture
def slider() -> Spacecraft:
    """A bead of 2 kg on a rail along x of a base of 6 kg."""
    return Spacecraft.from_base("slider", mass=6.0, inertia=(3.0, 3.0, 4.0)).with_link(
        "bead", parent="base", joint="prismatic", mass=2.0, inertia=(0.1, 0.1, 0.1), axis=(1.0, 0.0, 0.0)
    )


def test_slider_pushes_off_its_base(slider):
    """Along the rail: f on the bead and -f on the base, so the bead gains on the base with f (1/m + 1/m0)."""
    vdot = trees.forward_dynamics(slider, np.array([0.4]), np.zeros(7), np.array([0, 0, 0, 0, 0, 0, 3.0]))
    close(vdot[[0, 6]], (-3.0 / 6.0, 3.0 / 2.0 + 3.0 / 6.0))


def test_coriolis_and_centrifugal_force_of_a_slider(slider):
    """On a turntable: the bead at d moving out with u needs -m w^2 d along the rail and 2 m w u across it."""
    d, u, w = 0.4, 0.7, 0.5
    bias = trees.bias(slider, np.array([d]), np.array([0, 0, 0, 0, 0, w, u]))
    close(bias, (-2.0 * w**2 * d, 2.0 * 2.0 * w * u, 0.0, 0.0, 0.0, 2.0 * 2.0 * w * u * d, -2.0 * w**2 * d))


# ---- a wheel


@pytest.fixture
def gyrostat() -> Spacecraft:
    """A base with one wheel along z."""
    return Spacecraft.from_base("gyrostat", mass=5.0, inertia=(2.0, 3.0, 4.0)).with_wheel(
        "wheel", axis=(0.0, 0.0, 1.0), inertia=0.5
    )


def test_gyroscopic_torque(gyrostat):
    """To turn a spinning wheel about x with wx needs w x h = -wx h about y."""
    wx, speed = 0.2, 100.0
    bias = trees.bias(gyrostat, np.zeros(0), np.array([0, 0, 0, wx, 0, 0, speed]))
    close(bias, (0.0, 0.0, 0.0, 0.0, -wx * 0.5 * speed, 0.0, 0.0))


def test_motor_of_a_wheel_turns_the_base_the_other_way(gyrostat):
    """u = I_w (W_dot + w_dot) on the wheel, -u on the rest of the base, which has 4 - 0.5 kg m2 about z."""
    u = 0.7  # [N m]
    vdot = trees.forward_dynamics(gyrostat, np.zeros(0), np.zeros(7), np.array([0, 0, 0, 0, 0, 0, u]))
    close(vdot[[5, 6]], (-u / 3.5, u / 0.5 + u / 3.5))


def test_momentum_and_energy_of_a_wheel(gyrostat):
    """L = I w + I_w W; T = (I - I_w) w^2 / 2 + I_w (w + W)^2 / 2; the wheel itself has I_w (w + W)."""
    w, speed = 0.3, 50.0
    v = np.array([0, 0, 0, 0, 0, w, speed])
    close(trees.momentum_about_base(gyrostat, np.zeros(0), v)[5], 4.0 * w + 0.5 * speed)
    close(trees.kinetic_energy(gyrostat, np.zeros(0), v), 0.5 * 3.5 * w**2 + 0.5 * 0.5 * (w + speed) ** 2)
    close(wheel_momentum(gyrostat, np.zeros(0), v), [0.5 * (w + speed)])


# ---- stability of a spin, by the linear model


@pytest.mark.parametrize(
    ("axis", "squares"),
    [
        (0, -(2.0 - 1.0) * (3.0 - 1.0) / (2.0 * 3.0)),  # smallest inertia: it nods
        (1, (2.0 - 1.0) * (3.0 - 2.0) / (1.0 * 3.0)),  # intermediate: it flips
        (2, -(3.0 - 1.0) * (3.0 - 2.0) / (1.0 * 2.0)),  # largest: it nods
    ],
)
def test_linear_model_knows_the_stability_of_a_spin(axis, squares):
    """Rates about the two other axes grow with s^2 = -(I - I1)(I - I2)/(I1 I2) w^2. Eigenvalues to 1e-9."""
    body = Spacecraft.from_base("body", mass=1.0, inertia=(1.0, 2.0, 3.0))
    spin = 1.3  # [rad/s]
    state = body.at_rest()
    v = np.zeros(6)
    v[3 + axis] = spin
    model = linearise(body, State(p_NB=state.p_NB, quat_NB=state.quat_NB, q=state.q, v=v), np.zeros(6))
    rates = [6 + 3 + k for k in range(3) if k != axis]
    found = np.linalg.eigvals(np.asarray(model.A)[np.ix_(rates, rates)]) ** 2
    np.testing.assert_allclose(found, squares * spin**2, rtol=1e-9)
