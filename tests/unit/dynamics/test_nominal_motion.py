"""The nominal motion and the way from orbit to the cell: group identities, and the exact motion of a free body."""

import jax
import numpy as np
import pytest

from freefloat import dynamics
from freefloat.dynamics import FrameMotion, advance_unforced, from_cell, to_cell, unforced_motion
from freefloat.model import Spacecraft
from freefloat.sim import simulate
from freefloat.spatial import Pose, SpatialInertia
from support.trees import draw_body, draw_pose, relative_error

NOWHERE = Pose()


def body_of(craft: Spacecraft) -> SpatialInertia:
    return dynamics.composite_inertia(craft, np.zeros(craft.layout.nq))


@pytest.fixture
def client(rng):
    """A body whose frame is not at its centre of mass."""
    return Spacecraft.from_base("client", **draw_body(rng, (100.0, 200.0)))


def draw_motion(rng, size=1.0):
    quat = rng.normal(size=4)
    return FrameMotion(rng.normal(size=3), quat / np.linalg.norm(quat), size * rng.normal(size=6))


def draw_nominal(rng, client):
    return unforced_motion(body_of(client), draw_motion(rng))


def difference(a: FrameMotion, b: FrameMotion) -> float:
    """Largest difference; a quaternion and its negative are the same attitude."""
    turned = np.sign(np.asarray(a.quaternion) @ np.asarray(b.quaternion))
    gaps = (a.position - b.position, a.quaternion - turned * b.quaternion, a.twist - b.twist)
    return max(float(np.max(np.abs(gap))) for gap in gaps)


def test_there_and_back(rng, client):
    """from_cell undoes to_cell, with any placement; ten draws."""
    for _ in range(10):
        nominal, motion, X_FZ = draw_nominal(rng, client), draw_motion(rng), draw_pose(rng)
        assert difference(from_cell(X_FZ, nominal, to_cell(X_FZ, nominal, motion)), motion) < 1e-14


def test_what_moves_as_the_nominal_stands_still_at_its_placement(rng, client):
    nominal, X_FZ = draw_nominal(rng, client), draw_pose(rng)
    moving_along = FrameMotion(nominal.position, nominal.quaternion, nominal.twist)
    cell = to_cell(X_FZ, nominal, moving_along)
    assert relative_error(cell.position, X_FZ.p) < 1e-15
    assert relative_error(cell.pose.R, X_FZ.R) < 1e-14
    assert np.max(np.abs(cell.twist)) < 1e-15


def test_two_frames_are_to_each_other_in_the_cell_as_in_orbit(rng, client):
    """X_FA^-1 X_FB = X_NA^-1 X_NB: no scaling of geometry; and so are their relative twists."""
    nominal, X_FZ = draw_nominal(rng, client), draw_pose(rng)
    a, b = draw_motion(rng), draw_motion(rng)
    cell_a, cell_b = (to_cell(X_FZ, nominal, motion) for motion in (a, b))
    orbit, cell = a.pose.inverse() @ b.pose, cell_a.pose.inverse() @ cell_b.pose
    assert relative_error(cell.p, orbit.p) < 1e-14
    assert relative_error(cell.R, orbit.R) < 1e-14
    twists = [second.twist - orbit.twist_to_B(first.twist) for first, second in ((a, b), (cell_a, cell_b))]
    assert relative_error(twists[1], twists[0]) < 1e-13


def test_a_placement_changes_no_twist(rng, client):
    nominal, motion = draw_nominal(rng, client), draw_motion(rng)
    here, there = to_cell(NOWHERE, nominal, motion), to_cell(draw_pose(rng), nominal, motion)
    np.testing.assert_array_equal(here.twist, there.twist)


def test_the_cell_twist_is_the_rate_of_the_cell_pose(rng, client):
    """Central differences of X_FM along both motions, against V_FM."""
    nominal, motion, X_FZ, h = draw_nominal(rng, client), draw_motion(rng), draw_pose(rng), 1e-5

    def cell_pose(t):
        """Both frames t later, each with its twist constant."""
        Z, M = nominal.pose @ Pose.exp(t * nominal.twist), motion.pose @ Pose.exp(t * motion.twist)
        return X_FZ @ Z.inverse() @ M

    seen = (cell_pose(-h).inverse() @ cell_pose(h)).log() / (2.0 * h)
    # Second differences: the error is of the size h^2.
    assert relative_error(to_cell(X_FZ, nominal, motion).twist, seen) < 1e-8


def test_the_unforced_motion_is_that_of_a_free_spacecraft(rng, client):
    """The same discrete motion as a run's: what is left of an unforced client in the cell is rounding."""
    body, dt, steps = body_of(client), 0.02, 200
    start = client.in_motion(rate=0.3 * rng.normal(size=3), velocity=rng.normal(size=3))
    run = simulate(client, duration=dt * steps, dt=dt, record_dt=dt * steps, state=start)
    nominal = unforced_motion(body, FrameMotion(start.p_NB, start.quat_NB, start.V_NB))
    for _ in range(steps):
        nominal = advance_unforced(body, nominal, dt)
    assert np.max(np.abs(nominal.position - run.values("base.position")[-1])) < 1e-12
    assert np.max(np.abs(nominal.twist - np.r_[run.values("base.velocity")[-1], run.values("base.rate")[-1]])) < 1e-12


def test_momentum_in_inertial_axes_is_kept_to_fourth_order(rng, client):
    body, start = body_of(client), FrameMotion(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), 0.4 * rng.normal(size=6))

    def drift(dt):
        nominal = first = unforced_motion(body, start)
        for _ in range(round(4.0 / dt)):
            nominal = advance_unforced(body, nominal, dt)
        momenta = [np.asarray(n.pose.wrench_to_A(body @ n.twist)) for n in (first, nominal)]
        return np.max(np.abs(momenta[1] - momenta[0]))

    ratio = drift(0.1) / drift(0.05)
    assert 12.0 < ratio < 40.0, ratio  # 16 for fourth order; some invariants do better


def test_the_rate_of_the_twist_is_its_rate(rng, client):
    nominal, body, h = draw_nominal(rng, client), body_of(client), 1e-4
    ahead, behind = (advance_unforced(body, nominal, s * h).twist for s in (1.0, -1.0))
    assert relative_error(nominal.twist_rate, (ahead - behind) / (2.0 * h)) < 1e-6  # h^2


def test_a_body_about_another_point_moves_the_same(rng, client):
    """Eq. (4) holds about any point: the frame of another base on the same body follows the same motion."""
    body, X_ZA, motion = body_of(client), draw_pose(rng), draw_motion(rng)
    elsewhere = body.to_A(X_ZA.inverse())
    rate = dynamics.unforced_twist_rate(elsewhere, X_ZA.twist_to_B(motion.twist))
    assert relative_error(rate, X_ZA.twist_to_B(dynamics.unforced_twist_rate(body, motion.twist))) < 1e-12


def test_traced_functions_give_the_same_as_compiled_ones(rng, client):
    body, nominal, motion, X_FZ = body_of(client), draw_nominal(rng, client), draw_motion(rng), draw_pose(rng)
    traced = jax.jit(lambda n, m: (advance_unforced(body, n, 0.01), to_cell(X_FZ, n, m), from_cell(X_FZ, n, m)))
    compiled = (advance_unforced(body, nominal, 0.01), to_cell(X_FZ, nominal, motion), from_cell(X_FZ, nominal, motion))
    pairs = zip(jax.tree.leaves(traced(nominal, motion)), jax.tree.leaves(compiled), strict=True)
    assert max(relative_error(a, b) for a, b in pairs) < 1e-13
    assert all(isinstance(leaf, np.ndarray) for leaf in jax.tree.leaves(compiled))
