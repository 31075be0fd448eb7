"""Skins of flexible bodies: what is drawn moves as the structure does."""

import numpy as np
import pytest

import freefloat as ff
from freefloat.flex import meshed_plate, truncate_modes
from freefloat.flex.surface import grid_faces, tube_skin
from freefloat.library import station
from freefloat.model import ModalBody
from freefloat.model.drawing import drawing


def test_points_of_a_plate_move_as_its_places_do(rng):
    plate = meshed_plate(
        size=(3.0, 2.0), surface_density=2.0, bending_rigidity=50.0, elements=(3, 2), places={"corner": (3.0, 1.0)}
    )
    turned = plate.place_at(ff.Pose.from_rpy_deg((10.0, 20.0, 30.0), (1.0, 2.0, 3.0)))
    body = truncate_modes(turned, 5).body()
    assert body.skin is not None
    b = rng.normal(size=5)
    for name in ("tip", "corner"):
        node = body.node(name)
        nearest = int(np.argmin(np.linalg.norm(body.skin.points - np.asarray(node.position), axis=1)))
        assert body.skin.points[nearest] == pytest.approx(np.asarray(node.position), abs=1e-12)
        assert body.skin.motion[nearest] @ b == pytest.approx(np.asarray(node.translation) @ b, rel=1e-9, abs=1e-12)


def test_triangles_cover_the_plate_once():
    plate = meshed_plate(size=(3.0, 2.0), surface_density=2.0, bending_rigidity=50.0, elements=(3, 2)).surface
    assert plate is not None
    corners = plate.position[plate.faces]
    sides = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    assert np.sum(np.abs(sides[:, 2])) / 2.0 == pytest.approx(6.0)
    assert np.all(sides[:, 2] > 0.0) or np.all(sides[:, 2] < 0.0)
    assert len(grid_faces(4, 5, closed=True)) == 2 * 3 * 5


def test_rings_of_a_tube_keep_their_shape_while_the_beam_bends(rng):
    bus = station().bodies[0]
    assert isinstance(bus, ModalBody)
    rail = bus.rail
    assert rail is not None
    skin = tube_skin(rail, 2.5)
    b = 1e-3 * rng.normal(size=skin.motion.shape[2])
    moved = skin.points + skin.motion @ b
    rings = moved.reshape(-1, 10, 3)
    centres = rings.mean(axis=1)
    # a small rotation changes lengths to second order only
    assert np.linalg.norm(rings - centres[:, None], axis=2) == pytest.approx(2.5, rel=1e-3)
    bent = np.asarray(rail.position) + np.asarray(rail.translation) @ b
    assert np.max(np.abs(bent - np.asarray(rail.position))) > 0.0
    assert min(np.linalg.norm(bent - centre, axis=1).min() for centre in centres) < 1e-9


def test_a_skin_is_drawn_in_place_of_lines_and_equal_skins_are_equal():
    one, other = station(), station()
    skins = [craft.bodies[0].skin for craft in (one, other) if isinstance(craft.bodies[0], ModalBody)]
    assert skins[0] == skins[1]
    assert hash(skins[0]) == hash(skins[1])
    drawn = drawing(one)["bodies"]
    assert [len(body["flexible"]) for body in drawn if body["name"] in ("base", "array.1")] == [1, 1]
    assert "faces" in drawn[0]["flexible"][0]
