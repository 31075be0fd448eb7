"""cases.md 3 to 6: free-floating arms with exact answers."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy.integrate import quad

import freefloat as ff
from freefloat import dynamics
from freefloat.values import record, static
from support import trees
from support.compiling import compiled

# ---- cases 3 and 4: a planar arm


@record
class JointLoop(ff.control.RateSoftware):
    """Two joints around a circle, q = radius * (sense * sin, 1 - cos), from rest at zero to rest at zero.

    One joint alone follows 1 - cos: it goes out and comes back. Half a turn takes it out.
    """

    joints: tuple[str, ...] = static()
    radius: float  # [rad]
    duration: float  # [s]
    sense: float = 1.0
    turns: float = 1.0

    def rates(self, memory, y, clock):
        # The phase runs smoothly from 0 to 2 pi, at rest at both ends.
        s = clock.t / self.duration
        whole = 2.0 * np.pi * self.turns
        phase = whole * (s - jnp.sin(2.0 * np.pi * s) / (2.0 * np.pi))
        speed = whole * (1.0 - jnp.cos(2.0 * np.pi * s)) / self.duration
        both = self.radius * speed * jnp.stack([self.sense * jnp.cos(phase), jnp.sin(phase)])
        return both[2 - len(self.joints) :]


def planar_arm(links: int) -> ff.Spacecraft:
    """Base of 20 kg and 10 kg m2 with rods of 5 kg and 2 m, turning about z, the first joint at its centre of mass."""
    across, along = 5.0 * 2.0**2 / 12.0, 1e-3  # of a rod [kg m2]
    craft = ff.Spacecraft.from_base("planar arm", mass=20.0, inertia=(10.0, 10.0, 10.0))
    for number in range(links):
        craft = craft.with_link(
            f"rod{number + 1}",
            parent=f"rod{number}" if number else "base",
            joint="revolute",
            at=ff.Pose(position=(2.0 if number else 0.0, 0.0, 0.0)),  # [m]
            mass=5.0,  # [kg]
            com=(1.0, 0.0, 0.0),  # [m]
            inertia=(along, across, across),
        )
    return craft


def simulated(craft, software, duration):
    """A run at 5 ms, whose audit holds."""
    return ff.simulate(craft, software, duration=duration, dt=0.005)


def yaw(run):
    """Rotation of the base since the start [rad]."""
    return run["base.roll_pitch_yaw"].values[:, 2]


def test_ninety_degrees_of_a_joint_turn_the_base_by_17_47ths():
    """-32.553191 deg. Tolerance 1e-10 rad: RK4 at 5 ms integrates a smooth path of 2 s to 1e-12."""
    craft = planar_arm(1)
    # Half a turn of the cosine takes the joint from 0 to 2 * radius.
    software = JointLoop(joints=("rod1",), radius=np.pi / 4.0, duration=2.0, turns=0.5)
    run = simulated(craft, software, 2.0)
    assert run["joints.position"].values[-1, 0] == pytest.approx(np.pi / 2.0, abs=1e-10)
    # By momentum: (I_r + mu d^2) / (I_b + I_r + mu d^2), mu = 20 * 5 / 25 kg: (5/3 + 4) / (10 + 5/3 + 4) = 17/47.
    trees.report("base:", yaw(run)[-1] + np.pi / 2.0 * 17.0 / 47.0)
    assert yaw(run)[-1] == pytest.approx(-np.pi / 2.0 * 17.0 / 47.0, abs=1e-10)
    assert np.rad2deg(yaw(run)[-1]) == pytest.approx(-32.553191, abs=5e-7)
    assert np.max(np.abs(run["momentum.angular"].values)) < 1e-9  # [N m s]; the arm alone has 20


def test_one_joint_out_and_back_returns_the_base():
    """One joint is holonomic. Tolerance 1e-10 rad, as above; on its way the base turns by half a radian."""
    run = simulated(planar_arm(1), JointLoop(joints=("rod1",), radius=0.8, duration=4.0), 4.0)
    assert np.min(yaw(run)) == pytest.approx(-1.6 * 17.0 / 47.0, abs=1e-3)
    trees.report("out and back:", yaw(run)[-1])
    assert abs(yaw(run)[-1]) < 1e-10
    assert np.max(np.abs(run["base.position"].values[-1])) < 1e-9  # [m]


def loop_holonomy(radius: float) -> float:
    """Net turn of the base after the loop of `JointLoop`: the line integral of -H_bm / H_b along it, written out for
    the plane from the positions of the three centres of mass (independent of the package)."""
    m, I = np.array([20.0, 5.0, 5.0]), np.array([10.0, 5.0 / 3.0, 5.0 / 3.0])

    def integrand(phase):
        q = radius * np.array([np.sin(phase), 1.0 - np.cos(phase)])
        dq = radius * np.array([np.cos(phase), np.sin(phase)])
        a, b = q[0], q[0] + q[1]
        e = lambda angle: np.array([np.cos(angle), np.sin(angle)])  # noqa: E731
        n = lambda angle: np.array([-np.sin(angle), np.cos(angle)])  # noqa: E731
        r = np.stack([np.zeros(2), e(a), 2.0 * e(a) + e(b)])
        turning = np.stack([np.zeros(2), n(a), 2.0 * n(a) + n(b)])  # per unit of the base's rate
        # Velocities by the joints alone: the first turns both rods, the second the last one.
        by_joints = np.stack([np.zeros(2), n(a) * dq[0], (2.0 * n(a) + n(b)) * dq[0] + n(b) * dq[1]])
        centre = m @ r / m.sum()

        def angular_momentum(velocity, rates):
            relative = velocity - m @ velocity / m.sum()
            arms = r - centre
            return np.sum(m * (arms[:, 0] * relative[:, 1] - arms[:, 1] * relative[:, 0])) + I @ rates

        frozen = angular_momentum(turning, np.ones(3))
        moving = angular_momentum(by_joints, np.array([0.0, dq[0], dq[0] + dq[1]]))
        return -moving / frozen

    return quad(integrand, 0.0, 2.0 * np.pi, epsabs=1e-13, epsrel=1e-13)[0]


def test_two_joints_around_a_loop_turn_the_base_for_good():
    """Non-holonomic: the net turn is the line integral around the loop, and the other sense gives its opposite.

    Tolerance 1e-9 rad: RK4 at 5 ms leaves 1e-10 on this path."""
    craft = planar_arm(2)
    ends = {}
    for sense in (1.0, -1.0):
        software = JointLoop(joints=("rod1", "rod2"), radius=0.8, duration=4.0, sense=sense)
        run = simulated(craft, software, 4.0)
        assert np.max(np.abs(run["joints.position"].values[-1])) < 1e-10  # the loop is closed
        ends[sense] = yaw(run)[-1]
    expected = loop_holonomy(0.8)
    trees.report("loop:", ends, expected)
    assert ends[1.0] == pytest.approx(expected, abs=1e-9)
    assert abs(expected) > 0.05  # a turn of degrees, not of rounding
    # The other sense is the same loop run backwards.
    assert ends[-1.0] == pytest.approx(-expected, abs=1e-9)


# ---- case 5: the virtual manipulator


def virtual_links(craft: ff.Spacecraft) -> list[np.ndarray]:
    """v_i with p_hand - p_com = sum R_i v_i, fixed in each body: a joint's offset counts in full where the hand is
    beyond it, less the share of the mass that is (Vafa and Dubowsky, IJRR 9(4), 1990)."""
    masses = np.array([body.mass for body in craft.bodies])
    total, count = masses.sum(), len(craft.bodies)
    beyond = np.eye(count)  # beyond[i, k]: body k is carried by body i
    for k in range(count - 1, 0, -1):
        beyond[craft.parents[k]] += beyond[k]
    hand = craft.frame("hand")
    at_hand = craft.body_index(hand.body)
    vectors = [-body.mass / total * np.asarray(body.com) for body in craft.bodies]
    vectors[at_hand] = vectors[at_hand] + np.asarray(hand.X_BF.p)
    for k, joint in enumerate(craft.joints, start=1):
        share = beyond[k, at_hand] - beyond[k] @ masses / total
        parent = craft.parents[k]
        vectors[parent] = vectors[parent] + share * np.asarray(joint.X_PJ.p)
    return vectors


@compiled
def hand_from_com(craft, q):
    hand = dynamics.frame_pose(craft, q, "hand").p - dynamics.centre_of_mass(craft, q)
    return hand, tuple(X.R for X in dynamics.body_poses(craft, q))


@pytest.mark.parametrize("name", ["chain of 6", "branched 7, revolute"])
def test_virtual_manipulator(rng, name):
    """1e-12 of the hand's distance from the centre of mass (cases.md)."""
    craft = trees.draw_tree(rng, name)
    vectors = virtual_links(craft)
    worst = 0.0
    for _ in range(20):
        hand, rotations = hand_from_com(craft, trees.draw_configuration(rng, craft))
        virtual = sum(R @ v for R, v in zip(rotations, vectors, strict=True))
        worst = max(worst, trees.relative_error(virtual, hand))
    trees.report(name, worst)
    assert worst < 1e-12


def test_virtual_manipulator_holds_for_revolute_joints_only(rng):
    """Negative control: a slider changes the virtual links, so constant ones miss."""
    craft = trees.draw_tree(rng, "branched 7")
    vectors = virtual_links(craft)
    hand, rotations = hand_from_com(craft, trees.draw_configuration(rng, craft))
    virtual = sum(R @ v for R, v in zip(rotations, vectors, strict=True))
    assert trees.relative_error(virtual, hand) > 1e-4


# ---- case 6: the generalised Jacobian

generalized_jacobian = compiled(lambda c, q, R_NB: dynamics.generalized_jacobian(c, q, "hand", R_NB))


@compiled
def hand_along(craft, state, rates, h):
    """Hand twist in N axes along a motion of constant speeds: by central differences, and exactly."""

    def pose(time):
        X_NB = state.X_NB @ ff.Pose.exp(time * rates[:6])
        q = state.q + time * rates[np.array(craft.layout.joint_velocities, dtype=int)]
        return X_NB @ dynamics.frame_pose(craft, q, "hand")

    before, now, after = pose(-h), pose(0.0), pose(h)
    turn = (before.inverse() @ after).log()[3:] / (2.0 * h)
    _, exact = jax.jvp(pose, (jnp.zeros(()),), (jnp.ones(()),))
    S = exact.rotation @ now.R.T
    return (
        jnp.concatenate([(after.p - before.p) / (2.0 * h), now.R @ turn]),
        jnp.concatenate([exact.position, jnp.stack([S[2, 1], S[0, 2], S[1, 0]])]),
    )


def at_zero_momentum(craft, q, joint_rates):
    """Speeds with these joint rates and no momentum; momentum is linear in the speeds, and found column by column."""
    speeds = np.zeros(craft.layout.nv)
    speeds[list(craft.layout.joint_velocities)] = joint_rates
    columns = np.stack([trees.momentum_about_base(craft, q, e) for e in np.eye(6, speeds.size)], axis=1)
    speeds[:6] = -np.linalg.solve(columns, trees.momentum_about_base(craft, q, speeds))
    return speeds


@pytest.mark.parametrize("name", ["chain of 6", "branched 7", "branched 20"])
def test_generalised_jacobian_is_the_derivative_of_the_hand(rng, name):
    """1e-8 of the largest entry by central differences with 1e-5 s, 1e-12 by exact derivatives (cases.md)."""
    worst = np.zeros(2)
    for _ in range(3):
        craft = trees.draw_tree(rng, name)
        state = trees.draw_state(rng, craft)
        J_g = generalized_jacobian(craft, state.q, state.X_NB.R)
        joint_rates = rng.normal(size=J_g.shape[1])
        rates = at_zero_momentum(craft, state.q, joint_rates)
        differences, exact = hand_along(craft, state, rates, np.float64(1e-5))
        moved = J_g @ joint_rates
        worst = np.maximum(worst, [trees.relative_error(moved, differences), trees.relative_error(moved, exact)])
    trees.report(name, worst)
    assert worst[0] < 1e-8
    assert worst[1] < 1e-12


def test_the_base_does_move(rng):
    """Negative control: the Jacobian of an arm on a fixed base is a different one."""
    craft = trees.draw_tree(rng, "chain of 6")
    q = trees.draw_configuration(rng, craft)
    fixed = compiled(lambda c, q: dynamics.joint_jacobian(c, q, "hand"))(craft, q)
    assert trees.relative_error(generalized_jacobian(craft, q, np.eye(3)), fixed) > 1e-2
