"""What sensors see in a rehearsal is what the robots did, mapped back into orbit (eq. 23 of the relative dynamics)."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.hil import DelayCompensation, Rehearsal, RobotAssignment, read_log, rehearse, run_of_log
from freefloat.hil.cell import IdealCell, ideal_robot
from freefloat.values.channels import Channel, vector
from support.rehearsing import CLIENT, PORTS, SERVICER, WORLD, cell, rehearsal, start

SPIN = (0.001, -np.deg2rad(2.5), 0.002)  # [rad/s]
TURN = 0.04  # [rad/s] of the servicer about its z


@ff.record
class Witness(ff.Software):
    """Remembers what it sees."""

    period: float | None = ff.static(default=1e-3, kw_only=True)

    def begin(self, y):
        return self._look(y)

    def remember(self, memory, y, clock):
        return self._look(y)

    def _look(self, y):
        names = ("base.attitude", "client.base.position", "client.base.attitude", "base.rate", "client.base.velocity")
        names = (*names, "base.position")
        return tuple(jnp.asarray(y[name]) for name in names)

    def channels(self):
        return (
            Channel("witness.attitude", "Attitude seen", "1", "N", "wxyz", ("w", "x", "y", "z")),
            vector("witness.client.position", "Position of the client seen", "m", "N"),
            Channel("witness.client.attitude", "Attitude of the client seen", "1", "N", "wxyz", ("w", "x", "y", "z")),
            vector("witness.rate", "Rate seen", "rad/s", "B"),
            vector("witness.client.velocity", "Velocity of the client seen", "m/s", "B"),
            vector("witness.position", "Position seen", "m", "N"),
        )

    def observe(self, memory, y, clock, truth):
        return memory


PAIRS = {
    "servicer.witness.attitude": "servicer.base.attitude",
    "servicer.witness.client.position": "client.base.position",
    "servicer.witness.client.attitude": "client.base.attitude",
    "servicer.witness.rate": "servicer.base.rate",
    "servicer.witness.client.velocity": "client.base.velocity",
    "servicer.witness.position": "servicer.base.position",
}


def watched(state, duration=0.2, sensors=(), dt=1e-3):
    parts = (*sensors, ff.sensors.Ideal(on="servicer"), Witness(on="servicer"))
    return ff.Experiment.of(WORLD, *parts, duration=duration, dt=dt, state=state, inputs=PORTS)


def angle(first, second):
    """Between attitudes (time, 4) [rad]."""
    chord = np.minimum(np.linalg.norm(first - second, axis=1), np.linalg.norm(first + second, axis=1))
    return 4.0 * np.arcsin(0.5 * chord)


@pytest.mark.parametrize("formulation", ["relative", "absolute"])
def test_robots_that_track_perfectly_show_the_simulated_motion(formulation):
    placement = ff.Pose.from_rpy_deg((20.0, -35.0, 50.0), (1.0, -2.0, 0.5))
    made = rehearsal(watched(start(spin=SPIN)), formulation=formulation, placement=placement)
    run = rehearse(made, cell())
    simulated = ff.simulate(made.experiment)
    for seen, true in PAIRS.items():
        # A tick passes between remembering and the record; positions of some metres round at 1e-15.
        np.testing.assert_allclose(run.values(seen)[1:], run.values(true)[:-1], rtol=0.0, atol=1e-13, err_msg=seen)
        np.testing.assert_array_equal(run.values(true), simulated.values(true))


def test_a_late_robot_shows_its_lag_to_the_star_tracker():
    """The client stands, the servicer turns and comes nearer steadily: seen, it is behind by its motion in a delay."""
    state = start(gap=0.5, approach=0.0)
    state["servicer"] = dataclasses.replace(state["servicer"], v=np.array([0.02, 0.0, 0.0, 0.0, 0.0, TURN]))
    tracker = ff.sensors.StarTracker(period=1e-3, on="servicer")
    late = rehearse(rehearsal(watched(state, sensors=(tracker,))), cell(delay=7.5e-3))
    seen, true = late.values("servicer.witness.attitude"), late.values("servicer.base.attitude")
    behind = angle(seen[1:], true[:-1])[20:]  # once the delay is filled
    np.testing.assert_allclose(behind, TURN * 7.5e-3, rtol=1e-6)
    way = late.values("servicer.witness.position")[1:] - late.values("servicer.base.position")[:-1]
    np.testing.assert_allclose(way[20:], [[0.02 * 7.5e-3, 0.0, 0.0]] * 180, rtol=0.0, atol=1e-9)  # it comes along -x
    np.testing.assert_allclose(late.values("servicer.witness.rate")[20:], [[0.0, 0.0, TURN]] * 181, atol=1e-12)
    ahead = rehearse(
        rehearsal(watched(state, sensors=(tracker,)), compensation=DelayCompensation(hold=False)), cell(delay=7.5e-3)
    )
    behind = angle(ahead.values("servicer.witness.attitude")[1:], ahead.values("servicer.base.attitude")[:-1])[20:]
    assert behind.max() < 1e-12


def test_what_moves_with_the_nominal_motion_has_no_lag():
    """Relative, a client that tumbles stands still in the hall, however late its robot is; absolute, it is behind."""
    state, delay = start(gap=0.5, approach=0.0, spin=(0.0, 0.0, TURN)), 5e-3
    behind = {}
    for formulation in ("relative", "absolute"):
        run = rehearse(rehearsal(watched(state), formulation=formulation), cell(delay=delay))
        seen, true = run.values("servicer.witness.client.attitude"), run.values("client.base.attitude")
        behind[formulation] = angle(seen[1:], true[:-1])[20:]
    assert behind["relative"].max() < 1e-12
    np.testing.assert_allclose(behind["absolute"], TURN * delay, rtol=1e-6)


def test_the_log_has_what_was_seen(tmp_path):
    made = rehearsal(watched(start(spin=SPIN)))
    run = rehearse(made, cell(2e4, 100.0, delay=3e-3), log=tmp_path / "cycles.log")
    again = run_of_log(made, read_log(tmp_path / "cycles.log"))
    for name in run.channels:
        np.testing.assert_array_equal(again.values(name), run.values(name), err_msg=name)
    log = read_log(tmp_path / "cycles.log")
    older = dataclasses.replace(log, layout=_without_seen(log.layout))  # one from before anything was seen
    assert run_of_log(made, older).completed


def _without_seen(layout):
    return type(layout)(tuple((name.replace(".seen", ".other"), width) for name, width in layout.fields))


# ---- arms


class ArmOff(IdealCell):
    """An ideal cell whose arm stands a little off, and moves a little too fast."""

    def exchange(self, commands):
        reading = super().exchange(commands)
        robot = reading.robots["hub"]
        off = dataclasses.replace(robot, arm_position=robot.arm_position + 0.01, arm_velocity=robot.arm_velocity + 0.02)
        return dataclasses.replace(reading, robots={"hub": off})


@ff.record
class ArmBrake(ff.Software):
    """Continuous software on the joints, which remembers what it saw at the last tick."""

    def begin(self, y):
        return jnp.zeros(2)

    def remember(self, memory, y, clock):
        return jnp.concatenate([jnp.asarray(y["joints.position"]), jnp.asarray(y["joints.rate"])])

    def command(self, memory, y, clock):
        return ff.JointTorques(("rod",), -2.0 * jnp.asarray(y["joints.rate"]))

    def channels(self):
        return (Channel("witness.joints", "Joint and its rate, seen", "1", "", "seen", ("position", "rate")),)

    def observe(self, memory, y, clock, truth):
        return (memory,)


def test_the_arm_is_seen_as_it_is_in_the_cell():
    hub = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 25.0, 30.0)).with_link(
        "rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42)
    )
    moving = dataclasses.replace(hub.at_rest(), v=np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.1]))
    made = ff.Experiment.of(hub, ArmBrake(), state=moving, duration=0.1, dt=5e-3)
    facility = ArmOff([ideal_robot("hub", arm_joints=("rod",))], cycle=5e-3)
    run = rehearse(
        Rehearsal(made, (RobotAssignment("hub", arm=("rod",)),), passivity=None, compensation=None), facility
    )
    assert run.completed
    seen = run.values("witness.joints")[2:]
    true = np.hstack([run.values("joints.position"), run.values("joints.rate")])[1:-1]
    np.testing.assert_allclose(seen - true, [[0.01, 0.02]] * len(seen), rtol=0.0, atol=1e-12)
    # The software acts on the rate that it sees, in every stage: as on a joint that is faster by as much.
    simulated = ff.simulate(made)
    slower = np.diff(run.values("joints.rate")[1:, 0]) - np.diff(simulated.values("joints.rate")[1:, 0])
    assert np.all(slower < 0.0)


def test_without_a_facility_there_is_nothing_to_see_with():
    """Sensors read the simulated state itself: no port, no code."""
    made = watched(start(spin=SPIN))
    assert not [port for port in made.system.ports if port.endswith("seen")]
    flown = rehearsal(made).in_facility
    for craft, name in ((SERVICER, "servicer"), (CLIENT, "client")):
        assert flown.inputs[f"{name}.seen"].shape == (6 + craft.layout.nq + craft.layout.nv,)
