"""Go or no-go: a healthy rehearsal is a go; every criterion can fail and is named; what is missing is never passed."""

import dataclasses
import re

import numpy as np
import pytest

from freefloat.hil import ExpectedContact, Limits
from freefloat.hil.judging import Acceptance, Evidence, judge_rehearsal, refusal_criterion, verdict_curves
from freefloat.hil.judging.acceptance import NEVER_EXCUSED
from freefloat.hil.judging.delays import held_mass
from freefloat.hil.record.facts import expected_margin
from freefloat.values.claims import OWN_BOUND, Claim
from support.judged_rehearsals import (
    CLIENT_ROBOT,
    SERVICER_ROBOT,
    contact_rehearsal,
    healthy,
    jointed_cell,
    rehearsed,
    with_declared,
    with_log,
    with_run,
    with_simulated,
)

SIMULATED = "cell against simulation, "


def criterion(verdict, name):
    return next(one for one in verdict.criteria if one.name == name)


def test_a_healthy_rehearsal_is_a_go() -> None:
    verdict = judge_rehearsal(healthy())
    assert verdict.go, verdict.reasons(9)
    idle = {one.name for one in verdict.criteria if one.decision == "not judged"}
    # In lockstep there are no deadlines, one contact does not swing, and an ideal cell can neither weigh nor push.
    weighed = {name for name in idle if "by weighing and a known push" in name}
    assert len(weighed) == 6
    assert idle - weighed == {"deadlines", "growth of the force", "signature of the facility"}
    assert all(one.margin_share is None or one.margin_share > 0.05 for one in verdict.criteria if one.value is not None)
    assert all(one.reason and one.meaning for one in verdict.criteria)
    assert criterion(verdict, "delay left").value < 5.0  # [%]: all of it is made up for


def _late(evidence):
    return with_log(evidence, "lateness", lambda x: x + 2e-3, pace="paced in real time")


def _stuck(evidence):
    return with_log(
        evidence, f"{SERVICER_ROBOT}.wrench", lambda x: np.concatenate([x[:300], x[300:301].repeat(30, 0), x[330:]])
    )


def _violated(evidence):
    audit = evidence.run.audit
    entries = (dataclasses.replace(audit.entries[0], value=1.0), *audit.entries[1:])
    return with_run(evidence, audit=dataclasses.replace(audit, entries=entries))


def _contact(evidence, **options):
    made = dataclasses.replace(evidence.rehearsal, **options)
    return dataclasses.replace(evidence, rehearsal=made)


def _turned(x):
    """Attitudes turned by 20 mrad about their own x."""
    turn = np.array([np.cos(0.01), np.sin(0.01)])
    w, i, j, k = x.T
    return np.stack(
        [w * turn[0] - i * turn[1], i * turn[0] + w * turn[1], j * turn[0] + k * turn[1], k * turn[0] - j * turn[1]], 1
    )


def _damped(evidence):
    """A damper on the servicer's approach, as if the passivity controller had been at work, in the tip's axes."""
    speed = evidence.log[f"{SERVICER_ROBOT}.commanded.twist"][:, :1]
    along = np.array([[np.cos(np.pi / 6), -np.sin(np.pi / 6), 0.0, 0.0, 0.0, 0.0]])
    return with_log(evidence, f"{SERVICER_ROBOT}.felt", lambda x: x - 800.0 * speed * along)


def _late_contact(evidence):
    """Nothing made up for, and a contact with little damping."""
    return _contact(with_log(evidence, "", None, delay=0.0), contact=ExpectedContact(2e4, 100.0))


def _biased(evidence, component, bias):
    return with_log(evidence, f"{SERVICER_ROBOT}.wrench", lambda x: x + bias * np.eye(6)[component])


def _jumping(x):
    """Joint rates with one that is off by 10 mrad/s at 0.4 s."""
    return np.concatenate([x[:400], x[400:401] + 0.01, x[401:]])


def _growing(x):
    """A force along x that swings ever more: by e^1 in the run."""
    t = np.linspace(0.0, 1.0, len(x))
    return np.outer(np.exp(t) * np.sin(60.0 * t), np.eye(6)[0])


_STOPPED = "stopped at 0.5 s: the facility stopped: client: joint a3 beyond its position limit (154.1 deg)"
_SMALL = Limits(lower=(-4.5, -1.0, -1.0), upper=(4.5, 1.0, 1.0))  # [m]


# Criterion, how it is planted, and what its reason must say.
PLANTED = {
    "on-board software": (
        lambda e: with_run(e, status="stopped at 0.5 s: the software 'guidance' did not answer within 4 ms"),
        "'guidance' did not answer",
    ),
    "ran to its end": (
        lambda e: with_run(e, status=_STOPPED),
        "client: joint a3 beyond its position limit.*workspace is too small",
    ),
    "mass of client": (lambda e: with_declared(e, mass=1 / 1.2), r"mass of client is 1\.2000 ± 0\.0\d+ times"),
    "inertia of client": (
        lambda e: with_declared(e, inertia=np.full(3, 1 / 1.2)),
        r"inertia of client .*about y is 1\.20\d* ± 0\.0\d+ times.* the declared one.*another spacecraft",
    ),
    "inertia ratios of client": (
        lambda e: with_declared(e, inertia=(1 / 1.2, 1.0, 1.0)),
        r"inertia of client about x to that about [yz] is 1\.20\d* ± ",
    ),
    "delay made up for": (
        lambda e: with_log(e, "", None, delay=1.2 * 8e-3), r"9\.6 ms are made up for.*Measure the delay",
    ),
    "delay left": (_late_contact, r"8 ms are left .* on 186\.\d* kg bears 4\.9\d* ms\..*critical"),
    f"joint range of robot {CLIENT_ROBOT}": (
        lambda e: with_log(e, f"{CLIENT_ROBOT}.joints", lambda x: x + 0.895 * np.eye(2)[1]), "joint a2 of robot",
    ),
    f"joint rate of robot {CLIENT_ROBOT}": (
        lambda e: with_log(e, f"{CLIENT_ROBOT}.joint_rates", lambda x: 5.0 * x), "joint a1",
    ),
    f"joint acceleration of robot {SERVICER_ROBOT}": (
        lambda e: with_log(e, f"{SERVICER_ROBOT}.joint_rates", _jumping), "at 0.4",
    ),
    f"workspace of robot {SERVICER_ROBOT}": (
        lambda e: _contact(e, limits=_SMALL), "along x.*workspace is too small",
    ),
    f"sensor range of robot {SERVICER_ROBOT}": (
        lambda e: _contact(e, limits=Limits(force=150.0)), "of 150 N",
    ),
    f"sensor health of robot {SERVICER_ROBOT}": (_stuck, "29 in a row.*stuck"),
    "deadlines": (_late, "began 2 ms late"),
    f"tracking of robot {CLIENT_ROBOT}, position": (
        lambda e: with_log(e, f"{CLIENT_ROBOT}.measured.position", lambda x: x + 0.01), "Largest",
    ),
    f"tracking of robot {CLIENT_ROBOT}, attitude": (
        lambda e: with_log(e, f"{CLIENT_ROBOT}.measured.quaternion", _turned), "Largest",
    ),
    "growth of the force": (
        lambda e: with_log(e, f"{SERVICER_ROBOT}.wrench", _growing), "The loop feeds the contact",
    ),
    "energy given by the delay": (lambda e: with_log(e, "energy", lambda x: x - 0.2), "The delay drives the contact"),
    "energy taken out": (_damped, "damped by the controller"),
    "momentum of client, linear": (lambda e: _biased(e, 0, 3.0), "N s are missing"),
    "momentum of servicer, angular": (lambda e: _biased(e, 4, 8.0), "N m s are missing"),
    "both robots together, position": (
        lambda e: with_log(e, f"{CLIENT_ROBOT}.measured.position", lambda x: x + 0.02), "are not to each other",
    ),
    "both robots together, attitude": (
        lambda e: with_log(e, f"{CLIENT_ROBOT}.measured.quaternion", _turned), "Largest",
    ),
    f"{SIMULATED}position": (
        lambda e: with_simulated(e, "client.base.position", lambda x: x + 0.05), "servicer as client sees it",
    ),
    f"{SIMULATED}attitude": (lambda e: with_simulated(e, "client.base.attitude", _turned), "Largest"),
    f"{SIMULATED}contact": (
        lambda e: with_simulated(e, "client.momentum.linear", lambda x: 1.5 * x), "N s of .* N s.*on client",
    ),
    "closing speed before the contact": (
        lambda e: dataclasses.replace(e, claims=(dataclasses.replace(e.claims[0], value=0.07),)), "0.07 m/s",
    ),
    "conservation audit": (_violated, "is off by"),
    "signature of the facility": (
        lambda e: with_log(e, "", None, hardware=True), "Not described: calibration, firmware",
    ),
    "faults": (
        lambda e: dataclasses.replace(e, log=dataclasses.replace(e.log, whole=False)), "torn or damaged",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_every_criterion_can_fail_and_is_named(name) -> None:
    plant, words = PLANTED[name]
    verdict = judge_rehearsal(plant(healthy()))
    assert not verdict.go
    found = criterion(verdict, name)
    assert found.decision == "no-go"
    assert re.search(words, found.reason), found.reason
    assert name in " ".join(verdict.reasons(99))


def test_all_kinds_of_criteria_are_planted() -> None:
    """One robot or spacecraft of each kind is enough: they are judged by the same lines.

    Defects of sensors are planted in the facility: test_sensor_checks.
    """
    there = {
        one.name for one in judge_rehearsal(healthy()).criteria if not re.match("sensor (gain|turn|bias)", one.name)
    }
    twins = (
        {name.replace("servicer", "client") for name in there},
        {name.replace("servicer", "client") for name in PLANTED},
    )
    kinds = [{name.rpartition(" of robot ")[0] or name for name in names} for names in twins]
    lacking = {name for name in kinds[0] - kinds[1] if name not in ("momentum of client, angular",)}
    assert not lacking


def test_a_delay_above_the_critical_one_is_the_first_reason() -> None:
    """25 ms, not compensated, on a contact that bears 19.7 ms."""
    verdict = judge_rehearsal(rehearsed(contact_rehearsal(compensation=None), jointed_cell(delay=25e-3)))
    assert verdict.against[0].name == "delay left"
    assert "25 ms are left" in verdict.against[0].reason
    assert criterion(verdict, "delay left").value > 100.0
    assert criterion(verdict, "energy taken out").decision == "no-go"
    for craft in ("servicer", "client"):  # what was declared is what flew: nothing else is accused
        assert criterion(verdict, f"inertia of {craft}").decision == "go"


def test_the_mass_that_a_contact_meets_is_that_of_the_whole_spacecraft_with_its_joints_held() -> None:
    made = contact_rehearsal()
    margin = expected_margin(made, 0.0)
    assert margin is not None
    assert held_mass(made, made.touching) == pytest.approx(margin.mass, rel=1e-12)  # no joints: the same


# ---- nothing passes in silence


def test_what_was_not_recorded_is_not_judged_and_stops_a_go() -> None:
    evidence = healthy()
    run = dataclasses.replace(evidence.run, recorded=evidence.run.recorded.without(["client.impulse.linear"]))
    verdict = judge_rehearsal(dataclasses.replace(evidence, run=run))
    against = {one.name: one.reason for one in verdict.against}
    assert not verdict.go
    assert set(against) == {"dynamics", "momentum", "cell against simulation"}
    assert "no channel 'client.impulse.linear'" in against["dynamics"]
    cell, _ = verdict_curves(dataclasses.replace(evidence, run=run))
    assert "relative.position" in cell.channels  # what can be drawn is drawn


@pytest.mark.parametrize(
    ("change", "name", "words"),
    [
        (lambda e: dataclasses.replace(e, simulated=None), f"{SIMULATED}position", "no simulation beside"),
        (lambda e: _contact(e, contact=None), "delay left", "which contact is expected"),
        (lambda e: _contact(e, passivity=None), "energy taken out", "no energy was observed"),
        (lambda e: with_run(e, audit=dataclasses.replace(e.run.audit, entries=())), "conservation audit", "no audit"),
        (
            lambda e: with_log(e, f"{SERVICER_ROBOT}.wrench", lambda x: 0.0 * x),
            f"sensor health of robot {SERVICER_ROBOT}", "nothing but zero",
        ),
        (
            lambda e: with_simulated(e, "client.momentum.linear", lambda x: 0.0 * x),
            f"{SIMULATED}contact", "nothing to compare",
        ),
    ],
)  # fmt: skip
def test_a_required_criterion_that_cannot_be_judged_is_a_no_go(change, name, words) -> None:
    verdict = judge_rehearsal(change(healthy()))
    found = criterion(verdict, name)
    assert (found.decision, found.stops, verdict.go) == ("not judged", True, False)
    assert words in found.reason


def test_a_log_that_does_not_know_its_robots_is_not_judged_by_them() -> None:
    evidence = healthy()
    robots = {
        name: {key: one[key] for key in ("joints", "lower", "upper", "arm")}
        for name, one in evidence.log.about["robots"].items()
    }
    verdict = judge_rehearsal(with_log(evidence, "", None, robots=robots))
    assert {"robots", "energy", "momentum"} <= {one.name for one in verdict.against}
    assert "older version" in verdict.against[0].reason


def test_a_number_that_is_none_is_not_within_its_limit() -> None:
    verdict = judge_rehearsal(with_log(healthy(), f"{CLIENT_ROBOT}.measured.position", lambda x: x * np.nan))
    assert {"faults", f"tracking of robot {CLIENT_ROBOT}, position"} <= {one.name for one in verdict.against}


def test_an_excuse_is_for_what_cannot_be_judged_only_and_is_shown() -> None:
    evidence = _contact(healthy(), passivity=None)
    words = "nothing observes the energy of this contact"
    why = {"energy taken out": words, "energy given by the delay": words}
    verdict = judge_rehearsal(dataclasses.replace(evidence, accept=Acceptance(excused=why)))
    assert verdict.go, verdict.reasons(9)
    assert criterion(verdict, "energy taken out").reason == f"Excused: {words}"
    taken = dataclasses.replace(_damped(healthy()), accept=Acceptance(excused=why))
    assert not judge_rehearsal(taken).go
    with pytest.raises(ValueError, match="to the reason why"):
        Acceptance(excused={"energy taken out": ""})


@pytest.mark.parametrize("name", NEVER_EXCUSED)
def test_stability_is_never_excused(name) -> None:
    with pytest.raises(ValueError, match="stability is never excused"):
        Acceptance(excused={name: "beams hang on the flange"})


def test_limits_are_the_users_and_say_so() -> None:
    strict = dataclasses.replace(healthy(), accept=Acceptance(workspace=0.3, given_by="the review board"))
    found = criterion(judge_rehearsal(strict), f"workspace of robot {SERVICER_ROBOT}")
    assert (found.decision, found.limit, found.limit_from) == ("no-go", 30.0, "the review board")
    assert criterion(judge_rehearsal(strict), "mass of client").limit_from == "nobody (default)"
    chosen = dataclasses.replace(healthy(), accept=Acceptance(chosen=("mass",), given_by="the review board"))
    assert criterion(judge_rehearsal(chosen), "mass of client").limit_from == "the review board"
    with pytest.raises(ValueError, match=r"Acceptance\.mass"):
        Acceptance(mass=-1.0)


# ---- what a free motion can tell


def test_a_free_tumble_tells_ratios_and_says_that_it_cannot_tell_more() -> None:
    made = contact_rehearsal(contact=None, passivity=None)
    evidence: Evidence = rehearsed(
        made, jointed_cell(stiffness=0.0), accept=Acceptance(must_tell=("inertia of servicer",))
    )
    verdict = judge_rehearsal(with_declared(evidence, inertia=(1 / 1.2, 1.0, 1.0)))
    assert criterion(verdict, "inertia ratios of client").decision == "no-go"
    absolute = criterion(verdict, "inertia of client")
    assert (absolute.decision, absolute.required) == ("not judged", False)
    assert "cannot tell" in absolute.reason
    needed = criterion(verdict, "inertia of servicer")  # the mission said that the motion must tell it
    assert (needed.decision, needed.stops) == ("not judged", True)


def test_one_that_could_not_begin_is_a_no_go_too() -> None:
    found = refusal_criterion("The first pose of 'client' is out of reach of its robot")
    assert found.stops
    assert "workspace is too small" in found.reason


# ---- curves for the page


def test_the_curves_of_cell_and_simulation_lie_over_each_other() -> None:
    evidence = healthy()
    cell, simulated = verdict_curves(evidence)
    assert simulated is not None
    for name, unit in (("relative.position", "m"), ("contact.force", "N"), ("contact.torque", "N m")):
        assert cell.recorded[name].attrs["units"] == simulated.recorded[name].attrs["units"] == unit
    # The wrist sensor of the cell and the momentum of the simulation tell one force, but for the first jump.
    forces = [run.values("contact.force") for run in (cell, simulated)]
    peak = np.abs(forces[1]).max()
    assert 100.0 < peak < 400.0  # [N]
    assert np.abs(forces[0] - forces[1])[2:].max() < 0.1 * peak
    energy = cell.values("contact.energy")[-1]
    lost = evidence.run.values("world.energy.kinetic")[0] - evidence.run.values("world.energy.kinetic")[-1]
    assert energy[2] - energy[1] == pytest.approx(-lost, rel=2e-3)  # what went through it is gone from the motion


def test_a_claim_in_percent_keeps_its_unit() -> None:
    """0.5 % of at most 3 % is no share that has to be shown as 50 %."""
    claim = Claim("error of the cell", "below", 3.0, 0.5, "%", OWN_BOUND)
    found = criterion(judge_rehearsal(dataclasses.replace(healthy(), claims=(claim,))), "error of the cell")
    assert (found.value, found.limit, found.decision) == (0.5, 3.0, "go")
