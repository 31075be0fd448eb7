"""Evidence by which a rehearsal is judged: its run and log, the simulation, declarations, and the limits of a go."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from freefloat.hil.judging.acceptance import Acceptance
from freefloat.hil.judging.tracks import FrameTrack, frame_track, interpolate_columns, rotation_matrices
from freefloat.hil.record.log import Log
from freefloat.hil.rehearsal import Rehearsal, RobotAssignment
from freefloat.model import World
from freefloat.sim.record.run import Run
from freefloat.spatial import angular, linear
from freefloat.values.claims import Claim
from freefloat.values.judgement import Relation
from freefloat.values.verdicts import Criterion

NOTHING_FELT = "Does not apply: nothing is felt, no wrist sensor is used."

Wrenches = tuple[np.ndarray, np.ndarray]  # forces and torques (n, 3), about the origin of N in its axes


class MissingEvidence(Exception):
    """Data that a criterion needs was not recorded; the text names it."""


@dataclass(frozen=True)
class Evidence:
    """All data that criteria use. The facility is no longer needed."""

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
        """Length of a cycle [s]."""
        return float(self.log.about["cycle"])

    @cached_property
    def times(self) -> np.ndarray:
        """Times of the rows of the log [s]."""
        return self.cycle * np.arange(len(self.log.rows))

    @property
    def delay(self) -> float:
        """Time by which commands were predicted ahead of the motion [s]."""
        return float(self.log.about.get("delay", 0.0))

    @property
    def made_ahead(self) -> float:
        """Time by which commands were ahead, half a cycle of hold included where it is made up for [s]."""
        compensation = self.rehearsal.compensation
        return self.delay + (0.5 * self.cycle if compensation is not None and compensation.hold else 0.0)

    # ---- robots and spacecraft

    @property
    def assignments(self) -> tuple[RobotAssignment, ...]:
        """Robots and the spacecraft that they carry."""
        return self.rehearsal.carried

    def robot_facts(self, assignment: RobotAssignment, *facts: str) -> Mapping[str, Any]:
        """Data of a robot in the log; raises Missing for a log without one of the `facts`."""
        about = self.log.about["robots"][assignment.robot]
        if lacking := [fact for fact in facts if fact not in about]:
            raise MissingEvidence(
                f"the log does not say {', '.join(lacking)} of robot '{assignment.robot}': it is of an older version"
            )
        return about

    def craft_name(self, assignment: RobotAssignment) -> str:
        """Name of the spacecraft that a robot carries."""
        return self.rehearsal.experiment.world.names[self.rehearsal.craft_number(assignment.craft)]

    def prefix(self, assignment: RobotAssignment) -> str:
        """Prefix of the channels of the spacecraft that a robot carries."""
        return self.rehearsal.experiment.world.prefix(self.rehearsal.craft_number(assignment.craft))

    def partner(self, assignment: RobotAssignment) -> RobotAssignment | None:
        """Robot that carries the touched spacecraft; None where the floor is touched."""
        return next((other for other in self.assignments if other is not assignment), None)

    def track(self, frame: str, times: np.ndarray) -> FrameTrack:
        """Motion in orbit of a frame of the run."""
        return frame_track(self.run, frame, times)

    # ---- wrenches and impulses

    def measured_wrenches(self, assignment: RobotAssignment) -> Wrenches:
        """Measured wrenches on a spacecraft, over each cycle; a reaction with the opposite sign."""
        source = next((other for other in self.assignments if other.robot == assignment.reaction_of), assignment)
        place = self.robot_facts(source, "sensor")["sensor"]
        base = self.mid_cycle_track(f"{self.prefix(source)}base")
        force, torque = _parts(self.log[f"{source.robot}.wrench"])
        p_MW, R_MW = np.asarray(place["position"]), rotation_matrices(np.asarray(place["quaternion"])[None])[0]
        force, torque = force @ R_MW.T, torque @ R_MW.T
        about = base.wrench_about_origin(force, torque + np.cross(p_MW, force))
        return about if source is assignment else (-about[0], -about[1])

    def port_wrenches(self, assignment: RobotAssignment) -> Wrenches:
        """Wrenches on a spacecraft at its port, over each cycle: as corrected by the passivity controller."""
        return self.mid_cycle_track(assignment.frame).wrench_about_origin(*_parts(self.log[f"{assignment.robot}.felt"]))

    def mid_cycle_track(self, frame: str) -> FrameTrack:
        """Motion of a frame in the middle of each cycle: there a wrench that is held in its axes acts on average."""
        return self.track(frame, np.minimum(self.times + 0.5 * self.cycle, self.run.values("time")[-1]))

    def impulse(self, wrenches: Wrenches) -> Wrenches:
        """Impulse of wrenches that last a cycle each, at the recorded times of the run."""
        t = self.run.values("time")
        sums = (np.concatenate([np.zeros((1, 3)), np.cumsum(values, axis=0)[:-1]]) * self.cycle for values in wrenches)
        force, torque = (interpolate_columns(t, self.times, values) for values in sums)
        return force, torque

    def other_impulse(self, assignment: RobotAssignment) -> Wrenches:
        """Recorded impulse on a spacecraft from everything but its port: thrusters, effects."""
        prefix, (force, torque) = (
            self.prefix(assignment),
            self.impulse(self.port_wrenches(assignment)) if assignment.port else (0.0, 0.0),
        )
        return self.run.values(f"{prefix}impulse.linear") - force, self.run.values(f"{prefix}impulse.angular") - torque


@dataclass(frozen=True)
class Question:
    """A criterion before it is judged."""

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
        """A question with a limit of `Acceptance`, in the unit in which it is shown."""
        accept = evidence.accept
        return Question(
            name, meaning, in_table_unit(getattr(accept, limit), unit), relation, unit, accept.limit_from(limit)
        )

    def judge_value(self, value: float, found: str, remedy: str, uncertainty: float | None = None) -> Criterion:
        """Criterion with a value in SI, or a share, and its standard deviation; the remedy is added to a no-go."""
        known = None if uncertainty is None else in_table_unit(uncertainty, self.unit)
        criterion = replace(self._with(in_table_unit(value, self.unit), found, required=True), uncertainty=known)
        return criterion if criterion.decision == "go" else replace(criterion, reason=f"{found} {remedy}".rstrip())

    def not_judged(self, reason: str) -> Criterion:
        """Criterion that could not be judged, which prevents a go."""
        return self._with(None, f"Not judged: {reason}.", required=True)

    def not_required(self, reason: str) -> Criterion:
        """Criterion that is not judged and not required."""
        return self._with(None, reason, required=False)

    def _with(self, value: float | None, reason: str, *, required: bool) -> Criterion:
        return Criterion(
            self.name, self.relation, self.limit, value, self.unit, self.meaning, reason, required, self.limit_from
        )


_SHOWN = {"%": 100.0, "mm": 1e3, "mrad": 1e3, "ms": 1e3}


def in_table_unit(value: float, unit: str) -> float:
    """A number in SI units, or a share, converted to the unit of a table."""
    return float(value) * _SHOWN.get(unit, 1.0)


def from_table_unit(value: float, unit: str) -> float:
    """A number in the unit of a table, converted to SI units or a share."""
    return float(value) / _SHOWN.get(unit, 1.0)


def _parts(wrenches: np.ndarray) -> Wrenches:
    """Forces and torques (n, 3) of rows of wrenches; a faulty last reading acted on nothing."""
    sound = np.where(np.isfinite(wrenches), wrenches, 0.0)
    return np.asarray(linear(sound.T)).T, np.asarray(angular(sound.T)).T
