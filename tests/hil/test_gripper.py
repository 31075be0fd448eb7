"""A gripper in the virtual cell: it closes on what is within its envelope, holds it softly, and both wrists feel it."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("mujoco")

from freefloat.hil.cell import CellSettings, Gripper, envisat_cell, envisat_start
from freefloat.spatial import Pose
from freefloat.values import ModelError
from support.cells_under_test import command, moved

START = envisat_start()
HALF_TURN = np.diag([-1.0, -1.0, 1.0])
TIP = np.array([1.2, 0.0, 0.0])  # [m], of the probe in M of the servicer
SOFT = Gripper(stiffness=5e3, damping=200.0, turn_stiffness=100.0, turn_damping=3.0)


def before_the_ring(away=(0.0, 0.0, 0.0), turn=(0.0, 0.0, 0.0)):
    """X_FM of the servicer with the probe's end at the grasp point, less a way [m] and a turn about it [deg]."""
    at = Pose(np.array([2.9, 0.0, 0.0]) + away, HALF_TURN) @ Pose.from_rpy_deg(turn) @ Pose(-TIP)
    return START["client"] @ at


def gripping_cell(gripper=SOFT, **settings):
    return envisat_cell(CellSettings(**{"settling": 0.1, "clearance": 0.0} | settings), arm=False, gripper=gripper)


def commands(servicer, twist=None, *, closed):
    hand = dataclasses.replace(command(servicer, twist), gripper=closed)
    return {"client": command(START["client"]), "servicer": hand}


def follow(cell, pose, rate, count=250):
    """Let the servicer go a way from rest to rest in 150 cycles, and wait; the last reading.

    `pose(s)` is X_FM at a share of the way, `rate` its twist at a share that grows by one a second.
    """
    for k in range(1, count + 1):
        share = min(1.0, k / 150)
        grows = 6.0 * share * (1.0 - share) / (150 * cell.cycle)
        here = pose(share**2 * (3 - 2 * share))
        reading = cell.exchange(commands(here, grows * np.asarray(rate), closed=True))
        assert not reading.stopped, reading.stopped
    return reading


def move(cell, start, shift):
    """Along floor axes [m]."""
    shift = np.asarray(shift)
    return follow(cell, lambda s: moved(start, s * shift), np.concatenate([HALF_TURN @ shift, np.zeros(3)]))


def frames(cell):
    """Hand and grasp frame: p and R, each on the floor."""
    plant = cell.plant
    return [
        (plant.data.site_xpos[site.id].copy(), plant.data.site_xmat[site.id].reshape(3, 3).copy())
        for site in (plant.model.site("servicer.hand"), plant.model.site("client.grasp"))
    ]


def wrench_on_floor(cell, reading, name, about):
    """What a sensor says, in floor axes about a point."""
    robot = next(one for one in cell.plant.robots if one.station.name == name)
    p, R = cell.plant.flange(robot)
    force, torque = R @ reading.robots[name].wrench[:3], R @ reading.robots[name].wrench[3:]
    return np.concatenate([force, torque + np.cross(p - about, force)])


def closed_cell(away=(0.0, 0.0, 0.0)):
    """A cell whose gripper has just closed, and where the servicer stands."""
    cell, at = gripping_cell(), before_the_ring(away)
    cell.start(commands(at, closed=False))
    return cell, at, cell.exchange(commands(at, closed=True))


# ---- closing


def test_it_closes_within_its_envelope_and_says_so():
    cell, at, reading = closed_cell(away=(0.01, 0.005, -0.01))
    assert reading.robots["servicer"].holds
    assert not reading.robots["client"].holds
    reading = cell.exchange(commands(at, closed=None))  # nobody asks: it stays as it is
    assert reading.robots["servicer"].holds
    assert not cell.exchange(commands(at, closed=False)).robots["servicer"].holds


@pytest.mark.parametrize(("away", "turn"), [((0.035, 0.0, 0.0), (0.0, 0.0, 0.0)), ((0.0, 0.0, 0.0), (0.0, 0.0, 13.0))])
def test_outside_of_its_envelope_it_grasps_nothing_until_it_has_opened(away, turn):
    """30 mm and 11.5 deg are its envelope."""
    cell, far, near = gripping_cell(), before_the_ring(away, turn), before_the_ring((0.005, 0.0, 0.0))
    cell.start(commands(far, closed=False))
    assert not cell.exchange(commands(far, closed=True)).robots["servicer"].holds
    cell.start(commands(near, closed=False))  # a start opens it
    assert cell.exchange(commands(near, closed=True)).robots["servicer"].holds
    cell.start(commands(far, closed=False))
    cell.exchange(commands(far, closed=True))
    cell.exchange(commands(moved(far, (-1e-4, 0.0, 0.0)), closed=True))
    assert not cell.plant.grippers["servicer"].holds


def test_nothing_jumps_when_it_closes():
    """10 mm and 2 deg off it holds what it has: no force but that of the probe's weightless rest."""
    cell, at = gripping_cell(), before_the_ring((0.01, 0.0, 0.0), (0.0, 2.0, 0.0))
    reading = cell.start(commands(at, closed=False))
    rest = frames(cell)
    for _ in range(25):
        reading = cell.exchange(commands(at, closed=True))
        assert np.abs(reading.robots["servicer"].wrench).max() < 0.05  # [N, N m]; a millimetre would be 5 N
    for (p, R), (p_now, R_now) in zip(rest, frames(cell), strict=True):
        np.testing.assert_allclose(p_now, p, rtol=0.0, atol=1e-6)
        np.testing.assert_allclose(R_now, R, rtol=0.0, atol=1e-6)
    assert reading.robots["servicer"].holds


# ---- holding


@pytest.mark.parametrize("shift", [(0.004, 0.0, 0.0), (-0.003, 0.002, 0.001)])
def test_it_pulls_and_pushes_with_its_stiffness(shift):
    """Static force over how far hand and ring have come apart; also where the ball would otherwise touch the ring."""
    cell, at, _ = closed_cell()
    (p, _), (ring, R) = frames(cell)
    rest = R.T @ (p - ring)
    reading = move(cell, at, shift)
    (p, _), (ring, R) = frames(cell)
    apart = p - (ring + R @ rest)
    assert np.linalg.norm(apart) > 0.8 * np.linalg.norm(shift)  # the ring's springs and the robots give way, too
    force = wrench_on_floor(cell, reading, "servicer", p)[:3]
    np.testing.assert_allclose(force, -SOFT.stiffness * apart, rtol=0.0, atol=1e-4 * np.linalg.norm(force))


def test_it_resists_a_turn_with_its_turning_stiffness():
    cell, at, _ = closed_cell()
    (p, hand), (_, ring) = frames(cell)
    rest = ring.T @ hand
    about_its_axis = (0.0, 0.0, 0.0, np.deg2rad(3.0), 0.0, 0.0)
    reading = follow(cell, lambda s: at @ Pose.from_rpy_deg((3.0 * s, 0.0, 0.0)), about_its_axis)
    (p, hand), (_, ring) = frames(cell)
    turn = (ring @ rest).T @ hand
    angle = np.arccos(np.clip(0.5 * (np.trace(turn) - 1.0), -1.0, 1.0))
    torque = wrench_on_floor(cell, reading, "servicer", p)[3:]
    assert angle > np.deg2rad(2.9)
    assert np.linalg.norm(torque) == pytest.approx(SOFT.turn_stiffness * angle, rel=1e-3)


def test_both_wrists_feel_the_same_with_opposite_signs():
    """At rest their wrenches about one point cancel: weights are taken off, as they hung at the start."""
    cell, at, _ = closed_cell()
    reading = move(cell, at, (0.003, -0.002, 0.0015))
    point = frames(cell)[0][0]
    felt = {name: wrench_on_floor(cell, reading, name, point) for name in ("servicer", "client")}
    assert np.linalg.norm(felt["servicer"][:3]) > 10.0  # [N]
    np.testing.assert_allclose(felt["servicer"][:3], -felt["client"][:3], rtol=0.0, atol=1e-4)
    shifted = 2.0 * 9.80665 * np.linalg.norm(felt["client"][:3]) / 1e5  # [N m]: the ring's weight, its springs pressed
    np.testing.assert_allclose(felt["servicer"][3:], -felt["client"][3:], rtol=0.0, atol=1.05 * shifted)


def test_in_motion_what_is_left_of_both_is_the_momentum_of_what_is_carried():
    """Sum of both forces = what the momentum of rod, plate and ring takes, inertia forces; a shake of 3 mm at 3 Hz."""
    cell, at, _ = closed_cell()
    total, momenta, h = [], [], cell.cycle
    for k in range(1, 200):
        t, w = k * h, 2.0 * np.pi * 3.0
        way, speed = 1.5e-3 * (1.0 - np.cos(w * t)), 1.5e-3 * w * np.sin(w * t)
        reading = cell.exchange(commands(moved(at, (0.0, way, 0.0)), (0.0, -speed, 0.0, 0.0, 0.0, 0.0), closed=True))
        assert not reading.stopped
        total.append(sum(wrench_on_floor(cell, reading, name, np.zeros(3))[1] for name in ("servicer", "client")))
        momenta.append(_momentum(cell)[1])
    rate = (np.array(momenta)[2:] - np.array(momenta)[:-2]) / (2.0 * h)
    middle = np.array(total)[1:-1]
    assert np.abs(rate).max() > 1.0  # [N]
    # Differences over two cycles: (w h)^2 / 6 of the shake, and more of what swings faster.
    np.testing.assert_allclose(middle[60:], -rate[60:], rtol=0.0, atol=0.02 * np.abs(rate).max())


def _momentum(cell):
    """Of everything that both flanges carry, on the floor [N s]."""
    plant = cell.plant
    plant.mujoco.mj_subtreeVel(plant.model, plant.data)
    tools = [robot.tool for robot in plant.robots]
    return sum(plant.model.body_subtreemass[tool] * plant.data.subtree_linvel[tool] for tool in tools)


def test_a_stop_goes_on_holding():
    cell, at, _ = closed_cell()
    cell.stop("enough")
    reading = cell.exchange(commands(at, closed=False))
    assert reading.stopped == "enough"
    assert reading.robots["servicer"].holds


def test_an_arm_grips_with_its_tool():
    """The arm of the preset has the gripper at its tool frame, with its default settings."""
    cell = envisat_cell()
    assert cell.description()["stations"]["servicer"]["gripper"] == dataclasses.asdict(Gripper())
    assert [robot.gripper for robot in cell.robots] == [False, True]


def test_settings_that_cannot_be_are_refused():
    with pytest.raises(ModelError, match=r"Gripper.stiffness must be positive"):
        Gripper(stiffness=0.0)
    with pytest.raises(ModelError, match=r"Gripper.envelope"):
        Gripper(envelope=(0.1,))
    with pytest.raises(ModelError, match=r"Gripper.envelope must be positive"):
        Gripper(envelope=(0.1, -0.1))
