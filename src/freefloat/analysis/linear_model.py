"""The linear model of an experiment by exact derivatives: its world with effects and software, names on every row."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any
from weakref import WeakKeyDictionary

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import centre_of_mass
from freefloat.dynamics.state_rate import StateRate, retract
from freefloat.effects import GravityGradient
from freefloat.model import Clock, Effect, Software, Spacecraft, State, Truth
from freefloat.sensors.ideal import true_value
from freefloat.sim.experiment import Experiment
from freefloat.sim.kernel import run_tick
from freefloat.sim.motion.accelerations import derivative
from freefloat.sim.start import begin, zero_inputs
from freefloat.sim.system.system import System, tick_of
from freefloat.spatial import angular
from freefloat.spatial.rotations import dexp_inverse, rotation_exp
from freefloat.values import record
from freefloat.values.arrays import Numeric, Vector
from freefloat.values.compiler import compile_function
from freefloat.values.errors import ModelError
from freefloat.values.short_text import TextDisplay, names_line
from freefloat.values.suggestions import did_you_mean

_AXES = "xyz"
_ON_ORBIT = 1e-6  # [m]


@dataclass(frozen=True)
class LinearModel(TextDisplay):
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
    notes: tuple[str, ...] = ()  # how software entered it, and where centres of mass are in orbit

    @property
    def poles(self) -> np.ndarray:
        """Eigenvalues of A [1/s]."""
        return np.linalg.eigvals(self.A)

    def submodel(self, *, states: Sequence[str] | None = None, inputs: Sequence[str] | None = None) -> LinearModel:
        """Model with only some of the states or inputs; the other states are assumed to stay zero."""
        rows = _name_indices("state", self.states, states)
        columns = _name_indices("input", self.inputs, inputs)
        return dataclasses.replace(
            self,
            A=self.A[np.ix_(rows, rows)],
            B=self.B[np.ix_(rows, columns)],
            C=self.C[:, rows],
            D=self.D[:, columns],
            states=tuple(self.states[k] for k in rows),
            inputs=tuple(self.inputs[k] for k in columns),
        )

    def __repr__(self) -> str:
        return f"<{str(self).partition(chr(10))[0]}>"

    def __str__(self) -> str:
        sizes = f"{len(self.states)} states, {len(self.inputs)} inputs, {len(self.outputs)} outputs"
        listed = zip(("state", "input", "output"), (self.states, self.inputs, self.outputs), strict=True)
        return "\n".join((f"Linear model: {sizes}", *(names_line(*names) for names in listed), *self.notes))


def _name_indices(kind: str, known: Sequence[str], names: Sequence[str] | None) -> list[int]:
    if unknown := [name for name in names or () if name not in known]:
        listed = f"{kind.capitalize()}s: {', '.join(known)}.{did_you_mean(unknown[0], known)}"
        raise ModelError(f"The linear model has no {kind} '{unknown[0]}'. {listed}")
    return [known.index(name) for name in known if names is None or name in names]


@record
class _Push(Effect):
    """A generalised force by which the model is differentiated."""

    values: Vector

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> Vector:
        """Generalised force of this effect, in the order of v."""
        return jnp.asarray(self.values)


def linearise(
    experiment: Experiment, *, inputs: Sequence[str] | None = None, outputs: Sequence[str] | None = None
) -> LinearModel:
    """Linear model about the start of an experiment, with the world, effects and software of that instant.

    Inputs are forces and torques added to those that act: on the base (`base.force.x`, `base.torque.z`, base axes), at
    joints and wheels by their names; all of them by default. Outputs are measurements by name; by default the states.
    Sampled software is taken as continuous where it commands torques, and holds its first command where it commands
    rates. Memories keep their first value.
    """
    derivatives = _derivatives_of(experiment.system, experiment.start)
    system, wanted = derivatives.system, None if outputs is None else tuple(outputs)
    sizes, forces = _sizes(system)
    states = tuple(name for c in range(len(sizes)) for name in _state_names(system, c))
    every = tuple(name for c in range(len(sizes)) for name in _input_names(system, c))
    directions = np.eye(sum(sizes) + sum(forces))
    rates = derivatives.along(experiment.start, directions)
    A, B = rates[: sum(sizes)].T, rates[sum(sizes) :].T
    names, C = states, np.eye(len(states))
    if wanted is not None:
        names = _output_names(system, experiment.start, wanted)
        C = derivatives.along(experiment.start, directions[: sum(sizes), : sum(sizes)], wanted).T
    notes = (*derivatives.notes, *_orbit_notes(system, experiment.start))
    model = LinearModel(A, B, C, np.zeros((len(names), B.shape[1])), states, every, names, notes)
    return model.submodel(inputs=inputs or [name for name in every if not name.endswith("force of mode")])


def _orbit_notes(system: System, start: tuple[State, ...]) -> Iterator[str]:
    """Notes on the distance of each centre of mass from the orbit, if gravity acts; N's origin moves on the orbit."""
    if not any(isinstance(effect, GravityGradient) for effect in system.effects):
        return
    for name, craft, state in zip(system.world.names, system.world.crafts, start, strict=True):
        away = float(np.linalg.norm(state.X_NB.apply(centre_of_mass(craft, state.q))))
        place = "on the orbit" if away < _ON_ORBIT else f"{away:.3g} m from the orbit, where gravity pushes it"
        yield f"The centre of mass of '{name}' is {place}."


# ---- derivatives

_derivatives_cache: WeakKeyDictionary[System, _Derivatives] = WeakKeyDictionary()


def _derivatives_of(system: System, start: tuple[State, ...]) -> _Derivatives:
    """Compiled derivatives of a system, cached as long as the system exists (its records do not change)."""
    if system not in _derivatives_cache:
        _derivatives_cache[system] = _Derivatives(*_continuous_system(system, start))
    return _derivatives_cache[system]


class _Derivatives:
    """Derivatives of functions of a system by small deviations from its start; each function is compiled once."""

    def __init__(self, system: System, notes: tuple[str, ...]) -> None:
        self.system, self.notes = system, notes
        self._programs: dict[tuple[str, ...] | None, Any] = {}

    def along(
        self, start: tuple[State, ...], directions: np.ndarray, outputs: tuple[str, ...] | None = None
    ) -> np.ndarray:
        """Derivative of the rates of the deviation, or of the outputs, along each direction; one row per direction."""
        function = _deviation_rates if outputs is None else partial(_output_values, names=outputs)
        if outputs not in self._programs:
            example = start, np.zeros(directions.shape[1])
            self._programs[outputs] = compile_function(partial(_change, function), self.system, *example)
        program = self._programs[outputs]
        if program is None:  # the compiler does not support it, JAX does
            each = jax.vmap(lambda direction: _change(function, self.system, start, direction))
            return np.asarray(jax.jit(each)(jnp.asarray(directions)))
        return program.batch(start, directions, in_axes=(None, 0))


def _change(function: Any, system: System, start: tuple[State, ...], direction: Vector) -> Vector:
    """Derivative of `function(system, start, deviation)` along one direction."""
    return jax.jvp(partial(function, system, start), (jnp.zeros(direction.shape),), (direction,))[1]


def _deviation_rates(system: System, start: tuple[State, ...], deviation: Vector) -> Vector:
    """Rate of a deviation (dx, du) from the start."""
    system, state = begin(system, start)
    tick, nothing = tick_of(system, state), zero_inputs(system)
    state = run_tick(system, state, nothing, tick)
    sizes, forces = _sizes(system)
    dx, du = deviation[: sum(sizes)], deviation[sum(sizes) :]
    pushed, steps = _with_pushes(system, jnp.split(du, np.cumsum(forces)[:-1])), _steps(system, dx)
    plants = state.plants.with_states(retract(*pair) for pair in zip(state.states, steps, strict=True))
    found = derivative(pushed, plants, state, nothing, tick, tick.t, tick.t)
    rates = zip(state.plants, steps, found.crafts, strict=True)
    return jnp.concatenate([_deviation_rate(at.state, step, rate.state).vector() for at, step, rate in rates])


def _output_values(system: System, start: tuple[State, ...], deviation: Vector, *, names: tuple[str, ...]) -> Vector:
    """Values of the measurements `names`, concatenated, at a deviation from the start."""
    moved = tuple(retract(state, step) for state, step in zip(start, _steps(system, deviation), strict=True))
    return jnp.concatenate(
        [jnp.ravel(true_value(Truth(system.world, moved, quantities=system.quantities), name)) for name in names]
    )


def _sizes(system: System) -> tuple[list[int], list[int]]:
    """Numbers of states, and of forces, of each spacecraft."""
    layouts = [craft.layout for craft in system.world.crafts]
    return [6 + layout.nq + layout.nv for layout in layouts], [layout.nv for layout in layouts]


def _continuous_system(system: System, start: tuple[State, ...]) -> tuple[System, tuple[str, ...]]:
    """System in which sampled software that commands torques acts continuously, and notes about it for the user."""
    software, notes = [], []
    wired, _ = begin(system, start)
    for part, wires in zip(system.software, wired.wiring.software, strict=True):
        if part.period is None:
            software.append(part)
        elif wires.prescribes:
            software.append(part)
            notes.append(f"{part.title} holds its first rates.")
        else:
            software.append(dataclasses.replace(part, period=None))
            notes.append(f"{part.title}, sampled every {part.period:g} s, is taken as continuous.")
        if type(part).remember is not Software.remember:
            notes.append(f"{part.title} keeps the memory that it begins with.")
    return dataclasses.replace(system, software=tuple(software)), tuple(notes)


def _with_pushes(system: System, forces: list[Vector]) -> System:
    pushes = tuple(_Push(values=f, on=name) for f, name in zip(forces, system.world.names, strict=True))
    if system.world.single:
        pushes = tuple(dataclasses.replace(push, on="") for push in pushes)
    return dataclasses.replace(system, effects=(*system.effects, *pushes))


def _steps(system: System, dx: Vector) -> list[StateRate]:
    parts = jnp.split(dx, np.cumsum(_sizes(system)[0])[:-1])
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


def _output_names(system: System, start: tuple[State, ...], outputs: tuple[str, ...]) -> tuple[str, ...]:
    """A name for every number of the outputs."""

    def value(states: tuple[State, ...], name: str) -> Numeric:
        return true_value(Truth(system.world, states, quantities=system.quantities), name)

    shapes = [jax.eval_shape(lambda s, name=name: value(s, name), start) for name in outputs]
    return tuple(
        f"{name}.{k + 1}" if size != 3 else f"{name}.{_AXES[k]}"
        for name, size in ((name, int(np.prod(shape.shape))) for name, shape in zip(outputs, shapes, strict=True))
        for k in range(size)
    )
