"""Claims of `goddard-hil`: the prediction's drift, the cell's errors over it, the beams in the loop."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from freefloat.scenarios.goddard.release import PAPER
from freefloat.scenarios.measures import damped_sinusoid
from freefloat.scenarios.rehearsed import rehearse_in_lockstep
from freefloat.values.claims import Claim, Source

if TYPE_CHECKING:
    from freefloat.scenarios.goddard.rehearsal import GoddardRehearsal
    from freefloat.sim import Run

_ERROR = Source("printed", f"{PAPER}, errors of the cell against the prediction")
_LOOP = Source("exact", "pole of the linear loop of hub, lag, delay and beams")
_MOMENTUM = Source("exact", "momentum of the strike")
_PROTOTYPE = Source("prototype", "the same hub, beams and strike in one direction")
_DRIFTS = {"25-kg": 389.468, "50-kg": 201.506, "100-kg": 102.544, "250-kg": 3.34931}  # [mm], of the last [deg]
_START_OVER = 1.0  # [s], from then on the first mode is alone
_NEEDS_MUJOCO = "a virtual cell needs MuJoCo, which is not installed: pip install 'freefloat[mujoco]'"
_DELAYED = "the prediction delayed as the robot is, both over the drift of the prediction"


def drift_claims(scenario: GoddardRehearsal, variant: str, run: Run) -> list[Claim]:
    """Claims of the hub's drift in free flight and of its momentum."""
    drift = float(hub_displacement(run, scenario.turns)[-1])
    momentum = run.values("momentum.angular" if scenario.turns else "momentum.linear")[-1]
    unit, ours = ("deg", np.rad2deg(drift)) if scenario.turns else ("mm", 1e3 * drift)
    per = "N m s" if scenario.turns else "N s"
    reference = _DRIFTS[variant.removesuffix("-late")]
    return [
        Claim("drift of the hub", "within", reference, float(ours), unit, _PROTOTYPE, 1e-5),
        Claim("momentum", "within", scenario.strike, float(momentum[scenario.component % 3]), per, _MOMENTUM, 1e-9),
    ]


def cell_claims(scenario: GoddardRehearsal, run: Run) -> list[Claim]:
    """Claims of the virtual cell against the prediction and against the linear loop."""
    if find_spec("mujoco") is None:
        bound, what = _error_bound(scenario)
        return [Claim(what, "not reproduced", bound, float("nan"), "%", _ERROR, reason=_NEEDS_MUJOCO)]
    cell = rehearse_in_lockstep(scenario, scenario.facility())
    pole = scenario.model().first_mode()
    wrench = cell["cell.hub.felt"][:, scenario.component].sel(time=slice(_START_OVER, None))
    frequency, damping = damped_sinusoid(wrench)
    return [
        error_claim(scenario, cell, run),
        Claim("cell: frequency of the beams", "about", pole.imag / (2.0 * np.pi), frequency, "Hz", _LOOP, 1e-4),
        Claim("cell: damping ratio of the beams", "about", -pole.real / abs(pole), damping, "1", _LOOP, 5e-5),
    ]


def error_claim(scenario: GoddardRehearsal, cell: Run, prediction: Run) -> Claim:
    """Claim of the paper's error: encoders of the cell against the prediction, over its drift."""
    bound, what = _error_bound(scenario)
    error = 100.0 * largest_error(scenario, cell, prediction)
    return Claim(what, "below", bound, error, "%", _ERROR, reason=_DELAYED)


def _error_bound(scenario: GoddardRehearsal) -> tuple[float, str]:
    """The paper's bound [%], and what it bounds."""
    return (6.0, "cell: error of rotation") if scenario.turns else (3.0, "cell: error of translation")


def largest_error(scenario: GoddardRehearsal, cell: Run, prediction: Run) -> float:
    """Largest difference between the robot's motion and the delayed prediction in the run, divided by the drift."""
    predicted = hub_displacement(prediction, scenario.turns)
    moved = hub_displacement(cell, scenario.turns, "cell.hub.measured")
    if not cell.completed:
        return float("inf")
    late = cell.values("time") - 1e-3 * scenario.delay_ms
    return float(np.max(np.abs(moved - np.interp(late, prediction.values("time"), predicted))) / abs(predicted[-1]))


def hub_displacement(run: Run, turns: bool, frame: str = "base") -> np.ndarray:
    """Displacement of the hub along y [m], or rotation about z [rad], since the start."""
    if not turns:
        return run.values(f"{frame}.position")[:, 1] - run.values(f"{frame}.position")[0, 1]
    quat = run.values(f"{frame}.attitude")
    angle = np.unwrap(2.0 * np.arctan2(quat[:, 3], quat[:, 0]))
    return angle - angle[0]
