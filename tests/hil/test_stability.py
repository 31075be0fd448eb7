"""Stability of a vibration in the loop: its pole and the robot's transfer are found, and each defect is named."""

import dataclasses

import numpy as np
import pytest

from freefloat.hil.judging.stability import _swing
from freefloat.hil.judging.vibrations import fit_vibration, wave_amplitude
from support.goddard_rehearsals import criterion, falsified, goddard_evidence, judged

pytest.importorskip("mujoco")

T = 0.004 * np.arange(5000)  # [s]


@pytest.mark.parametrize("damping", [-0.003, 0.0, 0.004])
def test_the_pole_is_found_within_its_uncertainty(rng, damping) -> None:
    """A wave of 1 N with 10 mN of noise: two numbers, each within four standard deviations."""
    w = 5.2  # [rad/s]
    pole = complex(-damping * w, w * np.sqrt(1.0 - damping**2))
    found = fit_vibration(T, 0.3 + (np.exp(pole * T) * 1j).real + 0.01 * rng.standard_normal(len(T)))
    assert abs(found.pole.real - pole.real) < 4.0 * found.rate_deviation < 1e-3
    assert abs(found.pole.imag - pole.imag) < 4.0 * found.frequency_deviation < 1e-3


def test_the_transfer_at_the_pole_is_that_of_lag_and_delay() -> None:
    """A first-order lag of 2.5 Hz behind 50 ms makes H(s) of exp(s t); what drifts does not matter."""
    pole, w = complex(0.01, 5.2), 2.0 * np.pi * 2.5
    H = np.exp(-0.05 * pole) * w / (pole + w)
    command, motion = (a * np.exp(pole * T) for a in (1.0, H))
    drift = 0.2 * T
    ratio = wave_amplitude(T, motion.real + drift, pole)[0] / wave_amplitude(T, command.real + drift, pole)[0]
    assert ratio == pytest.approx(H, abs=1e-9)


def test_growth_is_the_last_swing_over_the_first() -> None:
    """exp(0.02 t) over 20 s: quarters 15 s apart."""
    swing = _swing(np.exp(0.02 * T)[:, None] * np.sin(5.2 * T)[:, None] * np.array([0.0, 1.0, 0.0]))
    assert swing is not None
    assert swing[1] / swing[0] == pytest.approx(np.exp(0.02 * 15.0), rel=0.02)  # within what a part of a swing adds
    assert _swing(np.outer(np.exp(-T), [1.0, 0.0, 0.0])) is None  # it comes and goes


# ---- the cell of Goddard


def test_a_sound_loop_is_a_go() -> None:
    verdict = judged(goddard_evidence("50-kg"))
    assert verdict.go, verdict.reasons(9)
    assert criterion(verdict, "damping left in the loop").value == pytest.approx(100 * 0.00424 / 0.00727, abs=1.0)
    assert criterion(verdict, "delay left").value == pytest.approx(37.5, abs=1.0)  # 63.7 of 169.7 ms


@pytest.mark.parametrize(
    ("variant", "settings"),
    [("50-kg", {"delay_ms": 150.0}), ("25-kg", {"lag": "second"}), ("25-kg-late", {})],
)
def test_an_unstable_loop_is_a_no_go(variant, settings) -> None:
    """All three were a GO: a delay of 150 ms where 107.7 are critical, a second-order lag, 50 ms on a light hub."""
    verdict = judged(goddard_evidence(variant, **settings))
    assert not verdict.go
    assert {"delay left", "damping left in the loop"} <= {found.name for found in verdict.against}
    assert criterion(verdict, "delay left").value > 100.0
    assert criterion(verdict, "damping left in the loop").value < 0.0
    assert criterion(verdict, "damping against the loop model").decision == "go"  # it is what the model predicts


@pytest.mark.parametrize(
    ("defect", "name"),
    [
        ({"gain": 1.2}, "sensor gain of robot hub, by the vibration"),
        ({"turn": np.deg2rad([0.0, 0.0, 3.0])}, "sensor turn of robot hub, by the vibration"),
        ({"late": 3}, "delay of the wrench of robot hub"),
    ],
)
def test_a_wrong_wrench_is_named(defect, name) -> None:
    """The sensor is false before the loop: gain 1.2, turned by 3 deg, or 12 ms late."""
    verdict = judged(falsified("50-kg", **defect))
    assert criterion(verdict, name).decision == "no-go"


def test_another_hub_than_declared_is_seen_in_the_loop() -> None:
    """20 % more mass in the loop than its model assumes."""
    evidence = goddard_evidence("50-kg")
    expected = evidence.rehearsal.vibration
    assert expected is not None
    loop = dataclasses.replace(expected.loop, hub=60.0)
    made = dataclasses.replace(evidence.rehearsal, vibration=dataclasses.replace(expected, loop=loop))
    verdict = judged(dataclasses.replace(evidence, rehearsal=made))
    found = criterion(verdict, "sensor gain of robot hub, by the vibration")
    assert found.decision == "no-go"
    assert "compare the simulated inertia" in found.reason
