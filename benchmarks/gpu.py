"""RK4 steps per second of ETS-VII on a GPU, float64, the whole rollout in one kernel.

Needs jax, numpy and jaxtyping only. `--json` for machines; `--lanes`, `--warps` to try other shapes of the kernel.
Cases: `constant` (the spacecraft's numbers baked in), `inertial` (mass, centre of mass and inertia of every body as
inputs of each instance), `recording` (the first, keeping every 100th state), `vmap` (plain JAX, for comparison).
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import time
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from plant import plant_step

from freefloat import engine
from freefloat.library import ets7
from freefloat.model import Spacecraft
from freefloat.sim.plant import Plant

_ROWS, _COLUMNS = np.triu_indices(3)


def inertial_numbers(craft: Spacecraft) -> np.ndarray:
    """(bodies, 10): mass, centre of mass, six moments of inertia."""
    return np.stack([np.hstack([b.mass, b.com, np.asarray(b.inertia)[_ROWS, _COLUMNS]]) for b in craft.bodies])


def with_inertial_numbers(craft: Spacecraft, numbers: jax.Array) -> Spacecraft:
    """The same spacecraft with other masses and inertias."""
    bodies = []
    for body, row in zip(craft.bodies, numbers, strict=True):
        upper = jnp.zeros((3, 3)).at[_ROWS, _COLUMNS].set(row[4:])
        inertia = upper + jnp.triu(upper, 1).T
        bodies.append(dataclasses.replace(body, mass=row[0], com=row[1:4], inertia=inertia))
    return dataclasses.replace(craft, bodies=tuple(bodies))


def instances(plant: Plant, count: int) -> Plant:
    """Many starts: random joint angles and speeds."""
    rng = np.random.default_rng(1)
    spread = jax.tree.map(lambda x: np.broadcast_to(x, (count, *np.shape(x))).copy(), plant)
    spread.state.q[:] = rng.uniform(-1, 1, spread.state.q.shape)
    spread.state.v[:] = 0.1 * rng.normal(size=spread.state.v.shape)
    return spread


def rate(compiled: Any, plants: Plant, held: tuple, steps: int, every: int | None = None) -> tuple[float, float, Any]:
    """(steps per second, seconds to compile, final states) of a rollout kernel."""
    states, helds, total = compiled.pack(plants, *held)
    start = time.perf_counter()
    launch = compiled.kernel(steps, every)
    final, _ = jax.block_until_ready(launch(states, helds))
    compiling = time.perf_counter() - start
    best = min(_timed(lambda: launch(states, helds)) for _ in range(5))
    return total * steps / best, compiling, compiled.unpack(plants, final, None, total).state


def _timed(function: Callable[[], Any]) -> float:
    start = time.perf_counter()
    jax.block_until_ready(function())
    return time.perf_counter() - start


def by_vmap(step: Callable, plants: Plant, steps: int) -> tuple[float, Any]:
    """(steps per second, final states) under jit and vmap."""
    many = jax.jit(lambda p: jax.lax.fori_loop(0, steps, lambda _, s: jax.vmap(step)(s), p))
    on_device = jax.tree.map(jnp.asarray, plants)
    final = jax.block_until_ready(many(on_device))
    best = min(_timed(lambda: many(on_device)) for _ in range(2))
    return plants.state.q.shape[0] * steps / best, final


def worst_difference(a: Plant, b: Plant) -> float:
    """Largest difference of two sets of final states, relative to 1 + size."""
    differences = jax.tree.map(lambda x, y: np.max(np.abs(np.asarray(x) - np.asarray(y)) / (1 + np.abs(y))), a, b)
    return float(max(jax.tree.leaves(differences.state)))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=1 << 18)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--lanes", type=int, default=None)
    parser.add_argument("--warps", type=int, default=None)
    parser.add_argument("--cases", default="constant,recording,inertial,vmap")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    shape = {k: v for k in ("lanes", "warps") if (v := getattr(options, k)) is not None}
    craft = ets7()
    step, plant = plant_step(craft)
    plants = instances(plant, options.instances)
    rows: list[dict[str, Any]] = []
    finals: dict[str, Any] = {}
    for case in options.cases.split(","):
        row: dict[str, Any] = {"case": case, "device": jax.devices()[0].device_kind, **shape}
        if case == "vmap":
            few = jax.tree.map(lambda x: x[:8192], plants)
            row["steps_per_second"], reference = by_vmap(step, few, options.steps)
            for name, final in finals.items():
                row[f"difference_{name}"] = worst_difference(jax.tree.map(lambda x: x[:8192], final), reference)
        elif case == "inertial":
            numbers = inertial_numbers(craft)
            compiled = engine.compile(
                lambda p, n: plant_step(with_inertial_numbers(craft, n))[0](p), plant, numbers, target="gpu", **shape
            )
            row["operations"] = compiled.operations["total"]
            held = (np.broadcast_to(numbers, (options.instances, *numbers.shape)),)
            row["steps_per_second"], row["compile_s"], finals[case] = rate(compiled, plants, held, options.steps)
        else:
            compiled = engine.compile(step, plant, target="gpu", **shape)
            row["operations"] = compiled.operations["total"]
            every = 100 if case == "recording" else None
            row["steps_per_second"], row["compile_s"], finals[case] = rate(compiled, plants, (), options.steps, every)
        rows.append(row)
        print(json.dumps(row) if options.json else row, flush=True)


if __name__ == "__main__":
    main()
