"""Dispersed captures of ETS-VII, 60 s at 20 Hz with a camera in the loop, on all processors: how long a campaign takes.

Peers, in the same run: the same closed loop as `jax.vmap` of our own step; MuJoCo with a controller called from Python
at every step (a leaner one: a generalised Jacobian in NumPy, without camera, filter or events); and MuJoCo's `rollout`
of the plant alone, without any controller. Peers run fewer cases, `--peers`, and are extrapolated: their time is
proportional to the cases. Under `vmap` every branch is taken in every step, events included: of 1200 steps it makes
the first few. Compiling is not counted for anybody; JAX needs minutes for it. Rows: seconds for all cases; ratio =
peer / ours.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from comparison import Row, row
from models import to_mujoco

import freefloat as ff
from freefloat.campaign import Campaign, read_campaign, run_campaign
from freefloat.engine.runtime.workers import available_threads

DURATION, DT = 60.0, 0.05  # [s]
START_DEG = (0.0, -82.7, -19.8, 115.5, 0.0, 0.0)
GAIN = 0.5  # of the hand's motion towards the target [1/s]
FIRST_STEPS = 10  # that JAX makes


def timed(function: Callable[[], object]) -> float:
    """Wall time [s]."""
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def captures(cases: int, duration: float) -> Campaign:
    """The campaign that comes with the scenario."""
    return read_campaign("ets7-capture", {"runs": cases}, {"duration": duration})


def ours(cases: int, duration: float) -> float:
    """Drawn, run, measured and kept on disk [s]."""
    with tempfile.TemporaryDirectory() as folder:
        run_campaign(captures(8, duration))  # compiles
        campaign = captures(cases, duration)
        campaign.preparation.program.compiled_step()
        return timed(lambda: run_campaign(campaign, Path(folder, "kept")))


def by_vmap(cases: int, duration: float) -> float:
    """The same step under jax.jit(jax.vmap(...)), from step to step without leaving JAX [s]; from the first steps."""
    import jax

    campaign = captures(cases, duration)
    draws, program = campaign.preparation.draws, campaign.preparation.program
    runs = np.arange(cases, dtype=np.int32)
    rows = draws.of(runs).numbers
    begun = program.begin(rows, runs)
    step = jax.jit(jax.vmap(program.rules.advance))
    step(begun, rows, runs)  # compiles

    def first_steps() -> None:
        state = begun
        for _ in range(FIRST_STEPS):
            state = step(state, rows, runs)
        jax.block_until_ready(state)

    return timed(first_steps) * campaign.timing.steps / FIRST_STEPS


# ---- MuJoCo


def plant():
    """The free-floating chaser, its data and start."""
    import mujoco

    model = to_mujoco(ff.library.ets7())
    model.opt.timestep = DT
    data = mujoco.MjData(model)
    data.qpos[7:] = np.deg2rad(START_DEG)
    mujoco.mj_forward(model, data)
    return model, data


def by_python(cases: int, duration: float) -> float:
    """Every step of every case: the controller in Python, then mj_step [s]."""
    import mujoco

    model, data = plant()
    hand, start = model.nbody - 1, data.qpos.copy()
    linear, angular, mass = np.zeros((3, model.nv)), np.zeros((3, model.nv)), np.zeros((model.nv, model.nv))
    goal = data.xpos[hand] + np.array([0.13, 0.01, -0.38])

    def control() -> None:
        """Rates that bring the floating hand to the target, by the generalised Jacobian; torques that follow them."""
        mujoco.mj_jacBody(model, data, linear, angular, hand)
        mujoco.mj_fullM(model, data, mass)
        J = np.vstack([linear, angular])
        coupled = np.linalg.solve(mass[:6, :6], mass[:6, 6:])
        J_g = J[:, 6:] - J[:, :6] @ coupled
        wanted = np.concatenate([GAIN * (goal - data.xpos[hand]), np.zeros(3)])
        rates = np.clip(np.linalg.solve(J_g.T @ J_g + 1e-4 * np.eye(6), J_g.T @ wanted), -0.05, 0.05)
        inner = mass[6:, 6:] - mass[6:, :6] @ coupled
        data.qfrc_applied[6:] = inner @ (5.0 * (rates - data.qvel[6:]))

    def all_cases() -> None:
        for _ in range(cases):
            data.qpos[:], data.qvel[:] = start, 0.0
            for _ in range(round(duration / DT)):
                control()
                mujoco.mj_step(model, data)

    return timed(all_cases)


def by_rollout(cases: int, duration: float) -> float:
    """The plant alone, on all processors [s]."""
    import mujoco
    from mujoco import rollout

    model, data = plant()
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, state, kind)
    threads = [mujoco.MjData(model) for _ in range(available_threads())]
    states = np.repeat(state[None], cases, 0)
    states[:, 1 + model.nq :] = 0.01
    steps = round(duration / DT)
    # Histories of all cases would not fit into memory: they are run in the parts that a user would take.
    parts = np.array_split(states, max(1, cases // 256))
    with rollout.Rollout(nthread=len(threads)) as pool:
        return timed(lambda: [pool.rollout(model, threads, part, nstep=steps) for part in parts])


def rows(cases: int, peers: int, duration: float) -> Iterator[Row]:
    """Ours beside each peer, extrapolated to as many cases."""
    own = ours(cases, duration)
    for name, peer, count in (
        ("MuJoCo rollout, plant", by_rollout, 8 * peers),
        ("MuJoCo, Python", by_python, max(1, peers // 16)),
        ("jax.vmap", by_vmap, peers),
    ):
        parallel = available_threads() if peer is by_python else 1  # as if a process ran on every processor
        yield row(f"{cases} cases", "wall time", own, name, peer(count, duration) * cases / count / parallel)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--peers", type=int, default=256, help="cases of the slower peers")
    for flag in ("--json", "--quick"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    if options.quick:
        own, plain = ours(16, 1.0), by_rollout(64, 1.0) / 4
        found = [row("16 cases", "wall time", own, "MuJoCo rollout, plant", plain)]
    else:
        found = list(rows(options.cases, options.peers, DURATION))
    if options.json:
        print(json.dumps(found, indent=2))
        return
    for line in found:
        peer = f"{line['peer_name']}: {line['peer']:.4g} s, ratio {line['ratio']:.3g}"
        print(f"{line['case']:<14} {line['ours']:10.4g} s   {peer}", flush=True)


if __name__ == "__main__":
    main()
