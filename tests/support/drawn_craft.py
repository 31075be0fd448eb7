"""Fixtures of the tests of models and of their readers: fixed and random spacecraft."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from freefloat.model import JointLimits, Spacecraft
from freefloat.spatial import Pose


@pytest.fixture
def rng() -> np.random.Generator:
    """New draws in every run; the seed is shown when a test fails."""
    seed = int(np.random.SeedSequence().generate_state(1)[0])
    print(f"seed = {seed}")  # noqa: T201
    return np.random.default_rng(seed)


@pytest.fixture
def chaser() -> Spacecraft:
    """A base with two wheels and an arm of three joints, one wheel on the arm, a hand and a camera."""
    return (
        Spacecraft.from_base("chaser", mass=100.0, inertia=(10.0, 12.0, 8.0), com=(0.1, 0.0, 0.0))
        .with_link(
            "shoulder",
            parent="base",
            joint="revolute",
            mass=5.0,
            inertia=(0.5, 0.4, 0.3),
            at=Pose(position=(1.0, 0.0, 0.0)),
            damping=0.1,
            limits=JointLimits(lower=-1.0, upper=2.0, rate=0.5, effort=30.0),
        )
        .with_link("slide", parent="shoulder", joint="prismatic", mass=3.0, inertia=(0.2,) * 3, axis=(1.0, 0.0, 0.0))
        .with_link("wrist", parent="slide", joint="revolute", mass=1.0, inertia=(0.1, 0.1, 0.1), joint_name="turn")
        .with_wheel("wheel_x", axis=(2.0, 0.0, 0.0), inertia=0.02, max_torque=0.1)
        .with_wheel("spinner", body="slide", axis=(0.0, 0.0, 1.0), inertia=0.01)
        .with_wheel("wheel_y", axis=(0.0, 1.0, 0.0), inertia=0.02)
        .with_frame("hand", body="wrist", at=Pose(position=(0.0, 0.0, 0.3)))
        .with_frame("camera", body="base", at=Pose.from_rpy_deg((0.0, 90.0, 0.0), (0.0, 0.5, 0.0)))
    )


@pytest.fixture
def client() -> Spacecraft:
    """A payload with a grip on its base and an antenna on a joint."""
    return (
        Spacecraft.from_base("client", mass=20.0, inertia=(2.0, 2.0, 3.0))
        .with_frame("grip", body="base", at=Pose.from_rpy_deg((10.0, 20.0, 30.0), (0.4, 0.0, 0.1)))
        .with_link("antenna", parent="base", joint="revolute", mass=1.0, inertia=(0.1, 0.1, 0.1))
        .with_frame("feed", body="antenna")
        .with_wheel("rotor", axis=(0.0, 0.0, 1.0), inertia=0.1)
    )


@pytest.fixture
def random_craft(rng) -> Callable[[int], Spacecraft]:
    """A random tree of so many joints of every kind, with wheels and frames: every number drawn."""

    def draw(count: int) -> Spacecraft:
        def pose() -> Pose:
            return Pose(position=rng.normal(size=3), rotation=Rotation.random(random_state=rng).as_matrix())

        def body() -> dict[str, Any]:
            points = rng.normal(size=(8, 3)) * 0.3  # a cloud of equal particles is always physical
            d = points - points.mean(axis=0)
            inertia = np.sum(d * d) * np.eye(3) - d.T @ d
            mass = float(rng.uniform(1.0, 20.0))
            return {
                "mass": mass,
                "com": rng.normal(size=3),
                "inertia": mass / 8.0 * (inertia + inertia.T) / 2.0,
            }

        craft = Spacecraft.from_base("random", **body())
        names = ["base"]
        for k in range(count):
            low = float(rng.uniform(-3.0, 0.0))
            bounded = JointLimits(lower=low, upper=low + 1.0, rate=float(rng.uniform(0.1, 1)), effort=7.0)
            half = JointLimits(lower=low, effort=float(rng.uniform(1, 9)))
            craft = craft.with_link(
                f"link{k}",
                parent=str(rng.choice(names)),
                joint=("revolute", "prismatic", "fixed")[k % 3],
                at=pose(),
                axis=rng.normal(size=3),
                damping=0.0 if k % 3 == 2 else float(rng.uniform(0.0, 2.0)),
                rotor_inertia=0.0 if k % 3 == 2 else float(rng.uniform(0.0, 2.0)),
                limits=None if k % 3 == 2 else (None, bounded, half)[int(rng.integers(3))],
                joint_name=f"joint{k}",
                **body(),
            )
            names.append(f"link{k}")
            craft = craft.with_frame(f"tip{k}", body=str(rng.choice(names)), at=pose())
        for k in range(3):
            craft = craft.with_wheel(
                f"wheel{k}",
                body=str(rng.choice(names)),
                axis=rng.normal(size=3),
                inertia=float(rng.uniform(1e-4, 1e-3)),
                max_momentum=float(rng.uniform(1, 9)) if k else np.inf,
            )
        return craft

    return draw
