"""The engine beside its peers, in one run on one machine. `--json` for machines, `--quick` for a smoke run.

Measures, in seconds: `forward` one forward dynamics inside native code; `rk4_step` one step of a rollout;
`batch_forward` one instance of a batch on one core; `derivative` of the acceleration by q, v and force;
`compile` tracing and compiling the forward dynamics from nothing, and from the disk cache.
A peer called from Python pays for the call; that is measured on a single free body and subtracted in its favour.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import tempfile
import time
from collections.abc import Callable, Iterator

import jax
import numpy as np
from comparison import Row, main, row
from models import CASES, to_mujoco, to_pinocchio
from plant import plant_step, sample
from timing import best

from freefloat import engine
from freefloat.dynamics import forward_dynamics
from freefloat.model import Spacecraft

BATCH = 4096
STEPS = 2000


def ours(craft: Spacecraft) -> dict[str, float]:
    """Our times [s], and the size of the code."""
    q, v, force = sample(craft)
    function = lambda q, v, f: forward_dynamics(craft, q, v, f)  # noqa: E731
    with tempfile.TemporaryDirectory() as cache:
        os.environ["FREEFLOAT_CACHE"] = cache
        compiling, cached = (_compile_time(function, q, v, force) for _ in range(2))
        forward = engine.compile(function, q, v, force)
        step, plant = plant_step(craft)
        rollout = engine.compile(step, plant)
        # One instance after the other inside native code, without SIMD: what a single simulation sees.
        single = engine.compile(function, q, v, force, width=1)
        derivative = engine.compile(jax.jacfwd(function, argnums=(0, 1, 2)), q, v, force, width=1)
        many = sample(craft, BATCH)
        times = {
            "forward": best(lambda: single.batch(*many, threads=1), BATCH),
            "rk4_step": best(lambda: rollout.rollout(plant, steps=STEPS), STEPS),
            "batch_forward": best(lambda: forward.batch(*many, threads=1), BATCH),
            "derivative": best(lambda: derivative.batch(*(a[:256] for a in many), threads=1), 256),
            "compile": compiling,
            "compile_cached": cached,
        }
    return times | {"operations": forward.operations["total"], "derivative_operations": derivative.operations["total"]}


def _compile_time(function: Callable, *example: np.ndarray) -> float:
    jax.clear_caches()
    start = time.perf_counter()
    engine.compile(function, *example)
    return time.perf_counter() - start


def pinocchio(craft: Spacecraft) -> dict[str, float]:
    """Pinocchio's times [s] with the cost of a call subtracted."""
    import pinocchio as pin

    model = to_pinocchio(craft)
    alone = to_pinocchio(Spacecraft(name="alone", bodies=craft.bodies[:1]))
    data, empty = model.createData(), alone.createData()
    quat = np.array([0.0, 0.0, 0.0, 1.0])
    q, v, force = sample(craft)
    q = np.concatenate([np.zeros(3), quat, q])
    q0, v0 = q[:7].copy(), v[:6].copy()
    call = best(lambda: pin.aba(alone, empty, q0, v0, v0))
    forward = best(lambda: pin.aba(model, data, q, v, force)) - call
    call_derivative = best(lambda: pin.computeABADerivatives(alone, empty, q0, v0, v0))
    times = {
        "forward": forward,
        "rk4_step": 4 * forward,
        "derivative": best(lambda: pin.computeABADerivatives(model, data, q, v, force)) - call_derivative,
    }
    if hasattr(pin, "abaInParallel"):
        pool = pin.ModelPool(model, 1)
        Q, V, F = sample(craft, BATCH)
        Q = np.asfortranarray(np.hstack([np.zeros((BATCH, 3)), np.tile(quat, (BATCH, 1)), Q]).T)
        V, F, A = (np.asfortranarray(x.T) for x in (V, F, np.zeros_like(V)))
        times["batch_forward"] = best(lambda: pin.abaInParallel(1, pool, Q, V, F, A), BATCH)
    return times


def mujoco(craft: Spacecraft) -> dict[str, float]:
    """MuJoCo's `rollout` with its RK4 [s]."""
    import mujoco
    from mujoco import rollout

    model = to_mujoco(craft)
    data = mujoco.MjData(model)
    data.qvel[:] = 0.1 * sample(craft)[1]
    mujoco.mj_forward(model, data)
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    start = np.empty(size)
    mujoco.mj_getState(model, data, start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    steps = 500
    return {"rk4_step": best(lambda: rollout.rollout(model, data, start[None], nstep=steps), steps)}


PEERS = {"pinocchio": pinocchio, "mujoco": mujoco}


def rows(quick: bool) -> Iterator[Row]:
    """One object per comparison: ratio = peer / ours."""
    for case, build in CASES.items():
        craft = build()
        mine = ours(craft)
        for name, measure in PEERS.items():
            try:
                theirs = measure(craft)
            except ImportError:
                continue
            for what, time_ in theirs.items():
                yield row(case, what, mine[what], name, time_)
        for what in ("compile", "compile_cached", "operations", "derivative_operations"):
            yield row(case, what, mine[what], None, None)
        if quick:
            return


if __name__ == "__main__":
    main(__doc__, rows)
