"""Edges of what `dynamics` is for: wrong names, bodies alone, joints that do not move, arms in a plane."""

import jax
import numpy as np
import pytest

from freefloat import dynamics
from freefloat.model import Spacecraft
from freefloat.spatial import Pose
from freefloat.values import ModelError
from support import trees
from support.compiling import compiled

HERE = Pose()
NONE = np.zeros(0)


def two_links(joint: str) -> Spacecraft:
    """A base and two links, the first on a joint of that kind."""
    return (
        Spacecraft.from_base("pair", mass=10.0, inertia=(1.0, 1.0, 1.0))
        .with_link(
            "first", parent="base", joint=joint, mass=2.0, inertia=(0.1, 0.1, 0.1), at=Pose(position=(0.5, 0.0, 0.0))
        )
        .with_link(
            "second",
            parent="first",
            joint="revolute",
            mass=1.0,
            inertia=(0.1, 0.1, 0.1),
            at=Pose(position=(0.5, 0.0, 0.0)),
        )
        .with_frame("hand", body="second", at=Pose(position=(0.3, 0.0, 0.0)))
    )


# ---- names


@pytest.mark.parametrize(
    "ask",
    [
        lambda c, q, v: dynamics.frame_pose(c, q, "hnd"),
        lambda c, q, v: dynamics.frame_jacobian(c, q, "hnd"),
        lambda c, q, v: dynamics.frame_twist(c, q, v, "hnd"),
        lambda c, q, v: dynamics.generalized_force(c, q, "hnd", np.zeros(6)),
        lambda c, q, v: dynamics.base_jacobian(c, q, "hnd"),
        lambda c, q, v: dynamics.joint_jacobian(c, q, "hnd"),
        lambda c, q, v: dynamics.generalized_jacobian(c, q, "hnd"),
        lambda c, q, v: dynamics.drift_twist(c, q, "hnd", np.zeros(6), np.zeros(0)),
        lambda c, q, v: dynamics.inertial_frame_pose(c, c.at_rest(), "hnd"),
        lambda c, q, v: dynamics.inertial_frame_twist(c, c.at_rest(), "hnd"),
    ],
)
def test_an_unknown_frame_is_answered_with_those_that_exist(ask):
    craft = two_links("revolute")
    with pytest.raises(ModelError, match=r"Spacecraft 'pair' has no frame 'hnd'\. Frames: base, first, second, hand\."):
        jax.eval_shape(lambda q, v: ask(craft, q, v), np.zeros(2), np.zeros(8))  # already while tracing


def test_an_unknown_joint_cannot_be_prescribed():
    craft = two_links("revolute")
    with pytest.raises(ModelError, match=r"'pair' has no velocity 'third'\. .*first, second"):
        dynamics.hybrid_dynamics(craft, np.zeros(2), np.zeros(8), np.zeros(8), ("third",), np.zeros(1))
    with pytest.raises(ModelError, match="third"):
        dynamics.impose_rates(craft, np.zeros(2), np.zeros(8), ("third",), np.zeros(1))


def test_a_joint_is_not_prescribed_twice():
    craft = two_links("revolute")
    with pytest.raises(ModelError, match=r"'first' of spacecraft 'pair' is prescribed twice\. Name it once\."):
        dynamics.impose_rates(craft, np.zeros(2), np.zeros(8), ("first", "first"), np.zeros(2))


# ---- sizes

SIZES = {
    "mass_matrix": lambda c, q, v, f: dynamics.mass_matrix(c, q),
    "inverse_dynamics": lambda c, q, v, f: dynamics.inverse_dynamics(c, q, v, f),
    "forward_dynamics": lambda c, q, v, f: dynamics.forward_dynamics(c, q, v, f),
    "by mass matrix": lambda c, q, v, f: dynamics.forward_dynamics_by_mass_matrix(c, q, v, f),
    "hybrid_dynamics": lambda c, q, v, f: dynamics.hybrid_dynamics(c, q, v, f, ("first",), np.zeros(1)),
    "held_dynamics": lambda c, q, v, f: dynamics.held_dynamics(c, q, v, f),
    "impose_rates": lambda c, q, v, f: dynamics.impose_rates(c, q, v, ("first",), np.zeros(1)),
    "kinetic_energy": lambda c, q, v, f: dynamics.kinetic_energy(c, q, v),
    "momentum_about_base": lambda c, q, v, f: dynamics.momentum_about_base(c, q, v),
    "frame_twist": lambda c, q, v, f: dynamics.frame_twist(c, q, v, "hand"),
    "frame_jacobian": lambda c, q, v, f: dynamics.frame_jacobian(c, q, "hand"),
    "free_floating": lambda c, q, v, f: dynamics.free_floating(c, q),
    "damping_force": lambda c, q, v, f: dynamics.damping_force(c, q, v),
}
USES_V = ("inverse", "forward", "by mass", "hybrid", "held", "impose", "kinetic", "momentum", "frame_twist", "damping")


@pytest.mark.parametrize("wrong", [-1, 1])
@pytest.mark.parametrize("name", SIZES)
def test_a_vector_of_the_wrong_size_is_refused_while_tracing(name, wrong):
    """One number too few or too many would otherwise be clamped or dropped, and the answer be silently wrong."""
    craft, ask = two_links("revolute"), SIZES[name]
    sizes = {"q": 2, "v": 8} if name.startswith(USES_V) else {"q": 2}
    for field, size in sizes.items():
        vectors = {"q": np.zeros(2), "v": np.zeros(8), "f": np.zeros(8)} | {field: np.zeros(size + wrong)}
        with pytest.raises(ModelError) as caught:
            jax.eval_shape(lambda q, v, f: ask(craft, q, v, f), *vectors.values())
        said = str(caught.value)
        assert f"Spacecraft 'pair': {field} must have {size} numbers, got shape ({size + wrong},)." in said
        assert f"np.zeros(craft.layout.n{field})" in said


def test_forces_and_accelerations_have_a_size_too():
    craft, q, v = two_links("revolute"), np.zeros(2), np.zeros(8)
    with pytest.raises(ModelError, match="force must have 8 numbers"):
        dynamics.forward_dynamics(craft, q, v, np.zeros(7))
    with pytest.raises(ModelError, match="vdot must have 8 numbers"):
        dynamics.inverse_dynamics(craft, q, v, np.zeros(2))
    with pytest.raises(ModelError, match=r"rates must have 2 numbers \(first, second\), got shape \(1,\)"):
        dynamics.impose_rates(craft, q, v, ("first", "second"), np.zeros(1))
    with pytest.raises(ValueError, match="as many rows"):
        dynamics.spd_solve(np.eye(3), np.zeros(4))


# ---- a body alone


def test_a_body_alone_has_all_quantities(rng):
    """No joint and no wheel: six speeds, empty blocks, and Newton-Euler is what remains (1e-13: a few products)."""
    craft = trees.draw_tree(rng, "free body")
    q, v, force = np.zeros(0), rng.normal(size=6), rng.normal(size=6)
    everything = compiled(
        lambda c, q, v, f: {
            "M": dynamics.mass_matrix(c, q),
            "vdot": dynamics.forward_dynamics(c, q, v, f),
            "other": dynamics.forward_dynamics_by_mass_matrix(c, q, v, f),
            "bias": dynamics.bias(c, q, v),
            "hybrid": dynamics.hybrid_dynamics(c, q, v, f, (), NONE),
            "rates": dynamics.impose_rates(c, q, v, (), NONE),
            "free": dynamics.free_floating(c, q),
            "J_g": dynamics.generalized_jacobian(c, q, "hand"),
            "J_m": dynamics.joint_jacobian(c, q, "hand"),
            "N": dynamics.reaction_null_space(c, q),
            "wheels": dynamics.wheel_momentum(c, q, v),
            "drift": dynamics.drift_twist(c, q, "hand", f, NONE),
        }
    )(craft, q, v, force)
    M = everything["M"]
    vdot = np.linalg.solve(M, force - everything["bias"])
    for key in ("vdot", "other"):
        assert trees.relative_error(everything[key], vdot) < 1e-13
    assert trees.relative_error(everything["hybrid"][0], vdot) < 1e-13
    assert np.array_equal(everything["rates"], v)
    assert np.array_equal(everything["free"].H_b, M)
    shapes = {"J_g": (6, 0), "J_m": (6, 0), "N": (0, 0), "wheels": (0,)}
    assert {key: np.shape(everything[key]) for key in shapes} == shapes
    # No joint moves, so the hand is carried by the base: V_h = Ad V_b with V_b = M^-1 (P, L).
    J = trees.at_frame(dynamics.frame_jacobian, "hand")(craft, q)
    R = np.asarray(craft.frame("hand").X_BF.R)
    carried = (J @ np.linalg.solve(M, force)).reshape(2, 3) @ R.T
    assert trees.relative_error(everything["drift"], carried.ravel()) < 1e-13


# ---- joints that do not move


def test_a_fixed_joint_has_no_coordinate_but_carries():
    """The pair with a fixed first joint is the pair with a revolute one held at zero: rows of that joint left out.

    Exactly the same operations follow, so 1e-14."""
    fixed, free = two_links("fixed"), two_links("revolute")
    assert (fixed.layout.nq, fixed.layout.nv) == (1, 7)
    keep = [0, 1, 2, 3, 4, 5, 7]
    v = np.array([0.1, -0.2, 0.3, 0.4, -0.5, 0.6, 0.7])
    held = np.insert(v, 6, 0.0)
    M = trees.mass_matrix(free, np.array([0.0, 0.8]))
    assert trees.relative_error(trees.mass_matrix(fixed, np.array([0.8])), M[np.ix_(keep, keep)]) < 1e-14
    bias = trees.bias(free, np.array([0.0, 0.8]), held)[keep]
    assert trees.relative_error(trees.bias(fixed, np.array([0.8]), v), bias) < 1e-14
    J = trees.at_frame(dynamics.frame_jacobian, "hand")
    assert trees.relative_error(J(fixed, np.array([0.8])), J(free, np.array([0.0, 0.8]))[:, keep]) < 1e-14


def test_a_tree_of_fixed_joints_is_one_body(rng):
    """Glued together: the composite inertia is the mass matrix, and its centre of mass that of the parts."""
    craft = Spacecraft.from_base("glued", **trees.draw_body(rng, (5.0, 10.0)))
    for k in range(3):
        craft = craft.with_link(
            f"part{k}", parent="base", joint="fixed", at=trees.draw_pose(rng), **trees.draw_body(rng, (1.0, 2.0))
        )
    composite = compiled(dynamics.composite_inertia)(craft, np.zeros(0))
    M = trees.mass_matrix(craft, np.zeros(0))
    assert M.shape == (6, 6)
    assert trees.relative_error(M, np.asarray(composite.matrix())) < 1e-14
    masses = [body.mass for body in craft.bodies]
    poses = [HERE, *(joint.X_PJ for joint in craft.joints)]
    com = sum(m * np.asarray(X.apply(b.com)) for m, X, b in zip(masses, poses, craft.bodies, strict=True)) / sum(masses)
    assert trees.relative_error(trees.centre_of_mass(craft, np.zeros(0)), com) < 1e-14


# ---- arms that cannot turn the base in every direction


def planar(joints: int) -> Spacecraft:
    craft = Spacecraft.from_base("planar", mass=20.0, inertia=(10.0, 10.0, 10.0))
    for k in range(joints):
        craft = craft.with_link(
            f"link{k + 1}",
            parent=f"link{k}" if k else "base",
            joint="revolute",
            at=Pose(position=(1.0 if k else 0.3, 0.0, 0.0)),
            mass=5.0,
            com=(0.5, 0.0, 0.0),
            inertia=(0.01, 0.4, 0.4),
        )
    return craft


@pytest.mark.parametrize("joints", [1, 2, 3])
def test_reaction_null_space_of_a_planar_arm(joints):
    """All joints turn the base about one axis only, so all but one direction of joint motion leave it alone (1e-12)."""
    craft = planar(joints)
    q = np.linspace(0.3, 0.9, joints)
    N = compiled(dynamics.reaction_null_space)(craft, q)
    H = trees.free_floating(craft, q)
    coupling = np.asarray(H.angular_coupling)
    assert np.linalg.matrix_rank(coupling, tol=1e-9) == 1
    assert np.trace(N) == pytest.approx(joints - 1, abs=1e-12)
    assert np.max(np.abs(N @ N - N)) < 1e-12
    assert np.max(np.abs(coupling @ N)) < 1e-12 * np.max(np.abs(coupling))
