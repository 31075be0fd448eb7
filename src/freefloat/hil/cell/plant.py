"""Physics of a cell in MuJoCo: robots driven by torques, their mock-ups, and the loads on their sensors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from freefloat.hil.cell.mjcf import GRAVITY, Station, cell_text
from freefloat.hil.cell.motion_history import CellMotion
from freefloat.hil.cell.plant_gripper import PlantGripper
from freefloat.hil.cell.rotations import cross, quaternion_of
from freefloat.hil.cell.servo import References
from freefloat.hil.cell.settings import CellSettings
from freefloat.hil.cell.wrist_sensor import ToolLoad
from freefloat.readers.mujoco_package import load_mujoco
from freefloat.spatial.sixvectors import angular, linear


@dataclass(frozen=True)
class ArmDrive:
    """Command of a carried arm in a cycle: torques and a position loop, or held by its brakes."""

    position: np.ndarray  # [rad]
    velocity: np.ndarray  # [rad/s]
    torque: np.ndarray  # [N m]
    driven: bool


class RobotPlant:
    """Places of one robot's parts in the arrays of the cell."""

    def __init__(self, model: Any, station: Station) -> None:
        name = station.name
        self.station = station
        self.q, self.v = _addresses(model, [f"{name}.{joint.name}" for joint in station.arm.joints])
        self.arm_q, self.arm_v = _addresses(model, [f"{name}.{joint}" for joint in station.mockup.arm_joints])
        held = [f"{name}.{joint}" for joint in station.mockup.held]
        self.held_q = _addresses(model, held)[0]
        self.held = np.array(list(station.mockup.held.values()))
        self.tool = model.body(f"{name}.tool").id
        self.site = model.site(f"{name}.sensor").id
        self.force = model.sensor(f"{name}.force").adr[0]
        self.torque = model.sensor(f"{name}.torque").adr[0]
        X_PM = station.mockup.X_PM
        self.R_PM, self.p_PM = np.asarray(X_PM.R), np.asarray(X_PM.p)


class CellPlant:
    """Model and state of a cell, advanced by whole cycles."""

    def __init__(self, stations: Sequence[Station], settings: CellSettings) -> None:
        self.mujoco = load_mujoco("A virtual cell is computed")
        self.settings = settings
        self.model = self.mujoco.MjModel.from_xml_string(cell_text(stations, settings))
        self.data = self.mujoco.MjData(self.model)
        self.robots = [RobotPlant(self.model, station) for station in stations]
        self.grippers = {
            station.name: PlantGripper(self.mujoco, self.model, self.data, station.name, station.mockup.gripper)
            for station in stations
            if station.mockup.gripper is not None
        }
        # Robots' joints first, then those of carried arms, which are held while nobody drives them.
        self._moved = np.concatenate([robot.v for robot in self.robots] + [robot.arm_v for robot in self.robots])
        self._read = np.concatenate([robot.q for robot in self.robots] + [robot.arm_q for robot in self.robots])
        self._own = sum(len(robot.q) for robot in self.robots)
        self._acceleration = np.zeros(self.model.nv)
        self._inertia = np.zeros(self.model.nv)
        stiffness = 2.0 * np.pi * settings.servo.stiffness
        self._spring, self._damper = stiffness**2, 2.0 * stiffness

    def place_robot(self, robot: RobotPlant, q: np.ndarray, arm: np.ndarray) -> None:
        """Set the joint angles of a robot and of its carried arm [rad]."""
        self.data.qpos[robot.q] = q
        self.data.qpos[robot.arm_q] = arm

    def place_held_joints(self, robot: RobotPlant) -> None:
        """Set the joints that are held until the run begins to their positions."""
        self.data.qpos[robot.held_q] = robot.held

    def advance(self, references: Sequence[References], arms: Sequence[ArmDrive | None]) -> None:
        """Advance one cycle: computed torque in the robots' joints, torque and a position loop in carried arms."""
        joined = tuple(
            np.concatenate([robot_references[k] for robot_references in references], axis=1) for k in range(3)
        )
        for j in range(self.settings.substeps):
            self.mujoco.mj_step1(self.model, self.data)
            self._apply_torques(tuple(rows[j] for rows in joined), arms, 1.0 - j / self.settings.substeps)
            self.mujoco.mj_step2(self.model, self.data)
        self.update_sensors(tuple(rows[-1] for rows in joined), arms)

    def update_sensors(self, reference: tuple[np.ndarray, ...], arms: Sequence[ArmDrive | None]) -> None:
        """Update all values that are computed from the state, with the torques of this instant."""
        self.mujoco.mj_step1(self.model, self.data)
        self._apply_torques(reference, arms, 0.0)
        self.mujoco.mj_forwardSkip(self.model, self.data, int(self.mujoco.mjtStage.mjSTAGE_VEL), 0)

    def _apply_torques(self, reference: tuple[np.ndarray, ...], arms: Sequence[ArmDrive | None], ahead: float) -> None:
        """Set the torques of this instant; `ahead` is the rest of the cycle, as a share."""
        q, rate, acceleration = reference
        data, own = self.data, self._moved[: self._own]
        self._acceleration[own] = (
            acceleration
            + self._damper * (rate - data.qvel[own])
            + self._spring * (q - data.qpos[self._read[: self._own]])
        )
        for robot, arm in zip(self.robots, arms, strict=True):
            if arm is not None:
                self._acceleration[robot.arm_v] = 0.0 if arm.driven else self._holding_acceleration(robot, arm.position)
        self.mujoco.mj_mulM(self.model, data, self._inertia, self._acceleration)
        torque, bias = self._inertia[self._moved], data.qfrc_bias[self._moved]
        data.qfrc_applied[self._moved] = torque + bias if self.settings.servo.feed_forward else torque
        for robot, arm in zip(self.robots, arms, strict=True):
            if arm is not None and arm.driven:
                data.qfrc_applied[robot.arm_v] = self._arm_torque(robot, arm, ahead)
        for gripper in self.grippers.values():
            data.xfrc_applied[gripper.bodies] = 0.0
        for gripper in self.grippers.values():
            gripper.apply_wrench()

    def _holding_acceleration(self, robot: RobotPlant, position: np.ndarray) -> np.ndarray:
        data = self.data
        return self._spring * (position - data.qpos[robot.arm_q]) - self._damper * data.qvel[robot.arm_v]

    def _arm_torque(self, robot: RobotPlant, arm: ArmDrive, ahead: float) -> np.ndarray:
        """Torque of a carried arm [N m]: commanded torque, and a position loop around it."""
        data, settings = self.data, self.settings
        position = arm.position - ahead * settings.cycle * arm.velocity
        return (
            arm.torque
            + settings.arm_stiffness * (position - data.qpos[robot.arm_q])
            + settings.arm_damping * (arm.velocity - data.qvel[robot.arm_v])
        )

    @property
    def diverged(self) -> bool:
        """Whether the state is no longer finite."""
        return not (np.isfinite(self.data.qpos).all() and np.isfinite(self.data.qacc).all())

    # ---- measurements

    def flange(self, robot: RobotPlant) -> tuple[np.ndarray, np.ndarray]:
        """Position p_FP [m] and rotation R_FP of the flange."""
        return self.data.site_xpos[robot.site].copy(), self.data.site_xmat[robot.site].reshape(3, 3).copy()

    def flange_twist(self, robot: RobotPlant) -> np.ndarray:
        """Twist V_FP of the flange in P axes [m/s, rad/s]."""
        spin_first = np.zeros(6)
        self.mujoco.mj_objectVelocity(self.model, self.data, self.mujoco.mjtObj.mjOBJ_SITE, robot.site, spin_first, 1)
        return np.roll(spin_first, 3)

    def carried_motion(self, robot: RobotPlant) -> CellMotion:
        """Pose and twist of the carried frame."""
        p, R = self.flange(robot)
        V = self.flange_twist(robot)
        omega = np.asarray(angular(V))
        twist = np.concatenate([robot.R_PM.T @ (linear(V) + cross(omega, robot.p_PM)), robot.R_PM.T @ omega])
        return CellMotion(p + R @ robot.p_PM, quaternion_of(R @ robot.R_PM), twist)

    def tool_wrench(self, robot: RobotPlant) -> np.ndarray:
        """Wrench of the tool on the flange, in P axes (6,) [N, N m]: MuJoCo's sensor has the opposite sign."""
        values = self.data.sensordata
        return -np.concatenate([values[robot.force : robot.force + 3], values[robot.torque : robot.torque + 3]])

    def tool_load(self, robot: RobotPlant) -> ToolLoad:
        """Load on the sensor: mass, centre of mass, inertia and gravity of the tool."""
        p, R = self.flange(robot)
        mass = float(self.model.body_subtreemass[robot.tool])
        com = R.T @ (self.data.subtree_com[robot.tool] - p)
        return ToolLoad(mass, com, self._tool_inertia(robot, p, R), R.T @ np.array([0.0, 0.0, -GRAVITY]))

    def _tool_inertia(self, robot: RobotPlant, p: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Inertia of the tool in its present posture, about the flange in its axes [kg m2]."""
        if not self.settings.sensor.inertia_compensated:
            return np.zeros((3, 3))
        total = np.zeros((3, 3))
        for body in range(robot.tool, self.model.nbody):
            if not self._is_inside(body, robot.tool):
                break
            turn = self.data.ximat[body].reshape(3, 3)
            arm = self.data.xipos[body] - p
            total += turn @ np.diag(self.model.body_inertia[body]) @ turn.T
            total += self.model.body_mass[body] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return R.T @ total @ R

    def _is_inside(self, body: int, root: int) -> bool:
        while body > root:
            body = int(self.model.body_parentid[body])
        return body == root


def _addresses(model: Any, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Places of joints in the arrays of positions and of velocities."""
    joints = [model.joint(name) for name in names]
    return np.array([j.qposadr[0] for j in joints], dtype=int), np.array([j.dofadr[0] for j in joints], dtype=int)
