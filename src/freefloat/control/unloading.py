"""Momentum unloading: thrusters take out of the wheels what disturbances have put into them."""

from __future__ import annotations

import dataclasses

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import wheel_momentum
from freefloat.effects.thrusters import Pulses, Thrusters
from freefloat.model import Spacecraft, State
from freefloat.spatial import six
from freefloat.values import ModelError, record
from freefloat.values.arrays import Numeric, Scalar, Vec3, Vector, is_traced
from freefloat.values.channels import Channel, vector
from freefloat.values.checks import require_bounds


@record
class UnloadingMemory:
    """Whether it is at work, and what the valves remember."""

    working: Scalar  # 1 while unloading
    pulses: Pulses


@record
class MomentumUnloading:
    """Starts when the wheels hold more than `start` and ends below `stop`; the wheels' own law keeps the attitude."""

    craft: Spacecraft
    thrusters: Thrusters
    start: Numeric | float = 5.0  # momentum of the wheels [N m s]
    stop: Numeric | float = 0.5  # [N m s]
    torque: Numeric | float = 0.05  # mean torque while unloading; keep it below what the wheels can make [N m]
    now: UnloadingMemory | None = None

    def __post_init__(self) -> None:
        require_bounds(self, {"start": "N m s", "stop": "N m s", "torque": "N m"}, least=0.0)
        if not is_traced(self.start, self.stop) and self.stop > self.start:
            raise ModelError(
                f"MomentumUnloading must stop below where it starts, {self.stop:g} > {self.start:g} N m s."
            )

    def begin(self, state: State) -> MomentumUnloading:
        """Valves closed."""
        return dataclasses.replace(self, now=self.memory())

    def memory(self) -> UnloadingMemory:
        """Valves closed."""
        return UnloadingMemory(np.zeros(()), self.thrusters.start())

    def stored(self, state: State) -> Vec3:
        """Momentum of the base wheels, base axes [N m s]."""
        wheels = self.craft.wheels_on("base")
        spin = wheel_momentum(self.craft, state.q, state.v)
        return sum(
            (spin[self.craft.wheel_names.index(w.name)] * jnp.asarray(w.axis) for w in wheels), start=jnp.zeros(3)
        )

    def remember(self, memory: UnloadingMemory, state: State, t: Scalar, hold: float) -> UnloadingMemory:
        """Decide whether to work, and move the valves."""
        stored = self.stored(state)
        size = jnp.sqrt(stored @ stored)
        working = jnp.where(size > self.start, 1.0, jnp.where(size < self.stop, 0.0, memory.working))
        direction = stored / jnp.where(size > 0.0, size, 1.0)
        duty = self.thrusters.allocate(six(jnp.zeros(3), -working * self.torque * direction))
        pulses = self.thrusters.pulse(memory.pulses, duty, t, hold)
        # What is left over when the work ends is forgotten.
        pulses = dataclasses.replace(pulses, debt=working * pulses.debt)
        return UnloadingMemory(working, pulses)

    def recall(self, memory: UnloadingMemory) -> MomentumUnloading:
        """The law with its valves."""
        return dataclasses.replace(self, now=memory)

    def force(self, state: State, t: Scalar, hold: float) -> Vector:
        """Generalised force of the open thrusters."""
        memory = self.now if self.now is not None else self.memory()
        return jnp.zeros(self.craft.layout.nv).at[:6].set(self.thrusters.wrench(memory.pulses.burning))

    def channels(self) -> tuple[Channel, ...]:
        """What this law adds to a run."""
        names = tuple(n.name for n in self.thrusters.nozzles)
        return (
            vector("wheels.momentum", "Momentum of the wheels", "N m s", "B"),
            Channel("thrusters.burning", "Thrusters that burn", "1", "", "thruster", names),
            Channel("thrusters.propellant", "Propellant used", "kg"),
        )

    def observe(self, craft: Spacecraft, state: State, t: Scalar) -> tuple[Numeric, ...]:
        """Wheels, valves, propellant."""
        memory = self.now if self.now is not None else self.memory()
        return self.stored(state), memory.pulses.burning, memory.pulses.propellant
