"""The three pure functions of a cycle: what is felt, how the world goes on, what is commanded."""

from __future__ import annotations

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np

from freefloat.dynamics import frame_pose, frame_twist
from freefloat.dynamics.nominal_motion import FrameMotion, NominalMotion, advance_unforced, from_cell, to_cell
from freefloat.dynamics.state_rate import StateRate, retract
from freefloat.hil.delay import predict
from freefloat.hil.loop.arm_commands import arm_command
from freefloat.hil.loop.cycle_checks import Bounds, Measured, check_command, check_reading
from freefloat.hil.passivity import correct_wrench, observe_energy, port_mobility, relative_twist
from freefloat.model import State
from freefloat.sim.system.system import Inputs, System, SystemState
from freefloat.spatial import Pose, SpatialInertia
from freefloat.spatial.rotations import quaternion_conjugate, quaternion_log, quaternion_multiply
from freefloat.values import record
from freefloat.values.arrays import Flag, Matrix, Scalar, Vec3, Vec6, Vector

States = tuple[State, ...]
Motions = tuple[FrameMotion, ...]


@dataclass(frozen=True)
class Plan:
    """What is known before compiling: who carries what, and where wrenches go. Numbers of spacecraft and robots."""

    crafts: tuple[int, ...]  # of each robot
    frames: tuple[str, ...]  # at which its wrench enters, in its spacecraft; empty: nowhere
    sources: tuple[int, ...]  # robot whose sensor says it: itself, or that of which it is the reaction
    arms: tuple[tuple[str, ...], ...]
    touching: int  # robot at whose port energy is observed; -1: none
    partner: int  # robot that carries what it touches; -1: the floor
    controls: bool  # whether the passivity controller acts
    relative: bool  # whether a nominal motion is left out
    ticks: int  # steps of a cycle


@record
class Setup:
    """Numbers that stay the same throughout a rehearsal."""

    X_FZ: Pose
    Xs_MW: tuple[Pose, ...]  # the sensor of each robot
    body: SpatialInertia  # whose unforced motion is left out
    bounds: tuple[Bounds, ...]  # of each robot
    cycle: Scalar  # [s]
    dt: Scalar  # [s]
    delay: Scalar  # [s] that commands are ahead
    hold: Scalar  # [s] the same, for the hold of the force
    share: Scalar  # of the momentum that one cycle of the passivity controller may take
    gravity: Vec3  # [m/s2] in F


@record
class Memory:
    """What is carried from one reading to the next."""

    energy: Scalar  # [J] that the delay has absorbed
    wrenches: Matrix  # (robots, 6), the last
    repeats: Vector  # how often each has been the same


@record
class Felt:
    """What a reading comes to."""

    memory: Memory
    wrenches: tuple[Vec6, ...]  # on each spacecraft at its port, in its axes
    seen: tuple[Vector, ...]  # what sensors see of each spacecraft, as a step from its simulated state
    shares: Matrix  # (robots, READING_CHECKS)
    sound: Flag  # whether none of them is beyond its limit


@record
class Answer:
    """What is to be done next."""

    nominal: NominalMotion
    motions: Motions  # of the carried frames in the cell, now
    commands: Motions  # the same, ahead of the delay
    arms: tuple[tuple[Vector, ...], ...]  # positions, rates and torques of the joints of each arm
    shares: Matrix  # (robots, COMMAND_CHECKS)
    sound: Flag


# ---- what is felt


def feel(
    system: System,
    memory: Memory,
    loop: SystemState,
    nominal: NominalMotion,
    motions: Motions,
    commands: Motions,
    readings: tuple[Measured, ...],
    setup: Setup,
    *,
    plan: Plan,
) -> Felt:
    """Wrenches at the ports of what the sensors say, the energy at the port of contact observed and kept in check.

    And where the spacecraft are seen: at the start, when the robots stand still, where they are simulated.
    """
    states = loop.states
    sensed = [_at_port(system, plan, states, setup, r, readings[r].wrench) for r in range(len(readings))]
    felt = [sensed[r] if plan.sources[r] == r else jnp.zeros(6) for r in range(len(readings))]
    seen = tuple(
        jnp.where(loop.tick > 0, _seen(system, plan, states, setup.X_FZ, nominal, r, readings[r]), 0.0)
        for r in range(len(readings))
    )
    energy, correction = jnp.asarray(memory.energy), jnp.zeros(6)
    a = plan.touching
    if a >= 0:
        V_sim = _touching_twist(system, plan, states, motions)
        measured = _with_arms(system, plan, states, seen)
        V_hw = _touching_twist(system, plan, measured, tuple(one.motion for one in readings))
        energy = observe_energy(energy, sensed[a], V_hw, V_sim, setup.cycle)
        if plan.controls:
            mobility = _mobility(system, plan, states)
            corrected = correct_wrench(energy, sensed[a], V_sim, mobility, setup.cycle, setup.share)
            energy, correction = corrected.energy, corrected.wrench - sensed[a]
            felt[a] = corrected.wrench
    for r, source in enumerate(plan.sources):
        if source != r:  # equal and opposite to what the other one feels
            felt[r] = -_between_ports(system, plan, states, source, r, felt[source])
        elif r == plan.partner and plan.frames[r]:
            felt[r] = felt[r] - _between_ports(system, plan, states, a, r, correction)
    wrenches = jnp.stack([one.wrench for one in readings])
    used = np.array([bool(frame) and plan.sources[r] == r for r, frame in enumerate(plan.frames)])
    feels = jnp.any(wrenches != 0.0, axis=1) & used
    same = jnp.all(wrenches == memory.wrenches, axis=1) & feels
    repeats = jnp.where(same, jnp.asarray(memory.repeats) + 1.0, feels * 1.0)
    shares = jnp.stack(
        [
            check_reading(setup.bounds[r], readings[r], commands[r], repeats[r], setup.cycle)
            for r in range(len(readings))
        ]
    )
    return Felt(Memory(energy, wrenches, repeats), tuple(felt), seen, shares, jnp.all(shares <= 1.0))


def _seen(
    system: System, plan: Plan, states: States, X_FZ: Pose, nominal: NominalMotion, r: int, read: Measured
) -> Vector:
    """Where the spacecraft of a robot is in orbit by what the robot measured (eq. 23), from where it is simulated."""
    c = plan.crafts[r]
    layout, state = system.world.crafts[c].layout, states[c]
    there = from_cell(X_FZ, nominal, read.motion)
    turn = quaternion_log(quaternion_multiply(quaternion_conjugate(jnp.asarray(state.quat_NB)), there.quaternion))
    q = np.array([layout.position(joint).start for joint in plan.arms[r]], dtype=int)
    v = np.array(layout.indices(plan.arms[r]), dtype=int)
    base = jnp.zeros(layout.nv).at[np.arange(6)].set(there.twist - state.V_NB)
    return StateRate(
        velocity=there.position - state.p_NB,
        turn=turn,
        q=jnp.zeros(layout.nq).at[q].set(read.arm - jnp.asarray(state.q)[q]),
        v=base.at[v].set(read.arm_rates - jnp.asarray(state.v)[v]),
    ).vector()


def _at_port(system: System, plan: Plan, states: States, setup: Setup, r: int, wrench: Vec6) -> Vec6:
    """What the sensor W of a robot says, at the frame of its port."""
    if not plan.frames[r]:
        return jnp.zeros(6)
    c = plan.crafts[r]
    X_MP = frame_pose(system.world.crafts[c], states[c].q, plan.frames[r])
    return (X_MP.inverse() @ setup.Xs_MW[r]).wrench_to_A(wrench)


def _between_ports(system: System, plan: Plan, states: States, a: int, b: int, wrench: Vec6) -> Vec6:
    """A wrench at the port of robot a, carried to that of robot b as both are in orbit."""
    poses = [
        states[c].X_NB @ frame_pose(system.world.crafts[c], states[c].q, plan.frames[r])
        for r, c in ((a, plan.crafts[a]), (b, plan.crafts[b]))
    ]
    return (poses[1].inverse() @ poses[0]).wrench_to_A(wrench)


def _touching_twist(system: System, plan: Plan, states: States, motions: Motions) -> Vec6:
    """Twist of the frame of contact relative to what it touches, in its axes, with the bases as `motions` say."""
    X_FP, V = _port_motion(system, plan, states, motions, plan.touching)
    if plan.partner < 0:
        return V
    X_FQ, V_other = _port_motion(system, plan, states, motions, plan.partner)
    return relative_twist(V, X_FP.inverse() @ X_FQ, V_other)


def _port_motion(system: System, plan: Plan, states: States, motions: Motions, r: int) -> tuple[Pose, Vec6]:
    """Pose and twist in the cell of the frame of a robot's port; of its base where it has none."""
    c, frame = plan.crafts[r], plan.frames[r] or "base"
    craft, state = system.world.crafts[c], states[c]
    v = jnp.asarray(state.v).at[np.arange(6)].set(motions[r].twist)
    return motions[r].pose @ frame_pose(craft, state.q, frame), frame_twist(craft, state.q, v, frame)


def _with_arms(system: System, plan: Plan, states: States, seen: tuple[Vector, ...]) -> States:
    """States with the joints of carried arms as they were measured."""
    found = list(states)
    for r, c in enumerate(plan.crafts):
        if plan.arms[r]:
            found[c] = retract(states[c], StateRate.from_vector(seen[r], system.world.crafts[c].layout.nq))
    return tuple(found)


def _mobility(system: System, plan: Plan, states: States) -> Matrix:
    c, world = plan.crafts[plan.touching], system.world
    given = world.crafts[c].layout.indices(system.wiring.prescribed[c])
    others = () if plan.partner < 0 else ((plan.crafts[plan.partner], plan.frames[plan.partner] or "base"),)
    return port_mobility(
        world.crafts[c],
        states[c],
        plan.frames[plan.touching],
        tuple(given),
        tuple((world.crafts[other], states[other], touched) for other, touched in others),
    )


# ---- what is commanded


def command(
    system: System,
    loop: SystemState,
    inputs: Inputs,
    nominal: NominalMotion,
    before: Motions,
    last: Motions,
    setup: Setup,
    *,
    plan: Plan,
    first: bool = False,
) -> Answer:
    """Motions in the cell of where the spacecraft are now, ahead of the delay, and how near they are to the limits.

    `before`: motions a cycle ago; `last`: what was commanded then. With `first` there was no cycle before.
    """
    if plan.relative and not first:
        for _ in range(plan.ticks):
            nominal = advance_unforced(setup.body, nominal, setup.dt)
    motions, commands, arms, shares = [], [], [], []
    for r, c in enumerate(plan.crafts):
        state = loop.states[c]
        motion = to_cell(setup.X_FZ, nominal, FrameMotion(state.p_NB, state.quat_NB, state.V_NB))
        rate = jnp.zeros(6) if first else (motion.twist - before[r].twist) / setup.cycle
        ahead = predict(motion, rate, setup.delay, setup.hold)
        motions.append(motion)
        commands.append(ahead)
        arm: tuple[Vector, ...] = ()
        if plan.arms[r]:
            relative, gravity = _seen_from_nominal(setup.X_FZ, motion, state), setup.X_FZ.R.T @ setup.gravity
            arm = arm_command(system, loop, inputs, c, plan.arms[r], nominal, relative, gravity)
            arms.append(arm)
        shares.append(check_command(setup.bounds[r], ahead, ahead if first else last[r], arm, setup.cycle))
    checked = jnp.stack(shares)
    return Answer(nominal, tuple(motions), tuple(commands), tuple(arms), checked, jnp.all(checked <= 1.0))


def _seen_from_nominal(X_FZ: Pose, motion: FrameMotion, state: State) -> State:
    """A spacecraft as it moves in the cell, seen from Z."""
    X_ZM = X_FZ.inverse() @ motion.pose
    v = jnp.concatenate([jnp.asarray(motion.twist), jnp.asarray(state.v)[np.arange(6, state.v.shape[0])]])
    return State(p_NB=X_ZM.p, quat_NB=X_ZM.quaternion, q=state.q, v=v)
