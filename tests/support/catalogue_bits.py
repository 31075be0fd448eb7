"""Runs of the catalogue, shortened, by code made in every way there is; and how far their numbers are apart.

    python tests/support/catalogue_bits.py                    # the whole table
    python tests/support/catalogue_bits.py srms-normal/braked # one of it

In a process of its own, annotations are not executed while functions are traced: that is ten times faster.
"""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

TOLERANCE = 1e-12  # between graphs made otherwise, of the largest number of a channel or of 1 in its unit
OTHER_GRAPHS = ("alone", "jaxpr")  # ways that may add in another order

CONTACT = "beside-the-catalogue/contact"  # balls on a plane: nothing touches in the catalogue
_SOON = {"times.approach": 0.2, "times.grasp": 0.6, "times.rigidise": 0.7, "times.done": 0.9}  # [s]
# Settings that make a variant short; what happens in it still does.
SHORTENED: dict[str, dict[str, Any]] = {
    "ets7-gjm/nominal": {"duration": 3.0},
    "ets7-gjm/sampled-4hz": {"duration": 3.0},
    "ets7-gjm/torque-level-4hz": {"duration": 0.5},
    "ets7-satellite-based/nominal": {"duration": 3.0},
    "ets7-satellite-based/feed-forward-0.1": {"duration": 3.0},
    "ets7-rns/nominal": {"duration": 3.0},
    "ets7-rns/ideal": {"duration": 3.0},
    "ets7-rns/spline": {"duration": 3.0},
    "ets7-rns/torque-level": {"duration": 0.5},
    "ets7-gravity-gradient/nominal": {"duration": 50.0},
    "ets7-gravity-gradient/without": {"duration": 50.0},
    "ets7-gravity-gradient/torque-level": {"duration": 5.0},
    "ets7-capture/case-1": {"duration": 22.0},  # the hand latches after 19.5 s
    "ets7-capture/case-2": {"duration": 22.0},
    "ets7-capture/case-1-torque-level": {"duration": 0.5},
    "ets7-capture/case-1-camera": {"duration": 22.0},
    "ets7-capture/case-1-release": {"duration": 24.0, "release_after": 1.0},
    "envisat-free/paper": {"duration": 1.0},
    "envisat-free/absolute": {"duration": 1.0},
    "envisat-capture/paper": {"duration": 1.0, **_SOON},
    "envisat-capture/ideal-sensors": {"duration": 1.0, **_SOON},
    "goddard-symmetric/50-kg": {"duration": 1.0},
    "goddard-asymmetric/50-kg": {"duration": 1.0},
    "goddard-asymmetric/beat": {"duration": 1.0},
    "goddard-hil/50-kg": {"duration": 1.0},
    "goddard-hil/250-kg": {"duration": 1.0},
    "srms-tangential/hard": {"duration": 0.2},
    "srms-tangential/spatial": {"duration": 0.2},
    "srms-normal/hard": {"duration": 0.2},
    "srms-normal/braked": {"duration": 0.2, "approach": 0.1},  # the latch closes by itself
    "srms-normal/joint-hold": {"duration": 0.2},
    "srms-normal/reactionless": {"duration": 0.2},
    "srms-normal/spatial-braked": {"duration": 0.2, "approach": 0.1},
    "station-libration/nominal": {"duration": 500.0},
    "station-recovery/nominal": {"duration": 0.5},
    "station-recovery/limited": {"duration": 0.5},
    "station-recovery/filter": {"duration": 0.5},
    "station-rms/nominal": {"duration": 0.5},
    "station-rms/controlled": {"duration": 0.5},
    CONTACT: {"duration": 0.06},  # [s]; they touch after 7 ms
}
# Events that are in these at least: latches that close.
EVENTS: dict[str, int] = dict.fromkeys(
    (
        *("ets7-capture/case-1", "ets7-capture/case-1-camera", "ets7-capture/case-1-release"),
        *("envisat-capture/paper", "envisat-capture/ideal-sensors", "srms-normal/braked", "srms-normal/spatial-braked"),
        *("srms-tangential/hard", "srms-tangential/spatial", "srms-normal/hard", "srms-normal/joint-hold"),
    ),
    1,
)


@dataclass(frozen=True)
class Recorded:
    """What a run left: numbers and events."""

    channels: dict[str, np.ndarray]
    events: tuple[dict[str, Any], ...]


def recorded(case: str) -> Recorded:
    """A short run of a variant, by code found or made now."""
    from freefloat.scenarios import find
    from freefloat.sim import simulate

    if case == CONTACT:
        from support import touching

        run = touching.bounce(**SHORTENED[case], accuracy=False)
    else:
        name, variant = case.split("/")
        scenario = find(name).variants()[variant].with_settings(SHORTENED[case])
        run = simulate(scenario.build(), accuracy=False)
    return Recorded({channel: np.asarray(run.values(channel)) for channel in run.channels}, run.events)


@contextmanager
def settings(cache: str, quick: str = "1", tracing: str = "", pieces: str = "") -> Iterator[dict[str, int]]:
    """A process that starts, as far as code is concerned, with these settings; how many functions each way traced."""
    from freefloat.engine.jaxprs import direct
    from freefloat.engine.jaxprs import tracing as any_tracing
    from freefloat.engine.runtime import lookup

    lookup.forget()
    chosen = {"FREEFLOAT_CACHE": cache, "FREEFLOAT_QUICK_CODE": quick}
    chosen |= {"FREEFLOAT_TRACING": tracing, "FREEFLOAT_PIECES": pieces}
    count, trace = {"graph": 0, "jaxpr": 0}, any_tracing.trace_with_result

    def counted(*args: Any, **options: Any) -> Any:
        before = into_graph.call_count
        found = trace(*args, **options)  # a function that cannot be traced is not counted: nothing could be kept of it
        count["graph" if into_graph.call_count > before else "jaxpr"] += 1
        return found

    with (
        mock.patch.dict(os.environ, chosen),
        mock.patch.object(any_tracing, "trace_with_result", counted),
        mock.patch.object(direct, "trace_into", wraps=direct.trace_into) as into_graph,
    ):
        yield count


@contextmanager
def swapped_on_the_way() -> Iterator[list[Any]]:
    """Code at full strength takes the place of quick code after five looks for it; the programs in which it did."""
    from freefloat.engine.runtime import background, code, native

    looks: dict[Any, int] = {}
    swapped: list[Any] = []
    take = code.TieredCode._take_result

    def at_the_fifth_look(job: Any) -> bool:
        looks[job] = looks.get(job, 0) + 1
        return looks[job] >= 5 and job._process.wait() is not None

    def counted(program: Any, job: Any) -> None:
        swapped.append(job)
        take(program, job)

    with (
        mock.patch.object(code, "PAYS", 0),
        mock.patch.object(native, "QUICK_OPERATIONS", 1),
        mock.patch.object(native, "LEAST_STEPS", 1),  # a look at every step
        mock.patch.object(background, "most_jobs", return_value=1000),  # nobody waits for another's
        mock.patch.object(background.Job, "has_ended", property(at_the_fifth_look)),
        mock.patch.object(code.TieredCode, "_take_result", counted),
    ):
        yield swapped


def copy_pieces(cache: str, to: str) -> None:
    """A cache with nothing but the pieces of graph of another one, which this process has used."""
    from freefloat.engine.runtime import bundles
    from freefloat.engine.runtime import cache as entries

    Path(to).mkdir(mode=0o700)
    owners = [owner for folder, owner in bundles._on_disk if folder == cache]
    assert owners, "No piece was kept."
    for owner in owners:
        name = f"{entries.key('pieces', owner)}{entries.SUFFIX}"
        shutil.copy(Path(cache) / name, Path(to) / name)


def in_every_way(case: str, folder: str) -> dict[str, Recorded]:
    """The runs of a case by the way in which their code was made.

    `pieces`: pieces of graph were found, nothing else; `alone`: there are none. `jaxpr`: the second way of tracing.
    """
    runs, cache = {}, f"{folder}/cache"
    with settings(cache) as cold:
        runs["cold"] = recorded(case)
        copy_pieces(cache, f"{folder}/pieces")
    with settings(f"{folder}/pieces") as found:
        runs["pieces"] = recorded(case)
    with settings(f"{folder}/alone", pieces="0") as alone:
        runs["alone"] = recorded(case)
    with settings(cache) as warm:
        runs["warm"] = recorded(case)
    with settings(cache, quick=""), swapped_on_the_way() as swapped:
        runs["swapped"] = recorded(case)
    with settings(cache, quick="0"):
        runs["full"] = recorded(case)
    with settings(f"{folder}/jaxpr", tracing="jaxpr") as second:
        runs["jaxpr"] = recorded(case)
    # Otherwise nothing would have been compared. (The station's model is made once in a process.)
    assert cold["graph"] >= second["jaxpr"] > 0, f"{case}: {cold} functions were traced, and then {second}."
    assert cold["graph"] >= found["graph"] > 0 < alone["graph"], f"{case}: {cold}, {found} and {alone} were traced."
    assert cold["jaxpr"] == second["graph"] == 0, f"{case}: {cold} functions were traced, and then {second}."
    assert not any(warm.values()), f"{case}: {warm} functions were traced a second time."
    assert swapped, f"{case}: no code was swapped while it ran."
    return runs


# ---- comparing


def differing_channels(ours: Recorded, theirs: Recorded) -> list[dict[str, Any]]:
    """Channels whose bits differ: how many of their numbers, and the largest difference for their size."""
    if ours.channels.keys() != theirs.channels.keys():
        return [{"channel": str(ours.channels.keys() ^ theirs.channels.keys()), "numbers": 0, "apart": float("inf")}]
    rows = []
    for channel, a in ours.channels.items():
        b = theirs.channels[channel]
        if a.shape != b.shape or a.dtype != b.dtype:
            rows.append({"channel": channel, "numbers": 0, "apart": float("inf")})
        elif a.tobytes() != b.tobytes():
            rows.append({"channel": channel, **_difference(a, b)})
    return rows


def _difference(a: np.ndarray, b: np.ndarray) -> dict[str, Any]:
    if a.dtype.kind != "f":
        return {"numbers": int(np.sum(a != b)), "apart": float("inf")}
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        apart = np.where(same, 0.0, np.abs(a - b))
    size = max(1.0, float(np.max(np.abs(np.nan_to_num(a)), initial=0.0)))
    return {"numbers": int(np.sum(~same)), "of": int(a.size), "apart": float(np.max(apart)) / size}


def differing_events(ours: Recorded, theirs: Recorded, tolerance: float) -> list[str]:
    """Events that are not the same; their numbers may differ by the tolerance."""
    if len(ours.events) != len(theirs.events):
        return [f"{len(ours.events)} events, not {len(theirs.events)}"]
    return [
        f"{a} is not {b}"
        for a, b in zip(ours.events, theirs.events, strict=True)
        if a.keys() != b.keys() or not all(_near(a[key], b[key], tolerance) for key in a)
    ]


def _near(a: Any, b: Any, tolerance: float) -> bool:
    if isinstance(a, float) and isinstance(b, float):
        return abs(a - b) <= tolerance * max(1.0, abs(a)) or a == b
    return bool(np.all(a == b))


def compared(case: str, folder: str) -> dict[str, Any]:
    """What differs from the first run of a case, by way; and the events of that run."""
    runs = in_every_way(case, folder)
    first = runs.pop("cold")
    found: dict[str, Any] = {"case": case, "events": [event["label"] for event in first.events], "ways": {}}
    for way, run in runs.items():
        events = differing_events(first, run, TOLERANCE if way in OTHER_GRAPHS else 0.0)
        found["ways"][way] = {"channels": differing_channels(first, run), "events": events}
    return found


def table(found: dict[str, Any]) -> str:
    """What differs, for people."""
    lines = []
    for way, differences in found["ways"].items():
        rows = sorted(differences["channels"], key=lambda row: -row["apart"])
        largest = f", at most {rows[0]['apart']:.1e}" if rows else ""
        lines.append(f"{found['case']}, {way}: {len(rows)} channels differ{largest}; {len(found['events'])} events")
        lines += [f"    {r['channel']}: {r['numbers']} of {r.get('of', '?')} numbers, {r['apart']:.1e}" for r in rows]
        lines += [f"    event: {words}" for words in differences["events"]]
    return "\n".join(lines)


def main(cases: list[str]) -> None:
    """Compare these cases, or all; a line of JSON for each where `--json` is given."""
    import freefloat  # noqa: F401 (before the clock of the first case)

    as_json = "--json" in cases
    for case in [c for c in cases if c != "--json"] or SHORTENED:
        with tempfile.TemporaryDirectory() as folder:
            found = compared(case, folder)
        print(json.dumps(found) if as_json else table(found), flush=True)  # noqa: T201


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1]))
    main(sys.argv[1:])
