"""Several spacecraft in one orbit: free, latched or touching; balls that nothing turns; the full field."""

from __future__ import annotations

import dataclasses

import numpy as np

import freefloat as ff
from audit_families.drawing import MODES, draw_boom, draw_hub, draw_place, draw_start, softened, with_link
from audit_families.family import Family
from freefloat.effects.contact import CompliantContact, KelvinVoigt, Sphere

DT = 0.5  # [s]
LONG = 1.0  # [s], the step of those that fly for up to an hour
BALLS, LONG_ONES, FULL = (10, 11, 12), (10, 11, 12, 13), (12, 13)  # structures
NAMES = ("one", "two", "three")


def draw_member(structure: int, rng: np.random.Generator, name: str, softness: float) -> ff.Spacecraft:
    """A rigid body; in some structures a ball, with a link, or with a panel as slow as the orbit asks for."""
    if structure in BALLS:
        mass, radius = float(np.exp(rng.uniform(0.0, 6.0))), float(rng.uniform(0.1, 1.0))
        ball = ff.Spacecraft.from_base(name, mass=mass, inertia=3 * (0.4 * mass * radius**2,))
        return ball.with_frame("port", body="base", at=(radius, 0.0, 0.0))
    craft = draw_hub(rng, name)
    if structure in (1, 4, 7) and name == "one":
        craft = with_link(rng, craft, "link", "base")
    if structure in (2, 5, 8) and name == "one":
        craft = craft.mount(draw_boom(rng, MODES[2], softness), name="panel", to="base", at=draw_place(rng))
    return craft.with_frame("port", body="base", at=tuple(rng.uniform(-1.0, 1.0, 3)))


def draw(structure: int, rng: np.random.Generator) -> ff.Experiment:
    """Two or three of them within some metres to kilometres of the orbit, turning about as it does."""
    names, dt = NAMES[: 3 if structure in (3, 6) else 2], LONG if structure in LONG_ONES else DT
    crafts = {
        name: softened(rng, lambda rng, softness, name=name: draw_member(structure, rng, name, softness), dt)
        for name in names
    }
    altitude = float(rng.uniform(300e3, 1000e3))
    orbit = ff.effects.CircularOrbit(altitude) if structure % 2 else _ellipse(rng, altitude)
    world, far = ff.World(**crafts), float(10.0 ** rng.uniform(1.0, 3.0))
    state = {name: _drifting(rng, craft, far) for name, craft in crafts.items()}
    parts: list[object] = [ff.effects.GravityGradient(orbit, field="full" if structure in FULL else "linear")]
    if structure in BALLS:  # one of them on the orbit itself; none of them turns
        state = {name: _not_turning(start) for name, start in state.items()} | {"one": crafts["one"].at_rest()}
    if structure in (4, 5, 6, 11, 13):  # held together from the start
        world = world.connection("hold", "one.port", "two.port", on=True)
        state["two"] = _beside(crafts, state["one"], np.zeros(3))
    if structure in (7, 8, 9):
        parts.append(CompliantContact("one.port", Sphere(0.2), "two.port", Sphere(0.2), KelvinVoigt(1.0, 0.1)))
        state["two"] = _beside(crafts, state["one"], np.array([0.5, 0.0, 0.0]), speed=float(rng.uniform(0.001, 0.01)))
    steps = 20 * int(rng.integers(5, 150) if dt == LONG else rng.integers(10, 30))
    return ff.Experiment.of(world, *parts, state=state, duration=steps * dt, dt=dt, record_dt=20 * dt)


def _ellipse(rng: np.random.Generator, altitude: float) -> ff.effects.EllipticOrbit:
    return ff.effects.EllipticOrbit(
        ff.effects.EARTH_RADIUS + altitude + 300e3,
        float(rng.uniform(0.001, 0.03)),
        mean_anomaly=float(rng.uniform(0.0, 6.0)),
    )


def _drifting(rng: np.random.Generator, craft: ff.Spacecraft, far: float) -> ff.State:
    """Some way from the origin, turning at about the rate of an orbit."""
    start = draw_start(rng, craft, 0.003)
    v = np.array(start.v)
    v[:3] = rng.normal(size=3) * 1e-3 * far
    return dataclasses.replace(start, p_NB=rng.normal(size=3) * far, v=v)


def _not_turning(state: ff.State) -> ff.State:
    """The same without its rate."""
    v = np.array(state.v)
    v[3:6] = 0.0
    return dataclasses.replace(state, v=v)


def _beside(crafts: dict[str, ff.Spacecraft], one: ff.State, apart: np.ndarray, speed: float = 0.0) -> ff.State:
    """The second one with its port at a place in the frame of the first one's, moving as that does, or towards it."""
    X, V = (
        function(crafts["one"], one, "port")
        for function in (ff.dynamics.inertial_frame_pose, ff.dynamics.inertial_frame_twist)
    )
    V, R = np.asarray(V), np.asarray(one.X_NB.R)
    start = dataclasses.replace(crafts["two"].at_rest(), quat_NB=one.quat_NB)
    port = np.asarray(crafts["two"].frame("port").X_BF.p)
    place = np.asarray(X.p) + R @ apart
    v, w = V[:3] + np.cross(V[3:], R @ (apart - port)) - speed * (R @ np.eye(3)[0]), V[3:]
    return dataclasses.replace(start, p_NB=place - R @ port, v=np.concatenate([R.T @ v, R.T @ w, start.v[6:]]))


FAMILY = Family("several spacecraft in orbit", 14, 224, draw)
