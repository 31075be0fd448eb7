"""Runs of the catalogue with a wrong inertia in the equations of motion alone, at rest or drifting along.

The error is a number in the state of a law that does nothing, so one compilation serves all errors of all bodies.
"""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import jax.numpy as jnp
import numpy as np

import freefloat.sim
import freefloat.sim.simulate
from freefloat.control.laws import Motion, MotionLaw, Remembering
from freefloat.dynamics.inner_motion import first_moment
from freefloat.model import ModalBody, Spacecraft, State
from freefloat.scenarios.scenario import Scenario
from freefloat.sim import Run, Sampled
from freefloat.sim import system as plant
from freefloat.spatial import Pose

driver: Any = sys.modules["freefloat.sim.simulate"]
_PLANTED = ("forward_dynamics", "hybrid_dynamics", "impose_rates")


# ---- a wrong inertia


@dataclasses.dataclass(frozen=True)
class Fault:
    """A law that does nothing; it carries the relative errors of the inertias, one for each body."""

    craft: Spacecraft
    errors: np.ndarray

    def begin(self, state: State) -> Fault:
        return self

    def memory(self) -> Any:
        return {"errors": np.asarray(self.errors, dtype=float)}

    def remember(self, memory: Any, state: State, t: Any, hold: float) -> Any:
        return memory

    def recall(self, memory: Any) -> Fault:
        return self

    def force(self, state: State, t: Any, hold: float) -> Any:
        return jnp.zeros(self.craft.layout.nv)


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
    """While this lasts, accelerations come from the spacecraft with errors; momentum and energy from the right one."""
    right = {name: getattr(plant, name) for name in _PLANTED}
    entered = {name: getattr(plant, name) for name in ("balance", "with_prescribed_rates")}

    def wrongly(function: Any, held_at: int) -> Any:
        def call(system: Any, *rest: Any) -> Any:
            memory, _ = rest[held_at][-1]
            before = {name: getattr(plant, name) for name in _PLANTED}
            wrong = with_errors(system.craft, [memory["errors"][i] for i in range(len(system.craft.bodies))])
            for name in _PLANTED:
                setattr(plant, name, lambda craft, *a, f=right[name]: f(wrong, *a))
            try:
                return function(system, *rest)
            finally:
                for name in _PLANTED:
                    setattr(plant, name, before[name])

        return call

    try:
        for name, function in entered.items():
            setattr(plant, name, wrongly(function, 1))
        observing = sys.modules["freefloat.sim.run_channels"]
        observing.balance = plant.balance  # type: ignore[attr-defined]
        yield
    finally:
        for name, function in (entered | right).items():
            setattr(plant, name, function)
        sys.modules["freefloat.sim.run_channels"].balance = entered["balance"]  # type: ignore[attr-defined]


# ---- drift


class Drifting:
    """A law that lives in a frame drifting at a velocity: what it sees, paths and targets included, moves along."""

    def __init__(self, law: Any, craft: Spacecraft, velocity: np.ndarray) -> None:
        self.law, self.craft, self.velocity = law, craft, velocity

    def begin(self, state: State) -> Any:
        return along(self.law.begin(_still(state, self.velocity, 0.0)), self.craft, self.velocity)


class _Moves(Drifting):
    @property
    def joints(self) -> tuple[str, ...]:
        return self.law.joints

    def rates(self, motion: Motion, t: Any, hold: float) -> Any:
        moved, mass = jnp.asarray(self.velocity) * t, self.craft.mass
        X_NB = Pose.from_quaternion(motion.quat_NB, motion.p_NB)
        com = X_NB.apply(first_moment(self.craft, motion.q) / mass)
        P, L = motion.momentum[:3], motion.momentum[3:]
        L = L - jnp.cross(moved, P) - mass * jnp.cross(com, self.velocity)
        seen = dataclasses.replace(
            motion, p_NB=motion.p_NB - moved, momentum=jnp.concatenate([P - mass * self.velocity, L])
        )
        return self.law.rates(seen, t, hold)


class _Pushes(Drifting):
    def force(self, state: State, t: Any, hold: float) -> Any:
        return self.law.force(_still(state, self.velocity, t), t, hold)


class _Remembers(Drifting):
    def memory(self) -> Any:
        return self.law.memory()

    def remember(self, memory: Any, state: State, t: Any, hold: float) -> Any:
        return self.law.remember(memory, _still(state, self.velocity, t), t, hold)

    def recall(self, memory: Any) -> Any:
        return along(self.law.recall(memory), self.craft, self.velocity)


class _Samples(Drifting):
    def memory(self) -> Any:
        return self.law.memory()

    def sample(self, memory: Any, state: State, t: Any, hold: float) -> Any:
        return self.law.sample(memory, _still(state, self.velocity, t), t, hold)


class _MovesAndRemembers(_Moves, _Remembers):
    pass


class _PushesAndRemembers(_Pushes, _Remembers):
    pass


def along(law: Any, craft: Spacecraft, velocity: np.ndarray) -> Any:
    """The law in the drifting frame."""
    if isinstance(law, Sampled):
        return Sampled(law=along(law.law, craft, velocity), period=law.period)
    if hasattr(law, "sample"):
        return _Samples(law, craft, velocity)
    moves, remembers = isinstance(law, MotionLaw), isinstance(law, Remembering)
    kinds = {(True, False): _Moves, (True, True): _MovesAndRemembers, (False, False): _Pushes}
    return kinds.get((moves, remembers), _PushesAndRemembers)(law, craft, velocity)


def _still(state: State, velocity: np.ndarray, t: Any) -> State:
    """The same state seen from the drifting frame."""
    v = jnp.asarray(state.v).at[:3].add(-(state.X_NB.R.T @ velocity))
    return dataclasses.replace(state, p_NB=state.p_NB - velocity * t, v=v)


# ---- runs


@contextmanager
def compiled_once(made: dict[str, Any]) -> Iterator[None]:
    """While this lasts, the step and the observer of a run are kept in `made` and used again."""
    kept = {name: getattr(driver, name) for name in ("Recorder", "fixed_step")}

    def once(name: str) -> Any:
        def make(*args: Any) -> Any:
            if name not in made:
                made[name] = kept[name](*args)
            return made[name]

        return make

    try:
        for name in kept:
            setattr(driver, name, once(name))
        yield
    finally:
        for name, function in kept.items():
            setattr(driver, name, function)


class FaultyRuns:
    """A scenario of the catalogue, drifting, compiled once and run with any errors of its inertias."""

    def __init__(self, scenario: Scenario, drift: float) -> None:
        self.scenario = scenario
        self.velocity = drift * np.array([0.6, -0.48, 0.64])  # [m/s], in no special direction
        self.made: dict[str, Any] = {}
        self.craft: Spacecraft | None = None

    def run(self, body: str | None = None, error: float = 0.0) -> Run:
        """With one body's inertia too large by a relative error."""
        simulate = freefloat.sim.simulate

        def drifting(craft: Spacecraft, *laws: Any, **options: Any) -> Run:
            self.craft = craft
            start = driver._start(craft, *(options.pop(n, None) for n in ("state", "joints", "joints_deg")))
            v = np.array(start.v, dtype=float)
            v[:3] += np.asarray(start.X_NB.R.T @ self.velocity)
            errors = np.array([error if b.name == body else 0.0 for b in craft.bodies])
            moved = [along(law, craft, self.velocity) for law in laws] if self.velocity.any() else list(laws)
            return simulate(
                craft, *moved, Fault(craft, errors), state=dataclasses.replace(start, v=v), check=False, **options
            )

        try:
            freefloat.sim.simulate = drifting
            with planted(), compiled_once(self.made):
                return self.scenario.simulate()
        finally:
            freefloat.sim.simulate = simulate
