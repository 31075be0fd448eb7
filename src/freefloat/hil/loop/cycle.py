"""One cycle of a rehearsal on compiled programs: readings in, checked commands out."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import numpy as np

from freefloat.dynamics import composite_inertia
from freefloat.dynamics.nominal_motion import FrameMotion, NominalMotion, unforced_motion
from freefloat.hil.facility import ArmCommand, Facility, FacilityReading, MotionCommand, RobotDescription
from freefloat.hil.loop import cycle_functions as functions
from freefloat.hil.loop.cycle_checks import COMMAND_CHECKS, READING_CHECKS, Bounds, Measured, explain
from freefloat.hil.loop.cycle_functions import Memory, Plan, Setup
from freefloat.hil.loop.grippers import Grippers
from freefloat.hil.rehearsal import Rehearsal
from freefloat.outside.binding import BoundSoftware
from freefloat.outside.program import SoftwareFault
from freefloat.outside.runner import ExternalSoftwareRunner, WorldNotFinite
from freefloat.sim.bound_program import BoundProgram, Transfer, memory_of
from freefloat.sim.kernel import step
from freefloat.sim.rollout import grid
from freefloat.sim.system.input_ports import tabulate
from freefloat.sim.system.sensed_motion import seen_port, seen_size
from freefloat.sim.system.system import SystemState
from freefloat.values.arrays import Numeric
from freefloat.values.errors import ModelError


class Fault(Exception):
    """Why a rehearsal must stop now. It never leaves the loop: it becomes the reason of a safe stop."""


class Cycle:
    """A rehearsal at one instant, advanced cycle by cycle. Nothing in it knows the wall clock."""

    def __init__(
        self,
        rehearsal: Rehearsal,
        facility: Facility,
        delay: float,
        software: tuple[BoundSoftware, ...] = (),
        *,
        paced: bool = False,
    ) -> None:
        experiment = rehearsal.in_facility
        self.rehearsal, self.robots = rehearsal, rehearsal.robots_of(facility)
        self.ticks, self.length = rehearsal.ticks_per_cycle(facility), facility.cycle
        self.steps = grid(experiment.duration, experiment.dt, experiment.record_dt).steps
        self.system, self.start = experiment.begin()
        self.table = tabulate(self.system, experiment.inputs, 0, self.steps)
        self.plan = _plan(rehearsal, self.ticks)
        self.setup = _setup(rehearsal, facility, self.robots, delay)
        self.coordinates = tuple(seen_size(experiment.world, c) for c in self.plan.crafts)
        self.tick = 0
        self._compile()
        self._places = _places(self.robots)
        self._names = [robot.name for robot in self.robots]
        self._grippers = Grippers(rehearsal, self._advance.arguments[0])
        inputs, felt = self._advance.arguments[1], self._feel.result
        found = {one.port: felt.wrenches[k] for k, one in enumerate(rehearsal.carried) if one.port}
        found |= {seen_port(experiment.world, c): felt.seen[k] for k, c in enumerate(self.plan.crafts)}
        memory, cycle = (self._advance.arguments[0], inputs), facility.cycle if paced else None
        self.software = ExternalSoftwareRunner(software, self.system, self.start, memory, cycle)
        self._require_whole_cycles()
        self._given = [port for port in self.table if port not in found and port not in self.software.ports]
        self._before_step = Transfer(*((values, inputs[port]) for port, values in found.items()))

    def _require_whole_cycles(self) -> None:
        for one in self.software.pieces:
            if one.ticks % self.ticks:
                contract = one.bound.contract
                raise ModelError(
                    f"Software '{contract.name}' is asked every {1e3 * contract.period:g} ms, a facility cycle is "
                    f"{1e3 * self.length:g} ms: its period must be a whole number of cycles."
                )

    # ---- its programs

    def _compile(self) -> None:
        start, plan, robots = self.start, self.plan, self.robots
        nominal = _nominal(self.rehearsal, self.setup, start.states)
        still = tuple(FrameMotion(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(6)) for _ in robots)
        first = partial(functions.command, plan=plan, first=True)
        inputs = {port: rows[0] for port, rows in self.table.items()}
        begun = BoundProgram(first, self.system, start, inputs, nominal, still, still, self.setup)()
        self._advance = BoundProgram(step, self.system, start, inputs, np.full((), 1, np.int32))
        command = partial(functions.command, plan=plan)
        motions, commands = begun.motions, begun.commands
        self._command = BoundProgram(command, self.system, start, inputs, nominal, motions, commands, self.setup)
        memory = Memory(np.zeros(()), np.zeros((len(robots), 6)), np.zeros(len(robots)))
        read = tuple(_empty(robot) for robot in robots)
        feel = partial(functions.feel, plan=plan)
        self._feel = BoundProgram(feel, self.system, memory, start, nominal, motions, commands, read, self.setup)
        for source, target in zip(jax.tree.leaves(begun), jax.tree.leaves(self._command.result), strict=True):
            target[...] = source
        felt, answer = self._feel.arguments, self._command.arguments
        reached, result = self._advance.result, self._command.result
        self._after_step = Transfer((reached, answer[0]), (reached, felt[1]), (self._advance.arguments[1], answer[1]))
        self._after_command = Transfer(
            ((result.nominal, result.motions, result.commands), answer[2:5]),
            ((result.nominal, result.motions, result.commands), felt[2:5]),
        )
        self._after_command()
        self._after_feeling = Transfer((self._feel.result.memory, felt[0]))
        self._into, self.measured, self.felt = felt[5], memory_of(felt[5]), memory_of(self._feel.result.wrenches)
        self.seen = memory_of(self._feel.result.seen)
        self.commanded, self._answer = memory_of(result.commands), memory_of((result.commands, result.arms))
        self.arms = result.arms

    # ---- a cycle

    def take(self, reading: FacilityReading) -> None:
        """Take in a reading; one that is not built as it should be raises whatever Python makes of it."""
        for into, robot in zip(self._into, self.robots, strict=True):
            read = reading.robots[robot.name]
            into.position[:], into.quaternion[:], into.twist[:] = read.position, read.quaternion, read.twist
            into.wrench[:], into.joints[:], into.joint_rates[:] = read.wrench, read.joints, read.joint_rates
            into.arm[:], into.arm_rates[:] = read.arm_position, read.arm_velocity
        if said := self._grippers.objection(reading):
            raise Fault(said)

    def feel(self) -> None:
        """Make wrenches at the ports of what was taken in; a fault says what is wrong with it."""
        felt = self._feel()
        if not felt.sound:
            raise Fault(explain(READING_CHECKS, felt.shares, self.setup.bounds, self._names))
        self._after_feeling()

    def advance(self) -> None:
        """Let the world go on by a cycle with what was felt, and find the next commands."""
        inputs = self._advance.arguments[1]
        self._before_step()
        for _ in range(min(self.ticks, self.steps - self.tick)):
            for port in self._given:
                inputs[port][...] = self.table[port][self.tick]
            self._ask_software()
            self._advance.call()
            self._advance.feed_back()
            self.tick += 1
        self._after_step()
        answer = self._command()
        if not answer.sound:
            raise Fault(explain(COMMAND_CHECKS, answer.shares, self.setup.bounds, self._names))
        self._after_command()

    def _ask_software(self) -> None:
        try:
            self.software.act(self.tick)
        except (SoftwareFault, WorldNotFinite) as fault:
            raise Fault(str(fault)) from None

    def commands(self) -> dict[str, MotionCommand]:
        """What every robot shall do in the next cycle."""
        numbers, made = self._answer.copy(), {}
        for name, (position, quaternion, twist), arm in self._places:
            told = ArmCommand(numbers[arm[0]], numbers[arm[1]], numbers[arm[2]]) if arm else None
            closed = self._grippers.closed(name)
            made[name] = MotionCommand(numbers[position], numbers[quaternion], numbers[twist], told, closed)
        return made

    def closed(self, robot: str) -> bool:
        """Whether the gripper of a robot is told to be closed."""
        return bool(self._grippers.closed(robot))

    @property
    def energy(self) -> float:
        """That the delay has absorbed [J]."""
        return float(self._feel.result.memory.energy)

    def state(self) -> SystemState:
        """Everything that changes in the world, as it is now."""
        return jax.tree.map(lambda view, like: np.array(view, dtype=like.dtype), self._advance.arguments[0], self.start)


def _places(robots: tuple[RobotDescription, ...]) -> list[tuple[str, list[slice], list[slice]]]:
    """Where in an answer the pose and the twist of each robot stand and, after all of them, what its arm is told."""
    widths = [*[3, 4, 6] * len(robots), *(len(robot.arm_joints) for robot in robots for _ in range(3))]
    ends = np.cumsum(widths).tolist()
    slices = [slice(end - width, end) for width, end in zip(widths, ends, strict=True)]
    motions, arms = slices[: 3 * len(robots)], slices[3 * len(robots) :]
    return [
        (robot.name, motions[3 * r : 3 * r + 3], arms[3 * r : 3 * r + 3] if robot.arm_joints else [])
        for r, robot in enumerate(robots)
    ]


def _plan(rehearsal: Rehearsal, ticks: int) -> Plan:
    carried = rehearsal.carried
    names = [one.robot for one in carried]
    touching = rehearsal.touching if rehearsal.passivity is not None else None
    a = names.index(touching.robot) if touching else -1
    others = [k for k, one in enumerate(carried) if k != a]
    return Plan(
        crafts=tuple(rehearsal.craft_number(one.craft) for one in carried),
        frames=tuple(rehearsal.frame_of(one) if one.port else "" for one in carried),
        sources=tuple(names.index(one.reaction_of) if one.reaction_of else k for k, one in enumerate(carried)),
        arms=tuple(one.arm for one in carried),
        touching=a,
        partner=others[0] if a >= 0 and others else -1,
        controls=rehearsal.passivity is not None and rehearsal.passivity.controls,
        relative=rehearsal.formulation == "relative",
        ticks=ticks,
    )


def _setup(rehearsal: Rehearsal, facility: Facility, robots: tuple[RobotDescription, ...], delay: float) -> Setup:
    experiment, compensation = rehearsal.experiment, rehearsal.compensation
    c = rehearsal.craft_number(rehearsal.nominal or rehearsal.carried[0].craft)
    body = composite_inertia(experiment.world.crafts[c], experiment.start[c].q)
    hold = 0.5 * facility.cycle if compensation is not None and compensation.hold else 0.0
    numbers: dict[str, Any] = {"cycle": facility.cycle, "dt": experiment.dt, "delay": delay, "hold": hold}
    numbers["share"] = rehearsal.passivity.share if rehearsal.passivity else 1.0
    numbers["gravity"] = facility.gravity
    return jax.tree.map(
        np.asarray,
        Setup(
            X_FZ=rehearsal.placement,
            Xs_MW=tuple(robot.X_MW for robot in robots),
            body=body,
            bounds=tuple(Bounds.of(rehearsal.limits, robot) for robot in robots),
            **{name: np.asarray(value, dtype=float) for name, value in numbers.items()},
        ),
    )


def _nominal(rehearsal: Rehearsal, setup: Setup, states: tuple[Any, ...]) -> NominalMotion:
    """The nominal motion at the start; at rest in N where the formulation is absolute."""
    still = FrameMotion(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(6))
    if rehearsal.formulation == "relative":
        state = states[rehearsal.craft_number(rehearsal.nominal or rehearsal.carried[0].craft)]
        still = FrameMotion(np.asarray(state.p_NB), np.asarray(state.quat_NB), np.asarray(state.V_NB))
    return jax.tree.map(np.asarray, unforced_motion(setup.body, still))


def _empty(robot: RobotDescription) -> Measured:
    joints: Numeric = np.zeros(len(robot.joint_names))
    arm: Numeric = np.zeros(len(robot.arm_joints))
    still = np.array([1.0, 0.0, 0.0, 0.0])
    return Measured(np.zeros(3), still, np.zeros(6), np.zeros(6), joints, joints.copy(), arm, arm.copy())
