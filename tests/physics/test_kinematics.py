"""Jacobians and twists are the derivatives of poses.

Central differences with a step of 1e-5 s: truncation is 1e-10 times third derivatives of order 10, rounding
1e-16/1e-5, so 1e-8 of the largest entry. Exact derivatives agree to 1e-13.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import dynamics
from freefloat.model import State
from freefloat.spatial import Pose, six
from support import trees
from support.compiling import compiled

NAMES = ("chain of 6", "branched 7", "wheels")
FRAMES = ("hand", "camera", "link2")
BY_DIFFERENCES = 1e-8
EXACT = 1e-13


def moved(craft, state, time):
    """The state after a while of constant speeds: the base turns on a screw, the joints run on."""
    X_NB = state.X_NB @ Pose.exp(time * state.v[:6])
    q = state.q + time * state.v[np.array(craft.layout.joint_velocities, dtype=int)]
    return X_NB, q


@compiled
def quantities(craft, state, h):
    """For each frame: J v, its twist, its twist by differences, by exact derivatives, and in N axes two ways."""
    found = {}
    for frame in FRAMES:

        def pose(time, frame=frame):
            X_NB, q = moved(craft, state, time)
            return X_NB @ dynamics.frame_pose(craft, q, frame)

        before, now, after = pose(-h), pose(0.0), pose(h)
        _, rate = jax.jvp(pose, (jnp.zeros(()),), (jnp.ones(()),))
        turning = now.R.T @ rate.rotation  # skew matrix of the body rate
        found[frame] = {
            "jacobian": dynamics.frame_jacobian(craft, state.q, frame) @ state.v,
            "twist": dynamics.frame_twist(craft, state.q, state.v, frame),
            "differences": (before.inverse() @ after).log() / (2.0 * h),
            "exact": six(now.R.T @ rate.position, jnp.stack([turning[2, 1], turning[0, 2], turning[1, 0]])),
            "in N": dynamics.inertial_frame_twist(craft, state, frame),
            "in N, exact": six(rate.position, now.R @ jnp.stack([turning[2, 1], turning[0, 2], turning[1, 0]])),
            "pose": dynamics.inertial_frame_pose(craft, state, frame),
            "pose here": now,
        }
    return found


@pytest.mark.parametrize("name", NAMES)
def test_twists_and_jacobians_are_derivatives_of_poses(rng, name):
    craft = trees.draw_tree(rng, name)
    found = quantities(craft, trees.draw_state(rng, craft), np.float64(1e-5))
    for frame in FRAMES:
        values = found[frame]
        assert trees.relative_error(values["jacobian"], values["differences"]) < BY_DIFFERENCES
        assert trees.relative_error(values["jacobian"], values["exact"]) < EXACT
        assert trees.relative_error(values["twist"], values["exact"]) < EXACT
        assert trees.relative_error(values["in N"], values["in N, exact"]) < EXACT
        assert trees.relative_error(values["pose"].position, values["pose here"].position) < EXACT
        assert trees.relative_error(values["pose"].rotation, values["pose here"].rotation) < EXACT


body_poses, body_twists = compiled(dynamics.body_poses), compiled(dynamics.body_twists)


@pytest.mark.parametrize("name", NAMES)
def test_bodies_are_frames_too(rng, name):
    """`body_poses` and `body_twists` of a body are the pose and the twist of the frame of its name."""
    craft = trees.draw_tree(rng, name)
    q, v = trees.draw_configuration(rng, craft), trees.draw_speeds(rng, craft)
    index = craft.body_index("link2")
    pose = trees.at_frame(dynamics.frame_pose, "link2")(craft, q)
    assert trees.relative_error(body_poses(craft, q)[index].position, pose.position) < EXACT
    assert trees.relative_error(body_poses(craft, q)[index].rotation, pose.rotation) < EXACT
    twist = trees.at_frame(dynamics.frame_twist, "link2")(craft, q, v)
    assert trees.relative_error(body_twists(craft, q, v)[index], twist) < EXACT


@compiled
def com_velocity(craft, state):
    """Velocity of the centre of mass in N axes, as the derivative of its position."""

    def position(time):
        X_NB, q = moved(craft, state, time)
        return X_NB.apply(dynamics.centre_of_mass(craft, q))

    return jax.jvp(position, (jnp.zeros(()),), (jnp.ones(()),))[1]


momentum_about_origin = trees.compiled_once(dynamics.momentum_about_origin)


@pytest.mark.parametrize("name", NAMES)
def test_linear_momentum_is_mass_times_the_velocity_of_the_centre_of_mass(rng, name):
    craft = trees.draw_tree(rng, name)
    state: State = trees.draw_state(rng, craft)
    mass = sum(body.mass for body in craft.bodies)
    assert trees.relative_error(mass * com_velocity(craft, state), momentum_about_origin(craft, state)[:3]) < EXACT
