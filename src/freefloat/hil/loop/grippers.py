"""What grippers are told in a rehearsal, and whether they do it."""

from __future__ import annotations

from freefloat.hil.facility import FacilityReading
from freefloat.hil.rehearsal import Rehearsal
from freefloat.sim.system.system import SystemState


class Grippers:
    """Of all robots that hold a connection of the world: each follows the connection's flag in `loop`."""

    def __init__(self, rehearsal: Rehearsal, loop: SystemState) -> None:
        names = [one.name for one in rehearsal.experiment.world.connections]
        self._loop = loop
        self._places = {grasp.robot: names.index(grasp.connection) for grasp in rehearsal.grasps}
        self._closing = {grasp.robot: grasp.closing for grasp in rehearsal.grasps}
        self._since = dict.fromkeys(self._places, 0.0)  # [s] of the facility's clock, when it last did as it was told

    def closed(self, robot: str) -> bool | None:
        """Whether a gripper is told to be closed; None of a robot that has nothing to grasp."""
        place = self._places.get(robot)
        return None if place is None else bool(self._loop.constraints.latched[place] > 0)

    def objection(self, reading: FacilityReading) -> str:
        """What is wrong with what grippers hold; empty while each does as it is told, or may still be moving."""
        for robot, closing in self._closing.items():
            told = self.closed(robot)
            if bool(reading.robots[robot].holds) == told:
                self._since[robot] = reading.time
            elif reading.time - self._since[robot] > closing:
                wrong = "closed and holds nothing" if told else "opened and has not let go"
                return f"robot '{robot}': its gripper was told to be {wrong} after {closing:g} s"
        return ""
