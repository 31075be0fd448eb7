"""Whatever fails, and whenever: a safe stop in that cycle, the reason said, the log whole, nothing wild commanded."""

import dataclasses
import os
import re
import shutil
import signal
import subprocess
import sys

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.hil import Limits, Rehearsal, RobotAssignment, read_log, rehearse, run_of_log
from freefloat.hil.cell import IdealCell
from freefloat.hil.faulty import FAULTS, FaultyFacility
from freefloat.hil.record.log import LogWriter
from support.rehearsing import ROBOTS, SERVICER, cell, experiment, rehearsal, start

LIMITS = Limits(stuck=5, reply=0.2)
REASONS = {
    "sensor dropout": "garbled: KeyError",
    "stuck force": "the force sensor is stuck: 6 readings",
    "force not a number": "not a finite number",
    "force infinite": "not a finite number",
    "force out of range": "force is 1e+06 N, out of the sensor's range of 2000 N",
    "torque out of range": "torque is 1e+06 N m",
    "position not a number": "not a finite number",
    "position jumps": "m from where it was commanded",
    "attitude jumps": "rad from where it was commanded",
    "attitude no rotation": "no unit quaternion",
    "twist infinite": "not a finite number",
    "reading of a wrong size": "garbled: ValueError",
    "reading garbled": "garbled: ValueError",
    "answer of a wrong kind": "garbled: AttributeError",
    "gripper lets go": "its gripper was told",  # where there is one: test_grasps
    "late answer": "200 ms are permitted",
    "lost answer": "did not answer: no telegram",
    "answer left out": "is lost",
    "repeated answer": "repeated its answer",
    "answer out of order": "is out of order",
    "wrong count of cycles": "is out of order: cycle -7",
    "robot at a limit": "the facility stopped: joint A2",
    "protective stop": "light barrier",
    "clock jumps ahead": "clock jumped: 1001 ms",
    "clock jumps back": "clock jumped: -999 ms",
    "clock stands still": "clock jumped: 0 ms",
    "clock not a number": "clock jumped: nan ms",
    "driver fails": "driver failed: RuntimeError",
    "connection closes": "driver failed: ConnectionResetError",
    "driver divides by zero": "driver failed: ZeroDivisionError",
}
UNSEEN = {"stuck force": 5}  # cycles after which it can be known at all
MADE = experiment(duration=0.3, state=start(gap=0.001, spin=(0.0, -np.deg2rad(2.5), 0.0)))


def contact_cell():
    return cell(2e4, 200.0)


def require_sound_commands(facility, limits=LIMITS):
    """Finite, and never a jump that the limits forbid."""
    for name in ROBOTS:
        p, V = (np.array([getattr(one[name], what) for one in facility.commands]) for what in ("position", "twist"))
        assert np.all(np.isfinite(p))
        assert np.all(np.isfinite(V))
        assert np.max(np.linalg.norm(np.diff(p, axis=0), axis=1)) <= limits.speed * facility.cycle
        assert np.max(np.linalg.norm(np.diff(V[:, :3], axis=0), axis=1)) <= limits.acceleration * facility.cycle


def test_every_fault_has_its_reason() -> None:
    assert REASONS.keys() == FAULTS.keys()
    assert len(FAULTS) >= 20
    with pytest.raises(ValueError, match=r"There is no fault 'smoke'. Choose one of: sensor dropout"):
        FaultyFacility(contact_cell(), "smoke", 1)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault != "gripper lets go"])
def test_a_fault_stops_everything_in_its_cycle(fault, rng, tmp_path) -> None:
    at = int(rng.integers(1, 200))
    facility, path = FaultyFacility(contact_cell(), fault, at), tmp_path / "cycles.log"
    run = rehearse(rehearsal(MADE, limits=LIMITS), facility, log=path)
    last = at + UNSEEN.get(fault, 0)
    assert facility.exchanges == last  # nothing was commanded after it
    assert len(facility.stops) == 1
    assert REASONS[fault] in facility.stops[0]
    assert run.stopped
    assert REASONS[fault] in run.status
    assert run.audit.holds
    require_sound_commands(facility)
    log = read_log(path)
    assert log.whole
    answered = fault not in (
        "lost answer",
        "driver fails",
        "connection closes",
        "driver divides by zero",
        "late answer",
    )
    assert log["cycle"][-1] == last - (not answered)
    assert f"{(len(log.rows) - 1) * 1e-3:g} s" in run.status


@pytest.mark.parametrize(
    ("wrench", "words"),
    [
        (np.array([5.0]), r"wrench of robot 'client-robot' has shape \(1,\), expected 6 numbers"),
        (5.0, r"has shape \(\), expected 6 numbers"),
        (["1"] * 6, r"has type <U1, expected 6 numbers"),
        (np.zeros((1, 6)), r"has shape \(1, 6\)"),
        (np.array([True] * 6), r"has type bool"),
    ],
)
def test_a_measurement_of_a_wrong_size_or_type_is_garbled(wrench, words) -> None:
    """Nothing is broadcast, and no text is read as a number."""
    facility = WrongWrench(contact_cell(), wrench)
    run = rehearse(rehearsal(MADE, limits=LIMITS), facility)
    assert re.search(words, run.status), run.status


class WrongWrench(FaultyFacility):
    """Reports another wrench of the client's robot from cycle 3 on."""

    def __init__(self, facility, wrench):
        super().__init__(facility, "repeated answer", 10**9)
        self.wrench = wrench

    def exchange(self, commands):
        reading = super().exchange(commands)
        if self.exchanges < 3:
            return reading
        wrong = dataclasses.replace(reading.robots[ROBOTS[1]], wrench=self.wrench)
        return dataclasses.replace(reading, robots={**reading.robots, ROBOTS[1]: wrong})


# ---- what fails on our side


class Interfering(FaultyFacility):
    """Does something else to the loop at a cycle, and answers as if nothing were."""

    def __init__(self, facility, at, deed):
        super().__init__(facility, "repeated answer", 10**9)
        self.deed_at, self.deed = at, deed

    def exchange(self, commands):
        reading = super().exchange(commands)
        if self.exchanges == self.deed_at:
            self.deed()
        return reading


@pytest.mark.parametrize(("number", "words"), [(signal.SIGTERM, "told to end"), (signal.SIGINT, "interrupted")])
def test_signals_end_it_at_the_next_cycle(number, words, rng, tmp_path) -> None:
    at = int(rng.integers(1, 200))
    facility = Interfering(contact_cell(), at, lambda: os.kill(os.getpid(), number))
    before = signal.getsignal(number)
    run = rehearse(rehearsal(MADE, limits=LIMITS), facility, log=tmp_path / "log")
    assert signal.getsignal(number) is before
    assert words in run.status
    assert facility.exchanges == at
    assert read_log(tmp_path / "log")["cycle"][-1] == at


def test_a_full_disk(rng, tmp_path, monkeypatch) -> None:
    at = int(rng.integers(2, 200))
    append, kept = LogWriter.append, []

    def full(self, row):
        if len(kept) == at:
            os.dup2(os.open("/dev/full", os.O_WRONLY), self._file)
        kept.append(row[0])
        append(self, row)

    monkeypatch.setattr(LogWriter, "append", full)
    facility = FaultyFacility(contact_cell(), "repeated answer", 10**9)
    run = rehearse(rehearsal(MADE, limits=LIMITS), facility, log=tmp_path / "log")
    assert "the log cannot be kept" in run.status
    assert "No space left" in facility.stops[0]
    assert facility.exchanges == at
    assert read_log(tmp_path / "log")["cycle"][-1] == at - 1
    assert run.values("cell.lateness").shape == (at + 1,)  # the run has the cycle that the log has not


def test_a_log_that_is_removed(rng, tmp_path) -> None:
    folder, at = tmp_path / "folder", int(rng.integers(1, 200))
    facility = Interfering(contact_cell(), at, lambda: shutil.rmtree(folder))
    run = rehearse(rehearsal(MADE, limits=LIMITS), facility, log=folder / "log")
    assert "has been removed" in run.status
    assert facility.exchanges == at


@ff.record
class Failing(ff.Effect):
    """Pushes with what is no number, or far too hard, from a time on."""

    at: float = 0.1  # [s]
    force_x: float = ff.static(default=float("nan"))  # [N]

    def force(self, craft, state, clock):
        return jnp.zeros(craft.layout.nv).at[0].set(jnp.where(clock.t >= self.at, self.force_x, 0.0))


@pytest.mark.parametrize(
    ("force", "words"),
    [
        (float("nan"), "has diverged"),
        (1e9, "commanded speed"),
        pytest.param(1e200, "leaves the workspace", marks=pytest.mark.slow),
    ],
)
def test_a_simulation_that_diverges_is_not_commanded(force, words) -> None:
    made = ff.Experiment.of(SERVICER, Failing(force_x=force), duration=0.3, dt=1e-3, inputs={"tip.wrench": np.zeros(6)})
    one = FaultyFacility(IdealCell([ROBOTS[0]]), "repeated answer", 10**9)
    run = rehearse(Rehearsal(made, (RobotAssignment(ROBOTS[0], port="tip.wrench"),)), one)
    assert words in run.status
    for commands in one.commands:
        assert np.all(np.isfinite(commands[ROBOTS[0]].position))
    assert len(one.stops) == 1


def test_the_workspace_is_not_left() -> None:
    narrow = Limits(lower=(-0.5, -0.5, -1.0), upper=(6.0, 0.5, 1.0))
    spinning = experiment(duration=6.0, dt=0.02, state=start(gap=1.0, approach=0.0, spin=(0.0, 0.0, 0.05)))
    absolute = rehearse(rehearsal(spinning, formulation="absolute", limits=narrow), cell(cycle=0.02))
    assert "robot 'servicer-robot': the command leaves the workspace" in absolute.status
    relative = rehearse(rehearsal(spinning, formulation="relative", limits=narrow), cell(cycle=0.02))
    assert relative.completed


def test_a_facility_that_cannot_even_stop() -> None:
    class Deaf(FaultyFacility):
        def stop(self, reason):
            raise OSError("no route to the robot")

    run = rehearse(rehearsal(MADE, limits=LIMITS), Deaf(contact_cell(), "protective stop", 10))
    assert "light barrier" in run.status
    assert "could not be stopped: OSError: no route to the robot" in run.status


# ---- the log of a process that is killed


def test_a_log_outlives_kill_9(tmp_path) -> None:
    script = tmp_path / "killed.py"
    script.write_text(
        "import os, signal\n"
        "from freefloat.hil import rehearse\n"
        "from freefloat.hil.faulty import FaultyFacility\n"
        "from support.rehearsing import cell, experiment, rehearsal, start\n"
        "class Killing(FaultyFacility):\n"
        "    def exchange(self, commands):\n"
        "        reading = super().exchange(commands)\n"
        "        if self.exchanges == 77:\n"
        "            os.kill(os.getpid(), signal.SIGKILL)\n"
        "        return reading\n"
        "made = rehearsal(experiment(duration=0.3, state=start(gap=0.001)))\n"
        f"rehearse(made, Killing(cell(2e4, 200.0), 'repeated answer', 10**9), log={str(tmp_path / 'log')!r})\n"
    )
    ended = subprocess.run([sys.executable, script], env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert ended.returncode == -signal.SIGKILL
    log = read_log(tmp_path / "log")
    assert log.whole
    assert log["cycle"][-1] == 76
    made = rehearsal(experiment(duration=0.3, state=start(gap=0.001)))
    run = run_of_log(made, log)
    assert run.status == "stopped at 0.076 s: the log ends"
    again = rehearse(made, FaultyFacility(contact_cell(), "protective stop", 76))
    np.testing.assert_array_equal(run.values("servicer.base.position"), again.values("servicer.base.position"))


def test_a_torn_or_damaged_log_is_read_as_far_as_it_is_good(tmp_path) -> None:
    path = tmp_path / "log"
    rehearse(rehearsal(MADE), contact_cell(), log=path)
    content, whole = path.read_bytes(), read_log(path)
    path.write_bytes(content[:-5])
    torn = read_log(path)
    assert not torn.whole
    assert len(torn.rows) == len(whole.rows) - 1
    size = 8 * (whole.layout.width + 1)
    at = len(content) - 10 * size + 100
    path.write_bytes(content[:at] + b"\xaa" + content[at + 1 :])
    assert len(read_log(path).rows) == len(whole.rows) - 10
    np.testing.assert_array_equal(read_log(path).rows, whole.rows[:-10])
    path.write_bytes(b"something else")
    with pytest.raises(ValueError, match="is no log of a rehearsal"):
        read_log(path)
    with pytest.raises(FileExistsError, match="a log is never written over"):
        rehearse(rehearsal(MADE), contact_cell(), log=path)
    with pytest.raises(KeyError, match=r"The log has no field 'ernegy'. Fields: cycle, time"):
        whole["ernegy"]
