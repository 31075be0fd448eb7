"""Deflection of frames on flexible bodies against the base: a camera or a laser that looks along the structure."""

from __future__ import annotations

from collections.abc import Mapping

import jax.numpy as jnp

from freefloat.dynamics import frame_pose
from freefloat.model import Spacecraft
from freefloat.model.part_kinds import Clock, Truth
from freefloat.sensors.imperfection import ImperfectSensor, quantise
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.checks import require_bounds


@record
class Deflection(ImperfectSensor):
    """Measures `frames.deflection`: distance of each frame from its place at q = `rest`, along a base axis [m]."""

    frames: tuple[str, ...] = static()
    rest: Vector  # joints and modes [rad, m]
    axis: str = static(default="z")
    noise: Numeric | float = 0.0  # one sigma [m]
    step: Numeric | float = 0.0  # resolution [m]

    def __post_init__(self) -> None:
        super().__post_init__()
        require_bounds(self, {"noise": "m", "step": "m"}, least=0.0)
        if self.axis not in ("x", "y", "z"):
            raise ModelError(f"{self.title}: axis must be x, y or z, got '{self.axis}'.")

    def check(self, craft: Spacecraft) -> None:
        """Reject frames that the spacecraft does not have."""
        self.require_known(craft, "frame", self.frames, craft.frame_names)

    def measure(self, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Measured deflection of each frame along one axis of the base [m]."""
        q, k = jnp.asarray(truth.state.q), "xyz".index(self.axis)
        moved = [frame_pose(truth.craft, q, f).p[k] - frame_pose(truth.craft, self.rest, f).p[k] for f in self.frames]
        noise = self.noise * self.draw(truth, number, len(self.frames))
        return {"frames.deflection": quantise(jnp.stack(moved) + noise, self.step)}
