"""Computing share of a rehearsal's cycle of 1 ms, beside loops of Pinocchio and MuJoCo with the same plant.

python benchmarks/rehearsal.py [--json]     # 10 us are 1 % of the cycle

The plant: Envisat and a servicer whose seven joints are held by software, pushed by a wrench that changes every cycle.
Ours is a whole cycle as a rehearsal makes it: take in readings, carry the wrench to both ports, observe energy and
control passivity, check, advance the world by RK4, advance the nominal motion, map to the cell, predict, torques of the
arm, check, build commands, fill the row of the log. The robots are aside: their answers are made beforehand. The peers'
loops are the bare plant: the software, the wrench, and one RK4 step of 1 ms of both spacecraft, nothing else.
"""

from __future__ import annotations

import contextlib
import gc
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import comparison
import models
import numpy as np
import timing

import freefloat as ff
from freefloat.hil import Facility, FacilityReading, Limits, MotionCommand, Rehearsal, RobotAssignment, RobotReading
from freefloat.hil.cell import ideal_robot
from freefloat.hil.loop.cycle import Cycle
from freefloat.hil.loop.rehearsal_loop import Hooks, Lockstep, RehearsalLoop
from freefloat.hil.loop.rows import EFFORT
from freefloat.library import envisat, envisat_start, servicer, servicer_start

CYCLE = 1e-3  # [s]
CYCLES = 4000
WRENCH = np.array([15.0, -10.0, -25.0, 0.8, -0.5, 0.4])  # [N, N m], spec of the paper's pulses


@ff.record
class Hold(ff.Software):
    """Holds the joints where they are: -Mq (36 (q - q0) + 9.6 qdot)."""

    joints: tuple[str, ...] = ff.static(default=())
    target: np.ndarray | None = None  # [rad]
    inertia: np.ndarray | None = None  # [kg m2]

    def command(self, memory, y, clock):
        error = 36.0 * (y["joints.position"] - self.target) + 9.6 * y["joints.rate"]
        return ff.JointTorques(self.joints, -self.inertia @ error)


def plant() -> tuple[ff.Experiment, np.ndarray]:
    """The experiment, and the inertia of the joints that its software assumes."""
    client = envisat_start(spin_deg_s=-2.5)
    craft, start = servicer(), servicer_start(client)
    inertia = np.asarray(ff.dynamics.mass_matrix(craft, start.q))[6:, 6:]
    software = Hold(craft.layout.moving_joints, np.asarray(start.q), inertia, on="servicer", period=CYCLE)
    made = ff.Experiment.of(
        ff.World(servicer=craft, client=envisat()),
        software,
        state={"servicer": start, "client": client},
        duration=CYCLES * CYCLE,
        dt=CYCLE,
        inputs={"servicer.tool.wrench": np.zeros(6), "client.ring.wrench": np.zeros(6)},
        vary="nothing",
    )
    return made, inertia


class Still(Facility):
    """Answers at once, where it was commanded to be, with a wrench that changes from cycle to cycle."""

    name, cycle = "still", CYCLE

    def __init__(self, arm: tuple[str, ...]) -> None:
        self.robots = (ideal_robot("servicer", arm_joints=arm), ideal_robot("client"))
        self._count = 0

    def start(self, commands: dict[str, MotionCommand]) -> FacilityReading:
        return self._read(commands)

    def exchange(self, commands: dict[str, MotionCommand]) -> FacilityReading:
        self._count += 1
        return self._read(commands)

    def stop(self, reason: str) -> None:
        return

    def _read(self, commands: dict[str, MotionCommand]) -> FacilityReading:
        none, push = np.zeros(0), WRENCH * np.sin(0.02 * self._count)
        robots = {
            name: RobotReading(
                command.position,
                command.quaternion,
                command.twist,
                push,
                none,
                none,
                arm_position=command.arm.position if command.arm else none,
                arm_velocity=command.arm.velocity if command.arm else none,
            )
            for name, command in commands.items()
        }
        return FacilityReading(self._count, self._count * CYCLE, robots)


def rehearsed() -> np.ndarray:
    """Seconds of every cycle, by the loop's own clock."""
    made, _ = plant()
    arm = made.world.craft("servicer").layout.moving_joints
    carried = (
        RobotAssignment("servicer", "servicer", "servicer.tool.wrench", arm=arm),
        RobotAssignment("client", "client", "client.ring.wrench", reaction_of="servicer"),
    )
    if timing.quick:
        made = replace(made, duration=50 * CYCLE)
    facility, kept = Still(arm), []
    limits = Limits(
        speed=100.0, turn_rate=100.0, acceleration=1e6, turn_acceleration=1e6, lower=(-1e3,) * 3, upper=(1e3,) * 3
    )
    cycle = Cycle(Rehearsal(made, carried, nominal="client", limits=limits), facility, 0.0)
    loop = RehearsalLoop(cycle, facility, Lockstep(), Hooks(lambda row: kept.append(row[EFFORT])))
    reason = _undisturbed(loop.run)
    assert not reason, reason
    return np.array(kept[1:])


def _undisturbed(function: Callable[[], str]) -> str:
    """As a real-time process does it: with priority where it is granted, and no search for garbage in between."""
    gc.collect()
    gc.freeze()
    gc.disable()
    with contextlib.suppress(OSError, AttributeError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    try:
        return function()
    finally:
        with contextlib.suppress(OSError, AttributeError):
            os.sched_setscheduler(0, os.SCHED_OTHER, os.sched_param(0))
        gc.enable()


def pinocchio_loop() -> Callable[[int], None]:
    """One step of RK4 for both spacecraft by ABA."""
    import pinocchio as pin

    made, inertia = plant()
    parts = []
    for craft, state in zip(made.world.crafts, made.start, strict=True):
        model = models.to_pinocchio(craft)
        q = np.concatenate([state.p_NB, np.roll(state.quat_NB, -1), state.q])
        parts.append([model, model.createData(), q, np.array(state.v), model.joints[model.njoints - 1].id])
    target = np.array(made.start[0].q)

    def force(k: int, q: np.ndarray, v: np.ndarray, push: np.ndarray) -> tuple[np.ndarray, pin.StdVec_Force]:
        model, last = parts[k][0], parts[k][4]
        tau = np.zeros(model.nv)
        if k == 0:
            tau[6:] = -inertia @ (36.0 * (q[7:] - target) + 9.6 * v[6:])
        outside = pin.StdVec_Force()
        for j in range(model.njoints):
            outside.append(pin.Force(push if j == last else np.zeros(6)))
        return tau, outside

    def step(number: int) -> None:
        push = WRENCH * np.sin(0.02 * number)
        for k, (model, data, q, v, _) in enumerate(parts):
            rates, at, speed = [], q, v
            for share in (0.0, 0.5, 0.5, 1.0):
                if rates:
                    at = pin.integrate(model, q, share * CYCLE * rates[-1][0])
                    speed = v + share * CYCLE * rates[-1][1]
                tau, outside = force(k, at, speed, push if k == 0 else -push)
                rates.append((speed, pin.aba(model, data, at, speed, tau, outside)))
            mean = [(a + 2.0 * b + 2.0 * c + d) / 6.0 for a, b, c, d in zip(*rates, strict=True)]
            parts[k][2], parts[k][3] = pin.integrate(model, q, CYCLE * mean[0]), v + CYCLE * mean[1]

    return step


def mujoco_loop() -> Callable[[int], None]:
    """One step of RK4 for both spacecraft, each a model of its own."""
    import mujoco

    made, inertia = plant()
    pairs = []
    for craft, state in zip(made.world.crafts, made.start, strict=True):
        model = models.to_mujoco(craft)
        model.opt.timestep = CYCLE
        data = mujoco.MjData(model)
        data.qpos[:] = np.concatenate([state.p_NB, state.quat_NB, state.q])
        data.qvel[:] = state.v
        pairs.append((model, data))
    target = np.array(made.start[0].q)

    def step(number: int) -> None:
        push = WRENCH * np.sin(0.02 * number)
        for k, (model, data) in enumerate(pairs):
            if k == 0:
                data.qfrc_applied[6:] = -inertia @ (36.0 * (data.qpos[7:] - target) + 9.6 * data.qvel[6:])
            data.xfrc_applied[-1] = push if k == 0 else -push
            mujoco.mj_step(model, data)

    return step


def timed(step: Callable[[int], None]) -> np.ndarray:
    """Seconds of every step of a peer."""
    found = np.zeros(50 if timing.quick else CYCLES)

    def run() -> str:
        for number in range(len(found)):
            began = time.perf_counter()
            step(number)
            found[number] = time.perf_counter() - began
        return ""

    _undisturbed(run)
    return found


def rows(quick: bool) -> Iterator[comparison.Row]:
    """Median, 99th percentile and best of a cycle, ours beside the peers' bare plants."""
    ours = rehearsed()
    for name, make in (("Pinocchio", pinocchio_loop), ("MuJoCo", mujoco_loop)):
        theirs = timed(make())
        for words, share in (("best", 0.0), ("median", 50.0), ("99 %", 99.0)):
            mine, peer = np.percentile(ours, share), np.percentile(theirs, share)
            yield comparison.row("cycle", f"{words} of a cycle", mine, f"{name}, plant only", peer)


if __name__ == "__main__":
    comparison.main(__doc__, rows)
