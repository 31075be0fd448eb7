"""Rehearsals as records: what does not fit is refused by name; cycles of several steps; arms; what a page is told."""

import dataclasses

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.dynamics import FrameMotion, NominalMotion, inverse_dynamics
from freefloat.dynamics.nominal_motion import advance_unforced, unforced_motion
from freefloat.hil import DelayCompensation, ExpectedContact, Limits, Passivity, Rehearsal, RobotAssignment, rehearse
from freefloat.hil.cell import IdealCell, ideal_robot
from freefloat.hil.facility import FacilityReading, RobotDescription
from freefloat.hil.faulty import FaultyFacility
from freefloat.hil.loop.cycle import Cycle, Fault
from freefloat.library import envisat, envisat_start, servicer, servicer_start
from support.rehearsing import ROBOTS, cell, experiment, rehearsal, start

MADE = experiment(duration=0.1)
GOOD = rehearsal(MADE)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"experiment": 3}, "needs an Experiment"),
        ({"carried": ()}, "one for each robot"),
        ({"formulation": "sideways"}, r"no formulation 'sideways'. Choose one of: relative, absolute"),
        ({"nominal": "envisat"}, "envisat"),
        ({"carried": (RobotAssignment("a", "servicer"), RobotAssignment("a", "client"))}, "'a' carries two spacecraft"),
        (
            {"carried": (RobotAssignment("a", "client"), RobotAssignment("b", "client"))},
            "Two robots carry the spacecraft 'client'",
        ),
        ({"carried": (RobotAssignment("a", "client", "client.ring.wrench"),)}, r"has no port 'client.ring.wrench'"),
        ({"carried": (RobotAssignment("a", "client", "servicer.tip.wrench"),)}, "is not on the spacecraft 'client'"),
        ({"carried": (RobotAssignment("a", "client", reaction_of="b"),)}, "takes the reaction of 'b'"),
        ({"carried": (RobotAssignment("a", "client", arm=("elbow",)),)}, "no moving joint 'elbow'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(change, message) -> None:
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(GOOD, **change)


def test_numbers_that_cannot_be_are_refused() -> None:
    for make, message in (
        (lambda: Limits(speed=0.0), "Limits.speed must be positive"),
        (lambda: Limits(lower=(0.0, 0.0, 0.0), upper=(1.0, 0.0, 1.0)), "must be below"),
        (lambda: Limits(stuck=1), "two or more"),
        (lambda: Passivity(share=2.0), "at most 1"),
        (lambda: DelayCompensation(delay=-1.0), "at least 0"),
        (lambda: DelayCompensation(delay=1e-3, measured=True), "not both"),
        (lambda: ExpectedContact(-1.0), "must be positive"),
    ):
        with pytest.raises(ValueError, match=message):
            make()


def test_a_facility_that_does_not_fit_is_refused() -> None:
    with pytest.raises(ValueError, match=r"has no robot 'client-robot'. Robots: servicer-robot"):
        rehearse(GOOD, IdealCell([ROBOTS[0]]))
    with pytest.raises(ValueError, match="robot 'third' carries nothing"):
        rehearse(GOOD, IdealCell([*ROBOTS, "third"]))
    with pytest.raises(ValueError, match=r"a cycle must be a whole number of steps. Use dt=0.0015"):
        rehearse(GOOD, IdealCell(ROBOTS, cycle=1.5e-3))
    with pytest.raises(ValueError, match="needs a Rehearsal and a Facility"):
        rehearse(MADE, IdealCell(ROBOTS))
    with pytest.raises(ValueError, match="carries an arm of 1 joints, the rehearsal names 0"):
        rehearse(GOOD, IdealCell([ideal_robot(ROBOTS[0], arm_joints=("elbow",)), ROBOTS[1]]))


def test_a_cycle_may_be_several_steps() -> None:
    made = experiment(duration=0.2, dt=1e-3, state=start(gap=0.001, spin=(0.0, 0.04, 0.0)))
    run = rehearse(rehearsal(made), cell(2e4, 200.0, cycle=4e-3))
    assert run.completed
    assert run.audit.holds
    assert len(run.values("time")) == 201
    felt = run.values("input.servicer.tip.wrench")[1:].reshape(50, 4, 6)
    np.testing.assert_array_equal(felt, felt[:, :1].repeat(4, axis=1))  # held over a cycle
    # The client's robot stands still until something touches: the nominal motion is stepped as the world is.
    before = np.flatnonzero(np.any(felt[:, 0] != 0.0, axis=1))[0] * 4
    np.testing.assert_allclose(run.values(f"cell.{ROBOTS[1]}.commanded.position")[: before + 1], 0.0, atol=1e-15)


def test_a_run_says_what_the_cell_did() -> None:
    made = rehearsal(
        experiment(duration=0.3, state=start(gap=0.001)),
        passivity=Passivity(),
        compensation=DelayCompensation(),
        contact=ExpectedContact(1e5, 500.0),
    )
    run = rehearse(made, cell(1e5, 500.0, delay=3e-3))
    told = {table.title: dict(row[-2:] for row in table.rows) for table in run.description.tables}
    assert told["The rehearsal"]["how it ended"] == "completed"
    assert told["Delay"]["observed"] == "3 ms"
    assert told["Delay"]["made up for by commands ahead of it"] == "3 ms"
    assert told["Delay"]["critical delay"].startswith("4.97")
    assert told["Energy at the port of contact"]["controller"] == "acts"
    for channel, unit in (("cell.energy", "J"), (f"cell.{ROBOTS[0]}.tracking.position", "m"), ("cell.lateness", "s")):
        assert run[channel].attrs["units"] == unit
    assert run[f"cell.{ROBOTS[0]}.commanded.position"].attrs["frame"] == "F"
    assert run[f"cell.{ROBOTS[0]}.felt"].attrs["frame"] == "servicer.tip"


def test_it_can_be_saved_shown_and_gone_on_from(tmp_path) -> None:
    run = rehearse(GOOD, cell())
    again = ff.Run.load(run.save(tmp_path / "run.nc"))
    assert again.description == run.description
    assert "Workspace used" in ff.page(again, tmp_path / "page.html").read_text()
    assert ff.continue_run(again, MADE).completed


def test_a_facility_that_cannot_start_says_why() -> None:
    class Elsewhere(FaultyFacility):
        def start(self, commands):
            raise ValueError("robot 'client-robot' cannot reach (0, 0, 0)")

    facility = Elsewhere(cell(), "repeated answer", 10**9)
    with pytest.raises(ValueError, match=r"could not begin: the facility's driver failed: .* cannot reach \(0, 0, 0\)"):
        rehearse(GOOD, facility)
    assert len(facility.stops) == 1


# ---- joints of robots


def jointed(position, rate=0.0):
    """A cell whose robots have one joint each, with a place and a rate of its own."""
    names = tuple(
        RobotDescription(name, ("a1",), np.array([-1.0]), np.array([1.0]), np.array([2.0]), np.array([5.0]), ff.Pose())
        for name in ROBOTS
    )

    class Jointed(FaultyFacility):
        def _with_joints(self, reading):
            q, qd = np.array([position(reading.time)]), np.array([rate])
            robots = {n: dataclasses.replace(r, joints=q, joint_rates=qd) for n, r in reading.robots.items()}
            return FacilityReading(reading.cycle, reading.time, robots)

        def start(self, commands):
            return self._with_joints(super().start(commands))

        def exchange(self, commands):
            return self._with_joints(super().exchange(commands))

    made = Jointed(IdealCell(ROBOTS), "repeated answer", 10**9)
    made.robots = names
    return made


def test_joints_are_watched_a_cycle_ahead() -> None:
    ahead = rehearse(GOOD, jointed(lambda t: 10.0 * t, rate=1.9))
    assert "a joint will be at 100.2 % of its range in the next cycle" in ahead.status
    # At 0.1 s it would be at its end; a cycle before, at 10 rad/s less its reported 1.9 rad/s, it is 0.1 % short of it.
    assert abs(ahead.values("time")[-1] - 0.1) < 2e-3
    fast = rehearse(GOOD, jointed(lambda t: 0.0, rate=2.5))
    assert "a joint moves at 125 % of its greatest rate" in fast.status
    fine = rehearse(GOOD, jointed(lambda t: 0.5))
    assert fine.completed
    np.testing.assert_allclose(fine.values(f"cell.{ROBOTS[0]}.joint_margin"), 0.5)
    narrow = dataclasses.replace(GOOD, limits=Limits(joint_margin=0.6))
    assert "a joint will be at 125 %" in rehearse(narrow, jointed(lambda t: 0.5)).status


# ---- arms on robots


@ff.record
class Push(ff.Software):
    """A constant torque at every joint."""

    torques: np.ndarray | None = None  # [N m]

    def command(self, memory, y, clock):
        return ff.JointTorques(tuple(f"arm.{k}" for k in range(1, 8)), jnp.asarray(self.torques))


@pytest.mark.slow
def test_an_arm_is_told_the_torques_that_make_it_move_as_in_orbit() -> None:
    client = envisat_start(spin_deg_s=-2.5)
    craft, begin = servicer(), servicer_start(client)
    arm, torques = craft.layout.moving_joints, 0.3 * np.arange(1.0, 8.0)
    made = ff.Experiment.of(
        ff.World(servicer=craft, client=envisat()),
        Push(torques, on="servicer"),
        state={"servicer": begin, "client": client},
        duration=0.05,
        dt=5e-3,
    )
    placement = ff.Pose.from_rpy_deg((0.0, 0.0, 40.0), (1.0, 2.0, 1.5))
    facility = IdealCell([ideal_robot("c"), ideal_robot("s", arm_joints=arm)], cycle=5e-3)
    carried = (RobotAssignment("c", "client"), RobotAssignment("s", "servicer", arm=arm))
    cycle = Cycle(Rehearsal(made, carried, placement=placement, compensation=None), facility, 0.0)
    reading = facility.start(cycle.commands())
    for _ in range(5):
        cycle.take_reading(reading)
        cycle.process_reading()
        cycle.advance()
        reading = facility.exchange(cycle.commands())
    told = cycle.commands()["s"].arm
    state = cycle.state().states[0]
    np.testing.assert_array_equal(told.position, state.q)
    np.testing.assert_array_equal(told.velocity, state.v[6:])
    np.testing.assert_allclose(told.torque, _torque_on_ground(made, state, placement, torques), atol=1e-9)


@ff.record
class Breaking(ff.Software):
    """Commands no torque at a joint, and from a time on what is no number."""

    def command(self, memory, y, clock):
        return ff.JointTorques(("rod",), jnp.where(clock.t > 0.05, jnp.nan, 0.0)[None])


def test_a_torque_that_is_no_number_is_not_commanded() -> None:
    craft = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 25.0, 30.0)).with_link(
        "rod", parent="base", joint="revolute", mass=5.0, com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42)
    )
    made = ff.Experiment.of(craft, Breaking(), duration=0.1, dt=1e-3)
    facility = FaultyFacility(IdealCell([ideal_robot("a", arm_joints=("rod",))]), "repeated answer", 10**9)
    run = rehearse(Rehearsal(made, (RobotAssignment("a", arm=("rod",)),)), facility)
    assert "the command is not a finite number" in run.status
    assert all(np.isfinite(one["a"].arm.torque).all() for one in facility.commands)


def _torque_on_ground(made, state, placement, torques):
    """By inverse dynamics of the servicer as it moves in the cell, with its weight, accelerated as in orbit."""
    craft, first = made.world.craft("servicer"), made.start[1]
    body = ff.dynamics.composite_inertia(made.world.craft("client"), first.q)
    nominal = unforced_motion(body, FrameMotion(first.p_NB, first.quat_NB, first.V_NB))
    for _ in range(5):
        nominal = advance_unforced(body, nominal, 5e-3)
    assert isinstance(nominal, NominalMotion)
    push = np.concatenate([np.zeros(6), torques])
    vdot = np.asarray(ff.dynamics.forward_dynamics(craft, state.q, state.v, push))
    X_ZM = nominal.pose.inverse() @ state.X_NB
    share = np.asarray(X_ZM.twist_to_B(nominal.twist))
    V_s = state.v[:6] - share
    v, w = share[:3], share[3:]
    bracket = np.concatenate([np.cross(w, V_s[:3]) + np.cross(v, V_s[3:]), np.cross(w, V_s[3:])])  # ad_DV V_s
    share_rate = np.asarray(X_ZM.twist_to_B(nominal.twist_rate)) + bracket
    ground_v, ground_a = np.concatenate([V_s, state.v[6:]]), vdot.copy()
    ground_a[:6] -= share_rate
    R_FM = np.asarray(placement.R) @ np.asarray(X_ZM.R)
    ground_a[:3] -= R_FM.T @ np.array([0.0, 0.0, -9.81])  # weight is as if the base were accelerated upwards
    return np.asarray(inverse_dynamics(craft, state.q, ground_v, ground_a))[6:]


def test_faults_say_what_they_are() -> None:
    facility = cell()
    cycle = Cycle(GOOD, facility, 0.0)
    reading = facility.start(cycle.commands())
    name = ROBOTS[1]
    far = dataclasses.replace(reading.robots[name], position=np.add(reading.robots[name].position, (0.0, 0.3, 0.0)))
    cycle.take_reading(dataclasses.replace(reading, robots={**reading.robots, name: far}))
    with pytest.raises(Fault, match=r"robot 'client-robot': it is 0.3 m from where it was commanded, 0.1 m"):
        cycle.process_reading()
