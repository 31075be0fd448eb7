"""Numbers read off a run."""

import dataclasses

import jax.numpy as jnp
import numpy as np

from freefloat.scenarios.measures import attitude_disturbance_deg, crossing_time, position_in_base, recovery_time
from freefloat.sim import Run
from freefloat.spatial.rotations import quaternion_exp, quaternion_multiply, rotation_matrix
from freefloat.values.labelled import LabelledArrays
from support.recorded import made_up


def test_a_place_in_base_axes_does_not_depend_on_where_the_base_is(rng: np.random.Generator) -> None:
    hand_B, base_N = rng.normal(size=3), rng.normal(size=3)
    quat_NB = rng.normal(size=4)
    quat_NB /= np.linalg.norm(quat_NB)
    hand_N = base_N + np.asarray(rotation_matrix(quat_NB)) @ hand_B
    recorded = LabelledArrays(
        {
            "base.position": (("time", "xyz"), base_N[None]),
            "base.attitude": (("time", "wxyz"), quat_NB[None]),
            "hand.position": (("time", "xyz"), hand_N[None]),
        }
    )
    run = dataclasses.replace(made_up(1, 1), recorded=recorded)
    np.testing.assert_allclose(position_in_base(run, "hand"), hand_B, atol=1e-14)  # rounding of a few units


def recorded(**channels: np.ndarray) -> Run:
    arrays = {name.replace("__", "."): values for name, values in channels.items()}
    axes = {name: ("time", "wxyz")[: values.ndim] for name, values in arrays.items()}
    data = LabelledArrays({name: (axes[name], values) for name, values in arrays.items()}, {"time": ("time", TIMES)})
    return dataclasses.replace(made_up(1, 1), recorded=data)


TIMES = 0.5 * np.arange(6)  # [s]


def test_an_angle_has_recovered_when_it_stays_within_the_limit() -> None:
    run = recorded()
    assert recovery_time(run, np.array([0.0, 3.0, 0.0, 2.0, 0.5, 0.0]), 1.0) == 2.0  # after the second excursion
    assert recovery_time(run, np.zeros(6), 1.0) == 0.0
    assert recovery_time(run, np.array([0.0, 0.0, 0.0, 0.0, 0.0, 2.0]), 1.0) == np.inf


def test_a_level_is_crossed_between_two_records() -> None:
    run = recorded()
    assert crossing_time(run, np.array([0.0, 1.0, 3.0, 5.0, 0.0, 9.0]), 2.0) == 0.75
    assert crossing_time(run, np.array([3.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 2.0) == 0.0
    assert crossing_time(run, np.zeros(6), 2.0) == np.inf


def test_the_disturbance_is_the_angle_of_rotation_since_the_start(rng: np.random.Generator) -> None:
    """About one axis from any attitude, by degrees; a quaternion and its opposite are the same attitude."""
    angles = np.deg2rad([0.0, 1.0, -20.0, 90.0, 170.0, 5.0])
    axis, first = rng.normal(size=3), rng.normal(size=4)
    first, turn = first / np.linalg.norm(first), np.outer(angles, axis / np.linalg.norm(axis))
    turned = np.array([quaternion_multiply(jnp.asarray(first), quaternion_exp(jnp.asarray(x))) for x in turn])
    turned[3] *= -1.0
    found = attitude_disturbance_deg(recorded(base__attitude=turned))
    np.testing.assert_allclose(found, [0.0, 1.0, 20.0, 90.0, 170.0, 5.0], atol=1e-6)  # near zero the root of rounding
