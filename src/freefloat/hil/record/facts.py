"""Tables on the page of a rehearsal: workspace used, delay, energy, deadlines, and how it ended."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from freefloat.hil.delay import estimate_delay
from freefloat.hil.delayed_contact import DelayMargin, delay_margin
from freefloat.hil.passivity import port_mobility
from freefloat.hil.record.cell_channels import tracking_errors
from freefloat.hil.record.log import Log
from freefloat.hil.rehearsal import Rehearsal
from freefloat.model import Spacecraft, State
from freefloat.outside.binding import SOFTWARE_HEADINGS, describe_software
from freefloat.outside.contract import Contract
from freefloat.sim.record.description import FactTable, Figure
from freefloat.spatial import linear
from freefloat.values.arrays import Mat6
from freefloat.values.compiling import compiled_on_call


def rehearsal_tables(rehearsal: Rehearsal, log: Log, status: str) -> tuple[FactTable, ...]:
    """All tables of a rehearsal, in the order of the page."""
    return tuple(
        FactTable(title, headings, tuple(rows), note)
        for title, headings, rows, note in (
            ("The rehearsal", ("what", "value"), _setting(rehearsal, log, status), ""),
            ("Workspace used", _WORKSPACE, _workspace(rehearsal, log), "As commanded, on the floor axes F."),
            ("Delay", ("robot or contact", "what", "value"), _delays(rehearsal, log), _DELAY_NOTE),
            ("Energy at the port of contact", ("what", "value"), _energy(rehearsal, log), _ENERGY_NOTE),
            ("On-board software", SOFTWARE_HEADINGS, _software(log, status), ""),
            ("Deadlines", ("what", "median", "99 %", "largest"), _deadlines(log), ""),
        )
        if headings is not SOFTWARE_HEADINGS or log.about.get("software")
    )


def rehearsal_figures(rehearsal: Rehearsal) -> tuple[Figure, ...]:
    """Figures that the page of a rehearsal opens with."""
    figures = [Figure(f"cell.{assignment.robot}.tracking.position", "mm") for assignment in rehearsal.carried]
    figures += [Figure(f"cell.{assignment.robot}.felt") for assignment in rehearsal.carried if assignment.port]
    return (*figures, Figure("cell.energy")) if rehearsal.passivity is not None else tuple(figures)


def expected_margin(rehearsal: Rehearsal, delay: float) -> DelayMargin | None:
    """Stability of the expected contact at the delay [s] that is left, in the lightest direction of its port."""
    touching = rehearsal.touching
    if rehearsal.contact is None or touching is None:
        return None
    world, states = rehearsal.experiment.world, rehearsal.experiment.start
    others = [assignment for assignment in rehearsal.carried if assignment is not touching][:1]
    both = [rehearsal.craft_number(assignment.craft) for assignment in (touching, *others)]
    frames = tuple(rehearsal.frame_of(assignment) for assignment in (touching, *others))
    mobility = _contact_mobility(tuple(world.crafts[c] for c in both), tuple(states[c] for c in both), frames)
    straight = np.asarray(linear(linear(mobility).T))
    mass = 1.0 / float(np.max(np.linalg.eigvalsh(straight)))
    return delay_margin(mass, rehearsal.contact.stiffness, rehearsal.contact.damping, delay)


@compiled_on_call
def _contact_mobility(crafts: tuple[Spacecraft, ...], states: tuple[State, ...], frames: tuple[str, ...]) -> Mat6:
    """Mobility of the port at the frame of the first spacecraft, relative to that of the second if there is one."""
    others = tuple(zip(crafts[1:], states[1:], frames[1:], strict=True))
    return port_mobility(crafts[0], states[0], frames[0], (), others)


# ---- tables

_WORKSPACE = (
    "robot", "x [m]", "y [m]", "z [m]", "of the permitted box", "fastest", "largest error", "joint margin",
)  # fmt: skip
_DELAY_NOTE = (
    "The observed delay is the least-squares shift between commanded and measured positions of the whole run; where a "
    "robot hardly moves it cannot be told. The mass of a contact is that of the lightest direction at its port, with "
    "the joints of arms free to give way; a verdict judges the robots with them held, and arms by their own delay."
)
_ENERGY_NOTE = (
    "F . (V_hw - V_sim) summed over time: what the facility's delay has absorbed. Below zero it has given energy to "
    "the simulated motion, which the passivity controller takes out again."
)


def _setting(rehearsal: Rehearsal, log: Log, status: str) -> Iterator[tuple[str, str]]:
    about = log.about
    yield "facility", str(about["facility"])
    yield "cycle", f"{1e3 * about['cycle']:g} ms, {about.get('pace', 'in lockstep')}"
    yield "formulation", rehearsal.formulation
    for assignment in rehearsal.carried:
        name = rehearsal.experiment.world.names[rehearsal.craft_number(assignment.craft)]
        enters = f", its wrench enters at {assignment.frame}" if assignment.port and not assignment.reaction_of else ""
        reaction = (
            f", the reaction of {assignment.reaction_of} enters at {assignment.frame}" if assignment.reaction_of else ""
        )
        yield f"robot {assignment.robot}", f"carries {name}{enters}{reaction}"
    for grasp in rehearsal.grasps:
        yield f"connection {grasp.connection}", f"held by the gripper of {grasp.robot}, which a stop leaves as it is"
    yield "cycles", f"{len(log.rows) - 1}"
    yield "how it ended", status


def _workspace(rehearsal: Rehearsal, log: Log) -> Iterator[tuple[str, ...]]:
    lower, upper = np.asarray(rehearsal.limits.lower), np.asarray(rehearsal.limits.upper)
    middle, reach = 0.5 * (lower + upper), 0.5 * (upper - lower)
    for assignment in rehearsal.carried:
        p, V = log[f"{assignment.robot}.commanded.position"], log[f"{assignment.robot}.commanded.twist"]
        away, turned = tracking_errors(log.layout, log.rows, assignment.robot)
        about, joints = log.about["robots"][assignment.robot], log[f"{assignment.robot}.joints"]
        margin = np.minimum(joints - about["lower"], np.asarray(about["upper"]) - joints) if joints.size else None
        yield (
            assignment.robot,
            *(f"{lo:.3f} to {hi:.3f}" for lo, hi in zip(p.min(axis=0), p.max(axis=0), strict=True)),
            f"{100.0 * np.max(np.abs(p - middle) / reach):.3g} %",
            f"{np.max(np.linalg.norm(np.asarray(linear(V.T)).T, axis=1)):.3g} m/s",
            f"{1e3 * _most(away):.3g} mm, {_most(turned):.2g} rad",
            "no joints" if margin is None else f"{np.rad2deg(_least(margin)):.3g} deg",
        )


def _delays(rehearsal: Rehearsal, log: Log) -> Iterator[tuple[str, str, str]]:
    used = float(log.about.get("delay", 0.0))
    yield "all robots", "made up for by commands ahead of it", f"{1e3 * used:.4g} ms"
    observed = {assignment.robot: observed_delay(log, assignment.robot) for assignment in rehearsal.carried}
    for robot, delay in observed.items():
        yield robot, "observed", f"{1e3 * delay:.3g} ms" if np.isfinite(delay) else "it hardly moves"
    whole, how = whole_delay(log, observed)
    margin = expected_margin(rehearsal, whole)
    left = expected_margin(rehearsal, max(whole - used, 0.0))
    if margin is not None and left is not None:
        contact = f"{margin.stiffness:g} N/m, {margin.damping:g} N s/m on {margin.mass:.4g} kg"
        yield contact, "critical delay", f"{1e3 * margin.critical_delay:.4g} ms"
        yield contact, "delay of the robots", f"{1e3 * whole:.4g} ms, {how}"
        yield contact, "margin with what is made up for", f"{1e3 * left.margin:.4g} ms"
        yield contact, "margin, if nothing were made up for", f"{1e3 * margin.margin:.4g} ms"
        yield contact, "elastic restitution, if nothing were made up for", f"{margin.restitution:.4f}"


def observed_delay(log: Log, robot: str) -> float:
    """Shift between commanded and measured positions of the whole run [s]; NaN where there is too little motion."""
    p = [log[f"{robot}.{which}.position"] for which in ("commanded", "measured")]
    sound = np.isfinite(p[1]).all(axis=1)
    if np.max(np.ptp(p[0][sound], axis=0), initial=0.0) < _SEEN:
        return float("nan")
    times = float(log.about["cycle"]) * np.arange(len(log.rows))
    return estimate_delay(times[sound], p[0][sound], p[1][sound])


def whole_delay(log: Log, observed: Mapping[str, float]) -> tuple[float, str]:
    """Largest delay [s] of a robot with nothing made up for, and text of how it is known.

    It is observed in the run; where the robots hardly move, the larger of the stated one and what is made up for.
    """
    seen = {robot: delay for robot, delay in observed.items() if np.isfinite(delay)}
    if not seen:
        known = max(float(log.about.get(name, 0.0)) for name in ("stated_delay", "delay"))
        return known, "as it was known before the run, the robots hardly move"
    slowest = max(seen, key=lambda robot: seen[robot])
    return seen[slowest], f"observed on robot '{slowest}'"


def _energy(rehearsal: Rehearsal, log: Log) -> Iterator[tuple[str, str]]:
    if rehearsal.passivity is None or rehearsal.touching is None:
        yield "observed", "no: nothing is felt, or no observer was asked for"
        return
    energy = log["energy"]
    yield "controller", "acts" if rehearsal.passivity.controls else "observes only"
    yield "lowest", f"{_least(energy):.4g} J"
    yield "highest", f"{_most(energy):.4g} J"
    yield "at the end", f"{energy[-1]:.4g} J"


def _software(log: Log, status: str) -> Iterator[tuple[str, ...]]:
    for software in log.about.get("software", ()):
        contract = Contract.parse(software["contract"])
        took = log[next(name for name, _ in log.layout.fields if name.endswith(f"{contract.name}.took"))]
        yield describe_software(contract, software, float(np.max(took)), status)


def _deadlines(log: Log) -> Iterator[tuple[str, ...]]:
    cycle = float(log.about["cycle"])
    for name, what in (("effort", "computing time of a cycle"), ("lateness", "lateness of a cycle")):
        values = log[name][1:] if len(log.rows) > 1 else log[name]
        marks = (np.median(values), np.percentile(values, 99.0), np.max(values))
        yield what, *(f"{1e6 * mark:.4g} us ({100.0 * mark / cycle:.3g} %)" for mark in marks)


_SEEN = 1e-4  # [m]; from less motion no delay can be estimated


def _most(values: np.ndarray) -> float:
    return float(np.nanmax(values, initial=0.0))


def _least(values: np.ndarray) -> float:
    return float(np.nanmin(values))
