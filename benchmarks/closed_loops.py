"""How long a step of a closed loop takes, and how it compares with another work tree.

python benchmarks/closed_loops.py [--json]             # this tree
python benchmarks/closed_loops.py --against OTHER      # both, taking turns; ratios above 1: this one is faster

The other tree is measured by its own copy of this file, where it has one; loops of the same name are compared.
"""

import argparse
import json
import os
import subprocess
import sys
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


def measure() -> dict[str, float]:
    """Microseconds of a step."""
    found = {}
    for name, experiment in experiments().items():
        system, loop = begin(experiment.system, experiment.start)
        advance = engine.compile(lambda z, system=system: step(system, z, {}), loop)
        found[name] = 1e6 * timing.best(
            lambda advance=advance, loop=loop: advance.rollout(loop, steps=STEPS, record_every=STEPS), STEPS
        )
    return found


def _measure_in(tree: Path) -> dict[str, float]:
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    own = tree / "benchmarks" / Path(__file__).name
    command = [sys.executable, str(own if own.exists() else __file__), "--json", *["--quick"] * timing.quick]
    return json.loads(subprocess.run(command, env=environment, capture_output=True, check=True, text=True).stdout)


def compare(other: Path, turns: int) -> dict[str, dict[str, float]]:
    """Best times of both trees, which take turns so that a busy machine slows both alike."""
    here = Path(__file__).resolve().parents[1]
    ours, theirs = [], []
    for _ in range(turns):
        ours.append(_measure_in(here))
        theirs.append(_measure_in(other))
    best = {name: [min(run[name] for run in runs) for runs in (ours, theirs)] for name in ours[0] if name in theirs[0]}
    return {name: {"here_us": a, "other_us": b, "ratio": b / a} for name, (a, b) in best.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--against", type=Path, help="another work tree")
    parser.add_argument("--turns", type=int, default=4, help="how often each tree is measured")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="a smoke run")
    arguments = parser.parse_args()
    timing.quick = arguments.quick
    if arguments.against is None:
        found: dict = measure()
        lines = [f"{name:32} {value:8.3f} us" for name, value in found.items()]
    else:
        found = compare(arguments.against.resolve(), 1 if arguments.quick else arguments.turns)
        lines = [f"{n:32} {v['here_us']:8.3f} us {v['other_us']:8.3f} us  {v['ratio']:.3f}" for n, v in found.items()]
    print(json.dumps(found) if arguments.json else "\n".join(lines))


if __name__ == "__main__":
    main()
