"""The same spacecraft described in another way moves in the same way.

Tolerance 1e-11 of the largest entry: the two descriptions differ by some hundred roundings, times the condition
number of the mass matrix (up to 1e4 here).
"""

import dataclasses

import jax
import numpy as np
import pytest

from freefloat import dynamics
from freefloat.model import RigidBody, Spacecraft
from freefloat.spatial import Pose, SpatialInertia
from support import trees
from support.compiling import compiled

TOLERANCE = 1e-11
generalized_jacobian = compiled(lambda craft, q, R_NB: dynamics.generalized_jacobian(craft, q, "hand", R_NB))


def draw(rng, name):
    craft = trees.draw_tree(rng, name)
    q, v = trees.draw_configuration(rng, craft), trees.draw_speeds(rng, craft)
    return craft, q, v, 5.0 * rng.normal(size=v.size)


def plain(pose):
    """A pose of numpy arrays."""
    return jax.tree.map(np.asarray, pose)


# ---- another frame for the base


def with_base_frame(craft: Spacecraft, X_BA: Pose) -> Spacecraft:
    """The same spacecraft with its base described in a frame A fixed to it."""
    X_AB = plain(X_BA.inverse())
    base = craft.bodies[0]
    moved = dataclasses.replace(
        base, com=np.asarray(X_AB.apply(base.com)), inertia=X_AB.R @ np.asarray(base.inertia) @ X_AB.R.T
    )

    def of_base(part, **changes):
        return dataclasses.replace(part, **changes)

    return dataclasses.replace(
        craft,
        bodies=(moved, *craft.bodies[1:]),
        joints=tuple(of_base(j, X_PJ=plain(X_AB @ j.X_PJ)) if j.parent == "base" else j for j in craft.joints),
        wheels=tuple(of_base(w, axis=X_AB.R @ w.axis) if w.body == "base" else w for w in craft.wheels),
        frames=tuple(of_base(f, X_BF=plain(X_AB @ f.X_BF)) if f.body == "base" else f for f in craft.frames),
    )


@pytest.mark.parametrize("name", ["branched 7", "wheels"])
def test_the_frame_of_the_base_is_a_matter_of_description(rng, name):
    craft, q, v, force = draw(rng, name)
    X_BA = trees.draw_pose(rng)
    other = with_base_frame(craft, X_BA)
    # T maps speeds of the first description to those of the second; forces map by T^-T.
    T = np.eye(v.size)
    T[:6, :6] = np.asarray(X_BA.inverse().adjoint())
    back = np.linalg.inv(T)
    ours, theirs = trees.mass_matrix(other, q), back.T @ trees.mass_matrix(craft, q) @ back
    assert trees.relative_error(ours, theirs) < TOLERANCE
    vdot = trees.forward_dynamics(craft, q, v, force)
    assert trees.relative_error(trees.forward_dynamics(other, q, T @ v, back.T @ force), T @ vdot) < TOLERANCE
    assert trees.relative_error(trees.kinetic_energy(other, q, T @ v), trees.kinetic_energy(craft, q, v)) < TOLERANCE
    com = X_BA.apply(trees.centre_of_mass(other, q))
    assert trees.relative_error(com, trees.centre_of_mass(craft, q)) < TOLERANCE
    jacobian = trees.at_frame(dynamics.frame_jacobian, "hand")
    assert trees.relative_error(jacobian(other, q) @ T, jacobian(craft, q)) < TOLERANCE
    # Momentum in the axes of the first frame, about its origin.
    carried = X_BA.wrench_to_A(trees.momentum_about_base(other, q, T @ v))
    assert trees.relative_error(carried, trees.momentum_about_base(craft, q, v)) < TOLERANCE


def test_generalised_jacobian_does_not_depend_on_the_frame_of_the_base(rng):
    """The hand's motion per joint motion at zero momentum knows nothing of how the base is described."""
    craft, q, _, _ = draw(rng, "branched 7")
    X_BA = trees.draw_pose(rng)
    # Both in the axes of B: the base axes of the second description stand at R_BA.
    ours = generalized_jacobian(with_base_frame(craft, X_BA), q, X_BA.R)
    assert trees.relative_error(ours, generalized_jacobian(craft, q, np.eye(3))) < TOLERANCE


# ---- another order of the bodies


@pytest.mark.parametrize("name", ["branched 7", "wheels"])
def test_the_order_in_which_bodies_are_added_does_not_matter(rng, name):
    """Coordinates are found by name in both, so that only their order differs."""
    craft, q, v, force = draw(rng, name)
    other = reordered(craft, ORDERS[name])
    assert other.joint_names != craft.joint_names or other.wheel_names != craft.wheel_names
    in_q = [other.layout.position(j).start for j in craft.layout.moving_joints]
    names = [n for n in craft.layout.velocities if craft.layout.velocity(n).stop > craft.layout.velocity(n).start]
    in_v = list(other.layout.indices(names))
    q_other, v_other, force_other = np.zeros_like(q), np.zeros_like(v), np.zeros_like(v)
    q_other[in_q], v_other[in_v], force_other[in_v] = q, v, force
    M = trees.mass_matrix(other, q_other)[np.ix_(in_v, in_v)]
    assert trees.relative_error(M, trees.mass_matrix(craft, q)) < TOLERANCE
    bias = trees.bias(other, q_other, v_other)[in_v]
    assert trees.relative_error(bias, trees.bias(craft, q, v)) < TOLERANCE
    vdot = trees.forward_dynamics(other, q_other, v_other, force_other)[in_v]
    assert trees.relative_error(vdot, trees.forward_dynamics(craft, q, v, force)) < TOLERANCE


ORDERS = {"branched 7": (5, 0, 3, 6, 1, 4, 2), "wheels": (0, 1, 2, 3)}  # of the joints, parents first


def reordered(craft: Spacecraft, order: tuple[int, ...]) -> Spacecraft:
    """The same tree grown in another order, its wheels backwards."""
    grown = dataclasses.replace(craft, bodies=craft.bodies[:1], joints=(), wheels=(), frames=())
    for index in order:
        grown = grown.with_body(craft.bodies[index + 1], craft.joints[index])
    for wheel in reversed(craft.wheels):
        grown = grown.with_existing_wheel(wheel)
    return grown


# ---- one body as two


@pytest.mark.parametrize("split", ["base", "link2"])
def test_a_body_cut_in_two_and_glued_again_is_the_same_body(rng, split):
    """A part is cut off a body and carried by it on a fixed joint: coordinates and dynamics stay."""
    craft, q, v, force = draw(rng, "branched 7")
    part = RigidBody(name="part", **trees.draw_body(rng, (0.5, 1.0)))
    at = trees.draw_pose(rng, reach=0.1)
    rest = without(craft.body(split), part, at)
    index = craft.body_index(split)
    bodies = (*craft.bodies[:index], rest, *craft.bodies[index + 1 :])
    glued = dataclasses.replace(craft, bodies=bodies).with_link(
        "part", parent=split, joint="fixed", at=at, mass=part.mass, com=part.com, inertia=part.inertia
    )
    for function, arguments in (
        (trees.mass_matrix, ()),
        (trees.bias, (v,)),
        (trees.forward_dynamics, (v, force)),
        (trees.momentum_about_base, (v,)),
        (trees.centre_of_mass, ()),
    ):
        assert trees.relative_error(function(glued, q, *arguments), function(craft, q, *arguments)) < TOLERANCE


def without(body: RigidBody, part: RigidBody, at: Pose) -> RigidBody:
    """What is left of a body when a part is taken out of it: mass and moments about the origin subtract."""
    whole, gone = body.spatial_inertia(), part.spatial_inertia().to_A(at)
    rest = SpatialInertia(
        mass=whole.mass - gone.mass, moment=whole.moment - gone.moment, inertia=whole.inertia - gone.inertia
    )
    return RigidBody(
        name=body.name, mass=float(rest.mass), com=np.asarray(rest.com), inertia=np.asarray(rest.about_com())
    )
