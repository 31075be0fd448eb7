"""What the conservation audit catches, and what it leaves alone.

    python benchmarks/audit_sensitivity.py faults          # smallest wrong inertia caught, by scenario, body and drift
    python benchmarks/audit_sensitivity.py families        # smallest error of each kind caught in random runs
    python benchmarks/audit_sensitivity.py ordinary        # false alarms among a thousand random ordinary runs
    python benchmarks/audit_sensitivity.py independence    # verdicts at other record_dt, units, sizes, wheel speeds

`faults --scenario ets7-gjm` plants errors in one scenario; `--scenario` and `--family` may be given more than once.
`ordinary --family pulses --first 100 --share 0.1` makes a tenth of the runs of one family, from seed 100 on.
`--json FILE` keeps the numbers. The exit status is 1 where something is not as it must be.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from audit_families import NAMES, family
from audit_family_faults import family_faults
from audit_faults import FaultyRuns
from audit_independence import verdicts
from audit_ordinary import all_runs

from freefloat.scenarios.catalogue import SCENARIOS
from freefloat.sim import Run

DRIFTS = (0.0, 10.0, 7500.0)  # [m/s]
ERRORS = tuple(10.0**-k for k in range(3, 11))  # relative, of an inertia
TURNS = 1e-6  # [rad]; a body that turns less during a run does not turn
LIGHT = 0.02  # of the mass of the whole: a light link; the others are main ones


def main_variants(every: bool, chosen: tuple[str, ...]) -> list[tuple[str, str]]:
    """The nominal variant of every scenario and those at torque level, or all; of all scenarios, or of some."""
    return [
        (name, variant)
        for name, kind in SCENARIOS.items()
        for k, variant in enumerate(kind.variants())
        if (every or k == 0 or variant == "torque-level") and (not chosen or name in chosen)
    ]


def turned(run: Run, body: str) -> float:
    """How far a body turns from where it stood at the start [rad]."""
    quats = run.data["bodies.attitude"].sel(body=body).values
    return float(2.0 * np.max(np.linalg.norm(quats[:, 1:] - quats[:1, 1:], axis=-1)))


def smallest_caught(runs: FaultyRuns, body: str) -> float | None:
    """The smallest relative error of a body's inertia that the audit refuses, and all larger ones too."""
    caught = None
    for error in ERRORS:
        if runs.run(body, error).audit.holds:
            return caught
        caught = error
    return caught


def required(craft: Any, body: str, drift: float) -> float:
    """What must be caught: 1e-5, and at 7500 m/s 1e-4 for light links."""
    share = float(craft.body(body).mass) / sum(float(b.mass) for b in craft.bodies)
    return 1e-4 if drift > 1000.0 and share < LIGHT and body != "base" else 1e-5


def faults(every: bool, chosen: tuple[str, ...]) -> tuple[list[dict[str, Any]], bool]:
    """Every body of every scenario at every drift."""
    rows, fine = [], True
    for name, variant in main_variants(every, chosen):
        for drift in DRIFTS:
            runs = FaultyRuns(SCENARIOS[name].variants()[variant], drift)
            right = runs.run()
            craft, line = runs.craft, []
            fine &= right.audit.holds
            for body in craft.body_names:
                angle = turned(right, runs.experiment.world.prefix(0) + body)
                caught = smallest_caught(runs, body)
                row = {"scenario": name, "variant": variant, "drift": drift, "body": body, "turned": angle}
                rows.append(row | {"caught": caught, "right_holds": right.audit.holds})
                if angle > TURNS:
                    fine &= caught is not None and caught <= 1.001 * required(craft, body, drift)
                line.append(f"{body} {'-' if caught is None else f'{caught:.0e}'}{'' if angle > TURNS else ' (still)'}")
            verdict = "holds" if right.audit.holds else f"REFUSED {[str(e) for e in right.audit.violations]}"
            print(f"{name} {variant}, {drift:g} m/s: right one {verdict}; {', '.join(line)}", flush=True)
    return rows, fine


def ordinary(names: tuple[str, ...], first: int, share: float) -> tuple[list[dict[str, Any]], bool]:
    """Random runs, none of which may be refused."""
    rows = all_runs(names, first, share)
    structures = len({(row["family"], row["structure"]) for row in rows})
    for name in dict.fromkeys(row["family"] for row in rows):
        own = [row for row in rows if row["family"] == name]
        refused = sum(not (row["holds"] and row["completed"]) for row in own)
        kinds = len({row["structure"] for row in own})
        print(f"{family(name).title}: {len(own)} runs of {kinds} structures, {refused} refused")
    print(
        f"{len(rows)} runs of {structures} structures, seeds from {first}; largest share of what is permitted:", end=" "
    )
    print(f"at an instant {max(r['instant'] for r in rows):.3f}, over a run {max(r['over'] for r in rows):.3f}")
    return rows, all(row["holds"] and row["completed"] for row in rows)


def independence() -> tuple[list[dict[str, Any]], bool]:
    """The same runs described otherwise: the verdicts must be the same."""
    rows = verdicts()
    for row in rows:
        print(f"{row['case']}: {row['otherwise']}: right one {row['right']}, wrong one {row['wrong']}")
    return rows, all(row["right"] == "holds" and row["wrong"] == "refused" for row in rows)


def main() -> int:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("faults", "families", "ordinary", "independence"))
    parser.add_argument("--all", action="store_true", help="every variant of every scenario")
    parser.add_argument("--scenario", action="append", default=[], choices=tuple(SCENARIOS), help="this one only")
    parser.add_argument("--family", action="append", default=[], choices=NAMES, help="this family only")
    parser.add_argument("--first", type=int, default=0, help="first seed of every structure")
    parser.add_argument("--share", type=float, default=1.0, help="of the thousand runs")
    parser.add_argument("--json", type=Path)
    asked = parser.parse_args()
    made = {
        "faults": lambda: faults(asked.all, tuple(asked.scenario)),
        "families": lambda: family_faults(asked.first),
        "ordinary": lambda: ordinary(tuple(asked.family), asked.first, asked.share),
    }
    rows, fine = made.get(asked.what, independence)()
    if asked.json:
        asked.json.write_text(json.dumps({"what": asked.what, "as_required": fine, "rows": rows}, indent=1))
    print("as required" if fine else "NOT as required")
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
