"""Rows are physics, and their derivatives are exact."""

from functools import cache

import jax.numpy as jnp
import numpy as np

from freefloat.hil.cell.robots import kr120
from freefloat.planning.charts import PoseChart, RobotChart, relative_motion
from freefloat.planning.curves import rest_to_rest
from freefloat.planning.programme import Programme
from freefloat.planning.programs import compile_programs
from freefloat.planning.task_limits import goal_numbers, planning_limits
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_exp
from support.small_capture import LIMITS, SETTINGS, small_task


@cache
def programme() -> tuple[Programme, np.ndarray]:
    task = small_task()
    scene = task.scene()
    asked = planning_limits(task, scene, SETTINGS.instants, 0.0)
    made = Programme(compile_programs(scene, curvature=True), asked, SETTINGS.points, task.duration)
    start, end = asked.start, goal_numbers(task, scene, asked.start)
    x = made.free_points(rest_to_rest(start[0], start[1], end, task.duration, SETTINGS.points))
    return made, x + 0.01 * np.random.default_rng(1).normal(size=x.size)


def slopes(made: Programme, x: np.ndarray) -> np.ndarray:
    entries = np.zeros(made.slope_places[0].size)
    made.constraint_slopes(x, entries)
    J = np.zeros((made.limits[0].size, x.size))
    J[made.slope_places] = entries
    return J


def test_slopes_are_those_of_differences():
    made, x = programme()
    way, h = np.random.default_rng(2).normal(size=x.size), 1e-6
    after, before, slope = np.zeros(made.limits[0].size), np.zeros(made.limits[0].size), np.zeros(x.size)
    made.constraints(x + h * way, after)
    made.constraints(x - h * way, before)
    J = slopes(made, x)  # differences: rounding / h and h^2 of curvatures
    np.testing.assert_allclose((after - before) / (2 * h), J @ way, atol=1e-7 * np.abs(J @ way).max())
    made.effort_slope(x, slope)
    np.testing.assert_allclose((made.effort(x + h * way) - made.effort(x - h * way)) / (2 * h), slope @ way, rtol=1e-6)


def test_curvatures_are_differences_of_slopes():
    made, x = programme()
    weights, way, h = np.random.default_rng(3).normal(size=made.limits[0].size), np.zeros(x.size), 1e-6
    way[:] = np.random.default_rng(4).normal(size=x.size)
    entries = np.zeros(made.curvature_places[0].size)
    made.curvature(x, weights, 2.0, entries)
    H = np.zeros((x.size, x.size))
    H[made.curvature_places] = entries
    H = H + np.tril(H, -1).T

    def lagrangian_slope(x: np.ndarray) -> np.ndarray:
        slope = np.zeros(x.size)
        made.effort_slope(x, slope)
        return slopes(made, x).T @ weights + 2.0 * slope

    expected = (lagrangian_slope(x + h * way) - lagrangian_slope(x - h * way)) / (2 * h)
    np.testing.assert_allclose(H @ way, expected, atol=1e-5 * np.abs(expected).max())


def test_keeping_still_beside_a_spinning_client_takes_its_centripetal_force():
    """With the spin about a principal axis: total mass times spin squared times distance of the centre of mass."""
    spin = 0.05  # [rad/s]
    task = small_task(spin=(0.0, 0.0, spin))
    scene = task.scene()
    still = np.concatenate([planning_limits(task, scene, 5, 0.0).start[0], np.zeros(2 * scene.numbers)])
    numbers = planning_limits(task, scene, 5, 0.0).measures.as_vector
    rows = compile_programs(scene, curvature=False).rows(still, task.client_twists(2)[0], numbers)
    force = rows[:3] * LIMITS.base_force
    X_TB = scene.chart.pose(jnp.asarray(still[:6]))
    from freefloat.dynamics import centre_of_mass

    p_TC = np.asarray(X_TB.apply(centre_of_mass(task.servicer, still[6:8])))
    expected = -106.0 * spin**2 * np.array([p_TC[0], p_TC[1], 0.0])  # [N] in client axes
    np.testing.assert_allclose(np.asarray(X_TB.R) @ force, expected, atol=1e-12)


def test_both_charts_move_as_their_numbers_do():
    robot = kr120()
    chart = RobotChart(
        offsets=np.array([joint.offset for joint in robot.joints]),
        axes=np.array([joint.axis for joint in robot.joints], dtype=float),
        X_TR=Pose((0.3, 0.1, -0.2)),
        X_LB=robot.flange,
        names=tuple(joint.name for joint in robot.joints),
    )
    draw, h = np.random.default_rng(7), 1e-4
    for one in (chart, PoseChart(np.asarray(rotation_exp(jnp.array([0.3, -1.0, 0.5]))))):
        x, rate, acceleration = (draw.normal(size=6) for _ in range(3))
        X, V, Vdot = relative_motion(one, jnp.asarray(x), jnp.asarray(rate), jnp.asarray(acceleration))

        def at(s, one=one, x=x, rate=rate, acceleration=acceleration):
            later = x + s * rate + 0.5 * s * s * acceleration
            return relative_motion(
                one, jnp.asarray(later), jnp.asarray(rate + s * acceleration), jnp.asarray(acceleration)
            )

        step = (X.inverse() @ at(h)[0]).log() - (X.inverse() @ at(-h)[0]).log()
        np.testing.assert_allclose(step / (2 * h), V, atol=1e-6)  # h^2 of third derivatives
        np.testing.assert_allclose((at(h)[1] - at(-h)[1]) / (2 * h), Vdot, atol=1e-6)
    X_RP = robot.forward(x)[0]
    np.testing.assert_allclose(np.asarray(chart.pose(jnp.asarray(x)).R), X_RP[:3, :3], atol=1e-12)
    np.testing.assert_allclose(np.asarray(chart.pose(jnp.asarray(x)).p) - [0.3, 0.1, -0.2], X_RP[:3, 3], atol=1e-12)
