"""RK4 steps per second on a GPU, float64, the whole rollout in one kernel: plants alone and closed loops.

`--export FOLDER` writes graphs, starts and native results of every case, where the whole package is installed; `--cases
FOLDER` measures them where there is only jax, numpy and CuPy. Without either, both are done here. `--emulate` runs the
kernels' text by the C compiler, `--only` takes names or parts of them, `--record` keeps every so-manyth state,
`--quick` is a smoke run, `--json` for machines.

Of each case: `compile_s` from an empty cache to the first result, layouts tried included; `again_s` the same in a
second process; `steps_per_second`, copies to and from the card not counted; `difference` from native code after 200
steps, the largest of |a - b| / (1 + |b|) over all numbers of all instances; `rounding` how much native code's own
results change, in the same measure, if every coordinate at the start is moved to the next floating-point number: where
that is large, only the same operations in the same order agree; `floor` and `aim` where there are any.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import freefloat.engine as engine

STEPS = 200
GOALS = {  # RK4 steps per second on an NVIDIA H200: floor, aim
    "ets7-free": (1.4e9, 1.6e9),
    "ets7-gjm.sampled-4hz": (9e8, 1.1e9),
    "ets7-gjm.nominal": (4.8e7, 2e8),
    "ets7-capture.case-1": (3.1e7, 1.2e8),
    "hub-panels": (4.2e9, 5e9),
    "arm-panels": (4e8, 1e9),
}


def leaves(folder: Path, name: str, stem: str, count: int | None = None) -> list[np.ndarray]:
    """Arrays of a case's starts or ends, repeated to so many instances."""
    with np.load(folder / f"{name}.npz") as data:
        arrays = [data[f"{stem}{k}"] for k in range(sum(f.startswith(stem) for f in data.files))]
    if count is None:
        return arrays
    return [np.tile(a, (-(-count // len(a)), *[1] * (a.ndim - 1)))[:count] for a in arrays]


def rounding(folder: Path, name: str) -> float:
    """What one unit in the last place of the start does to the end."""
    with np.load(folder / f"{name}.npz") as file:
        return float(file["rounding"])


def difference(found: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """Largest relative difference; different integers are infinitely wrong."""
    worst = 0.0
    for a, b in zip(found, expected, strict=True):
        with np.errstate(invalid="ignore"):
            apart = np.where(a == b, 0.0, np.abs(a - 1.0 * b) / (1.0 + np.abs(b)))
        worst = max(worst, float(np.max(apart, initial=0.0)) if a.dtype.kind == "f" else np.inf * bool(apart.any()))
    return worst


def measure(folder: Path, name: str, instances: int, emulate: bool, every: int | None) -> dict[str, Any]:
    """One row."""
    graph = engine.load(folder / f"{name}.graph")
    start = time.perf_counter()
    program = engine.compile(graph, target="gpu", emulate=emulate)
    states, held = leaves(folder, name, "start", instances), leaves(folder, name, "held", instances)
    before = time.perf_counter()
    program.rollout_batch(states, *held, steps=1)
    compiling = time.perf_counter() - before
    found = program.rollout_batch(states, *held, steps=STEPS, record_every=every)
    seconds = program.rollout_seconds(states, *held, steps=STEPS, record_every=every)
    expected = leaves(folder, name, "end", instances)
    row = {
        "case": name,
        "device": program.runner.name,
        "operations": graph.operations["total"],
        "instances": instances,
        "compile_s": compiling,
        "steps_per_second": instances * STEPS / seconds,
        "difference": difference(list(found.state), expected),
        "rounding": rounding(folder, name),
        "seconds": time.perf_counter() - start,
    }
    if name in GOALS:
        row["floor"], row["aim"] = GOALS[name]
    return row


def again(folder: Path, name: str, options: argparse.Namespace) -> float:
    """Seconds to the first result in a new process, from the cache."""
    words = [sys.executable, __file__, "--cases", str(folder), "--only", name, "--instances", str(options.instances)]
    words += ["--first", *(["--emulate"] if options.emulate else [])]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    return float(done.stdout)


def first(folder: Path, name: str, instances: int, emulate: bool) -> float:
    """Seconds from a graph in memory and states in memory to the first result."""
    graph, states = engine.load(folder / f"{name}.graph"), leaves(folder, name, "start", instances)
    held = leaves(folder, name, "held", instances)
    warm_up(emulate)
    before = time.perf_counter()
    engine.compile(graph, target="gpu", emulate=emulate).rollout_batch(states, *held, steps=1)
    return time.perf_counter() - before


def warm_up(emulate: bool) -> None:
    """Load JAX, start the card's driver and CuPy: that is no compiling."""
    import jax

    jax.tree_util.tree_leaves(0)
    if not emulate:
        import cupy

        cupy.asnumpy(cupy.zeros((4, 4)).T.copy())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=1 << 18)
    parser.add_argument("--export", type=Path)
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--every-variant", action="store_true")
    parser.add_argument("--record", type=int)
    for flag in ("--emulate", "--quick", "--json", "--first"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    if options.quick:
        options.emulate, options.instances, options.only = True, 64, options.only or "hub-panels"
    if options.export:
        from gpu_cases import export

        print("\n".join(export(options.export, options.only, options.every_variant)))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.cases or Path(scratch, "cases")
        if options.cases is None:
            from gpu_cases import export

            export(folder, options.only, options.every_variant)
        names = sorted(p.stem for p in folder.glob("*.graph"))
        names = [n for n in names if not options.only or any(word in n for word in options.only.split(","))]
        if options.first:
            print(first(folder, names[0], options.instances, options.emulate))
            return
        os.environ["FREEFLOAT_CACHE"] = str(Path(scratch, "cache"))
        warm_up(options.emulate)
        rows = []
        for name in names:
            row = measure(folder, name, options.instances, options.emulate, options.record)
            row["again_s"] = again(folder, name, options)
            rows.append(row)
            if not options.json:
                print(_line(row), flush=True)
        if options.json:
            print(json.dumps(rows, indent=1))


def _line(row: dict[str, Any]) -> str:
    goal = f", floor {row['floor']:.1e}, aim {row['aim']:.1e}" if "floor" in row else ""
    return (
        f"{row['case']:36} {row['steps_per_second']:.3e} steps/s{goal}; difference {row['difference']:.1e}, "
        f"rounding {row['rounding']:.1e}, compiled in {row['compile_s']:.1f} s, again {row['again_s']:.2f} s"
    )


if __name__ == "__main__":
    main()
