"""A connection of the world that a gripper holds in a rehearsal, and the experiment as a facility flies it."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.model import World
from freefloat.sim.experiment import Experiment
from freefloat.sim.system.sensed_motion import seen_port, seen_size
from freefloat.values.checks import require_number
from freefloat.values.errors import ModelError


@dataclass(frozen=True)
class Grasp:
    """A connection that is not held by the world but by a gripper: what it takes is measured, and enters by the ports.

    Software latches and releases it as always. The gripper is told to close while it is latched.
    """

    connection: str
    robot: str  # whose gripper it is
    closing: float = 0.5  # [s] until the gripper must hold what it was told to, or have let it go

    def __post_init__(self) -> None:
        require_number("Grasp.closing", self.closing, "s", least=0.0)

    def require(self, world: World, crafts: dict[str, str]) -> None:
        """Refuse a world without the connection, and a robot that carries none of its spacecraft (`crafts`)."""
        found = {one.name: one for one in world.connections}
        if self.connection not in found:
            raise ModelError(
                f"The world has no connection '{self.connection}' to grasp. Connections: {', '.join(found) or 'none'}. "
                f"Make it: world.connection('{self.connection}', ...)."
            )
        one = found[self.connection]
        if one.on:
            raise ModelError(
                f"The connection '{self.connection}' is on from the start: a gripper closes in the run. Leave on=True "
                "out, and let software latch it."
            )
        if self.robot not in crafts:
            raise ModelError(f"No robot '{self.robot}' to grasp with. Robots: {', '.join(crafts)}.")
        if crafts[self.robot] not in (one.a.craft, one.b.craft):
            raise ModelError(
                f"Robot '{self.robot}' carries '{crafts[self.robot]}', which the connection '{self.connection}' does "
                f"not hold: it is between {one.a.title} and {one.b.title}."
            )


def in_facility(experiment: Experiment, grasps: Sequence[Grasp], crafts: Sequence[int]) -> Experiment:
    """The same experiment, where a facility holds what is grasped and says where the spacecraft `crafts` are seen."""
    system, world = experiment.system, experiment.world
    seen = {seen_port(world, c): np.zeros(seen_size(world, c)) for c in crafts}
    system = dataclasses.replace(
        system,
        world=world.hold_outside(*(one.connection for one in grasps)),
        ports=(*system.ports, *(port for port in seen if port not in system.ports)),
    )
    return dataclasses.replace(experiment, system=system, inputs={**experiment.inputs, **seen})
