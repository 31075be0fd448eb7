"""The page of a linear model: its numbers, its words, what it refuses."""

import base64
import gzip
import json
import re
from pathlib import Path

import numpy as np
import pytest

import freefloat as ff
from freefloat.control.lqr import (
    SecondOrderModel,
    design_lqr,
    loop_poles,
    mode_poles,
    sample,
    spacecraft_structure,
)
from freefloat.report.linear_facts import linear_facts
from freefloat.report.linear_pages import linear_page


@pytest.fixture(scope="module")
def craft() -> ff.Spacecraft:
    panel = ff.flex.beam(length=4.0, mass=20.0, bending_stiffness=600.0, modes={"z": 2}, damping_ratio=0.005)
    hub = ff.Spacecraft.from_base("hub", mass=300.0, inertia=(100.0, 120.0, 150.0))
    hub = hub.mount(panel, name="right", at=ff.Pose.from_rpy_deg((0.0, 0.0, 90.0), (0.0, 0.5, 0.0)))
    hub = hub.mount(panel, name="left", at=ff.Pose.from_rpy_deg((0.0, 0.0, -90.0), (0.0, -0.5, 0.0)))
    return hub.with_wheel("wheel", axis=(1.0, 0.0, 0.0), inertia=0.1)


@pytest.fixture(scope="module")
def ship() -> SecondOrderModel:
    M = np.array([[120.0, 4.0, 4.0], [4.0, 1.0, 0.0], [4.0, 0.0, 1.0]])
    return SecondOrderModel(
        M, np.diag([0.0, 0.9, 1.1]), np.eye(3)[:, :1], C=np.diag([0.0, 0.004, 0.004]),
        coordinates=("hub", "left panel", "right panel"), inputs=("wheel",),
        Cp=np.eye(3)[:1], Cv=np.zeros((1, 3)), outputs=("star tracker",),
    )  # fmt: skip


def contents(path: Path) -> tuple[dict, bytes]:
    """Header and numbers of a page."""
    text = re.search(r'id="contents">([^<]*)<', path.read_text(encoding="utf-8"))
    assert text
    data = gzip.decompress(base64.b64decode(text.group(1)))
    size = int.from_bytes(data[:4], "little")
    return json.loads(data[4 : 4 + size]), data[4 + size :]


def numbers(entry: dict, data: bytes) -> np.ndarray:
    kind = {"f4": np.float32, "f8": np.float64, "u4": np.uint32}[entry["type"]]
    return np.frombuffer(data, kind, entry["length"], entry["at"])


# ---- a spacecraft as a structure


def test_structure_of_a_spacecraft_has_its_natural_frequencies_and_damping(craft):
    structure = spacecraft_structure(craft)
    frequencies = structure.modes.frequencies
    elastic = frequencies[frequencies > 1e-6]
    assert elastic == pytest.approx(ff.dynamics.natural_frequencies(craft), rel=1e-9)
    assert structure.inputs == (*(f"base.{k}.{a}" for k in ("force", "torque") for a in "xyz"), "wheel")
    poles = mode_poles(structure)[frequencies > 1e-6]
    # modal damping of each panel alone: the spacecraft's own modes are damped at least as much, the hub giving way
    assert np.all(-np.real(poles) / np.abs(poles) >= 0.005 - 1e-9)


def test_structure_moves_as_the_linearised_experiment(craft):
    structure = spacecraft_structure(craft)
    model = ff.analysis.linearise(ff.Experiment.of(craft, duration=1.0, dt=0.01), inputs=["base.torque.x"])
    mine = structure.state_space.submodel(inputs=["base.torque.x"])
    nv = craft.layout.nv
    rates = [k for k, name in enumerate(model.states) if k >= len(model.states) - nv]
    assert mine.B[nv:, 0] == pytest.approx(model.B[rates, 0], rel=1e-9, abs=1e-12)


# ---- poles by mode


def test_poles_of_modes_are_those_of_the_loop_each_once(ship):
    regulator = design_lqr(ship, Q=[50.0, 0.1, 0.1, 50.0, 0.1, 0.1], R=0.01)
    before, after = mode_poles(ship), mode_poles(ship, regulator)
    assert np.abs(before[1:]) == pytest.approx(ship.modes.frequencies[1:], rel=1e-3)
    every = loop_poles(ship, regulator)[0]
    assert all(np.min(np.abs(every - pole)) < 1e-12 for pole in after)
    assert len({complex(pole) for pole in after}) == 3
    # the panels stay near their frequencies, the hub gets the pole that is well damped
    assert -after[0].real / abs(after[0]) > 0.3
    assert np.abs(after[1:]) == pytest.approx(ship.modes.frequencies[1:], rel=0.2)


def test_a_sampled_controller_has_nearly_the_poles_of_a_continuous_one(ship):
    weights = {"Q": [50.0, 0.1, 0.1, 50.0, 0.1, 0.1], "R": 0.01}
    continuous = mode_poles(ship, design_lqr(ship, **weights))
    # held inputs are late by half a period: the gain of the continuous loop, every 2 ms
    regulator = design_lqr(ship, **weights)
    plant = sample(ship.state_space, 0.002)
    held = type(regulator)(plant, regulator.gain, regulator.P, regulator.Q, regulator.R, 0.0, regulator.poles)
    assert mode_poles(ship, held) == pytest.approx(continuous, rel=5e-3)


# ---- the page


def test_page_of_a_spacecraft_moves_every_mode_by_one_metre_at_most(craft, tmp_path):
    header, data = contents(linear_page(craft, tmp_path / "craft.html"))
    scene = header["scene"]
    assert scene["bodies"] == ["base", "right", "left"]
    assert len(scene["modes"]) == len(header["modes"]) == craft.layout.nv
    first = next(k for k, mode in enumerate(header["modes"]) if mode["frequency"] > 1e-6)
    mode = scene["modes"][first]
    bends = [numbers(entry, data).reshape(-1, 3) for entry in mode["bends"]]
    shift, turn = (numbers(mode[name], data).reshape(-1, 3) for name in ("shift", "turn"))
    # both tips move alike in the lowest mode, the hub against them; the tips move by a metre
    places = numbers(scene["position"], data).reshape(-1, 3)
    tips = [
        shift[k] + np.cross(turn[k], [0, side * 4.0, 0]) + bend[-1]
        for k, side, bend in zip((1, 2), (1, -1), bends, strict=True)
    ]
    assert places[1] == pytest.approx([0.0, 0.5, 0.0])
    assert np.abs([tip[2] for tip in tips]) == pytest.approx(1.0, rel=1e-5)
    assert shift[0, 2] * tips[0][2] < 0.0
    assert header["inputs"][0] == {"name": "base.force.x", "unit": "N"}


def test_responses_are_those_of_the_model_and_closed_by_the_controller(ship):
    regulator = design_lqr(ship, Q=[50.0, 0.1, 0.1, 50.0, 0.1, 0.1], R=0.01)
    facts = linear_facts(ship, regulator)
    w = facts.frequencies[len(facts.frequencies) // 3]
    plain = ship.state_space
    for response, A in zip(facts.responses, (plain.A, plain.A - plain.B @ regulator.gain), strict=True):
        by_hand = plain.C @ np.linalg.solve(1j * w * np.eye(6) - A, plain.B)
        assert response[len(facts.frequencies) // 3] == pytest.approx(by_hand, rel=1e-9)


def test_words_say_what_is_not_stable_not_reached_and_how_far_away(ship, tmp_path):
    regulator = design_lqr(ship, Q=[50.0, 0.1, 0.1, 50.0, 0.1, 0.1], R=0.01)
    text = linear_page(ship, tmp_path / "ship.html", controller=regulator, title="A ship").read_text(encoding="utf-8")
    for words in ("<h1>A ship</h1>", "3 coordinates, 6 states", "with the controller: stable", "every mode is reached"):
        assert words in text
    assert "How far from instability?" in text
    unstable = type(regulator)(
        ship.state_space, -regulator.gain, regulator.P, regulator.Q, regulator.R, 0.0, regulator.poles
    )
    text = linear_page(ship, tmp_path / "worse.html", controller=unstable).read_text(encoding="utf-8")
    assert "modes grow, the quickest at" in text or "mode grows" in text
    assert "it has no margins" in text


def test_motion_of_the_wrong_size_is_refused(ship, craft, tmp_path):
    with pytest.raises(ff.ModelError, match=r"must be 11 x 3: its velocities by the model's 3 coordinates"):
        linear_page(ship, tmp_path / "no.html", craft=craft)


def test_an_output_that_the_model_lacks_is_refused_with_the_list(ship, tmp_path):
    with pytest.raises(ff.ModelError, match=r"no output 'gyro'\. Outputs: star tracker"):
        linear_page(ship, tmp_path / "no.html", outputs=["gyro"])


def test_a_state_space_has_no_modes_to_show_and_the_message_says_what_has(ship, tmp_path):
    with pytest.raises(ff.ModelError, match=r"needs M and K, got StateSpace\. Give it what that was made from"):
        linear_page(ship.state_space, tmp_path / "no.html")
