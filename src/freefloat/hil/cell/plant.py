"""The cell's own physics in MuJoCo: robots under torque, what they carry, and what their sensors feel."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from freefloat.hil.cell.mjcf import GRAVITY, Station, cell_text
from freefloat.hil.cell.motion_history import Motion
from freefloat.hil.cell.plant_gripper import PlantGripper
from freefloat.hil.cell.rotations import cross, quaternion_of
from freefloat.hil.cell.servo import References
from freefloat.hil.cell.settings import CellSettings
from freefloat.hil.cell.wrist_sensor import ToolLoad
from freefloat.spatial.sixvectors import angular, linear
from freefloat.values.errors import ModelError


def load_mujoco() -> Any:
    """The package `mujoco`."""
    try:
        import mujoco
    except ImportError:
        raise ModelError(
            "A virtual cell is computed by MuJoCo, which is not installed: pip install 'freefloat[mujoco]'."
        ) from None
    return mujoco


@dataclass(frozen=True)
class ArmDrive:
    """What a carried arm does in a cycle: torques and a position loop, or held by its brakes."""

    position: np.ndarray  # [rad]
    velocity: np.ndarray  # [rad/s]
    torque: np.ndarray  # [N m]
    driven: bool


class RobotPlant:
    """Where one robot's parts are in the arrays of the cell."""

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
        self.mujoco = load_mujoco()
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

    def place(self, robot: RobotPlant, q: np.ndarray, arm: np.ndarray) -> None:
        """Put a robot somewhere, at rest."""
        self.data.qpos[robot.q] = q
        self.data.qpos[robot.arm_q] = arm

    def hold(self, robot: RobotPlant) -> None:
        """Put what is held until the run begins where it is held."""
        self.data.qpos[robot.held_q] = robot.held

    def advance(self, references: Sequence[References], arms: Sequence[ArmDrive | None]) -> None:
        """One cycle: computed torque in the robots' joints, torque and a position loop in carried arms."""
        joined = tuple(np.concatenate([one[k] for one in references], axis=1) for k in range(3))
        for j in range(self.settings.substeps):
            self.mujoco.mj_step1(self.model, self.data)
            self._apply(tuple(rows[j] for rows in joined), arms, 1.0 - j / self.settings.substeps)
            self.mujoco.mj_step2(self.model, self.data)
        self.sense(tuple(rows[-1] for rows in joined), arms)

    def sense(self, reference: tuple[np.ndarray, ...], arms: Sequence[ArmDrive | None]) -> None:
        """Bring everything that is computed from the state up to date, at the torques of this instant."""
        self.mujoco.mj_step1(self.model, self.data)
        self._apply(reference, arms, 0.0)
        self.mujoco.mj_forwardSkip(self.model, self.data, int(self.mujoco.mjtStage.mjSTAGE_VEL), 0)

    def _apply(self, reference: tuple[np.ndarray, ...], arms: Sequence[ArmDrive | None], ahead: float) -> None:
        """Torques now; `ahead` is what is left of the cycle, as a share."""
        q, rate, acceleration = reference
        data, own = self.data, self._moved[: self._own]
        self._acceleration[own] = (
            acceleration
            + self._damper * (rate - data.qvel[own])
            + self._spring * (q - data.qpos[self._read[: self._own]])
        )
        for robot, arm in zip(self.robots, arms, strict=True):
            if arm is not None:
                self._acceleration[robot.arm_v] = 0.0 if arm.driven else self._holding(robot, arm.position)
        self.mujoco.mj_mulM(self.model, data, self._inertia, self._acceleration)
        torque, bias = self._inertia[self._moved], data.qfrc_bias[self._moved]
        data.qfrc_applied[self._moved] = torque + bias if self.settings.servo.feed_forward else torque
        for robot, arm in zip(self.robots, arms, strict=True):
            if arm is not None and arm.driven:
                data.qfrc_applied[robot.arm_v] = self._drive(robot, arm, ahead)
        for gripper in self.grippers.values():
            data.xfrc_applied[gripper.bodies] = 0.0
        for gripper in self.grippers.values():
            gripper.push()

    def _holding(self, robot: RobotPlant, position: np.ndarray) -> np.ndarray:
        data = self.data
        return self._spring * (position - data.qpos[robot.arm_q]) - self._damper * data.qvel[robot.arm_v]

    def _drive(self, robot: RobotPlant, arm: ArmDrive, ahead: float) -> np.ndarray:
        """Torque as commanded, and a position loop around it."""
        data, settings = self.data, self.settings
        wanted = arm.position - ahead * settings.cycle * arm.velocity
        return (
            arm.torque
            + settings.arm_stiffness * (wanted - data.qpos[robot.arm_q])
            + settings.arm_damping * (arm.velocity - data.qvel[robot.arm_v])
        )

    @property
    def diverged(self) -> bool:
        """Whether the state is no longer finite."""
        return not (np.isfinite(self.data.qpos).all() and np.isfinite(self.data.qacc).all())

    # ---- what there is to see

    def flange(self, robot: RobotPlant) -> tuple[np.ndarray, np.ndarray]:
        """p_FP and R_FP."""
        return self.data.site_xpos[robot.site].copy(), self.data.site_xmat[robot.site].reshape(3, 3).copy()

    def flange_twist(self, robot: RobotPlant) -> np.ndarray:
        """V_FP in P axes [m/s, rad/s]."""
        spin_first = np.zeros(6)
        self.mujoco.mj_objectVelocity(self.model, self.data, self.mujoco.mjtObj.mjOBJ_SITE, robot.site, spin_first, 1)
        return np.roll(spin_first, 3)

    def carried(self, robot: RobotPlant) -> Motion:
        """How the carried frame moves."""
        p, R = self.flange(robot)
        V = self.flange_twist(robot)
        omega = np.asarray(angular(V))
        twist = np.concatenate([robot.R_PM.T @ (linear(V) + cross(omega, robot.p_PM)), robot.R_PM.T @ omega])
        return Motion(p + R @ robot.p_PM, quaternion_of(R @ robot.R_PM), twist)

    def felt(self, robot: RobotPlant) -> np.ndarray:
        """What the tool does to the flange, in P axes (6,) [N, N m]: MuJoCo's sensor says the opposite."""
        values = self.data.sensordata
        return -np.concatenate([values[robot.force : robot.force + 3], values[robot.torque : robot.torque + 3]])

    def load(self, robot: RobotPlant) -> ToolLoad:
        """Mass, centre of mass and gravity of what hangs on the sensor."""
        p, R = self.flange(robot)
        mass = float(self.model.body_subtreemass[robot.tool])
        com = R.T @ (self.data.subtree_com[robot.tool] - p)
        return ToolLoad(mass, com, self._tool_inertia(robot, p, R), R.T @ np.array([0.0, 0.0, -GRAVITY]))

    def _tool_inertia(self, robot: RobotPlant, p: np.ndarray, R: np.ndarray) -> np.ndarray:
        """About the flange, in its axes; of the tool as it stands now."""
        if not self.settings.sensor.inertia_compensated:
            return np.zeros((3, 3))
        total = np.zeros((3, 3))
        for body in range(robot.tool, self.model.nbody):
            if not self._inside(body, robot.tool):
                break
            turn = self.data.ximat[body].reshape(3, 3)
            arm = self.data.xipos[body] - p
            total += turn @ np.diag(self.model.body_inertia[body]) @ turn.T
            total += self.model.body_mass[body] * (arm @ arm * np.eye(3) - np.outer(arm, arm))
        return R.T @ total @ R

    def _inside(self, body: int, root: int) -> bool:
        while body > root:
            body = int(self.model.body_parentid[body])
        return body == root


def _addresses(model: Any, names: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Where joints are among the positions and the velocities."""
    joints = [model.joint(name) for name in names]
    return np.array([j.qposadr[0] for j in joints], dtype=int), np.array([j.dofadr[0] for j in joints], dtype=int)
