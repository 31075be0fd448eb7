"""A sampled linear compensator as on-board software: measurements in, commands out, at its own period."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.control.lqr.state_space import StateSpace
from freefloat.model import Spacecraft
from freefloat.model.commands import BaseWrench, Command, FrameForces, JointTorques, WheelTorques
from freefloat.model.part_kinds import Clock, Measurements, Software
from freefloat.values import ModelError, record, static
from freefloat.values.arrays import Matrix, Vector
from freefloat.values.channels import Channel
from freefloat.values.checks import require_all, require_array, require_numbers

_WRENCH = tuple(f"base.{kind}.{axis}" for kind in ("force", "torque") for axis in "xyz")


@record
class ControllerMemory:
    """Memory of a compensator."""

    now: Vector  # its state at this sample
    coming: Vector  # and at the next
    waiting: Matrix  # commands that come late, the oldest first (late + 1, commands); none where none does


@record
class LinearController(Software[ControllerMemory]):
    """Sampled compensator u = C x + D (y - reference) + trim, x(k+1) = A x(k) + B (y - reference).

    Build it with `of`, which assigns commands to joints, wheels, frames and base by the names of the outputs. Commands
    are limited to `largest`, and delayed by `late` samples.
    """

    A: Matrix
    B: Matrix
    C: Matrix
    D: Matrix
    reference: Vector  # measurements at which the model was linearised
    trim: Vector  # commands there [N m, N]
    largest: Vector  # of each command [N m, N]
    signs: Vector  # of each command as its actuator takes it
    reads: tuple[str, ...] = static()
    joints: tuple[tuple[str, int], ...] = static(default=())  # names, and number of the command
    wheels: tuple[tuple[str, int], ...] = static(default=())
    wrench: tuple[tuple[int, int], ...] = static(default=())  # places in (force, torque), and number of the command
    frames: tuple[tuple[str, str, int], ...] = static(default=())  # names, axes, and number of the command
    labels: tuple[str, ...] = static(default=())  # of all commands
    late: int = static(default=0)  # samples by which commands come late

    @staticmethod
    def of(
        controller: StateSpace,
        craft: Spacecraft,
        reads: Sequence[str],
        *,
        reference: Any,
        trim: Any = 0.0,
        largest: Any = np.inf,
        ports: Mapping[str, str] | None = None,
        **fields: Any,
    ) -> LinearController:
        """Controller from a sampled compensator whose inputs are the numbers of the measurements `reads`, in order.

        Its outputs are named as inputs of `linearise`: joints, wheels, `base.force.x`, `base.torque.z`, and forces
        at frames, `tip.force.z`. `ports` assigns outputs with other names, `{"pitch torque": "-wheel.z"}`; a minus
        turns the command around (a wheel turns its carrier the other way).
        """
        ports = {name: (ports or {}).get(name, name) for name in controller.outputs}
        numbers = partial(_require_command_numbers, names=controller.outputs)
        _, reference, trim, largest, places = require_all(
            lambda: _require_sampled(controller),
            lambda: _require_reference(reference, controller.inputs),
            lambda: numbers("trim", trim),
            lambda: numbers("largest", largest, allow_infinite=True),
            lambda: _actuator_rows(craft, [port.removeprefix("-") for port in ports.values()]),
        )
        matrices = {name: np.asarray(getattr(controller, name)) for name in "ABCD"}
        signs = np.array([-1.0 if port.startswith("-") else 1.0 for port in ports.values()])
        given = {"trim": trim, "largest": largest, "signs": signs, **places}
        common = {"reads": tuple(reads), "period": controller.period, "labels": controller.outputs}
        return LinearController(**matrices, reference=reference, **given, **common, **fields)

    def deviation(self, y: Measurements) -> Vector:
        """Deviation of the measurements from the reference."""
        return jnp.concatenate([jnp.ravel(jnp.asarray(y[name])) for name in self.reads]) - self.reference

    def begin(self, y: Measurements) -> ControllerMemory:
        """Memory at the start, where all deviations are zero."""
        x, waiting = jnp.zeros(len(self.A)), self.late + 1 if self.late else 0
        return ControllerMemory(x, x, jnp.tile(jnp.asarray(self.trim, dtype=float), (waiting, 1)))

    def remember(self, memory: ControllerMemory, y: Measurements, clock: Clock) -> ControllerMemory:
        """Memory at the next sample."""
        x, waiting = memory.coming, memory.waiting
        if self.late:
            waiting = jnp.concatenate([waiting[1:], self._unlimited_commands(x, y)[None]])
        return ControllerMemory(x, jnp.asarray(self.A) @ x + jnp.asarray(self.B) @ self.deviation(y), waiting)

    def _unlimited_commands(self, x: Vector, y: Measurements) -> Vector:
        return jnp.asarray(self.C) @ x + jnp.asarray(self.D) @ self.deviation(y) + self.trim

    def limited_commands(self, memory: ControllerMemory, y: Measurements) -> Vector:
        """All commands within their limits, in the order of the compensator's outputs."""
        u = memory.waiting[0] if self.late else self._unlimited_commands(memory.now, y)
        return jnp.clip(u, -jnp.asarray(self.largest), jnp.asarray(self.largest))

    def command(self, memory: ControllerMemory, y: Measurements, clock: Clock) -> tuple[Command, ...]:
        """Commands to joints, wheels, frames and base."""
        u = jnp.asarray(self.signs) * self.limited_commands(memory, y)
        found: list[Command] = []
        if self.joints:
            found.append(JointTorques(tuple(n for n, _ in self.joints), jnp.stack([u[k] for _, k in self.joints])))
        if self.wheels:
            found.append(WheelTorques(tuple(n for n, _ in self.wheels), jnp.stack([u[k] for _, k in self.wheels])))
        if self.frames:
            names, axes = tuple(n for n, _, _ in self.frames), "".join(axis for _, axis, _ in self.frames)
            found.append(FrameForces(names, jnp.stack([u[k] for _, _, k in self.frames]), axes))
        if self.wrench:
            wrench = jnp.zeros(6)
            for place, k in self.wrench:
                wrench = wrench.at[place].set(u[k])
            found.append(BaseWrench(wrench))
        return tuple(found)

    def channels(self) -> tuple[Channel, ...]:
        """Channel with the commands, by their names."""
        name, axis = self.channel_name("controller.command"), self.channel_name("command")
        return (Channel(name, "Commands of the controller", "", "", axis, self.labels),)

    def observe(self, memory: ControllerMemory, y: Measurements, clock: Clock, truth: object) -> tuple[Vector]:
        """Value of the channel: the commands that are given now."""
        return (self.limited_commands(memory, y),)


def _require_sampled(controller: StateSpace) -> None:
    if controller.period is None:
        raise ModelError("LinearController runs sampled compensators: `sample` the plant before designing.")


def _require_reference(reference: Any, names: Sequence[str]) -> np.ndarray:
    words = f"{len(names)} numbers, one for each measured one ({', '.join(names)})"
    return require_array("The reference", reference, "", (len(names),), words)


def _require_command_numbers(what: str, value: Any, names: Sequence[str], **bounds: Any) -> np.ndarray:
    """Numbers for all commands, from one number or one for each; an error otherwise."""
    given = np.asarray(require_numbers(f"LinearController: {what}", value, "N m, N", **bounds))
    if given.shape not in ((), (1,), (len(names),)):
        raise ModelError(
            f"LinearController: {what} must be one number, or {len(names)}, one for each of {', '.join(names)}, got "
            f"shape {given.shape}."
        )
    return np.broadcast_to(given, len(names)).copy()


def _actuator_rows(craft: Spacecraft, ports: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """Rows of the commands for joints, wheels, wrench and frames; an error for unknown ports."""
    found: dict[str, list[Any]] = {"joints": [], "wheels": [], "wrench": [], "frames": []}
    unknown: list[str] = []
    for row, name in enumerate(ports):
        frame, _, kind = name.rpartition(".force.")
        if name in craft.layout.joints:
            found["joints"].append((name, row))
        elif name in craft.wheel_names:
            found["wheels"].append((name, row))
        elif name in _WRENCH:
            found["wrench"].append((_WRENCH.index(name), row))
        elif frame in craft.frame_names and kind in ("x", "y", "z"):
            found["frames"].append((frame, kind, row))
        else:
            unknown.append(name)
    if unknown:
        known = ", ".join((*craft.layout.joints, *craft.wheel_names, *_WRENCH))
        named = ", ".join(f"'{name}'" for name in unknown)
        raise ModelError(
            f"Spacecraft '{craft.name}' takes no command {named}. Say what is meant by ports={{'{unknown[0]}': ...}}. "
            f"Commands: {known}, and forces at frames, such as '{craft.frame_names[-1]}.force.z'."
        )
    return {name: tuple(rows) for name, rows in found.items()}
