"""What a held connection costs: ETS-VII holds its 410 kg target by all six directions; off, and beside MuJoCo's weld.

Measures: `forward` accelerations of both spacecraft [s]; `rk4_step` one step of a rollout [s], the way back onto the
connection included; the same of `operations`. `by rows` has every direction as a row with a multiplier, as closed
chains need; `held` is what is used, one tree. Peers: `off` is the same world with the connection off; `mujoco` steps
the same two bodies with RK4 and an equality constraint (weld), whose solver is iterative and soft, with its settings as
they come. `simulate` is the whole step of a run, books and event log included. Ratio = peer / ours. `--json` for
machines, `--quick` for a smoke run.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")

import dataclasses
from collections.abc import Callable, Iterator

import jax
import jax.numpy as jnp
import numpy as np
from comparison import Row, main, row
from timing import best

from freefloat import engine
from freefloat.dynamics import (
    FrameRows,
    forward_dynamics,
    frame_twist,
    held_motion,
    held_motion_by_rows,
    inertial_frame_pose,
    return_by_rows,
    return_to_rows,
)
from freefloat.dynamics.inner_motion import free_of_drift, without_drift
from freefloat.dynamics.state_rate import state_rate
from freefloat.library import ets7
from freefloat.model import Spacecraft, State, World
from freefloat.sim.experiment import Experiment
from freefloat.sim.motion.integrators import rk4_step
from freefloat.sim.rollout import FixedSteps, Grid
from freefloat.sim.system.craft_state import CraftState, CraftStateRate, Ledger
from freefloat.sim.system.world_state import WorldRate, WorldState

DT, STEPS = 0.01, 1000
States = tuple[State, ...]
Solve = Callable[[States, tuple[np.ndarray, ...]], tuple[np.ndarray, ...]]
POSTURE = np.deg2rad([10.0, 20.0, 30.0, -40.0, 15.0, 5.0])


def target() -> Spacecraft:
    """The target satellite: a box of 410 kg, gripped 0.5 m from its centre of mass."""
    craft = Spacecraft.from_base("target", mass=410.0, inertia=(60.0, 70.0, 80.0))  # [kg], [kg m2]
    return craft.with_frame("grip", body="base", at=(-0.5, 0.0, 0.0))  # [m]


CRAFTS = (ets7(), target())
ROWS = (FrameRows((0, "hand"), (1, "grip")),)


def start() -> States:
    """Both moving as one."""
    servicer, held = CRAFTS
    rng = np.random.default_rng(0)
    state = dataclasses.replace(servicer.at_rest(POSTURE), v=0.02 * rng.normal(size=servicer.layout.nv))
    whole = servicer.grasp(held, name="target", hand="hand", grip="grip")
    X = inertial_frame_pose(whole, state, "target")
    twist = np.asarray(frame_twist(whole, state.q, state.v, "target"))
    return state, State(p_NB=np.asarray(X.p), quat_NB=np.asarray(X.quaternion), q=np.zeros(0), v=twist)


# ---- ours


def off(states: States, forces: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """Each for itself, as the simulation has it."""
    return tuple(
        free_of_drift(forward_dynamics(craft, s.q, without_drift(s.v), force), s.v)
        for craft, s, force in zip(CRAFTS, states, forces, strict=True)
    )


def held(states: States, forces: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """As one tree."""
    return held_motion(CRAFTS, states, forces, ROWS).vdots


def by_rows(states: States, forces: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
    """As two trees and six rows."""
    return held_motion_by_rows(CRAFTS, states, forces, ROWS).vdots


def step_of(solve: Solve, back: Callable | None) -> Callable[[WorldState], WorldState]:
    """One RK4 step of both, and the way back onto the connection after it."""

    def rate(plants: WorldState, *_: object) -> WorldRate:
        states = plants.states
        vdots = solve(states, tuple(jnp.zeros(craft.layout.nv) for craft in CRAFTS))
        return WorldRate(
            tuple(
                CraftStateRate(state=state_rate(craft, s, vdot), ledger=jax.tree.map(jnp.zeros_like, plant.ledger))
                for craft, s, vdot, plant in zip(CRAFTS, states, vdots, plants, strict=True)
            )
        )

    def step(plants: WorldState) -> WorldState:
        plants = rk4_step(rate, plants, jnp.zeros(()), DT)
        if back is None:
            return plants
        states = back(CRAFTS, plants.states, ROWS).states
        return plants.with_states(states)

    return step


def ours(solve: Solve, back: Callable | None) -> dict[str, float]:
    """Times [s] and operations of one way."""
    states = start()
    forces = tuple(np.ones(craft.layout.nv) for craft in CRAFTS)
    forward = engine.compile(solve, states, forces)
    many = jax.tree.map(lambda x: np.broadcast_to(x, (256, *np.shape(x))).copy(), (states, forces))
    plants = WorldState(tuple(CraftState(state=s, ledger=Ledger.empty()) for s in states))
    step = engine.compile(step_of(solve, back), plants)
    return {
        "forward": best(lambda: forward.batch(*many, threads=1), 256),
        "rk4_step": best(lambda: step.rollout(plants, steps=STEPS), STEPS),
        "forward operations": forward.operations["total"],
    }


def simulated_step(*, on: bool | None) -> float:
    """One step of a run [s] with the connection on or off; None: of a world without one."""
    world, states = World(servicer=CRAFTS[0], target=CRAFTS[1]), start()
    if on is not None:
        world = world.connection("grasp", "servicer.hand", "target.grip", on=on)
    experiment = Experiment.of(world, duration=STEPS * DT, dt=DT, state=dict(zip(world.names, states, strict=True)))
    system, loop = experiment.begin()
    step = FixedSteps(system, loop, {}, 0, STEPS, "native")
    return best(lambda: list(step.blocks(loop, Grid(STEPS, STEPS))), STEPS)


# ---- MuJoCo


def mujoco_step(welded: bool) -> float:
    """One RK4 step [s], with the weld or without."""
    import mujoco
    from mujoco import rollout

    spec = mujoco.MjSpec()
    spec.option.gravity = [0.0, 0.0, 0.0]
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
    spec.option.timestep = DT
    states = start()
    for craft, name in zip(CRAFTS, ("servicer", "target"), strict=True):
        _add_tree(mujoco, spec, craft, name)
    if welded:
        # In MuJoCo the bodies' present relative pose is what a weld holds unless it is told another.
        spec.add_equality(
            type=mujoco.mjtEq.mjEQ_WELD,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            name1="servicer.hand",
            name2="target.grip",
        )
    model = spec.compile()
    data = mujoco.MjData(model)
    qpos, qvel = [], []
    for s in states:
        R = np.asarray(s.X_NB.R)
        qpos += [s.p_NB, s.quat_NB, s.q]
        qvel += [R @ s.v[:3], s.v[3:]]
    data.qpos[:], data.qvel[:] = np.concatenate(qpos), np.concatenate(qvel)
    mujoco.mj_forward(model, data)
    kind = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, kind))
    mujoco.mj_getState(model, data, state, kind)
    return best(lambda: rollout.rollout(model, data, state[None], nstep=STEPS), STEPS)


def _add_tree(mujoco, spec, craft: Spacecraft, name: str) -> None:
    made = {}
    for body, joint in zip(craft.bodies, (None, *craft.joints), strict=True):
        if joint is None:
            new = spec.worldbody.add_body(name=f"{name}.{body.name}")
            new.add_freejoint()
        else:
            new = made[joint.parent].add_body(name=f"{name}.{body.name}", pos=np.asarray(joint.X_PJ.p))
            new.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=np.asarray(joint.axis))
        I = np.asarray(body.inertia)
        new.mass, new.ipos, new.explicitinertial = float(body.mass), np.asarray(body.com), True
        new.fullinertia = [I[0, 0], I[1, 1], I[2, 2], I[0, 1], I[0, 2], I[1, 2]]
        made[body.name] = new
    for frame in craft.frames:
        made[frame.body].add_site(name=f"{name}.{frame.name}", pos=np.asarray(frame.X_BF.p))


def rows(quick: bool) -> Iterator[Row]:
    """Ours with the connection on, beside ours with it off and MuJoCo's."""
    free = ours(off, None)
    for name, solve, back in (("held", held, return_to_rows), ("by rows", by_rows, return_by_rows)):
        found = ours(solve, back)
        for measure, value in found.items():
            yield row(name, measure, value, "off", free[measure])
        if quick:
            break
        try:
            yield row(name, "rk4_step", found["rk4_step"], "mujoco weld", mujoco_step(welded=True))
        except ImportError:
            continue
    if not quick:
        held_step, off_step = simulated_step(on=True), simulated_step(on=False)
        yield row("held", "simulate", held_step, "off", off_step)
        yield row("off", "simulate", off_step, "without one", simulated_step(on=None))
    try:
        yield row("off", "rk4_step", free["rk4_step"], "mujoco", mujoco_step(welded=False))
    except ImportError:
        return


if __name__ == "__main__":
    main(__doc__, rows)
