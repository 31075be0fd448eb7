"""Rows of `benchmarks/latency.py`: how long the first answer takes, and an answer that is found, by process.

Every group of rows begins with an empty cache of compiled code, and every measurement is a process of its own. Times
are processor time of that process without compilers in the background, and the clock's; medians over the repeats.
"""

import contextlib
import itertools
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from comparison import Row, row

HERE = Path(__file__).parent
OWN = HERE.parent  # this checkout
FIRST_RUNS = ("ets7-gjm", "ets7-capture", "station-rms", "station-recovery", "envisat-capture")
SLOW_RUNS = FIRST_RUNS[2:]  # left out of a smoke run
KINDS = ("import", "trace", "compile", "own")

# Seconds of processor time (steps: of one step): what must be reached, and what is aimed at.
BOUNDS = {
    "readme": (2.8, 2.0),
    "software": (2.6, 2.0),
    "software-edited": (1.7, 1.0),
    "software-edited-again": (1.6, 0.8),
    "run-ets7-gjm": (2.0, 1.5),
    "run-ets7-capture": (6.0, 3.0),
    "run-station-rms": (9.0, 5.0),
    "run-station-recovery": (12.0, 6.0),
    "run-envisat-capture": (35.0, 15.0),
    "warm-script": (1.2, 0.9),
    "warm-run": (1.8, 1.2),
    "replay": (3.0, 1.0),
}

Found = dict[str, Any]  # of one measurement: cpu, wall, and the parts of cpu by kind
Group = Callable[["Place"], Iterator[tuple[str, Found]]]


@dataclass(frozen=True)
class Place:
    """A checkout whose package is measured, and an empty folder for its cache and files."""

    checkout: Path
    folder: Path

    def run(self, case: str, *words: str, cache: str = "cache") -> dict[str, Any]:
        """One process of `first_answer_cases.py`."""
        environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
        environment |= {"PYTHONPATH": str(self.checkout / "src"), "FREEFLOAT_CACHE": str(self.folder / cache)}
        line = [sys.executable, str(HERE / "first_answer_cases.py"), case, str(self.folder), *words]
        done = subprocess.run(line, capture_output=True, text=True, check=False, env=environment, cwd=self.folder)
        if done.returncode:
            raise RuntimeError(f"{case} {' '.join(words)} failed with {self.checkout}:\n{done.stdout}{done.stderr}")
        found = json.loads(done.stdout.splitlines()[-1])
        if Path(found.pop("package")).resolve() != (self.checkout / "src").resolve():
            raise RuntimeError(f"The package of {self.checkout} was not the one that was imported.")
        return found


def without_imports(times: dict[str, list[float]]) -> Found:
    """A call with its imports done: what it imports on its way does not count."""
    return _found(times, KINDS[1:])


def whole(times: dict[str, list[float]]) -> Found:
    """A process from its start."""
    return _found(times, KINDS)


def made(times: dict[str, list[float]]) -> Found:
    """Trace and compile of a command; its own work is listed."""
    return _found(times, ("trace", "compile"))


def _found(times: dict[str, list[float]], counted: tuple[str, ...]) -> Found:
    cpu, wall = (sum(times[kind][place] for kind in counted) for place in range(2))
    return {"cpu": cpu, "wall": wall, **{kind: times[kind][0] for kind in KINDS}}


# ---- groups of rows


def readme(place: Place) -> Iterator[tuple[str, Found]]:
    """README: first, again, with another colour and another shape, and as a script."""
    yield "readme", without_imports(place.run("readme")["call"])
    yield "second", without_imports(place.run("readme")["call"])
    yield "warm-script", whole(place.run("script")["process"])
    for look in ("colour", "shape"):
        yield f"{look}-changed", without_imports(place.run("readme", look)["call"])


def software(place: Place) -> Iterator[tuple[str, Found]]:
    """Software of a user's own: first, edited, and edited again in the same process."""
    yield "software", without_imports(place.run("software", "0.01")["call"])
    edited = place.run("software", "0.011", "0.012")
    yield "software-edited", without_imports(edited["call"])
    yield "software-edited-again", without_imports(edited["again"])


def first_run(name: str) -> Group:
    """`freefloat run` of a scenario for the first time."""

    def group(place: Place) -> Iterator[tuple[str, Found]]:
        words = ("run", name, "--out", str(place.folder / "run"), "--force")
        yield f"run-{name}", made(place.run("command", *words)["process"])
        if name == FIRST_RUNS[0]:
            yield "warm-run", whole(place.run("command", *words)["process"])

    return group


def replay(place: Place) -> Iterator[tuple[str, Found]]:
    """Replay of one case of a campaign just run, less `simulate` of it: both with what the campaign left."""
    folder = place.folder / "campaign"
    place.run("command", "campaign", "run", "ets7-capture", "--runs", "16", "--out", str(folder), "--quiet")
    shutil.copytree(place.folder / "cache", place.folder / "copy")  # made with the same mode
    simulated = whole(place.run("campaign_case", cache="copy")["call"])
    replayed = whole(place.run("campaign_replay")["call"])
    yield "replay", {key: replayed[key] - simulated[key] for key in replayed}


def steps(place: Place) -> Iterator[tuple[str, Found]]:
    """A step of `stepper`, and one of the rollout in `simulate`."""
    for model in ("small", "ports", "mission"):
        found = place.run("step", model)["step"]
        yield f"step-{model}", {"cpu": found["stepper"], "simulate": found["simulate"]}


GROUPS: dict[str, tuple[Group, tuple[str, ...]]] = {
    "readme": (readme, ("readme", "second", "warm-script", "colour-changed", "shape-changed")),
    "software": (software, ("software", "software-edited", "software-edited-again")),
    **{
        f"run-{name}": (first_run(name), (f"run-{name}", *(["warm-run"] if name == FIRST_RUNS[0] else [])))
        for name in FIRST_RUNS
    },
    "replay": (replay, ("replay",)),
    "step": (steps, ("step-small", "step-ports", "step-mission")),
}
ROWS = tuple(itertools.chain.from_iterable(names for _, names in GROUPS.values()))


# ---- medians


def rows(only: list[str], repeats: int, beside: Path | None, *, quick: bool) -> Iterator[Row]:
    """Medians of the chosen rows, of this checkout and of the one beside it, which take turns."""
    slow = [f"run-{name}" for name in SLOW_RUNS] if quick else []
    for group, names in GROUPS.values():
        if chosen := [name for name in names if name in only or (not only and name not in slow)]:
            yield from _group_rows(group, chosen, repeats, [OWN, *([beside] if beside else [])])


def _group_rows(group: Group, chosen: list[str], repeats: int, checkouts: list[Path]) -> Iterator[Row]:
    found: list[dict[str, list[Found]]] = [{} for _ in checkouts]
    for repeat in range(repeats):
        order = list(enumerate(checkouts))
        for at, checkout in order if repeat % 2 == 0 else reversed(order):
            with _empty_folder() as folder:
                for name, one in group(Place(checkout, folder)):
                    found[at].setdefault(name, []).append(one)
    for name in chosen:
        yield _row(name, *(_median(each[name]) for each in found))


@contextlib.contextmanager
def _empty_folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "cache").mkdir(mode=0o700)
        yield Path(folder)


def _median(found: list[Found]) -> Found:
    return {key: statistics.median(one[key] for one in found) for key in found[0]}


def _row(name: str, ours: Found, peer: Found | None = None) -> Row:
    made = row("first", name, ours["cpu"], "before" if peer else None, peer["cpu"] if peer else None)
    floor, aim = BOUNDS.get(name, (None, None))
    if name in ("step-small", "step-ports"):
        floor = ours["simulate"] + 20e-6  # [s]
    elif name == "step-mission":
        floor = 1.5 * ours["simulate"]
    elif name in ("colour-changed", "shape-changed"):
        made["as"] = "second"
    return {**made, "floor": floor, "aim": aim, "parts": ours, "parts_before": peer}


def print_rows(found: list[Row]) -> None:
    """For people: seconds; of steps microseconds."""
    head = ("row", "cpu", "floor", "aim", "before", "wall", *KINDS)
    print(f"{head[0]:<22}" + "".join(f"{word:>9}" for word in head[1:]))
    for line in found:
        parts: Any = line["parts"]
        scale = 1e6 if "simulate" in parts else 1.0
        numbers = [line["ours"], line["floor"], line["aim"], line["peer"], *(parts.get(k) for k in ("wall", *KINDS))]
        cells = "".join(f"{'' if x is None else f'{scale * x:.3g}':>9}" for x in numbers)
        print(f"{line['measure']:<22}{cells}{_beside(line, scale)}")


def _beside(line: Row, scale: float) -> str:
    parts: Any = line["parts"]
    before: Any = line["parts_before"]
    if "simulate" in parts:
        ratio = parts["cpu"] / parts["simulate"]
        return f"   simulate {scale * parts['simulate']:.3g} us a step, ratio {ratio:.3g}"
    if before and str(line["measure"]).startswith("run-"):
        return f"   own work before {before['own']:.3g}"
    return f"   as {line['as']}" if "as" in line else ""
