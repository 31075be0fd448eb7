"""Claims of `envisat-free`: motion in orbit, motion integrated relative to Envisat, and motion in the cell."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

import numpy as np

from freefloat.scenarios.envisat.relative_poses import RelativePoses, integrate_relative
from freefloat.scenarios.rehearsed import rehearse_in_lockstep
from freefloat.values.claims import OWN_BOUND, Claim, Source

if TYPE_CHECKING:
    from freefloat.scenarios.envisat.free import EnvisatFree
    from freefloat.sim import Run

_PAPER = "Relative dynamics for hardware-in-the-loop simulation"
_VERIFICATION = Source("printed", f"{_PAPER}, section V, largest error of the verification")
_WORKSPACE = Source("printed", f"{_PAPER}, section II, time until the client robot's workspace ends")
_PROTOTYPE = Source("prototype", "relative dynamics written twice, free motion")
_NEEDS_MUJOCO = "a virtual cell needs MuJoCo, which is not installed: pip install 'freefloat[mujoco]'"
_LAYOUT = "the paper prints neither its cell's layout nor its robots' limits; ours has others"


def motion_claims(scenario: EnvisatFree, run: Run) -> list[Claim]:
    """Claims of the relative integration against the run in orbit, and of 14 s at the spin of the capture."""
    experiment = scenario.build()
    motion = integrate_relative(experiment, round((experiment.record_dt or scenario.dt) / scenario.dt))
    servicer, client = motion.states
    poses = RelativePoses.of((servicer.p_NB, servicer.quat_NB), (client.p_NB, client.quat_NB))
    distance, angle = poses.errors(RelativePoses.in_orbit(run))
    found = [
        Claim("relative against absolute dynamics, position", "below", 1e-12, distance, "m", _PROTOTYPE),
        Claim("relative against absolute dynamics, attitude", "below", 1e-12, angle, "rad", _PROTOTYPE),
        Claim(
            "Envisat relative to its unforced motion", "below", 1e-12, float(np.abs(client.p_NB).max()),
            "m", _PROTOTYPE,
        ),
    ]  # fmt: skip
    if (scenario.spin_deg_s, scenario.duration) == (-2.5, 14.0):
        found += _fast_claims(run, float(np.linalg.norm(servicer.p_NB[-1] - servicer.p_NB[0])))
    return found


def _fast_claims(run: Run, moved_in_cell: float) -> list[Claim]:
    """Claims about the displacements in 14 s at -2.5 deg/s."""
    ring, base = run.values("client.ring.position"), run.values("servicer.base.position")
    arc = float(np.linalg.norm(np.diff(ring, axis=0), axis=1).sum())
    chord, moved = (float(np.linalg.norm(path[-1] - path[0])) for path in (ring, base))
    turned = float(np.rad2deg(2.0 * np.arccos(abs(run.values("client.base.attitude")[-1, 0]))))
    rate = np.rad2deg(run.values("client.base.rate")[-1])
    return [
        Claim("Envisat turns", "about", 35.0, turned, "deg", _PROTOTYPE, 0.05),
        Claim("grasp point, arc", "about", 1.7713, arc, "m", _PROTOTYPE, 5e-5),
        Claim("grasp point, chord", "about", 1.7439, chord, "m", _PROTOTYPE, 5e-5),
        Claim("rate about y after nutation", "about", -2.4994, float(rate[1]), "deg/s", _PROTOTYPE, 5e-5),
        Claim("displacement of the servicer in orbit", "about", 2.7140, moved, "m", _PROTOTYPE, 5e-5),
        Claim("displacement of the servicer in the cell", "about", 0.8177, moved_in_cell, "m", _PROTOTYPE, 5e-5),
    ]


def cell_claims(scenario: EnvisatFree, run: Run) -> list[Claim]:
    """Claims of the encoders in the virtual cell against the run in orbit, and of the rates that the robots need.

    A cell that breaks a limit of a joint (position, rate, acceleration) or comes too close stops: it reaches the end
    only within all of them.
    """
    if find_spec("mujoco") is None:
        return [_missing_claim("cell: largest error of relative position", _VERIFICATION, 1.0, "mm")]
    facility = scenario.facility()
    cell, use = rehearse_in_lockstep(scenario, facility), facility.use
    distance, angle = RelativePoses.in_cell(cell).errors(RelativePoses.in_orbit(run))
    envisat = cell.values("cell.client.measured.position")
    moved = float(np.linalg.norm(envisat - envisat[0], axis=1).max())
    rate, acceleration = (
        max(float(getattr(robot, name).max()) for robot in use.robots.values()) for name in ("rate", "acceleration")
    )
    room = min(float(cell.values(f"cell.{name}.joint_margin").min()) for name in use.robots)
    return [
        Claim(
            "cell: time reached within all limits", "about", scenario.duration, _end_time(cell), "s", OWN_BOUND, 1e-9
        ),
        Claim("cell: largest error of relative position", "below", 1.0, 1e3 * distance, "mm", _VERIFICATION),
        Claim("cell: largest error of relative attitude", "below", 0.002, angle, "rad", _VERIFICATION),
        Claim("cell: motion of Envisat's robot", "below", 1e-3, 1e3 * moved, "mm", OWN_BOUND),
        Claim("cell: largest share of a joint's rate limit", "below", 1.0, rate, "1", OWN_BOUND),
        Claim("cell: largest share of a joint's acceleration limit", "below", 1.0, acceleration, "1", OWN_BOUND),
        Claim("cell: way left to the end of a joint", "above", 0.0, float(np.rad2deg(room)), "deg", OWN_BOUND),
    ]


def absolute_claims(scenario: EnvisatFree) -> list[Claim]:
    """Claims that the same motion in the absolute formulation ends at a limit of the robots."""
    words = "cell: time until a limit of a robot"
    if find_spec("mujoco") is None:
        return [_missing_claim(words, _WORKSPACE, 14.0, "s")]
    cell = rehearse_in_lockstep(scenario, scenario.facility())
    end = _end_time(cell) if "limit" in cell.status else float("inf")  # a stop for another reason proves nothing
    return [
        Claim(words, "below", scenario.duration, end, "s", OWN_BOUND, reason=cell.status),
        Claim(words, "not reproduced", 14.0, end, "s", _WORKSPACE, reason=_LAYOUT),
    ]


def _end_time(run: Run) -> float:
    return float(run.values("time")[-1])


def _missing_claim(claim: str, source: Source, reference: float, unit: str) -> Claim:
    return Claim(claim, "not reproduced", reference, float("nan"), unit, source, reason=_NEEDS_MUJOCO)
