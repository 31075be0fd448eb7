"""The pure functions of a cycle that are compiled: process the readings, and compute the commands."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import frame_pose, frame_twist
from freefloat.dynamics.nominal_motion import FrameMotion, NominalMotion, advance_unforced, from_cell, to_cell
from freefloat.dynamics.relative_robots import arm_torque
from freefloat.dynamics.state_rate import StateRate, retract
from freefloat.hil.delay import predict_motion
from freefloat.hil.loop.cycle_checks import Bounds, RobotMeasurement, check_command, check_reading
from freefloat.hil.passivity import correct_wrench, observe_energy, port_mobility, relative_twist
from freefloat.model import State
from freefloat.sim.motion.actuation import Actuation
from freefloat.sim.motion.port_bus import PortBus
from freefloat.sim.system.system import Inputs, System, SystemState, tick_of
from freefloat.spatial import Pose, SpatialInertia
from freefloat.spatial.rotations import quaternion_conjugate, quaternion_log, quaternion_multiply
from freefloat.values import record
from freefloat.values.arrays import Flag, Matrix, Scalar, Vec3, Vec6, Vector

States = tuple[State, ...]
Motions = tuple[FrameMotion, ...]


@dataclass(frozen=True)
class CyclePlan:
    """Facts known before compiling: which robot carries which spacecraft (by number), and where wrenches act."""

    crafts: tuple[int, ...]  # spacecraft of each robot
    frames: tuple[str, ...]  # where its wrench acts, in its spacecraft; empty: nowhere
    sources: tuple[int, ...]  # robot whose sensor is used: itself, or the one whose reaction it takes
    arms: tuple[tuple[str, ...], ...]
    touching: int  # robot at whose port energy is observed; -1: none
    partner: int  # robot that carries the touched spacecraft; -1: the floor
    controls: bool  # whether the passivity controller acts
    relative: bool  # whether a nominal motion is left out
    ticks: int  # steps of a cycle


@record
class CycleSetup:
    """Numbers that stay the same throughout a rehearsal."""

    X_FZ: Pose
    Xs_MW: tuple[Pose, ...]  # the sensor of each robot
    body: SpatialInertia  # whose unforced motion is left out
    bounds: tuple[Bounds, ...]  # of each robot
    cycle: Scalar  # [s]
    dt: Scalar  # [s]
    delay: Scalar  # [s] that commands are ahead of the motion
    hold: Scalar  # [s] that commands are ahead besides, as a force is held for a cycle
    share: Scalar  # of the momentum that one cycle of the passivity controller may take
    gravity: Vec3  # [m/s2] in F


@record
class CycleMemory:
    """Memory of the readings, from one cycle to the next."""

    energy: Scalar  # [J] that the delay has absorbed
    wrenches: Matrix  # (robots, 6), of the last reading
    repeats: Vector  # how many readings of each have been the same


@record
class PortWrenches:
    """Result of a processed reading: wrenches at the ports, measured motion, and checks."""

    memory: CycleMemory
    wrenches: tuple[Vec6, ...]  # on each spacecraft at its port, in its axes
    seen: tuple[Vector, ...]  # measured motion of each spacecraft, as a difference from its simulated state
    shares: Matrix  # (robots, READING_CHECKS)
    sound: Flag  # whether no share is beyond its limit


@record
class CycleCommands:
    """Commands for the next cycle, and their checks."""

    nominal: NominalMotion
    motions: Motions  # of the carried frames in the cell, now
    commands: Motions  # these motions, predicted ahead of the delay
    arms: tuple[tuple[Vector, ...], ...]  # positions, rates and torques of the joints of each arm
    shares: Matrix  # (robots, COMMAND_CHECKS)
    sound: Flag


# ---- processing the readings


def process_readings(
    system: System,
    memory: CycleMemory,
    state: SystemState,
    nominal: NominalMotion,
    motions: Motions,
    commands: Motions,
    readings: tuple[RobotMeasurement, ...],
    setup: CycleSetup,
    *,
    plan: CyclePlan,
) -> PortWrenches:
    """Wrenches at the ports from the sensor readings; energy at the port of contact is observed, and limited.

    And the measured motion of the spacecraft: at the start, when the robots are at rest, it is the simulated motion.
    """
    states = state.states
    sensed = [_wrench_at_port(system, plan, states, setup, r, readings[r].wrench) for r in range(len(readings))]
    acting = [sensed[r] if plan.sources[r] == r else jnp.zeros(6) for r in range(len(readings))]
    seen = tuple(
        jnp.where(state.tick > 0, _measured_difference(system, plan, states, setup.X_FZ, nominal, r, readings[r]), 0.0)
        for r in range(len(readings))
    )
    energy, correction = jnp.asarray(memory.energy), jnp.zeros(6)
    a = plan.touching
    if a >= 0:
        V_sim = _touching_twist(system, plan, states, motions)
        measured = _with_arms(system, plan, states, seen)
        V_hw = _touching_twist(system, plan, measured, tuple(reading.motion for reading in readings))
        energy = observe_energy(energy, sensed[a], V_hw, V_sim, setup.cycle)
        if plan.controls:
            mobility = _mobility(system, plan, states)
            corrected = correct_wrench(energy, sensed[a], V_sim, mobility, setup.cycle, setup.share)
            energy, correction = corrected.energy, corrected.wrench - sensed[a]
            acting[a] = corrected.wrench
    for r, source in enumerate(plan.sources):
        if source != r:  # equal and opposite to the wrench on the other spacecraft
            acting[r] = -_wrench_between_ports(system, plan, states, source, r, acting[source])
        elif r == plan.partner and plan.frames[r]:
            acting[r] = acting[r] - _wrench_between_ports(system, plan, states, a, r, correction)
    wrenches = jnp.stack([reading.wrench for reading in readings])
    used = np.array([bool(frame) and plan.sources[r] == r for r, frame in enumerate(plan.frames)])
    loaded = jnp.any(wrenches != 0.0, axis=1) & used
    same = jnp.all(wrenches == memory.wrenches, axis=1) & loaded
    repeats = jnp.where(same, jnp.asarray(memory.repeats) + 1.0, loaded * 1.0)
    shares = jnp.stack(
        [
            check_reading(setup.bounds[r], readings[r], commands[r], repeats[r], setup.cycle)
            for r in range(len(readings))
        ]
    )
    return PortWrenches(CycleMemory(energy, wrenches, repeats), tuple(acting), seen, shares, jnp.all(shares <= 1.0))


def _measured_difference(
    system: System, plan: CyclePlan, states: States, X_FZ: Pose, nominal: NominalMotion, r: int, read: RobotMeasurement
) -> Vector:
    """Measured motion of a robot's spacecraft in orbit (eq. 23), as a difference from its simulated state."""
    c = plan.crafts[r]
    layout, state = system.world.crafts[c].layout, states[c]
    measured = from_cell(X_FZ, nominal, read.motion)
    turn = quaternion_log(quaternion_multiply(quaternion_conjugate(jnp.asarray(state.quat_NB)), measured.quaternion))
    q = np.array([layout.position(joint).start for joint in plan.arms[r]], dtype=int)
    v = np.array(layout.indices(plan.arms[r]), dtype=int)
    base = jnp.zeros(layout.nv).at[np.arange(6)].set(measured.twist - state.V_NB)
    return StateRate(
        velocity=measured.position - state.p_NB,
        turn=turn,
        q=jnp.zeros(layout.nq).at[q].set(read.arm - jnp.asarray(state.q)[q]),
        v=base.at[v].set(read.arm_rates - jnp.asarray(state.v)[v]),
    ).vector()


def _wrench_at_port(system: System, plan: CyclePlan, states: States, setup: CycleSetup, r: int, wrench: Vec6) -> Vec6:
    """Measured wrench of a robot's sensor W, transformed to the frame of its port."""
    if not plan.frames[r]:
        return jnp.zeros(6)
    c = plan.crafts[r]
    X_MP = frame_pose(system.world.crafts[c], states[c].q, plan.frames[r])
    return (X_MP.inverse() @ setup.Xs_MW[r]).wrench_to_A(wrench)


def _wrench_between_ports(system: System, plan: CyclePlan, states: States, a: int, b: int, wrench: Vec6) -> Vec6:
    """A wrench at the port of robot a, transformed to that of robot b as both are in orbit."""
    poses = [
        states[c].X_NB @ frame_pose(system.world.crafts[c], states[c].q, plan.frames[r])
        for r, c in ((a, plan.crafts[a]), (b, plan.crafts[b]))
    ]
    return (poses[1].inverse() @ poses[0]).wrench_to_A(wrench)


def _touching_twist(system: System, plan: CyclePlan, states: States, motions: Motions) -> Vec6:
    """Twist of the frame of contact relative to what it touches, in its axes; `motions` are those of the bases."""
    X_FP, V = _port_motion(system, plan, states, motions, plan.touching)
    if plan.partner < 0:
        return V
    X_FQ, V_other = _port_motion(system, plan, states, motions, plan.partner)
    return relative_twist(V, X_FP.inverse() @ X_FQ, V_other)


def _port_motion(system: System, plan: CyclePlan, states: States, motions: Motions, r: int) -> tuple[Pose, Vec6]:
    """Pose and twist in the cell of the frame of a robot's port; of the base of its spacecraft without a port."""
    c, frame = plan.crafts[r], plan.frames[r] or "base"
    craft, state = system.world.crafts[c], states[c]
    v = jnp.asarray(state.v).at[np.arange(6)].set(motions[r].twist)
    return motions[r].pose @ frame_pose(craft, state.q, frame), frame_twist(craft, state.q, v, frame)


def _with_arms(system: System, plan: CyclePlan, states: States, seen: tuple[Vector, ...]) -> States:
    """States with the measured joints of carried arms."""
    updated = list(states)
    for r, c in enumerate(plan.crafts):
        if plan.arms[r]:
            updated[c] = retract(states[c], StateRate.from_vector(seen[r], system.world.crafts[c].layout.nq))
    return tuple(updated)


def _mobility(system: System, plan: CyclePlan, states: States) -> Matrix:
    c, world = plan.crafts[plan.touching], system.world
    prescribed = world.crafts[c].layout.indices(system.wiring.prescribed[c])
    others = () if plan.partner < 0 else ((plan.crafts[plan.partner], plan.frames[plan.partner] or "base"),)
    return port_mobility(
        world.crafts[c],
        states[c],
        plan.frames[plan.touching],
        tuple(prescribed),
        tuple((world.crafts[other], states[other], touched) for other, touched in others),
    )


# ---- computing the commands


def compute_commands(
    system: System,
    state: SystemState,
    inputs: Inputs,
    nominal: NominalMotion,
    before: Motions,
    last: Motions,
    setup: CycleSetup,
    *,
    plan: CyclePlan,
    first: bool = False,
) -> CycleCommands:
    """Commands: motions of the spacecraft in the cell, predicted ahead of the delay, and their shares of the limits.

    `before`: motions a cycle ago; `last`: commands of that cycle. With `first` there was no cycle before.
    """
    if plan.relative and not first:
        for _ in range(plan.ticks):
            nominal = advance_unforced(setup.body, nominal, setup.dt)
    motions, commands, arms, shares = [], [], [], []
    for r, c in enumerate(plan.crafts):
        own = state.states[c]
        motion = to_cell(setup.X_FZ, nominal, FrameMotion(own.p_NB, own.quat_NB, own.V_NB))
        rate = jnp.zeros(6) if first else (motion.twist - before[r].twist) / setup.cycle
        ahead = predict_motion(motion, rate, setup.delay, setup.hold)
        motions.append(motion)
        commands.append(ahead)
        arm: tuple[Vector, ...] = ()
        if plan.arms[r]:
            relative, gravity = _state_from_nominal(setup.X_FZ, motion, own), setup.X_FZ.R.T @ setup.gravity
            arm = _arm_command(system, state, inputs, c, plan.arms[r], nominal, relative, gravity)
            arms.append(arm)
        shares.append(check_command(setup.bounds[r], ahead, ahead if first else last[r], arm, setup.cycle))
    checked = jnp.stack(shares)
    return CycleCommands(nominal, tuple(motions), tuple(commands), tuple(arms), checked, jnp.all(checked <= 1.0))


def _state_from_nominal(X_FZ: Pose, motion: FrameMotion, state: State) -> State:
    """State of a spacecraft as it moves in the cell, relative to the frame Z of the nominal motion."""
    X_ZM = X_FZ.inverse() @ motion.pose
    v = jnp.concatenate([jnp.asarray(motion.twist), jnp.asarray(state.v)[np.arange(6, state.v.shape[0])]])
    return State(p_NB=X_ZM.p, quat_NB=X_ZM.quaternion, q=state.q, v=v)


def _arm_command(
    system: System,
    state: SystemState,
    inputs: Inputs,
    c: int,
    joints: tuple[str, ...],
    nominal: NominalMotion,
    relative: State,
    gravity: Vec3,
) -> tuple[Vector, Vector, Vector]:
    """Positions [rad], rates [rad/s] and torques [N m] of joints of spacecraft c, in the order of `joints`.

    The torques are those of its software, those against gravity, and those for a base that moves unlike in orbit.
    `relative` is the state of the spacecraft in the cell, relative to Z; `gravity` [m/s2] is in axes of Z.
    """
    craft, own, tick = system.world.crafts[c], state.states[c], tick_of(system, state)
    q = np.array([craft.layout.position(joint).start for joint in joints], dtype=int)
    v = np.array(craft.layout.indices(joints), dtype=int)
    here = PortBus(system, state, state.states, inputs, tick.t, tick.number)
    torques = Actuation(here, c, tick.t).joint_torques()
    torque = arm_torque(craft, nominal, relative, torques[np.arange(6, craft.layout.nv)], gravity).total
    return jnp.asarray(own.q)[q], jnp.asarray(own.v)[v], torque[v - 6]
