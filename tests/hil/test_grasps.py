"""A connection that a facility holds: a flag without a force, a gripper that follows it, wrenches that do the rest."""

import dataclasses

import numpy as np
import pytest

import freefloat as ff
from freefloat.hil import (
    DelayCompensation,
    Grasp,
    MotionCommand,
    Passivity,
    critical_delay,
    read_log,
    rehearse,
    run_of_log,
)
from freefloat.hil.cell import IdealCell, ideal_robot
from freefloat.hil.delayed_contact import reduced_mass
from freefloat.hil.faulty import FaultyFacility
from support.grasping import AT, GRASP, Gripper, apart, grasp_experiment, grasp_rehearsal, holding_cell
from support.rehearsing import CLIENT_MASS, PORTS, ROBOTS, SERVICER_MASS, WORLD, experiment, rehearsal, start

MADE = grasp_experiment(duration=0.1)
MU = reduced_mass(SERVICER_MASS, CLIENT_MASS)  # [kg]


# ---- a flag without a force


def test_a_grasp_that_a_facility_holds_takes_nothing_from_the_world():
    """A gripper that feels nothing: the motion is the free one to the last bit, and only the flag changes."""
    run = rehearse(grasp_rehearsal(MADE), holding_cell())
    assert run.completed
    assert run.audit.holds
    free = ff.simulate(
        grasp_experiment(duration=0.1, software=(ff.control.TimedGrasp("grasp", at=9.0, on="servicer"),))
    )
    for name in ("position", "attitude", "velocity", "rate"):
        for craft in ("servicer", "client"):
            channel = f"{craft}.base.{name}"
            np.testing.assert_array_equal(run.values(channel), free.values(channel), err_msg=channel)
    t = run.values("time")
    np.testing.assert_array_equal(run.values("connection.grasp"), 1.0 * (t > AT + 1e-9))  # it takes effect in the step
    np.testing.assert_array_equal(run.values("connection.grasp.force"), 0.0)
    (event,) = run.events
    assert event["name"] == "grasp"
    np.testing.assert_array_equal(event["impulse"], 0.0)
    np.testing.assert_array_equal(run.values(f"cell.{ROBOTS[0]}.gripper.commanded"), run.values("connection.grasp"))
    np.testing.assert_array_equal(run.values(f"cell.{ROBOTS[0]}.gripper.holds"), run.values("connection.grasp"))
    assert f"cell.{ROBOTS[1]}.gripper.holds" not in run.channels


def test_without_a_facility_the_same_experiment_latches_by_an_impact():
    made = grasp_rehearsal(MADE)
    run = ff.simulate(made.experiment, check=False)  # along one axis: nothing to judge angular momentum by
    assert np.linalg.norm(run.events[0]["impulse"][:3]) == pytest.approx(MU * 0.01, rel=1e-6)  # [N s]
    assert np.abs(apart(run)[run.values("connection.grasp") > 0.0]).max() < 1e-12  # [m]
    assert not made.experiment.world.connections[0].held_outside


def test_one_that_latches_by_itself_does_so_without_an_impulse_too():
    """The tip comes within 5 mm of its place at 0.05 s, in the middle of a cycle; the gripper closes at its end."""
    meant = {"automatic": True, "reach": (5e-3, 4.0), "at": _place_of_client()}
    nobody = (ff.control.TimedGrasp("grasp", at=9.0, on="servicer"),)
    made = grasp_experiment(duration=0.1, state=start(gap=5.505e-3, approach=0.01), connection=meant, software=nobody)
    run = rehearse(grasp_rehearsal(made), holding_cell())
    (event,) = run.events
    assert event["time"] == pytest.approx(0.0505, abs=1e-9)
    np.testing.assert_array_equal(event["impulse"], 0.0)
    closed = run.values("time")[np.flatnonzero(run.values(f"cell.{ROBOTS[0]}.gripper.holds"))[0]]
    assert closed == pytest.approx(0.051)


def _place_of_client():
    """X of the client's base in the tip, when the tip is at the face."""
    tip = ff.dynamics.inertial_frame_pose(WORLD.craft("servicer"), start(gap=0.0)["servicer"], "tip")
    return ff.Pose(np.asarray(tip.inverse().p), np.asarray(tip.inverse().R))


def test_what_is_let_go_opens_the_gripper():
    software = (ff.control.TimedGrasp("grasp", at=AT, release=0.05, on="servicer"),)
    run = rehearse(grasp_rehearsal(grasp_experiment(duration=0.1, software=software)), holding_cell(Gripper()))
    t, felt = run.values("time"), np.abs(run.values(f"cell.{ROBOTS[0]}.wrench")).max(axis=1)
    holds = run.values(f"cell.{ROBOTS[0]}.gripper.holds")
    np.testing.assert_array_equal(holds, 1.0 * ((t > AT + 1e-9) & (t < 0.0505)))
    assert felt[t > 0.0505].max() == 0.0
    assert felt[holds > 0.0].max() > 1.0  # [N]


# ---- the wrench does the rest


def test_held_through_a_spring_they_swing_as_two_masses_do():
    """A damped swing of the reduced mass, from the end of the cycle in which the gripper has closed.

    It holds the pose that the robots have then, which is half a cycle ahead. Cycles of 1 ms leave 1e-3 of a swing.
    """
    made = grasp_experiment(duration=1.5)
    run = rehearse(grasp_rehearsal(made, compensation=DelayCompensation()), holding_cell(Gripper()))
    assert run.audit.holds
    t = run.values("time") - AT - 1e-3
    d, w = 500.0 / (2 * MU), np.sqrt(1e4 / MU - (500.0 / (2 * MU)) ** 2)
    speed, rest = -0.01, -0.01 * 0.5e-3  # [m/s], [m]
    wanted = rest + np.exp(-d * t) * (-rest * np.cos(w * t) + (speed - d * rest) / w * np.sin(w * t))
    held = t > -1e-9
    np.testing.assert_allclose(apart(run)[held], wanted[held], rtol=0.0, atol=1e-3 * np.abs(wanted[held]).max())


def test_the_log_has_the_whole_run(tmp_path):
    made = grasp_rehearsal(grasp_experiment(duration=0.2))
    run = rehearse(made, holding_cell(Gripper()), log=tmp_path / "cycles.log")
    again = run_of_log(made, read_log(tmp_path / "cycles.log"))
    for name in run.channels:
        np.testing.assert_array_equal(again.values(name), run.values(name), err_msg=name)


# ---- delays: what the closed form says, and what is done about it


STIFF, DAMPED = 1e5, 1000.0  # [N/m], [N s/m]; bears 9.957 ms (spec/001 E)
CYCLE = 1e-3  # [s]


def _late(delay, **options):
    """A stiff grasp in a cell that is late: the run, and at which rate [1/s] its swings grow."""
    gripper = Gripper(stiffness=STIFF, damping=DAMPED)
    run = rehearse(
        grasp_rehearsal(grasp_experiment(duration=3.0, dt=CYCLE), **options),
        holding_cell(gripper, cycle=CYCLE, delay=delay),
    )
    assert run.completed
    way = apart(run)
    ends = 100 + np.flatnonzero(np.diff(np.sign(np.diff(way[100:])))) + 1  # where it turns back
    swings = np.abs(np.diff(way[ends]))  # from end to end, so that it does not matter where they are held
    return run, np.polyfit(run.values("time")[ends[:-1]], np.log(swings), 1)[0]


def _growth(delay):
    """Re s of mu s^2 + (k + b s) exp(-s T) = 0, by Newton's method from the contact that is not late."""
    s = 1j * np.sqrt(STIFF / MU)
    for _ in range(50):
        late = np.exp(-s * delay)
        value = MU * s**2 + (STIFF + DAMPED * s) * late
        s -= value / (2 * MU * s + (DAMPED - delay * (STIFF + DAMPED * s)) * late)
    return s.real


@pytest.mark.parametrize("share", [0.7, 1.3])
def test_beyond_the_critical_delay_it_swings_up(share):
    """As the closed form says; a force that is held for a cycle is half a cycle late besides."""
    critical = critical_delay(MU, STIFF, DAMPED)
    assert critical == pytest.approx(9.9573e-3, abs=1e-6)  # [s]
    _, rate = _late(share * critical)
    assert np.sign(rate) == np.sign(share - 1.0)
    assert rate == pytest.approx(_growth(share * critical + 0.5 * CYCLE), rel=0.01)


@pytest.mark.parametrize("options", [{"compensation": DelayCompensation()}, {"passivity": Passivity()}])
def test_compensation_and_control_each_keep_it_from_swinging_up(options):
    """At twice the critical delay."""
    run, rate = _late(2.0 * critical_delay(MU, STIFF, DAMPED), **options)
    assert rate < 0.0
    total = _momentum(run)
    np.testing.assert_allclose(total - total[0], 0.0, atol=1e-9 * np.abs(total).max())  # the reaction is exact


def _momentum(run):
    return sum(run.values(f"{name}.momentum.linear") for name in ("servicer", "client"))


# ---- what does not fit


@pytest.mark.parametrize(
    ("grasps", "message"),
    [
        ((Grasp("dock", ROBOTS[0]),), r"no connection 'dock' to grasp. Connections: grasp"),
        ((Grasp("grasp", "hand"),), r"No robot 'hand' to grasp with. Robots: servicer-robot, client-robot"),
        ((GRASP, Grasp("grasp", ROBOTS[1])), "Two grasps of one connection"),
    ],
)
def test_a_grasp_that_does_not_fit_is_refused(grasps, message):
    with pytest.raises(ValueError, match=message):
        grasp_rehearsal(MADE, grasps=grasps)


def test_what_is_on_from_the_start_and_numbers_that_cannot_be_are_refused():
    on = grasp_experiment(connection={"on": True, "at": _place_of_client()})
    with pytest.raises(ValueError, match=r"'grasp' is on from the start: a gripper closes in the run"):
        grasp_rehearsal(on)
    with pytest.raises(ValueError, match=r"Grasp.closing must be at least 0"):
        Grasp("grasp", ROBOTS[0], closing=-1.0)
    with pytest.raises(ValueError, match=r"The world has no connection 'dock'. Connections: grasp"):
        MADE.world.hold_outside("dock")


def test_a_facility_without_a_gripper_is_refused_by_name():
    with pytest.raises(ValueError, match=r"Robot 'servicer-robot' of the facility 'ideal' has no gripper to hold"):
        rehearse(grasp_rehearsal(MADE), IdealCell(ROBOTS))


def test_a_cell_says_that_a_robot_has_no_gripper():
    cell = IdealCell(["a"])
    ask = MotionCommand(np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(6), gripper=True)
    with pytest.raises(ValueError, match="command of robot 'a': it carries no gripper"):
        cell.start({"a": ask})


def test_a_gripper_that_lets_go_stops_the_rehearsal():
    made = grasp_rehearsal(MADE, grasps=(dataclasses.replace(GRASP, closing=0.0105),))
    facility = FaultyFacility(holding_cell(Gripper()), "gripper lets go", 50)
    run = rehearse(made, facility)
    assert run.stopped
    assert "robot 'servicer-robot': its gripper was told to be closed and holds nothing after 0.0105 s" in run.status
    assert facility.exchanges == 50 + 10
    assert facility.facility.exchange(facility.commands[-1]).robots[ROBOTS[0]].holds  # a stop does not open it


def test_facilities_without_a_gripper_stay_as_they_are():
    run = rehearse(rehearsal(experiment(duration=0.02)), IdealCell(ROBOTS))
    assert run.completed
    assert not [name for name in run.channels if "gripper" in name]
    assert ideal_robot("a").gripper is False
    assert PORTS.keys() == {"servicer.tip.wrench", "client.base.wrench"}  # what is seen needs no port of the user
