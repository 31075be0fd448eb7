"""A field gives on a composed spacecraft what it gives on its parts: random trees, cut at any joint, flexible too."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat import dynamics
from freefloat.effects import (
    CircularOrbit,
    EllipticOrbit,
    GravityGradient,
    PlaceInOrbit,
    co_rotating_states,
    transition_matrix,
)
from freefloat.effects.contact import KelvinVoigt, Plane, Sphere
from freefloat.model import Spacecraft, State
from freefloat.spatial import Pose
from support.clouds import random_cloud
from support.compiling import compiled
from support.ports import clock_at
from support.trees import TOPOLOGIES, draw_pose, draw_state, draw_tree, relative_error

ELLIPSE = EllipticOrbit(semi_major_axis=8e6, eccentricity=0.1, inclination=0.5, mean_anomaly=1.0)
AT = 700.0  # [s]
LOW = CircularOrbit(altitude=550e3)


def flexible_tree(rng: np.random.Generator) -> Spacecraft:
    """Hub with a wheel, panel, link on its tip, sliding boom, link on the boom's tip, second panel."""
    clouds = [random_cloud(rng, 2, stiffening=True).body() for _ in range(3)]
    hub = ff.Spacecraft.from_base("hub", mass=20.0, inertia=(3.0, 4.0, 5.0), com=(0.1, 0.2, -0.1))
    link = ff.Spacecraft.from_base("link", mass=3.0, inertia=(0.3, 0.4, 0.5), com=(0.3, 0.1, 0.2))
    craft = hub.with_wheel("wheel", axis=(1.0, 2.0, 3.0), inertia=0.2).mount(clouds[0], name="panel", at=draw_pose(rng))
    craft = craft.mount(link, name="link", to="panel.tip", at=draw_pose(rng), joint="revolute", axis=(1.0, 0.5, 0.2))
    craft = craft.mount(clouds[1], name="boom", to="link", at=draw_pose(rng), joint="prismatic", axis=(0.0, 1.0, 1.0))
    craft = craft.mount(link, name="last", to="boom.tip", at=draw_pose(rng), joint="revolute", axis=(0.0, 1.0, 0.0))
    return craft.mount(clouds[2], name="other", to="base", at=draw_pose(rng))


def states_of_parts(craft: Spacecraft, rest: Spacecraft, gone: Spacecraft, cut: str, state: State) -> tuple[State, ...]:
    """Of the spacecraft that remains and of the one that left, as they are in the whole."""
    k, at = craft.body_index(cut), craft.layout
    X_NC = state.X_NB @ dynamics.body_poses(craft, state.q)[k]
    twist = dynamics.body_twists(craft, state.q, state.v)[k]

    def entries(part: Spacecraft, kind: str, places, values, prefix: str):
        """Numbers of a part from those of the whole, by name; names of what left have lost their prefix."""
        found = [
            values[places[_name_in(craft, name, cut, prefix)]] for name in part.layout.order(kind) if name != "base"
        ]
        return jnp.concatenate([jnp.zeros(0), *found])

    q = [entries(part, "q", at.positions, state.q, p) for part, p in ((rest, ""), (gone, cut))]
    speeds = [entries(part, "v", at.velocities, state.v, p) for part, p in ((rest, ""), (gone, cut))]
    return (
        State(state.p_NB, state.quat_NB, q[0], jnp.concatenate([state.v[:6], speeds[0]])),
        State(X_NC.p, X_NC.quaternion, q[1], jnp.concatenate([twist, speeds[1]])),
    )


def _name_in(craft: Spacecraft, name: str, cut: str, prefix: str) -> str:
    if not prefix:
        return name
    if name == "base.modes":
        return f"{cut}.modes"
    return f"{prefix}.{name}" if f"{prefix}.{name}" in craft.layout.velocities else name


def forces(craft: Spacecraft, cut: str, field: GravityGradient, state: State):
    """Generalised force on the whole, and the sum of those on its parts, put together by virtual power."""
    rest, gone = craft.detach(cut)

    def speeds(v):
        return tuple(s.v for s in states_of_parts(craft, rest, gone, cut, dataclasses.replace(state, v=v)))

    parts = states_of_parts(craft, rest, gone, cut, state)
    clock = clock_at(AT)
    pushes = tuple(field.force(craft, s, clock) for craft, s in zip((rest, gone), parts, strict=True))
    (summed,) = jax.vjp(speeds, jnp.asarray(state.v))[1](pushes)
    return field.force(craft, state, clock), summed


def worst(craft: Spacecraft, cut: str, field: GravityGradient, state: State) -> tuple[float, float]:
    """Relative errors of generalised forces and of the accelerations that they make."""
    whole, summed = compiled(lambda s: forces(craft, cut, field, s))(state)
    inverse = np.linalg.inv(np.asarray(dynamics.mass_matrix(craft, state.q)))
    return relative_error(summed, whole), relative_error(inverse @ summed, inverse @ whole)


FIELDS = [GravityGradient(ELLIPSE, field=name) for name in ("linear", "full")]


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.field)
@pytest.mark.parametrize("name", ["small", "branched 7"])
def test_rigid_trees_cut_at_any_joint(name: str, field: GravityGradient, rng) -> None:
    craft = draw_tree(rng, name)
    state = dataclasses.replace(draw_state(rng, craft), p_NB=rng.uniform(-300.0, 300.0, 3))  # hundreds of metres off
    for k in range(len(TOPOLOGIES[name].kinds)):
        errors = worst(craft, f"link{k + 1}", field, state)
        assert max(errors) < 1e-10, (k, errors)


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: field.field)
def test_a_flexible_tree_cut_at_any_joint(field: GravityGradient, rng) -> None:
    craft = flexible_tree(rng)
    state = State(
        p_NB=rng.uniform(-300.0, 300.0, 3),
        quat_NB=(lambda a: a / np.linalg.norm(a))(rng.normal(size=4)),
        q=0.2 * rng.normal(size=craft.layout.nq),
        v=0.2 * rng.normal(size=craft.layout.nv),
    )
    for cut in ("link", "last", "boom", "panel", "other"):
        errors = worst(craft, cut, field, state)
        assert max(errors) < 1e-10, (cut, errors)


def test_forces_are_the_slope_of_the_potential_of_mass_points(rng) -> None:
    """Joints and modes of a flexible tree feel -dV/dq, V summed over mass points in the field written out here."""
    cloud = random_cloud(rng, 2, stiffening=True)
    hub = ff.Spacecraft.from_base("hub", mass=20.0, inertia=(3.0, 4.0, 5.0), com=(0.1, 0.2, -0.1))
    at = draw_pose(rng)
    craft = hub.mount(cloud.body(), name="panel", at=at, joint="revolute", axis=(0.0, 0.6, 0.8))
    state = dataclasses.replace(craft.at_rest(), q=0.2 * rng.normal(size=3), p_NB=rng.uniform(-30.0, 30.0, 3))
    turn, b = craft.layout.positions["panel"].start, craft.layout.positions["panel.modes"]
    c, n2 = np.array([0.0, 0.0, 1.0]), float(LOW.rate) ** 2

    def potential(q) -> float:
        u = cloud.x + cloud.phi @ q[b] + 0.5 * np.einsum("kija,i,j->ka", cloud.chi, q[b], q[b])
        K = np.cross(np.eye(3), [0.0, 0.6, 0.8])
        R = np.eye(3) + np.sin(q[turn]) * K + (1.0 - np.cos(q[turn])) * K @ K
        r = np.asarray(state.p_NB) + np.asarray(at.p) + u @ (np.asarray(at.R) @ R).T
        return 0.5 * n2 * float(cloud.mass @ (np.sum(r * r, axis=1) - 3.0 * (r @ c) ** 2))

    force = np.asarray(GravityGradient(LOW).force(craft, state, clock_at(0.0)))
    h, found = 1e-4, []
    for k in (turn, b.start, b.start + 1):
        step = h * np.eye(3)[k]
        found.append(-(potential(state.q + step) - potential(state.q - step)) / (2.0 * h))
    places = [craft.layout.velocities["panel"].start, *range(*craft.layout.velocities["panel.modes"].indices(99))]
    # Differences lose h^2 of the slope, and terms of third order in b, which the body leaves out: (0.05)^2.
    np.testing.assert_allclose(force[places], found, rtol=2e-3, atol=1e-3 * np.max(np.abs(found)))


SERVICER = (
    ff.Spacecraft.from_base("servicer", mass=300.0, inertia=(90.0, 120.0, 100.0), com=(0.1, 0.0, -0.05))
    .with_link(
        "arm", parent="base", joint="revolute", mass=20.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 2.0, 2.0), damping=5.0
    )
    .with_frame("hand", body="arm", at=(1.0, 0.0, 0.0))
)
PANEL = ff.flex.beam(length=6.0, mass=12.0, bending_stiffness=40.0, modes={"y": 1, "z": 1}, damping_ratio=0.05)
CLIENT = ff.Spacecraft.from_base("client", mass=150.0, inertia=(30.0, 20.0, 25.0)).mount(PANEL, name="panel")
GRIP = Pose.from_rpy_deg((10.0, -20.0, 30.0), (0.8, 0.1, -0.2))


def latched_and_composed(field: GravityGradient, duration: float) -> tuple[ff.Run, ff.Run]:
    """A servicer that holds a client with a flexible panel, 40 m off the orbit; and the same as one tree."""
    whole = SERVICER.mount(CLIENT, name="client", to="hand", at=GRIP)
    place = PlaceInOrbit(position=(20.0, -10.0, 33.0), attitude=GRIP.R, velocity=(0.01, 0.0, -0.02), of="base")
    start = co_rotating_states(ff.World.of(whole), field.orbit, {whole.name: place})[whole.name]
    rest, gone = states_of_parts(whole, SERVICER, CLIENT, "client", start)
    world = ff.World(servicer=SERVICER, client=CLIENT)
    world = world.connection("grasp", "servicer.hand", "client.base", on=True, at=GRIP)
    common = {"duration": duration, "dt": 0.25, "record_dt": 50.0}
    pair = ff.simulate(world, field, state={"servicer": rest, "client": gone}, **common)
    return pair, ff.simulate(whole, field, state=start, **common)


@pytest.mark.parametrize(
    ("name", "duration"), [("linear", 3000.0), pytest.param("full", 3000.0, marks=pytest.mark.slow)]
)
def test_a_grasped_client_moves_for_3000_s_as_the_composed_spacecraft(name: str, duration: float) -> None:
    pair, one = latched_and_composed(GravityGradient(LOW, field=name), duration)
    for channel in ("base.position", "base.attitude", "joints.position"):
        np.testing.assert_allclose(pair[f"servicer.{channel}"].values, one[channel].values, rtol=0.0, atol=1e-8)
    np.testing.assert_allclose(pair["client.panel.modes"].values, one["client.panel.modes"].values, rtol=0.0, atol=1e-8)
    moved = one["joints.position"].values
    assert np.ptp(moved) > 1e-3  # the free joint swings under the tide: there was something to agree on
    assert pair.audit.holds
    assert one.audit.holds


def touching_pair() -> tuple[ff.World, dict[str, PlaceInOrbit]]:
    """A ball of 0.5 m radius that comes upon a plate at 0.02 m/s, 35 m off the orbit."""
    ball, plate = (
        ff.Spacecraft.from_base(name, mass=m, inertia=(9.0, 9.0, 9.0)) for name, m in (("a", 50.0), ("b", 90.0))
    )
    world = ff.World(ball=ball, plate=plate)
    there = np.array([30.0, -8.0, 16.0])
    return world, {
        "ball": PlaceInOrbit(there + np.array([0.0, 0.0, 0.6]), velocity=(0.0, 0.0, -0.02)),
        "plate": PlaceInOrbit(there),
    }


@pytest.mark.parametrize("soft", [False, True])
def test_the_centre_of_a_pair_that_touches_moves_as_one_mass(soft: bool) -> None:
    """In a linear field it does not matter to the common centre of mass what its parts do to one another."""
    world, places = touching_pair()
    parts = [GravityGradient(LOW)]
    if soft:
        parts.append(ff.CompliantContact("ball.base", Sphere(0.5), "plate.base", Plane(), KelvinVoigt(200.0, 1.0)))
    else:
        world = world.contact("touch", "ball.base", "plate.base", radius=0.5, restitution=0.5)
    start = co_rotating_states(world, LOW, places)
    run = ff.simulate(world, *parts, state=start, duration=60.0, dt=0.05, record_dt=1.0)
    assert run.audit.holds
    masses = {"ball": 50.0 / 140.0, "plate": 90.0 / 140.0}
    centre = sum(share * run[f"{name}.orbit.position"].values for name, share in masses.items())
    begin = np.concatenate(
        [
            sum(share * np.asarray(places[name].position) for name, share in masses.items()),
            sum(share * np.asarray(places[name].velocity) for name, share in masses.items()),
        ]
    )
    for t, place in zip(run["time"].values, centre, strict=True):
        exact = np.asarray(transition_matrix(float(LOW.rate), t)) @ begin
        np.testing.assert_allclose(place, exact[:3], rtol=0.0, atol=1e-10)  # rounding of 35 m over 1200 steps
    apart = run["ball.orbit.position"].values[:, 2] - run["plate.orbit.position"].values[:, 2]
    assert np.argmin(apart) not in (0, len(apart) - 1)  # they touched and went apart
