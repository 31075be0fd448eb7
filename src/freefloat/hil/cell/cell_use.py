"""Monitors of a cell during a run: distances, reach, joint limits, singular postures."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from freefloat.hil.cell.inverse_kinematics import InverseKinematics, JointAnswer
from freefloat.hil.cell.mockups import HAND_GROUP
from freefloat.hil.cell.plant import CellPlant
from freefloat.hil.cell.servo import References

_FAR = 1.0  # [m]; larger distances are not measured


@dataclass
class RobotUse:
    """Largest use of one robot in a run, mostly as shares of its limits."""

    joint_names: tuple[str, ...]
    lowest: np.ndarray  # [rad]
    highest: np.ndarray  # [rad]
    room: np.ndarray  # smallest distance to a limit, share of half the range
    rate: np.ndarray  # largest share of the rate limits
    acceleration: np.ndarray  # largest share of the acceleration limits
    reach: float = 0.0  # largest share of the stretched arm
    manipulability: float = np.inf  # smallest [m]
    left_behind: float = 0.0  # largest distance between a command and the joints' references [m]
    largest_wrench: np.ndarray = field(default_factory=lambda: np.zeros(6))  # [N, N m]

    def as_dict(self) -> dict[str, Any]:
        """The record as plain data."""
        return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()}


@dataclass
class CellUse:
    """Largest use of all robots of a cell in a run, and nearest distances."""

    robots: dict[str, RobotUse]
    closest: dict[str, float] = field(default_factory=dict)  # by pair of parts, nearest distance [m]
    cycles: int = 0

    @property
    def nearest(self) -> tuple[str, float]:
        """The pair of parts that came closest, and its distance [m]."""
        return min(self.closest.items(), key=lambda pair: pair[1], default=("", np.inf))

    def as_dict(self) -> dict[str, Any]:
        """The record as plain data, for a report."""
        robots = {name: use.as_dict() for name, use in self.robots.items()}
        return {"robots": robots, "closest": dict(self.closest), "nearest": list(self.nearest), "cycles": self.cycles}


class Monitors:
    """Measures distances and use of a cell while it runs."""

    def __init__(self, plant: CellPlant, kinematics: dict[str, InverseKinematics]) -> None:
        self.plant, self.kinematics = plant, kinematics
        self._pairs = _watched_pairs(plant)
        self._solid = np.array([g for g in range(plant.model.ngeom) if plant.model.geom(g).name != "floor"])
        self.use = CellUse({name: _empty_use(robot_kinematics) for name, robot_kinematics in kinematics.items()})

    def record_cycle(self, name: str, answer: JointAnswer, references: References, wrench: np.ndarray) -> None:
        """Record the use of one robot in a cycle."""
        arm, use = self.kinematics[name].arm, self.use.robots[name]
        q, rates, accelerations = references
        use.lowest = np.minimum(use.lowest, q.min(axis=0))
        use.highest = np.maximum(use.highest, q.max(axis=0))
        half = 0.5 * (arm.upper - arm.lower)
        use.room = np.minimum(use.room, (np.minimum(q - arm.lower, arm.upper - q) / half).min(axis=0))
        use.rate = np.maximum(use.rate, (np.abs(rates) / arm.rate_limit).max(axis=0))
        use.acceleration = np.maximum(use.acceleration, (np.abs(accelerations) / arm.acceleration_limit).max(axis=0))
        use.left_behind = max(use.left_behind, answer.missing)
        use.manipulability = min(use.manipulability, answer.manipulability)
        use.largest_wrench = np.maximum(use.largest_wrench, np.abs(wrench))

    def measure_distances(self) -> tuple[str, float]:
        """Measure all distances now; returns the nearest pair and its distance [m]."""
        plant, distances = self.plant, {}
        mj, model, data = plant.mujoco, plant.model, plant.data
        for label, first, second in self._pairs:
            distances[label] = min(
                distances.get(label, _FAR), mj.mj_geomDistance(model, data, first, second, _FAR, None)
            )
        self._measure_floor(distances)
        self._measure_reach()
        for label, distance in distances.items():
            self.use.closest[label] = min(self.use.closest.get(label, np.inf), distance)
        return min(distances.items(), key=lambda pair: pair[1], default=("", np.inf))

    def _measure_floor(self, distances: dict[str, float]) -> None:
        """Add the heights above the floor of the lowest points of all moving parts to `distances` [m]."""
        model, data = self.plant.model, self.plant.data
        for g in self._solid:
            name = model.geom(g).name
            owner, _, part = name.partition(".")
            if part in ("foot", "pedestal", self.kinematics[owner].arm.joints[0].name):
                continue
            radius, half = model.geom_size[g][0], model.geom_size[g][1]
            drop = radius + abs(data.geom_xmat[g][8]) * half  # exact for balls and capsules, safe for the others
            label = f"{owner} - floor"
            distances[label] = min(distances.get(label, _FAR), float(data.geom_xpos[g][2] - drop))

    def _measure_reach(self) -> None:
        for robot in self.plant.robots:
            arm, use = robot.station.arm, self.use.robots[robot.station.name]
            foot = np.asarray(robot.station.X_FR.apply(np.array([0.0, 0.0, arm.joints[0].offset[2]])))
            distance = float(np.linalg.norm(self.plant.data.site_xpos[robot.site] - foot))
            use.reach = max(use.reach, distance / arm.reach)


def _watched_pairs(plant: CellPlant) -> list[tuple[str, int, int]]:
    """Pairs of parts to monitor: of different robots, and tools with their own robot; not those that may touch."""
    model, pairs = plant.model, []
    parts = [(g, *model.geom(g).name.partition(".")[::2]) for g in range(model.ngeom)]
    near = {g for g in range(model.ngeom) if model.geom_contype[g] or model.geom_group[g] == HAND_GROUP}
    upper = {
        robot.station.name: {"foot", "pedestal", *(joint.name for joint in robot.station.arm.joints[:3])}
        for robot in plant.robots
    }
    links = {r.station.name: {j.name for j in r.station.arm.joints} | upper[r.station.name] for r in plant.robots}
    for (a, owner_a, part_a), (b, owner_b, part_b) in itertools.combinations(parts, 2):
        if "floor" in (owner_a, owner_b) or (owner_a != owner_b and a in near and b in near):
            continue
        if owner_a != owner_b:
            pairs.append((f"{owner_a} - {owner_b}", a, b))
        elif (part_a in upper[owner_a]) and part_b not in links[owner_a]:
            pairs.append((f"{owner_a}: tool - robot", a, b))
    return pairs


def _empty_use(kinematics: InverseKinematics) -> RobotUse:
    arm = kinematics.arm
    n = arm.count
    return RobotUse(
        joint_names=tuple(joint.name for joint in arm.joints),
        lowest=np.full(n, np.inf),
        highest=np.full(n, -np.inf),
        room=np.full(n, np.inf),
        rate=np.zeros(n),
        acceleration=np.zeros(n),
    )
