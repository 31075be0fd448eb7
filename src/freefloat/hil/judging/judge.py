"""The verdict of a rehearsal from its evidence; a criterion that cannot be judged is listed, none is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from freefloat.hil.judging import contact, delays, dynamics, health, motion, sensor_errors, stability, together
from freefloat.hil.judging import workspace as room
from freefloat.hil.judging.evidence import Evidence, MissingEvidence
from freefloat.values.verdicts import Criterion, Signature, Verdict

Judge = Callable[[Evidence], Iterator[Criterion]]

# Causes come before their consequences: the first reason of a no-go should be the one to repair.
_JUDGES: tuple[tuple[str, Judge], ...] = (
    ("on-board software", health.software),
    ("ran to its end", room.completion),
    ("dynamics", dynamics.dynamics),
    ("delay left", delays.delay),
    ("vibration", stability.vibration),
    ("growth of the force", stability.growth),
    ("robots", room.robots),
    ("sensors", health.sensors),
    ("sensor check", sensor_errors.checked_sensors),
    ("two sensors", sensor_errors.compared_sensors),
    ("deadlines", health.deadlines),
    ("tracking", motion.tracking),
    ("energy", contact.energy),
    ("momentum", contact.momentum),
    ("both robots together", together.together),
    ("cell against simulation", motion.simulation),
    ("mission", health.claims),
    ("conservation audit", health.audit),
    ("faults", health.faults),
    ("signature of the facility", health.coverage),
)


def judge_rehearsal(evidence: Evidence, signature: Signature | None = None) -> Verdict:
    """Verdict, go or no-go, with every criterion; needs no facility."""
    criteria = tuple(
        _apply_excuse(evidence, replace(criterion, simulation_only=_is_of_simulation(evidence, topic)))
        for topic, judge in _JUDGES
        for criterion in _topic_criteria(evidence, topic, judge)
    )
    title = evidence.run.description.title or str(evidence.run.scenario.get("scenario", "")) or "A rehearsal"
    return Verdict(title, criteria, signature or Signature())


def _is_of_simulation(evidence: Evidence, topic: str) -> bool:
    """Whether the criteria of a topic test the simulated part alone, whatever the facility does.

    Without a measured force the simulated motion in the cell is that of the simulation by construction.
    """
    unmoved = evidence.rehearsal.touching is None
    return topic in ("dynamics", "momentum", "conservation audit") or (topic == "cell against simulation" and unmoved)


def _topic_criteria(evidence: Evidence, topic: str, judge: Judge) -> Iterator[Criterion]:
    """All criteria of a topic; missing data becomes a criterion that is not judged, which prevents a go."""
    try:
        yield from judge(evidence)
    except (MissingEvidence, LookupError, ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        reason = str(error.args[0]) if error.args else type(error).__name__
        yield Criterion(
            topic, "at most", 0.0, None, "1", "What this topic needs was recorded and can be read.",
            f"Not judged: {reason.removesuffix('.')}.", required=True,
        )  # fmt: skip


def _apply_excuse(evidence: Evidence, criterion: Criterion) -> Criterion:
    """The criterion; one that is not judged and is excused by name is not required, and has the reason given."""
    why = evidence.accept.excused.get(criterion.name)
    if why is None or criterion.value is not None:
        return criterion
    return replace(criterion, required=False, reason=f"Excused: {why}")
