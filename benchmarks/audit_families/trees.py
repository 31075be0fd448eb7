"""Random ordinary runs: trees, rigid and flexible, with and without wheels, under parts of every kind, drifting."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np

import freefloat as ff
from freefloat.sim.audit.frequencies import fastest_modes
from freefloat.spatial import Pose
from freefloat.values import record, static

sys.path.append(str(Path(__file__).parents[2] / "tests"))

from audit_families.drawing import RESOLVED
from audit_families.family import Family
from support.trees import draw_state, draw_tree

TREES = ("free body", "tiny", "chain of 2", "small", "tiny", "chain of 2", "free body", "wheels")


@record
class Servo(ff.Software):
    """Springs and dampers at some joints, with torques that saturate and friction that is smoothed."""

    stiffness: Any  # (joints,)
    damping: Any
    limit: Any
    friction: Any
    first: int = static()  # of the moving joints that it drives; the others are those after it
    joints: tuple[str, ...] = static()

    def command(self, memory: Any, y: ff.model.Measurements, clock: ff.Clock) -> ff.JointTorques:
        angle, rate = y["joints.position"][self.first :], y["joints.rate"][self.first :]
        torque = -self.stiffness * angle - self.damping * rate
        torque = jnp.clip(torque, -self.limit, self.limit) - self.friction * jnp.tanh(rate / 0.05)
        return ff.JointTorques(self.joints, torque)


@record
class Swing(ff.Software):
    """Prescribes the first joint's rate."""

    amplitude: Any
    rate: Any
    joints: tuple[str, ...] = static()

    def command(self, memory: Any, y: ff.model.Measurements, clock: ff.Clock) -> ff.JointRates:
        return ff.JointRates(self.joints, jnp.stack([self.amplitude * jnp.sin(self.rate * clock.t)]))


@record
class Push(ff.Software):
    """A wrench on the base that waxes and wanes, and torques of the wheels' motors."""

    wrench: Any  # (6,)
    motor: Any
    rate: Any
    wheels: tuple[str, ...] = static()

    def command(self, memory: Any, y: ff.model.Measurements, clock: ff.Clock) -> tuple[ff.model.Command, ...]:
        push = ff.BaseWrench(self.wrench * jnp.sin(self.rate * clock.t))
        motors = self.motor * jnp.cos(self.rate * clock.t) * jnp.ones(len(self.wheels))
        return (push, ff.WheelTorques(self.wheels, motors)) if self.wheels else (push,)


def draw_craft(rng: np.random.Generator, seed: int) -> ff.Spacecraft:
    """A tree of rigid bodies, with one or two flexible panels in every second draw."""
    craft = draw_tree(rng, TREES[seed % len(TREES)])
    if seed % 2 and len(craft.bodies) < 5:
        for k in range(1 + seed % 3 // 2):
            panel = ff.flex.beam(
                length=rng.uniform(1.0, 4.0), mass=rng.uniform(1.0, 6.0), bending_stiffness=rng.uniform(5.0, 200.0),
                modes={"y": 1, "z": 1} if k == 0 else {"y": 2}, damping_ratio=rng.choice([0.0, 0.005]),
                stiffening=bool(rng.integers(2)),
            )  # fmt: skip
            place = Pose.from_rpy_deg(tuple(rng.uniform(-180.0, 180.0, 3)), tuple(rng.uniform(-0.5, 0.5, 3)))
            craft = craft.mount(
                panel, name=f"panel{k}", to=str(rng.choice(craft.body_names[: len(craft.bodies) - k])), at=place
            )
    return craft


def draw_software(rng: np.random.Generator, craft: ff.Spacecraft, dt: float, speed: float) -> tuple[ff.Software, ...]:
    """None, some or all of: joint servos, a prescribed joint, pushes; each continuous or sampled."""
    layout, found = craft.layout, []
    joints = layout.moving_joints
    size = 0.2 * speed**2  # torques that change such a motion within a second
    kind = rng.integers(5)
    prescribed = ()
    if kind in (1, 2) and joints:
        prescribed = joints[:1]
        found.append(Swing(amplitude=0.5 * speed, rate=rng.uniform(0.3, 2.0), joints=prescribed))
    if kind in (2, 3) and len(joints) > len(prescribed):
        n = len(joints) - len(prescribed)
        found.append(
            Servo(
                stiffness=rng.uniform(0.0, 5.0, n), damping=rng.uniform(0.0, 2.0, n),
                limit=rng.uniform(0.5, 3.0, n) * size,
                friction=rng.uniform(0.0, 0.3, n) * size * rng.integers(2), first=len(prescribed),
                joints=joints[len(prescribed) :],
            )
        )  # fmt: skip
    if kind in (2, 4):
        found.append(
            Push(
                wrench=rng.normal(size=6) * size * rng.integers(2), motor=0.2 * size, rate=rng.uniform(0.3, 2.0),
                wheels=layout.wheels,
            )
        )  # fmt: skip
    return tuple(replace(part, period=float(dt * rng.integers(1, 20))) if rng.integers(2) else part for part in found)


def draw(structure: int, rng: np.random.Generator) -> ff.Experiment:
    """A spacecraft and its software, which belong to the structure, from a start and recorded as the generator says."""
    fixed = np.random.default_rng([10, structure])
    craft = draw_craft(fixed, structure)
    speed = float(10.0 ** fixed.uniform(-3.0, 0.0))
    start = _start(fixed, craft, speed)
    fastest = max([*fastest_modes(craft, np.asarray(start.q)).values(), 6.0 * speed, 1.0])
    dt = float(fixed.choice([0.002, 0.005, 0.01, 0.02, 0.05]))
    while dt * fastest > RESOLVED:
        dt /= 2.0
    software = draw_software(fixed, craft, dt, speed)
    every = int(rng.choice([1, 7, 20, 50]))
    steps = every * int(rng.integers(300, 800) // every + 1)
    options = {"duration": steps * dt, "dt": dt, "record_dt": every * dt}
    return ff.Experiment.of(craft, *software, state=_start(rng, craft, speed), **options)


def _start(rng: np.random.Generator, craft: ff.Spacecraft, speed: float) -> ff.State:
    """Moving at about a speed [rad/s, m/s], drifting, with wheels that turn."""
    start = draw_state(rng, craft) if craft.is_rigid else _flexible_start(rng, craft)
    wheels = list(craft.layout.wheel_velocities)
    v = np.asarray(start.v) * speed
    v[wheels] = rng.normal(size=len(wheels)) * rng.choice([0.0, 10.0, 500.0])
    drift = rng.normal(size=3) * rng.choice([0.0, 1.0, 10.0, 7500.0])
    w, x, y, z = np.asarray(start.quat_NB)
    turn = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    v[:3] += (np.eye(3) + 2.0 * w * turn + 2.0 * turn @ turn).T @ drift
    return replace(start, v=v)


def _flexible_start(rng: np.random.Generator, craft: ff.Spacecraft) -> ff.State:
    """Joints anywhere, modes bent a little."""
    q = rng.uniform(-0.5, 0.5, craft.layout.nq)
    for body in craft.bodies:
        if body.modes:
            q[craft.layout.position(f"{body.name}.modes")] = rng.normal(size=body.modes) * 0.01
    return replace(craft.at_rest(q), v=rng.normal(size=craft.layout.nv) * 0.3)


FAMILY = Family("trees under parts of every kind", 20, 100, draw)
