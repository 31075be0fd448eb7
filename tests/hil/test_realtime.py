"""A rehearsal in step with the clock, in a process of its own. Nothing here asserts how fast a machine is."""

import os
import shutil
import signal
import time

import numpy as np
import pytest

from freefloat.hil import Limits, read_log, rehearse
from freefloat.hil.faulty import FaultyFacility
from freefloat.hil.loop.realtime import RealTimePace, RowRing
from support.rehearsing import cell, experiment, rehearsal, start

PATIENT = Limits(lateness=60.0, reply=60.0)  # [s]: a busy machine is no fault here
MADE = experiment(duration=0.3, dt=3e-3, state=start(gap=0.001))


def facility():
    return cell(2e4, 200.0, cycle=3e-3)


def test_paced_or_in_lockstep_the_run_is_the_same(tmp_path) -> None:
    made = rehearsal(MADE, limits=PATIENT)
    began = time.perf_counter()
    paced = rehearse(made, facility(), realtime=True, log=tmp_path / "log")
    assert time.perf_counter() - began > 0.29  # [s]: it cannot be faster than the clock
    assert paced.completed, paced.status
    plain = rehearse(made, facility())
    np.testing.assert_array_equal(paced.values("servicer.base.position"), plain.values("servicer.base.position"))
    log = read_log(tmp_path / "log")
    assert len(log.rows) == 101
    assert np.all(log["lateness"][1:] >= 0.0)  # every cycle has its own
    (pace,) = [row[1] for row in paced.description.tables[0].rows if row[0] == "cycle"]
    assert "real-time priority" in pace
    assert "memory" in pace
    assert "garbage collection off" in pace


@pytest.mark.parametrize("fault", ["protective stop", "force not a number", "driver fails"])
def test_faults_stop_it_as_in_lockstep(fault, tmp_path) -> None:
    made = rehearsal(MADE, limits=PATIENT)
    paced = rehearse(made, FaultyFacility(facility(), fault, 30), realtime=True, log=tmp_path / "log")
    plain = rehearse(made, FaultyFacility(facility(), fault, 30))
    assert paced.status == plain.status
    assert read_log(tmp_path / "log")["cycle"][-1] == (30 if fault != "driver fails" else 29)


def test_a_signal_to_the_parent_stops_the_child() -> None:
    made = rehearsal(experiment(duration=30.0, dt=3e-3, state=start(gap=1.0)), limits=PATIENT)
    run = rehearse(made, facility(), realtime=True, progress=lambda done, total: os.kill(os.getpid(), signal.SIGTERM))
    assert "told to end (SIGTERM)" in run.status
    assert run.values("time")[-1] < 29.0


def test_a_log_that_fails_stops_the_child(tmp_path) -> None:
    made = rehearsal(experiment(duration=30.0, dt=3e-3, state=start(gap=1.0)), limits=PATIENT)
    folder = tmp_path / "folder"
    run = rehearse(
        made,
        facility(),
        realtime=True,
        log=folder / "log",
        progress=lambda done, total: shutil.rmtree(folder, ignore_errors=True),
    )
    assert "has been removed" in run.status


def test_a_child_that_is_killed_is_noticed(tmp_path) -> None:
    class Dying(FaultyFacility):
        def exchange(self, commands):
            if self.exchanges == 40:
                os.kill(os.getpid(), signal.SIGKILL)
            return super().exchange(commands)

    run = rehearse(rehearsal(MADE, limits=PATIENT), Dying(facility(), "repeated answer", 10**9), realtime=True)
    assert "the process of the loop ended with signal 9" in run.status
    assert run.values("time")[-1] == pytest.approx(0.12)  # everything until there


def test_a_cycle_that_is_too_late_is_a_fault() -> None:
    class Slow(FaultyFacility):
        def exchange(self, commands):
            time.sleep(0.2 if self.exchanges == 20 else 0.0)
            return super().exchange(commands)

    made = rehearsal(MADE, limits=Limits(lateness=0.1, reply=60.0))
    run = rehearse(made, Slow(facility(), "repeated answer", 10**9), realtime=True)
    assert "began" in run.status
    assert "ms late" in run.status


def test_deadlines_are_not_made_up_in_bursts() -> None:
    pace, cycle = RealTimePace(1e-3), 1e-3
    pace.wait(1)
    time.sleep(0.05)
    assert pace.wait(2) > 0.04  # [s]
    # The deadlines have moved: the next cycles come a cycle apart, not all at once.
    began = time.perf_counter()
    for number in range(3, 8):
        pace.wait(number)
    assert time.perf_counter() - began > 3.5 * cycle


def test_a_ring_that_nobody_reads_is_an_error() -> None:
    ring = RowRing(2)
    try:
        for number in range(5000):
            ring.append_row(np.array([number, 0.0]))
            if number % 1000 == 0:
                assert ring.new_rows()[-1][0] == number
        ring.new_rows()
        for _ in range(4096):
            ring.append_row(np.zeros(2))
        with pytest.raises(OSError, match="nobody has read 4096 cycles"):
            ring.append_row(np.zeros(2))
        ring.write_text(0, "enough")
        assert ring.read_text(0) == "enough"
        assert ring.read_text(1) == ""
    finally:
        ring.close()
