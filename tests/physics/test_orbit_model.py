"""Linear equations in orbit against derivatives of the nonlinear Lagrangian, for a tree that has everything.

L = T about the centre of mass - tidal potential - elastic energy, over (psi, q) with exact rotations. Its second
derivatives are M, G and the symmetric part of K; the skew part of K is that of a reference that needs a torque.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.analysis import linearise_in_orbit, trim_in_orbit
from freefloat.dynamics import composite_inertia, elastic_energy, frame_jacobian
from freefloat.dynamics.inner_motion import inner_motion
from freefloat.effects.relative_gravity import LinearField
from freefloat.flex import beam, meshed_beam, modal_damping, truncate_modes
from freefloat.spatial import Pose
from freefloat.spatial.rotations import from_roll_pitch_yaw, rotation_exp
from freefloat.values.compiling import over_rows

# The rate of this orbit is 0.5 rad/s, so that tides, gyroscopic terms and elasticity are of one size.
ORBIT = ff.effects.CircularOrbit(altitude=1.0, body_radius=9.0, gravity=250.0)
TILT = np.asarray(from_roll_pitch_yaw(jnp.array([0.3, -0.5, 0.8])))  # R_OB
RNG = np.random.default_rng(20261117)


def tree() -> ff.Spacecraft:
    """Flexible base with a rail, a carriage, a stiffening boom on a hinge with a rotor."""
    whole = meshed_beam(
        length=4.0,
        mass_per_length=2.0,
        bending_stiffness_z=6.0,
        section_inertia=0.05,
        planes="z",
        elements=4,
        ends=("free", "free"),
        stations={"middle": 2.0, "left": 0.0},
        held=("middle",),
        rail_stations=9,
    ).place_at(Pose(position=np.array([-2.0, 0.0, 0.0])))
    body = truncate_modes(whole, 2).body(damping=modal_damping(0.02))
    craft = ff.Spacecraft.from_body("everything", body)
    seat = Pose.from_rpy_deg((10.0, 0.0, 20.0), (0.0, 0.1, 0.3))
    cart = ff.model.RigidBody("cart", mass=0.7, com=(0.1, 0.0, 0.1), inertia=(0.02, 0.03, 0.04))
    craft = craft.with_body(cart, ff.model.Joint("rail", "rail", "base", seat, axis=(1, 0, 0), damping=0.3))
    boom = beam(length=1.5, mass=0.6, bending_stiffness=0.8, modes={"z": 1}, stiffening=True)
    return craft.mount(boom, name="boom", to="cart", joint="revolute", axis=(0, 1, 1), at=Pose(), rotor_inertia=0.05)


def everything() -> ff.Spacecraft:
    """The same with a slider at the boom's tip and a panel at the end of the base."""
    craft = tree()
    panel = beam(length=1.0, mass=0.4, bending_stiffness=0.5, modes={"z": 1})
    craft = craft.mount(panel, name="panel", to="base.left", at=Pose.from_rpy_deg((0.0, 0.0, 90.0), (0.0, 0.2, 0.0)))
    return craft.with_link(
        "tool", parent="boom.tip", joint="prismatic", mass=0.2, inertia=(0.01, 0.01, 0.01), axis=(0, 1, 0)
    )


def lagrangian(craft: ff.Spacecraft, q0: np.ndarray, p, rates):
    """Of deviations (psi, q - q0) and their rates."""
    n = np.float64(0.5)
    C, C_rate = jax.jvp(rotation_exp, (p[:3],), (rates[:3],))
    R_OB, spun = TILT @ C, C.T @ C_rate
    omega = R_OB.T @ jnp.array([0.0, -n, 0.0]) + jnp.stack([spun[2, 1], spun[0, 2], spun[1, 0]])
    q = q0 + p[3:]
    places = np.array(craft.layout.coordinates, dtype=int)
    v = jnp.zeros(craft.layout.nv).at[3:6].set(omega).at[places].set(rates[3:])
    whole = composite_inertia(craft, q)
    tide = LinearField(R_OB.T @ jnp.array([0.0, 0.0, 1.0]), n).potential(whole, -whole.com)
    return inner_motion(craft, q, v).energy - tide - elastic_energy(craft, q)


def derivatives_along(craft: ff.Spacecraft, q: np.ndarray, direction):
    """The gradient of the Lagrangian by (p, p'), and how it changes along a direction."""
    half = len(direction) // 2
    slope = jax.grad(lambda x: lagrangian(craft, q, x[:half], x[half:]))
    return jnp.concatenate(jax.jvp(slope, (jnp.zeros(2 * half),), (direction,)))


@pytest.fixture(scope="module")
def craft() -> ff.Spacecraft:
    return tree()


@pytest.fixture(scope="module")
def q(craft) -> np.ndarray:
    return 0.2 * RNG.standard_normal(craft.layout.nq)


@pytest.fixture(scope="module")
def derivatives(craft, q):
    """First and second derivatives of the Lagrangian by (p, p')."""
    size = 2 * (3 + craft.layout.nq)
    both = over_rows(derivatives_along, craft, q, rows=np.eye(size))
    return both[0, :size], both[:, size:]


@pytest.fixture(scope="module")
def found(craft, q):
    return linearise_in_orbit(craft, ORBIT, q, attitude=TILT)


def test_mass_gyroscopic_and_stiffness_are_derivatives_of_the_lagrangian(derivatives, found):
    require_derivatives(found, derivatives[1])


@pytest.mark.slow
def test_a_larger_tree():
    craft = everything()
    q = 0.2 * RNG.standard_normal(craft.layout.nq)
    size = 2 * (3 + craft.layout.nq)
    curve = over_rows(derivatives_along, craft, q, rows=np.eye(size))[:, size:]
    require_derivatives(linearise_in_orbit(craft, ORBIT, q, attitude=TILT), curve)


def require_derivatives(found, curve: np.ndarray) -> None:
    n = len(found.structure.M)
    by_rates, mixed, by_place = curve[n:, n:], curve[n:, :n], curve[:n, :n]
    np.testing.assert_allclose(found.structure.M, by_rates, atol=1e-12 * np.max(by_rates))
    np.testing.assert_allclose(found.structure.G, mixed - mixed.T, atol=1e-12 * np.max(np.abs(mixed)))
    K = found.structure.K
    np.testing.assert_allclose(0.5 * (K + K.T), -by_place, atol=1e-12 * np.max(np.abs(by_place)))


def test_the_trim_is_the_first_derivative_and_turns_the_stiffness(derivatives, found):
    slope, _ = derivatives
    n = len(found.structure.M)
    np.testing.assert_allclose(found.trim, -slope[:n], atol=1e-12)
    # A torque that is fixed in base axes is no derivative of a potential: K lacks symmetry by its matrix.
    K, (x, y, z) = found.structure.K, found.trim[:3]
    skew = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    np.testing.assert_allclose((K - K.T)[:3, :3], skew, atol=1e-12)
    assert np.linalg.norm(found.trim[:3]) > 0.1


def test_at_an_equilibrium_nothing_pushes_and_the_stiffness_is_symmetric(craft):
    start = np.zeros(craft.layout.nq)
    upright = ff.library.STATION_ATTITUDE
    q, R_OB = trim_in_orbit(craft, ORBIT, start, attitude=upright)
    at_rest = linearise_in_orbit(craft, ORBIT, q, attitude=R_OB)
    joints = [at_rest.structure.coordinates.index(name) for name in craft.layout.moving_joints]
    assert np.max(np.abs(np.delete(at_rest.trim, joints))) < 1e-13
    K = at_rest.structure.K
    np.testing.assert_allclose(K, K.T, atol=1e-12)
    assert np.linalg.norm(R_OB - upright) > 1e-3  # the tree is lopsided


def test_gradients_differ_where_they_should(craft, q, found):
    """`full` lacks what tides do along curves, on joints and modes only; `paper` acts on the attitude alone."""
    straight, paper = (
        linearise_in_orbit(craft, ORBIT, q, attitude=TILT, gradient=g).structure for g in ("full", "paper")
    )
    exact = found.structure
    for other in (straight, paper):
        np.testing.assert_array_equal(exact.M, other.M)
        np.testing.assert_array_equal(exact.G, other.G)
        np.testing.assert_array_equal(exact.K[:3, :3], other.K[:3, :3])
    np.testing.assert_array_equal(exact.K[:3], straight.K[:3])
    assert np.max(np.abs((exact.K - straight.K)[3:, 3:])) > 0.01
    assert not np.any(paper.K[:3, 3:])


def test_inputs_are_the_frames_own_axes(craft, q):
    """A force at a frame: its Jacobian, with the translation of the centre of mass taken off."""
    names = ["boom.tip.force.y", "cart.torque.x", "boom", "base.torque.z"]
    model = linearise_in_orbit(craft, ORBIT, q, attitude=TILT, inputs=names)
    at = np.array([3, 4, 5, *craft.layout.coordinates], dtype=int)
    M = np.asarray(ff.dynamics.mass_matrix(craft, q))
    free = np.vstack([-M[:3, at] / M[0, 0], np.eye(craft.layout.nv)[at][:, at]])  # (psi', q') -> v, no momentum
    order = np.argsort(np.concatenate([np.arange(3), at]))
    for k, (frame, axis) in enumerate((("boom.tip", 1), ("cart", 3))):
        J = np.asarray(frame_jacobian(craft, q, frame))
        np.testing.assert_allclose(model.structure.Bf[:, k], (J[:, np.r_[0:3, at]] @ free)[axis], atol=1e-13)
    assert len(order) == craft.layout.nv
    joint = model.structure.coordinates.index("boom")
    np.testing.assert_array_equal(model.structure.Bf[:, 2], np.eye(len(model.structure.M))[joint])
    np.testing.assert_array_equal(model.structure.Bf[:, 3], np.eye(len(model.structure.M))[2])


def test_outputs_are_coordinates_frames_and_rates(craft, q):
    """Displacement of a frame in the base: its Jacobian beyond the base, in base axes."""
    names = ["psi.y", "boom rate", "boom.tip.displacement.z", "cart.rotation.x rate"]
    structure = linearise_in_orbit(craft, ORBIT, q, attitude=TILT, outputs=names).structure
    assert structure.outputs == tuple(names)
    n, labels = len(structure.M), structure.coordinates
    np.testing.assert_array_equal(structure.Cp[0], np.eye(n)[1])
    np.testing.assert_array_equal(structure.Cv[1], np.eye(n)[labels.index("boom")])
    assert not np.any(structure.Cp[[1, 3]])
    assert not np.any(structure.Cv[[0, 2]])
    at = np.array(craft.layout.coordinates, dtype=int)
    for row, frame, axis, matrix in ((2, "boom.tip", 2, structure.Cp), (3, "cart", 3, structure.Cv)):
        R = np.asarray(ff.dynamics.frame_pose(craft, q, frame).R)
        J = np.asarray(frame_jacobian(craft, q, frame, "base"))[:, at]
        expected = np.vstack([R @ J[:3], R @ J[3:]])[axis]
        np.testing.assert_allclose(matrix[row, 3:], expected, atol=1e-14)
    with pytest.raises(ff.ModelError, match=r"There is no output 'boom.tip'.*such as 'hand.displacement.z'"):
        linearise_in_orbit(craft, ORBIT, q, attitude=TILT, outputs=["boom.tip"])


def test_damping_of_joints_and_bodies_is_in_the_model(craft, found):
    C, names = found.structure.C, found.structure.coordinates
    assert C[names.index("rail"), names.index("rail")] == 0.3
    body = craft.bodies[0]
    at = [names.index("base 1"), names.index("base 2")]
    np.testing.assert_array_equal(C[np.ix_(at, at)], body.damping)
    assert not np.any(C[:3])


def test_damping_of_a_follower_reaches_its_leader_by_the_square_of_the_ratio():
    link = {"joint": "revolute", "mass": 1.0, "inertia": (1.0, 1.0, 1.0)}
    craft = ff.Spacecraft.from_base("arm", mass=9.0, inertia=(3.0, 4.0, 5.0))
    craft = craft.with_link("upper", parent="base", damping=0.2, **link)
    craft = craft.with_link("lower", parent="upper", damping=0.5, follows=ff.model.Follow("upper", -3.0), **link)
    C = linearise_in_orbit(craft, ORBIT).structure.C
    np.testing.assert_allclose(C[3:, 3:], [[0.2 + 0.5 * 9.0]], rtol=1e-14)


def test_no_equilibrium_nearby_is_said():
    """A ball has no attitude of its own."""
    ball = ff.Spacecraft.from_base("ball", mass=1.0, inertia=(1.0, 1.0, 1.0))
    with pytest.raises(ff.ModelError, match="no equilibrium"):
        trim_in_orbit(ball, ORBIT, np.zeros(0), attitude=TILT)


def test_rates_of_an_elliptic_orbit_have_no_constant_model(craft):
    orbit = ff.effects.EllipticOrbit(semi_major_axis=8e6, eccentricity=0.01)
    with pytest.raises(ff.ModelError, match="circular"):
        linearise_in_orbit(craft, orbit, attitude=TILT)


def test_copies_with_other_numbers_change_the_model(craft, q, found):
    heavier = craft.with_value("cart.mass", 1.4)
    other = linearise_in_orbit(heavier, ORBIT, q, attitude=TILT)
    assert other.mass == pytest.approx(found.mass + 0.7)
    assert not np.allclose(dataclasses.asdict(other)["com"], found.com)
