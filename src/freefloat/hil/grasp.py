"""A connection of the world that a gripper holds in a rehearsal, and the experiment as it runs with a facility."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.model import World
from freefloat.sim.experiment import Experiment
from freefloat.sim.system.sensed_motion import sensed_port, sensed_size
from freefloat.values.checks import require_number
from freefloat.values.errors import ModelError


@dataclass(frozen=True)
class Grasp:
    """A connection that a gripper holds in place of the simulation: its wrench is measured and enters by the ports.

    Software latches and releases it as always. The gripper is commanded to close while it is latched.
    """

    connection: str
    robot: str  # whose gripper it is
    closing: float = 0.5  # [s] in which the gripper must have closed on its part, or opened

    def __post_init__(self) -> None:
        require_number("Grasp.closing", self.closing, "s", least=0.0)

    def require(self, world: World, crafts: dict[str, str]) -> None:
        """Raise an error without the connection, or if the robot carries neither spacecraft; `crafts`: by robot."""
        known = {connection.name: connection for connection in world.connections}
        if self.connection not in known:
            raise ModelError(
                f"The world has no connection '{self.connection}' to grasp. Connections: {', '.join(known) or 'none'}. "
                f"Make it: world.connection('{self.connection}', ...)."
            )
        connection = known[self.connection]
        if connection.on:
            raise ModelError(
                f"The connection '{self.connection}' is on from the start: a gripper closes in the run. Leave on=True "
                "out, and let software latch it."
            )
        if self.robot not in crafts:
            raise ModelError(f"No robot '{self.robot}' to grasp with. Robots: {', '.join(crafts)}.")
        if crafts[self.robot] not in (connection.a.craft, connection.b.craft):
            raise ModelError(
                f"Robot '{self.robot}' carries '{crafts[self.robot]}', which the connection '{self.connection}' does "
                f"not hold: it is between {connection.a.title} and {connection.b.title}."
            )


def experiment_in_facility(experiment: Experiment, grasps: Sequence[Grasp], crafts: Sequence[int]) -> Experiment:
    """The experiment with grasped connections held by the facility, and ports for the measured motion of `crafts`."""
    system, world = experiment.system, experiment.world
    seen = {sensed_port(world, c): np.zeros(sensed_size(world, c)) for c in crafts}
    system = dataclasses.replace(
        system,
        world=world.hold_outside(*(grasp.connection for grasp in grasps)),
        ports=(*system.ports, *(port for port in seen if port not in system.ports)),
    )
    return dataclasses.replace(experiment, system=system, inputs={**experiment.inputs, **seen})
