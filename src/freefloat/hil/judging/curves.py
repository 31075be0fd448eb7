"""What the page of a verdict draws: cell and simulation over each other, contact, energies, what was left when."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from freefloat.hil.judging.contact import contact_energy
from freefloat.hil.judging.evidence import Evidence
from freefloat.hil.judging.motion import compared_craft, handed_over, relative_pose, seen_craft, tracking_errors
from freefloat.hil.judging.room import joint_shares, workspace_shares
from freefloat.hil.judging.tracks import interpolated, rotation_vectors
from freefloat.sim.description import Description, Figure
from freefloat.sim.run import Run
from freefloat.values.channels import XYZ, Channel
from freefloat.values.labelled import LabelledArrays

Curves = list[tuple[Channel, np.ndarray]]

_FIGURES = (
    Figure("relative.position"),
    Figure("relative.turn", "deg"),
    Figure("contact.force"),
    Figure("contact.impulse"),
    Figure("contact.energy"),
)


def verdict_curves(evidence: Evidence) -> tuple[Run, Run | None]:
    """The curves of the rehearsal and of the simulation as runs of their own, which a page lays over each other."""
    margins = list(_margins(evidence))
    figures = (*_FIGURES, *(Figure(channel.name) for channel, _ in margins))
    own = _compared(evidence, evidence.run) + _measured(evidence) + margins
    cell = _as_run(evidence.run, own, figures)
    if evidence.simulated is None:
        return cell, None
    return cell, _as_run(evidence.simulated, _compared(evidence, evidence.simulated), figures)


def _as_run(run: Run, curves: Curves, figures: tuple[Figure, ...]) -> Run:
    arrays = {
        channel.name: (
            ("time", channel.axis) if channel.axis else ("time",),
            values,
            {"units": channel.unit, "frame": channel.frame, "long_name": channel.label},
        )
        for channel, values in curves
    }
    axes = {channel.axis: list(channel.components) for channel, _ in curves if channel.axis}
    recorded = LabelledArrays(arrays, {"time": ("time", run.values("time")), **axes})
    told = Description(title=run.description.title, figures=figures)
    return dataclasses.replace(run, recorded=recorded, description=told, scene=None, saved=None)


def _compared(evidence: Evidence, run: Run) -> Curves:
    """Relative pose, and the force that the momentum of one spacecraft tells: the same for cell and simulation."""
    t, names = run.values("time"), seen_craft(evidence)
    words = [name.removesuffix(".") or "base" for name in names]
    what, axes = (f"{words[0]} seen from {words[1]}", f"{words[1]}.base") if len(names) > 1 else (words[0], "N")
    p, R = relative_pose(run, names, np.round(t, 9))
    turn = rotation_vectors(np.swapaxes(R[:1], 1, 2) @ R)
    made: Curves = [
        (Channel("relative.position", f"Position of {what}", "m", axes, "xyz", XYZ), p),
        (Channel("relative.turn", f"Turn of {what} since the start", "rad", axes, "xyz", XYZ), turn),
    ]
    if (touched := compared_craft(evidence)) is not None and len(t) > 2:
        name, impulse = evidence.craft_name(touched), handed_over(run, evidence.prefix(touched), np.round(t, 9))
        force = np.gradient(impulse, t, axis=0)
        made.append((Channel("contact.force", f"Force on {name}, from its momentum", "N", "N", "xyz", XYZ), force))
        made.append((Channel("contact.impulse", f"Momentum handed to {name}", "N s", "N", "xyz", XYZ), impulse))
    return made


def _measured(evidence: Evidence) -> Curves:
    """Energies at the port of contact."""
    touching, t = evidence.rehearsal.touching, evidence.run.values("time")
    if touching is None or evidence.rehearsal.passivity is None:
        return []
    found = contact_energy(evidence, touching)
    columns = np.stack([found.observed, found.taken, found.through], axis=1)
    parts = ("absorbed by the delay", "taken out by the passivity controller", "given by the contact")
    channel = Channel("contact.energy", "Energy at the port of contact", "J", "", "energy", parts)
    return [(channel, interpolated(t, evidence.times, columns))]


def _margins(evidence: Evidence) -> Iterator[tuple[Channel, np.ndarray]]:
    """Of every robot: what is left to each limit of a go, as a share of it, over time."""
    accept, t = evidence.accept, evidence.run.values("time")
    for one in evidence.carried:
        away, turned = tracking_errors(evidence, one)
        used = {
            "tracking, position": away / accept.tracking_position,
            "tracking, attitude": turned / accept.tracking_angle,
            "workspace": workspace_shares(evidence, one).max(axis=1) / accept.workspace,
        }
        if evidence.robot(one)["joints"]:
            away, rate, acceleration = joint_shares(evidence, one)
            used["joint range"] = away.max(axis=1) / accept.joint_range
            used["joint rate"] = rate.max(axis=1) / accept.joint_rate
            used["joint acceleration"] = acceleration.max(axis=1) / accept.joint_acceleration
        left = 100.0 * (1.0 - np.stack(list(used.values()), axis=1))
        axis = f"margins.{one.robot}.limit"
        channel = Channel(
            f"margins.{one.robot}", f"Left to the limits of robot {one.robot}", "%", "", axis, tuple(used)
        )
        yield channel, interpolated(t, evidence.times, left)
