"""A cell of industrial robots in MuJoCo, as a facility: in lockstep its results are equal bit for bit."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from freefloat.hil.cell.cell_use import CellUse, Monitors
from freefloat.hil.cell.command_checks import command_fault, require_commands
from freefloat.hil.cell.inverse_kinematics import InverseKinematics, JointAnswer
from freefloat.hil.cell.limits import Braking, broken_limit
from freefloat.hil.cell.mjcf import GRAVITY, Station
from freefloat.hil.cell.plant import ArmDrive, CellPlant, RobotPlant
from freefloat.hil.cell.rotations import cross, matrix_of
from freefloat.hil.cell.scene import body_poses, cell_parts
from freefloat.hil.cell.servo import References, RobotServo
from freefloat.hil.cell.settings import CellSettings
from freefloat.hil.cell.wrist_sensor import ToolLoad, WristSensor
from freefloat.hil.facility import CellPart, Facility, FacilityReading, MotionCommand, RobotDescription, RobotReading
from freefloat.spatial.sixvectors import angular, linear
from freefloat.values.errors import ModelError


class _CellRobot:
    """One robot of a running cell: its kinematics, servo and sensor."""

    def __init__(self, plant: CellPlant, parts: RobotPlant, settings: CellSettings) -> None:
        self.plant, self.parts, self.station = plant, parts, parts.station
        self.name, self.cycle = self.station.name, settings.cycle
        self.kinematics = InverseKinematics(self.station.arm, self.station.posture)
        self.servo = RobotServo(settings.servo, settings.cycle, settings.substeps)
        self.sensor = WristSensor(settings.sensor, self.name, settings.cycle, settings.seed)
        self.braking: Braking | None = None
        self.pushed = np.zeros(6)  # known wrench on the tool, at W in W axes; the robot holds against it
        R_FR, p_FR = np.asarray(self.station.X_FR.R), np.asarray(self.station.X_FR.p)
        self._to_base = np.block([[R_FR.T, -(R_FR.T @ p_FR)[:, None]], [np.zeros((1, 3)), 1.0]])

    def flange_of(self, command: MotionCommand) -> tuple[np.ndarray, np.ndarray]:
        """Flange pose X_RP (4x4) and twist V_FP in P axes for the commanded motion of M."""
        R_PM, p_PM = self.parts.R_PM, self.parts.p_PM
        X_FP = np.eye(4)
        X_FP[:3, :3] = matrix_of(command.quaternion) @ R_PM.T
        X_FP[:3, 3] = command.position - X_FP[:3, :3] @ p_PM
        omega = R_PM @ np.asarray(angular(command.twist))
        velocity = R_PM @ np.asarray(linear(command.twist)) - cross(omega, p_PM)
        return self._to_base @ X_FP, np.concatenate([velocity, omega])

    def start(self, command: MotionCommand) -> None:
        q = self.kinematics.find(self.flange_of(command)[0], self.name)
        self.kinematics.posture, self.braking = q, None
        self.answer = JointAnswer(q, np.zeros_like(q), 0.0, self.kinematics.singular_value(q), 0.0)
        self.servo.start(q)
        self.arm = _braked_arm(None if command.arm is None else command.arm.position)
        self.plant.place_robot(self.parts, q, np.zeros(0) if self.arm is None else self.arm.position)

    def rest_references(self) -> References:
        return self.servo.references(self.answer.q, self.answer.rate)

    def follow_command(self, command: MotionCommand) -> tuple[References, str]:
        """References of the next cycle, and why they must not be followed (empty if they may)."""
        X_RP, twist = self.flange_of(command)
        self.answer = self.kinematics.follow_pose(X_RP, twist, self.answer, self.cycle)
        references = self.servo.references(self.answer.q, self.answer.rate)
        left_behind = self.plant.settings.left_behind
        fault = broken_limit(self.station.arm, self.name, self.answer, references, left_behind)
        if command.arm is not None:
            self.arm = ArmDrive(command.arm.position, command.arm.velocity, command.arm.torque, driven=True)
            fault = fault or self._torque_fault(command.arm.torque)
        return references, fault

    def command_gripper(self, command: MotionCommand) -> None:
        """Close or open the gripper, if the command has an entry for it."""
        if command.gripper is not None:
            self.plant.grippers[self.name].set_closed(closed=command.gripper)

    def _torque_fault(self, torque: np.ndarray) -> str:
        limit, k = self.plant.settings.arm_torque, int(np.argmax(np.abs(torque)))
        if abs(torque[k]) <= limit:
            return ""
        joint = self.station.mockup.arm_joints[k]
        return f"{self.name}: {joint} is told {torque[k]:.4g} N m, {limit:g} N m are permitted"

    def brake(self) -> None:
        """Begin to brake from the present motion."""
        if self.braking is None:
            data = self.plant.data
            self.braking = Braking(self.station.arm, data.qpos[self.parts.q].copy(), data.qvel[self.parts.v].copy())
            if self.arm is not None:
                self.arm = _braked_arm(data.qpos[self.parts.arm_q].copy())

    def store_load(self) -> None:
        """Store the present load of the tool on the sensor, in the flange's axes."""
        self._known = self.plant.tool_load(self.parts)

    def known_load(self) -> ToolLoad:
        """Known load of the tool: for an arm in its measured posture, for a passive tool as it was stored."""
        now = self.plant.tool_load(self.parts)
        if self.station.mockup.arm_joints:
            return now
        return dataclasses.replace(self._known, gravity=now.gravity)

    def read(self) -> RobotReading:
        data, parts = self.plant.data, self.parts
        motion, tool_wrench = self.plant.carried_motion(parts), self.plant.tool_wrench(parts)
        wrench = self.sensor.read(tool_wrench + self.pushed, self.known_load(), self.plant.flange_twist(parts))
        return RobotReading(
            position=motion.position,
            quaternion=motion.quaternion,
            twist=motion.twist,
            wrench=wrench,
            joints=data.qpos[parts.q].copy(),
            joint_rates=data.qvel[parts.v].copy(),
            arm_position=data.qpos[parts.arm_q].copy(),
            arm_velocity=data.qvel[parts.arm_v].copy(),
            holds=self.name in self.plant.grippers and self.plant.grippers[self.name].holds,
        )


class VirtualCell(Facility):
    """Robots with servos, limits and wrist sensors; mock-ups that touch each other; monitors."""

    def __init__(
        self, stations: Sequence[Station], settings: CellSettings | None = None, name: str = "virtual"
    ) -> None:
        self.name, self.settings = name, settings or CellSettings()
        if not stations or len({station.name for station in stations}) < len(stations):
            raise ModelError(f"A cell needs robots of different names, got {[station.name for station in stations]}.")
        self.cycle, servo = self.settings.cycle, self.settings.servo
        self.delay = servo.delay + 0.5 * (servo.averaging - 1) * self.cycle
        self.bandwidth = np.inf if servo.lag == "none" else servo.bandwidth
        self.gravity = (0.0, 0.0, -GRAVITY)
        self.stations = tuple(stations)
        self.robots = tuple(_robot_description(station) for station in stations)
        self.plant = CellPlant(stations, self.settings)
        self._robots: list[_CellRobot] = []
        self._stopped = ""

    # ---- the facility

    def start(self, commands: Mapping[str, MotionCommand]) -> FacilityReading:
        """Place the robots at the first commanded poses, open grippers, settle, tare the sensors, set held joints."""
        require_commands(self.robots, commands)
        for gripper in self.plant.grippers.values():
            gripper.set_closed(closed=False)
        self.plant.mujoco.mj_resetData(self.plant.model, self.plant.data)
        self._robots = [_CellRobot(self.plant, parts, self.settings) for parts in self.plant.robots]
        self._stopped, self._number = "", 0
        self._monitors = Monitors(self.plant, {robot.name: robot.kinematics for robot in self._robots})
        for robot in self._robots:
            robot.start(commands[robot.name])
        for _ in range(max(1, round(self.settings.settling / self.cycle))):
            references = [robot.rest_references() for robot in self._robots]
            self.plant.advance(references, [robot.arm for robot in self._robots])
        for robot in self._robots:
            robot.store_load()
            robot.sensor.tare(self.plant.tool_wrench(robot.parts), robot.known_load())
            self.plant.place_held_joints(robot.parts)
        self.plant.data.qvel[:] = 0.0
        self.plant.update_sensors(self._at_rest(), [robot.arm for robot in self._robots])
        self._check_distances()
        return self._reading({robot.name: robot.read() for robot in self._robots})

    def exchange(self, commands: Mapping[str, MotionCommand]) -> FacilityReading:
        """Run one cycle. If a command would break a limit, all robots brake instead, and the reason is reported."""
        if not self._robots:
            raise ModelError(f"The facility '{self.name}' has not been started. Call start first.")
        if self.plant.diverged:
            self._number += 1
            return self._last_sound_reading()
        references = self._references(commands)
        self.plant.advance(references, [robot.arm for robot in self._robots])
        self._number += 1
        if self.plant.diverged:
            return self._last_sound_reading()
        readings = {robot.name: robot.read() for robot in self._robots}
        for robot, rows in zip(self._robots, references, strict=True):
            self._monitors.record_cycle(robot.name, robot.answer, rows, readings[robot.name].wrench)
            if robot.sensor.is_overloaded(self.plant.tool_wrench(robot.parts)):
                self._halt_robots(f"{robot.name}: load of the wrist sensor beyond its range")
        self._check_distances()
        return self._reading(readings)

    def stop(self, reason: str) -> None:
        """Brake all robots until they are at rest; closed grippers stay closed."""
        if not self._robots or self.plant.diverged:
            return
        self._halt_robots(reason)
        while not all(robot.braking is None or robot.braking.at_rest for robot in self._robots):
            self.plant.advance(self._references({}), [robot.arm for robot in self._robots])
            self._number += 1

    # ---- for the check of the sensors

    def tool_weight(self, robot: str) -> np.ndarray:
        """Weight of a robot's tool as it is taken off the readings (6,) [N, N m]."""
        return self._robot(robot).known_load().weight()

    def push(self, robot: str, wrench: np.ndarray) -> bool:
        """Push on a robot's tool; stiff robots hold against it."""
        self._robot(robot).pushed = np.asarray(wrench, dtype=float)
        return True

    def _robot(self, name: str) -> _CellRobot:
        return next(robot for robot in self._robots if robot.name == name)

    # ---- for pages and reports

    @property
    def use(self) -> CellUse:
        """Use of the cell in the run so far: distances, reach, joint limits."""
        if not self._robots:
            raise ModelError(f"The facility '{self.name}' has not been started: nothing is used yet.")
        return self._monitors.use

    def description(self) -> dict[str, Any]:
        """Settings and stations of the cell as plain data."""
        stations = {
            station.name: {
                "robot": station.arm.model,
                "foot": {"position": _plain(station.X_FR.p), "rotation": _plain(station.X_FR.R)},
                "carried_frame": {"position": _plain(station.mockup.X_PM.p), "rotation": _plain(station.mockup.X_PM.R)},
                "reach": station.arm.reach,
                "arm_joints": list(station.mockup.arm_joints),
                "gripper": None if station.mockup.gripper is None else dataclasses.asdict(station.mockup.gripper),
            }
            for station in self.stations
        }
        return {"name": self.name, "settings": dataclasses.asdict(self.settings), "stations": stations}

    def parts(self) -> tuple[CellPart, ...]:
        """All shapes that can be drawn, each on a body."""
        return cell_parts(self.plant)

    def poses(self) -> dict[str, tuple[np.ndarray, np.ndarray]]:
        """Present position [m] and quaternion of every body on the floor axes F."""
        return body_poses(self.plant)

    # ---- inside

    def _references(self, commands: Mapping[str, MotionCommand]) -> list[References]:
        """References of all robots for the next cycle: as commanded, or braking."""
        if not self._stopped and (fault := command_fault(self.robots, commands)):
            self._halt_robots(fault)
        if not self._stopped:
            followed = [robot.follow_command(commands[robot.name]) for robot in self._robots]
            broken = [fault for _, fault in followed if fault]
            if not broken:
                for robot in self._robots:
                    robot.command_gripper(commands[robot.name])
                return [references for references, _ in followed]
            self._halt_robots(broken[0])
        return [
            robot.braking.references(self.cycle, self.settings.substeps)
            for robot in self._robots
            if robot.braking is not None
        ]

    def _last_sound_reading(self) -> FacilityReading:
        """The last sound reading, repeated once MuJoCo's state is no longer finite."""
        self._stopped = self._stopped or "the cell's own motion has diverged: a stiffness or a damping is too large"
        return self._reading(self._sound)

    def _halt_robots(self, reason: str) -> None:
        self._stopped = self._stopped or reason
        for robot in self._robots:
            robot.brake()

    def _at_rest(self) -> tuple[np.ndarray, ...]:
        q = np.concatenate([robot.answer.q for robot in self._robots])
        return q, np.zeros_like(q), np.zeros_like(q)

    def _check_distances(self) -> None:
        if self._number % self.settings.watch_every or self.plant.diverged:
            return
        pair, distance = self._monitors.measure_distances()
        if distance < self.settings.clearance and not self._stopped:
            self._halt_robots(
                f"{pair}: {1e3 * distance:.0f} mm apart, closer than {1e3 * self.settings.clearance:.0f} mm"
            )

    def _reading(self, robots: dict[str, RobotReading]) -> FacilityReading:
        self._monitors.use.cycles, self._sound = self._number, robots
        return FacilityReading(self._number, self._number * self.cycle, robots, self._stopped)


def _robot_description(station: Station) -> RobotDescription:
    arm = station.arm
    return RobotDescription(
        name=station.name,
        joint_names=tuple(joint.name for joint in arm.joints),
        lower=arm.lower,
        upper=arm.upper,
        rate_limit=arm.rate_limit,
        acceleration_limit=arm.acceleration_limit,
        X_MW=station.mockup.X_PM.inverse(),
        arm_joints=station.mockup.arm_joints,
        gripper=station.mockup.gripper is not None,
    )


def _braked_arm(position: np.ndarray | None) -> ArmDrive | None:
    """Drive of an arm with closed brakes at a position [rad]; None without an arm."""
    none = np.zeros(0 if position is None else len(position))
    return None if position is None else ArmDrive(position, none, none, driven=False)


def _plain(values: Any) -> Any:
    return np.asarray(values, dtype=float).tolist()
