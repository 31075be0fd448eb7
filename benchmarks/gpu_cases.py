"""The steps that are measured on a GPU: plants alone, and every scenario of the catalogue in closed loop.

`export` writes for each a traced graph, some starts, and where native code comes to from them: all that a machine with
a card, but without the rest of this package's dependencies, needs to run and to judge them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flexible import hub, servicer
from gpu import difference
from plant import plant_step

from freefloat import engine
from freefloat.library import ets7
from freefloat.model import Clock, Effect, Spacecraft, State, World
from freefloat.scenarios import SCENARIOS, Scenario
from freefloat.sim import Experiment, SystemState, begin, step
from freefloat.values import record

STARTS = 64
STEPS = 200

Step = tuple[Any, ...]  # the function, a state of it, and held arguments if it has any
_ROWS, _COLUMNS = np.triu_indices(3)


def closed_loop(scenario: Scenario) -> Step:
    """One tick of a scenario, and its start."""
    experiment = scenario.build()
    system, loop = begin(experiment.system, experiment.start)
    return (lambda loop: step(system, loop, {})), jax.tree.map(np.asarray, loop)


def vibrating(craft: Spacecraft) -> Step:
    """A spacecraft's plant alone, hardly moving."""
    function, plant = plant_step(craft)
    state = dataclasses.replace(plant.state, q=0.01 * plant.state.q, v=0.01 * plant.state.v)
    return function, dataclasses.replace(plant, state=state)


def with_numbers(craft: Spacecraft) -> Step:
    """The plant with mass, centre of mass and inertia of every body as numbers of each instance."""
    numbers = np.stack([np.hstack([b.mass, b.com, np.asarray(b.inertia)[_ROWS, _COLUMNS]]) for b in craft.bodies])

    def function(plant: Any, rows: jax.Array) -> Any:
        bodies = []
        for body, row in zip(craft.bodies, rows, strict=True):
            upper = jnp.zeros((3, 3)).at[_ROWS, _COLUMNS].set(row[4:])
            inertia = upper + jnp.triu(upper, 1).T
            bodies.append(dataclasses.replace(body, mass=row[0], com=row[1:4], inertia=inertia))
        return plant_step(dataclasses.replace(craft, bodies=tuple(bodies)))[0](plant)

    return function, plant_step(craft)[1], numbers


@record
class Weight(Effect):
    """9.81 m/s2 along -z of N."""

    def force(self, craft: Spacecraft, state: State, clock: Clock) -> jax.Array:
        return jnp.zeros(craft.layout.nv).at[:3].set(craft.mass * (state.X_NB.R.T @ jnp.array([0.0, 0.0, -9.81])))


def bouncing() -> Step:
    """A ball that bounces on a floor: each instance meets it at instants of its own."""
    ball = Spacecraft.from_base("ball", mass=2.0, inertia=(0.1, 0.1, 0.1))
    world = World.of(ball).contact("floor", "base", "N", radius=0.1, restitution=0.7)
    above = dataclasses.replace(ball.at_rest(), p_NB=np.array([0.0, 0.0, 1.1]))
    system, loop = Experiment.of(world, Weight(), state=above, duration=2.0, dt=0.01).begin()
    return (lambda loop: step(system, loop, {})), jax.tree.map(np.asarray, loop)


def cases(every_variant: bool = False) -> Iterator[tuple[str, Callable[[], Step]]]:
    """Names, and what makes each."""
    yield "ets7-free", lambda: plant_step(ets7())
    yield "ets7-numbers", lambda: with_numbers(ets7())
    yield "hub-panels", lambda: vibrating(hub())
    yield "arm-panels", lambda: vibrating(servicer())
    yield "bouncing-ball", bouncing
    for name, scenario in SCENARIOS.items():
        variants = scenario.variants()
        chosen = (
            list(variants) if every_variant else [*list(variants)[:1], *({"sampled-4hz", "torque-level"} & {*variants})]
        )
        for variant in sorted(chosen):
            yield f"{name}.{variant}", lambda s=variants[variant]: closed_loop(s)


def starts(state: Any, count: int = STARTS) -> Any:
    """Many instances of a state: the coordinates differ a little, or where there are none the positions."""
    rng = np.random.default_rng(1)
    spread = jax.tree.map(lambda x: np.repeat(np.asarray(x)[None], count, 0), state)
    coordinates(spread)[:] += 1e-3 * rng.normal(size=coordinates(spread).shape)
    return spread


def moved(many: Any) -> Any:
    """The same with every coordinate moved to the next number that a computer knows."""
    many = jax.tree.map(np.array, many)
    coordinates(many)[:] = np.nextafter(coordinates(many), np.inf)
    return many


def coordinates(many: Any) -> np.ndarray:
    """Of the first spacecraft."""
    state = (many.plants[0] if isinstance(many, SystemState) else many).state
    return state.q if state.q.size else state.p_NB


def export(folder: Path, only: str = "", every_variant: bool = False) -> list[str]:
    """Write the cases whose name contains a text; returns their names."""
    folder.mkdir(parents=True, exist_ok=True)
    names = []
    for name, make in cases(every_variant):
        if only and not any(word in name for word in only.split(",")):
            continue
        function, state, *held = make()
        graph = engine.trace(function, state, *held)
        many = starts(state)
        rows = [np.repeat(h[None], STARTS, 0) for h in held]
        ends = engine.compile(graph).rollout_batch(many, *rows, steps=STEPS).state
        arrays = {f"start{k}": leaf for k, leaf in enumerate(jax.tree.leaves(many))}
        arrays |= {f"end{k}": leaf for k, leaf in enumerate(jax.tree.leaves(ends))}
        arrays |= {f"held{k}": leaf for k, leaf in enumerate(rows)}
        nearby = engine.compile(graph).rollout_batch(moved(many), *rows, steps=STEPS).state
        arrays["rounding"] = np.array(difference(jax.tree.leaves(nearby), jax.tree.leaves(ends)))
        engine.save(graph, folder / f"{name}.graph")
        np.savez_compressed(folder / f"{name}.npz", **arrays)
        names.append(name)
    return names
