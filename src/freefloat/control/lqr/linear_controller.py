"""A sampled linear compensator as on-board software: measurements in, commands out, at its own period."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.control.lqr.state_space import StateSpace
from freefloat.model import Spacecraft
from freefloat.model.commands import BaseWrench, Command, JointTorques, WheelTorques
from freefloat.model.ports import Clock, Measurements, Software
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Matrix, Vector

_WRENCH = tuple(f"base.{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz")


@record
class LinearController(Software):
    """u = C x + D (y - reference) + trim, x(k+1) = A x(k) + B (y - reference); its memory is x now and x next.

    Build it with `of`, which gives the commands to joints, wheels and base by the names of the outputs.
    """

    A: Matrix
    B: Matrix
    C: Matrix
    D: Matrix
    reference: Vector  # what is measured where the model was linearised
    trim: Vector  # commands there [N m, N]
    reads: tuple[str, ...] = static()
    joints: tuple[tuple[str, int], ...] = static(default=())  # names, and which command is theirs
    wheels: tuple[tuple[str, int], ...] = static(default=())
    wrench: tuple[tuple[int, int], ...] = static(default=())  # places in (force, torque), and which command is theirs

    @staticmethod
    def of(
        controller: StateSpace,
        craft: Spacecraft,
        reads: Sequence[str],
        *,
        reference: Any,
        trim: Any = 0.0,
        **fields: Any,
    ) -> LinearController:
        """From a sampled compensator whose inputs are the numbers of the measurements `reads`, one after the other.

        Its outputs are named as inputs of `linearise`: joints, wheels, `base.force.x`, `base.torque.z`.
        """
        if controller.period is None:
            raise ModelError("LinearController runs sampled compensators: `sample` the plant before designing.")
        reference, count = np.asarray(reference, dtype=float), len(controller.inputs)
        if reference.shape != (count,):
            raise ModelError(
                f"The reference must be {count} numbers, one for each measured one, got {reference.shape}."
            )
        places: dict[str, list[tuple[Any, int]]] = {"joints": [], "wheels": [], "wrench": []}
        for row, name in enumerate(controller.outputs):
            if name in craft.layout.joints:
                places["joints"].append((name, row))
            elif name in craft.wheel_names:
                places["wheels"].append((name, row))
            elif name in _WRENCH:
                places["wrench"].append((_WRENCH.index(name), row))
            else:
                known = ", ".join((*craft.layout.joints, *craft.wheel_names, *_WRENCH))
                raise ModelError(f"Spacecraft '{craft.name}' takes no command '{name}'. Commands: {known}.")
        matrices = {name: np.asarray(getattr(controller, name)) for name in "ABCD"}
        trim = np.broadcast_to(np.asarray(trim, dtype=float), len(controller.outputs)).copy()
        given = {name: tuple(rows) for name, rows in places.items()}
        common = {"reads": tuple(reads), "period": controller.period}
        return LinearController(**matrices, reference=reference, trim=trim, **given, **common, **fields)

    def deviation(self, y: Measurements) -> Vector:
        """What is measured, from the reference."""
        return jnp.concatenate([jnp.ravel(jnp.asarray(y[name])) for name in self.reads]) - self.reference

    def begin(self, y: Measurements) -> tuple[Vector, Vector]:
        """It believes that nothing has moved."""
        return jnp.zeros(len(self.A)), jnp.zeros(len(self.A))

    def remember(self, memory: tuple[Vector, Vector], y: Measurements, clock: Clock) -> tuple[Vector, Vector]:
        """One sample on."""
        x = memory[1]
        return x, jnp.asarray(self.A) @ x + jnp.asarray(self.B) @ self.deviation(y)

    def command(self, memory: tuple[Vector, Vector], y: Measurements, clock: Clock) -> tuple[Command, ...]:
        """Commands by kind."""
        u = jnp.asarray(self.C) @ memory[0] + jnp.asarray(self.D) @ self.deviation(y) + self.trim
        found: list[Command] = []
        if self.joints:
            found.append(JointTorques(tuple(n for n, _ in self.joints), jnp.stack([u[k] for _, k in self.joints])))
        if self.wheels:
            found.append(WheelTorques(tuple(n for n, _ in self.wheels), jnp.stack([u[k] for _, k in self.wheels])))
        if self.wrench:
            wrench = jnp.zeros(6)
            for place, k in self.wrench:
                wrench = wrench.at[place].set(u[k])
            found.append(BaseWrench(wrench))
        return tuple(found)
