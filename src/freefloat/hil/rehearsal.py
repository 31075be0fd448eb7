"""A rehearsal: an experiment, which robot carries which spacecraft of it, and how motion and wrench pass between."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from freefloat.hil.delay import DelayCompensation
from freefloat.hil.delayed_contact import ExpectedContact
from freefloat.hil.facility import Facility, RobotDescription
from freefloat.hil.grasp import Grasp, in_facility
from freefloat.hil.limits import Limits
from freefloat.hil.passivity import Passivity
from freefloat.sim.experiment import Experiment, require_choice
from freefloat.spatial.poses import Pose
from freefloat.values.errors import ModelError

Formulation = Literal["relative", "absolute"]
_WRENCH = ".wrench"


@dataclass(frozen=True)
class Carried:
    """A robot of the facility, the spacecraft whose base frame it carries, and where its wrench enters."""

    robot: str
    craft: str = ""  # empty: the only one
    port: str = ""  # of the experiment, such as `servicer.tool.wrench`; empty: its sensor is not used
    reaction_of: str = (
        ""  # a robot whose measured wrench acts here with the other sign, where only its sensor is trusted
    )
    arm: tuple[str, ...] = ()  # joints of the spacecraft that an arm on the robot has, in the robot's order

    @property
    def frame(self) -> str:
        """The frame at which the wrench enters, by its full name."""
        return self.port.removesuffix(_WRENCH)


@dataclass(frozen=True)
class Rehearsal:
    """An experiment of which a facility makes the motion and the contact. `rehearse` drives it.

    The experiment is an ordinary one in orbit, with the ports of `carried` among its inputs. In the relative
    formulation the robots leave out the unforced motion of one spacecraft, `nominal`; in the absolute one they make
    all of it. `placement` is X_FZ: where in the facility the frame of that motion stands (of N, when absolute). What
    is grasped is held by the facility, not by the world; sensors see the motion that the robots measured.
    """

    experiment: Experiment
    carried: tuple[Carried, ...]
    placement: Pose = field(default_factory=Pose)
    formulation: Formulation = "relative"
    nominal: str = ""  # the spacecraft whose unforced motion is left out; empty: that of the first robot
    compensation: DelayCompensation | None = field(default_factory=DelayCompensation)
    passivity: Passivity | None = field(default_factory=Passivity)
    limits: Limits = field(default_factory=Limits)
    contact: ExpectedContact | None = None  # what is expected to touch, to say beforehand what the delay will do to it
    grasps: tuple[Grasp, ...] = ()  # connections of the world that grippers hold

    def __post_init__(self) -> None:
        if not isinstance(self.experiment, Experiment):
            raise ModelError(f"A rehearsal needs an Experiment (ff.Experiment.of(...)), got {self.experiment!r}.")
        require_choice("formulation", self.formulation, ("relative", "absolute"))
        object.__setattr__(self, "carried", tuple(self.carried))
        if not self.carried or not all(isinstance(one, Carried) for one in self.carried):
            raise ModelError("A rehearsal needs carried=(Carried(robot=..., craft=...), ...), one for each robot.")
        if self.experiment.integrator != "rk4":
            raise ModelError("A rehearsal advances in fixed cycles: its experiment needs integrator='rk4'.")
        for number, one in enumerate(self.carried):
            self._require(one, self.carried[:number])
        self.craft_number(self.nominal or self.carried[0].craft)
        object.__setattr__(self, "grasps", tuple(self.grasps))
        names = self.experiment.world.names
        for grasp in self.grasps:
            grasp.require(
                self.experiment.world, {one.robot: names[self.craft_number(one.craft)] for one in self.carried}
            )
        for what in ("robot", "connection"):
            used = [getattr(grasp, what) for grasp in self.grasps]
            if len(set(used)) < len(used):
                raise ModelError(f"Two grasps of one {what}: {', '.join(used)}. Give each of them its own.")

    def _require(self, one: Carried, before: tuple[Carried, ...]) -> None:
        world, ports = self.experiment.world, self.experiment.system.ports
        c = self.craft_number(one.craft)
        if any(one.robot == other.robot for other in before):
            raise ModelError(f"Robot '{one.robot}' carries two spacecraft. Give each of them a robot of its own.")
        if any(c == self.craft_number(other.craft) for other in before):
            raise ModelError(f"Two robots carry the spacecraft '{world.names[c]}'. Keep one of them.")
        if one.port and (one.port not in ports or not one.port.endswith(_WRENCH) or "command." in one.port):
            raise ModelError(
                f"The experiment has no port '{one.port}' at which the wrench of robot '{one.robot}' could enter. "
                f"Ports: {', '.join(ports) or 'none'}. Declare it: Experiment.of(..., "
                f"inputs={{'{world.prefix(c)}base.wrench': np.zeros(6)}})."
            )
        if one.port and world.locate(one.port, 0)[0] != c:
            raise ModelError(f"The port '{one.port}' is not on the spacecraft '{world.names[c]}' of '{one.robot}'.")
        if one.reaction_of:
            source = [other for other in self.carried if other.robot == one.reaction_of]
            if not one.port or not source or not source[0].port or source[0].reaction_of or source[0] is one:
                raise ModelError(
                    f"Robot '{one.robot}' takes the reaction of '{one.reaction_of}': it needs a port itself, and "
                    "that robot must have one at which its own measured wrench enters."
                )
        for joint in one.arm:
            if joint not in world.crafts[c].layout.moving_joints:
                known = ", ".join(world.crafts[c].layout.moving_joints) or "none"
                raise ModelError(f"Spacecraft '{world.names[c]}' has no moving joint '{joint}'. Joints: {known}.")

    def craft_number(self, name: str) -> int:
        """Number of a spacecraft in the world."""
        return self.experiment.world.index(name)

    def frame_of(self, one: Carried) -> str:
        """The frame at which the wrench of a robot enters, in its spacecraft; its base where none does."""
        return self.experiment.world.locate(one.frame, 0)[1] if one.port else "base"

    @cached_property
    def in_facility(self) -> Experiment:
        """The experiment as the facility flies it; `experiment` itself is what a simulation makes."""
        return in_facility(self.experiment, self.grasps, [self.craft_number(one.craft) for one in self.carried])

    @property
    def touching(self) -> Carried | None:
        """The one at whose port energy is observed: the first whose own sensor is used."""
        return next((one for one in self.carried if one.port and not one.reaction_of), None)

    def robots_of(self, facility: Facility) -> tuple[RobotDescription, ...]:
        """The facility's robots in the order of `carried`; an error says what does not fit."""
        there = {one.name: one for one in facility.robots}
        for one in self.carried:
            if one.robot not in there:
                raise ModelError(
                    f"The facility '{facility.name}' has no robot '{one.robot}'. Robots: {', '.join(there)}."
                )
            if len(one.arm) != len(there[one.robot].arm_joints):
                raise ModelError(
                    f"Robot '{one.robot}' carries an arm of {len(there[one.robot].arm_joints)} joints, the rehearsal "
                    f"names {len(one.arm)}. Give Carried(arm=...) those of the spacecraft, in the robot's order."
                )
        for grasp in self.grasps:
            if not there[grasp.robot].gripper:
                raise ModelError(
                    f"Robot '{grasp.robot}' of the facility '{facility.name}' has no gripper to hold the connection "
                    f"'{grasp.connection}' with. Robots with one: "
                    f"{', '.join(one.name for one in facility.robots if one.gripper) or 'none'}."
                )
        if idle := [name for name in there if name not in [one.robot for one in self.carried]]:
            raise ModelError(f"The facility's robot '{idle[0]}' carries nothing. Name it in Rehearsal.carried.")
        return tuple(there[one.robot] for one in self.carried)

    def ticks_per_cycle(self, facility: Facility) -> int:
        """How many steps of the experiment make a cycle of the facility."""
        ratio = facility.cycle / self.experiment.dt
        if round(ratio) < 1 or abs(ratio - round(ratio)) > 1e-9:
            raise ModelError(
                f"A cycle of the facility is {1e3 * facility.cycle:g} ms, a step of the experiment "
                f"{1e3 * self.experiment.dt:g} ms: a cycle must be a whole number of steps. Use dt={facility.cycle:g}."
            )
        return round(ratio)
