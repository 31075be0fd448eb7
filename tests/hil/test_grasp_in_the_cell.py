"""A grasp in the virtual cell, closed loop: it stays closed, and momentum is what both wrists have measured."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("mujoco")

import freefloat as ff
from freefloat.hil import Grasp, Passivity, Rehearsal, RobotAssignment, rehearse
from freefloat.hil.cell import CellSettings, Gripper, SensorSettings, ServoSettings, envisat_cell, envisat_start

CYCLE, SPEED = 4e-3, 5e-3  # [s], [m/s]: how fast hand and ring pass each other when it closes
HAND = 1.2  # [m], of the probe's end in the servicer's base frame
NOISE = (0.5, 0.02)  # [N], [N m], one sigma of a sample
CLIENT = ff.library.envisat()
SERVICER = ff.Spacecraft.from_base("servicer", mass=867.0, inertia=(362.0, 604.0, 560.0)).with_frame(
    "hand", body="base", at=ff.Pose((HAND, 0.0, 0.0), ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (-1.0, 0.0, 0.0)))
)


def made(duration=3.0):
    """The servicer's hand at Envisat's ring, co-rotating but for a slow approach; it is asked to grasp at once."""
    client = ff.library.envisat_start()
    spin, place = np.asarray(client.v)[3:], np.array([2.9 + HAND, 0.0, 0.0])
    turn = np.diag([-1.0, -1.0, 1.0])
    velocity = turn @ (np.cross(spin, place) - [SPEED, 0.0, 0.0])
    servicer = dataclasses.replace(
        SERVICER.at_rest(),
        p_NB=place,
        quat_NB=np.array([0.0, 0.0, 0.0, 1.0]),
        v=np.concatenate([velocity, turn @ spin]),
    )
    world = ff.World(servicer=SERVICER, client=CLIENT).connection("grasp", "servicer.hand", "client.ring")
    experiment = ff.Experiment.of(
        world,
        ff.control.TimedGrasp("grasp", at=0.1, on="servicer", period=CYCLE),
        state={"servicer": servicer, "client": client},
        duration=duration,
        dt=CYCLE,
        inputs={"servicer.hand.wrench": np.zeros(6), "client.base.wrench": np.zeros(6)},
    )
    return Rehearsal(
        experiment,
        carried=(
            RobotAssignment("servicer", "servicer", "servicer.hand.wrench"),
            RobotAssignment("client", "client", "client.base.wrench"),
        ),
        placement=envisat_start()["client"],
        nominal="client",
        passivity=Passivity(),
        grasps=(Grasp("grasp", "servicer"),),
    )


def facility(**changes):
    servo = ServoSettings(lag="second", bandwidth=25.0, delay=8e-3)
    settings = CellSettings(cycle=CYCLE, servo=servo, clearance=0.0, settling=0.2, **changes)
    return envisat_cell(settings, arm=False, gripper=Gripper())


@pytest.fixture(scope="module")
def grasped():
    sensor = SensorSettings(noise=NOISE, tare_samples=250)
    return rehearse(made(), facility(sensor=sensor, seed=3))


def test_it_stays_closed_and_comes_to_rest(grasped):
    assert grasped.completed, grasped.status
    assert grasped.audit.holds
    assert grasped.values("cell.servicer.gripper.holds")[-1] == 1.0
    speed = relative_speed(grasped)
    assert speed[0] == pytest.approx(SPEED, rel=1e-9)
    last = len(speed) * 5 // 6
    assert speed[last:].max() < 0.6 * SPEED
    assert np.abs(grasped.values("cell.servicer.wrench")).max() > 10.0  # [N]: what has slowed it


def relative_speed(run):
    """Of the hand against the ring [m/s]."""
    hand, ring = (run.values(f"{name}.velocity") for name in ("servicer.hand", "client.ring"))
    return np.linalg.norm(hand - ring, axis=1)


def test_momentum_is_closed_by_what_both_wrists_have_measured(grasped):
    """What is left of both wrenches: noise, summed over cycles, and the inertia of the mock-ups."""
    t = grasped.values("time")
    total = sum(grasped.values(f"{name}.momentum.linear") for name in ("servicer", "client"))
    handed = np.linalg.norm(
        grasped.values("client.momentum.linear") - grasped.values("client.momentum.linear")[0], axis=1
    )
    walk = 4.0 * NOISE[0] * np.sqrt(2.0 * t * CYCLE)  # [N s], of two sensors, four sigma
    mockups = (
        17.7 * SPEED
    )  # [N s]: 12.5 kg of plate, post and ring and 5.1 kg of probe, which change their speed by less
    assert handed.max() > 2.0  # [N s]
    assert np.all(np.abs(total - total[0]) < walk[:, None] + mockups)
