"""What a rehearsal is judged by: its run and log, the simulation, what was declared, and the limits of a go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from freefloat.hil.judging.acceptance import Acceptance
from freefloat.hil.judging.tracks import FrameTrack, frame_track, interpolated, matrices
from freefloat.hil.record.log import Log
from freefloat.hil.rehearsal import Carried, Rehearsal
from freefloat.model import World
from freefloat.sim.record.run import Run
from freefloat.spatial import angular, linear
from freefloat.values.claims import Claim
from freefloat.values.verdicts import Criterion, Relation

NOTHING_FELT = "Does not apply: nothing is felt, no wrist sensor is used."

Wrenches = tuple[np.ndarray, np.ndarray]  # forces and torques (n, 3), about the origin of N in its axes


class Missing(Exception):
    """Something that a criterion needs and that nobody kept; says what."""


@dataclass(frozen=True)
class Evidence:
    """Everything that criteria look at. Nothing in it needs the facility any more."""

    rehearsal: Rehearsal
    run: Run
    log: Log
    declared: World  # the spacecraft as the mission declares them
    simulated: Run | None = None
    claims: tuple[Claim, ...] = ()  # numbers that the mission must reach in the rehearsal
    accept: Acceptance = field(default_factory=Acceptance)

    # ---- time

    @cached_property
    def cycle(self) -> float:
        """[s]."""
        return float(self.log.about["cycle"])

    @cached_property
    def times(self) -> np.ndarray:
        """Of the rows of the log [s]."""
        return self.cycle * np.arange(len(self.log.rows))

    @property
    def delay(self) -> float:
        """By which commands were ahead of the motion [s]."""
        return float(self.log.about.get("delay", 0.0))

    # ---- robots and spacecraft

    @property
    def carried(self) -> tuple[Carried, ...]:
        """Robots with what they carry."""
        return self.rehearsal.carried

    def robot(self, one: Carried, *facts: str) -> Mapping[str, Any]:
        """What the log says of a robot; a log that lacks one of the facts cannot be judged by it."""
        about = self.log.about["robots"][one.robot]
        if lacking := [fact for fact in facts if fact not in about]:
            raise Missing(
                f"the log does not say {', '.join(lacking)} of robot '{one.robot}': it is of an older version"
            )
        return about

    def craft_name(self, one: Carried) -> str:
        """The spacecraft that a robot carries."""
        return self.rehearsal.experiment.world.names[self.rehearsal.craft_number(one.craft)]

    def prefix(self, one: Carried) -> str:
        """Of the channels of the spacecraft that a robot carries."""
        return self.rehearsal.experiment.world.prefix(self.rehearsal.craft_number(one.craft))

    def partner(self, one: Carried) -> Carried | None:
        """Who carries what is touched; None where it is the floor."""
        return next((other for other in self.carried if other is not one), None)

    def track(self, frame: str, times: np.ndarray) -> FrameTrack:
        """A frame of the run in orbit."""
        return frame_track(self.run, frame, times)

    # ---- wrenches and impulses

    def measured(self, one: Carried) -> Wrenches:
        """What the wrist sensors say that acts on a spacecraft, over each cycle; of a reaction, with its sign."""
        source = next((other for other in self.carried if other.robot == one.reaction_of), one)
        place = self.robot(source, "sensor")["sensor"]
        base = self.middle(f"{self.prefix(source)}base")
        force, torque = _parts(self.log[f"{source.robot}.wrench"])
        p_MW, R_MW = np.asarray(place["position"]), matrices(np.asarray(place["quaternion"])[None])[0]
        force, torque = force @ R_MW.T, torque @ R_MW.T
        about = base.wrench_about_origin(force, torque + np.cross(p_MW, force))
        return about if source is one else (-about[0], -about[1])

    def felt(self, one: Carried) -> Wrenches:
        """What acted on a spacecraft at its port, over each cycle: as measured, after the passivity controller."""
        return self.middle(one.frame).wrench_about_origin(*_parts(self.log[f"{one.robot}.felt"]))

    def middle(self, frame: str) -> FrameTrack:
        """A frame in the middle of each cycle: a wrench that is held in its axes pushes there on average."""
        return self.track(frame, np.minimum(self.times + 0.5 * self.cycle, self.run.values("time")[-1]))

    def impulse(self, wrenches: Wrenches) -> Wrenches:
        """Sum over time of wrenches that last a cycle each, at the recorded times of the run."""
        t = self.run.values("time")
        sums = (np.concatenate([np.zeros((1, 3)), np.cumsum(one, axis=0)[:-1]]) * self.cycle for one in wrenches)
        force, torque = (interpolated(t, self.times, one) for one in sums)
        return force, torque

    def other_impulse(self, one: Carried) -> Wrenches:
        """What pushed a spacecraft besides its port: thrusters, effects. As the run's books have it."""
        prefix, (force, torque) = self.prefix(one), self.impulse(self.felt(one)) if one.port else (0.0, 0.0)
        return self.run.values(f"{prefix}impulse.linear") - force, self.run.values(f"{prefix}impulse.angular") - torque


@dataclass(frozen=True)
class Question:
    """A criterion before it is answered."""

    name: str
    meaning: str
    limit: float
    relation: Relation = "at most"
    unit: str = "1"
    limit_from: str = ""

    @staticmethod
    def of(
        evidence: Evidence, limit: str, name: str, meaning: str, unit: str = "%", relation: Relation = "at most"
    ) -> Question:
        """With a limit of `Acceptance`; in the unit that it is shown in."""
        accept = evidence.accept
        return Question(name, meaning, shown(getattr(accept, limit), unit), relation, unit, accept.limit_from(limit))

    def answer(self, value: float, found: str, remedy: str) -> Criterion:
        """With a value in SI, or a share; the remedy is told where it is beyond its limit."""
        made = self._with(shown(value, self.unit), found, required=True)
        return made if made.decision == "go" else self._with(made.value, f"{found} {remedy}", required=True)

    def missing(self, reason: str) -> Criterion:
        """Not judged, which stops a go."""
        return self._with(None, f"Not judged: {reason}.", required=True)

    def open(self, reason: str) -> Criterion:
        """Not judged, and nobody needs it."""
        return self._with(None, reason, required=False)

    def _with(self, value: float | None, reason: str, *, required: bool) -> Criterion:
        return Criterion(
            self.name, self.meaning, self.relation, self.limit, self.unit, value, reason, required, self.limit_from
        )


_SHOWN = {"%": 100.0, "mm": 1e3, "mrad": 1e3, "ms": 1e3}


def shown(value: float, unit: str) -> float:
    """A number of SI, or a share, in the unit of a table."""
    return float(value) * _SHOWN.get(unit, 1.0)


def _parts(wrenches: np.ndarray) -> Wrenches:
    """Forces and torques (n, 3) of rows of wrenches; a faulty last reading acted on nothing."""
    sound = np.where(np.isfinite(wrenches), wrenches, 0.0)
    return np.asarray(linear(sound.T)).T, np.asarray(angular(sound.T)).T
