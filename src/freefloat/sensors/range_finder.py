"""Range finder: distance from a frame to a target, of the same or another spacecraft, and its rate."""

from __future__ import annotations

from collections.abc import Mapping

import jax.numpy as jnp

from freefloat.dynamics import inertial_frame_pose, inertial_frame_twist
from freefloat.model import Spacecraft
from freefloat.model.part_kinds import Clock, Measurements, Truth
from freefloat.model.quantity import Quantity
from freefloat.sensors.imperfection import TargetSensor, quantise
from freefloat.spatial import linear
from freefloat.values import record, static
from freefloat.values.arrays import Numeric, Scalar
from freefloat.values.channels import Channel
from freefloat.values.checks import require_bounds
from freefloat.values.errors import ModelError, require_name, unknown_name


def distance_and_rate(truth: Truth, frame: str, target: str) -> tuple[Scalar, Scalar]:
    """Distance between the origins of two frames [m] and its rate [m/s], positive while they separate."""
    number, other = truth.world.locate(target, truth.own)
    craft = truth.world.crafts[number]
    if other not in craft.frame_names:
        raise unknown_name(craft.name, "frame", other, craft.frame_names)
    here, there = (truth.craft, truth.state, frame), (craft, truth.states[number], other)
    line = inertial_frame_pose(*there).p - inertial_frame_pose(*here).p
    distance = jnp.sqrt(line @ line)
    moving = linear(inertial_frame_twist(*there)) - linear(inertial_frame_twist(*here))
    return distance, line @ moving / jnp.where(distance > 0.0, distance, 1.0)


def distance_channels(frame: str, target: str, prefix: str = "") -> tuple[Channel, Channel]:
    """Channels of a distance and its rate."""
    between = f"from {frame} to {target}"
    return (
        Channel(f"{prefix}distance", f"Distance {between}", "m"),
        Channel(f"{prefix}range_rate", f"Rate of the distance {between}", "m/s"),
    )


@record
class Distance(Quantity):
    """True distance from a frame to a target such as "client.ring", and its rate: `range.distance`, `range.range_rate`.

    The distance has a rate along the motion: software that prescribes joint rates continuously may read it.
    """

    frame: str = static()
    target: str = static()  # frame of any spacecraft
    name: str = static(default="range", kw_only=True)  # what it is called by

    def __post_init__(self) -> None:
        require_name("Distance", self.name)

    def check(self, craft: Spacecraft) -> None:
        """Reject a frame that the spacecraft does not have; the target's is checked when it is measured."""
        self.require_known(craft, "frame", (self.frame,), craft.frame_names)

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """The distance and its rate."""
        return distance_channels(self.frame, self.target, f"{self.name}.")

    def value(self, truth: Truth, name: str) -> Numeric:
        """Distance [m] or its rate [m/s]."""
        distance, rate = distance_and_rate(truth, self.frame, self.target)
        return distance if name.endswith(".distance") else rate

    def has_rate(self, name: str) -> bool:
        """Whether it is the distance: of its rate no rate is known."""
        return name.endswith(".distance")

    def rate(self, y: Measurements, name: str) -> Numeric | None:
        """Rate of the distance along the motion [m/s]."""
        return y[f"{self.name}.range_rate"] if self.has_rate(name) else None


@record
class RangeSensor(TargetSensor):
    """Measures `range.distance` and `range.range_rate` from a frame to a target, both with errors of their own."""

    frame: str = static()  # that carries it
    target: str = static()  # frame of any spacecraft, such as "client.ring"
    noise: Numeric | float = 0.0  # of the distance, one sigma [m]
    rate_noise: Numeric | float = 0.0  # of its rate, one sigma [m/s]
    bias: Numeric | float = 0.0  # of the distance [m]
    step: Numeric | float = 0.0  # quantisation of the distance [m]
    name: str = static(default="range", kw_only=True)  # what its measurements are called by

    def __post_init__(self) -> None:
        super().__post_init__()
        require_name("RangeSensor", self.name)
        require_bounds(self, {"bias": "m"})
        require_bounds(self, {"noise": "m", "rate_noise": "m/s", "step": "m"}, least=0.0)
        if self.frame == self.target:
            raise ModelError(f"{self.title} would measure from '{self.frame}' to itself. Name two frames.")

    def check(self, craft: Spacecraft) -> None:
        """Reject a frame that the spacecraft does not have; the target's is checked at the first sample."""
        self.require_known(craft, "frame", (self.frame,), craft.frame_names)

    def channels(self, craft: Spacecraft) -> tuple[Channel, ...]:
        """Units of the measurements."""
        return distance_channels(self.frame, self.target)

    def measure(self, truth: Truth, number: Numeric, clock: Clock) -> Mapping[str, Numeric]:
        """Measured distance [m] and range rate [m/s] of one sample."""
        (distance, rate), noise = distance_and_rate(truth, self.frame, self.target), self.draw(truth, number, 2)
        return {
            "distance": quantise(distance + self.bias + self.noise * noise[0], self.step),
            "range_rate": rate + self.rate_noise * noise[1],
        }

    def target_distance(self, truth: Truth) -> Scalar:
        """True distance of the target [m]."""
        return distance_and_rate(truth, self.frame, self.target)[0]
