"""A rail along a meshed beam: its tables are the elements' own cubics, and a carriage that travels while the beam
bends keeps energy and momentum.
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics.deformation import rail_mount
from freefloat.flex import meshed_beam, truncate_modes
from freefloat.spatial import Pose

LENGTH, ELEMENTS = 2.0, 4
RNG = np.random.default_rng(20261116)


def mesh(rail_stations: int = 17, planes: str = "yz", **more):
    return meshed_beam(
        length=LENGTH,
        mass_per_length=1.5,
        bending_stiffness=2.0,
        torsion_stiffness=1.0,
        axial_stiffness=50.0,
        section_inertia=0.01,
        planes=planes,
        elements=ELEMENTS,
        ends=("free", "free"),
        stations={"middle": 0.5 * LENGTH, **{f"line{k}": k * LENGTH / ELEMENTS for k in range(ELEMENTS + 1)}},
        held=("middle",),
        rail_stations=rail_stations,
        **more,
    )


def field(structure, b: np.ndarray, motion: str, x: float) -> float:
    """Deflection by the elements, written out: cubic Hermite between mesh lines."""
    h = LENGTH / ELEMENTS
    j = min(int(x / h), ELEMENTS - 1)
    value = dict(zip(structure.coordinates, b, strict=True))
    ends = [value.get(f"{motion}{j + k}{d}", 0.0) for k in (0, 1) for d in ("", "'")]
    r = x / h - j
    shapes = [1 - 3 * r**2 + 2 * r**3, h * (r - 2 * r**2 + r**3), 3 * r**2 - 2 * r**3, h * (r**3 - r**2)]
    return float(np.dot(ends, shapes))


def mounts(rail, b: np.ndarray, stations):
    """Positions (stations, 3), rotations (stations, 3, 3) and columns along a rail."""

    def at(x):
        mount = rail_mount(rail, b, x)
        return mount.pose.p, mount.pose.R, mount.columns

    return tuple(np.asarray(x) for x in jax.jit(jax.vmap(at))(jnp.asarray(stations, dtype=float)))


@pytest.mark.parametrize("rail_stations", [5, 17])  # both have the mesh lines among them
def test_deflection_along_the_rail_is_that_of_the_elements(rail_stations):
    structure = mesh(rail_stations)
    rail, b = structure.body().rail, 0.01 * RNG.standard_normal(len(structure.coordinates))
    stations = RNG.uniform(0.0, LENGTH, 30)
    for x, moved in zip(stations, mounts(rail, b, stations)[0], strict=True):
        assert moved[1:] == pytest.approx([field(structure, b, "y", x), field(structure, b, "z", x)], abs=1e-15)


def test_at_mesh_lines_the_rail_is_the_place_there():
    structure = mesh(9)
    body, b = structure.body(), 0.01 * RNG.standard_normal(len(structure.coordinates))
    places, rotations, _ = mounts(body.rail, b, [k * LENGTH / ELEMENTS for k in range(ELEMENTS + 1)])
    for k, (place, turned) in enumerate(zip(places, rotations, strict=True)):
        node = body.node(f"line{k}")
        np.testing.assert_allclose(place, node.position + node.translation @ b, atol=1e-15)
        small = node.rotation @ b
        assert turned[1, 0] == pytest.approx(np.sin(small[2]) * np.cos(small[1]), abs=1e-14)
        assert turned[2, 0] == pytest.approx(-np.sin(small[1]), abs=1e-14)


def test_a_carriage_turns_smoothly_over_a_mesh_line():
    """Curvatures of two elements differ where they meet: the rail's slope has no corner there."""
    structure = mesh(17)
    rail, b = structure.body().rail, 0.01 * RNG.standard_normal(len(structure.coordinates))
    line, tiny = LENGTH / ELEMENTS, 1e-7
    rates = mounts(rail, b, [line - tiny, line + tiny])[2][:, 3:, -1]
    np.testing.assert_allclose(rates[0], rates[1], atol=1e-6)
    assert np.linalg.norm(rates[0]) > 1e-3
    jumps = [np.diff([field(structure, b, "z", line + side * tiny * k) for k in (0, 1, 2)], 2)[0] for side in (-1, 1)]
    assert abs(jumps[0] - jumps[1]) > 1e-3 * tiny**2  # the elements do have one


def test_the_rail_moves_with_the_frame_and_with_reduced_coordinates():
    structure = mesh(9)
    turned = Pose.from_rpy_deg((10.0, 20.0, -30.0), (0.3, -0.1, 0.2))
    basis = RNG.standard_normal((len(structure.coordinates), 3))
    placed = structure.place_at(turned).project(basis, ("a", "b", "c"))
    b = 0.01 * RNG.standard_normal(3)
    here, there = (
        mounts(rail, c, [0.7])[0][0] for rail, c in ((structure.track.rail(), basis @ b), (placed.track.rail(), b))
    )
    np.testing.assert_allclose(turned.R @ here + turned.p, there, atol=1e-14)


def test_too_few_stations_are_refused():
    with pytest.raises(ff.ModelError, match="needs at least two stations, not 1"):
        mesh(1)


# ---- a carriage on a free beam that bends


@pytest.fixture(scope="module")
def craft() -> ff.Spacecraft:
    beam = meshed_beam(
        length=LENGTH,
        mass_per_length=1.5,
        bending_stiffness_z=2.0,
        section_inertia=0.02,
        planes="z",
        elements=ELEMENTS,
        ends=("free", "free"),
        stations={"middle": 0.5 * LENGTH},
        held=("middle",),
        rail_stations=17,
    ).place_at(Pose(position=np.array([-0.5 * LENGTH, 0.0, 0.0])))
    body = truncate_modes(beam, 3).body()
    body = dataclasses.replace(body, rail=dataclasses.replace(body.rail, start=-0.5 * LENGTH))
    base = ff.Spacecraft.from_body("beam", body)
    seat = Pose(position=np.array([0.0, 0.0, 0.1]))
    cart = ff.model.RigidBody("cart", mass=0.8, com=(0.0, 0.0, 0.05), inertia=(0.01, 0.01, 0.01))
    return base.with_body(cart, ff.model.Joint("rail", "rail", "base", seat, axis=(1, 0, 0)))


@pytest.fixture(scope="module")
def rolling(craft):
    q = np.zeros(craft.layout.nq)
    q[craft.layout.position("rail")] = -0.8
    q[craft.layout.position("base.modes")] = 0.02 * np.array([0.7, 0.4, 0.1])
    start = craft.in_motion(craft.at_rest(q), joints={"rail": 0.5}, rate=(0.05, 0.02, 0.1))
    return ff.simulate(craft, state=start, duration=3.0, dt=0.0005, record_dt=0.01)


@pytest.mark.slow
def test_the_carriage_passes_mesh_lines_while_the_beam_bends(rolling):
    path = rolling["joints.position"].values[:, 0]
    assert path[0] < -0.5 < path[-1]  # a mesh line, and more
    assert np.ptp(rolling["energy.elastic"].values) > 1e-4


def test_energy_and_momentum_are_kept_while_it_travels(rolling):
    assert rolling.audit.holds
    energy = rolling["energy.kinetic"].values + rolling["energy.elastic"].values
    # Accelerations jump where two cubics of the rail meet, so a step that contains a station is of second order.
    assert np.ptp(energy) < 5e-6 * energy[0]
    for name in ("momentum.linear", "momentum.angular"):
        values = rolling[name].values
        assert np.max(np.abs(values - values[0])) < 5e-6 * np.linalg.norm(values[0])


def test_power_at_every_instant_is_the_rate_of_energy(rolling):
    """The identity of the audit, at instants: it does not depend on the step."""
    names = [entry.name for entry in rolling.audit.entries]
    assert "power = rate of inner energy" in names
