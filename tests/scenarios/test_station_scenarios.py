"""The station: every linear reference number, an exact libration, and settings that cannot be.

`freefloat claims station-libration station-recovery station-rms` runs every variant.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import freefloat as ff
from freefloat.control.lqr import (
    DesignError,
    SecondOrderModel,
    controllability,
    design_kalman,
    design_lqr,
    robustness,
    sample,
    spillover,
)
from freefloat.control.lqr.second_order import component_of
from freefloat.scenarios import ScenarioError, find
from freefloat.scenarios.runner import judge_run, simulate_variant
from freefloat.scenarios.station import StationRecovery, linear_claims
from freefloat.scenarios.station.loop import ATTITUDE_AND_ARM, sensed_structure, state_feedback
from freefloat.scenarios.station.model import TIPS, bent_coordinates, paper_weights, station_model, tip_deflection
from freefloat.values.claims import Claim


@pytest.mark.parametrize(
    ("claims", "count"),
    [
        (linear_claims.rest_claims, 38),
        (linear_claims.libration_claims, 4),
        (linear_claims.regulator_claims, 20),
        (linear_claims.recovery_claims, 30),
        (linear_claims.travel_claims, 25),
    ],
)
def test_linear_reference_numbers(claims: Callable[[], Iterator[Claim]], count: int) -> None:
    found = list(claims())
    assert len(found) >= count
    for claim in found:
        assert claim.holds, f"{claim.name}: {claim.value} against {claim.statement}"


def _judged(name: str, variant: str) -> ff.Run:
    def simulated(name: str, variant: str) -> ff.Run:
        return simulate_variant(find(name).variants()[variant], variant)

    run = judge_run(find(name).variants()[variant], simulated(name, variant), simulated)
    for claim in map(Claim.from_dict, run.claims):
        assert claim.holds, f"{claim.name}: {claim.value} against {claim.statement}"
    return run


def test_large_pitch_swings_with_the_period_of_an_elliptic_integral() -> None:
    run = _judged("station-libration", "pitch-40-deg")
    assert run.audit.holds


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "variant"),
    [("station-libration", "small"), ("station-recovery", "few-modes"), ("station-recovery", "late-above")],
)
def test_claims(name: str, variant: str) -> None:
    _judged(name, variant)


# ---- guards, on the station itself


def test_forces_at_mid_chord_are_refused_naming_the_twelve_modes() -> None:
    middle = station_model(force_chord=0.0)
    with pytest.raises(DesignError, match=r"No input reaches 12 modes.*array 1 tip") as refused:
        design_lqr(middle.structure, *paper_weights(middle.structure))
    told = [float(name.split(",")[-1].split()[0]) for name in refused.value.modes]
    known = [0.4999, 1.8398, 4.2188, 4.913, 5.936, 9.267, 13.058, 16.460, 17.674, 18.928, 21.651, 33.630]
    assert told == pytest.approx(known, rel=1e-4)
    assert len(controllability(middle.structure).missed_modes) == 12


def test_what_no_sensor_sees_and_what_is_nearly_the_same_is_refused_by_name() -> None:
    station = station_model(reduction="craig-bampton", damping_ratio=0.005)  # no tide on the joints: they are free
    structure = sensed_structure(station)
    names = structure.outputs[6:]
    blind = structure.with_outputs(structure.Cp[6:], structure.Cv[6:], names)  # tips and gyros: no angle, no joint
    with pytest.raises(DesignError, match="No sensor sees"):
        design_kalman(blind, np.full(12, 1e-2), 1e-6)
    M = structure.M.copy()
    M[-1], M[:, -1] = M[-2], M[:, -2]
    M[-1, -1] = M[-2, -2] * (1.0 + 1e-16)
    with pytest.raises((DesignError, ff.ModelError), match=r"badly conditioned|positive definite"):
        SecondOrderModel(M, structure.K, structure.Bf)


def test_a_filter_has_margins_and_one_on_few_modes_does_not() -> None:
    careful, few = StationRecovery(control="filter"), StationRecovery.variants()["few-modes"]
    structure = sensed_structure(careful.station()).with_inputs(ATTITUDE_AND_ARM)
    plant = sample(structure.state_space, 0.05)
    report = robustness(plant, careful.compensator())
    assert report.delay == pytest.approx(2.744, abs=2e-3)
    assert min(loop.phase for loop in report.loops) > np.deg2rad(30.0)
    found = spillover(structure, few.compensator(), plant)
    assert "arm 1" in found.unstable[0].name
    with pytest.raises(DesignError, match="it has no margins"):
        robustness(plant, few.compensator())


# ---- starts and loops


def test_bent_starts_have_the_deflections_that_are_asked_for() -> None:
    for craft in (ff.library.station(), ff.library.station(reduction="nodal")):
        q = bent_coordinates(craft, dict.fromkeys(TIPS, 0.01))
        found = [tip_deflection(craft, name) @ q for name in TIPS]
        assert found[:4] == pytest.approx([0.01] * 4, rel=1e-12)
        assert found[4:] == pytest.approx([9.752e-3] * 2, rel=2e-4)  # at the corner, where mid-chord has 10 mm


def test_settings_that_cannot_be_are_refused() -> None:
    with pytest.raises(ScenarioError, match="known_modes"):
        StationRecovery().with_settings({"known_modes": 3})
    with pytest.raises(ScenarioError, match="control"):
        StationRecovery().with_settings({"control": "none"})


@pytest.mark.slow
def test_nonlinear_motion_is_linear_to_1e_6_when_it_is_small() -> None:
    """The same gains, sampled: exact discretisation against the nonlinear model, each component by its largest value.

    At 1e-6 rad second-order terms are below 1e-6 of the motion, and RK4 errs by 3e-7 of the bus at 228 rad/s; more
    or longer steps round or err more. Rounding of the rail's q = 25 m leaves some 1e-12 m.
    """
    station = station_model(reduction="craig-bampton", columns=(2, 2, 1), gradient="exact", trimmed=True)
    n, period, small = len(station.structure.M), 1e-3, 1e-6
    q = np.zeros(station.craft.layout.nq)
    q[list(station.craft.layout.joint_positions)] = small
    rotation = np.full(3, small)
    parts = ff.effects.GravityGradient(station.orbit), *state_feedback(station, station.regulator, period)
    start = station.start(rotation, q)
    common: dict[str, Any] = {"state": start, "duration": 10.0, "dt": 0.5 * period, "record_dt": 0.1}
    run = ff.simulate(ff.Experiment.of(station.craft, *parts, **common))
    plant = sample(station.structure.state_space, period)
    step = np.linalg.matrix_power(plant.A - plant.B @ station.regulator.gain, 100)
    linear = [station.linear_state(rotation, q)]
    for _ in range(100):
        linear.append(step @ linear[-1])
    moved = np.hstack([run["orbit.rotation"].values, run["state.q"].values - station.reference.q])[:, station.order]
    linear = np.array(linear)[:, :n]
    error, largest = np.max(np.abs(moved - linear), axis=0), np.max(np.abs(linear), axis=0)
    owners = [component_of(name) for name in station.structure.coordinates]
    for owner in dict.fromkeys(owners):
        own = [name == owner for name in owners]
        rounding = 4e-12 if owner == "zeta" else 0.0  # [m]
        assert np.max(error[own]) <= 1e-6 * np.max(largest[own]) + rounding, owner


def test_recovery_with_wheels_has_them_in_a_box() -> None:
    experiment = replace(StationRecovery.variants()["limited"], duration=0.05).build()
    assert experiment.world.crafts[0].wheel_names == ("wheels.x", "wheels.y", "wheels.z")
