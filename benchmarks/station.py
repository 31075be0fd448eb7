"""The station: how long a user waits for its linear model and its regulator, and how fast the nonlinear model runs.

Cases: `nodal` has 66 coordinates (132 states, 12 inputs), `reduced` 34 by Craig-Bampton.

Measures: `design` build, linearise in orbit and solve the LQR, in a fresh process without compiled code of earlier runs
[s]; `residual_error` of its Riccati equation; `lqr` the regulator alone, beside python-control where it is installed;
`rk4_step` of the nonlinear model under the gravity gradient, arm and structure free [s]; `per_second` the same for one
second of flight at the step that follows its fastest mode: above 0.05 it is slower than 20 times real time;
`closed_loop` 1000 s of the nonlinear reduced station with its regulator every millisecond, processor time beside real
time [s].
`--json` for machines, `--quick` for a smoke run (linear model only).
"""

from __future__ import annotations

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from comparison import Row, main, row
from timing import best

CASES = {"nodal": {"reduction": "nodal"}, "reduced": {}}
STEPS = {"nodal": 5e-4, "reduced": 1e-3}  # [s]
WEIGHTS = np.where(np.isin(np.arange(12), [1, 2, 6, 7]), 1.0, 1e7)


def design(case: str) -> tuple[Any, Any]:
    """Model and regulator as a user makes them."""
    import freefloat as ff
    from freefloat.control.lqr import design_lqr

    craft = ff.library.station(**CASES[case])  # pyright: ignore[reportArgumentType]
    reference = ff.library.station_reference(craft)
    orbit = ff.effects.CircularOrbit(altitude=400e3)  # [m]
    model = ff.analysis.linearise_in_orbit(craft, orbit, gradient="paper", **reference.arguments())
    return model, design_lqr(model.structure, 1e7, WEIGHTS)


def fresh_design(case: str) -> tuple[float, float]:
    """Seconds of a fresh process without compiled code, and the relative residual."""
    with tempfile.TemporaryDirectory() as cache:
        environment = {**os.environ, "FREEFLOAT_CACHE": cache}
        command = [sys.executable, __file__, "--design", case]
        start = time.perf_counter()
        said = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        return time.perf_counter() - start, json.loads(said.stdout)


def flight(case: str, duration: float) -> float:
    """Processor time of a nonlinear run of a duration, audit and all, compiled before [s]."""
    import freefloat as ff

    craft = ff.library.station(**CASES[case])  # pyright: ignore[reportArgumentType]
    reference, orbit = ff.library.station_reference(craft), ff.effects.CircularOrbit(altitude=400e3)
    start = ff.effects.co_rotating_state(craft, orbit, reference.q, reference.attitude)
    start = craft.in_motion(start, joints={"rail": 0.1, "elbow": 0.01})
    tide, dt = ff.effects.GravityGradient(orbit=orbit), STEPS[case]
    more: dict[str, Any] = {"state": start, "dt": dt, "record_dt": 1.0}
    ff.simulate(craft, tide, duration=1.0, **more)  # compiles
    took = []
    for length in (duration, 2.0 * duration):
        begun = time.process_time()
        ff.simulate(craft, tide, duration=length, **more)
        took.append(time.process_time() - begun)
    return took[1] - took[0]


def closed_loop(duration: float) -> Row:
    """The recovery of the nonlinear station, audit and all, compiled before."""
    from dataclasses import replace

    from freefloat.scenarios.station import StationRecovery
    from freefloat.sim import simulate

    experiment = replace(StationRecovery(), duration=duration).build()
    simulate(replace(experiment, duration=0.5))  # compiles
    begun = time.process_time()
    simulate(experiment)
    return row("reduced", "closed_loop", time.process_time() - begun, "real time", duration)


def rows(quick: bool) -> Iterator[Row]:
    """All measures of all cases."""
    for case in ("reduced",) if quick else CASES:
        seconds, residual = fresh_design(case)
        yield row(case, "design", seconds)
        yield row(case, "residual_error", residual)
        yield _lqr(case)
        if not quick:
            duration = 20.0  # [s]
            taken = flight(case, duration)
            yield row(case, "rk4_step", taken * STEPS[case] / duration)
            yield row(case, "per_second", taken / duration)
    if not quick:
        yield closed_loop(1000.0)


def _lqr(case: str) -> Row:
    from freefloat.control.lqr import design_lqr

    model, _ = design(case)
    ours = best(lambda: design_lqr(model.structure, 1e7, WEIGHTS), blocks=3)
    try:
        import control  # pyright: ignore[reportMissingImports]
    except ImportError:
        return row(case, "lqr", ours)
    plain = model.structure.state_space
    Q, R = 1e7 * np.eye(len(plain.A)), np.diag(WEIGHTS)
    return row(case, "lqr", ours, "python-control", best(lambda: control.lqr(plain.A, plain.B, Q, R), blocks=3))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--design"]:
        print(json.dumps(float(design(sys.argv[2])[1].residual)))
    else:
        main(__doc__, rows)
