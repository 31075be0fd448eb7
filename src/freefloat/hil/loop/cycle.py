"""One cycle of a rehearsal with compiled programs: readings in, checked commands out."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import numpy as np

from freefloat.dynamics import composite_inertia
from freefloat.dynamics.nominal_motion import FrameMotion, NominalMotion, unforced_motion
from freefloat.hil.facility import ArmCommand, Facility, FacilityReading, MotionCommand, RobotDescription
from freefloat.hil.loop import cycle_functions as functions
from freefloat.hil.loop.cycle_checks import COMMAND_CHECKS, READING_CHECKS, Bounds, RobotMeasurement, explain_failure
from freefloat.hil.loop.cycle_functions import CycleMemory, CyclePlan, CycleSetup
from freefloat.hil.loop.grippers import Grippers
from freefloat.hil.rehearsal import Rehearsal
from freefloat.outside.binding import BoundSoftware
from freefloat.outside.program import SoftwareFault
from freefloat.outside.runner import ExternalSoftwareRunner, WorldNotFinite
from freefloat.sim.bound_program import BoundProgram, Transfer, memory_of
from freefloat.sim.kernel import step
from freefloat.sim.rollout import grid
from freefloat.sim.system.input_ports import tabulate
from freefloat.sim.system.sensed_motion import sensed_port, sensed_size
from freefloat.sim.system.system import SystemState
from freefloat.values.arrays import Numeric
from freefloat.values.errors import ModelError


class Fault(Exception):
    """The reason why a rehearsal must stop now. The loop catches it and stops the facility safely."""


class Cycle:
    """State of a rehearsal, advanced cycle by cycle. It does not use the wall clock."""

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
        self.coordinates = tuple(sensed_size(experiment.world, c) for c in self.plan.crafts)
        self.tick = 0
        self._compile()
        self._places = _places(self.robots)
        self._names = [robot.name for robot in self.robots]
        self._grippers = Grippers(rehearsal, self._advance.arguments[0])
        inputs, processed = self._advance.arguments[1], self._process.result
        measured = {
            assignment.port: processed.wrenches[k] for k, assignment in enumerate(rehearsal.carried) if assignment.port
        }
        measured |= {sensed_port(experiment.world, c): processed.seen[k] for k, c in enumerate(self.plan.crafts)}
        memory, cycle = (self._advance.arguments[0], inputs), facility.cycle if paced else None
        self.software = ExternalSoftwareRunner(software, self.system, self.start, memory, cycle)
        self._require_whole_cycles()
        self._other_ports = [port for port in self.table if port not in measured and port not in self.software.ports]
        self._before_step = Transfer(*((values, inputs[port]) for port, values in measured.items()))

    def _require_whole_cycles(self) -> None:
        for piece in self.software.pieces:
            if piece.ticks % self.ticks:
                contract = piece.bound.contract
                raise ModelError(
                    f"Software '{contract.name}' is asked every {1e3 * contract.period:g} ms, a facility cycle is "
                    f"{1e3 * self.length:g} ms: its period must be a whole number of cycles."
                )

    # ---- compiled programs

    def _compile(self) -> None:
        start, plan, robots = self.start, self.plan, self.robots
        nominal = _nominal(self.rehearsal, self.setup, start.states)
        still = tuple(FrameMotion(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(6)) for _ in robots)
        first = partial(functions.compute_commands, plan=plan, first=True)
        inputs = {port: rows[0] for port, rows in self.table.items()}
        start_result = BoundProgram(first, self.system, start, inputs, nominal, still, still, self.setup)()
        self._advance = BoundProgram(step, self.system, start, inputs, np.full((), 1, np.int32))
        command = partial(functions.compute_commands, plan=plan)
        motions, commands = start_result.motions, start_result.commands
        self._command = BoundProgram(command, self.system, start, inputs, nominal, motions, commands, self.setup)
        memory = CycleMemory(np.zeros(()), np.zeros((len(robots), 6)), np.zeros(len(robots)))
        readings = tuple(_empty_measurement(robot) for robot in robots)
        process = partial(functions.process_readings, plan=plan)
        self._process = BoundProgram(
            process, self.system, memory, start, nominal, motions, commands, readings, self.setup
        )
        for source, target in zip(jax.tree.leaves(start_result), jax.tree.leaves(self._command.result), strict=True):
            target[...] = source
        reading_memory, command_memory = self._process.arguments, self._command.arguments
        state, inputs, result = self._advance.result, self._advance.arguments[1], self._command.result
        self._after_step = Transfer((state, command_memory[0]), (state, reading_memory[1]), (inputs, command_memory[1]))
        self._after_command = Transfer(
            ((result.nominal, result.motions, result.commands), command_memory[2:5]),
            ((result.nominal, result.motions, result.commands), reading_memory[2:5]),
        )
        self._after_command()
        self._after_processing = Transfer((self._process.result.memory, reading_memory[0]))
        self._into, self.measured = reading_memory[5], memory_of(reading_memory[5])
        self.felt = memory_of(self._process.result.wrenches)
        self.seen = memory_of(self._process.result.seen)
        self.commanded, self._answer = memory_of(result.commands), memory_of((result.commands, result.arms))
        self.arms = result.arms

    # ---- one cycle

    def take_reading(self, reading: FacilityReading) -> None:
        """Copy a reading into the memory of the compiled program; a malformed reading raises a Python error."""
        for into, robot in zip(self._into, self.robots, strict=True):
            own = reading.robots[robot.name]
            for field, source in _MEASURED:
                copy_measurement(getattr(into, field), getattr(own, source), robot.name, source)
        if fault := self._grippers.fault_text(reading):
            raise Fault(fault)

    def process_reading(self) -> None:
        """Compute the wrenches at the ports from the copied reading; a reading beyond a limit raises a Fault."""
        result = self._process()
        if not result.sound:
            raise Fault(explain_failure(READING_CHECKS, result.shares, self.setup.bounds, self._names))
        self._after_processing()

    def advance(self) -> None:
        """Advance the world by a cycle with the processed wrenches, and compute the next commands."""
        inputs = self._advance.arguments[1]
        self._before_step()
        for _ in range(min(self.ticks, self.steps - self.tick)):
            for port in self._other_ports:
                inputs[port][...] = self.table[port][self.tick]
            self._ask_software()
            self._advance.call()
            self._advance.feed_back()
            self.tick += 1
        self._after_step()
        answer = self._command()
        if not answer.sound:
            raise Fault(explain_failure(COMMAND_CHECKS, answer.shares, self.setup.bounds, self._names))
        self._after_command()

    def _ask_software(self) -> None:
        try:
            self.software.run_tick(self.tick)
        except (SoftwareFault, WorldNotFinite) as fault:
            raise Fault(str(fault)) from None

    def commands(self) -> dict[str, MotionCommand]:
        """Commands of all robots for the next cycle, by the name of the robot."""
        numbers, commands = self._answer.copy(), {}
        for name, (position, quaternion, twist), arm in self._places:
            arm_command = ArmCommand(numbers[arm[0]], numbers[arm[1]], numbers[arm[2]]) if arm else None
            closed = self._grippers.commanded_closed(name)
            commands[name] = MotionCommand(numbers[position], numbers[quaternion], numbers[twist], arm_command, closed)
        return commands

    def gripper_closed(self, robot: str) -> bool:
        """Whether the gripper of a robot is commanded to be closed."""
        return bool(self._grippers.commanded_closed(robot))

    @property
    def energy(self) -> float:
        """Energy that the delay has absorbed since the start [J]."""
        return float(self._process.result.memory.energy)

    def state(self) -> SystemState:
        """Copy of the present state of the world."""
        return jax.tree.map(lambda view, like: np.array(view, dtype=like.dtype), self._advance.arguments[0], self.start)


# Fields of a measurement in compiled code, and what a facility calls them.
_MEASURED = (
    ("position", "position"),
    ("quaternion", "quaternion"),
    ("twist", "twist"),
    ("wrench", "wrench"),
    ("joints", "joints"),
    ("joint_rates", "joint_rates"),
    ("arm", "arm_position"),
    ("arm_rates", "arm_velocity"),
)


def copy_measurement(into: np.ndarray, value: Any, robot: str, name: str) -> None:
    """Copy one measured vector; a wrong size or anything but numbers raises a ValueError, nothing is broadcast."""
    numbers = value if isinstance(value, np.ndarray) else np.asarray(value)
    if numbers.shape != into.shape or numbers.dtype.kind not in "fiu":
        shape = f"shape {numbers.shape}" if numbers.dtype.kind in "fiu" else f"type {numbers.dtype}"
        raise ValueError(f"{name} of robot '{robot}' has {shape}, expected {into.shape[0]} numbers")
    into[:] = numbers


def _places(robots: tuple[RobotDescription, ...]) -> list[tuple[str, list[slice], list[slice]]]:
    """Places in the row of commands: pose and twist of each robot and, after those of all robots, its arm commands."""
    widths = [*[3, 4, 6] * len(robots), *(len(robot.arm_joints) for robot in robots for _ in range(3))]
    ends = np.cumsum(widths).tolist()
    slices = [slice(end - width, end) for width, end in zip(widths, ends, strict=True)]
    motions, arms = slices[: 3 * len(robots)], slices[3 * len(robots) :]
    return [
        (robot.name, motions[3 * r : 3 * r + 3], arms[3 * r : 3 * r + 3] if robot.arm_joints else [])
        for r, robot in enumerate(robots)
    ]


def _plan(rehearsal: Rehearsal, ticks: int) -> CyclePlan:
    carried = rehearsal.carried
    names = [assignment.robot for assignment in carried]
    touching = rehearsal.touching if rehearsal.passivity is not None else None
    a = names.index(touching.robot) if touching else -1
    others = [k for k, assignment in enumerate(carried) if k != a]
    return CyclePlan(
        crafts=tuple(rehearsal.craft_number(assignment.craft) for assignment in carried),
        frames=tuple(rehearsal.frame_of(assignment) if assignment.port else "" for assignment in carried),
        sources=tuple(
            names.index(assignment.reaction_of) if assignment.reaction_of else k for k, assignment in enumerate(carried)
        ),
        arms=tuple(assignment.arm for assignment in carried),
        touching=a,
        partner=others[0] if a >= 0 and others else -1,
        controls=rehearsal.passivity is not None and rehearsal.passivity.controls,
        relative=rehearsal.formulation == "relative",
        ticks=ticks,
    )


def _setup(rehearsal: Rehearsal, facility: Facility, robots: tuple[RobotDescription, ...], delay: float) -> CycleSetup:
    experiment, compensation = rehearsal.experiment, rehearsal.compensation
    c = rehearsal.craft_number(rehearsal.nominal or rehearsal.carried[0].craft)
    body = composite_inertia(experiment.world.crafts[c], experiment.start[c].q)
    hold = 0.5 * facility.cycle if compensation is not None and compensation.hold else 0.0
    numbers: dict[str, Any] = {"cycle": facility.cycle, "dt": experiment.dt, "delay": delay, "hold": hold}
    numbers["share"] = rehearsal.passivity.share if rehearsal.passivity else 1.0
    numbers["gravity"] = facility.gravity
    return jax.tree.map(
        np.asarray,
        CycleSetup(
            X_FZ=rehearsal.placement,
            Xs_MW=tuple(robot.X_MW for robot in robots),
            body=body,
            bounds=tuple(Bounds.of(rehearsal.limits, robot) for robot in robots),
            **{name: np.asarray(value, dtype=float) for name, value in numbers.items()},
        ),
    )


def _nominal(rehearsal: Rehearsal, setup: CycleSetup, states: tuple[Any, ...]) -> NominalMotion:
    """Nominal motion at the start; a frame at rest in N in the absolute formulation."""
    still = FrameMotion(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(6))
    if rehearsal.formulation == "relative":
        state = states[rehearsal.craft_number(rehearsal.nominal or rehearsal.carried[0].craft)]
        still = FrameMotion(np.asarray(state.p_NB), np.asarray(state.quat_NB), np.asarray(state.V_NB))
    return jax.tree.map(np.asarray, unforced_motion(setup.body, still))


def _empty_measurement(robot: RobotDescription) -> RobotMeasurement:
    joints: Numeric = np.zeros(len(robot.joint_names))
    arm: Numeric = np.zeros(len(robot.arm_joints))
    still = np.array([1.0, 0.0, 0.0, 0.0])
    return RobotMeasurement(np.zeros(3), still, np.zeros(6), np.zeros(6), joints, joints.copy(), arm, arm.copy())
