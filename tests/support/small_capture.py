"""A capture small enough to be planned in a second: a servicer with two joints, a client that is a box with a ring."""

import dataclasses

import jax
import numpy as np

from freefloat.dynamics import composite_inertia
from freefloat.dynamics.nominal_motion import FrameMotion, unforced_motion
from freefloat.dynamics.relative import absolute_state
from freefloat.model import Spacecraft, State
from freefloat.model.shapes import Box, Shape
from freefloat.planning import CaptureTask, MotionLimits, PlanSettings
from freefloat.spatial import Pose

SETTINGS = PlanSettings(points=9, instants=15, samples=121, iterations=150)
LIMITS = MotionLimits(
    lower=-2.5, upper=2.5, rate=1.0, acceleration=2.0, torque=20.0, base_force=20.0, base_torque=10.0, hand_length=0.25
)
OUTWARDS = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0))  # z along +x of the base
INTO = ((0.0, 0.0, -1.0), (0.0, -1.0, 0.0), (-1.0, 0.0, 0.0))  # z into the client


FENCE = Shape(Box((0.1, 1.6, 0.9)), (1.15, 0.0, 0.59), colour="panel")  # above the ring's axis, in the straight way


def small_servicer() -> Spacecraft:
    """A box of 100 kg with two links of 0.5 m ahead."""
    craft = Spacecraft.from_base("servicer", mass=100.0, inertia=(15.0, 15.0, 15.0))
    craft = craft.with_shapes("base", Shape(Box((0.8, 0.8, 0.8)), colour="bus"))
    for name, parent, at in (("upper", "base", (0.4, 0.0, 0.0)), ("lower", "upper", (0.5, 0.0, 0.0))):
        craft = craft.with_link(
            name, parent=parent, joint="revolute", at=Pose(at), axis=(0.0, 1.0, 0.0), mass=3.0, com=(0.25, 0.0, 0.0),
            inertia=(0.01, 0.07, 0.07),
        ).with_shapes(name, Shape.capsule((0.0, 0.0, 0.0), (0.4, 0.0, 0.0), 0.04))  # fmt: skip
    return craft.with_frame("tool", body="lower", at=Pose((0.5, 0.0, 0.0), OUTWARDS))


def small_client(*more: Shape) -> Spacecraft:
    """A box of 500 kg, its ring on +x, a panel before and above it."""
    craft = Spacecraft.from_base("client", mass=500.0, inertia=(200.0, 260.0, 300.0))
    craft = craft.with_shapes("base", Shape(Box((1.0, 1.0, 1.0)), colour="bus"), FENCE, *more)
    return craft.with_frame("ring", body="base", at=Pose((0.5, 0.0, 0.0), INTO))


def small_task(*more: Shape, spin=(0.01, -0.02, 0.03), duration: float = 20.0, **changes) -> CaptureTask:
    """The servicer 1.2 m behind the place of its grasp and aside, its arm folded; both tumble together."""
    craft, client = small_servicer(), small_client(*more)
    tumbling = client.in_motion(rate=np.array(spin))
    motion = FrameMotion(tumbling.p_NB, tumbling.quat_NB, tumbling.V_NB)
    Z = unforced_motion(composite_inertia(client, np.zeros(0)), motion)
    facing = np.array([0.0, 0.0, 0.0, 1.0])  # half a turn about z
    relative = State(np.array([2.9, 0.3, -0.2]), facing, np.array([-1.5, 2.2]), np.zeros(8))
    start = jax.tree.map(np.asarray, absolute_state(Z, relative))
    task = CaptureTask(craft, client, start, tumbling, duration, posture=(-0.3, 0.3), limits=LIMITS)
    return dataclasses.replace(task, **changes)
