"""What the audit costs: its share of the wall time of ordinary runs that are compiled already.

python benchmarks/audit_cost.py            # two repetitions; the shorter counts
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import freefloat as ff
from freefloat.scenarios.catalogue import SCENARIOS
from freefloat.sim.run_driver import RunDriver


def readme_example() -> ff.Experiment:
    """A hub with a rod that swings."""
    craft = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0)).with_link(
        "rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42)
    )
    start = craft.in_motion(craft.at_rest(), rate=(0.0, 0.1, 0.2))
    return ff.Experiment.of(craft, state=start, duration=20.0, dt=0.01)


def hub_with_beams() -> ff.Experiment:
    """Two beams on a hub that turns."""
    craft = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0))
    for k, side in enumerate((1.0, -1.0)):
        beam = ff.flex.beam(length=3.0, mass=4.0, bending_stiffness=50.0, modes={"y": 1, "z": 1}, damping_ratio=0.002)
        craft = craft.mount(beam, name=f"beam{k}", to="base", at=ff.Pose(position=(side * 0.5, 0.0, 0.0)))
    start = craft.in_motion(craft.at_rest(), rate=(0.0, 0.05, 0.1))
    return ff.Experiment.of(craft, state=start, duration=20.0, dt=0.01)


CASES = {
    "hub with a rod": readme_example,
    "ets7-gjm": lambda: SCENARIOS["ets7-gjm"]().build(),
    "hub with beams": hub_with_beams,
    "envisat-capture": lambda: SCENARIOS["envisat-capture"]().build(),
    "station-libration": lambda: SCENARIOS["station-libration"]().build(),
}


def measured(experiment: ff.Experiment) -> tuple[float, float]:
    """Wall time of a run, and that of its audit [s]."""
    judge, spent = RunDriver._judge, [0.0]

    def timed(*arguments: Any) -> Any:
        began = time.perf_counter()
        try:
            return judge(*arguments)
        finally:
            spent[0] += time.perf_counter() - began

    try:
        RunDriver._judge = timed
        began = time.perf_counter()
        ff.simulate(experiment, check=False)
        return time.perf_counter() - began, spent[0]
    finally:
        RunDriver._judge = judge


def main() -> None:
    """A line for each run."""
    warnings.simplefilter("ignore")
    for name, make in CASES.items():
        experiment = make()
        whole, audit = min(measured(experiment) for _ in range(3))
        print(f"{name}: {whole:.2f} s, of which the audit {audit:.2f} s, {100.0 * audit / whole:.0f} %", flush=True)


if __name__ == "__main__":
    main()
