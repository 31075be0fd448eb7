"""Planted defects of a rehearsal: which criterion names each of them, and the smallest size that is found.

python benchmarks/planted_defects.py [--seeds 10] [--only WORD] [--json]     # sizes grow until 9 of 10 seeds find one
python benchmarks/planted_defects.py --sound 100 [--only WORD]               # the sound set: no false no-go

A defect is found when the verdict is a no-go and a criterion of those that are meant stands against it. Its effect is
the largest distance between the robot's motion and that of the sound cell, or the change of its largest force.
Planted is what a facility would not report: between cell and loop, in the settings of the cell, or in the log.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
from planted_contact import contact_evidence, sound_contact

import freefloat as ff
from freefloat.hil.defects import DefectiveFacility, Defects
from freefloat.hil.judging import Evidence, judge_rehearsal
from freefloat.scenarios.envisat.capture import EnvisatCapture
from freefloat.scenarios.envisat.free import EnvisatFree
from freefloat.scenarios.goddard import GoddardRehearsal
from freefloat.scenarios.rehearsed import RehearsedScenario
from freefloat.scenarios.repeats import go_rate, judge_seeds, rehearsed_evidence
from freefloat.spatial import Pose
from freefloat.values.verdicts import Verdict

ENOUGH = 0.9  # of the seeds that must find a defect
HUBS = GoddardRehearsal.variants()
SOUND = ("25-kg", "50-kg", "100-kg", "250-kg", "50-kg-late", "100-kg-late", "250-kg-late")

Plant = Callable[[float, int], Evidence]  # (size, seed)


@dataclass(frozen=True)
class Planted:
    """A defect in growing sizes, and words of which one begins the name of a criterion that must find it."""

    scenario: str
    name: str
    sizes: tuple[float, ...]
    unit: str
    plant: Plant
    named: tuple[str, ...]  # empty: no measurement can show it


# ---- cells


@cache
def _prediction(scenario: RehearsedScenario) -> ff.Run:
    return ff.simulate(scenario.build())


def _rehearsed(cell: RehearsedScenario, declared: RehearsedScenario, defects: Defects | None = None) -> Evidence:
    """Evidence of what flew in the cell of one scenario, judged by what another one declares."""
    wrap = (lambda facility: DefectiveFacility(facility, defects)) if defects else None
    found = rehearsed_evidence(cell, _prediction(declared), wrap)
    made = replace(found.rehearsal, vibration=declared.rehearsal().vibration)
    claims = tuple(declared.mission_claims(found.run, _prediction(declared)))
    return replace(found, rehearsal=made, declared=declared.declared_world(), claims=claims)


def hub(variant: str = "50-kg", **change: Any) -> Callable[[float, int], Evidence]:
    """Plant in the cell of Goddard: settings of the scenario (`set_...`) or defects, as functions of the size."""

    def plant(size: float, seed: int) -> Evidence:
        declared = replace(HUBS[variant], seed=seed)
        settings = {name[4:]: value(size) for name, value in change.items() if name.startswith("set_")}
        defects = {name: value(size) for name, value in change.items() if not name.startswith("set_")}
        stated = {name: value for name, value in settings.items() if name in ("delay_ms", "lag", "bandwidth_hz")}
        cell = replace(declared, **settings)
        return _rehearsed(cell, replace(declared, **stated), Defects(**defects) if defects else None)

    return plant


def free(**change: Callable[[float], Any]) -> Plant:
    """Plant in the cell of Envisat, free motion; the motion is short, the sensors are checked before it."""

    def plant(size: float, seed: int) -> Evidence:
        scenario = replace(EnvisatFree(), duration=2.0)
        return _rehearsed(scenario, scenario, Defects(**{name: value(size) for name, value in change.items()}))

    return plant


def contact(**change: Any) -> Plant:
    """Plant in a contact between two ideal robots."""
    return lambda size, seed: contact_evidence(seed, {name: value(size) for name, value in change.items()})


def logged(field: str, change: Callable[[np.ndarray, float], np.ndarray], **about: Any) -> Plant:
    """Plant in the log of a sound contact."""

    def plant(size: float, seed: int) -> Evidence:
        evidence = sound_contact(seed)
        rows, place = evidence.log.rows.copy(), evidence.log.layout.places[field]
        rows[:, place] = change(rows[:, place], size)
        return replace(evidence, log=replace(evidence.log, rows=rows, about=evidence.log.about | about))

    return plant


def _deg(*axis: float) -> Callable[[float], Any]:
    return lambda size: np.deg2rad(size) * np.array(axis)


def _along(*axis: float) -> Callable[[float], Any]:
    return lambda size: size * np.array(axis)


def _shifted(*axis: float) -> Callable[[float], Pose]:
    return lambda size: Pose.from_rpy_deg((0.0, 0.0, 0.0), tuple(1e-3 * size * np.array(axis)))


def _repeated(x: np.ndarray, count: float) -> np.ndarray:
    return np.concatenate([x[:300], x[300:301].repeat(int(count), 0), x[300 + int(count) :]])


def _late_cycle(x: np.ndarray, ms: float) -> np.ndarray:
    return x + 1e-3 * ms * (np.arange(len(x)) == 200)[:, None] if x.ndim > 1 else x + 1e-3 * ms


LOOP = ("delay left", "damping left", "damping against", "growth")
GAIN, TURN, BIAS = "sensor gain", "sensor turn", "sensor bias"
PAPER = "cell: error"

DEFECTS = (
    # ---- the loop of Goddard
    Planted("goddard 50-kg", "transport delay", (60, 80, 100, 110, 150), "ms", hub(set_delay_ms=float), LOOP),
    Planted("goddard 25-kg", "transport delay", (2, 5, 10, 15, 23, 50), "ms", hub("25-kg", set_delay_ms=float), LOOP),
    Planted("goddard 25-kg", "second-order lag of bandwidth", (4.0, 3.0, 2.5), "Hz",
            hub("25-kg", set_bandwidth_hz=float, set_lag=lambda s: "second"), LOOP),
    Planted("goddard 25-kg", "robot slower, bandwidth", (2.4, 2.2, 2.0, 1.5), "Hz",
            hub("25-kg", set_bandwidth_hz=float), LOOP),
    Planted("goddard 50-kg", "robot slower, bandwidth", (2.0, 1.5, 1.0, 0.7), "Hz", hub(set_bandwidth_hz=float), LOOP),
    Planted("goddard 50-kg", "sensor gain too large", (1.02, 1.05, 1.07, 1.1, 1.2), "", hub(gain=float), (GAIN,)),
    Planted("goddard 50-kg", "sensor gain too small", (0.98, 0.95, 0.93, 0.9, 0.8), "", hub(gain=float), (GAIN,)),
    Planted("goddard 250-kg", "sensor gain too large", (1.02, 1.05, 1.1, 1.2), "", hub("250-kg", gain=float), (GAIN,)),
    Planted("goddard 50-kg", "sensor turned about z", (0.5, 1.0, 1.5, 3.0), "deg",
            hub(turn=_deg(0.0, 0.0, 1.0)), (TURN,)),
    Planted("goddard 50-kg", "sensor turned about x", (0.5, 1.0, 1.5, 3.0), "deg",
            hub(turn=_deg(1.0, 0.0, 0.0)), (TURN,)),
    Planted("goddard 50-kg", "wrench late by cycles of 4 ms", (1, 2, 3, 5), "",
            hub(late=int), ("delay of the wrench",)),
    Planted("goddard 250-kg", "wrench late by cycles of 4 ms", (1, 2, 3, 5), "",
            hub("250-kg", late=int), ("delay of the wrench",)),
    Planted("goddard 50-kg", "force bias along y after the tare", (0.001, 0.002, 0.005, 0.01, 0.02), "N",
            hub(force_bias=_along(0.0, 1.0, 0.0)), (PAPER, "cell against", "ran to")),
    Planted("goddard 50-kg", "force bias along x after the tare", (0.005, 0.01, 0.02, 0.05, 0.1), "N",
            hub(force_bias=_along(1.0, 0.0, 0.0)), (PAPER, "cell against", "ran to")),
    Planted("goddard 250-kg", "torque bias about z after the tare", (1e-4, 5e-4, 1e-3, 2e-3, 5e-3), "N m",
            hub("250-kg", torque_bias=_along(0.0, 0.0, 1.0)), (PAPER, "cell against", "ran to")),
    Planted("goddard 50-kg", "every n-th wrench lost, n", (10, 5, 3, 2), "", hub(lost=int),
            ("delay of the wrench", "sensor health")),
    Planted("goddard 50-kg", "another hub simulated than declared", (52.0, 55.0, 60.0), "kg",
            hub(set_hub_mass=float), ("mass of", GAIN, PAPER)),
    Planted("goddard 250-kg", "another hub simulated than declared", (255.0, 265.0, 300.0), "kg",
            hub("250-kg", set_hub_mass=float), ("inertia of", GAIN, PAPER)),
    Planted("goddard 50-kg", "beams in the cell stiffer than declared", (0.461, 0.465, 0.47, 0.48), "N m2",
            hub(set_bending_stiffness=float), (GAIN, "damping against", "delay of the wrench")),
    Planted("goddard 50-kg", "beams in the cell heavier than declared", (0.835, 0.84, 0.85, 0.9), "kg",
            hub(set_beam_mass=float), (GAIN, "damping against", "delay of the wrench", PAPER)),
    Planted("goddard 50-kg", "beams in the cell damped otherwise", (0.0075, 0.008, 0.009, 0.012), "",
            hub(set_damping_ratio=float), ("damping against", "delay of the wrench")),
    Planted("goddard 50-kg", "beams pulled otherwise", (95.0, 110.0, 150.0, 250.0), "mm",
            hub(set_tip_mm=float), (PAPER, "cell against")),
    Planted("goddard 50-kg", "strike stronger than declared", (0.52, 0.525, 0.54, 0.57), "N s",
            hub(set_impulse=float), (PAPER, "cell against")),
    Planted("goddard 50-kg", "noise of a force sample", (0.02, 0.05, 0.1, 0.3, 1.0), "N",
            hub(set_force_noise=float), (GAIN, "delay", "damping", PAPER)),
    # ---- a contact between two ideal robots
    Planted("contact", "delay not made up for", (4, 8, 12, 16, 20, 25), "ms",
            contact(delay=lambda s: 1e-3 * s, compensation=lambda s: None),
            ("delay left", "energy", "tracking", "both robots")),
    Planted("contact", "more made up for than there is, of 20 ms", (1.05, 1.1, 1.2, 1.5), "times",
            contact(delay=lambda s: 20e-3, made_up=lambda s: 20e-3 * s), ("delay", "energy", "both robots")),
    Planted("contact", "less made up for than there is, of 20 ms", (0.95, 0.9, 0.8, 0.7), "times",
            contact(delay=lambda s: 20e-3, made_up=lambda s: 20e-3 * s), ("delay", "energy", "both robots")),
    Planted("contact", "one robot late by cycles of 1 ms", (5, 20, 50, 100), "", contact(late_pose=int),
            ("tracking", "both robots")),
    Planted("contact", "sensor gain too large", (1.02, 1.05, 1.07, 1.2, 1.5), "", contact(gain=float), (GAIN,)),
    Planted("contact", "sensor gain too small", (0.98, 0.95, 0.93, 0.8), "", contact(gain=float), (GAIN,)),
    Planted("contact", "sensor turned about y", (0.5, 1.0, 1.5, 3.0, 5.0), "deg", contact(turn=_deg(0, 1, 0)), (TURN,)),
    Planted("contact", "force bias along x", (0.5, 1.0, 1.5, 2.0, 5.0), "N",
            contact(force_bias=_along(1.0, 0.0, 0.0)), (BIAS,)),
    Planted("contact", "force bias along y", (0.5, 1.0, 1.5, 2.0, 5.0), "N",
            contact(force_bias=_along(0.0, 1.0, 0.0)), (BIAS,)),
    Planted("contact", "wrench late by cycles of 1 ms", (2, 5, 10, 20, 40), "", contact(late=int),
            (GAIN, BIAS, "energy", "cell against", "growth")),
    Planted("contact", "contact in the cell stiffer", (1.2, 1.5, 2.0, 4.0), "times",
            contact(stiffness=lambda s: 2e4 * s), ("both robots", "cell against", "delay left")),
    Planted("contact", "contact in the cell less damped", (0.8, 0.5, 0.2, 0.0), "times",
            contact(damping=lambda s: 400.0 * s), ("both robots", "cell against")),
    Planted("contact", "client of another mass than declared", (1.02, 1.05, 1.07, 1.2), "times",
            contact(mass=float), ("mass of",)),
    Planted("contact", "client of another inertia than declared", (1.02, 1.05, 1.07, 1.2), "times",
            contact(inertia=float), ("inertia",)),
    Planted("contact", "frame of a robot away from where it is said to be", (1, 3, 5, 6, 10), "mm",
            contact(pose=_shifted(0.0, 1.0, 0.0)), ("tracking", "both robots")),
    # ---- what the log shows
    Planted("contact", "energy injected", (0.01, 0.05, 0.1, 0.2), "J",
            logged("energy", lambda x, s: x - s), ("energy given",)),
    Planted("contact", "a cycle that begins late, of 1 ms", (0.5, 0.9, 1.1, 2.0), "ms",
            logged("lateness", _late_cycle, pace="paced in real time"), ("deadlines",)),
    Planted("contact", "sensor stuck for cycles", (5, 15, 25, 40), "",
            logged("servicer-robot.wrench", _repeated), ("sensor health",)),
    Planted("contact", "workspace, carried frame further out", (2.0, 4.0, 6.0), "m",
            logged("servicer-robot.commanded.position", lambda x, s: x + s * np.eye(3)[0]), ("workspace",)),
    Planted("contact", "joint nearer to its end", (0.5, 0.8, 0.9), "rad",
            logged("client-robot.joints", lambda x, s: x + s * np.eye(2)[1]), ("joint range",)),
    Planted("contact", "joint faster", (2.0, 4.0, 5.0), "times",
            logged("client-robot.joint_rates", lambda x, s: s * x), ("joint rate",)),
    Planted("contact", "force near the range of the sensor", (5.0, 10.0, 12.0), "times",
            logged("servicer-robot.wrench", lambda x, s: s * x), ("sensor range",)),
    # ---- by weighing and a known push, nothing touches
    Planted("envisat-free", "sensor gain", (1.02, 1.05, 1.07, 1.2), "", free(gain=float), (GAIN,)),
    Planted("envisat-free", "sensor turned", (0.5, 1.0, 1.5, 3.0), "deg", free(turn=_deg(0, 1, 0)), (TURN,)),
    Planted("envisat-free", "sensor bias after the tare", (0.5, 0.9, 1.1, 2.0), "N",
            free(force_bias=_along(0, 1, 0)), (BIAS,)),
    Planted("envisat-free", "one robot late by cycles of 4 ms", (5, 20, 50, 100), "",
            free(robot=lambda s: "servicer", late_pose=int), ("both robots", "tracking")),
    Planted("envisat-free", "a robot away from where its encoders should be", (0.5, 0.9, 1.1, 2.0, 5.0), "mm",
            free(robot=lambda s: "servicer", pose=_shifted(0, 1, 0)), ("both robots",)),
    # ---- what no measurement in the loop can show
    Planted("contact", "sensor turned about the direction of the only force", (3.0, 5.0), "deg",
            contact(turn=_deg(1.0, 0.0, 0.0)), ()),
)  # fmt: skip

UNSEEN = (
    "a base registered 5 mm off: encoders and simulation agree, the place in the hall is wrong; touch a common point",
    "a grasp that slips in the gripper without the gripper saying so: look at the relative pose after it",
    "a tool heavier than declared, where it hangs on the sensor in one attitude only: the tare takes it off",
)


# ---- the table


def _finds(planted: Planted, verdict: Verdict) -> str:
    """Name of the first criterion that is meant and stands against a go; empty without one."""
    return next((c.name for c in verdict.against if c.name.startswith(planted.named or ("",))), "")


def _effect(evidence: Evidence, planted: Planted, seed: int) -> str:
    """Largest difference of motion [mm] and of force [N] from the sound cell of the same seed."""
    sound = _sound(planted.scenario, seed)
    n = min(len(evidence.log.rows), len(sound.log.rows))
    moved = max(
        float(np.nanmax(np.linalg.norm(evidence.log[name][:n] - sound.log[name][:n], axis=1)))
        for name, _ in sound.log.layout.fields
        if name.endswith("measured.position")
    )
    force = max(
        abs(float(np.nanmax(np.abs(evidence.log[name][:n, :3]))) - float(np.nanmax(np.abs(sound.log[name][:n, :3]))))
        for name, _ in sound.log.layout.fields
        if name.endswith(".wrench")
    )
    return f"{1e3 * moved:.3g} mm, {force:.3g} N"


@cache
def _sound(scenario: str, seed: int) -> Evidence:
    if scenario == "contact":
        return sound_contact(seed)
    if scenario == "envisat-free":
        return free()(0.0, seed)
    return hub(scenario.split()[1])(0.0, seed)


def table_row(planted: Planted, seeds: int) -> dict[str, Any]:
    """Smallest size that enough seeds find, tried from the smallest on; and what found it."""
    tried, named, evidences, size, found = [], [""], [], math.nan, 0
    for size in planted.sizes:
        evidences = [planted.plant(size, seed) for seed in range(seeds)]
        named = [_finds(planted, judge_rehearsal(evidence)) for evidence in evidences]
        found = sum(map(bool, named))
        tried.append(f"{size:g}: {found}/{seeds}")
        if found >= math.ceil(ENOUGH * seeds):
            break
    enough = found >= math.ceil(ENOUGH * seeds)
    return {
        "scenario": planted.scenario,
        "defect": planted.name,
        "found from": f"{size:g} {planted.unit}".strip() if enough else "not found",
        "effect": _effect(evidences[0], planted, 0),
        "named by": next(filter(None, named), "nothing can show it" if not planted.named else "-"),
        "tried": ", ".join(tried),
    }


def _print_row(row: dict[str, Any]) -> None:
    print(" | ".join(f"{row[name]}" for name in row), flush=True)


def sound_rates(seeds: int, only: str) -> Iterator[tuple[str, str, list[str]]]:
    """Rates of go's of the sound set; a scenario without noise is the same each time and is rehearsed once."""
    for name in SOUND:
        if only in name:
            verdicts = judge_seeds(HUBS[name], range(seeds), _prediction(HUBS[name]))
            yield name, str(go_rate(verdicts)), [line for verdict in verdicts for line in verdict.reasons(1)]
    for scenario in (EnvisatFree(), EnvisatCapture()):
        if only in scenario.name:
            verdict = judge_rehearsal(rehearsed_evidence(scenario, _prediction(scenario)))
            yield scenario.name, "go" if verdict.go else "NO-GO", verdict.reasons(1)


def main() -> None:
    """Print the table, or the rates of the sound set."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--seeds", type=int, default=10)
    options.add_argument("--sound", type=int, default=0)
    options.add_argument("--only", default="")
    options.add_argument("--json", action="store_true")
    given = options.parse_args()
    if given.sound:
        for name, rate, reasons in sound_rates(given.sound, given.only):
            print(f"{name} | {rate} | {'; '.join(reasons)}", flush=True)
        return
    rows = []
    for planted in DEFECTS:
        if given.only in f"{planted.scenario} {planted.name}":
            rows.append(table_row(planted, given.seeds))
            if not given.json:
                _print_row(rows[-1])
    if given.json:
        print(json.dumps(rows, indent=2))
        return
    for words in UNSEEN:
        print(f"no measurement shows: {words}")


if __name__ == "__main__":
    main()
