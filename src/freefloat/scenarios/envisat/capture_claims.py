"""Claims of `envisat-capture`, simulated and in the virtual cell."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from freefloat.control.capture_schedule import APPROACH
from freefloat.scenarios.envisat.capture_measures import (
    largest_between,
    phase_start,
    relative_motion,
    relative_motion_in_cell,
    speed_and_bound,
    unexplained_momentum,
    wrist_impulses,
)
from freefloat.scenarios.envisat.capture_parts import GRASP, TARE_SAMPLES
from freefloat.scenarios.envisat.relative_poses import RelativePoses
from freefloat.scenarios.rehearsed import rehearse_in_lockstep
from freefloat.values.claims import OWN_BOUND, Claim, Source

if TYPE_CHECKING:
    from freefloat.hil import Facility
    from freefloat.scenarios.envisat.capture import EnvisatCapture
    from freefloat.sim import Run

_PAPER = "Relative dynamics for hardware-in-the-loop simulation"
_PHASES = Source("printed", f"{_PAPER}, figure 11, times of the phases")
_RATES = Source("printed", f"{_PAPER}, section V and figure 13, rate error from 15 s to the grasp")
_BOUNDED = Source("exact", f"{_PAPER}, eq. (29)")
_BALANCE = Source("exact", "momentum of both spacecraft")
_SETTLED = 15.0  # [s]
_AT_REST = 0.5, 0.02  # [mm/s], [deg/s]
_WHY_AT_REST = (
    "an estimated attitude that wanders by 0.02 deg moves a base 2 m from its tool by 0.35 mm/s at 0.5 rad/s; in the "
    "cell the gripper's spring still swings"
)
_ARM_MASS = 22.0  # [kg] on the servicer's wrist: plate, seven links and gripper
_NEEDS_MUJOCO = "a virtual cell needs MuJoCo, which is not installed: pip install 'freefloat[mujoco]'"


def orbit_claims(scenario: EnvisatCapture, run: Run) -> list[Claim]:
    """Claims of the simulated capture."""
    return [
        *_phase_claims(scenario, run, ""),
        *_motion_claims(scenario, run, relative_motion(run), ""),
        Claim(
            "largest share of a limit of thrust or torque", "below", 1.0, _largest_share(scenario, run), "1", OWN_BOUND
        ),
        Claim("momentum that no thrust has given", "below", 1e-6, unexplained_momentum(run), "N s", _BALANCE),
    ]


def cell_claims(scenario: EnvisatCapture, run: Run) -> list[Claim]:
    """Claims of the capture in the virtual cell, from its encoders and wrist sensors."""
    if find_spec("mujoco") is None:
        what = "cell: largest rate error, an axis"
        return [Claim(what, "not reproduced", 0.2, float("nan"), "deg/s", _RATES, reason=_NEEDS_MUJOCO)]
    facility = scenario.facility()
    cell = rehearse_in_lockstep(scenario, facility)
    reached = float(cell.values("time")[-1])
    return [
        Claim("cell: time reached within all limits", "about", scenario.duration, reached, "s", OWN_BOUND, 1e-9),
        *_phase_claims(scenario, cell, "cell: "),
        *_motion_claims(scenario, cell, relative_motion_in_cell(cell), "cell: "),
        *_bound_claims(scenario, cell),
        *_momentum_claims(scenario, cell, facility),
        *_overlay_claims(cell, run),
    ]


def mission_claims(scenario: EnvisatCapture, cell: Run) -> list[Claim]:
    """Claims of a rehearsed capture: phases, rates before the grasp, rest after it, bounded speeds of the robots."""
    return [
        *_phase_claims(scenario, cell, ""),
        *_motion_claims(scenario, cell, relative_motion_in_cell(cell), ""),
        *_bound_claims(scenario, cell),
    ]


def _phase_claims(scenario: EnvisatCapture, run: Run, where: str) -> list[Claim]:
    """Claims about the phases; the tolerance is a record interval, for the grasp (an event) one tick."""
    record = 5.0 * scenario.dt
    latched = [event["time"] for event in run.events if event.get("name") == GRASP]
    return [
        Claim(f"{where}start of the approach", "about", 9.1, phase_start(run, APPROACH), "s", _PHASES, record),
        Claim(f"{where}grasp", "about", 32.6, min(latched, default=np.inf), "s", _PHASES, scenario.dt),
    ]


def _motion_claims(
    scenario: EnvisatCapture, run: Run, motion: tuple[np.ndarray, np.ndarray], where: str
) -> list[Claim]:
    """Claims about relative motion before the grasp and at the end."""
    velocity, rate = 1e3 * motion[0], np.rad2deg(motion[1])
    done, (slow, calm) = scenario.times.done, _AT_REST
    error = largest_between(run, rate, _SETTLED, scenario.times.grasp)
    rest = largest_between(run, velocity, done), largest_between(run, rate, done)
    return [
        Claim(f"{where}largest rate error, an axis", "below", 0.2, error, "deg/s", _RATES),
        Claim(f"{where}relative velocity when done", "below", slow, rest[0], "mm/s", OWN_BOUND, reason=_WHY_AT_REST),
        Claim(f"{where}relative rate when done", "below", calm, rest[1], "deg/s", OWN_BOUND, reason=_WHY_AT_REST),
    ]


def _largest_share(scenario: EnvisatCapture, run: Run) -> float:
    limits = {
        "servicer.capture.thrust": scenario.thrust_limit,
        "servicer.capture.thrust_torque": scenario.thrust_torque_limit,
        "servicer.joints.motor_torque": scenario.joint_torque_limit,
    }
    return max(float(np.abs(run.values(name)).max()) / limit for name, limit in limits.items())


def _bound_claims(scenario: EnvisatCapture, cell: Run) -> list[Claim]:
    """Claims that the speeds of the robots are bounded, because their frames stay near that of the nominal motion."""
    found = []
    for robot in ("client", "servicer"):
        speed, bound = speed_and_bound(cell, robot, float(np.deg2rad(scenario.spin_deg_s)))
        found.append(Claim(f"cell: largest speed of {robot}", "below", bound, speed, "m/s", _BOUNDED))
    return found


def _momentum_claims(scenario: EnvisatCapture, cell: Run, facility: Facility) -> list[Claim]:
    """Claims of momentum: only the client's wrist is in the loop; the servicer's measures the same grasp with the arm.

    Accuracy: four sigma of both sensors' noise, of a sample in five and of the tare, and the momentum of the arm.
    """
    impulses = wrist_impulses(cell, facility)
    handed = float(np.linalg.norm(impulses["client"], axis=1).max())
    left = float(np.abs(impulses["client"] + impulses["servicer"]).max())
    time, step = float(cell.values("time")[-1]), 5.0 * scenario.dt
    noise = 4.0 * scenario.force_noise * np.sqrt(2.0) * (np.sqrt(time * step) + time / np.sqrt(TARE_SAMPLES))
    arm = _ARM_MASS * largest_between(cell, relative_motion_in_cell(cell)[0], 0.0)
    unexplained = unexplained_momentum(cell)
    return [
        Claim("cell: momentum that nothing has given", "below", 1e-6, unexplained, "N s", _BALANCE),
        Claim("cell: momentum handed over, by Envisat's wrist", "above", 10.0, handed, "N s", OWN_BOUND),
        Claim("cell: momentum left between both wrists", "below", noise + arm, left, "N s", _BALANCE),
    ]


def _overlay_claims(cell: Run, run: Run) -> list[Claim]:
    """Claims about the pose of the servicer relative to Envisat, in the cell against the simulation."""
    distance, angle = RelativePoses.in_cell(cell).errors(RelativePoses.in_orbit(run))
    return [
        Claim("cell: servicer off the simulated one", "below", 10.0, 1e3 * distance, "mm", OWN_BOUND),
        Claim("cell: servicer turned from the simulated one", "below", 0.5, float(np.rad2deg(angle)), "deg", OWN_BOUND),
    ]
