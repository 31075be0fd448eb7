"""Criteria of stability, which nothing excuses: does what is in the loop decay, and as the linear loop predicts?

A vibration that hangs on a robot is judged by the robot's measured transfer at its pole: lag and delay against the
critical delay, damping that is left, damping predicted with the measured robot against damping seen, and the wrench
that closes the loop with that pole: its gain, its delay and its direction. Any force is judged by its growth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from freefloat.hil.expected_vibration import ExpectedVibration, LinearLoop
from freefloat.hil.judging.evidence import NOTHING_FELT, Evidence, Question
from freefloat.hil.judging.tracks import rotation_matrices, rotation_vectors
from freefloat.hil.judging.vibrations import SeenVibration, fit_vibration, wave_amplitude
from freefloat.spatial import linear
from freefloat.values.verdicts import Criterion

_DRIFT = 8  # degree of the polynomial that a drifting motion is, besides its vibration
_WINDOWS = 4  # into which the time of a contact is divided for its growth
_TOUCHES = 0.05  # of the largest force, above which it is a contact


@dataclass(frozen=True)
class SeenLoop:
    """The vibration as it was seen, and the robot's transfer at its pole."""

    vibration: SeenVibration
    robot: complex  # H(s), half a cycle of hold and what is made up for included
    robot_deviation: float  # standard deviation of it, over its size
    expected: ExpectedVibration

    @property
    def lag(self) -> float:
        """Delay that the robot's lag and delay amount to at the vibration [s]."""
        return float(-np.angle(self.robot)) % (2.0 * np.pi) / self.vibration.pole.imag

    @property
    def lag_deviation(self) -> float:
        """Standard deviation of the lag [s]."""
        return self.robot_deviation / self.vibration.pole.imag

    def model(self, later: float = 0.0) -> LinearLoop:
        """Linear loop with the robot as it was measured, or `later` [s] by as much."""
        gain = abs(self.robot) * np.exp(self.vibration.pole.real * self.lag)
        return self.expected.loop.with_robot(float(gain), self.lag + later)

    def predicted_damping(self, later: float = 0.0) -> float:
        """Damping ratio of the vibration by that loop."""
        s = self.model(later).first_mode()
        return -s.real / abs(s)

    def wrench_factor(self, pole: complex | None = None) -> complex:
        """Factor of the measured wrench with which the declared loop has this pole: one for a sound sensor."""
        return -1.0 / self.expected.loop.open_loop(pole or self.vibration.pole, self.robot)

    def factor_deviation(self) -> float:
        """Standard deviation of the wrench factor, from those of the pole and of the robot's transfer."""
        s, seen = self.vibration.pole, self.vibration
        steps = (seen.rate_deviation, 1j * seen.frequency_deviation)
        changes = [abs(self.wrench_factor(s + step) - self.wrench_factor()) for step in steps]
        return float(np.sqrt(np.sum(np.square([*changes, self.robot_deviation]))))


def seen_loop(evidence: Evidence, expected: ExpectedVibration) -> SeenLoop:
    """Pole of the vibration from the wrist sensor, and the robot's transfer at it from its encoders."""
    log, robot = evidence.log, expected.robot
    late = evidence.times >= expected.begins
    t = evidence.times[late]
    vibration = fit_vibration(t, log[f"{robot}.wrench"][late, expected.component])
    commanded, measured = (
        wave_amplitude(t, _motion(evidence, expected, which)[late], vibration.pole, _DRIFT)
        for which in ("commanded", "measured")
    )
    if not abs(commanded[0]) > 3.0 * commanded[1]:
        raise ValueError(f"robot '{robot}' hardly moves at the vibration: its lag cannot be told")
    hold = 0.5 * evidence.cycle - evidence.made_ahead
    transfer = measured[0] / commanded[0] * np.exp(-vibration.pole * hold)
    deviation = np.hypot(measured[1] / abs(measured[0]), commanded[1] / abs(commanded[0]))
    return SeenLoop(vibration, complex(transfer), float(deviation), expected)


def _motion(evidence: Evidence, expected: ExpectedVibration, which: str) -> np.ndarray:
    """Displacement [m] or turn [rad] of the carried frame since the start, along an axis of its first pose."""
    own = evidence.log[f"{expected.robot}.{which}.quaternion"]
    R = rotation_matrices(own)
    if expected.component >= 3:
        return rotation_vectors(R[0].T @ R)[:, expected.component - 3]
    p = evidence.log[f"{expected.robot}.{which}.position"]
    return (p - p[0]) @ R[0][:, expected.component]


# ---- criteria of a vibration


def vibration(evidence: Evidence) -> Iterator[Criterion]:
    """Criteria of an expected vibration; none where the rehearsal expects none."""
    expected = evidence.rehearsal.vibration
    if expected is None:
        return
    seen = seen_loop(evidence, expected)
    yield _delay(evidence, seen)
    yield _damping_left(evidence, seen)
    yield _damping_error(evidence, seen)
    yield from _wrench(evidence, seen)
    yield _direction(evidence, seen)


def _delay(evidence: Evidence, seen: SeenLoop) -> Criterion:
    question = Question.of(
        evidence, "delay", "delay left",
        "The vibration in the loop decays: lag and delay of the robot at its frequency, measured, over the critical.",
    )  # fmt: skip
    critical = seen.model().critical_delay()
    found = (
        f"{1e3 * seen.lag:.4g} ± {1e3 * seen.lag_deviation:.2g} ms are in the loop at "
        f"{seen.vibration.pole.imag / (2.0 * np.pi):.4g} Hz, half a cycle of hold included"
    )
    if np.isinf(critical):
        return question.judge_value(0.0, f"{found}; no delay makes this vibration grow.", "")
    share, deviation = seen.lag / critical, seen.lag_deviation / critical
    remedy = "The vibration is near growing or grows: a faster robot, a shorter delay, or a heavier simulated body."
    return question.judge_value(share, f"{found}; it grows from {1e3 * critical:.4g} ms on.", remedy, deviation)


def _damping_left(evidence: Evidence, seen: SeenLoop) -> Criterion:
    question = Question.of(
        evidence, "damping_left", "damping left in the loop",
        "The vibration decays as it was seen to; share of the damping that it has with a perfect robot.",
        relation="at least",
    )  # fmt: skip
    natural, damping = seen.expected.natural_damping, seen.vibration.damping
    found = f"Damping ratio {damping:.5f} ± {seen.vibration.damping_deviation:.1g} of {natural:.5f}."
    remedy = (
        "The vibration grows: the loop is unstable. Make the robot faster, or the simulated body heavier."
        if damping < 0.0
        else "The robot's lag takes the damping: the loop is near its limit of stability."
    )
    return question.judge_value(damping / natural, found, remedy, seen.vibration.damping_deviation / natural)


def _damping_error(evidence: Evidence, seen: SeenLoop) -> Criterion:
    question = Question.of(
        evidence, "damping_error", "damping against the loop model",
        "The damping seen is that which the linear loop predicts with the robot as measured; difference, as a share of "
        "the damping with a perfect robot.",
    )  # fmt: skip
    natural, predicted = seen.expected.natural_damping, seen.predicted_damping()
    found = f"Seen {seen.vibration.damping:.5f}, predicted {predicted:.5f}."
    by_lag = abs(seen.predicted_damping(seen.lag_deviation) - predicted)
    deviation = np.hypot(seen.vibration.damping_deviation, by_lag) / natural
    remedy = "The loop is not the declared one: a wrench that is late, another inertia, other beams, or a wrong sensor."
    return question.judge_value(abs(seen.vibration.damping - predicted) / natural, found, remedy, deviation)


def _wrench(evidence: Evidence, seen: SeenLoop) -> Iterator[Criterion]:
    gain = Question.of(
        evidence, "sensor_gain", f"sensor gain of robot {seen.expected.robot}, by the vibration",
        "The measured wrench is as large as the vibration needs that was seen; away from one.",
    )  # fmt: skip
    delay = Question.of(
        evidence, "wrench_delay", f"delay of the wrench of robot {seen.expected.robot}",
        "The measured wrench is in time with the vibration; either way.", "ms",
    )  # fmt: skip
    factor, deviation = seen.wrench_factor(), seen.factor_deviation()
    remedy = "Weigh the sensor; then compare the simulated inertia and the frequency of the vibrating part."
    yield gain.judge_value(
        abs(abs(factor) - 1.0), f"It is {abs(factor):.4f} times what the vibration needs.", remedy, deviation
    )
    late = -float(np.angle(factor)) / seen.vibration.pole.imag
    yield delay.judge_value(
        abs(late),
        f"It comes {1e3 * abs(late):.3g} ms {'late' if late > 0.0 else 'early'}, beyond half a cycle of hold.",
        "Look for filters, averaging and queues between the sensor and the loop.",
        deviation / seen.vibration.pole.imag,
    )


def _direction(evidence: Evidence, seen: SeenLoop) -> Criterion:
    question = Question.of(
        evidence, "sensor_turn", f"sensor turn of robot {seen.expected.robot}, by the vibration",
        "The measured wrench vibrates along the axis of the vibration; angle between both.", "mrad",
    )  # fmt: skip
    late, first = evidence.times >= seen.expected.begins, 3 * (seen.expected.component // 3)
    rows = evidence.log[f"{seen.expected.robot}.wrench"][late]
    found = [wave_amplitude(evidence.times[late], rows[:, first + k], seen.vibration.pole, 0) for k in range(3)]
    along = found[seen.expected.component - first]
    across = [entry for k, entry in enumerate(found) if k != seen.expected.component - first]
    shares = [float((amplitude / along[0]).real) for amplitude, _ in across]
    deviation = float(np.max([spread for _, spread in found])) / abs(along[0])
    angle = float(np.arctan(np.linalg.norm(shares)))
    return question.judge_value(
        angle,
        f"{np.rad2deg(angle):.3g} ± {np.rad2deg(deviation):.1g} deg, as far as the sensor measures across.",
        "The sensor is turned on its flange, or its axes are exchanged: compare with a push along a known axis.",
        deviation,
    )


# ---- growth of any force


def growth(evidence: Evidence) -> Iterator[Criterion]:
    """Criterion: the swing of the measured force does not grow while it acts."""
    question = Question.of(
        evidence, "growth", "growth of the force",
        "A force that swings does not grow: its swing in the last quarter of its time over that in the first.",
    )  # fmt: skip
    touching = evidence.rehearsal.touching
    if touching is None:
        yield question.not_required(NOTHING_FELT)
        return
    wrench = np.nan_to_num(evidence.log[f"{touching.robot}.wrench"])
    turns = evidence.rehearsal.vibration is not None and evidence.rehearsal.vibration.component >= 3
    force = wrench[:, 3:] if turns else np.asarray(linear(wrench.T)).T
    swing = _swing(force)
    if swing is None:
        yield question.not_required("Does not apply: the force does not swing, it comes and goes.")
        return
    first, last = swing
    found = f"Swing of {first:.4g} N at first and {last:.4g} N at last (rms)."
    if turns:
        found = found.replace(" N ", " N m ")
    remedy = "The loop feeds the contact: look at delay, stiffness, and the inertia that is simulated."
    yield question.judge_value(last / first, found, remedy)


def _swing(force: np.ndarray) -> tuple[float, float] | None:
    """Swings (rms) of the force in the first and last quarter of the time in which it acts; None without swings."""
    size = np.linalg.norm(force, axis=1)
    acts = np.flatnonzero(size > _TOUCHES * np.max(size, initial=0.0))
    if len(acts) < 8 * _WINDOWS:
        return None
    span = force[acts[0] : acts[-1] + 1]
    away = span - span.mean(axis=0)
    along = away @ np.linalg.eigh(away.T @ away)[1][:, -1]
    if np.count_nonzero(np.diff(np.signbit(along))) < 2 * _WINDOWS:
        return None
    parts = np.array_split(along, _WINDOWS)
    first, last = (float(np.std(part - _straight_line(part))) for part in (parts[0], parts[-1]))
    return (first, last) if first > 0.0 else None


def _straight_line(values: np.ndarray) -> np.ndarray:
    t = np.arange(len(values))
    return np.polyval(np.polyfit(t, values, 1), t)
