"""The linear model of an experiment by exact derivatives: its world with effects and software, names on every row."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics.state_rate import StateRate, retract
from freefloat.model import Clock, Effect, Software, Spacecraft, State, Truth
from freefloat.sensors.ideal import true_value
from freefloat.sim.balance import derivative
from freefloat.sim.experiment import Experiment
from freefloat.sim.loop import act
from freefloat.sim.starting import begin, zero_inputs
from freefloat.sim.system import System, SystemState
from freefloat.sim.tick import tick_of
from freefloat.spatial import angular
from freefloat.spatial.rotations import dexp_inverse, rotation_exp
from freefloat.values import record
from freefloat.values.arrays import Vector
from freefloat.values.errors import ModelError

_AXES = "xyz"


@dataclass(frozen=True)
class LinearModel:
    """d/dt dx = A dx + B du, dy = C dx + D du about the start of an experiment, in SI units.

    dx: displacement of each base in N axes, its rotation in base axes, joints and modes, then all speeds.
    """

    A: np.ndarray
    B: np.ndarray
    C: np.ndarray
    D: np.ndarray
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    notes: tuple[str, ...] = ()  # how software entered it

    @property
    def poles(self) -> np.ndarray:
        """Eigenvalues of A [1/s]."""
        return np.linalg.eigvals(self.A)

    def part(self, *, states: Sequence[str] | None = None, inputs: Sequence[str] | None = None) -> LinearModel:
        """The same model with some of its states or inputs only; the other states are taken to stay zero."""
        rows = _places("state", self.states, states)
        columns = _places("input", self.inputs, inputs)
        return dataclasses.replace(
            self,
            A=self.A[np.ix_(rows, rows)],
            B=self.B[np.ix_(rows, columns)],
            C=self.C[:, rows],
            D=self.D[:, columns],
            states=tuple(self.states[k] for k in rows),
            inputs=tuple(self.inputs[k] for k in columns),
        )

    def __str__(self) -> str:
        sizes = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        return "\n".join((f"Linear model: {sizes}", *self.notes))


def _places(kind: str, known: Sequence[str], names: Sequence[str] | None) -> list[int]:
    if unknown := [name for name in names or () if name not in known]:
        raise ModelError(f"The linear model has no {kind} '{unknown[0]}'. {kind.capitalize()}s: {', '.join(known)}.")
    return [known.index(name) for name in known if names is None or name in names]


@record
class _Push(Effect):
    """A generalised force that is varied."""

    values: Vector

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> Vector:
        """As given."""
        return jnp.asarray(self.values)


def linearise(
    experiment: Experiment, *, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None
) -> LinearModel:
    """The linear model about the start of an experiment, as its world, effects and software have it then.

    Inputs are forces and torques added to those that act: on the base (`base.force.x`, `base.torque.z`, base axes), at
    joints and wheels by their names; all of them by default. Outputs are measurements by name; by default the states.
    Sampled torque laws are taken as continuous and memories as they begin; sampled rate laws hold their first answer.
    """
    system, notes = _continuous(experiment)
    system, loop = begin(system, experiment.start)
    tick, nothing = tick_of(system, loop), zero_inputs(system)
    loop = act(system, loop, nothing, tick)
    sizes = [6 + craft.layout.nq + craft.layout.nv for craft in system.world.crafts]
    forces = [craft.layout.nv for craft in system.world.crafts]

    def rate(dx: Vector, du: Vector) -> Vector:
        pushed = _with_pushes(system, jnp.split(du, np.cumsum(forces)[:-1]))
        steps = _steps(system, dx, sizes)
        plants = tuple(
            dataclasses.replace(plant, state=retract(plant.state, step))
            for plant, step in zip(loop.plants, steps, strict=True)
        )
        found = derivative(pushed, plants, loop, nothing, tick, tick.t, tick.t)
        return jnp.concatenate(
            [
                _deviation_rate(plant.state, step, found_plant.state).vector()
                for plant, step, found_plant in zip(loop.plants, steps, found.plants, strict=True)
            ]
        )

    states = tuple(name for c in range(len(sizes)) for name in _state_names(system, c))
    every = tuple(name for c in range(len(sizes)) for name in _input_names(system, c))
    origin = jnp.zeros(sum(sizes)), jnp.zeros(sum(forces))
    A, B = (np.asarray(x) for x in jax.jit(jax.jacfwd(rate, argnums=(0, 1)))(*origin))
    names, C = _outputs(system, loop, states, outputs, sizes)
    model = LinearModel(A, B, C, np.zeros((len(names), B.shape[1])), states, every, names, notes)
    return model.part(inputs=inputs or [name for name in every if not name.endswith("force of mode")])


def _continuous(experiment: Experiment) -> tuple[System, tuple[str, ...]]:
    """The system with sampled torque laws asked all the time."""
    system, software, notes = experiment.system, [], []
    wired, _ = begin(system, experiment.start)
    for law, wires in zip(system.software, wired.wiring.software, strict=True):
        if law.period is None:
            software.append(law)
        elif wires.prescribes:
            software.append(law)
            notes.append(f"{law.title} holds its first rates.")
        else:
            software.append(dataclasses.replace(law, period=None))
            notes.append(f"{law.title}, sampled every {law.period:g} s, is taken as continuous.")
        if type(law).remember is not Software.remember:
            notes.append(f"{law.title} keeps the memory that it begins with.")
    return dataclasses.replace(system, software=tuple(software)), tuple(notes)


def _with_pushes(system: System, forces: list[Vector]) -> System:
    pushes = tuple(_Push(values=f, on=name) for f, name in zip(forces, system.world.names, strict=True))
    if system.world.single:
        pushes = tuple(dataclasses.replace(push, on="") for push in pushes)
    return dataclasses.replace(system, effects=(*system.effects, *pushes))


def _steps(system: System, dx: Vector, sizes: list[int]) -> list[StateRate]:
    parts = jnp.split(dx, np.cumsum(sizes)[:-1])
    return [StateRate.from_vector(x, craft.layout.nq) for x, craft in zip(parts, system.world.crafts, strict=True)]


def _deviation_rate(reference: State, step: StateRate, rate: StateRate) -> StateRate:
    """Rate of a deviation from a reference that keeps its twist: the error turns with the difference of the rates."""
    turn = dexp_inverse(step.turn, rate.turn - rotation_exp(step.turn).T @ angular(reference.V_NB))
    return dataclasses.replace(rate, turn=turn)


# ---- names


def _state_names(system: System, c: int) -> list[str]:
    layout, prefix = system.world.crafts[c].layout, system.world.prefix(c)
    names = [f"base.{kind}.{axis}" for kind in ("position", "rotation") for axis in _AXES]
    for name in layout.order("q"):
        names += _entries(name, layout.position(name))
    names += [f"base.{kind}.{axis}" for kind in ("velocity", "rate") for axis in _AXES]
    for name in layout.order("v")[1:]:
        names += [f"{entry} rate" for entry in _entries(name, layout.velocity(name))]
    return [prefix + name for name in names]


def _input_names(system: System, c: int) -> list[str]:
    layout, prefix = system.world.crafts[c].layout, system.world.prefix(c)
    names = [f"base.{kind}.{axis}" for kind in ("force", "torque") for axis in _AXES]
    for name in layout.order("v")[1:]:
        modal = name not in layout.joints and name not in layout.wheels
        names += [f"{entry} force of mode" if modal else entry for entry in _entries(name, layout.velocity(name))]
    return [prefix + name for name in names]


def _entries(name: str, place: slice) -> list[str]:
    count = place.stop - place.start
    if name.endswith(".modes"):
        return [f"{name} {k + 1}" for k in range(count)]
    return [name] * count


def _outputs(
    system: System, loop: SystemState, states: tuple[str, ...], outputs: Sequence[str] | None, sizes: list[int]
) -> tuple[tuple[str, ...], np.ndarray]:
    """Names of the outputs, and how they depend on the states."""
    if outputs is None:
        return states, np.eye(len(states))

    def measured(dx: Vector) -> list[Vector]:
        steps = _steps(system, dx, sizes)
        moved = tuple(retract(plant.state, step) for plant, step in zip(loop.plants, steps, strict=True))
        return [jnp.ravel(true_value(Truth(system.world, moved), name)) for name in outputs]

    rows = jax.jit(jax.jacfwd(measured))(jnp.zeros(sum(sizes)))
    names = [
        f"{name}.{k + 1}" if len(row) != 3 else f"{name}.{_AXES[k]}"
        for name, row in zip(outputs, rows, strict=True)
        for k in range(len(row))
    ]
    return tuple(names), np.concatenate([np.asarray(row) for row in rows])
