"""Valves that close inside a hold: impulse and propellant are exact at any step, with any integrator."""

import dataclasses
import shutil

import numpy as np
import pytest

import freefloat as ff
from freefloat.actuators import Thruster, Thrusters, ValveState
from freefloat.actuators.failures import OpenThruster
from freefloat.actuators.thrusters import STANDARD_GRAVITY
from freefloat.campaign import Campaign, Dispersion, Metric, Route, Uniform, run_campaign
from freefloat.sim.record.run import RunFailed

HUB = ff.Spacecraft.from_base("hub", mass=8.0, inertia=(2.0, 2.0, 2.0))
THRUST = np.array([2.0, 0.7, 1.3])  # [N] along x, y and z, through the centre of mass: nothing turns
DUTY = "command.thrusters.duty"
ROUNDING = 1e-12  # [N s] of some newton seconds: sums of some hundred steps


def set_of(shortest: float, **fields) -> Thrusters:
    nozzles = [Thruster(n, (0, 0, 0), axis, f, shortest) for n, axis, f in zip("xyz", np.eye(3), THRUST, strict=True)]
    return Thrusters(tuple(nozzles), np.zeros((3, 12)), **fields)


def fired(thrusters: Thrusters, duties: np.ndarray, dt: float, *parts, **options):
    """A run with these duties at its ticks, each tick recorded."""
    inputs = {DUTY: duties}
    return ff.simulate(HUB, thrusters, *parts, inputs=inputs, dt=dt, duration=len(duties) * dt, record_dt=dt, **options)


@pytest.mark.parametrize("options", [{}, {"engine": "jax"}, {"integrator": "adaptive"}])
@pytest.mark.parametrize("dt", [0.01, 0.3, 2.0])
def test_every_hold_gives_what_it_is_asked_for(rng, dt, options):
    """Without a shortest pulse nothing is owed at the end of a hold: momentum, place and propellant by hand."""
    duties = rng.uniform(0.0, 1.0, (12, 3))
    duties[::4, 0], duties[1::4, 1] = 0.0, 1.0
    run = fired(set_of(0.0), duties, dt, **options)
    impulse = np.cumsum(THRUST * duties * dt, axis=0)
    np.testing.assert_allclose(run["momentum.linear"].values[1:], impulse, rtol=0, atol=ROUNDING)
    speeds = np.vstack([np.zeros(3), impulse])[:-1] / HUB.mass
    ways = speeds * dt + THRUST / HUB.mass * duties * dt * (1.0 - 0.5 * duties) * dt  # the burn comes first
    np.testing.assert_allclose(run["base.position"].values[1:], np.cumsum(ways, axis=0), rtol=1e-12, atol=1e-13)
    used = np.sum(impulse, axis=1) / (220.0 * STANDARD_GRAVITY)
    np.testing.assert_allclose(run["thrusters.propellant"].values[1:], used, rtol=1e-12)
    np.testing.assert_allclose(run["thrusters.burning"].values[1:], duties, rtol=0, atol=1e-15)
    assert run.audit.holds, run.audit


@pytest.mark.parametrize("dt", [0.02, 0.1, 0.5])
def test_no_pulse_is_shorter_than_the_shortest_and_none_is_owed_for_longer(rng, dt):
    """Pulses of at least 0.05 s, in holds that are shorter and longer; what is not given is less than one of them."""
    shortest, count = 0.05, 60
    duties = rng.uniform(0.0, 1.0, (count, 3)) ** 3
    run = fired(set_of(shortest), duties, dt)
    given, asked = run["momentum.linear"].values[1:], np.cumsum(THRUST * duties * dt, axis=0)
    owed = (asked - given) / THRUST
    assert np.all(owed < shortest + dt)
    assert np.all(owed > -shortest)
    burning = run["thrusters.burning"].values[1:] * dt
    np.testing.assert_allclose(given, np.cumsum(THRUST * burning, axis=0), rtol=0, atol=ROUNDING)
    assert np.any((burning > 0.0) & (burning < dt))  # some close inside
    for k in range(3):
        assert min(_pulses(burning[:, k], dt)[:-1]) >= shortest - 1e-12


def _pulses(burns: np.ndarray, dt: float) -> list[float]:
    """Lengths of pulses: a valve that is open to the end of a hold may stay open in the next."""
    lengths, length = [], 0.0
    for burn in burns:
        length += burn
        if length and burn < dt:
            lengths, length = [*lengths, length], 0.0
    return [*lengths, length]


def test_two_valves_close_at_different_times_of_one_step():
    """In one step of 1 s: 0.2, 0.55 and 0.8 s, then nothing."""
    duties = np.array([[0.2, 0.55, 0.8], [0.0, 0.0, 0.0]])
    run = fired(set_of(0.05), duties, 1.0)
    np.testing.assert_allclose(run["momentum.linear"].values[-1], THRUST * duties[0], rtol=0, atol=ROUNDING)


def test_a_demand_of_whole_holds_is_as_before():
    """The negative control of the closing: open for three holds of four, never inside one."""
    duties = np.tile([[1.0, 1.0, 1.0], [1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0]], (3, 1))
    run = fired(set_of(0.1), duties, 0.1)
    np.testing.assert_array_equal(run["thrusters.burning"].values[1:], duties)


def test_without_the_cut_a_step_gives_another_impulse(monkeypatch):
    """The negative control of the cut: what the stages of a step see of a burn of 0.3 of it. The audit notices."""
    monkeypatch.setattr(ValveState, "closing_instants", lambda self: np.full(3, -1e9))
    with pytest.raises(RunFailed, match="forces are not resolved by the step") as failed:
        fired(set_of(0.05), np.array([[0.3, 0.0, 0.0]]), 1.0)
    assert abs(failed.value.run["momentum.linear"].values[-1, 0] - 0.3 * THRUST[0]) > 0.05


def test_records_inside_a_slow_hold_have_the_propellant_of_their_time():
    """Valves that are looked at every second; of 0.6 s of burning 0.25, 0.5 and all of it are over at the records."""
    thrusters = set_of(0.05, period=1.0)
    duties = np.tile([0.6, 0.0, 0.0], (4, 1))
    run = fired(thrusters, duties, 0.25)
    burnt = np.array([0.0, 0.25, 0.5, 0.6, 0.6])
    np.testing.assert_allclose(run["momentum.linear"].values[:, 0], THRUST[0] * burnt, rtol=0, atol=ROUNDING)
    used = THRUST[0] * burnt / (220.0 * STANDARD_GRAVITY)
    np.testing.assert_allclose(run["thrusters.propellant"].values, used, rtol=1e-12)


def test_a_stuck_thruster_burns_whole_holds():
    stuck = OpenThruster("x")
    run = fired(set_of(0.05), np.tile([0.25, 0.25, 0.0], (4, 1)), 1.0, stuck)
    np.testing.assert_allclose(run["momentum.linear"].values[-1], THRUST * [4.0, 1.0, 0.0], rtol=0, atol=ROUNDING)


def test_an_event_in_the_same_step():
    """A ball falls on the floor after one valve has closed, and another one closes after the bounce, in one step."""
    floor = ff.World.of(HUB).contact("floor", "base", "N", radius=0.1, restitution=0.5)
    start = dataclasses.replace(HUB.in_motion(velocity=(0.0, 0.0, -1.0)), p_NB=np.array([0.0, 0.0, 0.6]))
    inputs = {DUTY: np.array([[0.2, 0.8, 0.0]])}
    run = ff.simulate(floor, set_of(0.05), inputs=inputs, state=start, dt=1.0, duration=1.0)
    np.testing.assert_allclose(run.events[0]["time"], 0.5, rtol=0, atol=1e-12)
    expected = [0.2 * THRUST[0], 0.8 * THRUST[1], 0.5 * HUB.mass]
    np.testing.assert_allclose(run["momentum.linear"].values[-1], expected, rtol=0, atol=10 * ROUNDING)


def test_a_continued_run_remembers_the_valves(rng):
    duties = rng.uniform(0.0, 1.0, (10, 3))
    made = ff.Experiment.of(HUB, set_of(0.0, period=0.5), inputs={DUTY: duties}, duration=1.0, dt=0.1)
    half = ff.simulate(dataclasses.replace(made, duration=0.3))  # inside a hold of the valves
    whole = ff.continue_run(half, made, duration=0.7)
    expected = THRUST * 0.5 * (duties[0] + duties[5])
    np.testing.assert_allclose(whole["momentum.linear"].values[-1], expected, rtol=0, atol=ROUNDING)


@pytest.mark.parametrize("target", ["native", "gpu"])
def test_a_campaign_closes_each_valve_at_its_own_time(target):
    """Every run of a SIMD word, or of a warp: twice 0.25 s, or 0.5 s at once where the shortest pulse is longer."""
    if target == "gpu" and shutil.which("cc") is None:
        pytest.skip("no C compiler to emulate a GPU")
    duties = np.array([[0.25, 0.0, 0.0], [0.25, 0.0, 0.0], [0.0, 0.0, 1.0]])
    experiment = ff.Experiment.of(HUB, set_of(0.0), inputs={DUTY: duties}, duration=3.0, dt=1.0)
    dispersion = Dispersion("thrusters.x.shortest_pulse", Uniform(0.2, 0.3))
    metrics = (Metric("got", "momentum.linear[x]"), Metric("way", "base.position[x]"))
    made = Campaign(experiment, 37, dispersions=(dispersion,), metrics=metrics)
    if target == "gpu":
        made.preparation.program.compiled_step("gpu", emulate=True)
    found = run_campaign(made, route=Route(target=target))
    assert found.counts["completed"] == 37
    np.testing.assert_allclose(found.metric("got"), 0.5 * THRUST[0], rtol=0, atol=ROUNDING)
    at_once = found.draw(dispersion.path) > 0.25
    assert 5 < np.sum(at_once) < 32
    way = np.where(at_once, 0.5 * (2.0 - 0.25), 0.25 * (3.0 - 0.125) + 0.25 * (2.0 - 0.125)) * THRUST[0] / HUB.mass
    np.testing.assert_allclose(found.metric("way"), way, rtol=1e-12)
