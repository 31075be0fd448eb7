"""From what a rehearsal left behind to its verdict: a criterion that cannot be judged says so, none is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from freefloat.hil.judging import contact, delays, dynamics, health, motion
from freefloat.hil.judging import workspace as room
from freefloat.hil.judging.evidence import Evidence, Missing
from freefloat.values.verdicts import Criterion, Signature, Verdict

Judge = Callable[[Evidence], Iterator[Criterion]]

# Causes before what follows from them: the first reason of a no-go should be the one to mend.
_JUDGES: tuple[tuple[str, Judge], ...] = (
    ("on-board software", health.software),
    ("ran to its end", room.completed),
    ("dynamics", dynamics.dynamics),
    ("delay left", delays.delay),
    ("robots", room.robots),
    ("sensors", health.sensors),
    ("deadlines", health.deadlines),
    ("tracking", motion.tracking),
    ("energy", contact.energy),
    ("momentum", contact.momentum),
    ("cell against simulation", motion.simulation),
    ("mission", health.claims),
    ("conservation audit", health.audit),
    ("faults", health.faults),
)


def judge_rehearsal(evidence: Evidence, signature: Signature | None = None) -> Verdict:
    """Go or no-go, with every criterion; needs no facility."""
    made = tuple(_excused(evidence, one) for topic, judge in _JUDGES for one in _answers(evidence, topic, judge))
    title = evidence.run.description.title or str(evidence.run.scenario.get("scenario", "")) or "A rehearsal"
    return Verdict(title, made, signature or Signature())


def _answers(evidence: Evidence, topic: str, judge: Judge) -> Iterator[Criterion]:
    """All criteria of a topic; what they lack becomes one that is not judged, which stops a go."""
    try:
        yield from judge(evidence)
    except (Missing, LookupError, ValueError, ArithmeticError, np.linalg.LinAlgError) as error:
        said = str(error.args[0]) if error.args else type(error).__name__
        yield Criterion(
            topic, "What this topic needs was recorded and can be read.", "at most", 0.0, "1", None,
            f"Not judged: {said.removesuffix('.')}.", required=True,
        )  # fmt: skip


def _excused(evidence: Evidence, one: Criterion) -> Criterion:
    """A criterion that is not judged may be excused by name, with the reason that was given."""
    why = evidence.accept.excused.get(one.name)
    if why is None or one.value is not None:
        return one
    return replace(one, required=False, reason=f"Excused: {why}")
