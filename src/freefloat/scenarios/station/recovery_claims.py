"""Claims of the station's closed loops: the paper's recovery, a delay margin, spillover."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from freefloat.scenarios.station.linear_claims import AXES, FIVE, recovery_claims, regulator_claims, start_of_recovery
from freefloat.values.claims import OWN_BOUND, Claim, Source

if TYPE_CHECKING:
    from freefloat.scenarios.station.recovery import StationRecovery
    from freefloat.sim import Run

_LINEAR = Source("own run", "linear model of the same spacecraft")
_NOT_SMALL = "from 5 deg the nonlinear station settles up to 3 % earlier or later; from 0.005 deg in the same time"
_MARGIN = Source("exact", "delay margin of the sampled linear loop")
_GROWTH = Source("exact", "pole of the full linear model with this controller")
_SWING = 40.0  # two periods of the oscillation at the delay margin, and more of faster ones [s]


def nominal_claims(scenario: StationRecovery, run: Run) -> list[Claim]:
    """Claims of the linear reference numbers, and of the nonlinear run against its own linear model."""
    from freefloat.control.lqr import settling_time, simulate_linear

    station = scenario.station()
    linear = simulate_linear(
        station.regulator.closed_loop.submodel(outputs=AXES), start_of_recovery(station), 0.05, scenario.duration
    )
    t, angles = run["time"].values, run["orbit.rotation"].values
    found = []
    for k, axis in enumerate(AXES):
        reference, ours = (
            settling_time(x, y, 0.02 * FIVE) for x, y in ((linear.times, linear[axis]), (t, angles[:, k]))
        )
        found.append(Claim(f"nonlinear: {axis} within 2 %", "within", reference, ours, "s", _LINEAR, 0.05, _NOT_SMALL))
    return [*regulator_claims(), *recovery_claims(), *found]


def settling_claims(run: Run, degrees: float) -> list[Claim]:
    """Claim that the rotation is small in the last tenth of the run."""
    last = np.abs(np.rad2deg(run["orbit.rotation"].values))[-len(run["time"]) // 10 :]
    return [Claim("largest rotation in the last tenth", "below", degrees, float(np.max(last)), "deg", OWN_BOUND)]


def delay_margin_claims(scenario: StationRecovery, above: Run, below: Run) -> list[Claim]:
    """Claims of the growth of the travel's oscillation below and above the delay margin, and of the margin itself."""
    from freefloat.control.lqr import robustness, sample
    from freefloat.scenarios.station.loop import ATTITUDE_AND_ARM, sensed_structure

    compensator = scenario.compensator()
    assert compensator.period is not None
    plant = sample(sensed_structure(scenario.station()).with_inputs(ATTITUDE_AND_ARM).state_space, compensator.period)
    predicted = robustness(plant, compensator).delay
    rates = [growth(run, "joints.position", 0) for run in (below, above)]
    delays = [compensator.period * samples for samples in (scenario.variants()["late-below"].late, scenario.late)]
    zero = delays[0] - rates[0] * (delays[1] - delays[0]) / (rates[1] - rates[0])
    return [
        Claim("delay at which oscillations begin to grow", "within", predicted, float(zero), "s", _MARGIN, 0.02),
        Claim("growth below the margin", "below", 0.0, rates[0], "1/s", OWN_BOUND),
        Claim("growth above the margin", "above", 0.0, rates[1], "1/s", OWN_BOUND),
    ]


def spillover_claims(scenario: StationRecovery, run: Run) -> list[Claim]:
    """Claims that the mode which the spillover report names grows in simulation at the predicted rate."""
    from freefloat.control.lqr import sample, spillover
    from freefloat.scenarios.station.loop import ATTITUDE_AND_ARM, sensed_structure

    compensator, structure = scenario.compensator(), sensed_structure(scenario.station()).with_inputs(ATTITUDE_AND_ARM)
    assert compensator.period is not None
    found = spillover(structure, compensator, sample(structure.state_space, compensator.period))
    ours = growth(run, "arm.1.tip.displacement", 2)
    predicted = found.unstable[0].pole.real if found.unstable else 0.0
    return [
        Claim("unstable modes that the report names", "above", 0.5, float(len(found.unstable)), "1", OWN_BOUND),
        Claim("growth of the arm's oscillation", "within", predicted, ours, "1/s", _GROWTH, 0.05),
    ]


def growth(run: Run, channel: str, component: int) -> float:
    """Growth rate of an oscillation [1/s], from its largest amplitudes in two intervals late in the run."""
    t, values = run["time"].values, run[channel].values[:, component]
    end, middle = t[-1], 0.5 * (t[0] + t[-1])
    sizes = []
    for start in (middle, end - _SWING):
        there = (t >= start) & (t <= start + _SWING)
        sizes.append(np.max(np.abs(values[there] - np.mean(values[there]))))
    return float(np.log(sizes[1] / sizes[0]) / (end - _SWING - middle))
