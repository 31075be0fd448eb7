"""A carriage on the rail of a flexible beam: where it is, how it moves, and what it exchanges with the beam."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from freefloat import dynamics
from freefloat.dynamics.tree import edges
from freefloat.flex import beam
from freefloat.model import Effect, Spacecraft
from freefloat.sim import simulate
from freefloat.spatial import Pose
from freefloat.values import ModelError, record
from support.compiling import compiled

LENGTH = 3.0  # [m]
STATIONS = 13  # every 0.25 m
SPACING = LENGTH / (STATIONS - 1)
ROOT = Pose.from_rpy_deg((10.0, -20.0, 30.0), (0.2, 0.1, -0.1))  # of the beam in its body frame
SEAT = Pose.from_rpy_deg((0.0, 15.0, 0.0), (0.0, 0.05, 0.1))  # of the carriage's frame on the rail
CARRIAGE = Spacecraft.from_base("carriage", mass=2.0, inertia=(0.03, 0.04, 0.05), com=(0.02, 0.01, 0.1))
HUB = Spacecraft.from_base("hub", mass=30.0, inertia=(4.0, 5.0, 6.0), com=(0.1, 0.0, 0.05))
BENT = np.array([0.10, -0.03, 0.05, 0.08])  # y1, y2, z1 [m at the tip], torsion [rad at the tip]


def boom(rail_stations=STATIONS, stations=None, stiffness=60.0):
    return beam(
        length=LENGTH,
        mass=5.0,
        bending_stiffness=stiffness,
        torsion_stiffness=20.0,
        section_inertia=0.1,
        modes={"y": 2, "z": 1, "torsion": 1},
        stations=stations,
        rail_stations=rail_stations,
        root=ROOT,
    )


def on_rail(body) -> Spacecraft:
    craft = HUB.mount(body, name="boom", at=Pose.from_rpy_deg((0.0, 5.0, -40.0), (0.4, 0.0, 0.0)))
    return craft.mount(CARRIAGE, name="carriage", to="boom", at=SEAT, joint="rail")


def bolted(body, node) -> Spacecraft:
    craft = HUB.mount(body, name="boom", at=Pose.from_rpy_deg((0.0, 5.0, -40.0), (0.4, 0.0, 0.0)))
    return craft.mount(CARRIAGE, name="carriage", to=f"boom.{node}", at=SEAT)


@pytest.fixture(scope="module")
def craft() -> Spacecraft:
    return on_rail(boom())


@pytest.fixture(scope="module")
def pose(craft):
    """Position and rotation of the carriage in the boom's frame, and its columns, compiled once."""

    def of(q):
        edge = edges(craft, q)[-1]
        return edge.X_PB.p, edge.X_PB.R, edge.columns

    return compiled(of)


@pytest.fixture(scope="module")
def mass_matrix(craft):
    return compiled(lambda q: dynamics.mass_matrix(craft, q))


def at(station: float, b=BENT) -> np.ndarray:
    return np.concatenate([b, [station]])


# On a station, between two, next to one, at and beyond both ends.
PLACES = (1.0, 1.13, 1.25 + 1e-7, 0.0, LENGTH, -0.1, LENGTH + 0.1)


@pytest.mark.parametrize("station", PLACES)
def test_columns_are_the_derivative_of_the_pose(pose, station):
    """By central differences: nothing of the model's own differentiation is used."""
    q, h = at(station), 1e-6
    _, R, columns = pose(q)
    for k in range(len(q)):
        step = h * np.eye(len(q))[k]
        (p1, R1, _), (p0, R0, _) = pose(q + step), pose(q - step)
        spin = R.T @ (R1 - R0) / (2 * h)
        twist = np.concatenate([R.T @ (p1 - p0) / (2 * h), [spin[2, 1], spin[0, 2], spin[1, 0]]])
        # Rounding over the step, 1e-16 / 1e-6, plus h^2; across a station the second derivative may jump by some
        # 1e-2 / m, of which the difference sees half a step.
        np.testing.assert_allclose(columns[:, k], twist, atol=1e-7)


def test_jacobian_of_the_carriage_is_its_twist(craft, rng):
    def twists(q, v):
        J = dynamics.frame_jacobian(craft, q, "carriage")
        by_pose = jax.jvp(lambda q: dynamics.frame_pose(craft, q, "carriage").p, (q,), (v[6:],))[1]
        still = v.at[:6].set(0.0)
        R = dynamics.frame_pose(craft, q, "carriage").R
        return J @ v, dynamics.frame_twist(craft, q, v, "carriage"), R @ (J @ still)[:3], by_pose

    by_jacobian, directly, velocity, differentiated = compiled(twists)(at(1.13), rng.normal(size=craft.layout.nv))
    np.testing.assert_allclose(by_jacobian, directly, atol=1e-13)  # rounding
    np.testing.assert_allclose(velocity, differentiated, atol=1e-13)


def test_the_shape_is_evaluated_where_the_carriage_is(pose):
    """Position and rotation at a table's station, against the exact shapes of a node there; and the rail at rest."""
    body = boom(stations={"here": 7 * SPACING})
    node = body.node("here")
    p, R, _ = pose(at(7 * SPACING))
    expected = node.position + node.translation @ BENT
    frame_R = R @ SEAT.R.T
    np.testing.assert_allclose(p - frame_R @ SEAT.p, expected, atol=1e-14)  # rounding
    x, y, z = node.rotation @ BENT
    (cx, cy, cz), (sx, sy, sz) = np.cos([x, y, z]), np.sin([x, y, z])
    Rx = np.array([[1, 0, 0], [0, cx, -sx], [0, sx, cx]])
    Ry = np.array([[cy, 0, sy], [0, 1, 0], [-sy, 0, cy]])
    Rz = np.array([[cz, -sz, 0], [sz, cz, 0], [0, 0, 1]])
    np.testing.assert_allclose(frame_R, Rz @ Ry @ Rx, atol=1e-14)
    assert np.linalg.norm(expected - node.position) > 0.02  # it does bend there


@pytest.mark.parametrize("station", [0.3, 1.7, -0.2, LENGTH + 0.2])
def test_an_unbent_rail_is_straight_and_goes_on_beyond_its_ends(pose, station):
    p, R, columns = pose(at(station, np.zeros(4)))
    np.testing.assert_allclose(p, ROOT.p + ROOT.R[:, 0] * station + SEAT.p, atol=1e-14)
    np.testing.assert_allclose(R, SEAT.R, atol=1e-14)
    np.testing.assert_allclose(columns[:, -1], np.concatenate([SEAT.R.T @ ROOT.R[:, 0], np.zeros(3)]), atol=1e-14)


@pytest.mark.parametrize("station", [0.0, 5 * SPACING, LENGTH])
def test_pose_and_columns_are_continuous_at_stations_and_ends(pose, station):
    before, after = (pose(at(station + side)) for side in (-1e-9, 1e-9))
    for a, b in zip(before, after, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-8)  # slopes and curvatures of order one times 2e-9


# ---- mass matrix


def test_a_carriage_at_rest_weighs_what_a_bolted_one_does(mass_matrix):
    """At a table's station exactly; without the carriage's own coordinate the two spacecraft have the same speeds."""
    station = 7 * SPACING
    fixed = bolted(boom(stations={"here": station}), "here")
    expected = compiled(lambda q: dynamics.mass_matrix(fixed, q))(BENT)
    ours = mass_matrix(at(station))
    np.testing.assert_allclose(ours[:-1, :-1], expected, atol=1e-13)  # rounding of entries of order ten
    np.testing.assert_allclose(ours, ours.T, atol=1e-13)
    assert np.linalg.eigvalsh(ours)[0] > 0.0


def test_between_stations_interpolation_errs_with_the_fourth_power_of_their_distance(mass_matrix):
    station = (4.0 + 1.0 / 3.0) * SPACING  # a third of a cell from a station of both rails
    fixed = bolted(boom(stations={"here": station}), "here")
    expected = compiled(lambda q: dynamics.mass_matrix(fixed, q))(BENT)
    finer = on_rail(boom(rail_stations=2 * STATIONS - 1))
    errors = [
        np.max(np.abs(M[:-1, :-1] - expected))
        for M in (mass_matrix(at(station)), compiled(lambda q: dynamics.mass_matrix(finer, q))(at(station)))
    ]
    assert errors[0] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.1)  # the next order is a tenth here


def test_along_a_straight_rail_the_carriage_carries_its_mass(craft, mass_matrix):
    M = mass_matrix(at(1.13, np.zeros(4)))
    direction = craft.joints[0].X_PJ.R @ ROOT.R[:, 0]  # of the rail, in base axes
    assert M[-1, -1] == pytest.approx(2.0, abs=1e-13)  # [kg]
    np.testing.assert_allclose(M[:3, -1], 2.0 * direction, atol=1e-13)  # momentum per unit rolling speed


# ---- motion


@record
class Shove(Effect):
    """A constant force along the rail, between carriage and beam: internal."""

    index: int
    newtons: float

    def force(self, craft, state, clock):
        return jnp.zeros(state.v.shape[0]).at[self.index].set(self.newtons)


@pytest.fixture(scope="module")
def rolling(craft):
    """The carriage rolls over six stations on a vibrating boom of a tumbling hub, shoved along."""
    start = craft.at_rest(at(0.6))
    start.v[:] = [0.02, -0.01, 0.03, 0.05, 0.1, -0.08, 0.1, 0.0, -0.1, 0.2, 0.25]
    shove = Shove(index=craft.layout.nv - 1, newtons=0.2)
    return simulate(craft, shove, state=start, duration=4.0, dt=0.004, record_dt=0.02)


@pytest.mark.slow
def test_free_flight_keeps_momentum_and_energy_while_the_carriage_rolls(rolling):
    s = rolling["joints.position"].values[:, 0]
    assert s[0] == 0.6
    assert 2.0 < s[-1] < LENGTH  # rolled over several stations
    P, L = rolling["momentum.linear"].values, rolling["momentum.angular"].values
    energy = rolling["energy.kinetic"].values + rolling["energy.elastic"].values
    books = energy - energy[0] - rolling["energy.work"].values
    # Where a station is crossed the curvature of the interpolated shape jumps, and that step of RK4 errs with the
    # second power of its 4 ms: 2e-7 is measured.
    np.testing.assert_allclose(P, np.broadcast_to(P[0], P.shape), atol=1e-6 * np.linalg.norm(P[0]))
    np.testing.assert_allclose(L, np.broadcast_to(L[0], L.shape), atol=1e-6 * np.linalg.norm(L[0]))
    np.testing.assert_allclose(books, 0.0, atol=1e-6 * energy[0])
    assert rolling.audit.holds


def test_the_shove_works_along_the_rail_only(rolling):
    """Work is force times the way on the rail, whatever the beam does meanwhile."""
    s = rolling["joints.position"].values[:, 0]
    np.testing.assert_allclose(rolling["energy.work"].values, 0.2 * (s - s[0]), atol=1e-9)  # both integrated by RK4


def test_negative_control_a_rolling_carriage_exchanges_energy_with_the_beam(rolling):
    elastic = rolling["energy.elastic"].values
    assert np.ptp(elastic) > 0.1 * elastic[0]


def test_along_its_axis_a_beam_and_its_carriage_part_as_two_point_masses():
    """Everything on one line: s = s0 + F t^2 (1/m + 1/M) / 2, exact for any step, and nothing bends."""
    straight = beam(length=LENGTH, mass=5.0, bending_stiffness=60.0, modes={"y": 1}, rail_stations=4)
    hub = Spacecraft.from_base("hub", mass=30.0, inertia=(4.0, 5.0, 6.0))
    cart = Spacecraft.from_base("cart", mass=2.0, inertia=(0.03, 0.04, 0.05))
    craft = hub.mount(straight, name="boom").mount(cart, name="cart", to="boom", joint="rail")
    start = craft.at_rest([0.0, 0.5])
    run = simulate(craft, Shove(index=7, newtons=0.3), state=start, duration=4.0, dt=0.05)
    t = run["time"].values
    expected = 0.5 + 0.5 * 0.3 * (1.0 / 2.0 + 1.0 / 35.0) * t**2
    np.testing.assert_allclose(run["joints.position"].values[:, 0], expected, atol=1e-12)
    assert np.max(np.abs(run["boom.modes"].values)) < 1e-12


# ---- borders


def test_a_rail_joint_needs_a_rail():
    with pytest.raises(ModelError, match=r"'base' has none"):
        HUB.mount(CARRIAGE, name="carriage", joint="rail")
    without = HUB.mount(boom(rail_stations=0), name="boom")
    with pytest.raises(ModelError, match=r"needs a parent with a rail; 'boom' has none"):
        without.mount(CARRIAGE, name="carriage", to="boom", joint="rail")


def test_other_joints_on_a_body_with_a_rail_still_need_a_node():
    craft = HUB.mount(boom(), name="boom")
    with pytest.raises(ModelError, match=r"Nodes: boom\.tip"):
        craft.mount(CARRIAGE, name="carriage", to="boom", joint="revolute")


def test_a_rail_needs_two_stations():
    with pytest.raises(ModelError, match="at least two stations, not 1"):
        boom(rail_stations=1)


def test_a_rail_on_a_rigid_beam_is_a_sliding_joint():
    """Without modes the carriage slides along a straight line, as a prismatic joint along the beam does."""
    stiff = beam(length=LENGTH, mass=5.0, bending_stiffness=60.0, modes={"y": 0, "z": 0}, rail_stations=3)
    railed = HUB.mount(stiff, name="boom").mount(CARRIAGE, name="carriage", to="boom", joint="rail")
    rod = Spacecraft.from_base(
        "rod", mass=stiff.mass, com=stiff.com, inertia=np.asarray(stiff.inertia) + 1e-9 * np.eye(3)
    )
    sliding = HUB.mount(rod, name="boom").mount(
        CARRIAGE, name="carriage", to="boom", joint="prismatic", axis=(1.0, 0.0, 0.0)
    )
    q, v, force = np.array([1.3]), np.linspace(-0.3, 0.4, 7), np.linspace(1.0, -1.0, 7)
    ours = compiled(lambda q, v, f: dynamics.forward_dynamics(railed, q, v, f))(q, v, force)
    expected = compiled(lambda q, v, f: dynamics.forward_dynamics(sliding, q, v, f))(q, v, force)
    np.testing.assert_allclose(ours, expected, atol=1e-8)  # the rod got 1e-9 kg m2 about its axis to be a body


def test_a_carriage_does_not_ride_a_node():
    with pytest.raises(ModelError, match="rides the rail of 'boom', not its node 'tip'"):
        HUB.mount(boom(), name="boom").mount(CARRIAGE, name="carriage", to="boom.tip", joint="rail")
