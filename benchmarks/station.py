"""The station: how long a user waits for its linear model, its regulator and 1000 s of nonlinear closed loop.

Measures: `linear_model` build the 66-coordinate station, linearise it in orbit, design its regulator (132 states) [s];
`regulator` the design alone, beside python-control's `lqr` (SciPy, balanced; `regulator_slycot` with slycot where it is
installed); `error` of the Riccati equation relative to its terms, ours and theirs; `closed_loop` wall time of 1000 s
of the nonlinear station (34 coordinates, dt = 1 ms, regulator at every step) [s] once it is compiled: peer = the time
itself, so the ratio is how much faster than real time it runs. A peer that is not installed is left out. `--json` for
machines, `--quick` for a smoke run.
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a Riccati equation of 132 states takes ten times longer with two

import sys
import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from comparison import Row, main, row

SECONDS = 1000.0


def rows(quick: bool = False) -> Iterator[Row]:
    """All measures."""
    from freefloat.scenarios.station.model import paper_weights, station_model

    start = time.perf_counter()
    station = station_model()
    regulator = station.regulator
    yield row("station", "linear_model", time.perf_counter() - start, "limit", 20.0)
    plain, (Q, R) = station.structure.state_space, paper_weights(station.structure)
    start = time.perf_counter()
    from freefloat.control.lqr import design_lqr

    design_lqr(station.structure, Q, R)
    ours = time.perf_counter() - start
    yield from _python_control(plain, Q, R, ours, regulator.residual)
    yield _closed_loop(10.0 if quick else SECONDS)


def _python_control(plain, Q: np.ndarray, R: np.ndarray, ours: float, residual: float) -> Iterator[Row]:
    try:
        import control  # pyright: ignore[reportMissingImports]
    except ModuleNotFoundError:
        return
    for method in ("scipy", "slycot"):
        try:
            start = time.perf_counter()
            K, P, _ = control.lqr(plain.A, plain.B, np.diag(Q), np.diag(R), method=method)
        except Exception as fault:
            sys.stderr.write(f"python-control with {method}: {str(fault).splitlines()[0]}\n")
            continue
        name = "regulator" if method == "scipy" else "regulator_slycot"
        yield row("station", name, ours, "python-control", time.perf_counter() - start)
        terms = [plain.A.T @ P, P @ plain.A, np.diag(Q), P @ plain.B @ K]
        left = np.linalg.norm(terms[0] + terms[1] + terms[2] - terms[3]) / sum(map(np.linalg.norm, terms))
        yield row("station", f"error_{method}", residual, "python-control", float(left))


def _closed_loop(seconds: float) -> Row:
    from freefloat.scenarios.station import StationRecovery
    from freefloat.sim import simulate

    experiment = replace(StationRecovery(), duration=seconds).build()
    simulate(replace(experiment, duration=0.5))  # compile
    start = time.perf_counter()
    simulate(experiment)
    return row("station", "closed_loop", time.perf_counter() - start, "real time", seconds)


if __name__ == "__main__":
    main(__doc__, rows)
