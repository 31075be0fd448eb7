"""Cells of robots in MuJoCo: what sensors feel, what servos do, where the cell stops."""

import dataclasses

import numpy as np
import pytest

pytest.importorskip("mujoco")

from freefloat.hil.cell import (
    GODDARD_START,
    CellSettings,
    HangingBeams,
    SensorSettings,
    ServoSettings,
    envisat_cell,
    envisat_start,
    goddard_cell,
)
from freefloat.spatial import Pose
from freefloat.values import ModelError
from support.cells_under_test import arm_command, command, moved

START = envisat_start()


def still(**changed):
    """Both robots of the plain cell at the start, or elsewhere."""
    return {name: command(changed.get(name, X)) for name, X in START.items()}


def plain_cell(**settings):
    return envisat_cell(CellSettings(settling=0.3, **settings), arm=False)


@pytest.fixture(scope="module")
def resting():
    cell = plain_cell()
    return cell, cell.start(still())


# ---- wrist sensors


def test_the_tool_weighs_nothing_once_its_weight_is_taken_off(resting):
    cell, reading = resting
    for robot in cell.plant.robots:
        raw = cell.plant.tool_wrench(robot)
        name = robot.station.name
        weight = 9.80665 * cell.plant.model.body_subtreemass[robot.tool]
        assert np.linalg.norm(raw[:3]) == pytest.approx(weight, rel=1e-6)
        assert np.abs(reading.robots[name].wrench).max() < 1e-6  # springs of the ring still settle


def test_a_tool_thought_too_light_pulls_by_what_was_forgotten():
    cell = plain_cell(sensor=SensorSettings(weight_error=0.02))
    read = cell.start(still()).robots["servicer"]
    weight = 9.80665 * 5.1  # [N], rod and ball
    X_MW = next(one.X_MW for one in cell.robots if one.name == "servicer")
    force_F = Pose.from_quaternion(read.quaternion, np.zeros(3)).R @ X_MW.R @ read.wrench[:3]
    np.testing.assert_allclose(force_F, [0.0, 0.0, -0.02 * weight], atol=1e-6 * weight)


def test_gravity_stays_off_while_the_tool_turns():
    """Slowly, so that nothing but weight acts: 2 deg/s, and 12.6 kg m2 of client mock-up about the flange."""
    cell = plain_cell()
    cell.start(still())
    rate = np.deg2rad(2.0)
    worst = 0.0
    for k in range(1, 400):
        angle = rate * (k * cell.cycle - 0.2 * np.sin(k * cell.cycle / 0.2))  # from rest
        now = rate * (1 - np.cos(k * cell.cycle / 0.2))
        turn = Pose.from_rpy_deg((0.0, 0.0, np.rad2deg(angle)))
        reading = cell.exchange(
            {"client": command(START["client"]), "servicer": command(START["servicer"] @ turn, (0, 0, 0, 0, 0, now))}
        )
        worst = max(worst, np.abs(reading.robots["servicer"].wrench[:3]).max())
    assert not reading.stopped
    # M lies 0.8 m from the flange and turns with up to 4 deg/s and 0.17 rad/s2: 5.1 kg times that is all that is felt.
    assert worst < 5.1 * (0.9 * rate / 0.2 + 0.9 * (2 * rate) ** 2) * 1.5


def test_a_push_on_the_tool_is_read_as_that_push(resting):
    """The sign of a real sensor, at the flange in its axes."""
    cell, _ = resting
    push = np.array([3.0, -5.0, 7.0])  # [N], in floor axes at the tool's centre of mass
    for robot in cell.plant.robots:
        cell.plant.data.xfrc_applied[robot.tool, :3] = push
        reading = cell.exchange(still()).robots[robot.station.name]
        _, R = cell.plant.flange(robot)
        cell.plant.data.xfrc_applied[:] = 0.0
        # The robot gives way a little within the cycle: its tool is accelerated by part of the push.
        np.testing.assert_allclose(R @ reading.wrench[:3], push, rtol=0, atol=0.05)
        for _ in range(50):
            cell.exchange(still())


def test_inertia_of_the_tool_is_felt_unless_it_is_taken_off():
    felt = {}
    for compensated in (False, True):
        cell = plain_cell(sensor=SensorSettings(inertia_compensated=compensated))
        cell.start(still())
        wrenches = []
        for k in range(1, 150):
            t, w = k * cell.cycle, 2 * np.pi
            way, speed = 0.02 * (1 - np.cos(w * t)), 0.02 * w * np.sin(w * t)
            servicer = command(moved(START["servicer"], (0.0, way, 0.0)), (0.0, -speed, 0.0, 0.0, 0.0, 0.0))
            reading = cell.exchange({**still(), "servicer": servicer})
            wrenches.append(reading.robots["servicer"].wrench[1])
        felt[compensated] = np.abs(wrenches[10:]).max()
    assert felt[False] == pytest.approx(5.1 * 0.02 * (2 * np.pi) ** 2, rel=1e-3)
    # What remains: the difference of rates is half a cycle late.
    assert felt[True] == pytest.approx(2 * np.pi * cell.cycle / 2 * felt[False], rel=0.2)


# ---- contact


def give_along_x(plant, robot):
    """Compliance of a robot's inner loop at its flange [m/N]."""
    M, J = np.zeros((plant.model.nv, plant.model.nv)), np.zeros((3, plant.model.nv))
    plant.mujoco.mj_fullM(plant.model, plant.data, M)
    plant.mujoco.mj_jacSite(plant.model, plant.data, J, None, robot.site)
    row = J[0, robot.v]
    return row @ np.linalg.solve(M[np.ix_(robot.v, robot.v)], row) / (2 * np.pi * 40.0) ** 2


@pytest.mark.parametrize("stiffness", [2e4, 1e5])
def test_static_force_is_stiffness_times_penetration(stiffness):
    cell = envisat_cell(CellSettings(settling=0.1), arm=False, stiffness=stiffness)
    # The probe's ball, 0.4 m above the flange, stands 20 mm before the ring at the height of the grasp point.
    tip = np.array([1.2, 0.0, 0.0])  # [m] in M of the servicer
    sag = 2.0 * 9.80665 / stiffness  # [m], of the ring on its springs
    before = Pose(np.array([2.9 + 0.02, 0.0, -sag]) - np.diag([-1.0, -1.0, 1.0]) @ tip, np.diag([-1.0, -1.0, 1.0]))
    base = START["client"] @ before
    cell.start(still(servicer=base))
    way, depth = 0.0, 1e-3  # [m]
    for k in range(1, 501):
        share = min(1.0, k / 400)
        way = (0.02 + depth) * share**2 * (3 - 2 * share)
        speed = (0.02 + depth) * 6 * share * (1 - share) / (400 * cell.cycle)
        servicer = command(moved(base, (-way, 0.0, 0.0)), (speed, 0, 0, 0, 0, 0))
        reading = cell.exchange({**still(), "servicer": servicer})
    assert not reading.stopped
    model, data = cell.plant.model, cell.plant.data
    deflection = data.qpos[model.joint("client.ring_x").qposadr[0]]
    on_client, on_servicer = (reading.robots[name].wrench for name in ("client", "servicer"))
    # Flange z of the client is +x of the floor: the probe pushes its ring towards -x, and is pushed back.
    assert on_client[2] == pytest.approx(stiffness * deflection, rel=1e-3)
    # The robots' inner loops give way, too: springs in series.
    compliance = 1.0 / stiffness + sum(give_along_x(cell.plant, robot) for robot in cell.plant.robots)
    assert on_client[2] == pytest.approx(-depth / compliance, rel=0.01)
    assert on_servicer[2] == pytest.approx(on_client[2], rel=1e-3)  # pushed against its own flange's z
    # Moments: the lowest bar is at the height of the grasp point, on the flange's axis.
    assert abs(on_client[4]) < 0.02 * abs(on_client[2])


# ---- servos


def test_the_cell_follows_to_a_micrometre_without_lag(resting):
    cell = plain_cell()
    cell.start(still())
    for k in range(1, 250):
        t, w = k * cell.cycle, 2 * np.pi
        way, speed = 0.02 * (1 - np.cos(w * t)), 0.02 * w * np.sin(w * t)
        client = command(moved(START["client"], (way, 0.0, 0.0)), (speed, 0.0, 0.0, 0.0, 0.0, 0.0))
        reading = cell.exchange({**still(), "client": client}).robots["client"]
        # The acceleration begins with a jump of 0.8 m/s2, which the inner loop meets half a substep late.
        assert np.linalg.norm(reading.position - client.position) < 5e-6
        assert np.linalg.norm(reading.twist - client.twist) < 5e-4


def test_without_feed_forward_of_gravity_the_robot_sags_by_what_its_springs_say():
    cell = plain_cell(servo=ServoSettings(feed_forward=False))
    cell.start(still())
    for _ in range(100):
        reading = cell.exchange(still())
    plant = cell.plant
    M = np.zeros((plant.model.nv, plant.model.nv))
    plant.mujoco.mj_fullM(plant.model, plant.data, M)
    robot = plant.robots[0]
    rows = np.ix_(robot.v, robot.v)
    gravity = plant.data.qfrc_bias[robot.v]
    expected = -np.linalg.solve(M[rows], gravity) / (2 * np.pi * 40.0) ** 2
    sag = reading.robots["client"].joints - cell._robots[0].answer.q
    np.testing.assert_allclose(sag, expected, rtol=2e-3, atol=1e-9)
    assert plant.flange(robot)[0][2] < 1.4 - 1e-5


def test_the_flange_answers_a_sine_at_the_bandwidth_with_half_the_power_and_45_degrees():
    settings = CellSettings(servo=ServoSettings(lag="first", bandwidth=2.5, delay=10e-3), settling=0.1)
    cell = goddard_cell(settings, HangingBeams(mass=0.01))
    cell.start({"hub": command(GODDARD_START)})
    w, track = 2 * np.pi * 2.5, []
    for k in range(1, 501):
        t = k * cell.cycle
        grown = min(1.0, t / 0.4)
        way, speed = (
            0.005 * grown * np.sin(w * t),
            0.005 * (grown * w * np.cos(w * t) + (t < 0.4) / 0.4 * np.sin(w * t)),
        )
        track.append(
            cell.exchange({"hub": command(moved(GODDARD_START, (0, way, 0)), (0, speed, 0, 0, 0, 0))})
            .robots["hub"].position[1] - GODDARD_START.p[1]
        )  # fmt: skip
    times = cell.cycle * np.arange(301, 501)
    basis = np.column_stack([np.sin(w * times), np.cos(w * times), np.ones(200)])
    (a, b, _), *_ = np.linalg.lstsq(basis, np.array(track[300:]), rcond=None)
    assert np.hypot(a, b) == pytest.approx(0.005 / np.sqrt(2), rel=0.01)
    assert -np.rad2deg(np.arctan2(b, a)) == pytest.approx(45.0 + 360.0 * 2.5 * 10e-3, abs=0.3)


# ---- limits


def test_limits_stop_the_cell_with_their_reason():
    def push(cell, way_of, cycles=600):
        cell.start(still())
        for k in range(1, cycles):
            way, speed = way_of(k * cell.cycle)
            client = command(moved(START["client"], (0.0, way, 0.0)), (0.0, speed, 0.0, 0.0, 0.0, 0.0))
            reading = cell.exchange({**still(), "client": client})
            if reading.stopped:
                return reading, k
        return reading, cycles

    reading, _ = push(plain_cell(), lambda t: (1.2 * t**2, 2.4 * t))
    assert "client: joint" in reading.stopped
    assert "beyond its" in reading.stopped or "rate limits" in reading.stopped
    reading, k = push(plain_cell(), lambda t: (0.02, 0.0))  # a jump
    assert k == 1
    assert reading.stopped.startswith("client: joint a")
    assert "acceleration limit" in reading.stopped or "rate limit" in reading.stopped


def test_a_joint_at_the_end_of_its_range_stops_the_cell():
    cell = goddard_cell(CellSettings(settling=0.1))
    cell.start({"hub": command(GODDARD_START)})
    for k in range(1, 2000):
        t = k * cell.cycle
        X = GODDARD_START @ Pose.from_rpy_deg((0.0, 0.0, np.rad2deg(0.5 * t**2)))
        reading = cell.exchange({"hub": command(X, (0, 0, 0, 0, 0, t))})
        if reading.stopped:
            break
    assert "hub: joint" in reading.stopped
    assert "position limit" in reading.stopped


def test_a_command_that_leaves_the_reach_stops_the_cell():
    cell = plain_cell()
    cell.start(still())
    for k in range(1, 1500):
        t = k * cell.cycle
        client = command(moved(START["client"], (0.0, 0.0, 0.1 * t**2)), (0.0, 0.0, 0.2 * t, 0.0, 0.0, 0.0))
        reading = cell.exchange({**still(), "client": client})
        if reading.stopped:
            break
    assert reading.stopped.startswith("client: ")
    assert cell.use.robots["client"].reach > 0.85  # the hand stays level while the arm stands upright


def test_braking_keeps_to_the_acceleration_limits_and_ends_at_rest():
    cell = plain_cell()
    cell.start(still())
    for k in range(1, 100):
        t, w = k * cell.cycle, 2 * np.pi
        way, speed = 0.05 * (1 - np.cos(w * t)), 0.05 * w * np.sin(w * t)
        client = command(moved(START["client"], (way, 0.0, 0.0)), (speed, 0.0, 0.0, 0.0, 0.0, 0.0))
        reading = cell.exchange({**still(), "client": client})
    before = reading.robots["client"].joint_rates
    cell.stop("the operator's button")
    after = cell.exchange(still())
    assert after.stopped == "the operator's button"
    assert np.abs(before).max() > 0.05
    assert np.abs(after.robots["client"].joint_rates).max() < 1e-3
    # All joints stop together, the slowest to stop with its full deceleration.
    braking = cell._robots[0].braking
    assert np.max(np.abs(braking.rate) / braking.duration / cell.stations[0].arm.acceleration_limit) == pytest.approx(
        1.0
    )
    cell.stop("again")
    assert cell.exchange(still()).stopped == "the operator's button"


def test_robots_that_come_too_close_stop():
    cell = envisat_cell(CellSettings(settling=0.1, clearance=0.35), arm=False)
    reading = cell.start(still())
    for k in range(1, 500):
        t = k * cell.cycle
        way, speed = 0.4 * (1 - np.cos(t)), 0.4 * np.sin(t)
        servicer = command(moved(START["servicer"], (-way, 0.0, way)), (speed, 0, speed, 0, 0, 0))
        reading = cell.exchange({**still(), "servicer": servicer})
        if reading.stopped:
            break
    assert reading.stopped.startswith("client - servicer: ")
    assert "closer than 350 mm" in reading.stopped
    assert cell.use.nearest[0] == "client - servicer"


def test_too_much_load_stops():
    cell = plain_cell(sensor=SensorSettings(range=(60.0, 100.0)))  # the client's tool weighs 123 N
    cell.start(still())
    assert cell.exchange(still()).stopped == "client: load of the wrist sensor beyond its range"


def test_a_pose_out_of_reach_is_refused_by_name():
    with pytest.raises(ModelError, match=r"first pose of 'client' is out of reach"):
        plain_cell().start(still(client=moved(START["client"], (3.0, 0.0, 0.0))))


# ---- the carried arm


def test_a_driven_arm_answers_torques_as_its_own_dynamics_say():
    """Against gravity torques it stands still; with one torque more, it moves as its inertia says.

    The robot below gives way a little: less than one that is free, more than one that is held.
    """
    cell = envisat_cell(CellSettings(settling=0.1))
    commands = {"client": command(START["client"]), "servicer": command(START["servicer"], arm=arm_command())}
    reading = cell.start(commands)
    plant, robot = cell.plant, cell.plant.robots[1]
    holding = plant.data.qfrc_bias[robot.arm_v].copy()
    np.testing.assert_allclose(reading.robots["servicer"].arm_position, arm_command().position, atol=1e-8)
    commands["servicer"] = command(START["servicer"], arm=arm_command(holding))
    for _ in range(10):
        reading = cell.exchange(commands)
    assert np.abs(reading.robots["servicer"].arm_velocity).max() < 1e-4
    assert np.abs(reading.robots["servicer"].wrench).max() < 1e-2
    more = np.zeros(7)
    more[3] = 1.0  # [N m]
    commands["servicer"] = command(START["servicer"], arm=arm_command(holding + more))
    M = np.zeros((plant.model.nv, plant.model.nv))
    plant.mujoco.mj_fullM(plant.model, plant.data, M)
    both = np.concatenate([robot.v, robot.arm_v])
    held = np.linalg.solve(M[np.ix_(robot.arm_v, robot.arm_v)], more)
    free = np.linalg.solve(M[np.ix_(both, both)], np.concatenate([np.zeros(len(robot.v)), more]))[len(robot.v) :]
    found = cell.exchange(commands).robots["servicer"].arm_velocity / cell.cycle
    assert np.all((np.minimum(held, free) < found) & (found < np.maximum(held, free)))
    assert np.linalg.norm(found - held) < 0.3 * np.linalg.norm(free - held)


def test_a_torque_beyond_the_arms_own_stops_the_cell():
    cell = envisat_cell(CellSettings(settling=0.1))
    commands = {"client": command(START["client"]), "servicer": command(START["servicer"], arm=arm_command())}
    cell.start(commands)
    commands["servicer"] = command(START["servicer"], arm=arm_command(1e4 * np.eye(7)[2]))
    assert cell.exchange(commands).stopped == "servicer: arm_3 is told 1e+04 N m, 400 N m are permitted"


def test_nothing_but_finite_numbers_leaves_a_cell_that_has_diverged(monkeypatch):
    cell = plain_cell()
    before = cell.start(still())
    monkeypatch.setattr(type(cell.plant), "diverged", True)
    for cycle in (1, 2):
        reading = cell.exchange(still())
        assert "diverged" in reading.stopped
        assert reading.cycle == cycle
        np.testing.assert_array_equal(reading.robots["client"].wrench, before.robots["client"].wrench)
    cell.stop("after that")


# ---- the cell as a whole


def test_two_runs_give_the_same_bits():
    sensor = SensorSettings(noise=(0.1, 0.01), bias=(1.0, 0.1), drift=(0.1, 0.01), tare_samples=10)
    cell = plain_cell(sensor=sensor, seed=5)

    def run(cell):
        cell.start(still())
        rows = []
        for k in range(1, 40):
            way = 0.001 * k * cell.cycle
            client = command(moved(START["client"], (way, 0.0, 0.0)), (1e-3, 0, 0, 0, 0, 0))
            reading = cell.exchange({**still(), "client": client})
            rows.append(np.concatenate([reading.robots[n].wrench for n in START] + [reading.robots["client"].joints]))
        return np.array(rows)

    first, again, fresh = run(cell), run(cell), run(plain_cell(sensor=sensor, seed=5))
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(first, fresh)
    assert not np.array_equal(first, run(plain_cell(sensor=sensor, seed=6)))


def test_what_a_page_and_a_report_need(resting):
    cell, _ = resting
    parts, poses = cell.parts(), cell.poses()
    assert {part.body for part in parts} == set(poses)
    assert {"client.a3", "servicer.tip", "client.ring_0"} <= {part.name for part in parts}
    position, quaternion = poses["client.ring"]
    assert position.shape == (3,)
    assert np.linalg.norm(quaternion) == pytest.approx(1.0)
    told = cell.description()
    assert told["stations"]["servicer"]["robot"] == "KR120-class"
    assert told["settings"]["servo"]["lag"] == "none"
    use = cell.use.as_dict()
    assert use["robots"]["client"]["reach"] < 1.0
    assert use["closest"]["client - servicer"] > 0.1


def test_impossible_cells():
    with pytest.raises(ModelError, match=r"CellSettings\.cycle must be positive"):
        CellSettings(cycle=0.0)
    with pytest.raises(ModelError, match=r"CellSettings\.substeps must be a whole number, at least 1"):
        CellSettings(substeps=0)
    with pytest.raises(ModelError, match="40 Hz at a cycle of 12 ms needs at least 7 substeps, got 2"):
        CellSettings(cycle=0.012, substeps=2)
    with pytest.raises(ModelError, match="has not been started"):
        plain_cell().exchange(still())
    with pytest.raises(ModelError, match="The ring's stiffness must be positive"):
        envisat_cell(stiffness=-1.0)


def test_a_cell_without_mujoco_says_what_to_install(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(ModelError, match=r"pip install 'freefloat\[mujoco\]'"):
        envisat_cell()


def test_settings_are_told_as_they_were_given():
    settings = CellSettings(servo=ServoSettings(lag="second", bandwidth=7.0, delay=0.011, averaging=3), settling=0.0)
    cell = envisat_cell(settings, arm=False)
    assert cell.bandwidth == 7.0
    assert cell.delay == pytest.approx(0.011 + settings.cycle)
    assert cell.description()["settings"] == dataclasses.asdict(settings)


# ---- flexible beams


def test_beams_of_masses_and_springs_vibrate_as_the_modal_beams_of_the_package():
    """On a hub that may move along y and turn about z: natural frequencies against ours, to rounding."""
    import mujoco

    from freefloat.dynamics import natural_frequencies
    from freefloat.scenarios.goddard import GoddardSymmetric

    scenario = GoddardSymmetric(hub_mass=25.0)
    inertia = 25.0 / 6.0
    text = (
        '<mujoco><compiler angle="radian" autolimits="false"/><option gravity="0 0 0"/>'
        '<default><geom contype="0" conaffinity="0" density="0"/></default><worldbody>'
        '<body name="hub"><joint type="slide" axis="0 1 0"/><joint type="hinge" axis="0 0 1"/>'
        f'<inertial pos="0 0 0" mass="25" diaginertia="{inertia} {inertia} {inertia}"/>'
        f"{HangingBeams().mockup().text.replace('ROBOT', 'hub')}</body></worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    M = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, M)
    K = np.diag(model.jnt_stiffness)
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(M, K)).real)[2:]
    np.testing.assert_allclose(np.sqrt(squares), natural_frequencies(scenario.spacecraft())[:4], rtol=1e-9)


def test_held_beams_pull_at_the_first_instant_with_their_springs():
    """The reading belongs to the end of its cycle: bent beams that are let go are felt at once, not a step later."""
    beams = HangingBeams(tips=(0.05, 0.05))
    cell = goddard_cell(CellSettings(settling=0.1), beams)
    wrench = cell.start({"hub": command(GODDARD_START)}).robots["hub"].wrench
    p, w = beams.integrals()[0][0], beams.frequencies()[0]
    pull = 2 * beams.mass * p**2 * w**2 * 0.05 / (2 * p)
    assert wrench[1] == pytest.approx(pull, rel=0.05)  # the robot gives way a little
    still_held = goddard_cell(CellSettings(settling=0.1), HangingBeams()).start({"hub": command(GODDARD_START)})
    assert np.abs(still_held.robots["hub"].wrench).max() < 1e-6
