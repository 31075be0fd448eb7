"""How well a run knows its own accuracy: what it says against the truth, and what that costs.

python benchmarks/accuracy.py [--seed 29] [--only WORD] [--quick] [--json]

Each of thirty runs says how far its attitude, hands, joints and places are off. The truth is the same run with 16 times
as many steps. Told / true is 1 at best; runs that say they are chaotic, and rounding, are not counted.
"""

import argparse
import json
import time

import jax
import numpy as np
from accuracy_cases import cases

import freefloat as ff
from freefloat.sim.audit.channel_differences import difference, switch_flags
from freefloat.sim.audit.event_shifts import between_events
from freefloat.sim.audit.step_halving import halved_records
from freefloat.sim.events.run_events import run_events
from freefloat.sim.record.recording import Recorder
from freefloat.sim.rollout import FixedSteps, grid, with_audited_instants
from freefloat.sim.system.input_ports import tabulate

PARTS = 16
REPEATS = 5  # of which the fastest counts


class Reference:
    """The same experiment with more steps to a tick."""

    def __init__(self, experiment: ff.Experiment) -> None:
        system, loop = experiment.begin()
        timing = with_audited_instants(grid(experiment.duration, experiment.dt, experiment.record_dt))
        steps = FixedSteps(system, loop, experiment.inputs, 0, timing.steps, "native")
        table = tabulate(system, experiment.inputs, 0, timing.steps)
        first = jax.tree.map(lambda x: np.asarray(x)[None], loop)
        ends = jax.tree.map(lambda x: np.concatenate([x, x]), first)
        ends.tick[1] = timing.steps
        found = halved_records(steps, ends, timing, PARTS, lambda: True)
        self.data = Recorder(system, loop, experiment.start, table, 0, "native").dataset(found)
        self.events = run_events(system, found, experiment.start)


def true_error(run: ff.Run, reference: Reference, channel: str) -> float:
    """The largest error of a channel, records between the two instants of an event left out."""
    t, name = run.values("time"), channel.split(" [")[0]
    rows = np.searchsorted(reference.data["time"].values, t - 1e-9)
    apart = difference(run.recorded[name], reference.data[name].values[rows])
    apart[between_events(t, run.events, reference.events)] = 0.0
    return float(np.max(np.where(switch_flags(run.recorded[name], apart), 0.0, apart)))


def judge(name: str, touches: bool, experiment: ff.Experiment) -> dict:
    """One run: told and true errors of its short list, and the time that measuring takes."""
    ff.simulate(experiment, accuracy=True, check=False)  # compiles
    took = {False: np.inf, True: np.inf}
    for on in (False, True) * REPEATS:
        since = time.perf_counter()
        run = ff.simulate(experiment, accuracy=on, check=False)
        took[on] = min(took[on], time.perf_counter() - since)
    reference, rows, said = Reference(experiment), [], run.accuracy
    for label, channel in said.headline.items():
        error, true = said[channel], true_error(run, reference, channel)
        rows.append({"what": label, "told": error.error, "true": true, "unit": error.unit, "verdict": error.verdict})
    counted = [row for row in rows if row["verdict"] != "rounding"]
    return {
        "name": name,
        "touches": touches,
        "chaotic": said.chaotic,
        "converged": said.converged,
        "order": said.order,
        "growth": said.growth,
        "rows": rows,
        "ratios": [row["told"] / row["true"] for row in counted],
        "holds": run.audit.holds,
        "extra": took[True] / took[False] - 1.0,
        "reason": said.reason,
        "remarks": list(said.remarks),
    }


def main() -> None:
    """Print a line for each run, and the range of ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=29)
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    found = []
    for name, touches, experiment in cases(asked.seed):
        if asked.only not in name or (asked.quick and name not in ("rod 0", "bounces 0")):
            continue
        one = judge(name, touches, experiment)
        found.append(one)
        if not asked.json:
            print(_line(one), flush=True)
    counted = [r for one in found if not one["chaotic"] for r in one["ratios"]]
    summary = {
        "seed": asked.seed,
        "runs": len(found),
        "with contact or events": sum(one["touches"] for one in found),
        "chaotic": sum(one["chaotic"] for one in found),
        "not converged": sum(not one["converged"] for one in found),
        "told / true, smallest": min(counted),
        "told / true, largest": max(counted),
        "outside 0.3 to 3": sum(not 0.3 <= r <= 3.0 for r in counted),
        "extra time, median share of a run": float(np.median([one["extra"] for one in found])),
    }
    print(json.dumps({"summary": summary, "results": found}) if asked.json else "\n".join(_facts(summary)))


def _facts(summary: dict) -> list[str]:
    return [f"{name}: {value:.3g}" for name, value in summary.items()]


def _line(one: dict) -> str:
    worst = max(one["ratios"], key=lambda r: abs(np.log(max(r, 1e-300))), default=float("nan"))
    first = one["rows"][0]
    said = "chaotic, " if one["chaotic"] else "" if one["converged"] else "not converged, "
    return (
        f"{one['name']:<18} {first['what']}: told {first['told']:.2e}, true {first['true']:.2e} {first['unit']}; "
        f"{said}worst told/true {worst:.2f}, order {one['order']:.1f}, growth {one['growth']:.2g} 1/s, "
        f"extra {100 * one['extra']:.0f} %" + ("" if one["holds"] else ", audit violated")
    )


if __name__ == "__main__":
    main()
