"""Runs of the catalogue with a wrong inertia in the equations of motion alone, at rest or drifting along.

The error is a number in the state of software that does nothing, so one compilation serves all errors of all bodies.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import jax.numpy as jnp
import numpy as np

from freefloat.control.measured import measured_positions
from freefloat.dynamics.inner_motion import first_moment
from freefloat.engine import traced_anew
from freefloat.model import Clock, Effect, Measurements, ModalBody, Software, Spacecraft, State, Truth, World
from freefloat.scenarios.scenario import Scenario
from freefloat.sim import Experiment, Run, assemble, kernel, run_driver, simulate
from freefloat.sim.motion import accelerations as balance
from freefloat.sim.motion import constraint_forces, forces_before, prescribed_motion
from freefloat.spatial import Pose
from freefloat.spatial.rotations import rotation_matrix
from freefloat.values import record, static
from freefloat.values.arrays import Vec3

_PLANTED: tuple[tuple[Any, str], ...] = (
    (balance, "forward_dynamics"),
    (balance, "hybrid_dynamics"),
    (constraint_forces, "held_motion"),
    (prescribed_motion, "impose_rates"),
)


# ---- a wrong inertia


@record
class Fault(Software):
    """Does nothing; it carries the relative errors of the inertias, one for each body of its spacecraft."""

    errors: np.ndarray

    def begin(self, y: Measurements) -> Any:
        return {"errors": np.asarray(self.errors, dtype=float)}


def with_errors(craft: Spacecraft, errors: Any) -> Spacecraft:
    """The same spacecraft with the inertia of each body about its centre of mass too large by an error."""
    bodies = []
    for body, error in zip(craft.bodies, errors, strict=True):
        if isinstance(body, ModalBody):
            central = np.asarray(body.second_moment) - body.mass * np.outer(body.com, body.com)
            bodies.append(dataclasses.replace(body, second_moment=body.second_moment + error * central))
        else:
            bodies.append(dataclasses.replace(body, inertia=body.inertia * (1.0 + error)))
    return dataclasses.replace(craft, bodies=tuple(bodies))


@contextmanager
def planted() -> Iterator[None]:
    """While this lasts, accelerations come from the spacecraft with errors; momentum and energy from the right one.

    The last software of the system must be the `Fault`.
    """
    right = {name: getattr(module, name) for module, name in _PLANTED}
    entered: dict[tuple[Any, str], int] = {
        (balance, "balances"): 2,
        (forces_before, "balances"): 2,
        (kernel, "run_tick"): 1,
    }  # place of the state
    functions = {place: getattr(*place) for place in entered}

    def wrongly(function: Any, place: int) -> Any:
        def call(*arguments: Any, **options: Any) -> Any:
            system, state = arguments[0], arguments[place]
            faulty = system.spacecraft_of(system.software[-1])
            errors = state.software[-1].memory["errors"]
            wrong = with_errors(faulty, [errors[i] for i in range(len(faulty.bodies))])
            before = {(module, name): getattr(module, name) for module, name in _PLANTED}
            for module, name in _PLANTED:
                setattr(module, name, _with_another(right[name], faulty, wrong))
            try:
                return function(*arguments, **options)
            finally:
                for (module, name), function_before in before.items():
                    setattr(module, name, function_before)

        return call

    try:
        for (module, name), place in entered.items():
            setattr(module, name, wrongly(functions[module, name], place))
        with traced_anew():
            yield
    finally:
        for (module, name), function in functions.items():
            setattr(module, name, function)


def _with_another(function: Any, faulty: Spacecraft, wrong: Spacecraft) -> Any:
    """A function of a spacecraft, or of several, with one of them replaced."""

    def call(crafts: Any, *arguments: Any, **options: Any) -> Any:
        several = crafts if isinstance(crafts, tuple) else (crafts,)
        replaced = tuple(wrong if craft is faulty else craft for craft in several)
        return function(replaced if isinstance(crafts, tuple) else replaced[0], *arguments, **options)

    return call


# ---- drift


@record
class DriftingSoftware(Software):
    """Software that lives in a frame drifting at a velocity: what it sees, paths and targets included, moves along."""

    software: Software
    craft: Spacecraft  # that it is on
    velocity: Vec3  # [m/s]
    frames: tuple[str, ...] = static()  # as it calls them: `hand`, `target.handle`

    @property
    def fastest_rate(self) -> Any:
        return self.software.fastest_rate

    def check(self, craft: Spacecraft) -> None:
        self.software.check(craft)

    def begin(self, y: Measurements) -> Any:
        return self.software.begin(Still(self, y, 0.0))

    def remember(self, memory: Any, y: Measurements, clock: Clock) -> Any:
        return self.software.remember(memory, Still(self, y, clock.t), clock)

    def command(self, memory: Any, y: Measurements, clock: Clock) -> Any:
        return self.software.command(memory, Still(self, y, clock.t), clock)

    def tell(self, memory: Any, y: Measurements, clock: Clock) -> Mapping[str, Any]:
        return self.software.tell(memory, Still(self, y, clock.t), clock)

    def channels(self) -> Any:
        return self.software.channels()

    def observe(self, memory: Any, y: Measurements, clock: Clock, truth: Truth) -> Any:
        states = tuple(_still(state, self.velocity, clock.t) for state in truth.states)
        truth = dataclasses.replace(truth, states=states)
        return self.software.observe(memory, Still(self, y, clock.t), clock, truth)


class Still:
    """Measurements as they are in the drifting frame."""

    def __init__(self, of: DriftingSoftware, y: Measurements, t: Any) -> None:
        self._of, self._y, self._t = of, y, t

    def __getitem__(self, name: str) -> Any:
        y, velocity = self._y, jnp.asarray(self._of.velocity)
        owner, _, kind = name.rpartition(".")
        value, mass = y[name], self._of.craft.mass
        if name == "momentum.linear":
            return value - mass * velocity
        if name == "momentum.angular":
            X_NB = Pose.from_quaternion(y["base.attitude"], y["base.position"])
            com = X_NB.apply(first_moment(self._of.craft, measured_positions(self._of.craft, y)) / mass)
            return value - self._t * jnp.cross(velocity, y["momentum.linear"]) - mass * jnp.cross(com, velocity)
        if owner == "base" or owner in self._of.frames:
            if kind == "position":
                return value - velocity * self._t
            if kind == "velocity":
                on_base = owner == "base" or owner.endswith(".base")
                turned = rotation_matrix(jnp.asarray(y[f"{owner}.attitude"])).T if on_base else jnp.eye(3)
                return value - turned @ velocity
        return value

    def valid(self, name: str) -> Any:
        return self._y.valid(name)

    def taken(self, name: str) -> Any:
        return self._y.taken(name)


@record
class DriftingEffect(Effect):
    """An effect that lives in a drifting frame."""

    effect: Effect
    velocity: Vec3  # [m/s]

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> Any:
        return self.effect.force(craft, _still(state, self.velocity, clock.t), clock)

    def channels(self, craft: Spacecraft) -> Any:
        return self.effect.channels(craft)

    def observe(self, craft: Spacecraft, state: State, clock: Clock) -> Any:
        return self.effect.observe(craft, _still(state, self.velocity, clock.t), clock)


def _still(state: State, velocity: Vec3, t: Any) -> State:
    """The same state seen from the drifting frame."""
    v = jnp.asarray(state.v).at[:3].add(-(state.X_NB.R.T @ velocity))
    return dataclasses.replace(state, p_NB=state.p_NB - velocity * t, v=v)


def along(part: Any, world: World, velocity: np.ndarray) -> Any:
    """A part in the drifting frame; sensors measure what does not depend on it, or software sees it corrected."""
    given = {"on": part.on, "name": part.name}
    if isinstance(part, Effect):
        return DriftingEffect(part, velocity, **given)
    if not isinstance(part, Software):
        return part
    own = world.index(part.on)
    frames = [
        ("" if c == own else world.prefix(c)) + name
        for c, craft in enumerate(world.crafts)
        for name in craft.frame_names
    ]
    return DriftingSoftware(part, world.crafts[own], velocity, tuple(frames), period=part.period, **given)


# ---- runs


@contextmanager
def compiled_once(made: dict[str, Any]) -> Iterator[None]:
    """While this lasts, the step and the observer of a run are kept in `made` and used again."""
    kept = {name: getattr(run_driver, name) for name in ("Recorder", "FixedSteps")}

    def once(name: str) -> Any:
        def make(*args: Any) -> Any:
            if name not in made:
                made[name] = kept[name](*args)
            return made[name]

        return make

    try:
        for name in kept:
            setattr(run_driver, name, once(name))
        yield
    finally:
        for name, function in kept.items():
            setattr(run_driver, name, function)


class FaultyExperiment:
    """An experiment that is compiled once and run with any errors of the inertias of one spacecraft.

    Where there are several it is the first one, which the experiment is about.
    """

    def __init__(self, experiment: Experiment) -> None:
        self.made: dict[str, Any] = {}
        self.experiment, self.craft = experiment, experiment.world.crafts[0]

    def run(self, body: str | None = None, error: float = 0.0) -> Run:
        """With one body's inertia too large by a relative error."""
        errors = np.array([error if one.name == body else 0.0 for one in self.craft.bodies])
        faulty = self.experiment.with_parts(Fault(errors, on=self.experiment.world.names[0]))
        with planted(), compiled_once(self.made):
            return simulate(faulty, check=False)


class FaultyRuns(FaultyExperiment):
    """A scenario of the catalogue, drifting."""

    def __init__(self, scenario: Scenario, drift: float) -> None:
        self.velocity = drift * np.array([0.6, -0.48, 0.64])  # [m/s], in no special direction
        super().__init__(self._drifting(scenario.build()))

    def _drifting(self, experiment: Experiment) -> Experiment:
        world, parts, start = experiment.world, experiment.system.parts, experiment.start
        if not self.velocity.any():
            return experiment
        system = assemble(world, [along(part, world, self.velocity) for part in parts], experiment.dt)
        return dataclasses.replace(experiment, system=system, start=tuple(map(self._moved, start)))

    def _moved(self, state: State) -> State:
        v = np.array(state.v, dtype=float)
        v[:3] += np.asarray(state.X_NB.R.T @ self.velocity)
        return dataclasses.replace(state, v=v)
