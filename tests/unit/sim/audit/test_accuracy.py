"""A run says how far it is off because of its step, and says the truth."""

import dataclasses
import os
import signal

import jax.numpy as jnp
import numpy as np
import pytest

import freefloat as ff
from freefloat.sim import rollout
from freefloat.sim.audit.accuracy import ChannelError, EventShift, RunAccuracy, quantity
from freefloat.sim.audit.channel_differences import angle_between, difference, switch_flags
from freefloat.sim.audit.error_growth import growth_rate
from freefloat.sim.audit.event_shifts import between_events, event_shifts
from freefloat.sim.audit.step_halving import ComparedRun, compare_runs
from freefloat.sim.step_choice import longest_tick
from freefloat.sim.system.system import SystemState
from freefloat.sim.system.world_state import WorldState
from freefloat.values.labelled import LabelledArray

HUB = ff.Spacecraft.from_base("hub", mass=100.0, inertia=(20.0, 25.0, 30.0))
ROD = HUB.with_link(
    "rod", parent="base", joint="revolute", at=ff.Pose((0.5, 0.0, 0.0)), axis=(0.0, 0.0, 1.0), mass=5.0,
    com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42),
).with_frame("hand", body="rod", at=(1.0, 0.0, 0.0))  # fmt: skip
ROD2 = ROD.with_link(
    "rod2", parent="rod", joint="revolute", at=ff.Pose((1.0, 0.0, 0.0)), axis=(0.0, 1.0, 0.0), mass=5.0,
    com=(0.5, 0.0, 0.0), inertia=(0.01, 0.42, 0.42),
)  # fmt: skip


def spinning(craft, rate, joints=()):
    v = np.array([0.0, 0.0, 0.0, *rate, *joints])
    return dataclasses.replace(craft.at_rest(), v=v)


def swung(dt, duration=18.0, rate=(1.0, 0.5, 3.0), **options):
    """A spinning hub with a free rod."""
    return ff.simulate(ROD, state=spinning(ROD, rate, (0.5,)), duration=duration, dt=dt, record_dt=0.1, **options)


def off(run, reference, channel):
    """The largest difference of a channel between two runs."""
    return float(np.max(difference(run.recorded[channel], reference.values(channel))))


@pytest.fixture(scope="module")
def reference():
    return swung(0.05 / 16.0, accuracy=False)


def test_what_is_said_is_how_far_the_run_is_off(reference):
    """All balances hold at 0.05 s; how far the hand is off is said to a tenth."""
    run = swung(0.05)
    assert run.audit.holds
    for channel in ("base.attitude", "hand.position", "joints.position", "base.position", "base.rate"):
        # The error at half the step is a sixteenth of it, to terms of the next order in the step: a tenth is ample.
        assert run.accuracy[channel].error == pytest.approx(off(run, reference, channel), rel=0.1)
    assert run.accuracy.order == pytest.approx(4.0, abs=0.3)
    assert "hand to" in repr(run)
    assert "deg" in repr(run)


def test_finer_steps_are_said_to_be_finer():
    errors = [swung(dt).accuracy["base.attitude"].error for dt in (0.05, 0.025)]
    assert errors[0] / errors[1] == pytest.approx(16.0, rel=0.15)  # fourth order; the next term is a twentieth


def test_a_coarse_run_that_conserves_everything_is_not_called_accurate():
    """The hub spins fast, the audit holds, and after 18 s it is tens of degrees off."""
    run, true = (swung(dt, rate=(3.5, 3.5, 2.5)) for dt in (0.05, 0.05 / 16.0))
    assert run.audit.holds
    assert np.rad2deg(off(run, true, "base.attitude")) > 20.0
    assert not run.accuracy.converged
    assert run.accuracy["base.attitude"].verdict == "not converged"
    assert "NOT CONVERGED" in repr(run)
    assert "halve dt" in repr(run)
    assert 0.3 < run.accuracy["base.attitude"].error / off(run, true, "base.attitude") < 3.0


def test_chaos_is_said_by_its_measured_rate_only():
    """The rate is that at which two runs from almost the same start part."""
    start = spinning(ROD2, (0.3, 1.0, 0.5), (5.0, 2.0))
    options = {"duration": 60.0, "dt": 0.02, "record_dt": 0.1}
    run = ff.simulate(ROD2, state=start, **options)
    moved = dataclasses.replace(start, v=start.v + 1e-9)
    near = ff.simulate(ROD2, state=moved, accuracy=False, **options)
    apart = difference(run.recorded["base.attitude"], near.values("base.attitude"))[:, 0]
    assert run.accuracy.chaotic
    rate = growth_rate(run.values("time"), apart, 1e-13)
    # Both are fits through a growth that goes in jumps.
    assert run.accuracy.growth == pytest.approx(rate, rel=0.5)
    assert f"{run.accuracy.growth:.3g} 1/s" in str(run.accuracy)


@pytest.mark.parametrize("power", [1.0, 2.0, 3.0, 6.0])
def test_a_power_of_time_is_no_exponential_growth(power):
    t = np.linspace(0.0, 20.0, 400)
    assert growth_rate(t, 1e-12 * t**power, 1e-14) == 0.0
    assert growth_rate(t, 1e-12 * np.exp(0.8 * t), 1e-14) == pytest.approx(0.8, rel=1e-6)


# ---- how channels are compared


def test_rotations_are_compared_as_angles(rng):
    q = rng.normal(size=(50, 4))
    q /= np.linalg.norm(q, axis=-1, keepdims=True)
    assert np.max(angle_between(q, -q)) == 0.0
    half = 0.5 * 1e-9
    turned = q * np.cos(half) + np.stack([-q[:, 1], q[:, 0], q[:, 3], -q[:, 2]], axis=-1) * np.sin(half)
    assert np.allclose(angle_between(q, turned), 1e-9, rtol=1e-6)
    around = LabelledArray(("time", "rpy"), np.array([[np.pi - 1e-6, 0.0, 0.0]]))
    assert difference(around, np.array([[-np.pi + 1e-6, 0.0, 0.0]]))[0, 0] == pytest.approx(2e-6, rel=1e-6)


def test_a_relay_that_switches_a_record_later_is_not_off_by_its_stroke():
    x = np.where(np.arange(200) % 80 < 40, 1.0, -1.0)
    later = np.roll(x, 1)
    array = LabelledArray(("time",), x)
    apart = difference(array, later)
    found = switch_flags(array, apart)
    assert np.array_equal(np.flatnonzero(found[:, 0]), np.flatnonzero(apart[:, 0] > 0.0))
    # Negative control: a channel that is off for long, or that moves all the time, is off.
    assert not np.any(switch_flags(array, difference(array, np.roll(x, 20))))
    wave = LabelledArray(("time",), np.sin(2.0 * np.arange(200)))
    assert not np.any(switch_flags(wave, difference(wave, -wave.values)))


def test_flags_and_counters_are_not_compared_as_numbers():
    world = ff.World.of(ROD).brake("rod", slip_torque=2.0, on=True)
    run = ff.simulate(world, state=spinning(ROD, (0.3, 0.0, 0.2), (0.0,)), duration=1.0)
    flags = [name for name in run.channels if "flags" in run.recorded[name].attrs]
    assert flags
    assert not set(flags) & set(run.accuracy.channels)


def test_rounding_is_called_rounding():
    run = ff.simulate(HUB, duration=1.0)
    assert {error.verdict for error in run.accuracy.channels.values()} == {"rounding"}
    assert "accurate to rounding" in repr(run)


# ---- events


def dropped(dt=0.05, duration=3.0, **options):
    """A ball with an arm bounces on a plane: its channels jump where it touches."""
    v = np.array([0.0, 0.0, -1.0, 0.9, 0.3, 0.2, 0.7])
    start = dataclasses.replace(ROD.at_rest(), p_NB=np.array([0.0, 0.0, 1.0]), v=v)
    world = ff.World.of(ROD).contact("floor", "hand", "N", restitution=0.7)
    return ff.simulate(world, state=start, duration=duration, dt=dt, record_dt=0.1, **options)


def test_the_instant_of_an_event_is_told_apart_from_the_channels():
    run, true = dropped(), dropped(0.05 / 16.0, accuracy=False)
    assert run.events
    shift = run.accuracy.events[0]
    assert shift.label == "floor: bounced"
    assert shift.time == pytest.approx(run.events[0]["time"])
    assert shift.shift == pytest.approx(abs(run.events[0]["time"] - true.events[0]["time"]), rel=0.3)
    error = off(run, true, "base.velocity")
    assert 0.3 < run.accuracy["base.velocity"].error / error < 3.0


def test_a_jump_at_a_record_between_two_instants_is_no_error():
    run = dropped(accuracy=False)
    k = len(run.values("time")) // 2
    late = float(run.values("time")[k])
    event = {**run.events[0], "time": late - 1e-6}
    jumped = run.values("base.velocity").copy()
    jumped[k] += 5.0  # [m/s]
    other = run.recorded.with_arrays({"base.velocity": (("time", "xyz"), jumped, {"units": "m/s"})})
    ticks = SystemState(tick=np.arange(len(jumped), dtype=np.int32), plants=WorldState(()))
    here, there = (
        ComparedRun(ticks, run.recorded, (event,)),
        ComparedRun(ticks, other, ({**event, "time": late + 1e-6},)),
    )
    shown = np.ones(len(jumped), bool)
    found = compare_runs(ff.World.of(ROD), here, there, shown, 4.0, "")
    assert found["base.velocity"].verdict == "rounding"
    assert found.events[0].shift == pytest.approx(2e-6 * 16.0 / 15.0, rel=1e-6)
    # Negative control: with the event at the same instant in both, the jump is an error.
    assert (
        compare_runs(ff.World.of(ROD), here, dataclasses.replace(there, events=(event,)), shown, 4.0, "")[
            "base.velocity"
        ].error
        > 5.0
    )


def test_records_between_two_instants_do_not_count():
    first = ({"time": 3.2, "name": "grasp", "kind": "latched", "energy_lost": 0.0, "label": ""},)
    second = ({**first[0], "time": 3.25},)
    t = np.array([3.1, 3.2, 3.22, 3.25, 3.3])
    assert between_events(t, first, second).tolist() == [False, True, True, True, False]
    assert not np.any(between_events(t, first, first))


def test_different_numbers_of_events_are_said():
    bounce = {"name": "floor", "kind": "bounced", "energy_lost": 0.0, "label": ""}
    one, two = ({**bounce, "time": 1.0},), ({**bounce, "time": 1.0}, {**bounce, "time": 2.0})
    assert event_shifts(one, two, 1.0)[1] == ("floor: bounced 1 times, and 2 times with half the step.",)


# ---- when it is measured


def test_no_second_compilation_and_no_more_steps_than_promised(monkeypatch, traces):
    made = []
    for name, count in (("blocks", lambda a: a[1].steps), ("reach", lambda a: len(a[0].tick) * a[1])):
        original = getattr(rollout.FixedSteps, name)

        def counted(self, *args, original=original, count=count):
            made.append(count(args) * (args[2] if len(args) > 2 else 1))
            return original(self, *args)

        monkeypatch.setattr(rollout.FixedSteps, name, counted)
    swung(0.05, accuracy=False)
    before, steps = len(traces), sum(made)
    made.clear()
    swung(0.05, accuracy=True)
    assert len(traces) == before
    assert 2.0 * 360 < sum(made) - steps <= 2.2 * 360


def test_without_it_the_run_is_the_same_to_the_bit():
    on, without = swung(0.05, duration=1.0), swung(0.05, duration=1.0, accuracy=False)
    assert all(np.array_equal(on.values(name), without.values(name)) for name in on.channels)
    assert not without.accuracy.measured
    assert "accuracy=False" in str(without.accuracy)
    with pytest.raises(KeyError, match="not measured"):
        without.accuracy["base.attitude"]


def test_a_long_run_says_how_to_ask_for_it(monkeypatch):
    import importlib

    monkeypatch.setattr(importlib.import_module("freefloat.sim.run_driver"), "_EXTRA", 0.0)
    assert "accuracy=True" in str(swung(0.05, duration=1.0).accuracy)
    assert swung(0.05, duration=1.0, accuracy=True).accuracy.measured


def test_adaptive_steps_say_why_there_is_none():
    run = ff.simulate(HUB, duration=0.1, integrator="adaptive")
    assert "tolerance" in run.accuracy.reason


def test_a_signal_while_it_is_measured_keeps_the_run(monkeypatch):
    original = rollout.FixedSteps.blocks

    def killed(self, loop, timing, parts=1):
        if parts > 1:
            os.kill(os.getpid(), signal.SIGINT)
        return original(self, loop, timing, parts)

    monkeypatch.setattr(rollout.FixedSteps, "blocks", killed)
    with pytest.raises(ff.RunFailed, match="the run is whole") as failure:
        swung(0.05, duration=1.0)
    run = failure.value.run
    assert run.completed
    assert "interrupted" in run.accuracy.reason


def test_it_is_in_the_file_and_older_files_have_none(tmp_path):
    run = dropped()
    again = ff.Run.load(run.save(tmp_path / "run.nc"))
    assert again.accuracy == run.accuracy
    assert not ff.Run(run.recorded, run.audit, run.status, {}).accuracy.measured


def test_words():
    assert quantity(np.deg2rad(0.03), "rad") == "0.03 deg"
    assert [quantity(x, "m") for x in (2.0, 2e-4, 3e-8)] == ["2 m", "0.2 mm", "0.03 um"]
    channels = {"base.attitude": ChannelError(np.deg2rad(0.03), "rad", 18.0), "x": ChannelError(2e-4, "m", 3.0, "a")}
    found = RunAccuracy("how", channels, {"attitude": "base.attitude", "hand": "x"}, (EventShift("grasp", 3.2, 1e-4),))
    assert found.in_short() == "attitude to 0.03 deg, hand to 0.2 mm"
    assert "grasp at 3.2 s to 0.1 ms" in str(found)
    assert RunAccuracy.from_dict(found.as_dict()) == found


# ---- accuracy in place of dt


def test_a_step_is_chosen_that_is_accurate_enough_and_not_far_too_short(reference):
    wanted = {"attitude_deg": 1e-3, "position_mm": 1.0}
    run = swung(None, accuracy=wanted)
    dt = run.scenario["dt"]
    ticks = round(0.1 / dt)
    assert ticks * dt == pytest.approx(0.1, rel=1e-12)
    assert np.rad2deg(off(run, reference, "base.attitude")) < 1e-3
    assert off(run, reference, "hand.position") < 1e-3
    # Twice the step is sixteen times as far off: not wanted.
    coarser = swung(0.1 / max(1, ticks // 2), accuracy=False)
    assert (
        off(coarser, reference, "hand.position") > 1e-3 or np.rad2deg(off(coarser, reference, "base.attitude")) > 1e-3
    )


@ff.record
class Held(ff.Software):
    def command(self, memory, y, clock):
        return ff.JointTorques(("rod",), -0.1 * y["joints.rate"] * jnp.ones(1))


def test_the_step_divides_every_period():
    assert longest_tick(60.0, [0.05, 0.12], 0.3) == pytest.approx(0.01)
    assert longest_tick(10.0, [], None) == pytest.approx(0.1)
    made = ff.Experiment.of(ROD, Held(period=0.035), duration=2.1, accuracy={"joints_deg": 0.1})
    for time in (0.035, 2.1):
        assert abs(time / made.dt - round(time / made.dt)) < 1e-9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"accuracy": {"attitude_deg": 1e-14}}, "cannot be reached.*'base.attitude' is still off"),
        ({"accuracy": {"attitude_deg": -1.0}}, "must be a positive number"),
        ({"accuracy": {"hand": 1.0}}, "there is no quantity 'hand'"),
        ({"accuracy": {"attitude_deg": 1.0}, "dt": 0.01}, "either dt or accuracy"),
    ],
)
def test_what_cannot_be_chosen_is_said(options, message, monkeypatch):
    from freefloat.sim import step_choice

    monkeypatch.setattr(step_choice, "_MOST_STEPS", 20_000)
    with pytest.raises(ValueError, match=message):
        ff.simulate(ROD, state=spinning(ROD, (1.0, 0.5, 3.0), (0.5,)), duration=2.0, **options)
