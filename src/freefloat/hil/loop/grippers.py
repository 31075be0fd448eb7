"""Commands of grippers in a rehearsal, and a check that they follow them."""

from __future__ import annotations

from freefloat.hil.facility import FacilityReading
from freefloat.hil.rehearsal import Rehearsal
from freefloat.sim.system.system import SystemState


class Grippers:
    """Grippers of all robots that hold a connection of the world: each follows the connection's flag in the state."""

    def __init__(self, rehearsal: Rehearsal, state: SystemState) -> None:
        names = [connection.name for connection in rehearsal.experiment.world.connections]
        self._state = state
        self._places = {grasp.robot: names.index(grasp.connection) for grasp in rehearsal.grasps}
        self._closing = {grasp.robot: grasp.closing for grasp in rehearsal.grasps}
        self._since = dict.fromkeys(self._places, 0.0)  # [s] facility time at which it last agreed with its command

    def commanded_closed(self, robot: str) -> bool | None:
        """Whether a gripper is commanded to be closed; None for a robot without a connection to hold."""
        place = self._places.get(robot)
        return None if place is None else bool(self._state.modes.latched[place] > 0)

    def fault_text(self, reading: FacilityReading) -> str:
        """Text of the first gripper that does not follow its command in time; empty if there is none."""
        for robot, closing in self._closing.items():
            commanded = self.commanded_closed(robot)
            if bool(reading.robots[robot].holds) == commanded:
                self._since[robot] = reading.time
            elif reading.time - self._since[robot] > closing:
                wrong = "closed and holds nothing" if commanded else "opened and has not let go"
                return f"robot '{robot}': its gripper was told to be {wrong} after {closing:g} s"
        return ""
