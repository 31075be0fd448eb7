"""Data of the page of a linear model: modes, poles without and with a controller, responses, margins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from freefloat.control.lqr import (
    DesignError,
    FrequencyResponse,
    Regulator,
    RobustnessReport,
    SecondOrderModel,
    StateSpace,
    controllability,
    loop_gain,
    loop_poles,
    mode_poles,
    observability,
    robustness,
    sample,
)
from freefloat.control.lqr.loops import controller_period

_POINTS = 260  # of the logarithmic grid of frequencies
_AROUND = np.array([-8.0, -2.0, -0.6, -0.15, 0.0, 0.15, 0.6, 2.0, 8.0])  # in half widths around a resonance
_WIDTH = 1e-4  # of a resonance without damping, relative
_NUMBERS = 450_000  # of all responses together: keeps a page below 6 MB


@dataclass(frozen=True)
class LinearFacts:
    """Modes of a structure, its poles with and without a controller, and its responses to inputs."""

    structure: SecondOrderModel
    before: np.ndarray  # pole of each mode [1/s]
    poles_before: np.ndarray
    after: np.ndarray | None  # pole of each mode with the controller [1/s]
    poles_after: np.ndarray | None
    period: float | None  # of the controller [s]
    reached: np.ndarray  # controllability measure of each mode
    seen: np.ndarray  # observability measure of each mode
    margins: RobustnessReport | str | None  # or why there are none
    frequencies: np.ndarray  # of the responses [rad/s]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    responses: tuple[np.ndarray, ...]  # (frequencies, outputs, inputs), without and with the controller


def linear_facts(
    structure: SecondOrderModel,
    controller: StateSpace | Regulator | None = None,
    inputs: Sequence[str] | None = None,
    outputs: Sequence[str] | None = None,
) -> LinearFacts:
    """Compute all data of the page once; `inputs` and `outputs` are those of the responses."""
    plain = structure.state_space.submodel(inputs=inputs, outputs=outputs)
    period = None if controller is None else controller_period(controller)
    after = None if controller is None else mode_poles(structure, controller)
    poles_after = None if controller is None else loop_poles(structure, controller)[0]
    before, poles_before = mode_poles(structure), loop_poles(structure)[0]
    grid = response_grid(before, after, len(plain.inputs) * len(plain.outputs), period)
    responses = [FrequencyResponse(plain if period is None else sample(plain, period)).on(grid)]
    if controller is not None:
        responses.append(FrequencyResponse(_closed_loop(structure, controller, period, plain)).on(grid))
    return LinearFacts(
        structure, before, poles_before, after, poles_after, period,
        _per_mode(structure, controllability(structure).measures),
        _per_mode(structure, observability(structure).measures),
        _margins(structure, controller, period), grid, plain.inputs, plain.outputs, tuple(responses),
    )  # fmt: skip


def _per_mode(structure: SecondOrderModel, measures: np.ndarray) -> np.ndarray:
    per_mode = np.empty(len(structure.M))
    for group, measure in zip(structure.modes.groups, measures, strict=True):
        per_mode[list(group)] = measure
    return per_mode


def _closed_loop(
    structure: SecondOrderModel, controller: StateSpace | Regulator, period: float | None, shown: StateSpace
) -> StateSpace:
    """Closed loop from inputs that are added to the commands to the outputs that are shown."""
    plant = structure.state_space if period is None else sample(structure.state_space, period)
    loop = loop_gain(plant, controller)
    E = np.linalg.inv(np.eye(len(loop.inputs)) + loop.D)
    n, extra = len(plant.A), len(loop.A) - len(plant.A)
    B = np.vstack([plant.B, np.zeros((extra, plant.B.shape[1]))])
    C = np.hstack([plant.C, np.zeros((len(plant.C), extra))])
    commanded = [plant.inputs.index(name) for name in loop.inputs]
    # What enters the plant is what is added, minus the controller's answer to it.
    enters = loop.B @ E
    A = loop.A - enters @ loop.C
    B[:, commanded] = enters
    closed = StateSpace(A, B, C, None, loop.states, plant.inputs, plant.outputs, period, loop.scaling)
    assert len(closed.A) == n + extra
    return closed.submodel(inputs=shown.inputs, outputs=shown.outputs)


def _margins(
    structure: SecondOrderModel, controller: StateSpace | Regulator | None, period: float | None
) -> RobustnessReport | str | None:
    if controller is None:
        return None
    try:
        return robustness(
            structure.state_space if period is None else sample(structure.state_space, period), controller
        )
    except DesignError as refusal:
        return str(refusal)


def response_grid(before: np.ndarray, after: np.ndarray | None, pairs: int, period: float | None = None) -> np.ndarray:
    """Frequencies [rad/s] over all modes, dense around every resonance, as many as a page can hold."""
    poles = before if after is None else np.concatenate([before, after])
    poles = poles[np.isfinite(poles) & (np.abs(poles) > 1e-9)]
    sizes = np.abs(poles)
    low, high = (0.1 * np.min(sizes), 3.0 * np.max(sizes)) if len(sizes) else (1e-2, 1e2)
    high = high if period is None else min(high, np.pi / period)
    turn = np.abs(np.imag(poles))
    swinging = (turn > 0.0) & (np.abs(np.real(poles)) < 0.3 * sizes)
    width = np.maximum(np.abs(np.real(poles)[swinging]), _WIDTH * turn[swinging])
    near = turn[swinging][:, None] + width[:, None] * _AROUND
    grid = np.unique(np.concatenate([np.geomspace(low, high, _POINTS), near.ravel()]))
    grid = grid[(grid >= low) & (grid <= high)]
    grid = np.setdiff1d(grid, turn[np.abs(np.real(poles)) < 1e-9 * sizes])  # not on a pole without damping
    most = max(_NUMBERS // max(4 * pairs, 1), 60)
    return grid if len(grid) <= most else grid[np.unique(np.linspace(0, len(grid) - 1, most).round().astype(int))]
