"""ETS-VII with two flexible solar panels: its generalised Jacobian, its reaction null space, and what they leave alone.

A reaction-null-space motion keeps the base attitude, not its position: the base still gives way to the arm, and that
shakes the panels.
"""

import dataclasses

import numpy as np
import pytest
from scipy.signal import StateSpace, lsim

from freefloat import dynamics
from freefloat.control import JointSpline, Quintic, ReactionlessTurn, Turn
from freefloat.dynamics.tree import flexible_inertia
from freefloat.flex import beam
from freefloat.library import ets7
from freefloat.model import RigidBody, Spacecraft
from freefloat.sim import Run, simulate
from freefloat.spatial import Pose
from support.compiling import compiled

START_DEG = (0.0, 0.0, 10.0, -32.8, 0.0, 0.0)
TURN_TIME = 40.0  # [s]
PANELS = ("right", "left")
DAMPING_RATIO = 0.005
# Tip-normalised first bending shape of a cantilever: int phi / int phi^2 (docs/theory-flexible.md).
PARTICIPATION = 0.39149588 / 0.25


@pytest.fixture(scope="module")
def craft() -> Spacecraft:
    """Panels of 8 m and 60 kg along +y and -y, one bending mode in each plane: 0.29 and 0.14 Hz with the root held."""
    servicer = ets7()
    for name, side in zip(PANELS, (1.0, -1.0), strict=True):
        panel = beam(
            length=8.0,  # [m]
            mass=60.0,  # [kg]
            bending_stiffness=(8000.0, 2000.0),  # in the plane of the panel, and out of it (base z) [N m2]
            modes={"y": 1, "z": 1},
            damping_ratio=DAMPING_RATIO,
        )
        servicer = servicer.mount(
            panel, name=name, at=Pose.from_rpy_deg((0.0, 0.0, 90.0 * side), (0.0, 1.5 * side, 0.0))
        )
    return servicer


def frozen(craft: Spacecraft, q: np.ndarray) -> Spacecraft:
    """The same spacecraft with every panel a rigid body of the shape that its modes have in q."""

    def rigid(body):
        if not body.modes:
            return body
        b = q[craft.layout.positions[f"{body.name}.modes"]]
        bent = flexible_inertia(craft, body, b).rigid
        mass, com = float(bent.mass), np.asarray(bent.moment) / float(bent.mass)
        inertia = np.asarray(bent.inertia) - mass * (com @ com * np.eye(3) - np.outer(com, com))
        return RigidBody(name=body.name, mass=mass, com=com, inertia=inertia)

    return dataclasses.replace(craft, bodies=tuple(rigid(body) for body in craft.bodies))


def configuration(craft: Spacecraft, tips: float) -> np.ndarray:
    """The arm where the experiment begins, every modal coordinate at `tips`."""
    q = np.full(craft.layout.nq, tips)
    q[list(craft.layout.joint_positions)] = np.deg2rad(START_DEG)
    return q


@pytest.fixture(scope="module")
def matrices(craft):
    """Generalised Jacobian, reaction null space and momentum left over, compiled once for any spacecraft's q."""

    def of(q, joint_rates, modal_rates):
        body = dynamics.free_floating(craft, q)
        twist = body.base_twist(joint_rates, np.zeros(6), np.zeros(0), modal_rates)
        left = body.H_b @ twist + body.H_bm @ joint_rates + body.H_bf @ modal_rates
        return dynamics.generalized_jacobian(craft, q, "hand"), dynamics.reaction_null_space(craft, q), left, twist

    return compiled(of)


def rigid_matrices(craft):
    def of(q):
        return dynamics.generalized_jacobian(craft, q, "hand"), dynamics.reaction_null_space(craft, q)

    return compiled(of)


# ---- zero modal rates give the rigid result


@pytest.mark.parametrize("tips", [0.0, 0.3])
def test_without_modal_rates_jacobian_and_null_space_are_the_rigid_ones(craft, matrices, tips):
    """Also of bent panels: what is held does not matter, as long as it is held."""
    q = configuration(craft, tips)
    J, N, _, _ = matrices(q, np.zeros(6), np.zeros(4))
    stiff = frozen(craft, q)
    J_rigid, N_rigid = rigid_matrices(stiff)(np.deg2rad(START_DEG))
    np.testing.assert_allclose(J, J_rigid, atol=1e-12)  # rounding of entries of order one
    # A projector: rounding times the condition of the angular coupling, some hundred.
    np.testing.assert_allclose(N, N_rigid, atol=1e-11)
    assert np.trace(N) == pytest.approx(3.0, abs=1e-10)


def test_bent_panels_change_the_null_space(craft, matrices):
    """Negative control: the comparison above would notice panels that are frozen in another shape."""
    straight, bent = (matrices(configuration(craft, tips), np.zeros(6), np.zeros(4))[1] for tips in (0.0, 0.3))
    assert np.max(np.abs(straight - bent)) > 1e-5


def test_modal_rates_turn_the_base_as_their_momentum_says(craft, matrices, rng):
    q = configuration(craft, 0.05)
    quiet = matrices(q, np.zeros(6), np.zeros(4))[1] @ rng.normal(size=6)
    _, _, left, twist = matrices(q, quiet, np.zeros(4))
    np.testing.assert_allclose(left, 0.0, atol=1e-12)
    assert np.linalg.norm(twist[3:]) < 1e-12  # no turning ...
    assert np.linalg.norm(twist[:3]) > 1e-4  # ... but translation [m/s]
    _, _, left, twist = matrices(q, quiet, np.array([0.1, -0.2, 0.3, 0.2]))
    np.testing.assert_allclose(left, 0.0, atol=1e-12)
    assert np.linalg.norm(twist[3:]) > 1e-4  # the panels' own momentum is not the arm's to cancel


# ---- a reactionless motion against a spline between the same end points


@pytest.fixture(scope="module")
def reactionless(craft) -> Run:
    turn = Turn(axis=(0.0, 1.0, 0.0), profile=Quintic(length=np.deg2rad(40.0), duration=TURN_TIME))
    software = ReactionlessTurn(craft=craft, frame="hand", path=turn)
    return simulate(craft, software, joints_deg=START_DEG, duration=TURN_TIME + 20.0, dt=0.05)


@pytest.fixture(scope="module")
def spline(craft, reactionless) -> Run:
    end = np.rad2deg(reactionless["joints.position"].values[-1])
    software = JointSpline.through(craft, np.stack([START_DEG, end]), [TURN_TIME])
    return simulate(craft, software, joints_deg=START_DEG, duration=TURN_TIME + 20.0, dt=0.05)


def attitude_deg(run: Run) -> np.ndarray:
    return np.rad2deg(2.0 * np.linalg.norm(run["base.attitude"].values[:, 1:], axis=1))


def tips_mm(run: Run) -> np.ndarray:
    """Deflection of both tips along base z."""
    return 1e3 * np.stack([run[f"{name}.tip.displacement"].sel(xyz="z").values for name in PANELS], axis=1)


@pytest.mark.slow
def test_both_motions_reach_the_same_point_and_keep_their_books(reactionless, spline):
    ends = [run["joints.position"].values[-1] for run in (reactionless, spline)]
    np.testing.assert_allclose(*ends, atol=1e-8)
    for run in (reactionless, spline):
        assert run.audit.holds
        assert not run.audit.warnings  # panels bend by less than a millimetre


@pytest.mark.slow
def test_the_reactionless_motion_leaves_the_attitude_alone(reactionless, spline):
    quiet, loud = attitude_deg(reactionless).max(), attitude_deg(spline).max()
    assert loud == pytest.approx(0.0784, abs=5e-4)  # as without panels, 0.078 deg
    assert loud / quiet > 20.0
    assert quiet < 1e-4  # what the panels' own momentum does; with rigid ones it is 1e-9 deg


def test_the_base_translates_in_both(reactionless, spline):
    """Same arm, same end points, no external force: the base ends at the same place but for its rotation."""
    moved = [1e3 * run["base.position"].values[-1] for run in (reactionless, spline)]  # [mm]
    assert np.linalg.norm(moved[0]) > 10.0
    np.testing.assert_allclose(*moved, atol=1.0)  # the spline turned the base: 0.015 deg times 2 m


def test_translation_shakes_the_panels(reactionless):
    """Both panels together, as the base's acceleration along z alone drives a cantilever's first mode."""
    tips = tips_mm(reactionless)
    together, against = tips.mean(axis=1), 0.5 * np.diff(tips, axis=1)[:, 0]
    assert np.max(np.abs(together)) > 0.1  # [mm]
    assert np.max(np.abs(against)) < 1e-2 * np.max(np.abs(together))
    t = reactionless["time"].values
    acceleration = np.gradient(1e3 * reactionless["base.velocity"].sel(xyz="z").values, t)  # [mm/s2]
    w = 1.87510407**2 * np.sqrt(2000.0 / (60.0 * 8.0**3))  # root held [rad/s]
    oscillator = StateSpace(
        [[0.0, 1.0], [-(w**2), -2.0 * DAMPING_RATIO * w]], [[0.0], [-PARTICIPATION]], [[1.0, 0.0]], 0.0
    )
    predicted = lsim(oscillator, acceleration, t)[1]
    # Differences of recorded velocities are good to 1e-4; the rest is the millidegree by which the base turns.
    np.testing.assert_allclose(together, predicted, atol=1e-2 * np.max(np.abs(together)))


def test_the_reactionless_motion_shakes_the_panels_more_than_the_spline(reactionless, spline):
    """It does not ask for smooth translation: what the null space gives changes faster than the spline's quintic."""
    during = [np.max(np.abs(tips_mm(run))) for run in (reactionless, spline)]
    after = [np.max(np.abs(tips_mm(run)[int(TURN_TIME / 0.05) :])) for run in (reactionless, spline)]
    assert during[0] > 2.0 * during[1]
    assert after[0] > 2.0 * after[1]
