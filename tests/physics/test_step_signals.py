"""Inputs that know when they jump: impulses of a wrench port are exact at any step; other ports want ticks."""

import dataclasses

import numpy as np
import pytest

import freefloat as ff
from freefloat.library import ets7

HUB = ff.Spacecraft.from_base("hub", mass=8.0, inertia=(2.0, 2.0, 2.0))
ROUNDING = 1e-12  # [N s] of some newton seconds: sums of some hundred steps


def drawn(rng: np.random.Generator, count: int = 9) -> ff.Steps:
    """Forces that jump at random times until 3 s; nothing turns."""
    values = np.zeros((count, 6))
    values[:, :3] = rng.normal(size=(count, 3))
    return ff.Steps(np.sort(rng.uniform(0.0, 3.0, count)), values)


def impulse_until(signal: ff.Steps, t: float) -> np.ndarray:
    """By hand."""
    ends = np.minimum(np.append(signal.times, np.inf), t)
    return np.maximum(np.diff(ends), 0.0) @ signal.values[:, :3]


@pytest.mark.parametrize("options", [{}, {"engine": "jax"}, {"integrator": "adaptive"}])
@pytest.mark.parametrize("dt", [0.01, 0.3, 3.0])
def test_the_impulse_of_a_wrench_port_is_exact_at_any_step(rng, dt, options):
    signal = drawn(rng)
    run = ff.simulate(HUB, inputs={"base.wrench": signal}, dt=dt, duration=3.0, **options)
    got, times = run["momentum.linear"].values, run["time"].values
    np.testing.assert_allclose(got, [impulse_until(signal, t) for t in times], rtol=0, atol=ROUNDING)
    now = [signal.values[signal.times <= t][-1] if t >= signal.times[0] else np.zeros(6) for t in times]
    np.testing.assert_allclose(run["input.base.wrench"].values, now, rtol=0, atol=1e-15)
    assert run.audit.holds


def test_a_table_of_the_same_values_is_late():
    """The negative control: the values at ticks, each held over its tick."""
    signal = ff.Steps([0.13, 0.48], [[1.0, 0, 0, 0, 0, 0], np.zeros(6)])
    table = np.array([np.eye(6)[0] * (0.13 <= 0.1 * k < 0.48) for k in range(10)])
    ends = []
    for given in (signal, table):
        run = ff.simulate(HUB, inputs={"base.wrench": given}, dt=0.1, duration=1.0)
        ends.append(run["momentum.linear"].values[-1, 0])
    np.testing.assert_allclose(ends, [0.35, 0.3], rtol=0, atol=ROUNDING)


def test_each_spacecraft_of_a_world_has_its_own(rng):
    first, second = drawn(rng), drawn(rng)
    world = ff.World(a=HUB, b=HUB)
    start = {"b": HUB.at_rest(at=(5.0, 0.0, 0.0))}
    inputs = {"a.base.wrench": first, "b.base.wrench": second}
    run = ff.simulate(world, inputs=inputs, state=start, dt=0.5, duration=3.0)
    for name, signal in (("a", first), ("b", second)):
        got = run[f"{name}.base.velocity"].values[-1] * HUB.mass
        np.testing.assert_allclose(got, impulse_until(signal, 3.0), rtol=0, atol=ROUNDING)


def test_a_stepper_and_a_continued_run_give_the_same(rng):
    signal = drawn(rng)
    made = ff.Experiment.of(HUB, inputs={"base.wrench": signal}, duration=3.0, dt=0.5)
    stepped = ff.stepper(made, measure=("momentum.linear",))
    for _ in range(6):
        told = stepped.step()
    half = ff.simulate(dataclasses.replace(made, duration=1.0))
    whole = ff.continue_run(half, made, duration=2.0)
    for got in (told["momentum.linear"], whole["momentum.linear"].values[-1]):
        np.testing.assert_allclose(got, impulse_until(signal, 3.0), rtol=0, atol=ROUNDING)


# ---- other ports


def test_steps_of_a_command_on_ticks_are_a_table():
    """The torque of a wheel from 0.2 s on, other from 0.5 s on: as the table of the same numbers, bit for bit."""
    craft = ets7(wheels=True)
    signal = ff.Steps([0.2, 0.5], [[0.1, 0.0, 0.0], [0.0, -0.05, 0.0]])
    table = np.zeros((10, 3))
    table[2:5, 0], table[5:, 1] = 0.1, -0.05
    runs = [
        ff.simulate(craft, inputs={"command.wheels.torque": given}, dt=0.1, duration=1.0) for given in (signal, table)
    ]
    for name in ("wheels.speed", "base.rate", "input.command.wheels.torque"):
        np.testing.assert_array_equal(runs[0][name].values, runs[1][name].values)
    assert np.any(runs[0]["wheels.speed"].values[-1])


def test_steps_of_a_command_between_ticks_are_refused():
    signal = ff.Steps([0.25], [[0.1, 0.0, 0.0]])
    with pytest.raises(ff.ModelError, match=r"'command.wheels.torque' jumps at 0.25 s, between two ticks of 0.1 s"):
        ff.simulate(ets7(wheels=True), inputs={"command.wheels.torque": signal}, dt=0.1, duration=1.0)


@pytest.mark.parametrize(
    ("times", "values", "words"),
    [
        ([0.3, 0.1], np.zeros((2, 6)), "must rise, but 0.1 s follows 0.3 s"),
        ([0.1, 0.1], np.zeros((2, 6)), "must rise"),
        ([], np.zeros((0, 6)), "must be a list of times"),
        (np.array(0.1), np.zeros(6), "must be a list of times"),
        ([0.1, 0.2], np.zeros((3, 6)), "a row for each of the 2 times"),
        ([0.1, np.nan], np.zeros((2, 6)), "Steps.times must be finite"),
        ([0.1], [[np.nan] * 6], "Steps.values must be finite"),
        (["soon"], np.zeros((1, 6)), "Steps.times must be numeric"),
    ],
)
def test_faulty_steps_are_refused(times, values, words):
    with pytest.raises(ff.ModelError, match=words):
        ff.Steps(times, values)


def test_steps_that_do_not_fit_a_port_are_refused():
    for port, words in (("base.wrench", r"must be \(1, 6\) numbers"), ("hand.wrench", "no frame 'hand'")):
        with pytest.raises(ff.ModelError, match=words):
            ff.Experiment.of(HUB, inputs={port: ff.Steps([0.1], np.zeros((1, 3)))}, duration=1.0)
    inputs = {"base.wrench": ff.Steps([0.1], np.zeros((1, 6)))}
    several = ff.Experiment.of(ff.World(a=HUB, b=HUB), inputs=inputs, duration=1.0)
    with pytest.raises(ff.ModelError, match="does not say which spacecraft"):
        several.begin()
