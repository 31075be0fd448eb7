"""How long a step of a closed loop takes, and how it compares with another work tree.

python benchmarks/closed_loops.py [--json]             # this tree
python benchmarks/closed_loops.py --against OTHER      # both, taking turns; ratios above 1: this one is faster

Both trees are measured by this file, in a new process each time: where code and data happen to lie changes the speed
of the same code by a tenth. One pair is one measurement of each, one right after the other. Printed are the median
ratio of all pairs with its 95 % interval (order statistics), and the scalar operations of the compiled steps, exact.
"""

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import timing

import freefloat as ff
from freefloat import control, engine
from freefloat.scenarios import find
from freefloat.sim import begin, step

STEPS = 2000
START_DEG = (0.0, 0.0, 10.0, -32.8, 0.0, 0.0)


def experiments() -> dict[str, ff.Experiment]:
    """Closed loops of ETS-VII, a hub with two beams, and two scenarios, one of them with two spacecraft."""
    free, wheels = ff.library.ets7(), ff.library.ets7(wheels=True)
    path = ff.Line(direction=(1, 0, 0), length=0.2, speed=0.01)
    line = ff.ResolvedMotion(craft=free, frame="hand", path=path)
    turn = control.Turn(axis=(0, 1, 0), profile=control.Quintic(length=0.7, duration=40.0))
    reactionless = control.ReactionlessTurn(craft=wheels, frame="hand", path=turn)
    satellite = control.SatelliteBasedMotion(craft=wheels, frame="hand", path=path)
    hold = control.AttitudeHold(craft=wheels)
    held = control.AttitudeHold(craft=wheels, period=0.05)
    line_4hz = ff.ResolvedMotion(craft=free, frame="hand", path=path, period=0.25)
    servo = control.JointServo(craft=free, arm=line, bandwidth=60.0)
    hub = ff.Spacecraft.from_base("hub", mass=50.0, inertia=(8.0, 8.0, 8.0))
    for name, heading in (("right", 0.0), ("left", 180.0)):
        beam = ff.flex.beam(length=0.635, mass=0.83, bending_stiffness=0.46, modes={"y": 3})
        hub = hub.mount(beam, name=name, at=ff.Pose.from_rpy_deg((0.0, 0.0, heading), (0.0, 0.0, 0.0)))
    loops = {
        "free": (free, (), 0.05),
        "generalised Jacobian": (free, (line,), 0.05),
        "generalised Jacobian, 4 Hz": (free, (line_4hz,), 0.05),
        "generalised Jacobian, motors": (free, (servo,), 0.005),
        "satellite-based, held wheels": (wheels, (satellite, held), 0.05),
        "reactionless, wheels": (wheels, (reactionless, hold), 0.05),
        "hub with two beams": (hub, (), 0.005),
    }
    made = {}
    for name, (craft, software, dt) in loops.items():
        joints = START_DEG if craft.layout.moving_joints else None
        made[name] = ff.Experiment.of(craft, *software, duration=STEPS * dt, dt=dt, joints_deg=joints)
    made["ets7-gjm nominal"] = find("ets7-gjm").variants()["nominal"].build()
    capture = find("ets7-capture").variants()["case-1"]
    made["ets7-capture case-1"] = capture.with_settings({"latch": False}).build()  # the approach, as it was measured
    return made


def compiled_loops() -> dict[str, tuple[Callable[[], object], int]]:
    """A rollout of each loop, and the scalar operations of its compiled step."""
    found = {}
    for name, experiment in experiments().items():
        system, loop = begin(experiment.system, experiment.start)
        advance = engine.compile(lambda z, system=system: step(system, z, {}), loop)
        rollout = lambda advance=advance, loop=loop: advance.rollout(loop, steps=STEPS, record_every=STEPS)  # noqa: E731
        found[name] = rollout, advance.operations["total"]
    return found


def measure(loops: dict[str, tuple[Callable[[], object], int]], blocks: int = 15) -> dict[str, float]:
    """Microseconds of a step."""
    return {name: 1e6 * timing.best(rollout, STEPS, blocks) for name, (rollout, _) in loops.items()}


def _measure_in(tree: Path) -> dict[str, tuple[float, int]]:
    """Microseconds and operations of a step in another tree, by a process of its own."""
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    command = [sys.executable, __file__, "--pair", *["--quick"] * timing.quick]
    return json.loads(subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True, text=True).stdout)


def median_with_interval(values: list[float]) -> tuple[float, float, float]:
    """Median, and its 95 % interval by order statistics; without enough values the whole range."""
    ordered, n = sorted(values), len(values)
    below, k = 0.5**n, 0  # probability of at most k values below the median
    while below + math.comb(n, k + 1) * 0.5**n <= 0.025:
        k += 1
        below += math.comb(n, k) * 0.5**n
    middle = 0.5 * (ordered[(n - 1) // 2] + ordered[n // 2])
    return middle, ordered[k], ordered[n - 1 - k]


def compare(other: Path, pairs: int) -> dict[str, dict[str, float]]:
    """Both trees, which take turns so that a busy machine slows both alike."""
    trees, measured = (Path(__file__).resolve().parents[1], other), []
    for k in range(pairs):
        order = (0, 1) if k % 2 else (1, 0)
        times = {i: _measure_in(trees[i]) for i in order}
        measured.append((times[0], times[1]))
    found, (last, before) = {}, measured[-1]
    for name in last:
        ratio, low, high = median_with_interval([theirs[name][0] / ours[name][0] for ours, theirs in measured])
        found[name] = {
            "here_us": min(ours[name][0] for ours, _ in measured),
            "other_us": min(theirs[name][0] for _, theirs in measured),
            "ratio": ratio,
            "low": low,
            "high": high,
            "operations": last[name][1],
            "operations_ratio": last[name][1] / before[name][1],
        }
    return found


def _line(name: str, row: dict[str, float]) -> str:
    return (
        f"{name:30} {row['here_us']:8.3f} us {row['other_us']:8.3f} us  ratio {row['ratio']:.3f} "
        f"[{row['low']:.3f}, {row['high']:.3f}]  operations {row['operations']:7d}, "
        f"{row['operations_ratio']:.4f} of the other's"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--against", type=Path, help="another work tree")
    parser.add_argument("--pairs", type=int, default=21, help="how often both trees are measured")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    parser.add_argument("--pair", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    timing.quick = arguments.quick
    if arguments.pair:
        loops = compiled_loops()
        times = measure(loops, blocks=3)
        print(json.dumps({name: (times[name], operations) for name, (_, operations) in loops.items()}))
        return
    if arguments.against is None:
        found: dict = measure(compiled_loops())
        lines = [f"{name:32} {value:8.3f} us" for name, value in found.items()]
    else:
        found = compare(arguments.against.resolve(), 2 if arguments.quick else arguments.pairs)
        lines = [_line(name, row) for name, row in found.items()]
    print(json.dumps(found) if arguments.json else "\n".join(lines))


if __name__ == "__main__":
    main()
