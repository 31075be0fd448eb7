"""A million dispersed captures on a GPU, compiling included: masses, target motion, camera noise and gains differ.

`--export FOLDER` writes the graphs of start and step, how draws become numbers, and what native code makes of the first
runs, where the whole package is installed. `--cases FOLDER` draws, runs and compares where there is only jax (with
scipy), numpy and CuPy. `--emulate` runs the kernels' text by the C compiler. Without either folder both are done here.

Printed: seconds from graphs in memory to all metrics, by parts; the largest |a - b| / (1 + |b|) of any metric of the
first runs from native code's; `rounding`, the same for native code whose numbers are moved to the next floating-point
numbers, as another version of scipy may draw them; and how many of the first runs differ by more than 1e-9.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import freefloat.engine as engine
from freefloat.campaign.distributions import distribution_of
from freefloat.campaign.random_words import noise_numbers, uniforms
from freefloat.campaign.reductions import REDUCTIONS

REFERENCE = 1000  # runs that are compared with native code
DURATION, SAMPLE = 30.0, 0.25  # [s]
SAME = 1e-9


# ---- where the package is


def export(folder: Path, runs: int, reference: int, duration: float) -> None:
    """Everything that a machine with a card needs."""
    import jax

    from freefloat.campaign.toml_files import read_campaign

    folder.mkdir(parents=True, exist_ok=True)
    campaign = read_campaign("ets7-capture", {"runs": runs, "sample_dt": SAMPLE}, {"duration": duration})
    draws, program = campaign.preparation.draws, campaign.preparation.program
    example = draws.numbers.nominal, np.zeros((), np.int32)
    first = jax.tree.map(lambda x: np.asarray(x)[0], program.begin(example[0][None], example[1][None]))
    engine.save(engine.trace(program.rules.start, *example), folder / "start.graph")
    engine.save(engine.trace(program.rules.advance, first, *example), folder / "step.graph")
    known = np.arange(min(reference, runs))
    drawn = draws.of(known)
    if drawn.attempts.any() or drawn.refused.any():
        raise SystemExit("The dispersions have impossible draws, which only the package itself can draw again.")

    own = noise_numbers(campaign.seed, known)

    def metrics(numbers: np.ndarray) -> np.ndarray:
        return program.results(program.advance(program.begin(numbers, own), numbers, own))

    expected = metrics(drawn.numbers)
    apart = difference(metrics(np.nextafter(drawn.numbers, np.inf)), expected)
    np.savez_compressed(folder / "reference.npz", numbers=drawn.numbers, metrics=expected, rounding=apart)
    plan = {
        "runs": runs,
        "seed": campaign.seed,
        "steps": campaign.timing.steps,
        "nominal": draws.numbers.nominal.tolist(),
        "dispersions": [_planned(one, bound, draws.numbers) for one, bound in _pairs(campaign)],
        "metrics": [(m.name, m.as_dict()["reduce"]) for m in program.metrics],
        "kept": _kept_leaves(first),
    }
    (folder / "plan.json").write_text(json.dumps(plan))


def _pairs(campaign: Any) -> Any:
    return zip(campaign.dispersions, campaign.preparation.draws._bound, strict=True)


def _planned(dispersion: Any, bound: Any, numbers: Any) -> dict[str, Any]:
    """One dispersion as plain data: its distribution, and which numbers each of its draws changes."""
    given = dispersion.as_dict()
    own = {k: v for k, v in given.items() if k not in ("path", "distribution", "how", "each")}
    place = bound.targets[0][0]
    columns = numbers.columns[place.leaf].start
    known = numbers.entries[place.leaf]
    groups = range(len(bound.targets)) if place.turns else [group for _, group in bound.targets]
    return {
        "distribution": given["distribution"],
        "parameters": own,
        "how": "turn" if place.turns else bound.how,
        "count": bound.count,
        "at": [[int(columns), int(columns) + 4]]
        if place.turns
        else [(columns + np.searchsorted(known, group)).tolist() for group in groups],
    }


def _kept_leaves(first: Any) -> list[list[tuple[str, int]]]:
    """Names and leaf numbers of what each metric keeps."""
    import jax

    leaves = jax.tree_util.tree_flatten_with_path(first)[0]
    found: dict[int, list[tuple[str, int]]] = {}
    for k, (path, _) in enumerate(leaves):
        if getattr(path[0], "name", "") == "kept":
            found.setdefault(path[1].idx, []).append((path[2].key, k))
    return [found[k] for k in sorted(found)]


# ---- where the card is


def numbers_of(plan: dict[str, Any], runs: np.ndarray) -> np.ndarray:
    """The numbers of some runs, drawn as the package draws them."""
    shares = uniforms(plan["seed"], runs, sum(one["count"] for one in plan["dispersions"]))
    numbers, first = np.repeat(np.array(plan["nominal"])[None], len(runs), 0), 0
    for one in plan["dispersions"]:
        draws = distribution_of(one["distribution"], one["parameters"]).value(shares[:, first : first + one["count"]])
        first += one["count"]
        if one["how"] == "turn":
            begin, end = one["at"][0]
            numbers[:, begin:end] = turned(numbers[:, begin:end], draws)
            continue
        for value, places in zip(draws.T, one["at"], strict=True):
            if one["how"] == "set":
                numbers[:, places] = value[:, None]
            elif one["how"] == "add":
                numbers[:, places] += value[:, None]
            else:
                numbers[:, places] *= value[:, None]
    return numbers


def turned(quaternions: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Scalar-first quaternions, turned about their own axes by rotation vectors [rad], as the package does."""
    from scipy.spatial.transform import Rotation

    by = Rotation.from_rotvec(vectors)
    return (Rotation.from_quat(quaternions, scalar_first=True) * by).as_quat(scalar_first=True)


def difference(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Of each run: the largest relative difference of its metrics; balances are rounding and left out."""
    with np.errstate(invalid="ignore"):
        apart = np.where(found == expected, 0.0, np.abs(found - expected) / (1.0 + np.abs(expected)))
    return np.max(np.nan_to_num(apart, nan=np.inf), axis=1)


def run(folder: Path, runs: int | None, piece: int, emulate: bool) -> dict[str, Any]:
    """Draw, start, run and compare."""
    plan = json.loads((folder / "plan.json").read_text())
    graphs = {name: engine.load(folder / f"{name}.graph") for name in ("start", "step")}
    total = plan["runs"] if runs is None else runs
    _warm_up(emulate)
    parts, found = dict.fromkeys(("draw", "start", "steps"), 0.0), []
    began = time.perf_counter()
    start = engine.compile(graphs["start"], target="gpu", emulate=emulate)
    step = engine.compile(graphs["step"], target="gpu", emulate=emulate)
    for first in range(0, total, piece):
        clock = time.perf_counter()
        some = np.arange(first, min(first + piece, total))
        numbers, own = numbers_of(plan, some), noise_numbers(plan["seed"], some)
        parts["draw"] += time.perf_counter() - clock
        clock = time.perf_counter()
        begun = start.batch(numbers, own)
        parts["start"] += time.perf_counter() - clock
        clock = time.perf_counter()
        ended = step.rollout_batch(list(begun), numbers, own, steps=plan["steps"]).state
        found.append(_metrics(plan, list(ended)))
        parts["steps"] += time.perf_counter() - clock
    seconds, metrics = time.perf_counter() - began, np.concatenate(found)
    with np.load(folder / "reference.npz") as file:
        expected, apart = file["metrics"], file["rounding"]
    n = min(len(expected), total)
    off = difference(metrics[:n], expected[:n])
    return {
        "device": step.runner.name,
        "runs": total,
        "steps": plan["steps"],
        "operations": graphs["step"].operations["total"],
        "seconds": seconds,
        **{f"{name}_s": value for name, value in parts.items()},
        "compared": n,
        "difference": float(off.max()),
        "rounding": float(apart[:n].max()),
        "differ": int(np.sum(off > SAME)),
        "rounding_differ": int(np.sum(apart[:n] > SAME)),
        "medians": {name: float(np.median(metrics[:, k])) for k, (name, _) in enumerate(plan["metrics"])},
    }


def _metrics(plan: dict[str, Any], leaves: list[np.ndarray]) -> np.ndarray:
    columns = [
        REDUCTIONS[reduce].result({name: leaves[k] for name, k in kept})
        for (_, reduce), kept in zip(plan["metrics"], plan["kept"], strict=True)
    ]
    return np.stack(columns, axis=-1)


def _warm_up(emulate: bool) -> None:
    """Load JAX and scipy, start the card's driver: that is no compiling."""
    import jax
    import scipy.spatial.transform
    import scipy.special

    jax.tree_util.tree_leaves(scipy.special.ndtri(0.5))
    if not emulate:
        import cupy

        cupy.asnumpy(cupy.zeros((4, 4)).T.copy())


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--export", type=Path)
    parser.add_argument("--cases", type=Path)
    parser.add_argument("--runs", type=int, default=None, help="1 000 000 when not given")
    parser.add_argument("--piece", type=int, default=1 << 18, help="runs on the card at once")
    for flag in ("--emulate", "--quick", "--json"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    runs = 8 if options.quick else options.runs
    duration, reference = (2.0, 8) if options.quick else (DURATION, REFERENCE)
    if options.export:
        export(options.export, runs or 1_000_000, reference, duration)
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.cases or Path(scratch)
        if options.cases is None:
            export(folder, runs or 1_000_000, reference, duration)
        row = run(folder, runs, options.piece, options.emulate or options.quick)
    print(json.dumps(row, indent=1) if options.json else "\n".join(f"{k:16} {v}" for k, v in row.items()))


if __name__ == "__main__":
    main()
