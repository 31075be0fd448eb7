"""Gain, turn and bias of a wrist sensor: by weights and pushes, in the virtual cell, and against the other sensor."""

import dataclasses
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from freefloat.hil import SensorCheck, read_log, rehearse
from freefloat.hil.cell import IdealCell
from freefloat.hil.cell.rotations import matrix_of, quaternion_exp
from freefloat.hil.defects import DefectiveFacility, Defects
from freefloat.hil.judging import Evidence, judge_rehearsal
from freefloat.hil.rehearse import first_commands
from freefloat.hil.sensor_checks import check_sensors, estimate_sensor_errors
from freefloat.scenarios.envisat.free import EnvisatFree
from support.goddard_rehearsals import criterion
from support.judged_rehearsals import SERVICER_ROBOT, contact_rehearsal, jointed_cell, rehearsed
from support.rehearsing import ROBOTS

pytest.importorskip("mujoco")

TURN = np.deg2rad([1.0, -2.0, 0.5])  # [rad]
HOW = "by weighing and a known push"


def loads(gain=1.0, turn=(0.0, 0.0, 0.0), bias=(0.0, 0.0, 0.0), noise=0.0, rng=None):
    """Readings of a sensor with known errors: the tool of 10 kg in four attitudes, and three pushes of 50 N."""
    A, rows = gain * matrix_of(quaternion_exp(np.asarray(turn))), []
    attitudes = [np.zeros(3), *0.1 * np.eye(3)]
    weights = [matrix_of(quaternion_exp(tilt)).T @ [0.0, 0.0, -98.1] for tilt in attitudes]
    for weight, push in [(w - weights[0], np.zeros(3)) for w in weights] + [(np.zeros(3), p) for p in 50.0 * np.eye(3)]:
        wander = noise * rng.standard_normal(3) if noise else 0.0
        reading = A @ (weight + push) - weight + bias + wander
        rows.append({"weight": weight, "push": push, "reading": reading, "deviation": noise})
    return rows


def test_errors_of_a_sensor_are_found() -> None:
    """Exact but for the turn, which is taken as small: its square is left."""
    found = estimate_sensor_errors(loads(1.2, TURN, (2.0, -1.0, 0.5)))
    assert found is not None
    square = float(TURN @ TURN)
    assert found.gain == pytest.approx(1.2, rel=square)
    assert found.turn == pytest.approx(TURN, abs=2.0 * square)
    assert found.bias == pytest.approx([2.0, -1.0, 0.5], abs=30.0 * square)
    assert not np.allclose(found.turn, -TURN, atol=1e-2)  # the sign is told


def test_errors_are_found_within_their_uncertainty(rng) -> None:
    for _ in range(20):
        found = estimate_sensor_errors(loads(1.02, 0.1 * TURN, (0.3, 0.0, 0.0), 0.05, rng))
        assert found is not None
        assert abs(found.gain - 1.02) < 5.0 * found.gain_deviation < 0.02
        assert np.max(np.abs(found.turn - 0.1 * TURN)) < 5.0 * found.turn_deviation < 0.02
        assert np.max(np.abs(found.bias - [0.3, 0.0, 0.0])) < 5.0 * found.bias_deviation < 1.0


def test_loads_that_hardly_change_tell_nothing() -> None:
    assert estimate_sensor_errors(loads()[:1] * 4) is None


# ---- in the virtual cell


@cache
def _cell():
    scenario = dataclasses.replace(EnvisatFree(), duration=0.2)
    return scenario, scenario.rehearsal(), scenario.facility()


def evidence(**defects):
    """A short free motion, with a check of the sensors before it."""
    _, made, facility = _cell()
    path = Path(tempfile.mkdtemp()) / "cycles.log"
    run = rehearse(made, DefectiveFacility(facility, Defects(**defects)), log=path)
    return Evidence(made, run, read_log(path), made.experiment.world, run)


@pytest.mark.parametrize(
    ("defect", "what"),
    [
        ({"gain": 1.2}, "gain"),
        ({"turn": np.deg2rad([0.0, 3.0, 0.0])}, "turn"),
        ({"force_bias": (0.0, 2.0, 0.0)}, "bias"),
    ],
)
def test_a_false_sensor_is_named_though_nothing_touches(defect, what) -> None:
    verdict = judge_rehearsal(evidence(**defect))
    assert criterion(verdict, f"sensor {what} of robot client, {HOW}").decision == "no-go"
    others = [found.name for found in verdict.against if found.name.startswith("sensor")]
    assert others == [f"sensor {what} of robot client, {HOW}"]


def test_sound_sensors_are_a_go_with_an_arm_on_one_of_them() -> None:
    verdict = judge_rehearsal(evidence())
    for robot in ("client", "servicer"):
        found = [criterion(verdict, f"sensor {what} of robot {robot}, {HOW}") for what in ("gain", "turn", "bias")]
        assert {one.decision for one in found} == {"go"}
        assert all(one.uncertainty for one in found)


def test_a_facility_that_can_neither_weigh_nor_push_is_not_checked() -> None:
    made = contact_rehearsal(sensor_check=SensorCheck(move=0.05, settle=0.0, samples=3))
    verdict = judge_rehearsal(rehearsed(made, jointed_cell()))
    found = criterion(verdict, f"sensor gain of robot {SERVICER_ROBOT}, {HOW}")
    assert (found.decision, found.required) == ("not judged", False)
    assert "override Facility.tool_weight" in found.reason


class WeighingCell(IdealCell):
    """An ideal cell that says what its tools weigh; its sensors read nothing."""

    def tool_weight(self, robot):
        return np.array([0.0, 0.0, -98.1, 0.0, 0.0, 0.0])

    def exchange(self, commands):
        reading = super().exchange(commands)
        self.turned = max(getattr(self, "turned", 0.0), *(abs(one.twist[3:]).max() for one in reading.robots.values()))
        return reading


def test_the_check_turns_about_the_sensor_and_comes_back() -> None:
    facility, made = WeighingCell(ROBOTS), contact_rehearsal()
    commands = first_commands(made, facility)
    check_sensors(facility, commands, SensorCheck(move=0.05, settle=0.0, samples=3))
    assert facility._last is not None
    assert facility.turned > 1.0  # [rad/s], 0.1 rad in 50 ms
    for name, command in commands.items():
        assert facility._last.robots[name].position == pytest.approx(command.position, abs=1e-12)


# ---- one sensor against the other


@pytest.mark.parametrize(("defect", "what"), [({"gain": 1.2}, "gain"), ({"turn": np.deg2rad([0.0, 3.0, 0.0])}, "turn")])
def test_a_sensor_is_compared_with_that_of_the_other_robot(defect, what) -> None:
    """Both feel one contact; the servicer's is false, and is the one that is used."""
    facility = DefectiveFacility(jointed_cell(), Defects(robot=SERVICER_ROBOT, **defect))
    verdict = judge_rehearsal(rehearsed(contact_rehearsal(), facility))
    name = f"sensor {what} of robot {SERVICER_ROBOT}, against robot client-robot"
    assert criterion(verdict, name).decision == "no-go"


def test_two_sound_sensors_agree() -> None:
    verdict = judge_rehearsal(rehearsed(contact_rehearsal(), jointed_cell()))
    for what in ("gain", "turn", "bias"):
        name = f"sensor {what} of robot {SERVICER_ROBOT}, against robot client-robot"
        assert criterion(verdict, name).decision == "go"
