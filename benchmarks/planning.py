"""Random tumbles of Envisat, each planned, judged between the instants, and flown in simulation.

python benchmarks/planning.py [--tumbles 50] [--seed 0] [--no-flight] [--out FILE]

Each tumble: axis on the whole sphere, 0.5 to 4 deg/s; the servicer starts 0.1 to 0.5 m behind the place from which it
would grasp, up to 0.3 m aside and 15 deg turned about each axis, drifting with up to 1 cm/s and 0.3 deg/s against the
client; its arm is folded, the tool looking away, each joint off by up to 0.3 rad. 30 s until the grasp. Robots of the
cell stand 4.9 m apart. Beside each plan the quintic in pose and joints between the same ends, judged in the same way.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections import Counter
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import jax
import numpy as np

import freefloat as ff
from freefloat.dynamics import composite_inertia
from freefloat.dynamics.nominal_motion import FrameMotion, unforced_motion
from freefloat.dynamics.relative import absolute_state
from freefloat.hil.cell import envisat_cell, envisat_start
from freefloat.library import envisat, servicer
from freefloat.library.servicer import SERVICER_FOLDED
from freefloat.planning import (
    CaptureTask,
    CellRoom,
    Plan,
    PlanSettings,
    flight_experiment,
    plan_capture,
    straight_capture,
)
from freefloat.spatial.rotations import quaternion_of, rotation_exp

DURATION = 30.0  # [s]
DISTANCE = 4.9  # [m], between the feet of the cell's robots
GRASP_FROM = np.array([4.89, 0.0, 0.0])  # [m]: where the base is when the arm grasps in its posture, client's frame
FACING = np.diag([-1.0, -1.0, 1.0])


def room() -> CellRoom:
    """What the cell's robot permits."""
    return CellRoom.of(envisat_cell(distance=DISTANCE), envisat_start()["client"])


def random_task(seed: int, number: int, cell: CellRoom | None) -> CaptureTask:
    """A tumble and a start."""
    draw = np.random.default_rng([seed, number])
    client, craft = envisat(), servicer()
    axis = draw.normal(size=3)
    spin = np.deg2rad(draw.uniform(0.5, 4.0)) * axis / np.linalg.norm(axis)
    tumbling = client.in_motion(rate=spin)
    place = GRASP_FROM + np.array([draw.uniform(0.1, 0.5), *draw.uniform(-0.3, 0.3, 2)])  # [m]
    turned = FACING @ np.asarray(rotation_exp(np.deg2rad(draw.uniform(-15.0, 15.0, 3))))
    drift = np.concatenate([draw.uniform(-0.01, 0.01, 3), np.deg2rad(draw.uniform(-0.3, 0.3, 3)), np.zeros(7)])
    joints = np.array(SERVICER_FOLDED) + draw.uniform(-0.3, 0.3, 7)
    relative = ff.State(place, np.asarray(quaternion_of(turned)), joints, drift)
    motion = FrameMotion(tumbling.p_NB, tumbling.quat_NB, tumbling.V_NB)
    Z = unforced_motion(composite_inertia(client, np.zeros(0)), motion)
    start = jax.tree.map(np.asarray, absolute_state(Z, relative))
    return CaptureTask(craft, client, start, tumbling, DURATION, cell=cell)


def fly(task: CaptureTask, plan: Plan) -> dict[str, float | bool]:
    """The plan in simulation: what the audit says, what was used, where the tool is at the end."""
    run = ff.simulate(flight_experiment(task, plan, dt=0.02))
    limits = task.bounds
    tool, ring = (run.values(f"{name}.position")[-1] for name in ("servicer.tool", "client.ring"))
    rates = np.abs(run.values("servicer.joints.rate")) - limits.joint("rate", 7)
    torques = np.abs(run.values("servicer.joints.torque")) - limits.joint("torque", 7)
    force, torque = (float(np.abs(run.values(f"servicer.flight.{kind}")).max()) for kind in ("force", "torque"))
    kept = force <= limits.base_force and torque <= limits.base_torque and rates.max() <= 0.0 and torques.max() <= 0.0
    return {
        "audit": bool(run.audit.holds),
        "limits": bool(kept),
        "tool_mm": 1e3 * float(np.linalg.norm(tool - ring)),
        "error_mm": 1e3 * float(run.values("servicer.flight.error").max()),
        "clearance_m": float(run.values("clearance").min()),
        "force_N": force,
    }


def one(seed: int, number: int, cell: CellRoom, flight: bool) -> dict:
    """One tumble."""
    task = random_task(seed, number, cell)
    began = time.perf_counter()
    plan = plan_capture(task, PlanSettings(explain=False))
    wall = time.perf_counter() - began
    straight = straight_capture(task)
    found = {
        "number": number,
        "spin_deg_s": float(np.rad2deg(np.linalg.norm(task.client_start.v[3:]))),
        "kept": plan.keeps_limits,
        "status": plan.status,
        "rounds": plan.rounds,
        "iterations": plan.iterations,
        "seconds": plan.seconds,
        "wall": wall,
        "effort": plan.effort,
        "broken": [str(margin) for margin in plan.broken_limits],
        "in_the_way": list(plan.in_the_way),
        "clearance_m": plan.margin("clearance client").value,
        "straight_kept": straight.keeps_limits,
        "straight_broken": [margin.name for margin in straight.broken_limits],
    }
    return found | ({"flight": fly(task, plan)} if flight and plan.keeps_limits else {})


def table(rows: list[dict]) -> str:
    """What is printed."""
    kept = [row for row in rows if row["kept"]]
    middle, late = np.quantile([row["seconds"] for row in rows], (0.5, 0.9))
    flights = [row["flight"] for row in rows if "flight" in row]
    reasons = Counter(kind for row in rows for kind in row["straight_broken"])
    lines = [
        f"tumbles                                 {len(rows)}",
        f"planned, all limits kept on a fine grid {len(kept)} ({100 * len(kept) / len(rows):.0f} %)",
        f"straight, all limits kept               {sum(row['straight_kept'] for row in rows)}",
        f"  broken by the straight ones           {', '.join(f'{k} {n}' for k, n in reasons.most_common())}",
        f"time per plan, processor                median {middle:.1f} s, 90 % {late:.1f} s",
        f"iterations                              median {np.median([row['iterations'] for row in rows]):.0f}",
    ]
    if flights:
        lines += [
            f"flown                                   {len(flights)}",
            f"  audit holds                           {sum(one['audit'] for one in flights)}",
            f"  limits kept in the run                {sum(one['limits'] for one in flights)}",
            f"  tool from ring at the end, largest    {max(one['tool_mm'] for one in flights):.3g} mm",
            f"  smallest clearance                    {min(one['clearance_m'] for one in flights):.3f} m",
        ]
    return "\n".join(lines)


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    words.add_argument("--tumbles", type=int, default=50)
    words.add_argument("--seed", type=int, default=0)
    words.add_argument("--no-flight", action="store_true")
    words.add_argument(
        "--out", type=Path, help="a file of JSON lines, one for each tumble; those in it are not repeated"
    )
    given = words.parse_args()
    known = given.out.read_text().splitlines() if given.out and given.out.exists() else []
    cell, rows = room(), [json.loads(line) for line in known]
    for number in range(len(rows), given.tumbles):
        rows.append(one(given.seed, number, cell, not given.no_flight))
        if given.out:
            with given.out.open("a") as file:
                file.write(json.dumps(rows[-1]) + "\n")
    print(table(rows))


if __name__ == "__main__":
    main()
