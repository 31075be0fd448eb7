"""The scene of a run agrees with what the run recorded, and a drawing with the spacecraft."""

import dataclasses

import numpy as np
import pytest

from freefloat.library import ets7
from freefloat.model import Spacecraft
from freefloat.model.drawing import drawing, equivalent_box
from freefloat.model.parts import RigidBody
from freefloat.model.shapes import Shape
from freefloat.report.scene import Track, _goals, _unit, scene_of
from freefloat.sim import Run
from freefloat.spatial.rotations import rotation_matrix
from freefloat.values.labelled import LabelledArrays
from support.recorded import made_up


def test_the_hand_sits_at_the_end_of_the_last_body(gjm_run: Run) -> None:
    scene = scene_of(gjm_run, frames=23)
    assert scene is not None
    assert len(scene.time) == 23
    assert scene.bodies[-1] == "arm.6"
    tip = np.asarray(ets7().frame("hand").X_BF.p)
    rows = np.unique(np.linspace(0, 440, 23).round().astype(int))
    for row, p, q in zip(rows, scene.position[:, -1], scene.attitude[:, -1], strict=True):
        hand = p + np.asarray(rotation_matrix(q)) @ tip
        assert np.allclose(hand, gjm_run["hand.position"].values[row], atol=1e-12)  # both are recorded


def test_what_is_rounding_is_not_drawn_as_an_arrow(gjm_run: Run) -> None:
    scene = scene_of(gjm_run)
    assert scene is not None
    assert scene.arrows == ()
    assert [track.name for track in scene.tracks] == ["hand"]


def test_momentum_and_forces_are_arrows(gjm_run: Run) -> None:
    data = gjm_run.data.copy(deep=True)
    data["momentum.linear"].values[:] = [0.0, 3.0, 4.0]
    data["hand.force"] = data["hand.position"] * 0.0 + 2.0
    data["hand.force"].attrs = {"units": "N", "frame": "N", "long_name": "Contact force"}
    scene = scene_of(dataclasses.replace(gjm_run, recorded=LabelledArrays.of(data)))
    assert scene is not None
    assert [(a.name, a.unit) for a in scene.arrows] == [("momentum.linear", "N s"), ("hand.force", "N")]


def test_a_run_without_looks_has_no_scene() -> None:
    assert scene_of(made_up(10, 1)) is None


def test_an_attitude_keeps_its_sign_after_a_jump() -> None:
    """Of a quaternion that changes its sign half way, all that follows is turned back."""
    angles = np.linspace(0.0, 1.0, 6)
    smooth = np.column_stack([np.cos(angles), np.sin(angles), 0.0 * angles, 0.0 * angles])
    signs = np.array([1.0, 1.0, -1.0, -1.0, 1.0, -1.0])
    np.testing.assert_allclose(_unit(signs[:, None] * smooth), smooth, atol=1e-15)


def test_a_goal_is_where_the_error_points() -> None:
    """Errors are target minus position: the ghost stands at position plus error."""
    position, error = np.array([[1.0, 2.0, 3.0]] * 2), np.array([[0.5, 0.0, -0.25]] * 2)
    recorded = LabelledArrays({"hand.position_error": (("time", "xyz"), error)})
    hand = Track("hand", position, np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)))
    (goal,) = _goals(dataclasses.replace(made_up(2, 1), recorded=recorded), (hand,), np.arange(2))
    np.testing.assert_allclose(goal.position, position + error)


def test_the_equivalent_box_has_the_inertia_it_was_made_from() -> None:
    body = RigidBody(name="b", mass=12.0, com=np.array([1.0, 2.0, 3.0]), inertia=np.diag([13.0, 10.0, 5.0]))
    shape = equivalent_box(body, "bus")
    sides = np.array(shape.rotation) @ np.diag(shape.solid.size) @ np.array(shape.rotation).T  # pyright: ignore
    assert shape.position == (1.0, 2.0, 3.0)
    assert np.allclose(np.sort(np.abs(np.diag(sides))), [1.0, 2.0, 3.0])  # 12 kg, 1 x 2 x 3 m


def test_every_body_of_a_bare_spacecraft_can_be_seen() -> None:
    craft = Spacecraft.from_base("bare", mass=10.0, inertia=(1.0, 1.0, 1.0))
    craft = craft.with_link("link", parent="base", joint="revolute", mass=1.0, inertia=(0.1, 0.1, 0.1))
    assert all(body["shapes"] for body in drawing(craft)["bodies"])


def test_shapes_travel_with_their_body() -> None:
    arm = Spacecraft.from_base("arm", mass=1.0, inertia=(1.0, 1.0, 1.0)).with_shapes("base", Shape.ball((0, 0, 0), 0.3))
    joined = Spacecraft.from_base("host", mass=9.0, inertia=(9.0, 9.0, 9.0)).mount(arm, name="arm")
    assert joined.body("arm").shapes == arm.body("base").shapes


def test_a_beam_bends_between_its_ends() -> None:
    from freefloat.flex import beam

    panel = beam(length=6.0, mass=40.0, bending_stiffness=900.0, modes=2)
    craft = Spacecraft.from_base("host", mass=900.0, inertia=(900.0, 900.0, 900.0)).mount(panel, name="panel")
    lines = drawing(craft)["bodies"][1]["flexible"]
    points, modes = np.array(lines[-1]["points"]), np.array(lines[-1]["modes"])
    assert modes.shape == (len(points), 3, 4)  # two modes in each of two planes
    first = np.abs(modes[:, :, 0]).max(axis=1)
    assert first[-1] == pytest.approx(first.max())  # the tip of the first mode moves most
    assert np.all(np.diff(first) >= -1e-9)
    # Half way, the exact first mode of a held beam has moved 0.340 of its tip; the drawn cubic is 0.012 off.
    if len(lines) == 1:
        assert first[len(first) // 2] / first[-1] == pytest.approx(0.340, abs=0.015)
