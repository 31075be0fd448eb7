"""Random ordinary runs of every family, none of which may be refused."""

from __future__ import annotations

import time
import warnings
from typing import Any

from audit_families import NAMES, family

import freefloat as ff
from freefloat.sim.audit.balances import AT_EVERY_INSTANT


def ordinary_runs(name: str, first: int, share: float) -> list[dict[str, Any]]:
    """Runs of a family: the seeds from the first on, of each structure; a share of those that a thousand have."""
    chosen, rows = family(name), []
    for structure in range(chosen.structures):
        seeds = range(first, first + max(1, round(share * chosen.runs / chosen.structures)))
        began = time.perf_counter()
        for seed in seeds:
            rows.append({"family": name, "structure": structure, "seed": seed, **judged(name, structure, seed)})
        some = rows[-len(seeds) :]
        refused = [row for row in some if not row["holds"]]
        print(
            f"{chosen.title}, structure {structure}, seeds {seeds.start} to {seeds.stop - 1}: {len(refused)} of "
            f"{len(some)} refused, {time.perf_counter() - began:.1f} s",
            flush=True,
        )
        for row in refused:
            print(f"  seed {row['seed']}: {row['violations']}, {row['reason']}", flush=True)
    return rows


def judged(name: str, structure: int, seed: int) -> dict[str, Any]:
    """The verdict on one run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a boom may bend more than its linear model is for
        run = ff.simulate(family(name).experiment(structure, seed), check=False)
    shares = {e.name: e.value / e.limit if e.limit else 0.0 for e in run.audit.entries}
    instants = {law.quantity for law in AT_EVERY_INSTANT.values()}
    return {
        "holds": bool(run.audit.holds),
        "completed": run.completed,
        "reason": run.audit.reason,
        "instant": max(share for what, share in shares.items() if what.split(": ")[-1] in instants),
        "over": max(share for what, share in shares.items() if what.split(": ")[-1] not in instants),
        "violations": [str(entry) for entry in run.audit.violations],
    }


def all_runs(names: tuple[str, ...], first: int, share: float) -> list[dict[str, Any]]:
    """Of some families, or of all."""
    rows: list[dict[str, Any]] = []
    for name in names or NAMES:
        rows += ordinary_runs(name, first, share)
        print(f"{len(rows)} runs, {sum(not row['holds'] for row in rows)} refused", flush=True)
    return rows
