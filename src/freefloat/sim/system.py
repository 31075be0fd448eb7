"""A system: spacecraft, laws and clock as a few pure functions (derivative, sample, step)."""

from __future__ import annotations

import dataclasses
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat.control.laws import MemoryLaw, Motion, MotionLaw, Remembering, motion_of, motion_rate
from freefloat.dynamics import (
    damping_force,
    elastic_force,
    forward_dynamics,
    generalized_force,
    hybrid_dynamics,
    impose_rates,
)
from freefloat.dynamics.inner_motion import (
    free_of_drift,
    inner_energy,
    motion_of_com,
    motion_of_com_by_mass_matrix,
    speeds_about_com,
    without_drift,
)
from freefloat.dynamics.state_rate import state_rate
from freefloat.model import Spacecraft, State
from freefloat.sim.integrators import rk4_step
from freefloat.sim.law_checks import (
    begin_law,
    checked_call,
    initial_memory,
    require_answer_size,
    require_law,
    require_same_memory,
    require_sample_pair,
)
from freefloat.sim.plant import Ledger, Plant, PlantRate
from freefloat.spatial import angular, linear
from freefloat.spatial.rotations import cross
from freefloat.values import LawError, ModelError, record, static
from freefloat.values.arrays import Matrix, Numeric, Scalar, Vector
from freefloat.values.checks import require_bounds, require_quantity


@record
class Sampled:
    """A law evaluated at its own rate and held in between."""

    law: Any
    period: float = static()  # [s]; a multiple of the system's step

    def __post_init__(self) -> None:
        require_bounds(self, {"period": "s"}, above=0.0)

    def begin(self, state: State) -> Sampled:
        """Begin the law inside."""
        return dataclasses.replace(self, law=self.law.begin(state))


@record
class System:
    """A spacecraft under laws, advanced by a fixed step. Everything that is a number in it can be varied."""

    craft: Spacecraft
    laws: tuple[Any, ...]  # laws, continuous; or Sampled
    dt: float = static()  # length of a tick [s]
    wrench_frames: tuple[str, ...] = static(default=())  # frames on which the inputs push


@record
class Inputs:
    """What comes from outside in one step, held over it."""

    wrenches: Matrix  # (frames, 6) on `System.wrench_frames`, each in its frame's axes [N, N m]


@record
class SystemState:
    """All that changes while a system runs."""

    tick: jax.Array | np.ndarray  # int32; time is tick * dt
    plant: Plant
    held: tuple[Any, ...]  # for each law: (memory, what it holds); () where it has none


def no_inputs(system: System) -> Inputs:
    """Nobody pushes."""
    return Inputs(wrenches=np.zeros((len(system.wrench_frames), 6)))


# ---- building


def begin(system: System, state: State) -> tuple[System, SystemState]:
    """Check a system, let its laws see the start, and put the loop at tick zero."""
    _check(system)
    state = jax.tree.map(jnp.asarray, system.craft.require_state(state))
    system = dataclasses.replace(system, laws=tuple(begin_law(law, inner_law, state) for law in system.laws))
    plant = Plant(state=state, ledger=jax.tree.map(jnp.asarray, Ledger.empty()))
    held = tuple(_initial_hold(system, law) for law in system.laws)
    loop = SystemState(tick=jnp.zeros((), jnp.int32), plant=plant, held=held)
    return system, loop


def _check(system: System) -> None:
    require_quantity("The step dt", system.dt, "s", above=0.0)
    taken: dict[str, str] = {}
    for law in system.laws:
        inner = inner_law(law)
        kind = type(inner).__name__
        require_law(inner)
        if isinstance(inner, MemoryLaw) and not isinstance(law, Sampled):
            raise LawError(f"{kind} remembers, so it must be sampled: wrap it in Sampled(law, period=...).")
        if isinstance(law, Sampled):
            ticks_per_sample(system, law)
        for joint in inner.joints if isinstance(inner, MotionLaw) else ():
            if joint in taken:
                raise ModelError(f"Joint '{joint}' is moved by two laws, {taken[joint]} and {kind}. Keep one.")
            taken[joint] = kind
            at = system.craft.layout.position(joint)
            if at.start == at.stop:
                follows = system.craft.joint(joint).follows
                why = "is fixed" if follows is None else f"follows '{follows.leader}'. Move that one"
                raise ModelError(f"{kind} cannot move joint '{joint}' of spacecraft '{system.craft.name}': it {why}.")


def ticks_per_sample(system: System, sampled: Sampled) -> int:
    """How many ticks a sampled law holds its answer."""
    ticks = round(sampled.period / system.dt)
    if ticks < 1 or abs(ticks * system.dt - sampled.period) > 1e-9 * sampled.period:
        raise ValueError(
            f"A law sampled every {sampled.period} s does not fit the step of {system.dt} s: "
            "the period must be a whole number of steps. Change dt or the sampling rate."
        )
    return ticks


def prescribed_joints(system: System) -> tuple[str, ...]:
    """Joints whose motion a law prescribes, in the order of the laws."""
    return tuple(joint for law in map(inner_law, system.laws) if isinstance(law, MotionLaw) for joint in law.joints)


def _initial_hold(system: System, law: Any) -> tuple[Any, Any]:
    inner = inner_law(law)
    remembers = isinstance(inner, (MemoryLaw, Remembering))
    memory = initial_memory(inner) if remembers else ()
    size = len(inner.joints) if isinstance(inner, MotionLaw) else system.craft.layout.nv
    return memory, jnp.zeros(size) if isinstance(law, Sampled) else ()


def inner_law(law: Any) -> Any:
    """The law itself, out of its sampling."""
    return law.law if isinstance(law, Sampled) else law


def recall_law(law: Any, memory: Any) -> Any:
    """The law itself, with its memory."""
    inner = inner_law(law)
    return inner.recall(memory) if isinstance(inner, Remembering) else inner


# ---- running


def step(system: System, loop: SystemState, inputs: Inputs, parts: Numeric | None = None) -> SystemState:
    """Advance by one tick: sample what is due, let prescribed joints take their rates, integrate.

    With `parts` a tick is integrated in so many steps, one in each call, and `loop.tick` counts those. Laws are
    sampled and remember at whole ticks all the same: only the integration becomes finer.
    """
    h = system.dt if parts is None else system.dt / parts
    t = loop.tick * h
    held = sample(system, loop, parts)
    plant = apply_prescribed_rates(system, loop.plant, held, t)
    plant = rk4_step(lambda p, *times: derivative(system, p, held, inputs, *times), plant, t, h)
    return SystemState(tick=loop.tick + 1, plant=plant, held=held)


def sample(system: System, loop: SystemState, parts: Numeric | None = None) -> tuple[Any, ...]:
    """New memories and held answers of the laws, where their tick has come; `parts` as in `step`.

    Motion laws come first. Force laws see the joints at the rates that these have just asked for: a gyro that is read
    at the same tick feels the reaction already.
    """
    t, state = loop.tick * (system.dt if parts is None else system.dt / parts), loop.plant.state
    held = tuple(
        _renew(system, loop, k, state, t, parts) if isinstance(inner_law(law), MotionLaw) else loop.held[k]
        for k, law in enumerate(system.laws)
    )
    state = with_prescribed_rates(system, state, held, t)
    return tuple(
        held[k] if isinstance(inner_law(law), MotionLaw) else _renew(system, loop, k, state, t, parts)
        for k, law in enumerate(system.laws)
    )


def _renew(
    system: System, loop: SystemState, k: int, state: State, t: Scalar, parts: Numeric | None
) -> tuple[Any, Any]:
    """What law number k remembers and holds from now on."""
    law, (memory, old) = system.laws[k], loop.held[k]
    if not isinstance(law, Sampled) and parts is None:
        return _answer(system, law, memory, state, t)
    ticks = ticks_per_sample(system, law) if isinstance(law, Sampled) else 1
    due = loop.tick % (ticks if parts is None else ticks * parts) == 0
    # A branch: between its ticks a law costs nothing.
    return jax.lax.cond(due, lambda: _answer(system, law, memory, state, t), lambda: (memory, old))


def _answer(system: System, law: Any, memory: Any, state: State, t: Scalar) -> tuple[Any, Any]:
    """What a law remembers and holds if its tick is now."""
    inner, hold = (law.law, law.period) if isinstance(law, Sampled) else (law, system.dt)
    if isinstance(inner, MemoryLaw):
        with checked_call(inner, "sample"):
            new, answer = require_sample_pair(inner, inner.sample(memory, state, t, hold))
        return require_same_memory(inner, "sample", memory, new), require_answer_size(
            system.craft, inner, "sample", answer
        )
    if isinstance(inner, Remembering):
        with checked_call(inner, "remember"):
            memory = require_same_memory(inner, "remember", memory, inner.remember(memory, state, t, hold))
    if not isinstance(law, Sampled):
        return memory, ()
    acting = recall_law(law, memory)
    if isinstance(acting, MotionLaw):
        return memory, _rates_of(system, acting, motion_of(system.craft, state), t, hold)
    return memory, _force_of(system, acting, state, t, hold)


def _rates_of(system: System, law: Any, motion: Motion, t: Scalar, hold: float) -> Vector:
    with checked_call(law, "rates"):
        return require_answer_size(system.craft, law, "rates", law.rates(motion, t, hold))


def _force_of(system: System, law: Any, state: State, t: Scalar, hold: float) -> Vector:
    with checked_call(law, "force"):
        return require_answer_size(system.craft, law, "force", law.force(state, t, hold))


def apply_prescribed_rates(system: System, plant: Plant, held: tuple[Any, ...], t: Scalar) -> Plant:
    """Let prescribed joints take their rates now; a jump does work, which is booked."""
    if not prescribed_joints(system):
        return plant
    craft, state = system.craft, plant.state
    moving = with_prescribed_rates(system, state, held, t)
    # The joints push against one another: neither the drift nor the wheels' momenta change.
    work = inner_energy(craft, state.q, moving.v) - inner_energy(craft, state.q, state.v)
    books = plant.ledger
    books = dataclasses.replace(books, work=books.work + work, inner_work=books.inner_work + work)
    return Plant(state=moving, ledger=books)


def with_prescribed_rates(system: System, state: State, held: tuple[Any, ...], t: Scalar) -> State:
    """The state with the prescribed joints at their rates and everything else as momentum has it."""
    joints = prescribed_joints(system)
    if not joints:
        return state
    rates = _rates(system, motion_of(system.craft, state), held, t)
    return dataclasses.replace(state, v=impose_rates(system.craft, state.q, state.v, joints, rates))


@record
class Balance:
    """Motion and forces at an instant, all consistent with one another."""

    state: State  # prescribed joints at their rates
    vdot: Vector  # acceleration
    force: Vector  # generalised force: laws, inputs, what prescribed motion needs, elasticity, damping
    heat: Scalar  # power lost in damping [W]


def balance(
    system: System, state: State, held: tuple[Any, ...], inputs: Inputs, t: Scalar, t_inside: Scalar
) -> Balance:
    """Acceleration and forces under continuous laws, held answers and inputs; `t_inside`: see integrators."""
    craft = system.craft
    state = with_prescribed_rates(system, state, held, t)
    damping = damping_force(craft, state.v)
    force = _force(system, state, held, inputs, t_inside) + elastic_force(craft, state.q) + damping
    joints = prescribed_joints(system)
    # Physics does not know the drift, but rounding does: m v^2 of 7500 m/s would drown the torques.
    still = without_drift(state.v)
    if joints:
        motion = motion_of(craft, state)
        tangent = (motion_rate(craft, state, force), jnp.ones(()))
        _, acceleration = jax.jvp(lambda m, time: _rates(system, m, held, time), (motion, t_inside), tangent)
        vdot, force = hybrid_dynamics(craft, state.q, still, force, joints, acceleration)
    else:
        vdot = forward_dynamics(craft, state.q, still, force)
    return Balance(state=state, vdot=free_of_drift(vdot, state.v), force=force, heat=-(damping @ state.v))


def derivative(
    system: System, plant: Plant, held: tuple[Any, ...], inputs: Inputs, t: Scalar, t_inside: Scalar
) -> PlantRate:
    """Rate of the plant, its books included."""
    now = balance(system, plant.state, held, inputs, t, t_inside)
    craft, state, X_NB = system.craft, now.state, now.state.X_NB
    pushing = now.force - elastic_force(craft, state.q) - damping_force(craft, state.v)
    of_com = motion_of_com_by_mass_matrix if prescribed_joints(system) else motion_of_com
    wrench, (com, velocity) = now.force[:6], of_com(craft, state.q, state.v)
    return PlantRate(
        state=state_rate(craft, state, now.vdot),
        ledger=Ledger(
            work=pushing @ state.v,
            dissipated=now.heat,
            impulse=X_NB.wrench_to_A(wrench),
            inner_work=pushing @ speeds_about_com(craft, state.q, state.v, velocity),
            turning=X_NB.R @ (angular(wrench) - cross(com, linear(wrench))),
        ),
    )


def _rates(system: System, motion: Motion, held: tuple[Any, ...], t: Scalar) -> Vector:
    """Rates of all prescribed joints: continuous laws now, sampled ones as held."""
    answers = []
    for law, (memory, answer) in zip(system.laws, held, strict=True):
        acting = recall_law(law, memory)
        if isinstance(acting, MotionLaw):
            answers.append(answer if isinstance(law, Sampled) else _rates_of(system, acting, motion, t, 0.0))
    return jnp.concatenate(answers)


def _force(system: System, state: State, held: tuple[Any, ...], inputs: Inputs, t: Scalar) -> Vector:
    """Generalised force of all force laws and inputs."""
    total = jnp.zeros(system.craft.layout.nv)
    for law, (memory, answer) in zip(system.laws, held, strict=True):
        acting = recall_law(law, memory)
        if not isinstance(acting, MotionLaw):
            total = total + (answer if isinstance(law, Sampled) else _force_of(system, acting, state, t, 0.0))
    for frame, wrench in zip(system.wrench_frames, inputs.wrenches, strict=True):
        total = total + generalized_force(system.craft, state.q, frame, wrench)
    return total
