"""What a person waits for, in seconds of CPU: the same again, other numbers, a loop over them, a command, a question.

python benchmarks/latency.py [--json] [--masses 100] [--only line command linear jacobian studio]
python benchmarks/latency.py --only readme law law-edited run-ets7-gjm [--repeats 5] [--beside ../before] [--json]

`first` is with an empty cache of compiled code, and the peer of what follows it. `stepping` is what the compiled steps
of that run take by themselves. Commands are processes of their own, with their imports, files and page. The studio is
the exception: seconds on the clock from a changed number to the new run on the stage, without a browser.

The second line is for first answers: each row is a median of processes that begin with an empty cache
(`first_answers.py`), split into imports, tracing, compiling and own work, with what must be reached (floor) and what is
aimed at. `--beside` takes another checkout, such as a worktree of the commit before, and measures it in turns with this
one. `cpu` of `run-` rows is tracing and compiling; of `replay` what it takes more than `simulate` of the same case.
"""

import argparse
import contextlib
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import first_answers
import numpy as np
import timing
from comparison import Row, row

import freefloat as ff

_LOOKING = 3.0  # seconds that a person looks at a run before changing another number
PARTS = ("line", "command", "linear", "jacobian", "studio")
START_DEG = (0.0, 0.0, 10.0, -32.8, 0.0, 0.0)


def spent(work: Callable[[], object]) -> float:
    """CPU of this process [s]."""
    begun = time.process_time()
    work()
    return time.process_time() - begun


def row_of(case: str, measure: str, ours: float, first: float | None = None, stepping: float | None = None) -> Row:
    """Beside the first time; `stepping` is the part of it that the compiled steps take."""
    return {**row(case, measure, ours, "first" if first else None, first), "stepping": stepping}


# ---- the straight line of ETS-VII, as in README


def line_of(craft: Any) -> dict[str, Any]:
    """What README hands to `simulate`."""
    path = ff.Line(direction=(1, 0, 0), length=0.2, speed=0.01)
    law = ff.ResolvedMotion(craft=craft, frame="hand", path=path)
    return {"parts": (craft, law), "options": {"joints_deg": START_DEG, "duration": 22.0, "dt": 0.05}}


def simulate_line(mass: float | None = None) -> ff.Run:
    """The run; `mass` of the base [kg]."""
    craft = ff.library.ets7()
    given = line_of(craft if mass is None else craft.with_value("base.mass", mass))
    return ff.simulate(*given["parts"], **given["options"])


def stepping_of(experiment: ff.Experiment) -> float:
    """CPU of the compiled steps of an experiment [s]."""
    from freefloat.sim import begin, step

    system, loop = begin(experiment.system, experiment.start)
    steps = round(experiment.duration / system.dt)
    advance = ff.engine.compile(lambda z: step(system, z, {}), loop)
    return timing.best(lambda: advance.rollout(loop, steps=steps, record_every=1))


def line(masses: int) -> Iterator[Row]:
    """The same run again, one with another mass, and a loop over many."""
    given, heaviest = line_of(ff.library.ets7()), ff.library.ets7().body("base").mass
    first = spent(simulate_line)
    stepping = stepping_of(ff.Experiment.of(*given["parts"], **given["options"]))
    yield row_of("line", "first", first, stepping=stepping)
    yield row_of("line", "same again", spent(simulate_line), first, stepping)
    yield row_of("line", "other mass", spent(lambda: simulate_line(0.99 * heaviest)), first, stepping)
    if not timing.quick:
        yield row_of("line", "a third mass", spent(lambda: simulate_line(0.98 * heaviest)), first, stepping)
    many = heaviest * np.linspace(0.5, 0.9, masses)
    looped = spent(lambda: [simulate_line(mass) for mass in many])
    yield row_of("line", f"loop of {masses} masses", looped, first * masses, stepping * masses)


# ---- commands


def command(*words: str) -> float:
    """CPU of `freefloat` with these words, with all that it starts [s]."""
    # As installed: Python keeps the bytecode of what it imports.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    line = [sys.executable, "-m", "freefloat", *words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise RuntimeError(f"freefloat {' '.join(words)} failed:\n{done.stdout}{done.stderr}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def commands(folder: Path) -> Iterator[Row]:
    """`freefloat run ets7-gjm` with its page: first, again, and with another duration."""
    words = ("run", "ets7-gjm", "--out", str(folder / "run"), "--force")
    yield row_of("command", "--help", command("--help"))
    first = command(*words)
    yield row_of("command", "run: first", first)
    yield row_of("command", "run: again", command(*words), first)
    yield row_of("command", "run: duration=24", command(*words, "--set", "duration=24"), first)
    if not timing.quick:
        yield row_of("command", "run: that again", command(*words, "--set", "duration=24"), first)


# ---- questions


def servicer(modes: int = 1) -> Any:
    """ETS-VII with two panels of 8 m, as in docs/flexible-howto.md."""
    panel = ff.flex.beam(
        length=8.0,  # [m]
        mass=60.0,  # [kg]
        bending_stiffness=(8000.0, 2000.0),  # [N m2]
        modes={"y": modes, "z": modes},
        damping_ratio=0.005,
    )
    craft = ff.library.ets7()
    for name, side in (("right", 1.0), ("left", -1.0)):
        at = ff.Pose.from_rpy_deg((0.0, 0.0, 90.0 * side), (0.0, 1.5 * side, 0.0))
        craft = craft.mount(panel, name=name, at=at)
    return craft


def linear_model(*, quick: bool) -> Iterator[Row]:
    """`linearise` of a servicer with flexible panels; in a smoke run of a hub alone."""
    hub = ff.Spacecraft.from_base("hub", mass=50.0, inertia=(8.0, 8.0, 8.0))  # [kg], [kg m2]
    craft, joints = (hub, None) if quick else (servicer(), START_DEG)
    experiment = ff.Experiment.of(craft, duration=1.0, dt=0.01, joints_deg=joints)
    first = spent(lambda: ff.analysis.linearise(experiment))
    yield row_of("linear", "linearise: first", first)
    yield row_of("linear", "linearise: next", timing.best(lambda: ff.analysis.linearise(experiment), blocks=3), first)


def jacobian() -> Iterator[Row]:
    """`generalized_jacobian` with NumPy arrays."""
    craft, q = ff.library.ets7(), np.deg2rad(START_DEG)
    first = spent(lambda: np.asarray(ff.dynamics.generalized_jacobian(craft, q, "hand")))
    yield row_of("jacobian", "gjm: first", first)
    after = timing.best(lambda: np.asarray(ff.dynamics.generalized_jacobian(craft, q, "hand")), blocks=3)
    yield row_of("jacobian", "gjm: next", after, first)


# ---- the studio


def studio(folder: Path) -> Iterator[Row]:
    """From a changed number to the scene, as far as the server goes [s of the clock]."""
    try:
        from freefloat.studio import Studio, require_viser

        require_viser()
    except ValueError:
        return
    page = Studio(folder / "studio", port=0)
    try:
        page.choose("ets7-gjm")
        first = _shown_after(page, 0.01)
        yield row_of("studio", "first run, clock", first)
        yield row_of("studio", "changed number, clock", _shown_after(page, 0.011), first)
        if not timing.quick:
            yield row_of("studio", "another one, clock", _shown_after(page, 0.012), first)
    finally:
        with contextlib.redirect_stdout(sys.stderr):  # the server says that it stops
            page.close()


def _shown_after(page: Any, speed: float) -> float:
    """Seconds from a speed of the hand [m/s], put into the form, to its run on the stage."""
    while page._source is not None:
        time.sleep(0.01)
    time.sleep(_LOOKING)
    begun, before = time.monotonic(), page._stage
    page.form._fields["path.speed"].value = str(speed)
    page.start(live=False)
    while page._stage is before:
        if page._source is None:
            raise RuntimeError(f"The studio did not run it: {page._message.content}")
        time.sleep(0.002)
    return time.monotonic() - begun


def rows(masses: int, only: list[str], *, quick: bool) -> Iterator[Row]:
    """Everything that is asked for, with a cache of its own that is empty at first."""
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        parts: dict[str, Callable[[], Iterator[Row]]] = {
            "line": lambda: line(masses),
            "command": lambda: commands(place),
            "linear": lambda: linear_model(quick=quick),
            "jacobian": jacobian,
            "studio": lambda: studio(place),
        }
        for name, measure in parts.items():
            if name in only:
                os.environ["FREEFLOAT_CACHE"] = str(place / name)
                yield from measure()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--quick", action="store_true", help="a smoke run: once, without the slowest")
    parser.add_argument("--masses", type=int, default=100, help="how many the loop takes")
    parser.add_argument("--only", nargs="+", default=[], choices=(*PARTS, *first_answers.ROWS), metavar="ROW")
    parser.add_argument("--repeats", type=int, default=5, help="processes of each row of first answers")
    parser.add_argument("--beside", type=Path, help="another checkout, for first answers")
    options = parser.parse_args()
    timing.quick = options.quick
    parts = [name for name in PARTS if name in options.only or not options.only]
    found = list(rows(1 if options.quick else options.masses, parts, quick=options.quick))
    first: list[Row] = []
    names = [name for name in options.only if name in first_answers.ROWS]
    if names or not options.only:
        repeats = 1 if options.quick else options.repeats
        beside = options.beside and options.beside.resolve()
        first = list(first_answers.rows(names, repeats, beside, quick=options.quick))
    if options.json:
        print(json.dumps(found + first, indent=2))
        return
    if found:
        print_parts(found)
    if first:
        first_answers.print_rows(first)


def print_parts(found: list[Row]) -> None:
    """For people."""
    print(f"{'case':<10} {'measure':<24} {'[s]':>10} {'stepping [s]':>13} {'first / this':>13}")
    for one in found:
        stepping, ratio = (f"{one[name]:.3g}" if one[name] is not None else "" for name in ("stepping", "ratio"))
        print(f"{one['case']:<10} {one['measure']:<24} {one['ours']:>10.3g} {stepping:>13} {ratio:>13}")


if __name__ == "__main__":
    main()
