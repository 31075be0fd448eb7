"""A rehearsal: an experiment, which robot carries which spacecraft, and how motions and wrenches are exchanged."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from freefloat.hil.delay import DelayCompensation
from freefloat.hil.delayed_contact import ExpectedContact
from freefloat.hil.expected_vibration import ExpectedVibration
from freefloat.hil.facility import Facility, RobotDescription
from freefloat.hil.grasp import Grasp, experiment_in_facility
from freefloat.hil.limits import Limits
from freefloat.hil.passivity import Passivity
from freefloat.hil.sensor_checks import SensorCheck
from freefloat.sim.experiment import Experiment, require_choice
from freefloat.spatial.poses import Pose
from freefloat.values.errors import ModelError

Formulation = Literal["relative", "absolute"]
_WRENCH = ".wrench"


@dataclass(frozen=True)
class RobotAssignment:
    """A robot of the facility, the spacecraft whose base frame it carries, and the port of its measured wrench."""

    robot: str
    craft: str = ""  # empty: the only one
    port: str = ""  # of the experiment, such as `servicer.tool.wrench`; empty: its sensor is not used
    # A robot whose measured wrench acts here with the other sign, where only its sensor is trusted.
    reaction_of: str = ""
    arm: tuple[str, ...] = ()  # joints of the spacecraft that an arm on the robot has, in the robot's order

    @property
    def frame(self) -> str:
        """Full name of the frame at which the measured wrench acts."""
        return self.port.removesuffix(_WRENCH)


@dataclass(frozen=True)
class Rehearsal:
    """An experiment whose motion and contact a facility makes. `rehearse` runs it.

    The experiment is an ordinary experiment in orbit, with the ports of `carried` among its inputs. In the relative
    formulation the robots leave out the unforced motion of one spacecraft, `nominal`; in the absolute one they make
    all of it. `placement` is X_FZ: the pose in the facility of the frame of that motion (of N, when absolute).
    Grasped connections are held by the facility, not by the simulation; sensors measure the motion of the robots.
    """

    experiment: Experiment
    carried: tuple[RobotAssignment, ...]
    placement: Pose = field(default_factory=Pose)
    formulation: Formulation = "relative"
    nominal: str = ""  # the spacecraft whose unforced motion is left out; empty: that of the first robot
    compensation: DelayCompensation | None = field(default_factory=DelayCompensation)
    passivity: Passivity | None = field(default_factory=Passivity)
    limits: Limits = field(default_factory=Limits)
    contact: ExpectedContact | None = (
        None  # the expected contact, for which the effect of the delay is computed beforehand
    )
    grasps: tuple[Grasp, ...] = ()  # connections of the world that grippers hold
    grasp_point: str = ""  # frame of the first robot's spacecraft, such as `client.ring`, at which both are compared
    sensor_check: SensorCheck | None = None  # of the wrist sensors before the run, by weighing and a known push
    vibration: ExpectedVibration | None = None  # what vibrates on a robot for the whole run, with the loop it closes

    def __post_init__(self) -> None:
        if not isinstance(self.experiment, Experiment):
            raise ModelError(f"A rehearsal needs an Experiment (ff.Experiment.of(...)), got {self.experiment!r}.")
        require_choice("formulation", self.formulation, ("relative", "absolute"))
        object.__setattr__(self, "carried", tuple(self.carried))
        if not self.carried or not all(isinstance(assignment, RobotAssignment) for assignment in self.carried):
            raise ModelError(
                "A rehearsal needs carried=(RobotAssignment(robot=..., craft=...), ...), one for each robot."
            )
        if self.experiment.integrator != "rk4":
            raise ModelError("A rehearsal advances in fixed cycles: its experiment needs integrator='rk4'.")
        for number, assignment in enumerate(self.carried):
            self._require_assignment(assignment, self.carried[:number])
        self.craft_number(self.nominal or self.carried[0].craft)
        if self.vibration is not None and self.vibration.robot not in [robot.robot for robot in self.carried]:
            raise ModelError(f"The vibration is on robot '{self.vibration.robot}', which carries nothing.")
        object.__setattr__(self, "grasps", tuple(self.grasps))
        names = self.experiment.world.names
        for grasp in self.grasps:
            grasp.require(
                self.experiment.world,
                {assignment.robot: names[self.craft_number(assignment.craft)] for assignment in self.carried},
            )
        for what in ("robot", "connection"):
            used = [getattr(grasp, what) for grasp in self.grasps]
            if len(set(used)) < len(used):
                raise ModelError(f"Two grasps of one {what}: {', '.join(used)}. Give each of them its own.")

    def _require_assignment(self, assignment: RobotAssignment, before: tuple[RobotAssignment, ...]) -> None:
        world, ports = self.experiment.world, self.experiment.system.ports
        c, robot, port = self.craft_number(assignment.craft), assignment.robot, assignment.port
        if any(robot == other.robot for other in before):
            raise ModelError(f"Robot '{robot}' carries two spacecraft. Give each of them a robot of its own.")
        if any(c == self.craft_number(other.craft) for other in before):
            raise ModelError(f"Two robots carry the spacecraft '{world.names[c]}'. Keep one of them.")
        if port and (port not in ports or not port.endswith(_WRENCH) or "command." in port):
            raise ModelError(
                f"The experiment has no port '{port}' at which the wrench of robot '{robot}' could enter. "
                f"Ports: {', '.join(ports) or 'none'}. Declare it: Experiment.of(..., "
                f"inputs={{'{world.prefix(c)}base.wrench': np.zeros(6)}})."
            )
        if port and world.locate(port, 0)[0] != c:
            raise ModelError(f"The port '{port}' is not on the spacecraft '{world.names[c]}' of '{robot}'.")
        if assignment.reaction_of:
            source = [other for other in self.carried if other.robot == assignment.reaction_of]
            if not port or not source or not source[0].port or source[0].reaction_of or source[0] is assignment:
                raise ModelError(
                    f"Robot '{robot}' takes the reaction of '{assignment.reaction_of}': it needs a port itself, and "
                    "that robot must have one at which its own measured wrench enters."
                )
        for joint in assignment.arm:
            if joint not in world.crafts[c].layout.moving_joints:
                known = ", ".join(world.crafts[c].layout.moving_joints) or "none"
                raise ModelError(f"Spacecraft '{world.names[c]}' has no moving joint '{joint}'. Joints: {known}.")

    def craft_number(self, name: str) -> int:
        """Number of a spacecraft in the world, by its name."""
        return self.experiment.world.index(name)

    def frame_of(self, assignment: RobotAssignment) -> str:
        """Name in its spacecraft of the frame at which a robot's wrench acts; `base` where no wrench acts."""
        return self.experiment.world.locate(assignment.frame, 0)[1] if assignment.port else "base"

    @cached_property
    def in_facility(self) -> Experiment:
        """The experiment as it runs with the facility; `experiment` itself is the pure simulation."""
        return experiment_in_facility(
            self.experiment, self.grasps, [self.craft_number(assignment.craft) for assignment in self.carried]
        )

    @property
    def touching(self) -> RobotAssignment | None:
        """The robot at whose port energy is observed: the first whose own sensor is used; None without one."""
        return next((assignment for assignment in self.carried if assignment.port and not assignment.reaction_of), None)

    def robots_of(self, facility: Facility) -> tuple[RobotDescription, ...]:
        """Robots of the facility in the order of `carried`; a robot that does not fit raises an error."""
        available = {robot.name: robot for robot in facility.robots}
        for assignment in self.carried:
            if assignment.robot not in available:
                raise ModelError(
                    f"The facility '{facility.name}' has no robot '{assignment.robot}'. Robots: {', '.join(available)}."
                )
            arm_joints = len(available[assignment.robot].arm_joints)
            if len(assignment.arm) != arm_joints:
                raise ModelError(
                    f"Robot '{assignment.robot}' carries an arm of {arm_joints} joints, the rehearsal names "
                    f"{len(assignment.arm)}. Give RobotAssignment(arm=...) those of the spacecraft, in the robot's "
                    "order."
                )
        for grasp in self.grasps:
            if not available[grasp.robot].gripper:
                raise ModelError(
                    f"Robot '{grasp.robot}' of the facility '{facility.name}' has no gripper to hold the connection "
                    f"'{grasp.connection}' with. Robots with one: "
                    f"{', '.join(robot.name for robot in facility.robots if robot.gripper) or 'none'}."
                )
        if idle := [name for name in available if name not in [assignment.robot for assignment in self.carried]]:
            raise ModelError(f"The facility's robot '{idle[0]}' carries nothing. Name it in Rehearsal.carried.")
        return tuple(available[assignment.robot] for assignment in self.carried)

    def ticks_per_cycle(self, facility: Facility) -> int:
        """Number of steps of the experiment in one cycle of the facility."""
        ratio = facility.cycle / self.experiment.dt
        if round(ratio) < 1 or abs(ratio - round(ratio)) > 1e-9:
            raise ModelError(
                f"A cycle of the facility is {1e3 * facility.cycle:g} ms, a step of the experiment "
                f"{1e3 * self.experiment.dt:g} ms: a cycle must be a whole number of steps. Use dt={facility.cycle:g}."
            )
        return round(ratio)
