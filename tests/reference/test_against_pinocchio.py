"""cases.md 8: everything that Pinocchio also computes, on random trees of up to 20 joints.

Tolerance 1e-10 of the largest entry of each array (cases.md). Both codes compute in float64 along different
orders of summation; a mass matrix of these trees has a condition number up to 1e5, so forward dynamics may differ
by 1e5 roundings of 1e-16, everything else by some hundred of them.
"""

import numpy as np
import pytest

from freefloat import dynamics
from support import trees
from support.compiling import compiled

pin = pytest.importorskip("pinocchio")

TOLERANCE = 1e-10
NAMES = ("chain of 6", "branched 7", "branched 20", "wheels")
DRAWS = 5


@compiled
def ours(craft, q, v, vdot, force):
    return {
        "mass matrix": dynamics.mass_matrix(craft, q),
        "bias": dynamics.bias(craft, q, v),
        "inverse dynamics": dynamics.inverse_dynamics(craft, q, v, vdot),
        "forward dynamics": dynamics.forward_dynamics(craft, q, v, force),
        "momentum about the base": dynamics.momentum_about_base(craft, q, v),
        "momentum about the centre of mass": dynamics.momentum_about_com(craft, q, v),
        "kinetic energy": dynamics.kinetic_energy(craft, q, v),
        "centre of mass": dynamics.centre_of_mass(craft, q),
        "pose of the hand": dynamics.frame_pose(craft, q, "hand"),
        "Jacobian of the hand": dynamics.frame_jacobian(craft, q, "hand"),
        "Jacobian of the camera": dynamics.frame_jacobian(craft, q, "camera"),
        "twist of the hand": dynamics.frame_twist(craft, q, v, "hand"),
    }


def theirs(craft, q, v, vdot, force):
    """The same quantities, with the base at the inertial origin and aligned with it."""
    other = trees.InPinocchio(craft)
    model, data, full = other.model, other.data, other.configuration(q)

    def jacobian(frame):
        return pin.computeFrameJacobian(model, data, full, other.frames[frame], pin.ReferenceFrame.LOCAL)

    M = pin.crba(model, data, full)
    M = np.triu(M) + np.triu(M, 1).T  # only the upper triangle is promised
    about_com = pin.computeCentroidalMomentum(model, data, full, v).vector.copy()
    com = pin.centerOfMass(model, data, full).copy()
    P, L = about_com[:3], about_com[3:]
    J = jacobian("hand").copy()
    pin.framesForwardKinematics(model, data, full)
    hand = data.oMf[other.frames["hand"]]
    return {
        "mass matrix": M,
        "bias": pin.nonLinearEffects(model, data, full, v).copy(),
        "inverse dynamics": pin.rnea(model, data, full, v, vdot).copy(),
        "forward dynamics": pin.aba(model, data, full, v, force).copy(),
        "momentum about the base": np.concatenate([P, L + np.cross(com, P)]),
        "momentum about the centre of mass": about_com,
        "kinetic energy": pin.computeKineticEnergy(model, data, full, v),
        "centre of mass": com,
        "pose of the hand": hand.homogeneous,
        "Jacobian of the hand": J,
        "Jacobian of the camera": jacobian("camera").copy(),
        "twist of the hand": J @ v,
    }


@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n == "branched 20" else n for n in NAMES])
def test_all_quantities_equal_those_of_pinocchio(rng, name):
    worst: dict[str, float] = {}
    for _ in range(DRAWS):
        craft = trees.draw_tree(rng, name)
        q, v = trees.draw_configuration(rng, craft), trees.draw_speeds(rng, craft)
        vdot, force = rng.normal(size=v.size), rng.normal(size=v.size)
        mine, reference = ours(craft, q, v, vdot, force), theirs(craft, q, v, vdot, force)
        X = mine["pose of the hand"]
        mine["pose of the hand"] = np.block(
            [[np.asarray(X.rotation), np.asarray(X.position)[:, None]], [np.zeros((1, 3)), np.ones((1, 1))]]
        )
        for quantity, value in mine.items():
            error = trees.relative_error(value, reference[quantity])
            worst[quantity] = max(worst.get(quantity, 0.0), error)
    trees.report("\n".join(f"{name}: {quantity:<36} {error:.1e}" for quantity, error in worst.items()))
    assert max(worst.values()) < TOLERANCE, worst


@pytest.mark.parametrize("name", ["branched 7", "wheels"])
def test_rotors_of_joints_are_its_armature(rng, name):
    craft = trees.with_joint_rotors(rng, trees.draw_tree(rng, name))
    q, v = trees.draw_configuration(rng, craft), trees.draw_speeds(rng, craft)
    vdot, force = rng.normal(size=v.size), rng.normal(size=v.size)
    mine, reference = ours(craft, q, v, vdot, force), theirs(craft, q, v, vdot, force)
    # Its own kinetic energy (4.1.0) leaves out the armature of revolute joints about a general axis.
    reference["kinetic energy"] = 0.5 * v @ reference["mass matrix"] @ v
    for quantity in ("mass matrix", "bias", "inverse dynamics", "forward dynamics", "kinetic energy"):
        assert trees.relative_error(mine[quantity], reference[quantity]) < TOLERANCE, quantity


held = compiled(dynamics.held_dynamics)


@pytest.mark.parametrize("name", ["branched 7", "wheels"])
def test_a_held_base_is_its_fixed_base(rng, name):
    """Accelerations, and the wrench of the stand: what all joints on the world hand down to it."""
    craft = trees.with_joint_rotors(rng, trees.draw_tree(rng, name))
    q, v = trees.draw_configuration(rng, craft), trees.draw_speeds(rng, craft)
    force, v[:6] = rng.normal(size=v.size), 0.0
    vdot, found = held(craft, q, v, np.concatenate([np.full(6, np.nan), force[6:]]))  # must not be looked at
    other = trees.InPinocchio(craft, held=True)
    model, data, full = other.model, other.data, other.configuration(q)
    assert not np.any(vdot[:6])
    assert np.array_equal(found[6:], force[6:])
    assert trees.relative_error(vdot[6:], pin.aba(model, data, full, v[6:], force[6:])) < TOLERANCE
    pin.rnea(model, data, full, v[6:], vdot[6:])
    handed = [data.liMi[i].act(data.f[i]).vector for i in range(1, model.njoints) if model.parents[i] == 0]
    assert trees.relative_error(found[:6], sum(handed)) < TOLERANCE


def test_the_comparison_sees_a_wrong_number(rng):
    """Negative control: one joint axis turned by a microradian moves the mass matrix by far more than the tolerance."""
    craft = trees.draw_tree(rng, "chain of 6")
    q = trees.draw_configuration(rng, craft)
    v = np.zeros(craft.layout.nv)
    axis = craft.joint("joint3").axis
    across = np.cross(axis, rng.normal(size=3))
    bent = craft.with_value("joint3.axis", axis + 1e-6 * across / np.linalg.norm(across))
    mine = ours(bent, q, v, v, v)["mass matrix"]
    assert trees.relative_error(mine, theirs(craft, q, v, v, v)["mass matrix"]) > 1e2 * TOLERANCE
