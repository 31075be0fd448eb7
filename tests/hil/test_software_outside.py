"""On-board software outside the loop: the same inside, in process and behind a socket, it gives the same commands."""

import dataclasses
import shutil
import subprocess
import sys
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.hil import read_log, run_of_log
from freefloat.outside import ContractError, ExternalSoftware, SharedLibrary, SoftwareLink, host
from freefloat.outside.binding import bind_software
from freefloat.outside.shared_library import SOURCES
from software import sequence
from software.damper import Damper
from support.grasping import AT, Gripper, grasp_experiment, grasp_rehearsal, holding_cell
from support.rehearsing import cell, experiment, rehearsal, start

FOLDER = Path(__file__).parents[1] / "software"
MADE = experiment(duration=0.3, dt=3e-3, state=start(gap=1.0, spin=(0.01, 0.02, 0.03)))
ANSWERS = "input.servicer.damper.answer"


def served(file: str) -> SoftwareLink:
    """A process that runs a file by the command line."""
    return SoftwareLink(command=(sys.executable, "-m", "freefloat", "software", str(FOLDER / file)), patience=60.0)


def same(one, other, names=None) -> None:
    for name in names or [name for name in one.recorded if name in other.recorded]:
        np.testing.assert_array_equal(one.recorded[name].values, other.recorded[name].values, err_msg=name)


# ---- the same commands, bit for bit


def test_in_process_and_behind_a_socket() -> None:
    here = ff.fly(MADE, ExternalSoftware(Damper(), on="servicer"))
    there = ff.fly(MADE, ExternalSoftware(served("damper.py"), on="servicer"))
    assert here.completed
    assert np.ptp(here.values(ANSWERS), axis=0)[3:].min() > 0.0  # it did something
    same(here, there)


@pytest.mark.skipif(not shutil.which("gcc"), reason="there is no C compiler (gcc) here")
def test_the_same_c_source_in_process_and_behind_a_socket(tmp_path) -> None:
    for words in (
        ("-shared", "-fPIC", "-o", tmp_path / "software.so", FOLDER / "software.c", "-lm"),
        ("-o", tmp_path / "software", "-I", SOURCES, SOURCES / "serve.c", FOLDER / "software.c", "-lm"),
    ):
        subprocess.run(("gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", *map(str, words)), check=True)
    here = ff.fly(MADE, ExternalSoftware(SharedLibrary(tmp_path / "software.so"), on="servicer"))
    link = SoftwareLink(command=(str(tmp_path / "software"), "{path}"))
    there = ff.fly(MADE, ExternalSoftware(link, on="servicer"))
    assert here.values(ANSWERS)[-1, -1] == 10.0  # asked every 30 ms
    same(here, there)


def test_software_inside_in_process_and_behind_a_socket() -> None:
    """With noise, latency, and a message to other software, which is outside as well, in whatever order they come."""
    made = sequence.experiment()
    inside = ff.simulate(made)
    link = served("sequence.py")
    there = ff.fly(
        made, [ExternalSoftware(host(made, "Rod"), instead_of="Rod"), ExternalSoftware(link, instead_of="Sequence")]
    )
    same(inside, there)
    phase = there.values("servicer.sequence.arm.phase")
    np.testing.assert_array_equal(phase, there.values("input.servicer.sequence.answer")[:, -1])
    assert set(phase) == {0, 1, 2}


def test_software_that_plans_with_numpy() -> None:
    turning = dataclasses.replace(HUB.at_rest(), v=np.array([0, 0, 0, 0.1, 0.2, 0.3]))  # [rad/s]
    made = ff.Experiment.of(HUB, Planned(period=0.05), state=turning, duration=0.3, dt=0.01)
    same(ff.simulate(made), ff.fly(made, ExternalSoftware(host(made, "Planned"), instead_of="Planned")))


@pytest.mark.slow
def test_latches_releases_and_brakes_from_outside() -> None:
    """The same events at the same times, and everything else the same to the last bit."""
    made = sequence.experiment(switches=True)
    inside = ff.simulate(made)
    assert [event["kind"] for event in inside.events] == ["latched", "released", "brake on"]
    run = ff.fly(made, ExternalSoftware(host(made, "Sequence"), instead_of="Sequence"))
    assert [dict(event) for event in run.events] == [dict(event) for event in inside.events]
    same(inside, run)


def test_what_is_asked_for_outside_is_latched_and_let_go() -> None:
    """An exact case: a plastic impact of two equal bodies, then both go on together, and apart again as they are."""

    class Grasping(Ramp):
        commands = {"latch": ("grasp",), "release": ("grasp",)}  # noqa: RUF012
        reads = ()

        def step(self, t, y):
            return {"latch": 0.1 <= t < 0.2, "release": t >= 0.2}

    world = ff.World(a=HUB, b=HUB).connection("grasp", "a.base", "b.base", reach=(1.0, 1.0))  # [m], [rad]
    moving = dataclasses.replace(HUB.at_rest(), v=np.array([0.2, 0, 0, 0, 0, 0]))  # [m/s]
    made = ff.Experiment.of(world, state={"a": moving}, duration=0.3, dt=0.01, record_dt=0.01)
    run = ff.fly(made, ExternalSoftware(Grasping(), on="a"))
    assert [(event["kind"], round(event["time"], 9)) for event in run.events] == [("latched", 0.1), ("released", 0.2)]
    np.testing.assert_allclose(run.values("b.base.velocity")[[5, -1], 0], [0.0, 0.1], atol=1e-12)


def test_in_a_rehearsal_as_in_simulation(tmp_path) -> None:
    """The robots track exactly and touch nothing, so the spacecraft do as in a simulation, and the log has it all."""
    software = ExternalSoftware(Damper(), on="servicer")
    made, facility = rehearsal(MADE), cell(2e4, 200.0, cycle=3e-3)
    run = ff.rehearse(made, facility, software=software, log=tmp_path / "log")
    assert run.completed, run.status
    np.testing.assert_allclose(  # the sensors see what the robots measured, which is rounded on its way
        run.values(ANSWERS), ff.fly(MADE, software).values(ANSWERS), rtol=1e-9, atol=1e-9
    )
    same(run, run_of_log(made, read_log(tmp_path / "log")))
    (table,) = [one for one in run.description.tables if one.title == "On-board software"]
    assert table.rows[0][:2] == ("damper", "in process, every 0.03 s, answers now")


# ---- rates


class Ramp:
    """Pushes with a force of so many newtons as it is seconds late."""

    name, period, reads = "ramp", 0.05, ("base.position",)  # [s]
    commands = {"base.wrench": ()}  # noqa: RUF012

    def __init__(self, first=None) -> None:
        self.first, self.asked = first, []

    def begin(self, y):
        return self.first

    def step(self, t, y):
        self.asked.append(t)
        return {"base.wrench": (1.0 + t, 0, 0, 0, 0, 0)}


HUB = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0))
DRIFT = ff.Experiment.of(HUB, duration=0.3, dt=0.01, record_dt=0.01)


@ff.record
class Push(ff.Software):
    """The same all the time."""

    def command(self, memory, y, clock):
        return ff.BaseWrench(np.ones(6))


@ff.record
class Planned(ff.Software):
    """Pushes as its plan says, which no tracer can make."""

    def begin(self, y):
        return jnp.asarray(np.linalg.norm(np.asarray(y["base.rate"])))

    def command(self, memory, y, clock):
        return ff.BaseWrench(-memory * jnp.ones(6) * clock.t)


def pushes(run):
    return run.values("input.ramp.answer")[1:, 0]  # in the step before each record


def test_commands_are_held_between_its_ticks() -> None:
    ramp = Ramp()
    ticks = 0.05 * (np.arange(30) // 5)
    np.testing.assert_allclose(pushes(ff.fly(DRIFT, ramp)), 1.0 + ticks, rtol=1e-15)
    assert len(ramp.asked) == 6


def test_an_answer_may_come_a_period_later() -> None:
    periods = np.arange(30) // 5
    later = pushes(ff.fly(DRIFT, ExternalSoftware(Ramp(), answers="next")))
    np.testing.assert_allclose(later, np.where(periods > 0, 1.0 + 0.05 * (periods - 1), 0.0), rtol=1e-15)
    first = {"base.wrench": (7.0, 0, 0, 0, 0, 0)}
    begun = pushes(ff.fly(DRIFT, ExternalSoftware(Ramp(first), answers="next")))
    np.testing.assert_array_equal(begun[:5], 7.0)
    np.testing.assert_array_equal(begun[5:], later[5:])


def test_momentum_is_what_the_commands_say() -> None:
    """An exact case: the sum of force times period."""
    run = ff.fly(DRIFT, Ramp())
    given = np.sum(pushes(run)) * 0.01  # [N s]
    assert run.values("momentum.linear")[-1, 0] == pytest.approx(given, rel=1e-12)
    assert run.audit.holds


# ---- what does not fit


def changed(**words):
    return type("Other", (Ramp,), words)()


@pytest.mark.parametrize(
    ("software", "said"),
    [
        (changed(period=0.015), "every 0.015 s does not fit the step of 0.01 s"),
        (changed(reads=("base.rat",)), "reads 'base.rat'"),
        (changed(reads={"base.position": "km"}), "takes 'base.position' to have the unit km, but it has m"),
        (changed(commands={"joints.torque": ("elbow",)}), "elbow"),
        (changed(commands={"thrusters.duty": ("a", "b")}), "'ramp' commands thrusters.duty[a,b] 2 1, which no"),
        (changed(commands={"latch": ("grasp",)}), "no connection 'grasp'. Connections: none"),
        (changed(commands={"thrust": ()}), "must name what its command 'thrust' is for"),
        (changed(commands={"thrust": ("a",)}), "commands thrust[a] 1, which no actuator of spacecraft 'hub' accepts"),
        (changed(name="two words"), "needs a name of letters and digits"),
        (object(), "is no on-board software: it has no `period`"),
        ([Ramp(), Ramp()], "Two pieces of software are called 'ramp'"),
        (ExternalSoftware(Ramp(), instead_of="Pilot"), "no software called 'Pilot'. Software: none"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(software, said) -> None:
    with pytest.raises(ValueError, match=r"\w") as fault:
        ff.fly(DRIFT, software)
    assert said in str(fault.value)


def test_a_shape_is_checked(tmp_path) -> None:
    class Announced(Ramp):
        contract = ff.outside.Contract.parse(
            "freefloat software 1\nname ramp\nperiod 0.05\nreads base.attitude 3\ngives base.wrench\n"
        )

    with pytest.raises(ContractError, match=r"takes 'base.attitude' to have the shape \(3,\), but it has \(4,\)"):
        ff.fly(DRIFT, Announced())


def test_a_facility_and_its_software_beat_together() -> None:
    other = changed(period=0.006)
    with pytest.raises(ff.ModelError, match="its period must be a whole number of cycles"):
        ff.rehearse(rehearsal(MADE), cell(2e4, 200.0, cycle=0.009), software=ExternalSoftware(other, on="servicer"))


def test_continuous_software_has_no_ticks() -> None:
    with pytest.raises(ContractError, match=r"Push is continuous: .* Give it period=..."):
        host(ff.Experiment.of(HUB, Push(), duration=1.0), "Push")


def test_an_experiment_with_an_empty_seat_is_not_simulated() -> None:
    seated, _ = bind_software(DRIFT, Ramp())
    with pytest.raises(ff.ModelError, match=r"runs outside, and nothing answers for it here.*ff.fly"):
        ff.simulate(dataclasses.replace(seated, inputs={}))


@pytest.mark.slow
def test_a_grasp_that_the_facility_holds_is_commanded_from_outside() -> None:
    """The gripper closes and opens as with software inside, and the wrench on it is the same to the last bit."""
    software = ff.control.TimedGrasp("grasp", at=AT, release=0.05, on="servicer", period=1e-3)
    made = grasp_rehearsal(grasp_experiment(duration=0.1, software=(software,)))
    inside = ff.rehearse(made, holding_cell(Gripper()))
    hosted = host(made.experiment, "TimedGrasp", name="grasping")
    run = ff.rehearse(made, holding_cell(Gripper()), software=ExternalSoftware(hosted, instead_of="TimedGrasp"))
    assert run.completed, run.status
    assert np.ptp(run.values("cell.servicer-robot.gripper.holds")) == 1.0
    same(inside, run, [name for name in inside.recorded if "lateness" not in name and "effort" not in name])
