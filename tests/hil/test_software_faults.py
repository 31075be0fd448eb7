"""Software that fails: the flight ends with a sentence, the facility stops, and nothing is lost."""

import dataclasses
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

import freefloat as ff
from freefloat.hil import Limits, read_log, run_of_log
from freefloat.hil.faulty import FaultyFacility
from freefloat.outside import ContractError, ExternalSoftware, SoftwareLink, serve
from freefloat.outside.messages import Kind, encode
from software.damper import Damper
from support.rehearsing import cell, experiment, rehearsal, start

FOLDER = Path(__file__).parents[1] / "software"
HUB = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 20.0, 20.0))
TURNING = dataclasses.replace(HUB.at_rest(), v=np.array([0, 0, 0, 0.1, 0.2, 0.3]))  # [rad/s]
MADE = ff.Experiment.of(HUB, state=TURNING, duration=0.3, dt=0.01, record_dt=0.01)
PATIENT = Limits(lateness=60.0, reply=60.0)  # [s]: a busy machine is no fault here

# What each comes to, in words; asked the fourth time, at 90 ms.
SAID = {
    "killed": "is gone: its process ended with signal 9, at 0.09 s",
    "stopped": "did not answer within 500 ms, at 0.09 s",
    "sleeping": "did not answer within 500 ms, at 0.09 s",
    "not a number": "answered nan as 'base.wrench', at 0.09 s",
    "infinite": "answered inf as 'base.wrench', at 0.09 s",
    "too short": "answered 6 numbers, 7 are announced, at 0.09 s",
    "too long": "answered 8 numbers, 7 are announced, at 0.09 s",
    "empty": "answered 0 numbers, 7 are announced, at 0.09 s",
    "old sequence": "repeated its answer 3, or it came late: answer 4 is due, at 0.09 s",
    "new sequence": "answered out of sequence: 5 in place of 4, at 0.09 s",
    "twice": "repeated its answer 4, or it came late: answer 5 is due, at 0.12 s",
    "another kind": "sent READY in place of ANSWER, at 0.09 s",
    "garbage": "sent what is no message: a message begins with",
    "half a message": "is gone: its process ended with signal 9, at 0.09 s",
    "another version": "sent what is no message: the protocol has version 2, this side speaks version 1, at 0.09 s",
    "endless": "bytes is announced, 1048576 are permitted, at 0.09 s",
    "closes": "is gone: the connection was closed, at 0.09 s",
    "says so": "says: the star tracker is blind, at 0.09 s",
}


def misbehaving(fault: str, tick: int = 4, period: float = 0.03) -> SoftwareLink:
    words = (sys.executable, FOLDER / "misbehave.py", "{address}", fault, tick, period)
    return SoftwareLink(command=tuple(map(str, words)), patience=60.0)


def is_over(link: SoftwareLink) -> bool:
    """Whether nothing is left of a process that was started."""
    return link._process is not None and link._process.poll() is not None


@pytest.mark.parametrize("fault", SAID)
def test_a_simulation_ends_with_a_sentence_and_keeps_its_run(fault, tmp_path) -> None:
    link = misbehaving(fault)
    with pytest.raises(ff.RunFailed, match="software 'damper'") as failure:
        ff.fly(MADE, ExternalSoftware(link, patience=0.5 if fault in ("stopped", "sleeping") else 60.0))
    run = failure.value.run
    assert SAID[fault] in run.status
    end = 0.12 if fault == "twice" else 0.09  # [s]
    assert run.status.startswith(f"stopped at {end:g} s: software 'damper'")
    assert run.values("time")[-1] == pytest.approx(end)
    assert run.audit.holds
    assert run.description.tables[-1].rows[0][-1] in run.status
    assert ff.Run.load(run.save(tmp_path / "run.nc")).status == run.status
    assert is_over(link)


def test_software_in_process_fails_alike() -> None:
    class Failing(Damper):
        def step(self, t, y):
            return {"base.wrench": [0] * 6, "damper.count": 1} if t < 0.09 else 1 / 0

    run = ff.fly(MADE, Failing(), check=False)
    assert "software 'damper' failed in step: ZeroDivisionError: division by zero, at 0.09 s" in run.status
    assert run.values("time")[-1] == pytest.approx(0.09)


# ---- in a rehearsal


def facility(cycle=3e-3):
    return cell(2e4, 200.0, cycle=cycle)


def flight(duration):
    return rehearsal(experiment(duration=duration, dt=3e-3, state=start(gap=1.0)), limits=PATIENT)


@pytest.mark.parametrize("fault", ["killed", "stopped", "not a number", "too short", "old sequence", "says so"])
@pytest.mark.parametrize("answers", ["now", "next"])
def test_the_facility_stops_within_a_period_in_lockstep(fault, answers, tmp_path) -> None:
    """Answered now it stops in the cycle of the question; answered next, when the answer is due: a period later."""
    watched, link = FaultyFacility(facility(), "repeated answer", 10**9), misbehaving(fault)
    software = ExternalSoftware(link, on="servicer", answers=answers, patience=0.5 if fault == "stopped" else 60.0)
    made = flight(0.3)
    run = ff.rehearse(made, watched, software=software, log=tmp_path / "log")
    asked, period = 30, 10  # cycles before the question, and of a period
    end = asked if answers == "now" else asked + period
    assert watched.exchanges == end
    assert len(watched.stops) == 1
    assert "software 'damper'" in watched.stops[0]
    assert run.status == f"stopped at {3e-3 * end:g} s: {watched.stops[0]}"
    assert read_log(tmp_path / "log")["cycle"][-1] == end
    kept = run_of_log(made, read_log(tmp_path / "log"))
    np.testing.assert_array_equal(kept.values("servicer.base.rate"), run.values("servicer.base.rate"))
    assert is_over(link)


@pytest.mark.parametrize("fault", ["killed", "stopped", "not a number", "old sequence"])
def test_the_facility_stops_within_a_period_of_the_clock(fault, tmp_path) -> None:
    """Asked at 0.3 s, its answer is due at 0.6 s; cycles are paced, so what was cycled is what the clock said."""
    link = misbehaving(fault, tick=2, period=0.3)
    software = ExternalSoftware(link, on="servicer", answers="next")
    run = ff.rehearse(flight(1.2), facility(), realtime=True, software=software, log=tmp_path / "log")
    assert "software 'damper'" in run.status
    assert run.status.startswith("stopped at 0.6 s")
    assert read_log(tmp_path / "log")["cycle"][-1] == 200
    assert is_over(link)


def test_paced_or_in_lockstep_the_answers_are_the_same() -> None:
    made = flight(0.9)
    runs = [
        ff.rehearse(
            made, facility(), realtime=realtime, software=ExternalSoftware(slow(), on="servicer", answers="next")
        )
        for realtime in (False, True)
    ]
    assert [run.status for run in runs] == ["completed", "completed"]
    np.testing.assert_array_equal(*(run.values("input.servicer.damper.answer") for run in runs))


def slow():
    return type("Slow", (Damper,), {"period": 0.3})()


# ---- that does not come, or does not fit


@pytest.mark.parametrize("command", [(), (sys.executable, "-c", "import time; time.sleep(60)")])
def test_software_that_never_connects(command) -> None:
    watched = FaultyFacility(facility(), "repeated answer", 10**9)
    link = SoftwareLink(command=command, patience=0.3)
    with pytest.raises(ff.ModelError, match=r"could not begin: no software connected to unix:.* within 0.3 s"):
        ff.rehearse(flight(0.3), watched, software=ExternalSoftware(link, on="servicer"))
    assert not watched.commands  # nothing has moved
    assert not command or is_over(link)


def test_software_that_ends_before_it_connects() -> None:
    link = SoftwareLink(command=(sys.executable, "-c", "raise SystemExit(7)"), patience=60.0)
    with pytest.raises(ff.ModelError, match="did not connect: its process ended with status 7"):
        ff.fly(MADE, link)
    with pytest.raises(ff.ModelError, match="could not be started"):
        ff.fly(MADE, SoftwareLink(command=("/nowhere/pilot",)))


def test_software_that_does_not_fit_is_told_so() -> None:
    """Both sides hear the same sentence."""
    heard = []

    def software(link) -> None:
        with pytest.raises(ContractError) as refused:
            serve(type("Other", (Damper,), {"reads": {"base.rate": "deg/s"}})(), link.address)
        heard.append(str(refused.value))

    link = SoftwareLink("tcp:127.0.0.1:0")
    thread = threading.Thread(target=software, args=(link,))
    thread.start()
    with pytest.raises(ContractError, match=r"takes 'base.rate' to have the unit deg/s, but it has rad/s"):
        ff.fly(MADE, link)
    thread.join()
    assert heard == ["Software 'damper' takes 'base.rate' to have the unit deg/s, but it has rad/s."]


@pytest.mark.parametrize("hello", [b"\x00" * 64, encode(Kind.HELLO, 0, b"\xff\x00 no contract"), encode(Kind.END, 0)])
def test_strangers_are_refused(hello, tmp_path) -> None:
    link = SoftwareLink(f"unix:{tmp_path}/s")
    stranger = socket.socket(socket.AF_UNIX)
    stranger.connect(f"{tmp_path}/s")
    stranger.sendall(hello)
    with pytest.raises(ValueError, match=r"no message|begins with|sent END in place of HELLO"):
        ff.fly(MADE, link)
    stranger.close()


def test_over_tcp_on_this_machine() -> None:
    link = SoftwareLink("tcp:127.0.0.1:0")
    words = (sys.executable, "-m", "freefloat", "software", str(FOLDER / "damper.py"), "--connect", link.address)
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    run = ff.fly(MADE, ExternalSoftware(link))
    _, told = process.communicate(timeout=60.0)
    assert (run.status, process.returncode, told) == ("completed", 0, "over: the flight is over\n")
    np.testing.assert_array_equal(
        run.values("input.damper.answer"), ff.fly(MADE, Damper()).values("input.damper.answer")
    )


def test_software_needs_no_jax() -> None:
    words = "import sys, freefloat.cli.software, freefloat.outside; raise SystemExit('jax' in sys.modules)"
    assert subprocess.run((sys.executable, "-c", words), check=False).returncode == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "There is no file"),
        ("x = 1", "must define software ="),
        ("1 / 0", "ZeroDivisionError"),
        ("software = object()", "is no on-board software"),
    ],
)
def test_a_file_that_is_no_software(text, said, tmp_path) -> None:
    if text is not None:
        (tmp_path / "mine.py").write_text(text)
    words = (sys.executable, "-m", "freefloat", "software", str(tmp_path / "mine.py"), "--connect", "unix:/tmp/none")
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert said in done.stderr
    assert "Traceback" not in done.stderr
