"""Curves on the page of a verdict: cell and simulation over each other, contact, energies, margins over time."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator

import numpy as np

from freefloat.hil.judging.contact import contact_energy
from freefloat.hil.judging.evidence import Evidence, MissingEvidence
from freefloat.hil.judging.motion import compared_craft, compared_prefixes, relative_pose, tracking_errors
from freefloat.hil.judging.tracks import interpolate_columns, rotation_vectors
from freefloat.hil.judging.workspace import joint_shares, workspace_shares
from freefloat.sim.record.description import Description, Figure
from freefloat.sim.record.recording import label_values
from freefloat.sim.record.run import Run
from freefloat.values.channels import XYZ, Channel
from freefloat.values.labelled import LabelledArrays

Curve = tuple[Channel, np.ndarray]

_FIGURES = (
    Figure("relative.position"),
    Figure("relative.turn", "deg"),
    Figure("difference.position", "mm"),
    Figure("difference.turn", "deg"),
    Figure("contact.force"),
    Figure("contact.torque"),
    Figure("contact.impulse"),
    Figure("contact.energy"),
)


def verdict_curves(evidence: Evidence) -> tuple[Run, Run | None]:
    """Curves of the rehearsal and of the simulation, each as a run; a page draws them over each other."""
    margins = _available_curves(_margins(evidence))
    figures = (*_FIGURES, *(Figure(channel.name) for channel, _ in margins))
    own = (
        _poses(evidence, evidence.run),
        _difference(evidence),
        _contact(evidence, measured=True),
        _energies(evidence),
    )
    cell = _as_run(evidence.run, [*(curve for group in own for curve in _available_curves(group)), *margins], figures)
    if evidence.simulated is None:
        return cell, None
    simulated = (_poses(evidence, evidence.simulated), _contact(evidence, measured=False))
    return cell, _as_run(
        evidence.simulated, [curve for group in simulated for curve in _available_curves(group)], figures
    )


def _available_curves(curves: Iterator[Curve]) -> list[Curve]:
    """The curves up to the first for which data is missing; the criteria report what is missing."""
    available = []
    with contextlib.suppress(MissingEvidence, LookupError, ValueError):
        available.extend(curves)
    return available


def _as_run(run: Run, curves: list[Curve], figures: tuple[Figure, ...]) -> Run:
    arrays = {channel.name: label_values(channel, values) for channel, values in curves}
    axes = {channel.axis: list(channel.components) for channel, _ in curves if channel.axis}
    recorded = LabelledArrays(arrays, {"time": ("time", run.values("time")), **axes})
    description = Description(title=run.description.title, figures=figures)
    return dataclasses.replace(run, recorded=recorded, description=description, scene=None, saved=None)


def _poses(evidence: Evidence, run: Run) -> Iterator[Curve]:
    """Curves of the relative pose, of cell or simulation."""
    names, t = compared_prefixes(evidence), run.values("time")
    what, axes = _pose_labels(names)
    p, R = relative_pose(run, names, np.round(t, 9))
    yield Channel("relative.position", f"Position of {what}", "m", axes, "xyz", XYZ), p
    turn = rotation_vectors(np.swapaxes(R[:1], 1, 2) @ R)
    yield Channel("relative.turn", f"Turn of {what}", "rad", axes, "xyz", XYZ), turn


def _difference(evidence: Evidence) -> Iterator[Curve]:
    """Curves of cell less simulation, at the recorded times of the run; none where the simulation lacks these times."""
    names, t = compared_prefixes(evidence), np.round(evidence.run.values("time"), 9)
    if evidence.simulated is None or not np.isin(t, np.round(evidence.simulated.values("time"), 9)).all():
        return
    what, axes = _pose_labels(names)
    (p, R), (p_sim, R_sim) = (relative_pose(run, names, t) for run in (evidence.run, evidence.simulated))
    label = f"cell less simulation, {what}"
    yield Channel("difference.position", f"Position: {label}", "m", axes, "xyz", XYZ), p - p_sim
    turn = rotation_vectors(np.swapaxes(R_sim, 1, 2) @ R)
    yield Channel("difference.turn", f"Turn: {label}", "rad", axes, "xyz", XYZ), turn


def _pose_labels(names: tuple[str, ...]) -> tuple[str, str]:
    words = [name.removesuffix(".") or "base" for name in names]
    return (f"{words[0]} seen from {words[1]}", f"{words[1]}.base") if len(names) > 1 else (words[0], "N")


def _contact(evidence: Evidence, *, measured: bool) -> Iterator[Curve]:
    """Curves of the contact on one spacecraft: from the wrist sensors of the cell, or from its simulated momentum."""
    run, touched = evidence.run if measured else evidence.simulated, compared_craft(evidence)
    if run is None or touched is None or len(run.values("time")) < 3:
        return
    t, name, prefix = run.values("time"), evidence.craft_name(touched), evidence.prefix(touched)
    momentum = tuple(
        run.values(f"{prefix}momentum.{kind}") - run.values(f"{prefix}momentum.{kind}")[0]
        for kind in ("linear", "angular")
    )
    impulse = evidence.impulse(evidence.measured_wrenches(touched)) if measured else momentum
    force, torque = (np.gradient(part, t, axis=0) for part in impulse)
    about_base = torque - np.cross(run.values(f"{prefix}base.position"), force)
    yield Channel("contact.force", f"Force on {name}", "N", "N", "xyz", XYZ), force
    yield Channel("contact.torque", f"Torque on {name} about its base", "N m", "N", "xyz", XYZ), about_base
    yield Channel("contact.impulse", f"Momentum handed to {name}", "N s", "N", "xyz", XYZ), momentum[0]


def _energies(evidence: Evidence) -> Iterator[Curve]:
    """Curves of the energies at the port of contact."""
    touching, t = evidence.rehearsal.touching, evidence.run.values("time")
    if touching is None or evidence.rehearsal.passivity is None:
        return
    energies = contact_energy(evidence, touching)
    columns = np.stack([energies.observed, energies.taken, energies.through], axis=1)
    parts = ("absorbed by the delay", "taken out by the passivity controller", "given by the contact")
    channel = Channel("contact.energy", "Energy at the port of contact", "J", "", "energy", parts)
    yield channel, interpolate_columns(t, evidence.times, columns)


def _margins(evidence: Evidence) -> Iterator[Curve]:
    """Curves of every robot: what is left to each limit of a go, as a share of the limit."""
    accept, t = evidence.accept, evidence.run.values("time")
    for assignment in evidence.assignments:
        distance, angle = tracking_errors(evidence, assignment)
        used = {
            "tracking, position": distance / accept.tracking_position,
            "tracking, attitude": angle / accept.tracking_angle,
            "workspace": workspace_shares(evidence, assignment).max(axis=1) / accept.workspace,
        }
        if evidence.robot_facts(assignment)["joints"]:
            position, rate, acceleration = joint_shares(evidence, assignment)
            used["joint range"] = position.max(axis=1) / accept.joint_range
            used["joint rate"] = rate.max(axis=1) / accept.joint_rate
            used["joint acceleration"] = acceleration.max(axis=1) / accept.joint_acceleration
        left = 100.0 * (1.0 - np.stack(list(used.values()), axis=1))
        axis = f"margins.{assignment.robot}.limit"
        channel = Channel(
            f"margins.{assignment.robot}", f"Left to the limits of robot {assignment.robot}", "%", "", axis, tuple(used)
        )
        yield channel, interpolate_columns(t, evidence.times, left)
