"""What a branch costs that is rarely taken. `--json` for machines, `--quick` for a smoke run, `--target` for one.

An RK4 step of ETS-VII under a held force, in seconds per step and instance:
`software` with 10 000 operations at every hundredth tick; `event` with a joint that meets a stop about once in
4000 steps, where the instant is searched for by at most ten partial steps; `event in one loop` the same written with
one copy of the step, so that on a GPU every instance keeps its own pace. Peers: the step `without` them, which a
branch should cost no more, and, for the software, `select`, which computes it at every tick.
Measures: `scalar` one rollout, `simd` a batch on one core, `c` the C text in a loop (needs cc), `gpu` (asked for only).
"""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import timing
from comparison import Row, main, row
from jax import lax
from plant import DT, sample
from timing import mean_in_turns

from freefloat import engine
from freefloat.dynamics import forward_dynamics
from freefloat.dynamics.state_rate import state_rate
from freefloat.engine.runtime.structure import NUMPY
from freefloat.library import ets7
from freefloat.model import State
from freefloat.sim.motion.integrators import rk4_step
from freefloat.sim.system.craft_state import CraftState, CraftStateRate, Ledger
from freefloat.sim.system.world_state import WorldRate, WorldState

CRAFT = ets7()
PERIOD = 100  # [ticks] between two ticks of the software
SOFTWARE_ROUNDS = 111  # of 90 operations
SEARCH_ROUNDS = 10
STEPS = 4000  # in which each instance meets its stop about once
INSTANCES = {"simd": 64, "gpu": 1 << 18}
Step = Callable[[dict[str, Any]], dict[str, Any]]
Run = Callable[[], object]


def advance(plant: CraftState, force: jax.Array, h: Any = DT) -> CraftState:
    """One RK4 step of the free spacecraft under a force."""

    def rate(plants: WorldState, *_: object) -> WorldRate:
        (plant,) = plants
        state = plant.state
        vdot = forward_dynamics(CRAFT, state.q, state.v, force)
        nothing = jax.tree.map(jnp.zeros_like, plant.ledger)
        return WorldRate((CraftStateRate(state=state_rate(CRAFT, state, vdot), ledger=nothing),))

    return rk4_step(rate, WorldState((plant,)), jnp.zeros(()), h)[0]


def software(plant: CraftState) -> jax.Array:
    """A force that takes 10 000 operations."""
    y = jnp.concatenate([plant.state.q, plant.state.v])
    for _ in range(SOFTWARE_ROUNDS):
        y = 0.5 * y * jnp.roll(y, 1) + jnp.roll(0.25 * y + 0.1, 5)
    return 1e-3 * y[: CRAFT.layout.nv]


def without(loop: dict[str, Any]) -> dict[str, Any]:
    """The step alone: the force stays what it is."""
    plant = advance(loop["plant"], loop["force"])
    return {**loop, "tick": loop["tick"] + 1, "plant": plant}


def with_software(loop: dict[str, Any]) -> dict[str, Any]:
    """The software at its ticks, by a branch."""
    due = loop["tick"] % PERIOD == 0
    return without({**loop, "force": lax.cond(due, software, lambda _: loop["force"], loop["plant"])})


def with_selected_software(loop: dict[str, Any]) -> dict[str, Any]:
    """The software at every tick, used at its own."""
    due = loop["tick"] % PERIOD == 0
    return without({**loop, "force": jnp.where(due, software(loop["plant"]), loop["force"])})


def with_event(loop: dict[str, Any]) -> dict[str, Any]:
    """The first joint bounces off a stop inside the step, where it meets it."""
    after = without(loop)

    def meet(_: None) -> CraftState:
        h = meeting_time(loop)
        plant = advance(loop["plant"], loop["force"], h)
        state = State(plant.state.p_NB, plant.state.quat_NB, plant.state.q, plant.state.v.at[6].multiply(-0.5))
        return advance(CraftState(state=state, ledger=plant.ledger), loop["force"], DT - h)

    met = (after["plant"].state.q[0] > loop["stop"]) & (loop["plant"].state.q[0] <= loop["stop"])
    plant = lax.cond(met, meet, lambda _: after["plant"], None)
    return {**after, "plant": plant, "met": loop["met"] + met}


def meeting_time(loop: dict[str, Any]) -> jax.Array:
    """When the joint meets its stop in this step [s], by bisection and secant over partial steps."""

    def gap(h: jax.Array) -> jax.Array:
        return advance(loop["plant"], loop["force"], h).state.q[0] - loop["stop"]

    def unfinished(search: tuple) -> jax.Array:
        *_, at_low, at_high, rounds = search
        return (rounds < SEARCH_ROUNDS) & (jnp.minimum(-at_low, at_high) > 1e-12)

    def narrow(search: tuple) -> tuple:
        low, high, at_low, at_high, rounds = search
        secant = low - at_low * (high - low) / (at_high - at_low)
        middle = jnp.where(rounds % 3 == 2, 0.5 * (low + high), secant)
        value = gap(middle)
        below = value < 0
        return (
            jnp.where(below, middle, low),
            jnp.where(below, high, middle),
            jnp.where(below, value, at_low),
            jnp.where(below, at_high, value),
            rounds + 1,
        )

    start = (jnp.zeros(()), jnp.full((), DT), loop["plant"].state.q[0] - loop["stop"], gap(jnp.full((), DT)), 0)
    low, high, at_low, at_high, _ = lax.while_loop(unfinished, narrow, start)
    return jnp.where(-at_low < at_high, low, high)


def with_event_in_one_loop(loop: dict[str, Any]) -> dict[str, Any]:
    """The same event with one copy of the step, in a loop that usually runs once: the code stays small."""
    stop, force, before = loop["stop"], loop["force"], loop["plant"].state.q[0]

    def body(s: dict[str, Any]) -> dict[str, Any]:
        reached = advance(s["plant"], force, s["h"])
        at = reached.state.q[0] - stop
        quiet = ~s["searching"] & ((at <= 0.0) | (before > stop) | (s["met"] > loop["met"]))
        done = lambda: {**s, "plant": reached, "unfinished": jnp.asarray(False)}  # noqa: E731
        return lax.cond(quiet, done, lambda: search(s, reached, at))

    def search(s: dict[str, Any], reached: CraftState, at: jax.Array) -> dict[str, Any]:
        begins, h, rounds = ~s["searching"], s["h"], s["rounds"] + 1
        below = ~begins & (at < 0.0)
        low, at_low = jnp.where(below, h, s["low"]), jnp.where(below, at, s["at_low"])
        high, at_high = jnp.where(below, s["high"], h), jnp.where(below, s["at_high"], at)
        found = ~begins & ((jnp.abs(at) < 1e-12) | (rounds > SEARCH_ROUNDS))
        secant = low - at_low * (high - low) / (at_high - at_low)
        middle = jnp.where(rounds % 4 == 0, 0.5 * (low + high), secant)
        state = reached.state
        turned = State(state.p_NB, state.quat_NB, state.q, state.v.at[6].multiply(-0.5))
        behind = CraftState(state=turned, ledger=reached.ledger)
        return {
            "plant": jax.tree.map(lambda a, b: jnp.where(found, a, b), behind, s["plant"]),
            "h": jnp.where(found, DT - h, middle),
            "low": low,
            "high": high,
            "at_low": at_low,
            "at_high": at_high,
            "rounds": rounds,
            "searching": ~found,
            "unfinished": jnp.asarray(True),
            "met": s["met"] + begins,
        }

    first = {"plant": loop["plant"], "h": jnp.full((), DT), "low": jnp.zeros(()), "high": jnp.full((), DT)}
    first |= {"at_low": before - stop, "at_high": jnp.zeros(()), "rounds": jnp.zeros((), jnp.int32)}
    first |= {"searching": jnp.asarray(False), "unfinished": jnp.asarray(True), "met": loop["met"]}
    last = lax.while_loop(lambda s: s["unfinished"], body, first)
    return {**loop, "tick": loop["tick"] + 1, "plant": last["plant"], "met": last["met"]}


def starts(count: int) -> dict[str, Any]:
    """Random states; the first joint reaches its stop some time within the steps."""
    rng = np.random.default_rng(3)
    q, v, _ = sample(CRAFT, count)
    v *= 0.02
    v[:, 6] = 0.05  # [rad/s]
    quat = np.broadcast_to([1.0, 0.0, 0.0, 0.0], (count, 4))
    empty = jax.tree.map(lambda x: np.zeros((count, *np.shape(x))), Ledger.empty())
    return {
        "tick": np.zeros(count, np.int32),
        "plant": CraftState(state=State(p_NB=np.zeros((count, 3)), quat_NB=quat, q=q, v=v), ledger=empty),
        "force": np.zeros((count, CRAFT.layout.nv)),
        "stop": q[:, 0] + rng.uniform(0.1, 0.9, count) * STEPS * DT * 0.05,
        "met": np.zeros(count, np.int32),
    }


def one(many: dict[str, Any]) -> dict[str, Any]:
    """The first of many."""
    return jax.tree.map(lambda x: x[0], many)


# ---- measuring: functions that do some thousand steps of so many instances


def scalar(step: Step) -> tuple[Run, int]:
    """One rollout."""
    start, steps = one(starts(1)), _steps()
    program = engine.compile(step, start)
    return lambda: program.rollout(start, steps=steps), steps


def simd(step: Step) -> tuple[Run, int]:
    """A batch on one core."""
    many, steps = starts(INSTANCES["simd"]), _steps()
    program = engine.compile(step, one(many))
    return lambda: program.rollout_batch(many, steps=steps, threads=1), steps * INSTANCES["simd"]


def gpu(step: Step) -> tuple[Run, int]:
    """A batch on a GPU, the transfer of states included."""
    many, steps = starts(INSTANCES["gpu"]), _steps()
    program = engine.compile(step, one(many), target="gpu")
    return lambda: program.rollout_batch(many, steps=steps), steps * INSTANCES["gpu"]


def c(step: Step) -> tuple[Run, int]:
    """The C text, compiled by cc and repeated by a small host."""
    start, steps = one(starts(1)), _steps()
    program = engine.compile(step, start, target="c", name="ets7_step")
    kinds = [NUMPY[r.dtype] for r in program.graph.signature.results]
    sides = [[np.array(x, kind) for x, kind in zip(jax.tree.leaves(start), kinds, strict=True)] for _ in range(2)]
    pointers = [(ctypes.c_void_p * len(side))(*(a.ctypes.data for a in side)) for side in sides]
    library = _compiled(program, len(kinds))

    def run() -> None:
        for array, x in zip(sides[0], jax.tree.leaves(start), strict=True):
            array[...] = x
        library.repeat_ets7(*pointers, ctypes.c_long(steps))

    return run, steps


def _compiled(program: Any, count: int) -> ctypes.CDLL:
    ins, outs = (", ".join(f"{side}[{k}]" for k in range(count)) for side in "ab")
    host = f"""#include "ets7_step.h"
void repeat_ets7(void **a, void **b, long steps) {{
  for (long k = 0; k < steps; ++k) {{
    ets7_step({ins}, {outs});
    void **swap = a; a = b; b = swap;
  }}
}}
"""
    with tempfile.TemporaryDirectory() as folder:
        program.write(folder)
        Path(folder, "host.c").write_text(host)
        flags = ["-O1", "-march=native", "-shared", "-fPIC"]
        subprocess.run(["cc", *flags, "-o", "step.so", "ets7_step.c", "host.c", "-lm"], check=True, cwd=folder)
        return ctypes.CDLL(f"{folder}/step.so")


def _steps() -> int:
    return 200 if timing.quick else STEPS


MEASURES = {"scalar": scalar, "simd": simd, "c": c, "gpu": gpu}
TARGETS = {"native": ("scalar", "simd"), "c": ("c",), "gpu": ("gpu",)}
CASES = {
    "without": without,
    "software": with_software,
    "select": with_selected_software,
    "event": with_event,
    "event in one loop": with_event_in_one_loop,
}


def rows(_quick: bool, target: str | None) -> Iterator[Row]:
    """Each measure of each case beside the step without it: ratio = without / with."""
    names = TARGETS[target] if target else (*TARGETS["native"], *(("c",) if shutil.which("cc") else ()))
    yield row("software", "operations", _operations(with_software) - _operations(without))
    for name in names:
        runs = [MEASURES[name](step) for step in CASES.values()]
        times = (_best_on_card if name == "gpu" else mean_in_turns)([run for run, _ in runs], runs[0][1])
        bare, software_, select, event, looped = times
        yield row("software", name, software_, "without", bare)
        yield row("software", name, software_, "select", select)
        yield row("event", name, event, "without", bare)
        yield row("event in one loop", name, looped, "without", bare)


def _best_on_card(runs: list[Run], work: int) -> list[float]:
    """Seconds per unit of work, by the wall clock, in turns."""
    for run in runs:
        run()
    times = []
    for _ in range(1 if timing.quick else 6):
        for run in runs:
            begun = time.perf_counter()
            run()
            times.append(time.perf_counter() - begun)
    return [min(times[k :: len(runs)]) / work for k in range(len(runs))]


def _operations(step: Step) -> int:
    return engine.trace(step, one(starts(1))).operations["total"]


if __name__ == "__main__":
    main(__doc__, rows, targets=tuple(TARGETS))
