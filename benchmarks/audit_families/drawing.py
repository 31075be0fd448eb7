"""What the families draw alike: hubs, links, booms, starts, and steps that follow the fastest mode."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

import freefloat as ff
from freefloat.sim.audit.frequencies import fastest_modes
from freefloat.spatial import Pose

# Fastest rate of the model times the step. RK4 takes (W h)^6 / 72 of a mode's energy in a step: with 0.2, 800 steps
# take 0.7 thousandths, so that a run keeps to a thousandth even if all its energy is in its fastest mode.
RESOLVED = 0.2
MODES = ({"y": 1, "z": 1}, {"y": 3}, {"z": 1}, {"y": 3, "z": 3})


def draw_body(rng: np.random.Generator, mass: float, size: float = 0.3) -> dict[str, Any]:
    """Mass, centre of mass and inertia of a cloud of particles of a size [m]."""
    cloud = rng.normal(size=(6, 3)) * size
    d = cloud - cloud.mean(axis=0)
    inertia = mass / len(cloud) * (np.sum(d * d) * np.eye(3) - d.T @ d)
    return {"mass": mass, "com": rng.uniform(-size, size, 3), "inertia": 0.5 * (inertia + inertia.T)}


def draw_place(rng: np.random.Generator, reach: float = 0.5) -> Pose:
    """Anywhere within a reach [m], turned anyhow."""
    return Pose.from_rpy_deg(tuple(rng.uniform(-180.0, 180.0, 3)), tuple(rng.uniform(-reach, reach, 3)))


def draw_hub(rng: np.random.Generator, name: str, mass: tuple[float, float] = (20.0, 300.0)) -> ff.Spacecraft:
    """A rigid base."""
    return ff.Spacecraft.from_base(name, **draw_body(rng, float(np.exp(rng.uniform(*np.log(mass))))))


def with_link(
    rng: np.random.Generator, craft: ff.Spacecraft, name: str, parent: str, kind: str = "revolute"
) -> ff.Spacecraft:
    """A rigid link on a joint `name.joint`."""
    return craft.with_link(
        name,
        parent=parent,
        joint=kind,
        joint_name=f"{name}.joint",
        at=draw_place(rng),
        axis=rng.normal(size=3),
        **draw_body(rng, float(rng.uniform(1.0, 10.0))),
    )


def draw_boom(rng: np.random.Generator, modes: dict[str, int], softness: float, mass: float | None = None) -> Any:
    """A beam; its stiffness is divided by the softness."""
    return ff.flex.beam(
        length=float(rng.uniform(1.0, 5.0)),
        mass=float(rng.uniform(1.0, 8.0)) if mass is None else mass,
        bending_stiffness=float(np.exp(rng.uniform(*np.log((10.0, 500.0))))) / softness,
        modes=modes,
        damping_ratio=float(rng.uniform(1e-4, 5e-3)),
    )


def softened(
    rng: np.random.Generator, make: Callable[[np.random.Generator, float], ff.Spacecraft], dt: float, speed: float = 0.0
) -> ff.Spacecraft:
    """A spacecraft whose beams are so soft that the step follows their modes: the same draw, softer and softer."""
    seed, softness = int(rng.integers(2**31)), 1.0
    while True:
        craft = make(np.random.default_rng(seed), softness)
        q = np.zeros(craft.layout.nq)
        if max([*fastest_modes(craft, q).values(), 6.0 * speed]) * dt <= RESOLVED:
            return craft
        softness *= 3.0


def draw_start(rng: np.random.Generator, craft: ff.Spacecraft, speed: float, drift: float = 0.0) -> ff.State:
    """Joints anywhere, modes bent a little, moving at about a speed [rad/s, m/s]; wheels at rest or fast."""
    layout = craft.layout
    q, v, quat = rng.uniform(-0.5, 0.5, layout.nq), rng.normal(size=layout.nv) * 0.3 * speed, rng.normal(size=4)
    for body in craft.bodies:
        if body.modes:
            q[layout.position(f"{body.name}.modes")] = rng.normal(size=body.modes) * 0.01 * speed
    wheels = list(layout.wheel_velocities)
    v[wheels] = rng.normal(size=len(wheels)) * rng.choice([0.0, 10.0, 300.0])
    v[:3] += rng.normal(size=3) * drift
    start = craft.at_rest(q)
    return dataclasses.replace(start, p_NB=rng.normal(size=3), quat_NB=quat / np.linalg.norm(quat), v=v)


def draw_speed(rng: np.random.Generator) -> float:
    """Slow or quick [rad/s, m/s]."""
    return float(10.0 ** rng.uniform(-3.0, 0.0))
