"""Settings of a virtual cell: servos, wrist sensors, monitors."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from freefloat.values.checks import require_bounds, require_number, require_quantity
from freefloat.values.errors import ModelError

Lag = Literal["none", "first", "second"]
_LARGEST_STEP = 0.5  # [rad] of the inner loop's frequency in a substep


@dataclass(frozen=True)
class ServoSettings:
    """Servo between a command and the motion of a joint: averaging, transport delay, lag, then a stiff inner loop.

    The lag is `none`, `first` (w / (s + w)) or `second` (w^2 / (s^2 + 2 d w s + w^2)) with w = 2 pi `bandwidth`.
    The inner loop follows what comes out of it with computed torque and the stiffness of a mass-spring of `stiffness`.
    """

    lag: Lag = "none"
    bandwidth: float = 25.0  # [Hz], of the lag
    damping_ratio: float = 0.7  # of a second-order lag
    delay: float = 0.0  # [s], whole cycles and fractions
    averaging: int = 1  # commands over which the controller averages
    stiffness: float = 40.0  # [Hz], of the inner loop, critically damped
    feed_forward: bool = True  # of gravity and velocity forces

    def __post_init__(self) -> None:
        if self.lag not in ("none", "first", "second"):
            raise ModelError(f"There is no lag '{self.lag}'. Choose one of: none, first, second.")
        require_bounds(self, {"bandwidth": "Hz", "damping_ratio": "", "stiffness": "Hz"}, above=0.0)
        require_bounds(self, {"delay": "s"}, least=0.0)
        _require_whole("ServoSettings.averaging", self.averaging, least=1)


@dataclass(frozen=True)
class SensorSettings:
    """A wrist sensor; pairs are (force [N], torque [N m]), each for all three axes."""

    noise: tuple[float, float] = (0.0, 0.0)  # standard deviation of a sample
    bias: tuple[float, float] = (0.0, 0.0)  # standard deviation of a constant offset that is drawn once
    drift: tuple[float, float] = (0.0, 0.0)  # random walk, standard deviation after one second
    resolution: tuple[float, float] = (0.0, 0.0)  # steps of the reading
    range: tuple[float, float] = (np.inf, np.inf)  # readings are clipped there, and the cell stops beyond
    tare_samples: int = 0  # samples averaged at the start, whose mean is taken off from then on
    weight_error: float = 0.0  # share by which the assumed weight of the tool is too small
    passed: tuple[bool, ...] = (True,) * 6  # which of the six components are measured; the others read zero
    inertia_compensated: bool = False  # subtract the tool's inertia forces, from differences of the encoder rates

    def __post_init__(self) -> None:
        for name in ("noise", "bias", "drift", "resolution", "range"):
            value = getattr(self, name)
            if np.shape(value) != (2,):
                raise ModelError(f"SensorSettings.{name} must be a pair (force [N], torque [N m]), got {value!r}.")
            require_quantity(f"SensorSettings.{name}", value, "N, N m", least=0.0, allow_infinite=name == "range")
        if len(self.passed) != 6:
            raise ModelError(f"SensorSettings.passed must say yes or no of six components, got {self.passed!r}.")
        require_bounds(self, {"weight_error": ""}, least=-1.0, most=1.0)
        _require_whole("SensorSettings.tare_samples", self.tare_samples, least=0)


@dataclass(frozen=True)
class CellSettings:
    """Settings of a cell: its cycle, servos and sensors, its monitors, and the seed of its errors."""

    cycle: float = 4e-3  # [s]
    substeps: int = 8  # of the cell's own integration in a cycle
    servo: ServoSettings = field(default_factory=ServoSettings)
    sensor: SensorSettings = field(default_factory=SensorSettings)
    settling: float = 0.5  # [s] at rest before the first reading
    clearance: float = 0.02  # [m]; closer than this the cell stops
    left_behind: float = 0.02  # [m] by which joints may miss a command near a singular posture or the end of reach
    watch_every: int = 5  # cycles between two measurements of distances
    arm_stiffness: float = 0.0  # [N m/rad] of the carried arm's own position loop
    arm_damping: float = 0.0  # [N m s/rad]
    arm_torque: float = 400.0  # [N m] largest command of a joint of a carried arm; more stops the cell
    seed: int = 0

    def __post_init__(self) -> None:
        require_number("CellSettings.cycle", self.cycle, "s", above=0.0)
        _require_whole("CellSettings.substeps", self.substeps, least=1)
        _require_whole("CellSettings.watch_every", self.watch_every, least=1)
        _require_whole("CellSettings.seed", self.seed, least=0)
        units = {"settling": "s", "clearance": "m", "arm_stiffness": "N m/rad", "arm_damping": "N m s/rad"}
        require_bounds(self, units, least=0.0)
        require_bounds(self, {"arm_torque": "N m", "left_behind": "m"}, above=0.0)
        needed = math.ceil(2.0 * math.pi * self.servo.stiffness * self.cycle / _LARGEST_STEP)
        if self.substeps < needed:
            raise ModelError(
                f"An inner loop of {self.servo.stiffness:g} Hz at a cycle of {1e3 * self.cycle:g} ms needs at least "
                f"{needed} substeps, got {self.substeps}. Set CellSettings.substeps, or lower ServoSettings.stiffness."
            )

    @property
    def step(self) -> float:
        """Time step of the cell's own integration [s]."""
        return self.cycle / self.substeps


def _require_whole(what: str, value: Any, *, least: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ModelError(f"{what} must be a whole number, at least {least}, got {value!r}.")
