"""The reference cases of the relative dynamics: Envisat and a servicer that is held, pushed, thrusts and bumps into it.

States are (servicer, client) everywhere. What acts is chosen by switches, so that one program serves all cases.
"""

from collections.abc import Sequence
from functools import cache, partial
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from freefloat import engine, library
from freefloat.dynamics import (
    FrameMotion,
    NominalMotion,
    RelativeMotion,
    TwofoldMotion,
    absolute_state,
    arm_torque,
    composite_inertia,
    forward_dynamics,
    frame_pose,
    frame_twist,
    generalized_force,
    gravity_force,
    kinetic_energy,
    mass_matrix,
    momentum_about_origin,
    relative_step,
    robot_wrench,
    state_rate,
    twofold_step,
    unforced_twist_rate,
)
from freefloat.dynamics.relative_steps import nominal_of, relative_rates
from freefloat.dynamics.state_steps import frame_rate, step_states
from freefloat.model import State
from freefloat.spatial import Pose, angular, cross_motion, linear, six
from freefloat.spatial.rotations import cross
from freefloat.values import record

CRAFTS = (library.servicer(), library.envisat())
QA = np.array(library.SERVICER_FOLDED)
HELD_INERTIA = np.asarray(mass_matrix(CRAFTS[0], QA))[6:, 6:]
BODY = jax.tree.map(np.asarray, composite_inertia(CRAFTS[1], np.zeros(0)))

# Joints held, tool pushed, base thrusts, tool bumps.
FREE = np.zeros(4)
HELD = np.array([1.0, 0.0, 0.0, 0.0])
PUSHED = np.array([1.0, 1.0, 0.0, 0.0])
THRUST = np.array([1.0, 1.0, 1.0, 0.0])
BUMPED = np.array([1.0, 0.0, 0.0, 1.0])


def start(spin_deg_s: float = -2.5, approach: float = 0.0) -> tuple[State, State]:
    """Both co-rotating; the servicer may drift towards the client [m/s]."""
    client = library.envisat_start(spin_deg_s=spin_deg_s)
    servicer = library.servicer_start(client)
    v = np.array(servicer.v)
    v[0] += approach
    return State(servicer.p_NB, servicer.quat_NB, servicer.q, v), client


# ---- what acts, as generalised forces of states in orbit


def hold_torque(q: Any, qd: Any) -> Any:
    """Joint torques that hold the arm where it started [N m]."""
    return -HELD_INERTIA @ (36.0 * (q - QA) + 9.6 * qd)


def tool_wrench(t: Any) -> Any:
    """Two pulses on the tool, tool axes [N, N m]."""

    def pulse(begin: float, length: float, amplitude: Sequence[float]) -> Any:
        acting = (t >= begin) & (t < begin + length)
        return jnp.where(acting, jnp.sin(jnp.pi * (t - begin) / length) ** 2, 0.0) * np.array(amplitude)

    first = pulse(2.0, 2.0, (15.0, -10.0, -25.0, 0.8, -0.5, 0.4))
    return first + pulse(6.0, 0.5, (-30.0, 12.0, 8.0, 0.3, 0.6, -0.5))


def thrust(t: Any) -> Any:
    """On the servicer's base, base axes [N, N m]."""
    changing = (3.0 * jnp.sin(t), -1.5 * jnp.cos(0.7 * t), -0.5 * jnp.sin(2.0 * t))
    return jnp.array([0.0, 2.0, 0.0, 0.8, 0.0, 0.3]).at[np.array([0, 2, 4])].add(jnp.stack(changing))


def client_from_tool(states: tuple[State, State]) -> Pose:
    """X_TE of the tool in the client's frame."""
    servicer, client = states
    return client.X_NB.inverse() @ servicer.X_NB @ frame_pose(CRAFTS[0], servicer.q, "tool")


def contact_wrench(states: tuple[State, State]) -> Any:
    """On the tool, tool axes: its origin against the plane x = 2.9 m of the client, one-sided, 2 kN/m and 200 N s/m."""
    X_TE, servicer, client = client_from_tool(states), *states
    velocity = X_TE.R @ linear(frame_twist(CRAFTS[0], servicer.q, servicer.v, "tool"))
    closing = velocity - (linear(client.V_NB) + cross(angular(client.V_NB), X_TE.p))
    depth = 2.9 - X_TE.p[0]
    push = jnp.where(depth > 0.0, jnp.maximum(0.0, 2000.0 * depth - 200.0 * closing[0]), 0.0)
    return six(push * X_TE.R.T @ np.array([1.0, 0.0, 0.0]), jnp.zeros(3))


def touches(switches: Any, states: Any, t: Any) -> tuple[Any, Any]:
    """Forces of what the tool is given; the client gets it back."""
    wrench = switches[1] * tool_wrench(t) + switches[3] * contact_wrench(states)
    on_servicer = generalized_force(CRAFTS[0], states[0].q, "tool", wrench)
    return on_servicer, -client_from_tool(states).wrench_to_A(wrench)


def loads(switches: Any, states: Any, t: Any) -> tuple[Any, Any]:
    """Forces of everything on the servicer and on the client."""
    servicer = states[0]
    on_servicer, on_client = touches(switches, states, t)
    on_servicer = on_servicer.at[6:].add(switches[0] * hold_torque(servicer.q, servicer.v[6:]))
    return on_servicer.at[:6].add(switches[2] * thrust(t)), on_client


def nominal_rate(motion: FrameMotion, t: Any) -> Any:
    """Unforced motion of the client."""
    return unforced_twist_rate(BODY, motion.twist)


# ---- steps


@record
class InOrbit:
    """The states in orbit and the time."""

    time: Any
    states: tuple[State, ...]


def orbit_step(motion: InOrbit, dt: Any, switches: Any) -> InOrbit:
    """The equations as they are in orbit: what everything is compared with."""

    def rates(states: Any, t: Any) -> Any:
        return tuple(
            state_rate(craft, state, forward_dynamics(craft, state.q, state.v, force))
            for craft, state, force in zip(CRAFTS, states, loads(switches, states, t), strict=True)
        )

    return InOrbit(motion.time + dt, step_states(rates, motion.states, motion.time, dt))


def cell_step(motion: RelativeMotion, dt: Any, switches: Any) -> RelativeMotion:
    """One integrator."""
    return relative_step(CRAFTS, nominal_rate, partial(loads, switches), motion, dt)


def two_step(motion: TwofoldMotion, dt: Any, switches: Any) -> TwofoldMotion:
    """Two integrators."""
    return twofold_step(CRAFTS, nominal_rate, partial(loads, switches), motion, dt)


def wrong_step(motion: RelativeMotion, dt: Any, switches: Any, factor: Any) -> RelativeMotion:
    """One integrator with the ad term of DVdot times a factor: 0 leaves it out, -1 has its sign wrong."""

    def rates(states: Any, t: Any) -> Any:
        right, nominal = relative_rates(CRAFTS, nominal_rate, partial(loads, switches), states, t)
        changed = [right[0]]
        for rate, state in zip(right[1:], states[1:], strict=True):
            ad = cross_motion(state.V_NB, state.X_NB.twist_to_B(nominal.twist))
            changed.append(type(rate)(rate.velocity, rate.turn, rate.q, rate.v.at[:6].add((factor - 1.0) * ad)))
        return tuple(changed)

    nominal, *states = step_states(rates, (motion.nominal, *motion.states), motion.time, dt)
    return RelativeMotion(motion.time + dt, nominal, tuple(states))


# Robots that carry the same arm on other inertias, and gravity in their cell.
ROBOTS = (
    CRAFTS[0].with_value("base.mass", 300.0).with_value("base.inertia", np.diag([90.0, 60.0, 120.0])),
    CRAFTS[1].with_value("base.mass", 150.0).with_value("base.inertia", np.diag([20.0, 40.0, 50.0])),
)
GRAVITY = np.array([0.3, -0.2, -9.8])  # [m/s2]


def robot_step(motion: RelativeMotion, dt: Any, switches: Any) -> RelativeMotion:
    """Robots of their own inertia, driven by the wrenches and torques of the impedance form, contact felt by both."""

    def rates(states: Any, t: Any) -> Any:
        Z, relative = nominal_of(states[0], nominal_rate, t), states[1:]
        orbit = tuple(absolute_state(Z, state) for state in relative)
        found = [frame_rate(states[0], Z.twist_rate)]
        for craft, robot, state, force, touch in zip(
            CRAFTS, ROBOTS, relative, loads(switches, orbit, t), touches(switches, orbit, t), strict=True
        ):
            wrench = robot_wrench((craft, robot), Z, state, force, touch)
            motors = arm_torque(craft, Z, state, (force - touch)[6:], GRAVITY).total
            weight = gravity_force(craft, state.q, state.X_NB.R.T @ GRAVITY)[6:]
            acting = jnp.concatenate([wrench, motors + weight]) + touch
            found.append(state_rate(robot, state, forward_dynamics(robot, state.q, state.v, acting)))
        return tuple(found)

    nominal, *states = step_states(rates, (motion.nominal, *motion.states), motion.time, dt)
    return RelativeMotion(motion.time + dt, nominal, tuple(states))


# ---- motions


@cache
def _program(step: Any, *example: Any) -> Any:
    first = {orbit_step: in_orbit, two_step: in_both}.get(step, in_cell)(start())
    return engine.compile(step, first, np.zeros(()), np.zeros(4), *(np.zeros(()) for _ in example))


def in_orbit(states: tuple[State, State]) -> InOrbit:
    """The start in orbit."""
    return InOrbit(np.zeros(()), states)


def _nominal(states: tuple[State, State]) -> FrameMotion:
    client = states[1]
    return FrameMotion(client.p_NB, client.quat_NB, client.V_NB)


def in_cell(states: tuple[State, State]) -> RelativeMotion:
    """The same start seen from Z, which moves as the client would if nothing ever pushed it."""
    return RelativeMotion.start(_nominal(states), states)


def in_both(states: tuple[State, State]) -> TwofoldMotion:
    """The same start, in orbit and in the cell."""
    return TwofoldMotion.start(_nominal(states), states, in_cell(states).states)


def move(step: Any, motion: Any, switches: np.ndarray, dt: float, duration: float, samples: int, *more: float) -> Any:
    """The motion at evenly spaced samples after the start, with a leading axis."""
    steps, held = round(duration / dt), (np.float64(dt), switches, *map(np.float64, more))
    return _program(step, *more).rollout(motion, *held, steps=steps, record_every=steps // samples).record


@cache
def _mapping() -> Any:
    def mapped(nominal: State, states: tuple[State, State]) -> tuple[State, ...]:
        Z = NominalMotion(nominal.p_NB, nominal.quat_NB, nominal.V_NB, jnp.zeros(6))
        return tuple(absolute_state(Z, state) for state in states)

    motion = in_cell(start())
    return engine.compile(mapped, motion.nominal, motion.states)


def mapped_to_orbit(motion: Any) -> tuple[State, State]:
    """Recorded relative states as they are in orbit (eq. 23)."""
    return _mapping().batch(motion.nominal, motion.states)


# ---- measuring


def gap(a: State, b: State) -> tuple[float, float, float]:
    """Largest distance [m], angle [rad] and difference of joints [rad] between recorded states."""
    same = np.sign(np.sum(a.quat_NB * b.quat_NB, axis=-1))[:, None]
    chord = np.linalg.norm(a.quat_NB * same - b.quat_NB, axis=-1).max()
    distance = np.linalg.norm(a.p_NB - b.p_NB, axis=-1).max()
    return float(distance), float(4.0 * np.arcsin(chord / 2.0)), float(np.max(np.abs(a.q - b.q), initial=0.0))


@cache
def _momentum() -> Any:
    def total(states: tuple[State, State]) -> Any:
        servicer, client = states
        return momentum_about_origin(CRAFTS[0], servicer) + momentum_about_origin(CRAFTS[1], client)

    return engine.compile(total, start())


def momentum_drift(states: tuple[State, State], first: tuple[State, State]) -> tuple[float, float]:
    """Largest change of a component of (P [N s], L_0 [N m s]) of both together, inertial axes."""
    drift = np.abs(_momentum().batch(states) - _momentum()(first)).max(axis=0)
    return float(drift[:3].max()), float(drift[3:].max())


def total_momentum(states: tuple[State, State]) -> np.ndarray:
    """(P, L_0) of both together, inertial axes."""
    return np.asarray(_momentum()(states))


@cache
def _energy_and_powers() -> Any:
    def measured(states: tuple[State, State]) -> tuple[Any, Any, Any]:
        servicer, client = states
        energies = (kinetic_energy(craft, state.q, state.v) for craft, state in zip(CRAFTS, states, strict=True))
        wrench = contact_wrench(states)
        on_servicer = generalized_force(CRAFTS[0], servicer.q, "tool", wrench)
        on_client = -client_from_tool(states).wrench_to_A(wrench)
        contact = on_servicer @ servicer.v + on_client @ client.v
        return sum(energies), contact, hold_torque(servicer.q, servicer.v[6:]) @ servicer.v[6:]

    return engine.compile(measured, start())


def energy_and_powers(states: tuple[State, State]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Kinetic energy [J], power of the contact on both and of the held joints [W], at each record."""
    return _energy_and_powers().batch(states)
