"""Wrist sensors are checked before a rehearsal: their tools are weighed in several attitudes, and they are pushed.

The reading has the tool's weight taken off as it is in each attitude. A sensor that is false by a factor and a turn,
F_read = g R(theta) F + b, therefore shows the change of the weight since the tare: r = (A - 1)(w - w_0) + A push + b
with A x = g x + t x x (cross product), t = g theta: linear in gain g, turn t and bias b, found by least squares.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from freefloat.hil.cell.rotations import cross, matrix_of, multiply, quaternion_exp, skew
from freefloat.hil.facility import Facility, FacilityReading, MotionCommand
from freefloat.spatial import linear
from freefloat.values.checks import require_bounds
from freefloat.values.errors import ModelError

_TILTS = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))  # about axes of the sensor
_UNSEEN = 1e-3  # relative singular value, below which the loads do not show a combination of errors
_LEAST_LOAD = 1.0  # [N] between all loads of a check; less cannot tell a gain


@dataclass(frozen=True)
class SensorCheck:
    """Settings of the check before the run. The robots turn about their sensors, away from the first pose and back."""

    tilt: float = 0.1  # [rad] about each axis of the sensor
    move: float = 1.0  # [s] that a turn takes
    settle: float = 1.0  # [s] of rest before readings are averaged: an arm on the sensor swings
    samples: int = 100  # readings that are averaged at each load
    push: float = 50.0  # [N] known push along each axis, where the facility can make one; 0: none

    def __post_init__(self) -> None:
        require_bounds(self, {"tilt": "rad", "settle": "s", "push": "N"}, least=0.0)
        require_bounds(self, {"move": "s"}, above=0.0)
        if not isinstance(self.samples, int) or self.samples < 2:
            raise ModelError(f"SensorCheck.samples must be a whole number, two or more, got {self.samples!r}.")


@dataclass(frozen=True)
class SensorLoad:
    """Mean of readings under one known load; forces at the sensor in its axes [N]."""

    weight: tuple[float, ...]  # of the tool in this attitude, less that of the attitude of the tare
    push: tuple[float, ...]  # known, besides the weight
    reading: tuple[float, ...]
    deviation: float  # standard deviation of the mean, of its noisiest axis


@dataclass(frozen=True)
class SensorErrors:
    """Gain, turn and bias of a wrist sensor, with standard deviations."""

    gain: float
    turn: np.ndarray  # theta (3,) [rad], axes of the sensor
    bias: np.ndarray  # (3,) [N]
    gain_deviation: float
    turn_deviation: float  # [rad], of its least known axis
    bias_deviation: float  # [N]


def check_sensors(facility: Facility, commands: Mapping[str, MotionCommand], check: SensorCheck) -> dict[str, Any]:
    """Loads and readings of all wrist sensors by robot, as plain data for the log.

    Starts the facility at these commands and leaves it there at rest. A facility that does not know the weight of its
    tools is only pushed; one that can do neither returns no loads.
    """
    bench = _Bench(facility, dict(commands), check)
    loads: dict[str, list[SensorLoad]] = {robot.name: [] for robot in facility.robots}
    if not bench.tares and not any(facility.push(name, np.zeros(6)) for name in loads):
        return {}
    for tilt in _TILTS if bench.tares else _TILTS[:1]:
        bench.turn_to(check.tilt * np.array(tilt))
        bench.record_loads(loads, np.zeros(3))
    bench.turn_to(np.zeros(3))
    for axis in np.eye(3) if check.push else ():
        pushed = [name for name in loads if facility.push(name, np.append(check.push * axis, np.zeros(3)))]
        bench.record_loads({name: loads[name] for name in pushed}, check.push * axis)
        for name in pushed:
            facility.push(name, np.zeros(6))
    return {name: [vars(load) for load in rows] if len(rows) > 1 else [] for name, rows in loads.items()}


class _Bench:
    """The facility during the check: its present tilt, and the weights of its tools at the tare."""

    def __init__(self, facility: Facility, commands: dict[str, MotionCommand], check: SensorCheck) -> None:
        self.facility, self.commands, self.check = facility, commands, check
        self.places = {robot.name: np.asarray(robot.X_MW.p) for robot in facility.robots}
        self.axes = {robot.name: np.asarray(robot.X_MW.R) for robot in facility.robots}
        self.tilt = np.zeros(3)
        self.reading = facility.start(commands)
        known = {name: facility.tool_weight(name) for name in commands}
        self.tares = {name: weight for name, weight in known.items() if weight is not None}

    def turn_to(self, tilt: np.ndarray) -> None:
        """Turn all carried frames about their sensors to a rotation vector in sensor axes, and settle."""
        first, count = self.tilt, max(2, round(self.check.move / self.facility.cycle))
        for k in range(1, count + 1):
            s = k / count
            share = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
            rate = 30.0 * s**2 * (1.0 - s) ** 2 / self.check.move
            self._exchange(first + share * (tilt - first), rate * (tilt - first))
        self.tilt = tilt
        for _ in range(round(self.check.settle / self.facility.cycle)):
            self._exchange(tilt, np.zeros(3))

    def record_loads(self, loads: Mapping[str, list[SensorLoad]], push: np.ndarray) -> None:
        """Average readings at the present tilt, and append them with their loads."""
        rows: dict[str, list[np.ndarray]] = {name: [] for name in loads}
        for _ in range(self.check.samples):
            reading = self._exchange(self.tilt, np.zeros(3))
            for name, own in rows.items():
                own.append(np.asarray(linear(reading.robots[name].wrench)))
        for name, own in rows.items():
            now = self.facility.tool_weight(name) if name in self.tares else None
            weight = np.zeros(3) if now is None else np.asarray(linear(now - self.tares[name]))
            deviation = float(np.max(np.std(own, axis=0, ddof=1))) / np.sqrt(len(own))
            load = (tuple(map(float, values)) for values in (weight, push, np.mean(own, axis=0)))
            loads[name].append(SensorLoad(*load, deviation=deviation))

    def _exchange(self, tilt: np.ndarray, rate: np.ndarray) -> FacilityReading:
        commands = {name: self._turned_command(name, command, tilt, rate) for name, command in self.commands.items()}
        self.reading = self.facility.exchange(commands)
        if self.reading.stopped:
            raise ModelError(
                f"The facility '{self.facility.name}' stopped in the sensor check: {self.reading.stopped}."
            )
        return self.reading

    def _turned_command(self, name: str, command: MotionCommand, tilt: np.ndarray, rate: np.ndarray) -> MotionCommand:
        """The command turned about the sensor W, which stays where it is: p_FM = p_FW - R_FM p_MW."""
        about, at = self.axes[name] @ tilt, self.places[name]
        quat = multiply(command.quaternion, quaternion_exp(about))
        sensor = command.position + matrix_of(command.quaternion) @ at
        spin = self.axes[name] @ rate
        twist = np.concatenate([-cross(spin, at), spin])
        return replace(command, position=sensor - matrix_of(quat) @ at, quaternion=quat, twist=twist)


def estimate_sensor_errors(rows: Sequence[Mapping[str, Any]]) -> SensorErrors | None:
    """Gain, turn and bias that explain the readings best; None where the loads hardly change.

    A turn about the direction of all loads cannot be seen, and is none.
    """
    weights, pushes, readings = (
        np.array([row[name] for row in rows], float).reshape(-1, 3) for name in ("weight", "push", "reading")
    )
    loads = weights + pushes
    if len(rows) < 3 or np.max(np.ptp(loads, axis=0)) < _LEAST_LOAD:
        return None
    # r + (w - w_0) = g x + t x x + b, x = (w - w_0) + push; for each load three rows, seven numbers, all of like size.
    largest = float(np.max(np.abs(loads)))
    scale = np.array([1.0 / largest] * 4 + [1.0] * 3)
    design = np.concatenate([np.hstack([x[:, None], -skew(x), np.eye(3)]) for x in loads / largest])
    wanted = (readings + weights).ravel()
    found = np.linalg.lstsq(design, wanted, rcond=_UNSEEN)[0]
    noise = np.mean([float(row["deviation"]) ** 2 for row in rows])
    rest = float(np.sum((design @ found - wanted) ** 2)) / max(design.shape[0] - 7, 1)
    spread = np.linalg.pinv(design.T @ design, rcond=_UNSEEN**2, hermitian=True)
    found, deviation = scale * found, scale * np.sqrt(max(noise, rest) * np.diag(spread))
    return SensorErrors(
        gain=float(found[0]),
        turn=found[1:4] / found[0] if found[0] else np.zeros(3),
        bias=found[4:],
        gain_deviation=float(deviation[0]),
        turn_deviation=float(np.max(deviation[1:4])),
        bias_deviation=float(np.max(deviation[4:])),
    )
